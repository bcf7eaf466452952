//! `stoa completions`: shell completions on stdout, with the names of tools and services.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, CommandFactory as _};

use crate::cli::Cli;
use crate::commands::{names, print};
use crate::exit::CommandError;

pub(crate) fn run(shell: clap_complete::Shell) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_names(Cli::command())?, "stoa", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// The command line with the names as possible values. Only completions know them: the program
/// itself refuses a wrong name with the nearest one.
fn with_names(command: clap::Command) -> Result<clap::Command, CommandError> {
    let services: Vec<PossibleValue> = names::services().into_iter().map(Into::into).collect();
    let tools: Vec<PossibleValue> = names::tools()?
        .into_iter()
        .map(|tool| {
            // The library keeps names for the life of the process, which ends after this command.
            let name: &'static str = Box::leak(tool.name.into_boxed_str());
            PossibleValue::new(name).help(tool.title)
        })
        .collect();
    let named = move |arg: Arg| match arg.get_id().as_str() {
        "services" | "service" => arg.value_parser(PossibleValuesParser::new(services.clone())),
        "tools" | "tool" => arg.value_parser(PossibleValuesParser::new(tools.clone())),
        _ => arg,
    };
    Ok(change_args(command, &named))
}

/// Applies a change to the arguments of a command and of all its subcommands.
fn change_args(command: clap::Command, change: &impl Fn(Arg) -> Arg) -> clap::Command {
    command.mut_args(change).mut_subcommands(|inner| change_args(inner, change))
}
