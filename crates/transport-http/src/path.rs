//! Arguments that stand in the path. They are part of what was asked for, so nothing beside them
//! may say otherwise.

use std::convert::Infallible;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use fault::Fault;
use http::request::Parts;
use serde_json::{Map, Value};

use crate::query;

/// The segments of a path that are arguments, decoded; an error where they are no text.
pub(crate) struct Placed(Result<Vec<(String, String)>, Fault>);

impl<S: Send + Sync> FromRequestParts<S> for Placed {
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

/// The arguments of a query or a body, with those of the path.
pub(crate) fn joined(
    mut args: Map<String, Value>,
    placed: Placed,
    schema: &Value,
) -> Result<Map<String, Value>, Fault> {
    for (name, text) in placed.0? {
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
        let told = joined(args, Placed(Ok(placed.collect())), &schema);
        let told = told.map(Value::Object).map_err(|fault| fault.problems()[0].field.clone());
        assert_eq!(told, expected.map_err(str::to_owned));
    }

    #[test]
    fn the_path_has_its_say() {
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
