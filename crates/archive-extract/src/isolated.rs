//! Reads a file in a child process with limits on memory and time, so that a crash, an endless
//! loop or a bomb costs that file alone.
//!
//! The child is the same program, started so that it calls [`worker_main`] and nothing else. The
//! parent sends one request and receives events until the child says that it is done.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::wire::{self, ChildMessage, ReadRequest};
use crate::{
    Document, DocumentBuilder, NoOcr, Ocr, ProblemCode, ReadEvent, ReadLimits, ReadProblem,
    Tesseract,
};

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
pub struct ReaderProcess {
    /// This program, usually.
    pub program: PathBuf,
    /// What makes it call [`worker_main`].
    pub arguments: Vec<String>,
    /// A folder for this file alone; the caller removes it afterwards.
    pub scratch: PathBuf,
    /// Languages for OCR, tried in order; none: no OCR.
    pub languages: Option<Vec<String>>,
}

/// Reads the file and gathers what was found. Blocks.
#[must_use]
pub fn read_all(child: &ReaderProcess, path: &Path, name: &str, limits: &ReadLimits) -> Document {
    let mut draft = DocumentBuilder::default();
    read(child, path, name, limits, &mut |event| {
        draft.apply(event);
        ControlFlow::Continue(())
    });
    draft.finish()
}

/// Reads the file and reports every page, attachment and problem when it is found; the last
/// problem says so if the child did not end well. `Break` stops the child. Blocks.
pub fn read(
    child: &ReaderProcess,
    path: &Path,
    name: &str,
    limits: &ReadLimits,
    emit: &mut dyn FnMut(ReadEvent) -> ControlFlow<()>,
) {
    read_while(child, path, name, limits, &|| true, emit);
}

/// Like [`read`], and stops the child within 200 ms after `wanted` turns false, even while the
/// child is silent.
pub fn read_while(
    child: &ReaderProcess,
    path: &Path,
    name: &str,
    limits: &ReadLimits,
    wanted: &dyn Fn() -> bool,
    emit: &mut dyn FnMut(ReadEvent) -> ControlFlow<()>,
) {
    // The child works in another folder, where a relative path would mean another place.
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let request = ReadRequest {
        path: whole(path),
        name: name.to_owned(),
        limits: limits.clone(),
        scratch: whole(&child.scratch),
        languages: child.languages.clone(),
    };
    let outcome =
        RunningChild::start(child, &request).and_then(|it| it.follow(limits, wanted, emit));
    let problem = match outcome {
        Ok(ChildEnd::Done | ChildEnd::Stopped) => return,
        Ok(ChildEnd::TimedOut) => ReadProblem::new(
            ProblemCode::TimedOut,
            format!("reading took more than {} s; split the file", limits.seconds),
        ),
        Ok(ChildEnd::Died(status)) => died(status, limits),
        Err(error) => ReadProblem::new(
            ProblemCode::Crashed,
            format!("the reader could not be started: {error}"),
        ),
    };
    // Nothing is left to stop.
    let _ended = emit(ReadEvent::Problem(problem));
}

enum ChildEnd {
    Done,
    Stopped,
    TimedOut,
    Died(Option<ExitStatus>),
}

fn died(status: Option<ExitStatus>, limits: &ReadLimits) -> ReadProblem {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        let signal = status.and_then(|it| it.signal());
        if signal == Some(rustix::process::Signal::XCPU.as_raw()) {
            return ReadProblem::new(
                ProblemCode::TimedOut,
                format!("reading took more than {} s of work; split the file", limits.cpu_seconds),
            );
        }
        // A failed allocation aborts.
        if signal == Some(rustix::process::Signal::ABORT.as_raw()) {
            return ReadProblem::new(
                ProblemCode::TooLarge,
                format!("reading needs more than {} MB of memory", limits.memory_bytes >> 20),
            );
        }
    }
    let shown = status.map_or_else(|| "lost".to_owned(), |it| it.to_string());
    let message = format!("the file made the reader fail ({shown}); save it in another format");
    ReadProblem::new(ProblemCode::Crashed, message)
}

struct RunningChild {
    process: std::process::Child,
}

impl RunningChild {
    fn start(child: &ReaderProcess, request: &ReadRequest) -> io::Result<Self> {
        let mut command = Command::new(&child.program);
        command.args(&child.arguments).current_dir(&child.scratch);
        // A hostile file that takes over the child finds none of the server's keys there.
        let is_harmless = |name: &std::ffi::OsStr| HARMLESS.iter().any(|it| name == *it);
        let kept = std::env::vars_os().filter(|(name, _)| is_harmless(name));
        command.env_clear().envs(kept);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Its own group, so that the tools it starts are stopped with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut running = Self { process: command.spawn()? };
        if let Some(mut stdin) = running.process.stdin.take() {
            // A child that died at once is reported by its status.
            drop(wire::send(&mut stdin, request));
        }
        Ok(running)
    }

    fn follow(
        mut self,
        limits: &ReadLimits,
        wanted: &dyn Fn() -> bool,
        emit: &mut dyn FnMut(ReadEvent) -> ControlFlow<()>,
    ) -> io::Result<ChildEnd> {
        let stdout = self.process.stdout.take().ok_or_else(|| io::Error::other("no pipe"))?;
        // A slow consumer holds the child back instead of filling memory.
        let (sender, answers) = mpsc::sync_channel(4);
        let reader =
            std::thread::Builder::new().name("extract-child".to_owned()).spawn(move || {
                let mut stdout = io::BufReader::new(stdout);
                while let Ok(Some(answer)) = wire::receive::<ChildMessage>(&mut stdout) {
                    if sender.send(answer).is_err() {
                        break;
                    }
                }
            })?;
        let deadline = Instant::now() + Duration::from_secs(limits.seconds.into()) + GRACE;
        let ending = loop {
            if !wanted() {
                break ChildEnd::Stopped;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match answers.recv_timeout(left.min(LOOK)) {
                Ok(ChildMessage::Event(event)) => {
                    if emit(event).is_break() {
                        break ChildEnd::Stopped;
                    }
                }
                Ok(ChildMessage::Done) => break ChildEnd::Done,
                Err(RecvTimeoutError::Timeout) if left > LOOK => {}
                Err(RecvTimeoutError::Timeout) => break ChildEnd::TimedOut,
                Err(RecvTimeoutError::Disconnected) => break ChildEnd::Died(None),
            }
        };
        drop(answers);
        let status = self.stop(matches!(ending, ChildEnd::Died(_)));
        drop(reader.join());
        Ok(if let ChildEnd::Died(_) = ending { ChildEnd::Died(status) } else { ending })
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

impl Drop for RunningChild {
    fn drop(&mut self) {
        // Already waited for on every path but an early error, where this is the last chance.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The child's whole life: one request, its events, the end.
pub fn worker_main(mut stdin: impl Read, stdout: impl Write) -> ExitCode {
    match serve_request(&mut stdin, stdout) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve_request(stdin: &mut impl Read, stdout: impl Write) -> io::Result<()> {
    let Some(request) = wire::receive::<ReadRequest>(stdin)? else { return Ok(()) };
    confine(&request.limits)?;
    let mut to = io::BufWriter::new(stdout);
    let size = std::fs::metadata(&request.path)?.len();
    if size > request.limits.bytes {
        let message = format!("the file is larger than {} MB", request.limits.bytes >> 20);
        let problem = ReadProblem::new(ProblemCode::TooLarge, message);
        wire::send_event(&mut to, ReadEvent::Problem(problem))?;
    } else {
        let bytes = std::fs::read(&request.path)?;
        let ocr: Box<dyn Ocr> = match request.languages {
            Some(languages) => {
                Box::new(Tesseract::with("tesseract", "pdftoppm", languages, request.scratch))
            }
            None => Box::new(NoOcr),
        };
        let mut lost = None;
        crate::read(&request.name, &bytes, &request.limits, &*ocr, &mut |event| {
            // Flushed each time: what was found must survive what comes next.
            let sent = wire::send_event(&mut to, event).and_then(|()| to.flush());
            if let Err(error) = sent {
                lost.get_or_insert(error);
            }
        });
        if let Some(error) = lost {
            return Err(error);
        }
    }
    wire::send(&mut to, &ChildMessage::Done)?;
    to.flush()
}

/// Bounds that the system keeps, for what our own counting misses.
#[cfg(unix)]
fn confine(limits: &ReadLimits) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let set = |resource, soft: u64, hard: u64| {
        setrlimit(resource, Rlimit { current: Some(soft), maximum: Some(hard) })
    };
    let cpu = u64::from(limits.cpu_seconds);
    set(Resource::Cpu, cpu, cpu + 5)?;
    set(Resource::Core, 0, 0)?;
    set(Resource::Fsize, limits.bytes.max(1 << 20), limits.bytes.max(1 << 20))?;
    // macOS refuses to bound the address space.
    #[cfg(not(target_os = "macos"))]
    set(Resource::As, limits.memory_bytes, limits.memory_bytes)?;
    Ok(())
}

#[cfg(not(unix))]
fn confine(_: &ReadLimits) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_child_gets_only_harmless_variables() {
        // What starts the tests sets this, as an operator sets keys.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        let child = ReaderProcess {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".to_owned(), "env".to_owned()],
            scratch: std::env::temp_dir(),
            languages: None,
        };
        let request = ReadRequest {
            path: PathBuf::new(),
            name: String::new(),
            limits: ReadLimits::default(),
            scratch: PathBuf::new(),
            languages: None,
        };
        let mut running = RunningChild::start(&child, &request).unwrap();
        let mut told = String::new();
        running.process.stdout.take().unwrap().read_to_string(&mut told).unwrap();
        assert!(told.contains("PATH="), "{told}");
        assert!(!told.contains("CARGO_MANIFEST_DIR"), "{told}");
    }
}
