//! `stoa archive add`: adds files and folders to the archive from a terminal, through the same
//! pipeline as any call, without a server.

mod walk;

use std::collections::VecDeque;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use contract::{Call, Credential};
use fault::Kind;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::cli::{ArchiveAddArgs, ArchiveCommand};
use crate::commands::{call, print};
use crate::config::Config;
use crate::exit::CommandError;

/// Files that are being read while the next ones are added.
const READING_MAX: usize = 8;
/// Refusals that the summary lists; the rest are counted.
const REFUSALS_SHOWN: usize = 100;

pub(crate) async fn run(command: ArchiveCommand, config: Config) -> Result<(), CommandError> {
    let ArchiveCommand::Add(args) = command;
    let found = walk::files(&args.paths)?;
    let app = App::start(&config).await?;
    let credential = app.own_credential(&config).await;
    let bar = ProgressLine { shown: std::io::stderr().is_terminal(), total: found.files.len() };
    let mut adding = Adding {
        app: &app,
        credential,
        args: &args,
        bar,
        reading: VecDeque::new(),
        tally: Tally::default(),
    };
    adding.tally.refused = found.skipped;
    let added = adding.add_all(&found.files).await;
    adding.bar.clear();
    let tally = adding.tally;
    app.stop().await;
    added?;
    tally.tell(args.process)
}

/// What happened so far.
#[derive(Default)]
struct Tally {
    added: u64,
    read: u64,
    insights: u64,
    /// Names and reasons.
    refused: Vec<(String, String)>,
}

struct Adding<'a> {
    app: &'a App,
    credential: Credential,
    args: &'a ArchiveAddArgs,
    bar: ProgressLine,
    /// Names and jobs of the files that are being read, in the order they were added.
    reading: VecDeque<(String, String)>,
    tally: Tally,
}

impl Adding<'_> {
    async fn add_all(&mut self, files: &[std::path::PathBuf]) -> Result<(), CommandError> {
        for (at, path) in files.iter().enumerate() {
            self.bar.show(at, path);
            self.add(path).await?;
            if self.reading.len() >= READING_MAX {
                self.wait_for_oldest().await?;
            }
        }
        while !self.reading.is_empty() {
            self.bar.show_reading(self.reading.len());
            self.wait_for_oldest().await?;
        }
        Ok(())
    }

    async fn add(&mut self, path: &Path) -> Result<(), CommandError> {
        let name = path.display().to_string();
        let Some(text) = path.to_str() else {
            return self.refuse(name, "its path is not UTF-8".to_owned());
        };
        let mut arguments = json!({ "path": text, "process": self.args.process });
        if let Some(case) = &self.args.case {
            arguments["caseId"] = Value::from(case.as_str());
        }
        match self.call("arkiver_add_file", arguments).await? {
            Err(reason) => self.refuse(name, reason),
            Ok(added) => {
                self.tally.added += 1;
                let id = added["fileId"].as_str().unwrap_or_default();
                let again = if added["storedBefore"] == true { "  (added before)" } else { "" };
                self.line(&format!("added    {id}  {name}{again}"))?;
                match (added["jobId"].as_str(), self.args.process) {
                    (Some(job), _) => self.reading.push_back((name, job.to_owned())),
                    (None, true) => {
                        let reason = added["message"].as_str().unwrap_or_default().to_owned();
                        self.refuse(name, reason)?;
                    }
                    (None, false) => {}
                }
                Ok(())
            }
        }
    }

    /// Waits until the oldest job is over.
    async fn wait_for_oldest(&mut self) -> Result<(), CommandError> {
        let Some((name, job)) = self.reading.pop_front() else { return Ok(()) };
        loop {
            let arguments = json!({ "jobId": job, "waitSeconds": 60, "limit": 1 });
            let state = match self.call("arkiver_job_status", arguments).await? {
                Ok(state) => state,
                Err(reason) => return self.refuse(name, reason),
            };
            match state["status"].as_str() {
                Some("completed") => {
                    let insights = state["result"]["insightsTotal"].as_u64().unwrap_or_default();
                    let pages =
                        state["result"]["metadata"]["pageCount"].as_u64().unwrap_or_default();
                    self.tally.read += 1;
                    self.tally.insights += insights;
                    let (pages, insights) = (counted(pages, "page"), counted(insights, "insight"));
                    return self.line(&format!("read     {pages}, {insights}  {name}"));
                }
                Some("failed") => {
                    let reason = state["error"]["message"].as_str().unwrap_or("it cannot be read");
                    return self.refuse(name, reason.to_owned());
                }
                _ => {}
            }
        }
    }

    /// The result of a call, or why the file was refused. Any other failure ends the command.
    async fn call(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<Result<Value, String>, CommandError> {
        let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        let mut request = Call::new(arguments);
        request.meta.credential = self.credential.clone();
        request.meta.is_local = true;
        let outcome = self.app.pipeline.call_by_name(tool, request).await;
        match outcome.ok_or_else(|| CommandError::usage(format!("{tool} is not served here")))? {
            Ok(reply) => Ok(Ok(reply.result())),
            Err(failure) => {
                let message = call::error_message(&failure.tool_error);
                match failure.kind {
                    Kind::Invalid | Kind::NotFound | Kind::Conflict => Ok(Err(message)),
                    kind => Err(CommandError::of_kind(kind, message)),
                }
            }
        }
    }

    fn refuse(&mut self, name: String, reason: String) -> Result<(), CommandError> {
        self.line(&format!("refused  {name}: {reason}"))?;
        self.tally.refused.push((name, reason));
        Ok(())
    }

    /// A line about one file, where there is no progress line.
    fn line(&self, text: &str) -> Result<(), CommandError> {
        if self.bar.shown { Ok(()) } else { print(&format!("{text}\n")) }
    }
}

impl Tally {
    /// The summary. The files that were added stay; the exit code says that some were refused.
    fn tell(&self, process: bool) -> Result<(), CommandError> {
        let mut text = format!("{} added", counted(self.added, "file"));
        if process {
            let insights = counted(self.insights, "insight");
            text.push_str(&format!(", {} read, {insights}", self.read));
        }
        print(&format!("{text}\n"))?;
        if self.refused.is_empty() {
            return Ok(());
        }
        let mut text = format!("{} refused", counted(self.refused.len() as u64, "file"));
        for (name, reason) in self.refused.iter().take(REFUSALS_SHOWN) {
            text.push_str(&format!("\n  {name}: {reason}"));
        }
        if let Some(more) = self.refused.len().checked_sub(REFUSALS_SHOWN).filter(|it| *it > 0) {
            text.push_str(&format!("\n  and {more} more"));
        }
        Err(CommandError::data(text))
    }
}

/// `1 file`, `2 files`.
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A line that is overwritten; absent where stderr is not a terminal.
struct ProgressLine {
    shown: bool,
    total: usize,
}

impl ProgressLine {
    const WIDTH: usize = 30;
    const NAME_CHARS: usize = 40;

    fn show(&self, done: usize, path: &Path) {
        let filled = done * Self::WIDTH / self.total.max(1);
        let bar = "#".repeat(filled) + &".".repeat(Self::WIDTH - filled);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name: String =
            name.chars().filter(|it| !it.is_control()).take(Self::NAME_CHARS).collect();
        self.write(&format!("[{bar}] {done} of {}  {name}", self.total));
    }

    fn show_reading(&self, left: usize) {
        self.write(&format!("reading: {} left", counted(left as u64, "file")));
    }

    fn clear(&self) {
        self.write("");
    }

    fn write(&self, text: &str) {
        if self.shown {
            _ = write!(std::io::stderr(), "\r\x1b[2K{text}");
        }
    }
}
