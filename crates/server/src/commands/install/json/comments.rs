//! Comments and trailing commas, which some clients allow in their JSON.

/// The text with spaces in place of comments and of commas before a closing bracket. Every other
/// character keeps its position, so that positions in the result are positions in the text.
pub(super) fn blanked(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    // The position of a comma after which only blanks and comments have come.
    let mut comma = None;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        match (byte, next) {
            (b'"', _) => {
                at = end_of_string(&bytes, at);
                comma = None;
                continue;
            }
            (b'/', Some(b'/')) => at = blank(&mut bytes, at, b"\n"),
            (b'/', Some(b'*')) => at = blank(&mut bytes, at, b"*/"),
            (b',', _) => comma = Some(at),
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            (b' ' | b'\t' | b'\r' | b'\n', _) => {}
            _ => comma = None,
        }
        at += 1;
    }
    // Only whole comments and ASCII characters were replaced.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// The position after the string that begins here.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Blanks a comment up to its end, and returns the position of its last character. A comment that
/// does not end is left alone, because the text is not valid then.
fn blank(bytes: &mut [u8], start: usize, end: &[u8]) -> usize {
    let rest = &bytes[start + 2..];
    let found = rest.windows(end.len()).position(|it| it == end);
    let stop = match (found, end) {
        (Some(found), b"\n") => start + 2 + found,
        (Some(found), _) => start + 2 + found + end.len(),
        (None, b"\n") => bytes.len(),
        (None, _) => return bytes.len(),
    };
    for byte in &mut bytes[start..stop] {
        if !matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    stop - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(blanked(text), expected);
        assert_eq!(blanked(text).len(), text.len());
    }

    #[test]
    fn comments_and_trailing_commas_become_blanks() {
        check("{} // й", "{}      ");
        check("{ // a\r\n\"b\": 1 }", "{     \r\n\"b\": 1 }");
        check("{ /* a,\n} */ \"b\": 1, }", "{      \n     \"b\": 1  }");
        check("[1, /* x */ ]", "[1          ]");
        check("[1, /* x */ 2]", "[1,         2]");
        check("{\"a\": \"// no , } \\\" /* no */\"}", "{\"a\": \"// no , } \\\" /* no */\"}");
        check("\"\\", "\"\\");
        check("{ /* open", "{ /* open");
        check("{ / }", "{ / }");
    }
}
