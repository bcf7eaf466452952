//! The contract files as they are embedded in the binary, and references between them.

use serde_json::Value;

static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// A contract that cannot be served. Found at start-up, never during a call.
#[derive(Debug)]
pub struct ContractError(pub(crate) String);

impl std::fmt::Display for ContractError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ContractError {}

/// Every embedded file, as `service/file.json`.
pub fn paths() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(path, _)| *path)
}

/// The text of `service/file.json`.
pub fn text(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

pub(crate) fn json(path: &str) -> Result<Value, ContractError> {
    let text = text(path).ok_or_else(|| ContractError(format!("contracts/{path} is missing")))?;
    serde_json::from_str(text).map_err(|e| ContractError(format!("contracts/{path}: {e}")))
}

/// Follows `file.json#/pointer` inside a service's folder.
pub(crate) fn follow(service: &str, reference: &str) -> Result<Value, ContractError> {
    let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
    let document = json(&format!("{service}/{file}"))?;
    document.pointer(pointer).cloned().ok_or_else(|| {
        ContractError(format!("contracts/{service}/{file} has nothing at {pointer:?}"))
    })
}
