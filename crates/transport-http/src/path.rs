//! Arguments in the path, such as `/cases/{id}`. An argument of the query or body with the same name
//! must have the same value.

use std::convert::Infallible;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use fault::Fault;
use http::request::Parts;
use serde_json::{Map, Value};

use crate::query;

/// The decoded path parameters; an error where they are not UTF-8.
pub(crate) struct PathArguments(Result<Vec<(String, String)>, Fault>);

impl PathArguments {
    /// Names and texts, in the order of the path.
    pub(crate) fn decoded(self) -> Result<Vec<(String, String)>, Fault> {
        self.0
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PathArguments {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(Self(match RawPathParams::from_request_parts(parts, state).await {
            Ok(params) => {
                Ok(params.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect())
            }
            Err(RawPathParamsRejection::MissingPathParams(_)) => Ok(Vec::new()),
            Err(_) => {
                Err(Fault::invalid("invalid_path", "the path is not UTF-8 once it is decoded"))
            }
        }))
    }
}

/// Merges the path parameters into the arguments of a query or a body.
pub(crate) fn merge(
    mut args: Map<String, Value>,
    path: PathArguments,
    schema: &Value,
) -> Result<Map<String, Value>, Fault> {
    for (name, text) in path.0? {
        let value = query::value(&text, &name, schema);
        if args.get(&name).is_some_and(|other| *other != value) {
            let expected = "what the path says, or nothing";
            let message = format!("{name}: expected {expected}");
            return Err(Fault::invalid("conflicting_argument", message).problem(name, expected));
        }
        args.insert(name, value);
    }
    Ok(args)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(args: Value, placed: &[(&str, &str)], expected: Result<Value, &str>) {
        let Value::Object(args) = args else { panic!("arguments are an object") };
        let schema =
            json!({ "properties": { "id": { "type": "string" }, "page": { "type": "integer" } }});
        let placed = placed.iter().map(|&(name, text)| (name.to_owned(), text.to_owned()));
        let merged = merge(args, PathArguments(Ok(placed.collect())), &schema);
        let merged = merged.map(Value::Object).map_err(|fault| fault.problems()[0].field.clone());
        assert_eq!(merged, expected.map_err(str::to_owned));
    }

    #[test]
    fn path_arguments_are_merged_and_conflicts_refused() {
        check(json!({}), &[], Ok(json!({})));
        check(
            json!({ "a": 1 }),
            &[("id", "x/y"), ("page", "2")],
            Ok(json!({ "a": 1, "id": "x/y", "page": 2 })),
        );
        check(json!({ "id": "x" }), &[("id", "x")], Ok(json!({ "id": "x" })));
        check(json!({ "page": 2 }), &[("page", "2")], Ok(json!({ "page": 2 })));
        check(json!({ "id": "y" }), &[("id", "x")], Err("id"));
        check(json!({ "id": null }), &[("id", "x")], Err("id"));
        check(json!({ "page": "2" }), &[("page", "2")], Err("page"));
        check(json!({}), &[("page", "two")], Ok(json!({ "page": "two" })));
    }
}
