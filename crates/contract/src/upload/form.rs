//! Converts the text fields of a form into one JSON object, by the types in the form's schema.

use std::collections::BTreeMap;

use fault::Fault;
use serde_json::{Map, Value};

use super::shown;
use crate::schema::Schema;

/// The fields as an object, validated and with the schema's defaults.
pub(super) fn read(
    fields: &BTreeMap<String, String>,
    form: &Schema,
) -> Result<Map<String, Value>, Fault> {
    let mut args = Map::new();
    for (name, text) in fields {
        let kind = form.json()["properties"][name]["type"].as_str().unwrap_or("string");
        // A browser sends an empty text for a field that was not filled in.
        if text.is_empty() && kind != "string" {
            continue;
        }
        args.insert(name.clone(), value(name, text, kind)?);
    }
    form.accept(args)
}

/// A text that is not a number stays a text, so that the schema refuses it.
fn value(name: &str, text: &str, kind: &str) -> Result<Value, Fault> {
    Ok(match kind {
        "object" | "array" => serde_json::from_str(text).map_err(|_| {
            let expected = format!("a JSON {kind} as text");
            let message = format!("invalid input: {}: expected {expected}", shown(name));
            Fault::invalid("invalid_input", message).problem(shown(name), expected)
        })?,
        "integer" | "number" => {
            let number = serde_json::from_str(text).ok().filter(Value::is_number);
            number.unwrap_or_else(|| Value::from(text))
        }
        "boolean" => text.parse().map_or_else(|_| Value::from(text), Value::Bool),
        _ => Value::from(text),
    })
}
