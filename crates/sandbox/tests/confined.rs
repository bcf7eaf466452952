//! A confined child cannot use the network, read a key or write outside its folder, and neither can
//! the tools that it starts. The test starts itself as the child, so it has its own `main`.
#![expect(clippy::unwrap_used, reason = "a file that cannot be made fails the test")]

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Trial};
use sandbox::{ChildCommand, ChildEnd, ChildLimits, Confinement, FileAccess};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("try") => return attempt(&arguments[1..]),
        Some("spin") => return spin(),
        _ => {}
    }
    let trials = vec![
        trial("the_child_is_confined", the_child_is_confined),
        trial("the_parent_is_not_confined", the_parent_is_not_confined),
        trial("work_ends_at_its_limit", work_ends_at_its_limit),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test in a folder of its own.
fn trial(name: &str, test: fn(&Path)) -> Trial {
    Trial::test(name, move || {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join("inside"))?;
        std::fs::write(folder.path().join("token.key"), "secret")?;
        std::fs::write(folder.path().join("input"), "input")?;
        test(folder.path());
        Ok(())
    })
}

fn limits() -> ChildLimits {
    ChildLimits {
        cpu_seconds: 20,
        tool_cpu_seconds: 20,
        memory_bytes: 2 << 30,
        file_bytes: 1 << 20,
    }
}

/// The child: restricts itself, tries each forbidden act and reports the name of each that worked.
fn attempt(arguments: &[String]) -> ExitCode {
    let folder = PathBuf::from(&arguments[0]);
    let system = ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache"].map(PathBuf::from);
    let files = FileAccess {
        read: system.into_iter().chain([folder.join("input")]).collect(),
        write: vec![folder.join("inside"), PathBuf::from("/dev/null")],
    };
    let in_force = sandbox::confine(&limits(), &files).unwrap();
    let key = folder.join("token.key");
    let shell = |script: &str| {
        let run = Command::new("/bin/sh").args(["-c", script]).stderr(Stdio::null()).status();
        run.is_ok_and(|it| it.success())
    };
    let attempts = [
        ("input", std::fs::read(folder.join("input")).is_ok()),
        ("scratch", std::fs::write(folder.join("inside/new"), "x").is_ok()),
        ("tool", shell("true")),
        ("tcp", TcpStream::connect(&*arguments[1]).is_ok()),
        ("listen", TcpListener::bind("127.0.0.1:0").is_ok()),
        ("udp", UdpSocket::bind("127.0.0.1:0").is_ok()),
        ("key", std::fs::read(&key).is_ok()),
        ("folder", std::fs::read_dir(&folder).is_ok()),
        ("outside", std::fs::write(folder.join("new"), "x").is_ok()),
        ("tool-key", shell(&format!("cat {}", key.display()))),
        ("priority", can_set_priority_of_parent()),
        ("processors", can_set_processors_of_parent()),
    ];
    let worked: Vec<&str> = attempts.into_iter().filter(|it| it.1).map(|it| it.0).collect();
    let in_force = [in_force.no_new_privileges, in_force.files, in_force.system_calls];
    sandbox::send(&mut std::io::stdout(), &(worked, in_force)).unwrap();
    ExitCode::SUCCESS
}

/// Whether this process can set the priority of its parent; it sets the value that is there.
#[cfg(target_os = "linux")]
fn can_set_priority_of_parent() -> bool {
    let parent = rustix::process::getppid();
    let priority = rustix::process::getpriority_process(parent).unwrap();
    rustix::process::setpriority_process(parent, priority).is_ok()
}

/// Whether this process can set the processors of its parent; it sets those that are there.
#[cfg(target_os = "linux")]
fn can_set_processors_of_parent() -> bool {
    let parent = rustix::process::getppid();
    let processors = rustix::thread::sched_getaffinity(parent).unwrap();
    rustix::thread::sched_setaffinity(parent, &processors).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn can_set_priority_of_parent() -> bool {
    true
}

#[cfg(not(target_os = "linux"))]
fn can_set_processors_of_parent() -> bool {
    true
}

/// The child: limits itself to 1 s of processor time and loops for ever.
fn spin() -> ExitCode {
    let limits = ChildLimits { cpu_seconds: 1, ..limits() };
    sandbox::confine(&limits, &FileAccess::default()).unwrap();
    loop {
        std::hint::spin_loop();
    }
}

fn child(folder: &Path, arguments: &[&str]) -> ChildCommand {
    ChildCommand {
        program: std::env::current_exe().unwrap(),
        arguments: arguments.iter().map(|it| (*it).to_owned()).collect(),
        folder: folder.to_owned(),
    }
}

fn the_child_is_confined(folder: &Path) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let child = child(folder, &["try", folder.to_str().unwrap(), &address]);
    let mut report: Option<(Vec<String>, [bool; 3])> = None;
    let end = sandbox::run(&child, 60, |_| Ok(()), &|| true, &mut |message| {
        report = Some(message);
        ControlFlow::Break(())
    });
    assert_eq!(end, ChildEnd::Done);
    let (worked, [no_new_privileges, files, system_calls]) = report.unwrap();
    let supported = sandbox::supported();
    let in_force = Confinement { no_new_privileges, files, system_calls };
    assert_eq!(in_force, supported, "every restriction that the kernel supports is in force");
    let mut expected = vec!["input", "scratch", "tool"];
    if !supported.system_calls {
        expected.extend(["tcp", "listen", "udp"]);
    }
    if !supported.files {
        expected.extend(["key", "folder", "outside", "tool-key"]);
    }
    if !supported.system_calls {
        expected.extend(["priority", "processors"]);
    }
    assert_eq!(worked, expected);
}

fn the_parent_is_not_confined(folder: &Path) {
    assert_eq!(std::fs::read(folder.join("token.key")).unwrap(), b"secret");
    TcpListener::bind("127.0.0.1:0").unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    assert!(!status.contains("NoNewPrivs:\t1"), "{status}");
}

fn work_ends_at_its_limit(folder: &Path) {
    if cfg!(unix) {
        let end =
            sandbox::run(&child(folder, &["spin"]), 60, |_| Ok(()), &|| true, &mut |(): ()| {
                ControlFlow::Continue(())
            });
        assert_eq!(end, ChildEnd::CpuExceeded);
    }
}
