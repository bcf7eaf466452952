//! Arguments of inputs that the contract leaves open: keys it does not know are ignored, and the
//! reply names them, so that a misspelt filter does not look like a search that found everything.

use std::collections::HashMap;

use contract::Contract;
use fault::Fault;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::clip::clip;

/// A reply names at most this many keys, each with at most this many characters.
const NAMED_MAX: usize = 20;
const NAME_CHARS_MAX: usize = 100;

/// The input schemas of the contract's tools.
pub(crate) struct InputSchemas(HashMap<String, Value>);

/// The paths of the keys that were ignored, such as `filters.keyword`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct IgnoredKeys(Vec<String>);

impl InputSchemas {
    pub(crate) fn of(contract: &Contract) -> Self {
        let schema = |tool: &contract::ToolSpec| (tool.name.clone(), tool.input.json().clone());
        Self(contract.tools.iter().map(schema).collect())
    }

    /// The arguments of a tool, and the keys that its schema does not know.
    pub(crate) fn read<A: DeserializeOwned>(
        &self,
        tool: &str,
        given: Map<String, Value>,
    ) -> Result<(A, IgnoredKeys), Fault> {
        let mut ignored = IgnoredKeys::default();
        if let Some(schema) = self.0.get(tool) {
            ignored.collect(schema, &given, "");
            ignored.0.sort_unstable();
        }
        let args = serde_json::from_value(Value::Object(given)).map_err(Fault::internal)?;
        Ok((args, ignored))
    }
}

impl IgnoredKeys {
    /// An object whose schema allows additional properties by name, such as `entities`, has no
    /// unknown keys.
    fn collect(&mut self, schema: &Value, given: &Map<String, Value>, at: &str) {
        if schema.get("additionalProperties").is_some() {
            return;
        }
        for (key, value) in given {
            if self.0.len() >= NAMED_MAX {
                return;
            }
            let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
            match (schema["properties"].get(key), value) {
                (None, _) => self.0.push(clip(&path, NAME_CHARS_MAX)),
                (Some(part), Value::Object(inner)) => self.collect(part, inner, &path),
                (Some(_), _) => {}
            }
        }
    }

    /// Adds the keys to the reply and its text, if there are any.
    pub(crate) fn add_to(self, json: &mut Value, text: &mut String) {
        if self.0.is_empty() {
            return;
        }
        text.push_str(&format!(
            "\nIgnored, because no such argument is known: {}",
            self.0.join(", ")
        ));
        json["ignored"] = Value::from(self.0);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(tool: &str, given: Value, ignored: &[&str]) {
        let schemas = InputSchemas::of(&Contract::load("archive").unwrap());
        let (_, found) = schemas.read::<Value>(tool, given.as_object().unwrap().clone()).unwrap();
        assert_eq!(found.0, ignored, "{tool} {given}");
    }

    #[test]
    fn keys_that_the_contract_does_not_know_are_named() {
        let query = "arkiver_query_insights";
        check(query, json!({}), &[]);
        check(query, json!({ "filters": { "keywords": "a" }, "sort": { "order": "asc" } }), &[]);
        check(query, json!({ "filters": { "keyword": "a" }, "x": 1 }), &["filters.keyword", "x"]);
        check(
            query,
            json!({ "filters": { "dateRange": { "from": "a" } } }),
            &["filters.dateRange.from"],
        );
        let insight = json!({ "title": "t", "entities": { "free": { "x": 1 } }, "page": 1 });
        check("arkiver_store_insight", json!({ "insight": insight }), &["insight.page"]);
        let parameters = json!({ "testType": "bias", "parameters": { "free": 1 }, "model": "x" });
        check("arkiver_integrity_test", parameters, &["model"]);
        let settings = json!({ "processingSettings": { "ocr": true } });
        check("arkiver_process_file", settings, &["processingSettings.ocr"]);
    }

    #[test]
    fn the_list_is_bounded() {
        let many: Map<String, Value> =
            (0..100).map(|at| (format!("{at}{}", "x".repeat(500)), Value::Null)).collect();
        let mut ignored = IgnoredKeys::default();
        ignored.collect(&json!({ "type": "object", "properties": {} }), &many, "");
        assert_eq!(ignored.0.len(), NAMED_MAX);
        let (mut json, mut text) = (json!({}), String::new());
        ignored.add_to(&mut json, &mut text);
        assert!(text.len() < 2_500, "{}", text.len());
        assert_eq!(json["ignored"].as_array().map(Vec::len), Some(NAMED_MAX));
    }
}
