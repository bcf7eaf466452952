//! Our entry in a JSON file. The text is spliced rather than written anew, so that everything else
//! keeps its order, its spacing and its numbers to the last digit.
//!
//! JSON with comments or trailing commas is refused: a second parser would be needed to tell
//! comments from strings, and the user can paste the entry instead.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::commands::install::NAME;
use crate::commands::install::launch::Launch;

/// The form of a client's list of servers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub(super) section: &'static str,
    /// Whether an entry has a field for the stdio transport.
    pub(super) typed: bool,
}

pub(super) fn shown(form: Form, launch: &Launch) -> String {
    let whole = json!({ form.section: { NAME: entry(form, launch, None) } });
    pretty(&whole, "", "  ", "\n") + "\n"
}

/// The text with our entry, added or updated.
pub(super) fn merged(text: &str, form: Form, launch: &Launch) -> Result<String, String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if body.trim().is_empty() {
        return Ok(shown(form, launch));
    }
    let mark = &text[..text.len() - body.len()];
    let merged = format!("{mark}{}", spliced(body, form, launch)?);
    match is_merged(body, &merged[mark.len()..], form) {
        true => Ok(merged),
        false => Err("it has a shape that cannot be changed safely".to_owned()),
    }
}

fn spliced(body: &str, form: Form, launch: &Launch) -> Result<String, String> {
    let root = Object::read(body, 0..body.len()).map_err(|error| {
        format!(
            "it is not plain JSON (line {}: comments and trailing commas cannot be kept)",
            error.line()
        )
    })?;
    let Some(servers) = root.member(form.section) else {
        let servers = json!({ NAME: entry(form, launch, None) });
        return Ok(root.with(body, form.section, &servers));
    };
    let servers = Object::read(body, servers)
        .map_err(|_| format!("its {:?} is not an object", form.section))?;
    let Some(place) = servers.member(NAME) else {
        return Ok(servers.with(body, NAME, &entry(form, launch, None)));
    };
    let before: Value = serde_json::from_str(&body[place.clone()])
        .map_err(|_| format!("its entry {NAME:?} cannot be read"))?;
    let after = entry(form, launch, before.as_object());
    if after == before {
        return Ok(body.to_owned());
    }
    let indent = indent_at(body, place.start);
    let after = pretty(&after, indent, step(indent), line_end(body));
    Ok(format!("{}{after}{}", &body[..place.start], &body[place.end..]))
}

/// The fields that start this program. Fields that the user added to our entry, such as a token in
/// its environment, are kept; an entry with a URL is replaced.
fn entry(form: Form, launch: &Launch, before: Option<&Map<String, Value>>) -> Value {
    let mut entry = before.filter(|it| it.contains_key("command")).cloned().unwrap_or_default();
    if form.typed {
        entry.insert("type".to_owned(), json!("stdio"));
    }
    entry.insert("command".to_owned(), json!(launch.command));
    entry.insert("args".to_owned(), json!(launch.args));
    if !launch.env.is_empty() {
        let env = entry.entry("env").or_insert_with(|| json!({}));
        if !env.is_object() {
            *env = json!({});
        }
        for (name, value) in &launch.env {
            env[*name] = json!(value);
        }
    }
    Value::Object(entry)
}

/// Whether the result differs from the old document only in our entry.
fn is_merged(before: &str, after: &str, form: Form) -> bool {
    let others = |text: &str| -> Option<Value> {
        let mut value: Value = serde_json::from_str(text).ok()?;
        let root = value.as_object_mut()?;
        let servers = root.entry(form.section).or_insert_with(|| json!({}));
        servers.as_object_mut()?.shift_remove(NAME);
        Some(value)
    };
    others(before).is_some_and(|before| others(after) == Some(before))
}

/// An object inside a text, with the positions of its values.
struct Object {
    place: Range<usize>,
    members: Vec<(String, Range<usize>)>,
}

impl Object {
    fn read(body: &str, place: Range<usize>) -> Result<Self, serde_json::Error> {
        let Members(members) = serde_json::from_str(&body[place.clone()])?;
        let origin = body.as_ptr().addr();
        let members = members.into_iter().map(|(name, value)| {
            let start = value.get().as_ptr().addr() - origin;
            (name, start..start + value.get().len())
        });
        let members = members.collect();
        let text = &body[place.clone()];
        let start = place.start + (text.len() - text.trim_start().len());
        Ok(Self { place: start..place.start + text.trim_end().len(), members })
    }

    /// Of members with the same name the last one counts, as in every client.
    fn member(&self, name: &str) -> Option<Range<usize>> {
        self.members.iter().rev().find(|(it, _)| it == name).map(|(_, place)| place.clone())
    }

    /// The whole text with one more member at the end of this object, in the layout of the others.
    fn with(&self, body: &str, name: &str, value: &Value) -> String {
        let end = line_end(body);
        let Some((_, last)) = self.members.last() else {
            let outer = indent_at(body, self.place.start);
            let inner = format!("{outer}{}", step(outer));
            let value = pretty(value, &inner, step(outer), end);
            let object = format!("{{{end}{inner}{}: {value}{end}{outer}}}", json!(name));
            return format!("{}{object}{}", &body[..self.place.start], &body[self.place.end..]);
        };
        let member = match body[self.place.start..last.start].contains('\n') {
            true => {
                let indent = indent_at(body, last.start);
                let value = pretty(value, indent, step(indent), end);
                format!(",{end}{indent}{}: {value}", json!(name))
            }
            false => format!(", {}: {value}", json!(name)),
        };
        format!("{}{member}{}", &body[..last.end], &body[last.end..])
    }
}

/// The indentation of the line at this position.
fn indent_at(body: &str, place: usize) -> &str {
    let line = &body[body[..place].rfind('\n').map_or(0, |end| end + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn step(indent: &str) -> &'static str {
    if indent.starts_with('\t') { "\t" } else { "  " }
}

fn line_end(body: &str) -> &'static str {
    if body.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A value over several lines, of which all but the first are indented.
fn pretty(value: &Value, indent: &str, step: &str, line_end: &str) -> String {
    use serde::Serialize as _;
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(step.as_bytes());
    let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    match written.map(|()| String::from_utf8(bytes)) {
        // Line ends inside strings are escaped, so each line end here is between tokens.
        Ok(Ok(text)) => text.replace('\n', &format!("{line_end}{indent}")),
        _ => value.to_string(),
    }
}

/// The members of an object in order, with unparsed values.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Read)
    }
}
