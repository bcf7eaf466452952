//! The contract files as they are embedded in the binary, and references between them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// A contract that cannot be served; reported at start-up. Whether its schemas compile is tested, and
/// found at the first check otherwise.
#[derive(Debug, Clone)]
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
    read_json(path)
}

/// Parses an embedded file.
pub(crate) fn read_json<T: DeserializeOwned>(path: &str) -> Result<T, ContractError> {
    let text =
        file_text(path).ok_or_else(|| ContractError(format!("contracts/{path} is missing")))?;
    serde_json::from_str(text).map_err(|e| ContractError(format!("contracts/{path}: {e}")))
}

/// How many references may be nested; a deeper chain is a cycle.
const DEPTH_MAX: u8 = 8;

/// The files of one service. Each is parsed once, because the tools of a service share a file of up
/// to 84 KB and refer to it up to 74 times.
pub(crate) struct ServiceFiles<'a> {
    pub(crate) service: &'a str,
    parsed: RefCell<HashMap<String, Rc<Value>>>,
}

impl<'a> ServiceFiles<'a> {
    pub(crate) fn of(service: &'a str) -> Self {
        Self { service, parsed: RefCell::default() }
    }

    /// Resolves `file.json#/pointer` inside the service's folder, and every `$ref` of that form in
    /// the result, so that a listed schema has no references.
    pub(crate) fn resolve(&self, reference: &str) -> Result<Value, ContractError> {
        self.resolve_target(reference, DEPTH_MAX)
    }

    fn resolve_target(&self, reference: &str, depth: u8) -> Result<Value, ContractError> {
        let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let document = self.document(file)?;
        let target = document.pointer(pointer).ok_or_else(|| {
            let service = self.service;
            ContractError(format!("contracts/{service}/{file} has nothing at {pointer:?}"))
        })?;
        self.resolve_inside(target, depth)
    }

    fn document(&self, file: &str) -> Result<Rc<Value>, ContractError> {
        if let Some(known) = self.parsed.borrow().get(file) {
            return Ok(Rc::clone(known));
        }
        let document = Rc::new(json(&format!("{}/{file}", self.service))?);
        self.parsed.borrow_mut().insert(file.to_owned(), Rc::clone(&document));
        Ok(document)
    }

    /// A copy with every `$ref` replaced by its target; keywords beside the `$ref` override the
    /// target's.
    fn resolve_inside(&self, value: &Value, depth: u8) -> Result<Value, ContractError> {
        let object = match value {
            Value::Array(items) => {
                return items.iter().map(|item| self.resolve_inside(item, depth)).collect();
            }
            Value::Object(object) => object,
            plain => return Ok(plain.clone()),
        };
        let target = match object.get("$ref") {
            Some(Value::String(reference)) => {
                let deeper = depth.checked_sub(1).ok_or_else(|| {
                    let service = self.service;
                    ContractError(format!("contracts/{service}: {reference:?} leads to itself"))
                })?;
                Some(self.resolve_target(reference, deeper)?)
            }
            _ => None,
        };
        let beside = object.iter().filter(|(name, _)| target.is_none() || *name != "$ref");
        let parts =
            beside.map(|(name, part)| Ok((name.clone(), self.resolve_inside(part, depth)?)));
        let parts: Map<String, Value> = parts.collect::<Result<_, ContractError>>()?;
        Ok(match target {
            Some(Value::Object(mut target)) => {
                target.extend(parts);
                Value::Object(target)
            }
            Some(other) => other,
            None => Value::Object(parts),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: Value, expected: Result<Value, &str>) {
        let found = ServiceFiles::of("indicators").resolve_inside(&value, DEPTH_MAX);
        assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
    }

    #[test]
    fn references_are_replaced_by_what_they_refer_to() {
        let period = json!({ "minimum": 1 });
        let least = "windows.json#/properties/rsi/properties/period/minimum";
        check(json!({ "minimum": { "$ref": least } }), Ok(period.clone()));
        check(json!([{ "minimum": { "$ref": least } }]), Ok(json!([period])));
        let windows = json("indicators/windows.json").unwrap();
        let mut described = windows.clone();
        described["description"] = json!("mine");
        let given = json!({ "$ref": "windows.json", "description": "mine" });
        check(
            json!({ "properties": { "windows": given } }),
            Ok(json!({ "properties": { "windows": described } })),
        );
        let missing = Err("contracts/indicators/nothing.json is missing");
        check(json!({ "a": [{ "$ref": "nothing.json" }] }), missing);
        let files = ServiceFiles::of("indicators");
        assert!(files.resolve_inside(&json!({ "$ref": "schemas.json" }), 0).is_err());
    }

    #[test]
    fn no_schema_is_left_with_a_reference() {
        let schemas = ServiceFiles::of("indicators").resolve("schemas.json").unwrap();
        assert!(!schemas.to_string().contains("$ref"));
    }
}
