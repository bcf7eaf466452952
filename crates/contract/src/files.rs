//! The contract files as they are embedded in the binary, and references between them.

use serde_json::{Map, Value};

static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// A contract that cannot be served; reported at start-up, never during a call.
#[derive(Debug)]
pub struct ContractError(pub(crate) String);

impl std::fmt::Display for ContractError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ContractError {}

/// The path of every embedded file, as `service/file.json`.
pub fn file_paths() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(path, _)| *path)
}

/// The text of the embedded file `service/file.json`.
pub fn file_text(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

pub(crate) fn json(path: &str) -> Result<Value, ContractError> {
    let text =
        file_text(path).ok_or_else(|| ContractError(format!("contracts/{path} is missing")))?;
    serde_json::from_str(text).map_err(|e| ContractError(format!("contracts/{path}: {e}")))
}

/// Parses an embedded file.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &str) -> Result<T, ContractError> {
    serde_json::from_value(json(path)?).map_err(|e| ContractError(format!("contracts/{path}: {e}")))
}

/// How many references may be nested; a deeper chain is a cycle.
const DEPTH_MAX: u8 = 8;

/// Resolves `file.json#/pointer` inside a service's folder, and every `$ref` of that form in the
/// result, so that a listed schema has no references.
pub(crate) fn resolve(service: &str, reference: &str) -> Result<Value, ContractError> {
    resolve_inside(service, find(service, reference)?, DEPTH_MAX)
}

fn find(service: &str, reference: &str) -> Result<Value, ContractError> {
    let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
    let document = json(&format!("{service}/{file}"))?;
    document.pointer(pointer).cloned().ok_or_else(|| {
        ContractError(format!("contracts/{service}/{file} has nothing at {pointer:?}"))
    })
}

/// Replaces every `$ref` by its target; keywords beside the `$ref` override the target's.
fn resolve_inside(service: &str, value: Value, depth: u8) -> Result<Value, ContractError> {
    let part = |value| resolve_inside(service, value, depth);
    let mut object = match value {
        Value::Array(items) => return items.into_iter().map(part).collect(),
        Value::Object(object) => object,
        plain => return Ok(plain),
    };
    let mut target = None;
    if let Some(Value::String(reference)) = object.get("$ref") {
        let deeper = depth.checked_sub(1).ok_or_else(|| {
            ContractError(format!("contracts/{service}: {reference:?} leads to itself"))
        })?;
        target = Some(resolve_inside(service, find(service, reference)?, deeper)?);
        object.remove("$ref");
    }
    let object = object.into_iter().map(|(name, value)| Ok((name, part(value)?)));
    let object: Map<String, Value> = object.collect::<Result<_, ContractError>>()?;
    Ok(match target {
        Some(Value::Object(mut target)) => {
            target.extend(object);
            Value::Object(target)
        }
        Some(other) => other,
        None => Value::Object(object),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: Value, expected: Result<Value, &str>) {
        let found = resolve_inside("indicators", value, DEPTH_MAX);
        assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
    }

    #[test]
    fn references_are_replaced_by_what_they_refer_to() {
        let period = json!({ "minimum": 1 });
        let least = "windows.json#/properties/rsi/properties/period/minimum";
        check(json!({ "minimum": { "$ref": least } }), Ok(period.clone()));
        check(json!([{ "minimum": { "$ref": least } }]), Ok(json!([period])));
        let windows = find("indicators", "windows.json").unwrap();
        let mut described = windows.clone();
        described["description"] = json!("mine");
        let given = json!({ "$ref": "windows.json", "description": "mine" });
        check(
            json!({ "properties": { "windows": given } }),
            Ok(json!({ "properties": { "windows": described } })),
        );
        let missing = Err("contracts/indicators/nothing.json is missing");
        check(json!({ "a": [{ "$ref": "nothing.json" }] }), missing);
        assert!(resolve_inside("indicators", json!({ "$ref": "schemas.json" }), 0).is_err());
    }

    #[test]
    fn no_schema_is_left_with_a_reference() {
        let schemas = resolve("indicators", "schemas.json").unwrap();
        assert!(!schemas.to_string().contains("$ref"));
    }
}
