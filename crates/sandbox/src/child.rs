//! Starts this program again as a child, sends it a request and receives its messages. A crash, an
//! endless loop or a decompression bomb ends the child and never the parent.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::frames;

/// The parent kills the child this long after its wall-clock limit, so that a child that ends by
/// itself at the limit can still report what it has found.
const KILL_GRACE: Duration = Duration::from_secs(5);
/// The parent calls `is_needed` this often while the child sends no message.
const IS_NEEDED_INTERVAL: Duration = Duration::from_millis(200);

/// The environment variables that are passed to the child and its tools: the locations of programs
/// and data, and the language.
const PASSED_VARIABLES: [&str; 9] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TESSDATA_PREFIX",
    "OMP_THREAD_LIMIT",
    "LD_LIBRARY_PATH",
    "SYSTEMROOT",
    "TMPDIR",
];

/// How the child is started.
#[derive(Debug, Clone)]
pub struct ChildCommand {
    /// The program to start, which is usually this one.
    pub program: PathBuf,
    /// The arguments that make the program run the child's code.
    pub arguments: Vec<String>,
    /// The working folder, which must exist.
    pub folder: PathBuf,
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChildEnd {
    /// `on_message` broke off, usually at the child's last message, or `is_needed` turned false.
    Done,
    /// It ran 5 s longer than its wall-clock limit, and the parent killed it.
    TimedOut,
    /// It used more than its processor seconds.
    CpuExceeded,
    /// It ended with SIGABRT, which is what a failed allocation causes.
    OutOfMemory,
    /// It could not be started, or ended in another way.
    Crashed(String),
}

/// Starts the child, writes its input and passes each of its messages to `on_message`, until
/// `on_message` breaks off, `is_needed` returns false, the child ends, or it has run 5 s longer
/// than `seconds`. Then it kills the child and its tools. Blocks.
pub fn run<M: DeserializeOwned + Send + 'static>(
    command: &ChildCommand,
    seconds: u32,
    input: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
    is_needed: &dyn Fn() -> bool,
    on_message: &mut dyn FnMut(M) -> ControlFlow<()>,
) -> ChildEnd {
    let run = RunningChild::start(command)
        .and_then(|child| child.follow(seconds, input, is_needed, on_message));
    run.unwrap_or_else(|error| ChildEnd::Crashed(format!("it could not be started: {error}")))
}

struct RunningChild {
    process: std::process::Child,
    stdin: Option<ChildStdin>,
}

impl RunningChild {
    fn start(child: &ChildCommand) -> io::Result<Self> {
        let mut command = Command::new(&child.program);
        command.args(&child.arguments).current_dir(&child.folder);
        // The server's keys are in other variables, so a document that takes over the child cannot
        // read them.
        let is_passed = |name: &std::ffi::OsStr| PASSED_VARIABLES.iter().any(|it| name == *it);
        let passed = std::env::vars_os().filter(|(name, _)| is_passed(name));
        command.env_clear().envs(passed);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // A process group of its own, so that the tools that the child starts are killed with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn()?;
        let stdin = process.stdin.take();
        Ok(Self { process, stdin })
    }

    fn follow<M: DeserializeOwned + Send + 'static>(
        mut self,
        seconds: u32,
        input: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
        is_needed: &dyn Fn() -> bool,
        on_message: &mut dyn FnMut(M) -> ControlFlow<()>,
    ) -> io::Result<ChildEnd> {
        let no_pipe = || io::Error::other("no pipe");
        let stdin = self.stdin.take().ok_or_else(no_pipe)?;
        let stdout = self.process.stdout.take().ok_or_else(no_pipe)?;
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let writer = thread("child-input").spawn(move || {
            let mut stdin = io::BufWriter::new(stdin);
            // The write fails when the child has died; its exit status is reported below.
            drop(input(&mut stdin).and_then(|()| stdin.flush()));
        })?;
        // At most 4 messages are queued: a slow `on_message` makes the child wait.
        let (sender, messages) = mpsc::sync_channel(4);
        let reader = thread("child-output").spawn(move || {
            let mut stdout = io::BufReader::new(stdout);
            while let Ok(Some(message)) = frames::receive::<M>(&mut stdout) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        })?;
        let deadline = Instant::now() + Duration::from_secs(seconds.into()) + KILL_GRACE;
        let end = loop {
            if !is_needed() {
                break Some(ChildEnd::Done);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match messages.recv_timeout(left.min(IS_NEEDED_INTERVAL)) {
                Ok(message) => {
                    if on_message(message).is_break() {
                        break Some(ChildEnd::Done);
                    }
                }
                Err(RecvTimeoutError::Timeout) if left > IS_NEEDED_INTERVAL => {}
                Err(RecvTimeoutError::Timeout) => break Some(ChildEnd::TimedOut),
                Err(RecvTimeoutError::Disconnected) => break None,
            }
        };
        drop(messages);
        let status = self.stop(end.is_none());
        drop(reader.join());
        drop(writer.join());
        Ok(end.unwrap_or_else(|| end_by_status(status)))
    }

    /// Kills the child's process group and returns the exit status. A child that `has_ended` by
    /// itself is only waited for.
    fn stop(&mut self, has_ended: bool) -> Option<ExitStatus> {
        let status = if has_ended { self.process.wait().ok() } else { None };
        #[cfg(unix)]
        if status.is_none() {
            let group = rustix::process::Pid::from_child(&self.process);
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
        }
        #[cfg(not(unix))]
        drop(self.process.kill());
        status.or_else(|| self.process.wait().ok())
    }
}

/// How a child ended that closed its output before `on_message` broke off, by its exit status.
fn end_by_status(status: Option<ExitStatus>) -> ChildEnd {
    #[cfg(unix)]
    {
        use rustix::process::Signal;
        use std::os::unix::process::ExitStatusExt;
        let signal = status.and_then(|it| it.signal());
        if signal == Some(Signal::XCPU.as_raw()) {
            return ChildEnd::CpuExceeded;
        }
        if signal == Some(Signal::ABORT.as_raw()) {
            return ChildEnd::OutOfMemory;
        }
    }
    ChildEnd::Crashed(status.map_or_else(|| "lost".to_owned(), |it| it.to_string()))
}

impl Drop for RunningChild {
    fn drop(&mut self) {
        // Only after an early error does the child still run here; on every other path `stop` has
        // waited for it.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_child_gets_only_the_passed_variables() {
        // Cargo sets this variable, as an operator sets keys.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        let child = ChildCommand {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".to_owned(), "env".to_owned()],
            folder: std::env::temp_dir(),
        };
        let mut running = RunningChild::start(&child).unwrap();
        let mut variables = String::new();
        let mut stdout = running.process.stdout.take().unwrap();
        io::Read::read_to_string(&mut stdout, &mut variables).unwrap();
        assert!(variables.contains("PATH="), "{variables}");
        assert!(!variables.contains("CARGO_MANIFEST_DIR"), "{variables}");
    }
}
