//! Parses the headers of a form part: its field name, file name and content type.

use contract::PartHead;

/// A real head has three lines.
const LINES_MAX: usize = 32;
/// The longest field name.
const NAME_BYTES_MAX: usize = 256;
const FILE_NAME_BYTES_MAX: usize = 255;
const CONTENT_TYPE_BYTES_MAX: usize = 255;

/// Parses the bytes between a boundary and the empty line. The error text completes "part 3: …".
pub(super) fn read(block: &[u8]) -> Result<PartHead, &'static str> {
    let text = String::from_utf8_lossy(block);
    let mut lines = text.split("\r\n");
    // The rest of the boundary line may only be blanks.
    if !lines.next().unwrap_or_default().bytes().all(|byte| matches!(byte, b' ' | b'\t')) {
        return Err("its boundary goes on with something else");
    }
    let mut head = PartHead::default();
    let mut named = false;
    for (at, line) in lines.enumerate() {
        if at >= LINES_MAX {
            return Err("its head has too many lines");
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err("its head has a line without a colon");
        };
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "content-disposition" if named => return Err("it says twice what it is"),
            "content-disposition" => {
                named = true;
                disposition(value, &mut head)?;
            }
            "content-type" => head.content_type = Some(cut(value, CONTENT_TYPE_BYTES_MAX)),
            "content-transfer-encoding"
                if !["7bit", "8bit", "binary"].contains(&value.to_ascii_lowercase().as_str()) =>
            {
                return Err("it is encoded, which forms must not be");
            }
            _ => {}
        }
    }
    if named { Ok(head) } else { Err("it has no content-disposition") }
}

fn disposition(value: &str, head: &mut PartHead) -> Result<(), &'static str> {
    let (kind, mut rest) = value.split_at(value.find(';').unwrap_or(value.len()));
    if !kind.trim().eq_ignore_ascii_case("form-data") {
        return Err("its content-disposition is not form-data");
    }
    let (mut name, mut plain, mut extended) = (None, None, None);
    while let Some((key, value, after)) = parameter(rest)? {
        let slot = match key.to_ascii_lowercase().as_str() {
            "name" => &mut name,
            "filename" => &mut plain,
            "filename*" => &mut extended,
            _ => &mut None,
        };
        if slot.replace(value).is_some() {
            return Err("its content-disposition says a thing twice");
        }
        rest = after;
    }
    head.name = name.ok_or("it has no name")?;
    if head.name.len() > NAME_BYTES_MAX {
        return Err("its name is too long");
    }
    // RFC 6266 prefers the extended form where both are present.
    let file = extended.as_deref().and_then(extended_value).or(plain);
    head.file_name = file.map(|file| last_component(&file));
    Ok(())
}

/// The next `; key=value` of a header, and what comes after it.
fn parameter(rest: &str) -> Result<Option<(&str, String, &str)>, &'static str> {
    let rest = rest.trim_start_matches([';', ' ', '\t']);
    if rest.is_empty() {
        return Ok(None);
    }
    let broken = "its content-disposition cannot be read";
    let (key, rest) = rest.split_once('=').ok_or(broken)?;
    let Some(quoted) = rest.trim_start().strip_prefix('"') else {
        let (value, after) = rest.split_at(rest.find(';').unwrap_or(rest.len()));
        return Ok(Some((key.trim(), value.trim().to_owned(), after)));
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        match (char, chars.peek()) {
            ('"', _) => {
                let after = quoted.get(at + 1..).unwrap_or_default();
                // Browsers escape a quote in a name as %22.
                return Ok(Some((key.trim(), value.replace("%22", "\""), after)));
            }
            // Older clients escape quotes with a backslash; any other backslash is literal.
            ('\\', Some((_, next @ ('"' | '\\')))) => {
                value.push(*next);
                chars.next();
            }
            _ => value.push(char),
        }
    }
    Err(broken)
}

/// Decodes `UTF-8''na%C3%AFve.txt`; `None` for other character sets.
fn extended_value(text: &str) -> Option<String> {
    let mut parts = text.splitn(3, '\'');
    let (charset, _language, value) = (parts.next()?, parts.next()?, parts.next()?);
    charset.eq_ignore_ascii_case("utf-8").then(|| crate::query::percent_decoded(value))
}

/// The last path component without control characters; empty for `.` and `..`.
fn last_component(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|char| !char.is_control()).collect();
    match clean.trim() {
        "." | ".." => String::new(),
        name => cut(name, FILE_NAME_BYTES_MAX),
    }
}

fn cut(text: &str, bytes_max: usize) -> String {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default().to_owned()
}

/// The boundary in a `Content-Type` header of a form.
pub(crate) fn boundary(content_type: &str) -> Option<String> {
    let (kind, mut rest) = content_type.split_at(content_type.find(';')?);
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    while let Ok(Some((key, value, after))) = parameter(rest) {
        if key.eq_ignore_ascii_case("boundary") {
            let odd = |byte: u8| !byte.is_ascii_alphanumeric() && !b"'()+_,-./:=? ".contains(&byte);
            let good = (1..=70).contains(&value.len()) && !value.bytes().any(odd);
            return good.then_some(value);
        }
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn file(line: &str, expected: &str) {
        let head = read(format!("\r\nContent-Disposition: {line}").as_bytes()).unwrap();
        assert_eq!(head.file_name.as_deref(), Some(expected), "{line}");
    }

    #[test]
    fn a_file_name_is_its_last_path_component() {
        let named = |name: &str| format!("form-data; name=\"file\"; filename={name}");
        for (name, expected) in [
            ("\"a.pdf\"", "a.pdf"),
            ("a.pdf", "a.pdf"),
            ("\"\"", ""),
            ("\"дело №1 %22x%22.pdf\"", "дело №1 \"x\".pdf"),
            ("\"a\\\"b.txt\"", "a\"b.txt"),
            ("\"a;b.txt\"", "a;b.txt"),
            ("\"C:\\dir\\a.txt\"", "a.txt"),
            ("\"../../etc/passwd\"", "passwd"),
            ("\"..\"", ""),
            ("\"a/\"", ""),
            ("\"a\u{0}b\u{7}.txt\"", "ab.txt"),
            ("\"x\"; filename*=UTF-8''%D0%B4%D0%B5%D0%BB%D0%BE.pdf", "дело.pdf"),
            ("\"x\"; filename*=latin-1''%E9", "x"),
        ] {
            file(&named(name), expected);
        }
        file("FORM-DATA;name=f;filename=x", "x");
        let long = format!("\"{}\"", "я".repeat(300));
        file(&named(&long), &"я".repeat(127));
    }

    #[test]
    fn a_part_without_a_file_name_is_a_field() {
        let block =
            b" \t\r\ncontent-type: text/plain\r\nContent-Disposition: form-data; name=\"a\"";
        let head = read(block).unwrap();
        assert_eq!((head.name.as_str(), head.file_name), ("a", None));
        assert_eq!(head.content_type.as_deref(), Some("text/plain"));
    }

    #[test]
    fn an_invalid_head_says_what_is_wrong() {
        let disposition = "\r\nContent-Disposition: ";
        let many = format!("{disposition}form-data; name=a{}", "\r\nx: y".repeat(40));
        for (block, expected) in [
            ("", "it has no content-disposition"),
            ("x", "its boundary goes on with something else"),
            ("\r\nnonsense", "its head has a line without a colon"),
            (&format!("{disposition}attachment; name=a"), "is not form-data"),
            (&format!("{disposition}form-data"), "it has no name"),
            (&format!("{disposition}form-data; name=\"a"), "cannot be read"),
            (&format!("{disposition}form-data; name"), "cannot be read"),
            (&format!("{disposition}form-data; name=a; name=b"), "twice"),
            (&format!("{disposition}form-data; name=a{disposition}form-data; name=a"), "twice"),
            (&format!("{disposition}form-data; name={}", "n".repeat(257)), "too long"),
            (
                &format!("{disposition}form-data; name=a\r\nContent-Transfer-Encoding: base64"),
                "encoded",
            ),
            (&many, "too many lines"),
        ] {
            let error = read(block.as_bytes()).unwrap_err();
            assert!(error.contains(expected), "{block:?}: {error}");
        }
    }

    #[test]
    fn only_a_valid_form_type_has_a_boundary() {
        for (text, expected) in [
            ("multipart/form-data; boundary=abc", Some("abc")),
            ("Multipart/Form-Data;charset=utf-8; BOUNDARY=\"a b\"", Some("a b")),
            (
                "multipart/form-data; boundary=----WebKitFormBoundary7MA4",
                Some("----WebKitFormBoundary7MA4"),
            ),
            ("multipart/form-data", None),
            ("multipart/form-data; boundary=", None),
            ("multipart/form-data; boundary=\"a\\\"b\"", None),
            ("multipart/form-data; boundary=a\r\nb", None),
            ("multipart/mixed; boundary=abc", None),
            ("application/json", None),
            ("", None),
        ] {
            assert_eq!(boundary(text).as_deref(), expected, "{text}");
        }
        let longest = |count| format!("multipart/form-data; boundary={}", "b".repeat(count));
        assert!(boundary(&longest(70)).is_some() && boundary(&longest(71)).is_none());
    }
}
