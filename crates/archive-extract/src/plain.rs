//! Plain text and Markdown: finds the encoding and splits pages at form feeds.

mod encoding;

use encoding_rs::{UTF_16BE, UTF_16LE};

use crate::context::{ReadContext, ReadResult};

/// Bytes that decide whether a file is text.
const HEAD: usize = 64 << 10;

pub(crate) fn read(context: &mut ReadContext<'_>, bytes: &[u8]) -> ReadResult {
    let encoding = encoding::detect(bytes);
    context.metadata("encoding", encoding.name());
    let text = encoding.decode(bytes).0;
    context.unpack(text.len())?;
    let mut pages = text.split('\u{c}').peekable();
    while let Some(page) = pages.next() {
        // A form feed at the end of the file does not begin another page.
        if pages.peek().is_none() && page.trim().is_empty() && context.next_page() > 1 {
            break;
        }
        context.page(tidy(page))?;
    }
    Ok(())
}

/// Converts line ends to `\n` and removes byte order marks and NUL.
pub(crate) fn tidy(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(it) = chars.next() {
        match it {
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    tidy.push('\n');
                }
            }
            '\u{feff}' | '\0' => {}
            other => tidy.push(other),
        }
    }
    tidy
}

/// Decodes 8-bit or wide text whose encoding is not stated.
pub(crate) fn decode(bytes: &[u8]) -> String {
    encoding::detect(bytes).decode(bytes).0.into_owned()
}

/// The start of the file as text; `None` if it is not text.
pub(crate) fn looks_like_text(bytes: &[u8]) -> Option<String> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let encoding = encoding::detect(head);
    let wide = encoding == UTF_16LE || encoding == UTF_16BE;
    let odd = head.iter().filter(|it| matches!(it, 0..=8 | 14..=26 | 28..=31 | 127)).count();
    if !wide && (head.contains(&0) || odd * 50 > head.len()) {
        return None;
    }
    let text = encoding.decode(head).0;
    let lost = text.chars().filter(|it| *it == '\u{fffd}').count();
    (lost * 20 <= text.chars().count()).then(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], text: &str) {
        assert_eq!(decode(bytes), text);
        assert!(looks_like_text(bytes).is_some());
    }

    #[test]
    fn encodings_are_recognised() {
        check("plain".as_bytes(), "plain");
        check("Суд решил".as_bytes(), "Суд решил");
        check(b"\xef\xbb\xbfmarked", "marked");
        check(b"\xff\xfeA\0\x14\x04", "AД");
        check(b"\xfe\xff\0A\x04\x14", "AД");
        check(b"\xd1\xf3\xe4 \xf0\xe5\xf8\xe8\xeb", "Суд решил");
        check(b"\xf3\xd5\xc4 \xd2\xc5\xdb\xc9\xcc", "Суд решил");
        check(b"\x91\xe3\xa4 \xe0\xa5\xe8\xa8\xab", "Суд решил");
        check(b"C\0o\0u\0r\0t\0", "Court");
        check(b"caf\xe9 \x93quoted\x94", "café \u{201c}quoted\u{201d}");
    }

    #[test]
    fn data_is_not_text() {
        assert!(looks_like_text(&[0, 1, 2, 3, 4]).is_none());
        assert!(looks_like_text(b"\x01\x02\x03\x04\x05abc").is_none());
    }
}
