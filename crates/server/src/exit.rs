//! Errors of a command: one sentence on stderr, and an exit code by the kind of error.

use std::fmt;
use std::process::ExitCode;

use fault::{Fault, Kind};

/// | code | meaning |
/// |---|---|
/// | 1 | an internal error: neither the input nor a dependency is at fault |
/// | 2 | wrong usage or configuration |
/// | 3 | a dependency could not be reached |
/// | 4 | the credential was refused |
/// | 5 | the data given was refused |
#[derive(Debug)]
pub(crate) struct CommandError {
    code: u8,
    message: String,
}

impl CommandError {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: 2, message: message.into() }
    }

    pub(crate) fn data(message: impl Into<String>) -> Self {
        Self { code: 5, message: message.into() }
    }

    pub(crate) fn other(error: impl fmt::Display) -> Self {
        Self { code: 1, message: error.to_string() }
    }

    #[expect(clippy::print_stderr, reason = "the error of a command goes to stderr")]
    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("stoa: {}", telemetry::redact(&self.message));
        ExitCode::from(self.code)
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Fault> for CommandError {
    fn from(fault: Fault) -> Self {
        let code = match fault.kind() {
            Kind::Invalid => 2,
            Kind::Unavailable | Kind::Timeout | Kind::RateLimited => 3,
            Kind::Unauthenticated | Kind::Forbidden => 4,
            Kind::NotFound | Kind::Conflict => 5,
            Kind::Cancelled | Kind::Internal => 1,
        };
        // The cause is shown: it helps the operator, and no remote client sees it.
        let message = match std::error::Error::source(&fault) {
            Some(cause) if fault.kind() == Kind::Internal => cause.to_string(),
            Some(cause) => format!("{fault}: {cause}"),
            None => fault.to_string(),
        };
        Self { code, message }
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
