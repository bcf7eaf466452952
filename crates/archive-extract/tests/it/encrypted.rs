//! Encrypted PDF files, one for each scheme. Each is a page that says `Readable by all`, written
//! by qpdf 11 with `--encrypt USER owner BITS`, and with `--force-R5` or `--use-aes` by its name.

use archive_extract::{
    DocumentBuilder, NoOcr, Password, ProblemCode, ReadLimits, read_with_password,
};

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
        assert_eq!(codes(&document), [ProblemCode::PasswordRequired]);
        assert!(document.problems[0].message.contains("remove the password"));
    }
}

#[track_caller]
fn check(file: &[u8], password: &str, expected: Result<&str, ProblemCode>) {
    let password = Password::new(password.to_owned());
    let mut builder = DocumentBuilder::default();
    let limits = ReadLimits::default();
    read_with_password("a.pdf", file, Some(&password), &limits, &NoOcr, &mut |event| {
        builder.apply(event);
    });
    let document = builder.finish();
    let read = match document.problems.first() {
        Some(problem) => Err(problem.code),
        None => Ok(texts(&document)[0]),
    };
    assert_eq!(read, expected);
}

#[test]
fn the_user_and_the_owner_password_open_a_file() {
    for file in [
        &include_bytes!("encrypted/aes-128-password.pdf")[..],
        include_bytes!("encrypted/aes-256-r5-password.pdf"),
        include_bytes!("encrypted/aes-256-r6-password.pdf"),
    ] {
        check(file, "secret", Ok("Readable by all"));
        check(file, "owner", Ok("Readable by all"));
        for wrong in ["Secret", "", "secret ", &"x".repeat(5_000)] {
            check(file, wrong, Err(ProblemCode::WrongPassword));
        }
    }
    // A file that needs no password opens with any.
    check(include_bytes!("encrypted/rc4-40.pdf"), "wrong", Ok("Readable by all"));
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
