//! Encrypted PDF files, one for each scheme. Each is a page that says `Readable by all`, written
//! by qpdf 11 with `--encrypt USER owner BITS`, and with `--force-R5` or `--use-aes` by its name.

use archive_extract::ProblemCode;

use crate::{codes, read, texts};

#[track_caller]
fn opens(file: &[u8]) {
    let document = read("a.pdf", file);
    assert_eq!(texts(&document), ["Readable by all"]);
    assert_eq!(codes(&document), []);
}

#[test]
fn a_file_with_an_empty_user_password_is_read() {
    opens(include_bytes!("encrypted/rc4-40.pdf"));
    opens(include_bytes!("encrypted/rc4-128.pdf"));
    opens(include_bytes!("encrypted/aes-128.pdf"));
    opens(include_bytes!("encrypted/aes-256-r5.pdf"));
    opens(include_bytes!("encrypted/aes-256-r6.pdf"));
}

#[test]
fn encrypted_object_streams_are_read() {
    opens(include_bytes!("encrypted/aes-256-r6-streams.pdf"));
}

#[test]
fn a_file_that_needs_a_password_is_refused() {
    for file in [
        &include_bytes!("encrypted/aes-128-password.pdf")[..],
        include_bytes!("encrypted/aes-256-r5-password.pdf"),
        include_bytes!("encrypted/aes-256-r6-password.pdf"),
    ] {
        let document = read("a.pdf", file);
        assert!(document.pages.is_empty());
        assert_eq!(codes(&document), [ProblemCode::Encrypted]);
        assert!(document.problems[0].message.contains("remove the password"));
    }
}

#[test]
fn a_damaged_encryption_dictionary_does_no_harm() {
    let file = include_bytes!("encrypted/aes-256-r5.pdf");
    let position = |word: &[u8]| file.windows(word.len()).position(|it| it == word).unwrap();
    for at in (position(b"/CFM")..position(b"xref")).step_by(5) {
        let mut flipped = file.to_vec();
        flipped[at] ^= 0x15;
        assert!(read("a.pdf", &flipped).pages.len() <= 1);
        let mut shorter = file.to_vec();
        shorter.remove(at);
        assert!(read("a.pdf", &shorter).pages.len() <= 1);
    }
}
