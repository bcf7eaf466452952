//! The key file: created once, private, never overwritten.

use testkit::TempFolder;

use super::*;

#[test]
fn the_key_is_created_once_and_read_again() {
    let folder = TempFolder::new();
    let created = Keyring::open(folder.path()).unwrap();
    let read = Keyring::open(folder.path()).unwrap();
    assert_eq!(created.current(), read.current());
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, [KEY_FILE]);
    let text = fs::read_to_string(folder.path().join(KEY_FILE)).unwrap();
    assert!(!format!("{created:?}").contains(&text[25..40]));
}

#[test]
fn processes_that_start_together_read_the_same_key() {
    for _ in 0..20 {
        let folder = TempFolder::new();
        let start = std::sync::Barrier::new(4);
        let keys: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let open = || {
                start.wait();
                *Keyring::open(folder.path()).unwrap().current()
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
    }
}

#[test]
fn rotating_keeps_the_previous_key() {
    let folder = TempFolder::new();
    let first = Keyring::open(folder.path()).unwrap();
    Keyring::rotate(folder.path()).unwrap();
    let second = Keyring::open(folder.path()).unwrap();
    assert_ne!(second.current(), first.current());
    assert_eq!(second.previous(), Some(first.current()));
}

#[cfg(unix)]
#[test]
fn a_key_that_others_can_read_is_refused_with_the_fix() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempFolder::new();
    Keyring::open(folder.path()).unwrap();
    let path = folder.path().join(KEY_FILE);
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    for (mode, code) in [(0o640, "key_exposed"), (0o604, "key_exposed"), (0o400, "ok")] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let opened = Keyring::open(folder.path());
        assert_eq!(opened.as_ref().err().map_or("ok", Fault::code), code, "{mode:o}");
        if let Err(refused) = opened {
            assert!(refused.message().contains("chmod 600"));
        }
    }
}

#[track_caller]
fn check(text: &str, good: bool) {
    assert_eq!(Keyring::parse(text).is_some(), good, "{text:?}");
}

#[test]
fn a_damaged_key_file_is_never_replaced() {
    let key = "ab".repeat(32);
    check(&format!("stoa-token-key 1\ncurrent {key}\n"), true);
    check(&format!("stoa-token-key 1\ncurrent {key}\nprevious {key}\n"), true);
    check(&format!("stoa-token-key 2\ncurrent {key}\n"), false);
    check(&format!("stoa-token-key 1\ncurrent {}\n", &key[2..]), false);
    check(&format!("stoa-token-key 1\ncurrent {key}\nprevious {}\n", &key[2..]), false);
    check(&format!("stoa-token-key 1\ncurrent {key}\nprevious {key}\nmore\n"), false);
    check("stoa-token-key 1\n", false);
    check("", false);

    let folder = TempFolder::new();
    Keyring::open(folder.path()).unwrap();
    let path = folder.path().join(KEY_FILE);
    for junk in [&b"junk"[..], b"", b"\xff\xfe", &[b'x'; 10_000]] {
        fs::write(&path, junk).unwrap();
        assert!(Keyring::open(folder.path()).is_err());
        assert_eq!(fs::read(&path).unwrap(), junk);
    }
    assert_eq!(Keyring::open(&folder.path().join("none")).unwrap_err().code(), "key_unusable");
}
