//! What a benchmark ends with.

use std::error::Error;
use std::fmt::Display;
use std::process::ExitCode;

pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// 0 when every target was met, 1 when one was missed, 2 when the measurement failed.
#[expect(clippy::print_stdout, reason = "a benchmark talks to a terminal")]
pub fn exit_code<E: Display>(measured: Result<bool, E>) -> ExitCode {
    match measured {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("not measured: {error}");
            ExitCode::from(2)
        }
    }
}
