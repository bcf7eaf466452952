//! Errors of a command: one sentence on stderr, and an exit code by the kind of error.

use std::fmt;
use std::process::ExitCode;

use fault::{Fault, Kind};

/// | code | meaning |
/// |---|---|
/// | 1 | an internal error: neither the input nor a dependency is at fault |
/// | 2 | wrong usage, arguments or configuration |
/// | 3 | a dependency could not be reached, or did not answer in time |
/// | 4 | the credential is missing or was refused |
/// | 5 | the data given was refused: it is unknown, in conflict, or a file has it wrong |
#[derive(Debug)]
pub(crate) struct CommandError {
    code: u8,
    message: String,
    /// Whether the message is a JSON object, which a program reads.
    is_json: bool,
}

impl CommandError {
    fn new(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), is_json: false }
    }

    /// A sentence with the exit code of a fault's kind.
    pub(crate) fn of_kind(kind: Kind, message: impl Into<String>) -> Self {
        Self::new(code(kind), message)
    }

    /// A contract's error object, as JSON.
    pub(crate) fn json(kind: Kind, message: impl Into<String>) -> Self {
        Self { is_json: true, ..Self::of_kind(kind, message) }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(2, message)
    }

    pub(crate) fn data(message: impl Into<String>) -> Self {
        Self::new(5, message)
    }

    pub(crate) fn other(error: impl fmt::Display) -> Self {
        Self::new(1, error.to_string())
    }

    #[expect(clippy::print_stderr, reason = "the error of a command goes to stderr")]
    pub(crate) fn report(&self) -> ExitCode {
        let mark = if self.is_json { "" } else { "stoa: " };
        eprintln!("{mark}{}", telemetry::redact(&self.message));
        ExitCode::from(self.code)
    }
}

const fn code(kind: Kind) -> u8 {
    match kind {
        Kind::Cancelled | Kind::Internal => 1,
        Kind::Invalid => 2,
        Kind::Unavailable | Kind::Timeout | Kind::RateLimited => 3,
        Kind::Unauthenticated | Kind::Forbidden => 4,
        Kind::NotFound | Kind::Conflict => 5,
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Fault> for CommandError {
    fn from(fault: Fault) -> Self {
        // The cause is shown: it helps the operator, and no remote client sees it.
        let message = match std::error::Error::source(&fault) {
            Some(cause) if fault.kind() == Kind::Internal => cause.to_string(),
            Some(cause) => format!("{fault}: {cause}"),
            None => fault.to_string(),
        };
        Self::of_kind(fault.kind(), message)
    }
}

impl From<contract::ContractError> for CommandError {
    fn from(error: contract::ContractError) -> Self {
        Self::other(error)
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        Self::other(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of exit codes stands in this file's own comment and in the documentation.
    #[test]
    fn the_documentation_has_the_same_table() {
        let page = include_str!("../../../docs/configuration.md");
        let ours = include_str!("exit.rs").lines().filter_map(|line| line.strip_prefix("/// | "));
        let rows: Vec<String> = ours.map(|row| format!("| {row}")).collect();
        assert_eq!(rows.len(), 6, "{rows:?}");
        for row in rows {
            assert!(page.lines().any(|line| line == row), "docs/configuration.md lacks {row}");
        }
    }

    #[test]
    fn every_kind_has_a_code_of_the_table() {
        for (kind, expected) in [
            (Kind::Internal, 1),
            (Kind::Cancelled, 1),
            (Kind::Invalid, 2),
            (Kind::Unavailable, 3),
            (Kind::Timeout, 3),
            (Kind::RateLimited, 3),
            (Kind::Unauthenticated, 4),
            (Kind::Forbidden, 4),
            (Kind::NotFound, 5),
            (Kind::Conflict, 5),
        ] {
            assert_eq!(code(kind), expected, "{kind:?}");
        }
    }
}
