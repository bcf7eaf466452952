//! `stoa install`: the configuration with which a client starts this program over stdio.
//!
//! It is printed by default; with `--write` it is merged into the client's own file, and the rest
//! of the file does not change. Secrets are never written, because such files are copied and
//! shared.

mod codex;
mod json;
mod launch;
mod place;
mod write;

use std::path::Path;

use crate::cli::{Client, InstallArgs};
use crate::commands::print;
use crate::config::Config;
use crate::exit::CommandError;
use launch::Launch;
use place::Places;
use write::{Kept, Outcome};

/// The name of our entry in every client.
const NAME: &str = "stoa";

pub(crate) fn run(args: InstallArgs, config: &Config) -> Result<(), CommandError> {
    let launch = Launch::of_this_program(&args.toolset, config)?;
    let file = Places::of_user()?.file(args.client)?;
    let shown = shown(args.client, &launch);
    if !args.write {
        print(&shown)?;
        tell(&format!("this belongs in {}; --write puts it there", file.display()));
    } else if let Err(reason) = merge(args.client, &launch, &file) {
        // The user can still paste the printed text.
        print(&shown)?;
        return Err(CommandError::data(format!(
            "{} was left as it is: {reason}; add the above by hand",
            file.display()
        )));
    }
    if args.client == Client::ClaudeCode {
        tell(&format!("or for all your projects: {}", launch.claude_line()));
    }
    for note in launch.notes() {
        tell(note);
    }
    Ok(())
}

/// The complete configuration of a client.
fn shown(client: Client, launch: &Launch) -> String {
    match client {
        Client::Codex => codex::shown(launch),
        other => json::shown(json_form(other), launch),
    }
}

fn merged(client: Client, text: &str, launch: &Launch) -> Result<String, String> {
    match client {
        Client::Codex => codex::merged(text, launch),
        other => json::merged(text, json_form(other), launch),
    }
}

fn json_form(client: Client) -> json::Form {
    match client {
        Client::Vscode => json::Form { section: "servers", typed: true },
        _ => json::Form { section: "mcpServers", typed: false },
    }
}

fn merge(client: Client, launch: &Launch, file: &Path) -> Result<(), String> {
    let outcome = write::change(file, |text| merged(client, text, launch))?;
    let file = file.display();
    tell(&match outcome {
        Outcome::Unchanged => format!("{file} has it already, unchanged"),
        Outcome::Written(Kept::Nothing) => format!("wrote {file}; restart the client"),
        Outcome::Written(Kept::Copy(copy)) => {
            format!("wrote {file}; restart the client (before: {})", copy.display())
        }
    });
    Ok(())
}

/// Prints notes to stderr; only the result goes to stdout.
#[expect(clippy::print_stderr, reason = "advice for whoever runs the command")]
fn tell(line: &str) {
    eprintln!("stoa: {line}");
}

#[cfg(test)]
mod tests;
