//! Logging: one line per event on stderr, as JSON or human-readable, with secrets masked.
//!
//! Lines go through a bounded queue to their own thread, because the parent process may not read
//! stderr; a full queue drops lines and logs how many, rather than block the server.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal};

use tracing::Subscriber;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::debug_fn;

use crate::redact::{is_secret_key, redact_bytes};

mod queue;
pub use queue::LogGuard;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    Json,
    Pretty,
    /// Pretty on a terminal, JSON otherwise.
    #[default]
    Auto,
}

impl LogFormat {
    /// Whether lines are JSON, given where stderr goes.
    pub fn is_json(self) -> bool {
        match self {
            Self::Json => true,
            Self::Pretty => false,
            Self::Auto => !io::stderr().is_terminal(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct LogConfig {
    pub format: LogFormat,
    /// Levels, as in `info` or `info,hyper=warn`.
    pub filter: String,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { format: LogFormat::Auto, filter: "info".to_owned() }
    }
}

#[derive(Debug)]
pub enum LogError {
    /// The filter is invalid; holds the invalid part.
    Filter(String),
    /// Another logger is set in this process.
    AlreadySet,
    /// The writing thread could not be started.
    Thread(io::Error),
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Filter(part) => write!(
                f,
                "log filter {part:?} is not a level; write off, error, warn, info, debug or trace, \
                 or module=level, such as info,hyper=warn"
            ),
            Self::AlreadySet => f.write_str("logging is set up already"),
            Self::Thread(_) => f.write_str("the logging thread could not be started"),
        }
    }
}

impl std::error::Error for LogError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            Self::Filter(_) | Self::AlreadySet => None,
        }
    }
}

/// Starts logging for the whole process. Dropping the guard writes the queued lines.
pub fn init(config: &LogConfig) -> Result<LogGuard, LogError> {
    let filter = parse_filter(&config.filter)?;
    let terminal = io::stderr().is_terminal();
    let json = config.format.is_json();
    let (lines, guard) = queue::start(io::stderr()).map_err(LogError::Thread)?;
    let subscriber = subscriber(json, terminal, filter, move || Masked(lines.clone()));
    tracing::subscriber::set_global_default(subscriber).map_err(|_| LogError::AlreadySet)?;
    Ok(guard)
}

fn subscriber<W>(
    json: bool,
    colours: bool,
    filter: EnvFilter,
    writer: W,
) -> Box<dyn Subscriber + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let start = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    if json {
        return Box::new(start.json().flatten_event(true).with_current_span(false).finish());
    }
    let fields = debug_fn(|writer, field, value| match field.name() {
        "message" => write!(EscapeControl(writer), "{value:?}"),
        name if is_secret_key(name) => write!(writer, "{name}=***"),
        name => write!(EscapeControl(writer), "{name}={value:?}"),
    });
    Box::new(start.with_ansi(colours).fmt_fields(fields.delimited(" ")).finish())
}

/// Escapes control characters, so that text from a client can neither forge a line nor control the
/// terminal. (JSON escapes by itself.)
struct EscapeControl<'a, W>(&'a mut W);

impl<W: fmt::Write> fmt::Write for EscapeControl<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for piece in text.split_inclusive(char::is_control) {
            match piece.char_indices().next_back() {
                Some((at, last)) if last.is_control() => {
                    self.0.write_str(&piece[..at])?;
                    write!(self.0, "{}", last.escape_default())?;
                }
                _ => self.0.write_str(piece)?,
            }
        }
        Ok(())
    }
}

/// Masks secrets in each line; the formatter writes a whole line at once.
struct Masked<W>(W);

impl<W: io::Write> io::Write for Masked<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match redact_bytes(line) {
            None => self.0.write_all(line)?,
            Some(masked) => self.0.write_all(&masked)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Refuses a bare word that is not a level: the library would take it for a module name and silence
/// all others.
fn parse_filter(text: &str) -> Result<EnvFilter, LogError> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let is_level = |word: &str| LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level));
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    for part in &parts {
        let level = part.rsplit_once('=').map_or(*part, |(_, level)| level);
        // The parser checks directives on span fields, `[span{field=value}]`.
        if !is_level(level) && !part.contains('[') {
            return Err(LogError::Filter(shorten(part)));
        }
    }
    EnvFilter::builder().parse(parts.join(",")).map_err(|_| LogError::Filter(shorten(text)))
}

fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests;
