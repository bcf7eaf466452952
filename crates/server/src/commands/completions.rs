//! `stoa completions`: shell completions on stdout.

use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::commands::print;
use crate::exit::CommandError;

pub(crate) fn run(shell: clap_complete::Shell) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "stoa", &mut script);
    print(&String::from_utf8_lossy(&script))
}
