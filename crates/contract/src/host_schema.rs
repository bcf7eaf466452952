//! Derives from an exact schema the form that MCP hosts convert for their models: no lists of types,
//! no booleans for schemas, no combinators at the top and no keyword that only some models know. An
//! input is only described by its form; the server validates by the exact schema.

use serde_json::{Map, Value, json};

/// Keywords that an input keeps unchanged. `minimum` is beside them where it says more than 1.
const KEPT: [&str; 3] = ["type", "maximum", "maxItems"];

/// The form of an input schema.
pub(crate) fn input(exact: &Value) -> Map<String, Value> {
    let mut form = input_part(exact);
    form.insert("type".to_owned(), json!("object"));
    form.entry("properties").or_insert_with(|| json!({}));
    // The tool's own description says it.
    form.remove("description");
    form
}

fn input_part(exact: &Value) -> Map<String, Value> {
    let mut form = Map::new();
    let Some(exact) = exact.as_object() else {
        form.insert("type".to_owned(), json!("string"));
        return form;
    };
    for keyword in KEPT {
        if let Some(value) = exact.get(keyword).filter(|value| !value.is_array()) {
            form.insert(keyword.to_owned(), value.clone());
        }
    }
    set_types(&mut form, exact);
    if let Some(least) = exact.get("minimum").filter(|least| least.as_f64() > Some(1.0)) {
        form.insert("minimum".to_owned(), least.clone());
    }
    let values = exact.get("enum").and_then(Value::as_array);
    if let Some(values) = values {
        let values: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
        form.entry("type").or_insert_with(|| json!("string"));
        form.insert("enum".to_owned(), json!(values));
    }
    let description = description(exact);
    if !description.is_empty() {
        form.insert("description".to_owned(), Value::from(description));
    }
    if let Some(items) = exact.get("items") {
        form.insert("items".to_owned(), Value::Object(input_part(items)));
    }
    if let Some(properties) = exact.get("properties").and_then(Value::as_object) {
        let parts = properties.iter().map(|(name, part)| (name.clone(), input_part(part).into()));
        form.insert("properties".to_owned(), Value::Object(parts.collect()));
        let named = |name: &&Value| name.as_str().is_some_and(|it| properties.contains_key(it));
        let required: Vec<&Value> =
            exact.get("required").and_then(Value::as_array).into_iter().flatten().collect();
        let required: Vec<&Value> = required.into_iter().filter(named).collect();
        if !required.is_empty() {
            form.insert("required".to_owned(), json!(required));
        }
    }
    form
}

/// One type, or a choice of types; null is left out, because an optional argument can be left out.
fn set_types(form: &mut Map<String, Value>, exact: &Map<String, Value>) {
    let Some(types) = exact.get("type").and_then(Value::as_array) else { return };
    let types: Vec<&Value> = types.iter().filter(|it| *it != "null").collect();
    match types.as_slice() {
        [one] => _ = form.insert("type".to_owned(), (*one).clone()),
        many => {
            let choice: Vec<Value> = many.iter().map(|it| json!({ "type": it })).collect();
            form.insert("anyOf".to_owned(), Value::from(choice));
        }
    }
}

/// The description, with the default and the form of a date in words.
fn description(exact: &Map<String, Value>) -> String {
    let written = exact.get("description").and_then(Value::as_str).unwrap_or_default();
    let mut text = written.to_owned();
    let mut add = |note: &str| {
        if !text.is_empty() {
            if !text.ends_with('.') {
                text.push('.');
            }
            text.push(' ');
        }
        text.push_str(note);
        text.push('.');
    };
    if exact.get("format").is_some_and(|it| it == "date") && !written.contains("YYYY-MM-DD") {
        add("YYYY-MM-DD");
    }
    let default = exact.get("default").filter(|it| !matches!(it, Value::Bool(false) | Value::Null));
    if let Some(default) = default.filter(|it| it.as_f64() != Some(0.0))
        && !written.contains("efault")
        && !["unless given", "if left out"].iter().any(|words| written.contains(words))
    {
        let shown = default.as_str().map_or_else(|| default.to_string(), ToOwned::to_owned);
        add(&format!("Default {shown}"));
    }
    text
}

/// Keywords of an output that a host may not know, and that hide no field of the result.
const DROPPED: [&str; 20] = [
    "$schema",
    "$id",
    "title",
    "default",
    "uniqueItems",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "pattern",
    "format",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "if",
    "then",
    "else",
    "not",
];

/// The form of an output schema. Every result that matches the exact schema matches its form.
pub(crate) fn output(exact: &Value) -> Map<String, Value> {
    let mut form = match output_part(exact) {
        Value::Object(form) => form,
        _ => Map::new(),
    };
    for combinator in ["anyOf", "oneOf", "allOf", "enum"] {
        form.remove(combinator);
    }
    form.insert("type".to_owned(), json!("object"));
    form
}

fn output_part(exact: &Value) -> Value {
    let Some(exact) = exact.as_object() else { return json!({}) };
    let mut form = Map::new();
    for (keyword, value) in exact {
        match (keyword.as_str(), value) {
            (keyword, _) if DROPPED.contains(&keyword) => {}
            ("additionalProperties", Value::Bool(_)) => {}
            ("required", Value::Array(names)) if names.is_empty() => {}
            ("items" | "additionalProperties", part) => {
                form.insert(keyword.clone(), output_part(part));
            }
            ("properties", Value::Object(parts)) => {
                let parts = parts.iter().map(|(name, part)| (name.clone(), output_part(part)));
                form.insert(keyword.clone(), Value::Object(parts.collect()));
            }
            ("const", value) => _ = form.insert("enum".to_owned(), json!([value])),
            ("anyOf" | "oneOf" | "allOf", Value::Array(parts)) => {
                let name = if keyword == "allOf" { "allOf" } else { "anyOf" };
                form.insert(name.to_owned(), parts.iter().map(output_part).collect());
            }
            _ => _ = form.insert(keyword.clone(), value.clone()),
        }
    }
    without_type_list(form)
}

/// A list of types as a choice of schemas with one type each.
fn without_type_list(mut form: Map<String, Value>) -> Value {
    let Some(Value::Array(types)) = form.get("type").cloned() else { return Value::Object(form) };
    form.remove("type");
    let description = form.remove("description");
    if let Some(Value::Array(values)) = form.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    // The other keywords belong to the only type that is not null, or to none.
    let is_one = types.iter().filter(|it| *it != "null").count() == 1;
    let choice = types.iter().map(|it| {
        let mut part = if is_one && it != "null" { form.clone() } else { Map::new() };
        part.insert("type".to_owned(), it.clone());
        Value::Object(part)
    });
    let mut all = Map::new();
    if let Some(description) = description {
        all.insert("description".to_owned(), description);
    }
    all.insert("anyOf".to_owned(), choice.collect());
    Value::Object(all)
}

/// Applies a JSON merge patch (RFC 7396).
pub(crate) fn patched(target: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut target = target.as_object().cloned().unwrap_or_default();
    for (name, change) in patch {
        if change.is_null() {
            target.shift_remove(name);
        } else {
            let changed = patched(target.get(name).unwrap_or(&Value::Null), change);
            target.insert(name.clone(), changed);
        }
    }
    Value::Object(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_input(property: Value, expected: Value) {
        let exact = json!({ "$schema": "draft-07", "title": "X", "type": "object",
            "properties": { "p": property }, "required": ["p", "gone"],
            "additionalProperties": false });
        let found = Value::Object(input(&exact));
        let whole = json!({ "type": "object", "properties": { "p": expected }, "required": ["p"] });
        assert_eq!(found, whole);
    }

    #[test]
    fn an_input_has_one_type_and_its_bounds_in_words() {
        check_input(json!({ "type": "string", "minLength": 1 }), json!({ "type": "string" }));
        check_input(
            json!({ "type": ["number", "null"], "exclusiveMinimum": 0 }),
            json!({ "type": "number" }),
        );
        check_input(
            json!({ "type": ["string", "null"], "enum": ["a", null] }),
            json!({ "type": "string", "enum": ["a"] }),
        );
        check_input(json!({ "enum": ["a"] }), json!({ "type": "string", "enum": ["a"] }));
        check_input(
            json!({ "type": ["number", "string"] }),
            json!({ "anyOf": [{ "type": "number" }, { "type": "string" }] }),
        );
        check_input(
            json!({ "type": "string", "format": "date" }),
            json!({ "type": "string", "description": "YYYY-MM-DD." }),
        );
        check_input(
            json!({ "type": "integer", "minimum": 1, "maximum": 9, "default": 5, "description": "Rows" }),
            json!({ "type": "integer", "maximum": 9, "description": "Rows. Default 5." }),
        );
        check_input(json!({ "type": "boolean", "default": false }), json!({ "type": "boolean" }));
        check_input(
            json!({ "type": "array", "minItems": 1, "maxItems": 3, "uniqueItems": true,
                "items": { "type": "object", "additionalProperties": true } }),
            json!({ "type": "array", "maxItems": 3, "items": { "type": "object" } }),
        );
    }

    #[track_caller]
    fn check_output(property: Value, expected: Value) {
        let exact = json!({ "$schema": "draft-07", "type": "object", "oneOf": [{}],
            "properties": { "p": property }, "required": [], "additionalProperties": false });
        let whole = json!({ "type": "object", "properties": { "p": expected } });
        assert_eq!(Value::Object(output(&exact)), whole);
    }

    #[test]
    fn an_output_still_allows_every_exact_result() {
        check_output(
            json!({ "type": ["integer", "null"], "minimum": 0, "description": "d" }),
            json!({ "description": "d",
                "anyOf": [{ "minimum": 0, "type": "integer" }, { "type": "null" }] }),
        );
        check_output(
            json!({ "type": ["string", "null"], "enum": ["a", null] }),
            json!({ "anyOf": [{ "enum": ["a"], "type": "string" }, { "type": "null" }] }),
        );
        check_output(
            json!({ "type": ["string", "number"], "maximum": 3 }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] }),
        );
        check_output(
            json!({ "type": "object", "additionalProperties": { "type": ["number", "null"] } }),
            json!({ "type": "object",
                "additionalProperties": { "anyOf": [{ "type": "number" }, { "type": "null" }] } }),
        );
        check_output(json!({ "const": 1 }), json!({ "enum": [1] }));
        check_output(json!({ "oneOf": [{ "format": "date" }] }), json!({ "anyOf": [{}] }));
        check_output(json!(true), json!({}));
    }

    #[test]
    fn a_patch_adds_replaces_and_removes() {
        let target = json!({ "a": { "b": 1, "c": 2 }, "d": 3 });
        let patch = json!({ "a": { "b": null, "e": { "f": 4 } }, "d": 5 });
        assert_eq!(patched(&target, &patch), json!({ "a": { "c": 2, "e": { "f": 4 } }, "d": 5 }));
    }
}
