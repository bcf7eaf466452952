//! Our entry in Goose's `config.yaml`: a block of whole lines below `extensions:`. Every other line stays
//! as it is.

use serde_json::json;

use crate::commands::install::NAME;
use crate::commands::install::launch::{EntryValue, Launch, Transport};

const SECTION: &str = "extensions:";
/// How long Goose waits for a tool, in seconds.
const TIMEOUT_S: u32 = 300;

pub(super) fn file_text(launch: &Launch) -> String {
    format!("{SECTION}\n{}", block(launch, "  "))
}

/// The text with our entry, added or replaced.
pub(super) fn merged(text: &str, launch: &Launch) -> Result<String, String> {
    let lines = Lines::read(text)?;
    let Some(section) = lines.section else {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{text}{gap}{}", file_text(launch)));
    };
    let ours = block(launch, &lines.indent);
    let (from, to) = lines.entry.unwrap_or((section + 1, section + 1));
    Ok(lines.replaced(from, to, &ours))
}

/// The text without our entry; `None` if there is none.
pub(super) fn removed(text: &str) -> Result<Option<String>, String> {
    let lines = Lines::read(text)?;
    let (Some(section), Some((from, to))) = (lines.section, lines.entry) else { return Ok(None) };
    // A list with our entry alone was created for it.
    let from = if lines.entries == 1 { section } else { from };
    Ok(Some(lines.replaced(from, to, "")))
}

/// The lines of our entry. Strings are written as JSON, which is valid YAML.
fn block(launch: &Launch, indent: &str) -> String {
    let mut lines = vec![
        format!("{indent}{NAME}:"),
        format!("{indent}  enabled: true"),
        format!("{indent}  name: {NAME}"),
    ];
    let mut add = |line: String| lines.push(format!("{indent}  {line}"));
    let mut map = |name: &str, values: &[(String, EntryValue)]| {
        let plain = values.iter().filter_map(|(name, value)| match value {
            EntryValue::Text(text) => Some(format!("  {}: {}", json!(name), json!(text))),
            EntryValue::Variable { .. } => None,
        });
        let plain: Vec<String> = plain.collect();
        match plain.is_empty() {
            true => add(format!("{name}: {{}}")),
            false => {
                add(format!("{name}:"));
                plain.into_iter().for_each(&mut add);
            }
        }
    };
    match &launch.transport {
        Transport::Stdio { command, args, env } => {
            map("envs", env);
            let named: Vec<&str> = launch.named_variables();
            add(format!("env_keys: {}", json!(named)));
            add("type: stdio".to_owned());
            add(format!("cmd: {}", json!(command)));
            add(format!("args: {}", json!(args)));
        }
        Transport::Http { url, headers } => {
            map("headers", headers);
            add("type: streamable_http".to_owned());
            add(format!("uri: {}", json!(url)));
        }
    }
    add(format!("timeout: {TIMEOUT_S}"));
    lines.join("\n") + "\n"
}

/// The lines of a file, and where our entry is among them.
struct Lines<'a> {
    lines: Vec<&'a str>,
    /// The line `extensions:`.
    section: Option<usize>,
    /// The indentation of its entries.
    indent: String,
    /// The lines of our entry.
    entry: Option<(usize, usize)>,
    entries: usize,
}

impl<'a> Lines<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut found =
            Self { lines, section: None, indent: "  ".to_owned(), entry: None, entries: 0 };
        let is_section = |line: &&str| line.starts_with("extensions") && indent(line).is_empty();
        let sections: Vec<usize> =
            (0..found.lines.len()).filter(|&it| is_section(&found.lines[it])).collect();
        let section = match sections.as_slice() {
            [] => return Ok(found),
            [one] if content(found.lines[*one]) == SECTION => *one,
            _ => return Err("its extensions are not a list of lines".to_owned()),
        };
        found.section = Some(section);
        let mut open = None;
        for at in section + 1..found.lines.len() {
            let line = found.lines[at];
            let (blank, words) = (indent(line), content(line));
            if words.is_empty() {
                continue;
            }
            if blank.is_empty() {
                break;
            }
            if found.entries == 0 {
                found.indent = blank.to_owned();
            }
            if blank.len() == found.indent.len() {
                if words.starts_with(['-', '{', '?', '&', '*', '!', '\t']) || !words.contains(':') {
                    return Err("its extensions are not a list of lines".to_owned());
                }
                found.entries += 1;
                let name = words.split(':').next().unwrap_or_default();
                open = (name.trim_matches(['"', '\'']) == NAME).then_some(at);
            } else if blank.len() < found.indent.len() {
                return Err("its extensions are indented in two ways".to_owned());
            }
            if let Some(start) = open {
                found.entry = Some((start, at + 1));
            }
        }
        Ok(found)
    }

    fn replaced(&self, from: usize, to: usize, by: &str) -> String {
        let before: String = self.lines[..from].concat();
        let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        format!("{before}{gap}{by}{}", self.lines[to..].concat())
    }
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(' ').len()]
}

/// A line without its blanks, and empty if it is a comment.
fn content(line: &str) -> &str {
    let line = line.trim();
    let line = line.split(" #").next().unwrap_or_default().trim_end();
    if line.starts_with('#') { "" } else { line }
}
