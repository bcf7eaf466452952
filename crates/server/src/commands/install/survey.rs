//! The clients that are found on this machine, with their files and what `--write` would do there.

use std::fmt::Write as _;

use clap::ValueEnum as _;

use crate::commands::install::clients::{CLIENTS, ClientRow};
use crate::commands::install::launch::Launch;
use crate::commands::install::place::Places;
use crate::commands::install::{merged, removed, write};

pub(super) fn table(places: &Places, launch: &Launch) -> String {
    let mut rows: Vec<[String; 3]> = Vec::new();
    let mut absent = Vec::new();
    for row in CLIENTS {
        if places.sign(row).is_none() {
            absent.push(name(row));
            continue;
        }
        let reaches = row.files.iter().map(|file| Some(file.reach));
        let reaches: Vec<_> = if row.files.is_empty() { vec![None] } else { reaches.collect() };
        for (index, reach) in reaches.into_iter().enumerate() {
            let flag = match reach {
                Some(reach) if index > 0 => format!(" --{}", reach.word()),
                _ => String::new(),
            };
            let (file, state) = match places.file(row, reach) {
                Ok(Some(place)) => {
                    (place.file.display().to_string(), state(row, &place.file, launch))
                }
                Ok(None) => ("in its settings".to_owned(), "is printed, to be pasted".to_owned()),
                Err(error) => (String::new(), error.to_string()),
            };
            rows.push([format!("{}{flag}", name(row)), file, state]);
        }
    }
    let mut text = String::new();
    if rows.is_empty() {
        text.push_str("no client is found on this machine\n");
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
    text
}

/// What would happen to the file.
fn state(row: &ClientRow, file: &std::path::Path, launch: &Launch) -> String {
    let said = write::text(file).and_then(|text| {
        let is_there = !text.is_empty() && removed(row, &text)?.is_some();
        Ok(match (merged(row, &text, launch)?, is_there) {
            (after, _) if after == text => "has the entry already",
            (_, true) => "the entry would be updated",
            (_, false) if text.is_empty() => "the file would be made",
            (_, false) => "the entry would be added",
        })
    });
    said.map_or_else(|reason| format!("cannot be written: {reason}"), str::to_owned)
}

fn name(row: &ClientRow) -> String {
    row.client.to_possible_value().map_or_else(String::new, |it| it.get_name().to_owned())
}
