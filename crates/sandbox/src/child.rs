//! Starts this program again as a child, sends it a request and follows its messages. A crash, an
//! endless loop or a bomb costs the child alone.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::frames;

/// The child stops by itself when the time is up; this much later it is stopped.
const GRACE: Duration = Duration::from_secs(5);
/// How often `wanted` is asked while the child is silent.
const LOOK: Duration = Duration::from_millis(200);

/// Environment variables that the child and its tools get: where programs, languages and their
/// data are.
const HARMLESS: [&str; 9] = [
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
    /// This program, usually.
    pub program: PathBuf,
    /// What makes it do the child's work.
    pub arguments: Vec<String>,
    /// Where it works; it exists.
    pub folder: PathBuf,
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChildEnd {
    /// It said that it is done, or was not wanted any more.
    Done,
    /// It ran longer than its wall-clock seconds.
    TimedOut,
    /// It used more than its processor seconds.
    CpuExceeded,
    /// It aborted, which is what a failed allocation does.
    OutOfMemory,
    /// It could not be started, or ended in another way.
    Crashed(String),
}

/// Starts the child, writes its input and passes each of its messages to `on_message` until that
/// breaks, `wanted` turns false or the child ends; then the child and its tools are stopped. Blocks.
pub fn run<M: DeserializeOwned + Send + 'static>(
    command: &ChildCommand,
    seconds: u32,
    input: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
    wanted: &dyn Fn() -> bool,
    on_message: &mut dyn FnMut(M) -> ControlFlow<()>,
) -> ChildEnd {
    let run = RunningChild::start(command)
        .and_then(|child| child.follow(seconds, input, wanted, on_message));
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
        // A hostile file that takes over the child finds none of the server's keys there.
        let is_harmless = |name: &std::ffi::OsStr| HARMLESS.iter().any(|it| name == *it);
        let kept = std::env::vars_os().filter(|(name, _)| is_harmless(name));
        command.env_clear().envs(kept);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Its own group, so that the tools it starts are stopped with it.
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
        wanted: &dyn Fn() -> bool,
        on_message: &mut dyn FnMut(M) -> ControlFlow<()>,
    ) -> io::Result<ChildEnd> {
        let no_pipe = || io::Error::other("no pipe");
        let stdin = self.stdin.take().ok_or_else(no_pipe)?;
        let stdout = self.process.stdout.take().ok_or_else(no_pipe)?;
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let writer = thread("child-input").spawn(move || {
            let mut stdin = io::BufWriter::new(stdin);
            // A child that died at once is reported by its status.
            drop(input(&mut stdin).and_then(|()| stdin.flush()));
        })?;
        // A slow consumer holds the child back instead of filling memory.
        let (sender, messages) = mpsc::sync_channel(4);
        let reader = thread("child-output").spawn(move || {
            let mut stdout = io::BufReader::new(stdout);
            while let Ok(Some(message)) = frames::receive::<M>(&mut stdout) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        })?;
        let deadline = Instant::now() + Duration::from_secs(seconds.into()) + GRACE;
        let end = loop {
            if !wanted() {
                break Some(ChildEnd::Done);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match messages.recv_timeout(left.min(LOOK)) {
                Ok(message) => {
                    if on_message(message).is_break() {
                        break Some(ChildEnd::Done);
                    }
                }
                Err(RecvTimeoutError::Timeout) if left > LOOK => {}
                Err(RecvTimeoutError::Timeout) => break Some(ChildEnd::TimedOut),
                Err(RecvTimeoutError::Disconnected) => break None,
            }
        };
        drop(messages);
        let status = self.stop(end.is_none());
        drop(reader.join());
        drop(writer.join());
        Ok(end.unwrap_or_else(|| died(status)))
    }

    /// Ends the child's whole group; one that already died keeps its own status.
    fn stop(&mut self, dead: bool) -> Option<ExitStatus> {
        let status = if dead { self.process.wait().ok() } else { None };
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

fn died(status: Option<ExitStatus>) -> ChildEnd {
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
        // Already waited for on every path but an early error, where this is the last chance.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_child_gets_only_harmless_variables() {
        // What starts the tests sets this, as an operator sets keys.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        let child = ChildCommand {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".to_owned(), "env".to_owned()],
            folder: std::env::temp_dir(),
        };
        let mut running = RunningChild::start(&child).unwrap();
        let mut told = String::new();
        let mut stdout = running.process.stdout.take().unwrap();
        io::Read::read_to_string(&mut stdout, &mut told).unwrap();
        assert!(told.contains("PATH="), "{told}");
        assert!(!told.contains("CARGO_MANIFEST_DIR"), "{told}");
    }
}
