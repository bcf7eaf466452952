//! `stoa install`: the configuration with which a client starts this program, or calls a running server.
//!
//! The command prints the entry; with `--write` it merges the entry into the client's file and leaves
//! the rest of the file as it is. The only secret that it writes is a token that the user requests, and
//! then only the user may read the file.

mod bundle;
mod client_files;
mod clients;
mod codex;
mod goose;
mod json;
mod launch;
mod links;
mod survey;
mod token;
mod write;

use std::path::Path;

use crate::cli::InstallArgs;
use crate::commands::print;
use crate::config::Config;
use crate::exit::CommandError;
use client_files::{ClientFile, UserEnvironment};
use clients::{CLIENTS, ClientRow, Notation, Reach};
use launch::{Launch, Transport};
use write::{Backup, Outcome};

/// The name of our entry in every client.
const NAME: &str = "stoa";

pub(crate) async fn run(args: InstallArgs, config: &Config) -> Result<(), CommandError> {
    let environment = UserEnvironment::of_this_process()?;
    let launch = match &args.http {
        Some(url) => Launch::http(url.as_deref(), &args.toolset, config)?,
        None => Launch::of_this_program(&args.toolset, config)?,
    };
    if args.all {
        return run_for_all(&args, &environment, &launch, config).await;
    }
    let Some(client) = args.client else {
        if args.write || args.uninstall || args.bundle.is_some() {
            return Err(CommandError::usage("name the client with --client, or add --all"));
        }
        return print(&survey::table(&environment, &launch));
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
    run_for_client(row, environment.file(row, reach)?, &args, &launch, config).await
}

/// Installs or removes the entry of one client.
async fn run_for_client(
    row: &ClientRow,
    client_file: Option<ClientFile>,
    args: &InstallArgs,
    launch: &Launch,
    config: &Config,
) -> Result<(), CommandError> {
    if args.uninstall {
        return uninstall(row, client_file.as_ref());
    }
    let mut launch = launch.for_file(client_file.as_ref().map_or(Reach::User, |it| it.reach));
    if args.token || args.scope.is_some() {
        check_token_file(row, client_file.as_ref(), args.write)?;
        check_mergeable(row, client_file.as_ref(), &launch)?;
        let token = token::mint(args, launch.is_local(), &survey::name(row), config).await?;
        launch.place_token(&token);
    }
    install(row, client_file.as_ref(), &launch, args.write)?;
    for note in notes(row, client_file.as_ref(), &launch) {
        print_note(&note);
    }
    Ok(())
}

/// Does the same for every client on this machine that has a file for all projects of the user. A
/// client that fails does not keep the others from theirs.
async fn run_for_all(
    args: &InstallArgs,
    environment: &UserEnvironment,
    launch: &Launch,
    config: &Config,
) -> Result<(), CommandError> {
    if !args.write && !args.uninstall {
        return Err(CommandError::usage(
            "--all changes files: add --write or --uninstall; `stoa install` alone lists them",
        ));
    }
    let (mut found, mut failed) = (0, None);
    for row in CLIENTS.iter().filter(|row| environment.installed_at(row).is_some()) {
        found += 1;
        if !row.files.iter().any(|file| file.reach == Reach::User) {
            print_note(&format!("{} has no file for all projects; {}", row.title, row.afterwards));
            continue;
        }
        let file = environment.file(row, Some(Reach::User))?;
        if let Err(error) = run_for_client(row, file, args, launch, config).await {
            print_note(&format!("{}: {error}", row.title));
            failed = Some(error);
        }
    }
    if found == 0 {
        print_note("no client was found on this machine");
    }
    failed.map_or(Ok(()), Err)
}

/// Refuses to put a token anywhere but into a file that only the user reads.
fn check_token_file(
    row: &ClientRow,
    client_file: Option<&ClientFile>,
    write: bool,
) -> Result<(), CommandError> {
    match client_file {
        Some(ClientFile { reach: Reach::Project, file }) => Err(CommandError::usage(format!(
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

/// Refuses a file that cannot be merged, before a token is minted for it.
fn check_mergeable(
    row: &ClientRow,
    client_file: Option<&ClientFile>,
    launch: &Launch,
) -> Result<(), CommandError> {
    let Some(ClientFile { file, .. }) = client_file else { return Ok(()) };
    let tried = write::read_text(file).and_then(|text| merged(row, &text, launch));
    tried.map(drop).map_err(|reason| not_changed(file, &reason))
}

fn not_changed(file: &Path, reason: &str) -> CommandError {
    let file = file.display();
    CommandError::data(format!("{file} was left as it is: {reason}; add the entry by hand"))
}

fn install(
    row: &ClientRow,
    client_file: Option<&ClientFile>,
    launch: &Launch,
    write: bool,
) -> Result<(), CommandError> {
    let text = file_text(row, launch)
        .map_err(|reason| CommandError::usage(format!("{}: {reason}", row.title)))?;
    let Some(ClientFile { file, .. }) = client_file else {
        print(&text)?;
        print_note(row.afterwards);
        return Ok(());
    };
    if !write {
        print(&text)?;
        print_note(&format!("this belongs in {}; --write puts it there", file.display()));
        return Ok(());
    }
    if let Err(reason) = merge(row, launch, file) {
        // The user can paste the printed text, unless it contains a token.
        if !launch.holds_token {
            print(&text)?;
        }
        return Err(not_changed(file, &reason));
    }
    Ok(())
}

/// A file with our entry alone, in the client's notation.
fn file_text(row: &ClientRow, launch: &Launch) -> Result<String, String> {
    match &row.notation {
        Notation::Json(form) => json::file_text(form, launch),
        Notation::Codex => Ok(codex::file_text(launch)),
        Notation::Goose => Ok(goose::file_text(launch)),
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
    let outcome = write::edit_file(file, launch.holds_token, |text| merged(row, text, launch))?;
    let (file, next) = (file.display(), row.afterwards);
    print_note(&match outcome {
        Outcome::Unchanged => format!("{file} has it already, unchanged"),
        Outcome::Written(Backup::None) => format!("wrote {file}; {next}"),
        Outcome::Written(Backup::Copy(copy)) => {
            format!("wrote {file} (before: {}); {next}", copy.display())
        }
    });
    Ok(())
}

fn uninstall(row: &ClientRow, client_file: Option<&ClientFile>) -> Result<(), CommandError> {
    let Some(ClientFile { file, .. }) = client_file else {
        return Err(CommandError::usage(format!(
            "{} has no file; remove the entry in its settings",
            row.title
        )));
    };
    let edit = |text: &str| Ok(removed(row, text)?.unwrap_or_else(|| text.to_owned()));
    let changed = match write::read_text(file) {
        // A missing file is not created.
        Ok(text) if text.is_empty() => Ok(Outcome::Unchanged),
        _ => write::edit_file(file, false, edit),
    };
    match changed {
        Ok(Outcome::Unchanged) => print_note(&format!("{} has no entry {NAME:?}", file.display())),
        Ok(Outcome::Written(_)) => {
            print_note(&format!("removed the entry {NAME:?} from {}", file.display()));
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
    print_note(&format!("wrote {}; open it with Claude Desktop", file.display()));
    Ok(())
}

/// Notes for the user beside the entry.
fn notes(row: &ClientRow, client_file: Option<&ClientFile>, launch: &Launch) -> Vec<String> {
    let mut notes = Vec::new();
    let is_shared = client_file.is_some_and(|it| it.reach == Reach::Project);
    if is_shared && matches!(launch.transport, Transport::Stdio { .. }) {
        notes.push(format!(
            "a project shares this file, so it starts `{NAME}` from the PATH with each person's own \
             data folder; --user writes a file with the paths of this machine"
        ));
    }
    let can_name_variables = match &row.notation {
        Notation::Json(form) => form.variable.is_some(),
        Notation::Codex => true,
        Notation::Goose => matches!(launch.transport, Transport::Stdio { .. }),
    };
    for name in launch.named_variables() {
        notes.push(match can_name_variables {
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

/// Prints a note to stderr; only the result goes to stdout.
#[expect(clippy::print_stderr, reason = "advice for the user who runs the command")]
fn print_note(line: &str) {
    eprintln!("stoa: {line}");
}

#[cfg(test)]
mod tests;
