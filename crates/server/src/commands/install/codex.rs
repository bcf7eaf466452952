//! Our table in Codex's `config.toml`. Values are replaced at the positions that the parser
//! reports, so that comments and everything else stay byte for byte.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use crate::commands::install::NAME;
use crate::commands::install::launch::Launch;

const SECTION: &str = "mcp_servers";

pub(super) fn shown(launch: &Launch) -> String {
    let mut text = format!(
        "[{SECTION}.{NAME}]\ncommand = {}\nargs = {}\n",
        Value::from(launch.command.as_str()),
        array(&launch.args)
    );
    if !launch.env.is_empty() {
        text.push_str(&format!("env = {}\n", Value::Table(env(launch))));
    }
    text
}

/// The text with our table, added or updated.
pub(super) fn merged(text: &str, launch: &Launch) -> Result<String, String> {
    let before: Table = text.parse().map_err(|error| malformed(text, &error))?;
    let merged = match before.get(SECTION).and_then(|servers| servers.get(NAME)) {
        None => appended(text, launch),
        Some(Value::Table(entry)) => updated(text, entry, launch)?,
        Some(_) => return Err(format!("its {SECTION}.{NAME} is not a table")),
    };
    match is_merged(before, &merged, launch) {
        true => Ok(merged),
        false => Err(format!("its {SECTION} has a shape that cannot be changed safely")),
    }
}

/// The parser's own message would quote the line, which may hold a secret.
fn malformed(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    format!("it is not valid TOML (line {})", before.matches('\n').count() + 1)
}

fn appended(text: &str, launch: &Launch) -> String {
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{gap}{}", shown(launch))
}

fn updated(text: &str, entry: &Table, launch: &Launch) -> Result<String, String> {
    if !entry.contains_key("command") {
        return Err(format!(
            "its {SECTION}.{NAME} reaches Stoa in another way than by a command; remove it first"
        ));
    }
    let places = Places::find(text).ok_or("its table cannot be found again")?;
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut added = String::new();
    let mut set = |key: &str, place: Option<Range<usize>>, value: String| match place {
        Some(place) => edits.push((place, value)),
        None => added.push_str(&format!("\n{key} = {value}")),
    };
    if entry.get("command").and_then(Value::as_str) != Some(&launch.command) {
        let command = Value::from(launch.command.as_str()).to_string();
        set("command", Some(places.command.clone()), command);
    }
    if entry.get("args") != Some(&arguments(&launch.args)) {
        set("args", places.args, array(&launch.args));
    }
    let mut wanted = match entry.get("env") {
        None => Table::new(),
        Some(Value::Table(env)) => env.clone(),
        Some(_) => return Err(format!("its {SECTION}.{NAME}.env is not a table")),
    };
    wanted.extend(env(launch));
    if entry.get("env").and_then(Value::as_table).is_some_and(|env| *env != wanted)
        || (!entry.contains_key("env") && !wanted.is_empty())
    {
        // A table under a heading of its own would need its lines merged one by one.
        if places.env.as_ref().is_some_and(|place| !text[place.clone()].starts_with('{')) {
            let names: Vec<&str> = launch.env.iter().map(|(name, _)| *name).collect();
            return Err(format!("its {SECTION}.{NAME}.env lacks {}", names.join(", ")));
        }
        set("env", places.env, Value::Table(wanted).to_string());
    }
    if !added.is_empty() {
        let after = places.command.end;
        let line_end = text[after..].find('\n').map_or(text.len(), |end| after + end);
        edits.push((line_end..line_end, added));
    }
    edits.sort_by_key(|(place, _)| place.start);
    let mut merged = text.to_owned();
    for (place, value) in edits.into_iter().rev() {
        merged.replace_range(place, &value);
    }
    Ok(merged)
}

/// The positions of our values in the text.
struct Places {
    command: Range<usize>,
    args: Option<Range<usize>>,
    env: Option<Range<usize>>,
}

impl Places {
    fn find(text: &str) -> Option<Self> {
        let root = DeTable::parse(text).ok()?;
        let servers = root.get_ref().get(SECTION)?.get_ref().as_table()?;
        let entry = servers.get(NAME)?.get_ref().as_table()?;
        let place = |key: &str| entry.get(key).map(Spanned::<DeValue<'_>>::span);
        Some(Self { command: place("command")?, args: place("args"), env: place("env") })
    }
}

fn env(launch: &Launch) -> Table {
    launch.env.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect()
}

fn arguments(args: &[String]) -> Value {
    Value::Array(args.iter().map(|it| Value::from(it.as_str())).collect())
}

fn array(args: &[String]) -> String {
    arguments(args).to_string()
}

/// Whether the result differs from the old document only in our table.
fn is_merged(mut before: Table, after: &str, launch: &Launch) -> bool {
    let Ok(mut after) = after.parse::<Table>() else { return false };
    let before_entry = take(&mut before);
    let Some(Value::Table(entry)) = take(&mut after) else { return false };
    let env_is = |(name, value): &(&str, String)| {
        entry.get("env").and_then(|env| env.get(name)).and_then(Value::as_str) == Some(value)
    };
    // A table of servers that contained only ours was created for it.
    if before_entry.is_none() && !before.contains_key(SECTION) {
        after.remove(SECTION);
    }
    before == after
        && entry.get("command").and_then(Value::as_str) == Some(&launch.command)
        && entry.get("args") == Some(&arguments(&launch.args))
        && launch.env.iter().all(env_is)
}

fn take(root: &mut Table) -> Option<Value> {
    root.get_mut(SECTION)?.as_table_mut()?.remove(NAME)
}
