//! The table of clients on this machine, with their files and what `--write` would do.

use std::fmt::Write as _;

use clap::ValueEnum as _;

use crate::commands::install::client_files::UserEnvironment;
use crate::commands::install::clients::{CLIENTS, ClientRow};
use crate::commands::install::launch::Launch;
use crate::commands::install::{merged, removed, write};

pub(super) fn table(environment: &UserEnvironment, launch: &Launch) -> String {
    let mut rows: Vec<[String; 3]> = Vec::new();
    let mut absent = Vec::new();
    for row in CLIENTS {
        if environment.installed_at(row).is_none() {
            absent.push(name(row));
            continue;
        }
        let reaches = row.files.iter().map(|file| Some(file.reach));
        let reaches: Vec<_> = if row.files.is_empty() { vec![None] } else { reaches.collect() };
        for (index, reach) in reaches.into_iter().enumerate() {
            let flag = match reach {
                Some(reach) if index > 0 => format!(" --{}", reach.flag_name()),
                _ => String::new(),
            };
            let (file, state) = match environment.file(row, reach) {
                Ok(Some(client_file)) => {
                    let launch = launch.for_file(client_file.reach);
                    (client_file.file.display().to_string(), state(row, &client_file.file, &launch))
                }
                Ok(None) => ("in its settings".to_owned(), "is printed, to be pasted".to_owned()),
                Err(error) => (String::new(), error.to_string()),
            };
            rows.push([format!("{}{flag}", name(row)), file, state]);
        }
    }
    let mut text = String::new();
    if rows.is_empty() {
        text.push_str("no client was found on this machine\n");
    } else {
        let header = ["client", "file", "with --write"].map(str::to_owned);
        rows.insert(0, header);
    }
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    for [client, file, state] in &rows {
        _ = writeln!(text, "{client:<first$}  {file:<second$}  {state}");
    }
    if !absent.is_empty() {
        _ = writeln!(text, "\nnot found: {}", absent.join(", "));
    }
    text.push_str("\nstoa install --client NAME prints the entry; --write puts it into the file\n");
    text.push_str("stoa install --all --write puts it into your own file of every client found\n");
    text
}

/// What `--write` would do to the file.
fn state(row: &ClientRow, file: &std::path::Path, launch: &Launch) -> String {
    let state = write::read_text(file).and_then(|text| {
        let has_entry = !text.is_empty() && removed(row, &text)?.is_some();
        Ok(match (merged(row, &text, launch)?, has_entry) {
            (after, _) if after == text => "has the entry already",
            (_, true) => "the entry would be updated",
            (_, false) if text.is_empty() => "the file would be created",
            (_, false) => "the entry would be added",
        })
    });
    state.map_or_else(|reason| format!("cannot be written: {reason}"), str::to_owned)
}

/// The client's name on the command line.
pub(super) fn name(row: &ClientRow) -> String {
    row.client.to_possible_value().map_or_else(String::new, |it| it.get_name().to_owned())
}
