//! `stoa install`: the configuration with which a client starts this program, or calls a running one.
//!
//! It is printed by default; with `--write` it is merged into the client's own file, and the rest
//! of the file does not change. No secret is written but a token that is asked for, and such a file
//! is readable by its user alone.

mod bundle;
mod clients;
mod codex;
mod goose;
mod json;
mod launch;
mod links;
mod place;
mod survey;
mod token;
mod write;

use std::path::Path;

use clap::ValueEnum as _;

use crate::cli::InstallArgs;
use crate::commands::print;
use crate::config::Config;
use crate::exit::CommandError;
use clients::{ClientRow, Notation, Reach};
use launch::{Launch, Transport};
use place::{Place, Places};
use write::{Kept, Outcome};

/// The name of our entry in every client.
const NAME: &str = "stoa";

pub(crate) async fn run(args: InstallArgs, config: &Config) -> Result<(), CommandError> {
    let places = Places::of_user()?;
    let mut launch = match &args.http {
        Some(url) => Launch::http(url.as_deref(), &args.toolset, config)?,
        None => Launch::of_this_program(&args.toolset, config)?,
    };
    let Some(client) = args.client else {
        if args.write || args.uninstall || args.bundle.is_some() {
            return Err(CommandError::usage("say which client with --client"));
        }
        return print(&survey::table(&places, &launch));
    };
    let row = clients::row(client).ok_or_else(|| CommandError::other("a client has no row"))?;
    if let Some(file) = &args.bundle {
        return make_bundle(row, file, &launch);
    }
    let reach = match (args.user, args.project) {
        (true, _) => Some(Reach::User),
        (_, true) => Some(Reach::Project),
        _ => None,
    };
    let place = places.file(row, reach)?;
    if args.uninstall {
        return uninstall(row, place.as_ref());
    }
    if args.token || args.scope.is_some() {
        let subject =
            client.to_possible_value().map_or_else(String::new, |it| it.get_name().into());
        refuse_token(row, place.as_ref(), args.write)?;
        refuse_file(row, place.as_ref(), &launch)?;
        let token = token::mint(&args, launch.is_local(), &subject, config).await?;
        launch.place_token(&token);
    }
    install(row, place.as_ref(), &launch, args.write)?;
    for note in notes(row, &launch) {
        tell(&note);
    }
    Ok(())
}

/// A token belongs in a file that only the user reads.
fn refuse_token(row: &ClientRow, place: Option<&Place>, write: bool) -> Result<(), CommandError> {
    match place {
        Some(Place { reach: Reach::Project, file }) => Err(CommandError::usage(format!(
            "{} is shared with the project, and a token must not be; add --user",
            file.display()
        ))),
        Some(_) if write => Ok(()),
        Some(_) => Err(CommandError::usage("a token is put into a file; add --write")),
        None => Err(CommandError::usage(format!(
            "{} has no file for a token; mint one with `stoa token mint` and paste it",
            row.title
        ))),
    }
}

/// Refuses a file that cannot be changed before a token is minted for it.
fn refuse_file(
    row: &ClientRow,
    place: Option<&Place>,
    launch: &Launch,
) -> Result<(), CommandError> {
    let Some(Place { file, .. }) = place else { return Ok(()) };
    let tried = write::text(file).and_then(|text| merged(row, &text, launch));
    tried.map(drop).map_err(|reason| left_alone(file, &reason))
}

fn left_alone(file: &Path, reason: &str) -> CommandError {
    let file = file.display();
    CommandError::data(format!("{file} was left as it is: {reason}; add the entry by hand"))
}

fn install(
    row: &ClientRow,
    place: Option<&Place>,
    launch: &Launch,
    write: bool,
) -> Result<(), CommandError> {
    let shown = shown(row, launch)
        .map_err(|reason| CommandError::usage(format!("{}: {reason}", row.title)))?;
    let Some(Place { file, .. }) = place else {
        print(&shown)?;
        tell(row.afterwards);
        return Ok(());
    };
    if !write {
        print(&shown)?;
        tell(&format!("this belongs in {}; --write puts it there", file.display()));
        return Ok(());
    }
    if let Err(reason) = merge(row, launch, file) {
        // The user can still paste the printed text, which then holds no token.
        if !launch.holds_token {
            print(&shown)?;
        }
        return Err(left_alone(file, &reason));
    }
    Ok(())
}

/// The complete configuration of a client.
fn shown(row: &ClientRow, launch: &Launch) -> Result<String, String> {
    match &row.notation {
        Notation::Json(form) => json::shown(form, launch),
        Notation::Codex => Ok(codex::shown(launch)),
        Notation::Goose => Ok(goose::shown(launch)),
    }
}

fn merged(row: &ClientRow, text: &str, launch: &Launch) -> Result<String, String> {
    match &row.notation {
        Notation::Json(form) => json::merged(text, form, launch),
        Notation::Codex => codex::merged(text, launch),
        Notation::Goose => goose::merged(text, launch),
    }
}

/// The text without our entry; `None` if it has none.
fn removed(row: &ClientRow, text: &str) -> Result<Option<String>, String> {
    match &row.notation {
        Notation::Json(form) => json::removed(text, form.section),
        Notation::Codex => codex::removed(text),
        Notation::Goose => goose::removed(text),
    }
}

fn merge(row: &ClientRow, launch: &Launch, file: &Path) -> Result<(), String> {
    let outcome = write::change(file, launch.holds_token, |text| merged(row, text, launch))?;
    let (file, next) = (file.display(), row.afterwards);
    tell(&match outcome {
        Outcome::Unchanged => format!("{file} has it already, unchanged"),
        Outcome::Written(Kept::Nothing) => format!("wrote {file}; {next}"),
        Outcome::Written(Kept::Copy(copy)) => {
            format!("wrote {file} (before: {}); {next}", copy.display())
        }
    });
    Ok(())
}

fn uninstall(row: &ClientRow, place: Option<&Place>) -> Result<(), CommandError> {
    let Some(Place { file, .. }) = place else {
        return Err(CommandError::usage(format!(
            "{} has no file; remove the entry in its settings",
            row.title
        )));
    };
    let edit = |text: &str| Ok(removed(row, text)?.unwrap_or_else(|| text.to_owned()));
    let changed = match write::text(file) {
        // Nothing is made where nothing is.
        Ok(text) if text.is_empty() => Ok(Outcome::Unchanged),
        _ => write::change(file, false, edit),
    };
    match changed {
        Ok(Outcome::Unchanged) => tell(&format!("{} has no entry {NAME:?}", file.display())),
        Ok(Outcome::Written(_)) => {
            tell(&format!("removed the entry {NAME:?} from {}", file.display()));
        }
        Err(reason) => {
            return Err(CommandError::data(format!(
                "{} was left as it is: {reason}; remove the entry by hand",
                file.display()
            )));
        }
    }
    Ok(())
}

fn make_bundle(row: &ClientRow, file: &Path, launch: &Launch) -> Result<(), CommandError> {
    if row.client != crate::cli::Client::ClaudeDesktop {
        return Err(CommandError::usage("only claude-desktop installs a bundle"));
    }
    bundle::write(file, &std::env::current_exe()?, launch)?;
    tell(&format!("wrote {}; open it with Claude Desktop", file.display()));
    Ok(())
}

/// What to know beside the configuration.
fn notes(row: &ClientRow, launch: &Launch) -> Vec<String> {
    let mut notes = Vec::new();
    let by_name = match &row.notation {
        Notation::Json(form) => form.variable.is_some(),
        Notation::Codex => true,
        Notation::Goose => matches!(launch.transport, Transport::Stdio { .. }),
    };
    for name in launch.named_variables() {
        notes.push(match by_name {
            true => format!("{name} is a secret: set it in the environment of {}", row.title),
            false => {
                format!("{name} is a secret and is not written; put it into the entry yourself")
            }
        });
    }
    if let (Some(link), Notation::Json(form)) = (row.link, &row.notation) {
        let link = links::link(link, form, launch);
        notes.extend(link.map(|link| format!("or open this link: {link}")));
    }
    if !launch.holds_token {
        notes.push(
            "tools that change something need a token: --user --token --write mints one with the \
             scopes of the tools and puts it there"
                .to_owned(),
        );
    }
    notes
}

/// Prints notes to stderr; only the result goes to stdout.
#[expect(clippy::print_stderr, reason = "advice for the user who runs the command")]
fn tell(line: &str) {
    eprintln!("stoa: {line}");
}

#[cfg(test)]
mod tests;
