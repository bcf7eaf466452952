//! `stoa user`: the password is read from stdin and stored nowhere else.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::process::{Folder, stoa};

fn user(data: &Path, args: &[&str], given: &str) -> (i32, String, String) {
    let mut command = stoa(data);
    command.arg("user").args(args).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(given.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

#[test]
fn users_are_added_listed_and_removed() {
    let folder = Folder::new();
    let run_user = |args: &[&str], given: &str| user(folder.path(), args, given);
    let (code, out, _) = run_user(&["list"], "");
    assert!(code == 0 && out.contains("there are no users"), "{out}");

    let (code, id, err) =
        run_user(&["add", "Ann", "--email", "ann@example.org"], "correct horse\r\n");
    assert_eq!((code, id.trim().len(), id.lines().count()), (0, 36, 1), "{err}");
    let (code, out, _) = run_user(&["list"], "");
    assert!(code == 0 && out.starts_with("Ann  ") && out.contains(id.trim()), "{out}");
    assert!(out.contains("ann@example.org") && !out.contains("argon2"), "{out}");

    let (code, out, err) = run_user(&["password", "ann"], "another horse");
    assert!(code == 0 && out.contains("0 sessions ended"), "{out}{err}");
    let (code, out, err) = run_user(&["remove", "ann"], "");
    assert!(code == 0 && out.contains("no user who can sign in owns them"), "{out}{err}");
}

#[test]
fn invalid_users_are_refused_without_repeating_the_password() {
    let folder = Folder::new();
    let check = |args: &[&str], given: &str, code: i32, expected: &str| {
        let (actual, out, err) = user(folder.path(), args, given);
        assert_eq!(actual, code, "{args:?}: {out}{err}");
        assert!(err.contains(expected) && !err.contains("hunter"), "{args:?}: {err}");
    };
    check(&["add", "ann"], "", 2, "there is no password on stdin");
    check(&["add", "ann"], "hunter2\n", 2, "8 to 256 characters");
    check(&["add", "a"], "hunter2hunter2\n", 2, "a username is 3 to 64 letters");
    check(&["add", "ann", "--email", "x"], "hunter2hunter2\n", 2, "email");
    check(&["password", "ann"], "hunter2hunter2\n", 5, "there is no user \"ann\"");
    check(&["remove", "ann"], "", 5, "there is no user \"ann\"");
    assert_eq!(user(folder.path(), &["add", "ann"], "hunter2hunter2").0, 0);
    check(&["add", "ANN"], "hunter2hunter2\n", 5, "is taken");
}
