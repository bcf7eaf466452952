//! Our table in Codex's `config.toml`. Values are replaced at the positions that the parser
//! reports, so that comments and everything else stay byte for byte.

use std::borrow::Cow;
use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use crate::commands::install::NAME;
use crate::commands::install::launch::{EntryValue, Launch, Transport, Values};

const SECTION: &str = "mcp_servers";

pub(super) fn file_text(launch: &Launch) -> String {
    let mut text = format!("[{SECTION}.{NAME}]\n");
    for (key, value) in members(launch) {
        text.push_str(&format!("{key} = {value}\n"));
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

/// The text without our table and those below it; `None` if there is none.
pub(super) fn removed(text: &str) -> Result<Option<String>, String> {
    let mut before: Table = text.parse().map_err(|error| malformed(text, &error))?;
    if take_entry(&mut before).is_none() {
        return Ok(None);
    }
    let is_ours = |line: &str| {
        let header = line.trim().strip_prefix('[').and_then(|it| it.split(']').next());
        let path = header.map(|it| it.replace([' ', '"', '\''], "")).unwrap_or_default();
        path == format!("{SECTION}.{NAME}") || path.starts_with(&format!("{SECTION}.{NAME}."))
    };
    let mut rest = String::new();
    let mut in_ours = false;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('[') {
            let was_in_ours = in_ours;
            in_ours = is_ours(line);
            // The blank line before our table was added with it.
            if in_ours && !was_in_ours && rest.ends_with("\n\n") {
                rest.pop();
            }
        }
        if !in_ours {
            rest.push_str(line);
        }
    }
    let after = rest.parse::<Table>().ok();
    let is_removed = after.is_some_and(|mut after| {
        // A table of servers that contained only ours was created for it.
        if before.get(SECTION).and_then(Value::as_table).is_some_and(Table::is_empty) {
            before.remove(SECTION);
        }
        if after.get(SECTION).and_then(Value::as_table).is_some_and(Table::is_empty) {
            after.remove(SECTION);
        }
        after == before
    });
    match is_removed {
        true => Ok(Some(rest)),
        false => Err(format!("its {SECTION} has a shape that cannot be changed safely")),
    }
}

/// The members of our table, the one that names the transport first.
fn members(launch: &Launch) -> Vec<(&'static str, Value)> {
    let mut members = Vec::new();
    let table = |values: &Values| Some(text_values(values)).filter(|it| !it.is_empty());
    let named = launch.named_variables();
    match &launch.transport {
        Transport::Stdio { command, args, env } => {
            members.push(("command", Value::from(command.as_str())));
            members.push(("args", list(args.iter().map(String::as_str))));
            members.extend(table(env).map(|it| ("env", Value::Table(it))));
            if !named.is_empty() {
                members.push(("env_vars", list(named.into_iter())));
            }
        }
        Transport::Http { url, headers } => {
            members.push(("url", Value::from(url.as_str())));
            members.extend(table(headers).map(|it| ("http_headers", Value::Table(it))));
            if let Some(name) = named.first() {
                members.push(("bearer_token_env_var", Value::from(*name)));
            }
        }
    }
    members
}

/// The names in one of our tables, without the values, which may be secret.
fn member_names(launch: &Launch, key: &str) -> String {
    let table = members(launch).into_iter().find(|(it, _)| *it == key);
    let names = table.and_then(|(_, value)| {
        Some(value.as_table()?.keys().cloned().collect::<Vec<_>>().join(", "))
    });
    names.unwrap_or_default()
}

/// The values that are texts.
fn text_values(values: &Values) -> Table {
    let text = |(name, value): &(String, EntryValue)| match value {
        EntryValue::Text(text) => Some((name.clone(), Value::from(text.as_str()))),
        EntryValue::Variable { .. } => None,
    };
    values.iter().filter_map(text).collect()
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> Value {
    Value::Array(words.map(Value::from).collect())
}

/// Names only the line, because the parser's message would quote it, and it may contain a secret.
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
    format!("{text}{gap}{}", file_text(launch))
}

fn updated(text: &str, entry: &Table, launch: &Launch) -> Result<String, String> {
    let members = members(launch);
    let transport = members.first().map_or("command", |(key, _)| *key);
    if !entry.contains_key(transport) {
        return Err(format!(
            "its {SECTION}.{NAME} reaches Stoa in another way; remove it first with --uninstall"
        ));
    }
    let spans = ValueSpans::find(text).ok_or("its table cannot be found again")?;
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut added = String::new();
    for (key, value) in members {
        let value = match (entry.get(key), value) {
            (Some(Value::Table(before)), Value::Table(ours)) => {
                let mut both = before.clone();
                both.extend(ours);
                Value::Table(both)
            }
            (Some(before), Value::Table(_)) if !before.is_table() => {
                return Err(format!("its {SECTION}.{NAME}.{key} is not a table"));
            }
            (_, ours) => ours,
        };
        if entry.get(key) == Some(&value) {
            continue;
        }
        match spans.of(key) {
            // A table under a heading of its own would need its lines merged one by one.
            Some(span) if value.is_table() && !text[span.clone()].starts_with('{') => {
                let ours = member_names(launch, key);
                return Err(format!("its {SECTION}.{NAME}.{key} lacks some of {ours}"));
            }
            Some(span) => edits.push((span, value.to_string())),
            None => added.push_str(&format!("\n{key} = {value}")),
        }
    }
    if !added.is_empty() {
        let after = spans.of(transport).ok_or("its table cannot be found again")?.end;
        let line_end = text[after..].find('\n').map_or(text.len(), |end| after + end);
        edits.push((line_end..line_end, added));
    }
    edits.sort_by_key(|(span, _)| span.start);
    let mut merged = text.to_owned();
    for (span, value) in edits.into_iter().rev() {
        merged.replace_range(span, &value);
    }
    Ok(merged)
}

/// The positions of our values in the text.
struct ValueSpans(Vec<(String, Range<usize>)>);

impl ValueSpans {
    fn find(text: &str) -> Option<Self> {
        let root = DeTable::parse(text).ok()?;
        let servers = root.get_ref().get(SECTION)?.get_ref().as_table()?;
        let entry = servers.get(NAME)?.get_ref().as_table()?;
        let span = |(key, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            (key.get_ref().to_string(), value.span())
        };
        Some(Self(entry.iter().map(span).collect()))
    }

    fn of(&self, key: &str) -> Option<Range<usize>> {
        self.0.iter().find(|(it, _)| it == key).map(|(_, span)| span.clone())
    }
}

/// Whether the result differs from the old document only in our table.
fn is_merged(mut before: Table, after: &str, launch: &Launch) -> bool {
    let Ok(mut after) = after.parse::<Table>() else { return false };
    let before_entry = take_entry(&mut before);
    let Some(Value::Table(entry)) = take_entry(&mut after) else { return false };
    // A table of servers that contained only ours was created for it.
    if before_entry.is_none() && !before.contains_key(SECTION) {
        after.remove(SECTION);
    }
    let holds = |(key, value): &(&str, Value)| match (entry.get(*key), value) {
        (Some(Value::Table(all)), Value::Table(ours)) => {
            ours.iter().all(|(name, value)| all.get(name) == Some(value))
        }
        (found, value) => found == Some(value),
    };
    before == after && members(launch).iter().all(holds)
}

/// Removes our table and returns it.
fn take_entry(root: &mut Table) -> Option<Value> {
    root.get_mut(SECTION)?.as_table_mut()?.remove(NAME)
}
