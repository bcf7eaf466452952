//! The child process that reads a file: its pages arrive, and its crash is a problem of that file.
//! The test starts itself as the child, so it has its own `main`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a file that cannot be made fails the test, and so does an event that must not come"
)]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use archive_extract::{Document, ProblemCode, ReadEvent, ReadLimits, ReaderProcess};
use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("worker") => return archive_extract::worker_main(std::io::stdin(), std::io::stdout()),
        Some("crash") => std::process::abort(),
        Some("hang") => loop {
            std::thread::park();
        },
        _ => {}
    }
    let trials = vec![
        trial("pages_arrive", pages_arrive),
        trial(
            "crashes_and_missing_programs_are_reported",
            crashes_and_missing_programs_are_reported,
        ),
        trial("limits_hold", limits_hold),
        trial("a_reader_may_stop", a_reader_may_stop),
    ];
    // One after the other: `check_children_are_confined` reads the state of every child of this
    // process.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A test in a folder of its own.
fn trial(name: &str, test: fn(&Path)) -> Trial {
    Trial::test(name, move || {
        let folder = tempfile::tempdir()?;
        test(folder.path());
        Ok(())
    })
}

fn child(folder: &Path, word: &str) -> ReaderProcess {
    ReaderProcess {
        program: std::env::current_exe().unwrap(),
        arguments: vec![word.to_owned()],
        scratch: folder.to_owned(),
        languages: None,
        password: None,
    }
}

fn file(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn codes(document: &Document) -> Vec<ProblemCode> {
    document.problems_all().map(|it| it.code).collect()
}

fn pages_arrive(folder: &Path) {
    let path = file(folder, "blob", "one\u{c}\u{442}wo".as_bytes());
    let document = archive_extract::isolated::read_all(
        &child(folder, "worker"),
        &path,
        "a.txt",
        &ReadLimits::default(),
    );
    let texts: Vec<&str> = document.pages.iter().map(|it| it.page.text.as_str()).collect();
    assert_eq!(texts, ["one", "\u{442}wo"]);
    assert_eq!(codes(&document), []);
    let long = "a long line of text\n".repeat(500_000);
    let path = file(folder, "long", long.as_bytes());
    let document = archive_extract::isolated::read_all(
        &child(folder, "worker"),
        &path,
        "a.txt",
        &ReadLimits::default(),
    );
    assert_eq!(document.pages.len(), 1);
    assert_eq!(document.pages[0].page.text, long);
}

fn crashes_and_missing_programs_are_reported(folder: &Path) {
    let path = file(folder, "blob", b"text");
    let document = archive_extract::isolated::read_all(
        &child(folder, "crash"),
        &path,
        "a.txt",
        &ReadLimits::default(),
    );
    assert_eq!(codes(&document), [ProblemCode::TooLarge], "an abort is how memory runs out");
    let mut absent = child(folder, "worker");
    absent.program = folder.join("absent");
    let document =
        archive_extract::isolated::read_all(&absent, &path, "a.txt", &ReadLimits::default());
    assert_eq!(codes(&document), [ProblemCode::Crashed]);
    let document = archive_extract::isolated::read_all(
        &child(folder, "worker"),
        &folder.join("no such"),
        "a.txt",
        &ReadLimits::default(),
    );
    assert_eq!(codes(&document), [ProblemCode::Crashed]);
}

fn limits_hold(folder: &Path) {
    let path = file(folder, "blob", "word ".repeat(8 << 20).as_bytes());
    let small = ReadLimits { memory_bytes: 48 << 20, ..ReadLimits::default() };
    let document =
        archive_extract::isolated::read_all(&child(folder, "worker"), &path, "a.txt", &small);
    if cfg!(target_os = "linux") {
        assert_ne!(codes(&document), [], "40 MB of text fit into 48 MB of memory");
    }
    let path = file(folder, "blob", b"text");
    let none = ReadLimits { seconds: 0, ..ReadLimits::default() };
    let document =
        archive_extract::isolated::read_all(&child(folder, "hang"), &path, "a.txt", &none);
    assert_eq!(codes(&document), [ProblemCode::TimedOut]);
}

/// Checks that every child of this process is confined as far as the kernel supports it. The test
/// of `sandbox` shows which acts a confined child is refused.
fn check_children_are_confined() {
    let supported = sandbox::supported();
    let Ok(processes) = std::fs::read_dir("/proc") else { return };
    let mut children = 0;
    for status in
        processes.flatten().filter_map(|it| std::fs::read_to_string(it.path().join("status")).ok())
    {
        if !status.contains(&format!("PPid:\t{}\n", std::process::id())) {
            continue;
        }
        children += 1;
        assert!(!supported.no_new_privileges || status.contains("NoNewPrivs:\t1"), "{status}");
        assert!(!supported.system_calls || status.contains("Seccomp:\t2"), "{status}");
    }
    assert!(children > 0 || !cfg!(target_os = "linux"));
}

fn a_reader_may_stop(folder: &Path) {
    let path = file(folder, "blob", "page\u{c}".repeat(9_000).as_bytes());
    let mut pages = 0;
    archive_extract::isolated::read(
        &child(folder, "worker"),
        &path,
        "a.txt",
        &ReadLimits::default(),
        &mut |event| {
            pages += usize::from(matches!(event, ReadEvent::Page(_)));
            check_children_are_confined();
            if pages == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    assert_eq!(pages, 3);
    // A child that sends no event is stopped as well.
    archive_extract::isolated::read_while(
        &child(folder, "hang"),
        &path,
        "a.txt",
        &ReadLimits::default(),
        &|| false,
        &mut |event| panic!("unexpected event: {event:?}"),
    );
}
