//! The encodings in which spreadsheet programs save a table: UTF-8, UTF-16 with a byte order mark,
//! and the code pages of Western and Cyrillic Windows.

use std::borrow::Cow;

use encoding_rs::{Encoding, WINDOWS_1251, WINDOWS_1252};

/// The bytes are not text in any of the encodings that [`decode`] reads.
#[derive(Debug, PartialEq, Eq)]
pub struct NotText;

/// The text without its byte order mark. Bytes that are not UTF-8 are read as Windows-1251 if most
/// letters beyond ASCII stand side by side, as in Russian words, and otherwise as Windows-1252.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, NotText> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        let (text, damaged) = encoding.decode_without_bom_handling(&bytes[mark..]);
        return if damaged { Err(NotText) } else { Ok(text) };
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(Cow::Borrowed(text));
    }
    if bytes.contains(&0) {
        return Err(NotText);
    }
    let page = if is_cyrillic(bytes) { WINDOWS_1251 } else { WINDOWS_1252 };
    let (text, damaged) = page.decode_without_bom_handling(bytes);
    if damaged { Err(NotText) } else { Ok(text) }
}

/// Whether most bytes that are letters beyond ASCII have such a letter as neighbour.
fn is_cyrillic(bytes: &[u8]) -> bool {
    let letter = |byte: u8| byte >= 0xc0 || matches!(byte, 0xa8 | 0xb8);
    let letters = bytes.iter().filter(|it| letter(**it)).count();
    let pairs = bytes.windows(2).filter(|pair| letter(pair[0]) && letter(pair[1])).count();
    pairs * 2 > letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Result<&str, NotText>) {
        assert_eq!(decode(bytes), expected.map(Cow::Borrowed), "{bytes:?}");
    }

    #[test]
    fn the_encoding_is_found_from_the_bytes() {
        check(b"sku,price", Ok("sku,price"));
        check("\u{feff}Дата".as_bytes(), Ok("Дата"));
        check(b"\xff\xfea\0;\0b\0", Ok("a;b"));
        check(b"\xc4\xe0\xf2\xe0;\xd6\xe5\xed\xe0", Ok("Дата;Цена"));
        check(b"caf\xe9;cr\xe8me", Ok("café;crème"));
        check(b"", Ok(""));
        check(b"\xff\xfe\0\xd8", Err(NotText));
        check(b"PK\x03\x04\0\xff", Err(NotText));
    }
}
