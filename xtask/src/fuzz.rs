//! `cargo xtask fuzz`: runs the fuzz targets with optimised crates of ours, so that a minute covers a
//! hundred thousand inputs.

use crate::workspace::Workspace;
use crate::{Outcome, run};

/// Crates that the targets spend their time in. The libraries are optimised in the dev profile
/// already, and overflow and debug assertions stay on.
const OPTIMISED: &[&str] = &[
    "archive-extract",
    "auth",
    "cite",
    "fuzz",
    "market",
    "market-bars",
    "market-binance",
    "market-files",
    "market-moex",
    "transport-http",
];

pub(crate) fn run(args: &[&str]) -> Outcome {
    let mut command = run::cargo();
    command.args(["run", "--quiet", "--package", "fuzz"]);
    for name in OPTIMISED {
        command.args(["--config", &format!("profile.dev.package.{name}.opt-level=2")]);
    }
    run::checked(command.arg("--").args(args).current_dir(Workspace::read()?.root))
}
