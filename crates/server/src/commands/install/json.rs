//! Our entry in a JSON file. Only the text of the entry is replaced, so that all other members keep
//! their order, spacing, comments and numbers.

mod comments;

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::commands::install::NAME;
use crate::commands::install::clients::JsonForm;
use crate::commands::install::launch::{EntryValue, Launch, Transport, Values};

/// A file with our entry alone.
pub(super) fn file_text(form: &JsonForm, launch: &Launch) -> Result<String, String> {
    let whole = json!({ form.section: { NAME: Fields::new(form, launch)?.entry(None) } });
    Ok(pretty(&whole, "", "  ", "\n") + "\n")
}

/// Our entry alone.
pub(super) fn entry(form: &JsonForm, launch: &Launch) -> Result<Value, String> {
    Ok(Fields::new(form, launch)?.entry(None))
}

/// The text with our entry, added or updated.
pub(super) fn merged(text: &str, form: &JsonForm, launch: &Launch) -> Result<String, String> {
    let fields = Fields::new(form, launch)?;
    let document = match Document::read(text)? {
        Some(document) => document,
        None => return file_text(form, launch),
    };
    let body = document.with_entry(form.section, &fields)?;
    document.checked(body, form.section, |value| value.is_some())
}

/// The text without our entry, and without a list of servers that has no other; `None` if there is
/// no entry.
pub(super) fn removed(text: &str, section: &str) -> Result<Option<String>, String> {
    let Some(document) = Document::read(text)? else { return Ok(None) };
    match document.without_entry(section)? {
        Some(body) => document.checked(body, section, |value| value.is_none()).map(Some),
        None => Ok(None),
    }
}

/// The members of an entry that are ours.
struct Fields {
    members: Map<String, Value>,
    /// The member without which an entry uses another transport.
    transport: &'static str,
}

impl Fields {
    fn new(form: &JsonForm, launch: &Launch) -> Result<Self, String> {
        let mut members = Map::new();
        let mut set = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
        let (transport, member, values) = match &launch.transport {
            Transport::Stdio { command, args, env } => {
                if let Some(kind) = form.stdio_type {
                    set("type", json!(kind));
                }
                set("command", json!(command));
                set("args", json!(args));
                ("command", "env", env)
            }
            Transport::Http { url, headers } => {
                let http = form.http.as_ref().ok_or("it starts commands only; leave out --http")?;
                if let Some(kind) = http.kind {
                    set("type", json!(kind));
                }
                set(http.url, json!(url));
                (http.url, "headers", headers)
            }
        };
        let values = values_json(form, values);
        if !values.is_empty() {
            set(member, Value::Object(values));
        }
        Ok(Self { members, transport })
    }

    /// Our entry, with the fields that the user added to it, such as a token in its environment. An entry
    /// of the other transport is replaced.
    fn entry(&self, before: Option<&Map<String, Value>>) -> Value {
        let mut entry =
            before.filter(|it| it.contains_key(self.transport)).cloned().unwrap_or_default();
        for (name, value) in &self.members {
            match (entry.get_mut(name), value) {
                (Some(Value::Object(before)), Value::Object(ours)) => before.extend(ours.clone()),
                _ => drop(entry.insert(name.clone(), value.clone())),
            }
        }
        Value::Object(entry)
    }
}

/// The values in the client's notation. A value that names a variable is left out if the client has no
/// notation for it.
fn values_json(form: &JsonForm, values: &Values) -> Map<String, Value> {
    let text = |value: &EntryValue| match (value, form.variable) {
        (EntryValue::Text(text), _) => Some(text.clone()),
        (EntryValue::Variable { prefix, name }, Some((open, close))) => {
            Some(format!("{prefix}{open}{name}{close}"))
        }
        (EntryValue::Variable { .. }, None) => None,
    };
    values.iter().filter_map(|(name, value)| Some((name.clone(), json!(text(value)?)))).collect()
}

/// A file's text, and the same text with spaces instead of comments and trailing commas.
struct Document<'a> {
    /// The byte order mark, if there is one.
    mark: &'a str,
    body: &'a str,
    plain: String,
}

impl<'a> Document<'a> {
    /// `None` for an empty file.
    fn read(text: &'a str) -> Result<Option<Self>, String> {
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mark = &text[..text.len() - body.len()];
        let plain = comments::blanked(body);
        match plain.trim().is_empty() && plain == body {
            true => Ok(None),
            false => Ok(Some(Self { mark, body, plain })),
        }
    }

    fn root(&self) -> Result<Object, String> {
        Object::read(&self.plain, 0..self.plain.len())
            .map_err(|error| format!("it is not valid JSON (line {})", error.line()))
    }

    fn section(&self, span: Range<usize>, name: &str) -> Result<Object, String> {
        Object::read(&self.plain, span).map_err(|_| format!("its {name:?} is not an object"))
    }

    fn with_entry(&self, section: &str, fields: &Fields) -> Result<String, String> {
        let (body, root) = (self.body, self.root()?);
        let Some(span) = root.member(section) else {
            return Ok(root.with(body, section, &json!({ NAME: fields.entry(None) })));
        };
        let servers = self.section(span, section)?;
        let Some(span) = servers.member(NAME) else {
            return Ok(servers.with(body, NAME, &fields.entry(None)));
        };
        let before: Value = serde_json::from_str(&self.plain[span.clone()])
            .map_err(|_| format!("its entry {NAME:?} cannot be read"))?;
        let after = fields.entry(before.as_object());
        if after == before {
            return Ok(body.to_owned());
        }
        let indent = indent_at(body, span.start);
        let after = pretty(&after, indent, step(indent), line_end(body));
        Ok(format!("{}{after}{}", &body[..span.start], &body[span.end..]))
    }

    fn without_entry(&self, section: &str) -> Result<Option<String>, String> {
        let root = self.root()?;
        let Some(span) = root.member(section) else { return Ok(None) };
        let servers = self.section(span, section)?;
        if servers.member(NAME).is_none() {
            return Ok(None);
        }
        let is_alone = servers.members.iter().all(|(name, _)| name == NAME);
        let (object, name) = if is_alone { (&root, section) } else { (&servers, NAME) };
        Ok(object.without(self.body, &self.plain, name))
    }

    /// The new text, if it differs from the old one only in our entry.
    fn checked(
        &self,
        body: String,
        section: &str,
        holds: impl FnOnce(Option<&Value>) -> bool,
    ) -> Result<String, String> {
        let others = |text: &str| -> Option<(Value, Option<Value>)> {
            let mut value: Value = serde_json::from_str(text).ok()?;
            let root = value.as_object_mut()?;
            let servers = root.entry(section).or_insert_with(|| json!({})).as_object_mut()?;
            let entry = servers.shift_remove(NAME);
            if servers.is_empty() {
                root.shift_remove(section);
            }
            Some((value, entry))
        };
        let before = others(&self.plain).map(|(rest, _)| rest);
        match others(&comments::blanked(&body)) {
            Some((rest, entry)) if before.as_ref() == Some(&rest) && holds(entry.as_ref()) => {
                Ok(format!("{}{body}", self.mark))
            }
            _ => Err("it has a shape that cannot be changed safely".to_owned()),
        }
    }
}

/// An object inside a text, with the positions of its values.
struct Object {
    span: Range<usize>,
    members: Vec<(String, Range<usize>)>,
}

impl Object {
    fn read(body: &str, span: Range<usize>) -> Result<Self, serde_json::Error> {
        let Members(members) = serde_json::from_str(&body[span.clone()])?;
        let origin = body.as_ptr().addr();
        let members = members.into_iter().map(|(name, value)| {
            let start = value.get().as_ptr().addr() - origin;
            (name, start..start + value.get().len())
        });
        let members = members.collect();
        let text = &body[span.clone()];
        let start = span.start + (text.len() - text.trim_start().len());
        Ok(Self { span: start..span.start + text.trim_end().len(), members })
    }

    /// Of members with the same name the last one counts, as in every client.
    fn member(&self, name: &str) -> Option<Range<usize>> {
        self.members.iter().rev().find(|(it, _)| it == name).map(|(_, span)| span.clone())
    }

    /// The whole text with one more member at the end of this object, in the layout of the others.
    fn with(&self, body: &str, name: &str, value: &Value) -> String {
        let end = line_end(body);
        let Some((_, last)) = self.members.last() else {
            let outer = indent_at(body, self.span.start);
            let inner = format!("{outer}{}", step(outer));
            let value = pretty(value, &inner, step(outer), end);
            let inside = &body[self.span.start + 1..self.span.end - 1];
            // A comment in an object without members stays in it.
            let kept = if inside.trim().is_empty() { "" } else { inside.trim_end() };
            let object = format!("{{{kept}{end}{inner}{}: {value}{end}{outer}}}", json!(name));
            return format!("{}{object}{}", &body[..self.span.start], &body[self.span.end..]);
        };
        let member = match body[self.span.start..last.start].contains('\n') {
            true => {
                let indent = indent_at(body, last.start);
                let value = pretty(value, indent, step(indent), end);
                format!(",{end}{indent}{}: {value}", json!(name))
            }
            false => format!(", {}: {value}", json!(name)),
        };
        format!("{}{member}{}", &body[..last.end], &body[last.end..])
    }

    /// The whole text without the last member of this name: with the comma and the blanks before it,
    /// or after it where it is the first.
    fn without(&self, body: &str, plain: &str, name: &str) -> Option<String> {
        let index = self.members.iter().rposition(|(it, _)| it == name)?;
        let value = &self.members[index].1;
        let before = index.checked_sub(1).map(|it| self.members[it].1.end);
        let from = before.unwrap_or(self.span.start + 1);
        let key = from + plain[from..value.start].find('"')?;
        let blank = body[..key].trim_end().len().max(from);
        let mut text = body.to_owned();
        match (before, self.members.get(index + 1)) {
            (Some(end), _) => {
                let comma = end + plain[end..key].find(',')?;
                text.replace_range(blank.max(comma + 1)..value.end, "");
                text.replace_range(comma..=comma, "");
            }
            (None, Some((_, next))) => {
                let comma = value.end + plain[value.end..next.start].find(',')?;
                text.replace_range(blank..=comma, "");
            }
            (None, None) => {
                // A trailing comma may stand behind it.
                let tail = body[value.end..self.span.end - 1].replace(',', "");
                let inside = format!("{}{}", &body[from..blank], tail);
                let inside = if inside.trim().is_empty() { String::new() } else { inside };
                text.replace_range(from..self.span.end - 1, &inside);
            }
        }
        Some(text)
    }
}

/// The indentation of the line at this position.
fn indent_at(body: &str, span: usize) -> &str {
    let line = &body[body[..span].rfind('\n').map_or(0, |end| end + 1)..];
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
