//! Reads a file in a child process with limits on memory and time, so that a crash, an endless
//! loop or a decompression bomb ends that child alone.
//!
//! The child is the same program, started so that it calls [`worker_main`] and nothing else. The
//! parent sends one request and receives events until the child says that it is done.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sandbox::{ChildCommand, ChildEnd, ChildLimits};

use crate::page_picture;
use crate::tool_files;
use crate::wire::{self, ChildMessage, ReadRequest, WorkerRequest};
use crate::{
    Document, DocumentBuilder, NoOcr, Ocr, Password, ProblemCode, ReadEvent, ReadLimits,
    ReadProblem, Tesseract,
};

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
    /// Opens an encrypted file.
    pub password: Option<Password>,
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

/// Like [`read`], and stops the child within 200 ms after `is_needed` turns false, even while the
/// child sends no event.
pub fn read_while(
    child: &ReaderProcess,
    path: &Path,
    name: &str,
    limits: &ReadLimits,
    is_needed: &dyn Fn() -> bool,
    emit: &mut dyn FnMut(ReadEvent) -> ControlFlow<()>,
) {
    // The child has another working folder, so relative paths are made absolute.
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let request = ReadRequest {
        path: absolute(path),
        name: name.to_owned(),
        limits: limits.clone(),
        scratch: absolute(&child.scratch),
        languages: child.languages.clone(),
        password: child.password.clone(),
    };
    let command = ChildCommand {
        program: child.program.clone(),
        arguments: child.arguments.clone(),
        folder: child.scratch.clone(),
    };
    let input = move |to: &mut dyn Write| sandbox::send(to, &WorkerRequest::Read(request));
    let mut on_message = |message| match message {
        ChildMessage::Event(event) => emit(event),
        ChildMessage::Done => ControlFlow::Break(()),
    };
    let end = sandbox::run(&command, limits.seconds, input, is_needed, &mut on_message);
    if let Some(problem) = problem(end, limits, path) {
        // The child has ended, so a `Break` of this last event changes nothing.
        let _flow = emit(ReadEvent::Problem(problem));
    }
}

fn problem(end: ChildEnd, limits: &ReadLimits, path: &Path) -> Option<ReadProblem> {
    let (code, message) = match end {
        ChildEnd::Done => return None,
        ChildEnd::TimedOut => (
            ProblemCode::TimedOut,
            format!("reading took more than {} s; split the file", limits.seconds),
        ),
        ChildEnd::CpuExceeded => {
            let bytes = std::fs::metadata(path).map_or(0, |it| it.len());
            let seconds = limits.cpu_seconds_for(bytes);
            let message = format!("reading took more than {seconds} s of work; split the file");
            (ProblemCode::TimedOut, message)
        }
        ChildEnd::OutOfMemory => (
            ProblemCode::TooLarge,
            format!("reading needs more than {} MB of memory", limits.memory_bytes >> 20),
        ),
        ChildEnd::Crashed(how) => (
            ProblemCode::Crashed,
            format!("the file made the reader fail ({how}); save it in another format"),
        ),
    };
    Some(ReadProblem::new(code, message))
}

/// The `main` of the child: reads one request, sends the events of reading that file, and returns.
pub fn worker_main(mut stdin: impl Read, stdout: impl Write) -> ExitCode {
    match serve_request(&mut stdin, stdout) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve_request(stdin: &mut impl Read, stdout: impl Write) -> io::Result<()> {
    let request = match sandbox::receive::<WorkerRequest>(stdin)? {
        Some(WorkerRequest::Read(request)) => request,
        Some(WorkerRequest::Picture(request)) => {
            return page_picture::draw_in_child(&request, stdout);
        }
        None => return Ok(()),
    };
    let size = std::fs::metadata(&request.path)?.len();
    let limits = &request.limits;
    let child_limits = ChildLimits {
        cpu_seconds: limits.cpu_seconds_for(size),
        tool_cpu_seconds: limits.cpu_seconds,
        memory_bytes: limits.memory_bytes,
        file_bytes: limits.bytes.max(1 << 20),
    };
    // Confined before a byte of the document is read, and while the process has one thread.
    sandbox::confine(
        &child_limits,
        &tool_files::access(&request.path, &request.scratch, request.languages.is_some()),
    )?;
    let mut to = io::BufWriter::new(stdout);
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
        let mut emit = |event| {
            // Flushed each time: what was found must survive what comes next.
            let sent = wire::send_event(&mut to, event).and_then(|()| to.flush());
            if let Err(error) = sent {
                lost.get_or_insert(error);
            }
        };
        let password = request.password.as_ref();
        let (name, limits) = (&request.name, &request.limits);
        crate::read_with_password(name, &bytes, password, limits, &*ocr, &mut emit);
        if let Some(error) = lost {
            return Err(error);
        }
    }
    sandbox::send(&mut to, &ChildMessage::Done)?;
    to.flush()
}
