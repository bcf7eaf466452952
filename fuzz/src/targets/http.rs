//! The WebSocket codec and the form parser: the same result in any pieces, and what is encoded is
//! decoded again.

use transport_http::fuzzing::{read_form, read_frames, text_frame};

use super::pieces;

const MESSAGE_BYTES_MAX: usize = 4 * 1024;
const MASK: [u8; 4] = [0x12, 0x34, 0x56, 0x78];

pub(super) const FORM_WORDS: &[&str] = &[
    "--XX",
    "--XX--",
    "\r\n--XX",
    "\r\n",
    "\r\n\r\n",
    "--",
    "\r",
    "\n",
    "Content-Disposition: form-data; name=a",
    "; filename=",
    "; filename*=UTF-8''",
    "%22",
    "%",
    "\\\"",
    "\"",
    ";",
    "Content-Type: ",
    "Content-Transfer-Encoding: base64",
    ":",
    "boundary=",
    "multipart/form-data; ",
    "../",
    "\\",
    "\0",
];

/// A frame as a client sends it: masked.
fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        short @ 0..=125 => frame.push(0x80 | short as u8),
        medium @ 126..=65_535 => {
            frame.push(0x80 | 126);
            frame.extend((medium as u16).to_be_bytes());
        }
        long => {
            frame.push(0x80 | 127);
            frame.extend((long as u64).to_be_bytes());
        }
    }
    frame.extend(MASK);
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

pub(super) fn frames() -> Vec<Vec<u8>> {
    let text = masked(0x81, "{\"op\":\"subscribe\",\"é\":1}".as_bytes());
    let fragments = [
        masked(0x01, b"frag"),
        masked(0x89, b"ping"),
        masked(0x00, b"men"),
        masked(0x8A, b""),
        masked(0x80, b"ted"),
    ];
    vec![
        text.clone(),
        fragments.concat(),
        [masked(0x81, &[b'a'; 200]), masked(0x88, b"\x03\xe8bye")].concat(),
        [text, masked(0x88, b"")].concat(),
        masked(0x81, &[b'b'; 5_000]),
        masked(0x82, b"binary"),
    ]
}

pub(super) fn websocket(bytes: &[u8]) {
    let whole = read_frames(&[bytes], MESSAGE_BYTES_MAX);
    assert_eq!(read_frames(&pieces(bytes), MESSAGE_BYTES_MAX), whole);
    let text = String::from_utf8_lossy(bytes);
    let frame = text_frame(&text);
    let payload = frame.len() - text.len();
    // The server's frame has no mask; with one, it is what a client sends.
    let mut sent = frame[..payload].to_vec();
    sent[1] |= 0x80;
    sent.extend(MASK);
    sent.extend(frame[payload..].iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    let decoded = read_frames(&pieces(&sent), text.len());
    assert_eq!(decoded, (vec![format!("Text({text:?})")], None));
}

pub(super) fn forms() -> Vec<Vec<u8>> {
    let part = |rest: &str, body: &str| {
        format!("--XX\r\nContent-Disposition: form-data; {rest}\r\n\r\n{body}\r\n")
    };
    let head = "multipart/form-data; boundary=XX\n";
    [
        format!("{head}{}{}--XX--\r\n", part("name=\"a\"", "1"), part("name=file; filename=\"x.txt\"\r\nContent-Type: text/plain", "two\r\nlines")),
        format!("{head}before\r\n{}--XX--after", part("name=\"file\"; filename=\"C:\\\\a\\\"b.txt\"; filename*=UTF-8''%D0%B4.pdf", "\r\n--X\r\n-")),
        "multipart/form-data; charset=utf-8; boundary=\"a b\"\n--a b \t\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--a b--".to_owned(),
    ]
    .map(String::into_bytes)
    .to_vec()
}

/// The first line of the input is the content type, the rest is the body.
pub(super) fn form(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let content_type = String::from_utf8_lossy(&bytes[..end]);
    let body = bytes.get(end + 1..).unwrap_or_default();
    let whole = read_form(&content_type, &[body]);
    assert_eq!(read_form(&content_type, &pieces(body)), whole);
    for (head, content) in whole.iter().flatten() {
        assert!(head.name.len() <= 256 && content.len() < bytes.len(), "{head:?}");
        let file = head.file_name.as_deref().unwrap_or_default();
        assert!(file.len() <= 255 && !file.contains(['/', '\\', '\0']) && file != "..", "{file:?}");
    }
}
