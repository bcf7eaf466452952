//! Writes a fault as the contract's error object: `metadata` repeats the request, `data` is empty,
//! `error` is set. The fields of `metadata` and their defaults come from the tools' schemas, so that
//! an error fits the schema where it can.

use std::collections::HashMap;
use std::sync::Arc;

use clock::Clock;
use contract::{Envelope, FailureContext, ToolSpec};
use fault::Fault;
use market::SIMULATED;
use serde_json::{Map, Value, json};

use crate::reply::ISS;

/// The error envelope of the contract.
pub(crate) struct MoexEnvelope {
    shapes: HashMap<String, ErrorShape>,
    clock: Arc<dyn Clock>,
    is_simulated: bool,
}

/// The parts of a tool's schema that its errors need.
struct ErrorShape {
    /// Fields of `metadata` that are also arguments, each with its default.
    fields: Vec<(String, Option<Value>)>,
    /// Whether `metadata` has `as_of`.
    has_as_of: bool,
    /// Whether `metadata.source` may name the simulated exchange.
    allows_simulated: bool,
    /// `data` of an error: an empty object or list.
    empty_data: Value,
}

impl ErrorShape {
    fn of(tool: &ToolSpec) -> Self {
        let (input, output) = (&tool.input.json()["properties"], &tool.output.json()["properties"]);
        let metadata = output["metadata"]["properties"].as_object();
        let names = || metadata.into_iter().flat_map(Map::keys);
        let field = |name: &String| {
            input.get(name).map(|rule| (name.clone(), rule.get("default").cloned()))
        };
        Self {
            fields: names().filter_map(field).collect(),
            has_as_of: names().any(|name| name == "as_of"),
            allows_simulated: output["metadata"]["properties"]["source"]["enum"]
                .as_array()
                .is_some_and(|sources| sources.iter().any(|it| it == SIMULATED)),
            empty_data: if output["data"]["type"] == "object" { json!({}) } else { json!([]) },
        }
    }
}

impl MoexEnvelope {
    /// `source` is where the exchange's data come from.
    pub(crate) fn new(tools: &[ToolSpec], clock: Arc<dyn Clock>, source: &str) -> Self {
        let shapes = tools.iter().map(|tool| (tool.name.clone(), ErrorShape::of(tool))).collect();
        Self { shapes, clock, is_simulated: source == SIMULATED }
    }

    fn metadata(&self, shape: Option<&ErrorShape>, args: &Map<String, Value>) -> Value {
        let mut metadata = Map::new();
        let says_simulated = self.is_simulated && shape.is_some_and(|shape| shape.allows_simulated);
        let source = if says_simulated { SIMULATED } else { ISS };
        metadata.insert("source".to_owned(), Value::from(source));
        for (name, default) in shape.into_iter().flat_map(|shape| &shape.fields) {
            // Only short texts and lists are repeated: an invalid argument may be anything.
            let value = match args.get(name) {
                Some(value) => Some(value).filter(|value| may_be_repeated(value)),
                None => default.as_ref(),
            };
            metadata.extend(value.map(|value| (name.clone(), value.clone())));
        }
        if shape.is_some_and(|shape| shape.has_as_of) {
            metadata.insert("as_of".to_owned(), self.clock.now().to_rfc3339().into());
        }
        Value::Object(metadata)
    }
}

impl Envelope for MoexEnvelope {
    fn repeats_request(&self) -> bool {
        true
    }

    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        let shape = self.shapes.get(cx.tool);
        let problems: Value = fault
            .problems()
            .iter()
            .map(|it| json!({ "field": it.field, "expected": it.expected }))
            .collect();
        let mut error = json!({
            "metadata": self.metadata(shape, cx.args),
            "data": shape.map_or_else(|| json!([]), |shape| shape.empty_data.clone()),
            "metrics": {},
            "error": {
                "error_type": error_type(fault, cx),
                "message": fault.message(),
                "details": {
                    "problems": problems,
                    "retryable": cx.row.retryable,
                    "retry_after_s": fault.retry_wait().map(|wait| wait.as_secs_f64().ceil()),
                    "request_id": cx.request_id,
                },
            },
        });
        if self.is_simulated {
            error["error"][SIMULATED] = Value::Bool(true);
        }
        error
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        self.tool_error(fault, cx)
    }
}

/// Whether a value is a text of at most 100 characters or a list of at most 20 of them.
fn may_be_repeated(value: &Value) -> bool {
    match value {
        Value::String(text) => text.chars().count() <= 100,
        Value::Array(list) => {
            list.len() <= 20 && list.iter().all(|it| it.as_str().is_some_and(|it| it.len() <= 100))
        }
        _ => false,
    }
}

/// The error type. An index that the schema does not list is reported as an unknown index.
fn error_type<'a>(fault: &Fault, cx: &FailureContext<'a>) -> &'a str {
    let names_index = cx.args.get("index_ticker").is_some_and(Value::is_string);
    let refused_index = fault.problems().iter().any(|it| it.field == "index_ticker");
    if fault.code() == "invalid_input" && names_index && refused_index {
        return "UNKNOWN_INDEX";
    }
    &cx.row.r#type
}

#[cfg(test)]
mod tests {
    use clock::Millis;
    use contract::Contract;
    use testkit::FakeClock;

    use super::*;

    /// The error of a tool for these arguments, and whether it fits the tool's output schema.
    fn error_and_fit(tool: &str, args: Value) -> (Value, bool) {
        error_from("moex", tool, args)
    }

    fn error_from(source: &str, tool: &str, args: Value) -> (Value, bool) {
        let contract = Contract::load("moex").unwrap();
        let spec = contract.tools.iter().find(|it| it.name == tool).unwrap();
        let fault = Fault::unavailable("upstream_failed", "it failed");
        let row = contract.errors.row(&fault);
        let args = args.as_object().unwrap();
        let cx = FailureContext { tool, request_id: "1", args, row };
        let clock = FakeClock::new(Millis(1_700_000_000_000));
        let error =
            MoexEnvelope::new(&contract.tools, Arc::new(clock), source).tool_error(&fault, &cx);
        let fits = spec.output.check(&error).is_ok();
        (error, fits)
    }

    #[track_caller]
    fn check(tool: &str, args: Value, metadata: Value, expected_fit: bool) {
        let (error, fits) = error_and_fit(tool, args);
        assert_eq!(error["metadata"], metadata, "{tool}");
        assert_eq!(fits, expected_fit, "{tool}: {error}");
        assert_eq!(error["error"]["error_type"], "ISS_5XX");
    }

    #[test]
    fn the_metadata_repeats_the_request_with_its_defaults() {
        let days = || json!({ "from_date": "2024-01-03", "to_date": "2024-01-05" });
        let of = |pairs: &[(&str, &str)]| {
            let mut all = days();
            for (name, value) in pairs {
                all[*name] = Value::from(*value);
            }
            all
        };
        check(
            "get_ohlcv_timeseries",
            of(&[("ticker", "SBER")]),
            of(&[
                ("ticker", "SBER"),
                ("source", "moex-iss"),
                ("board", "TQBR"),
                ("interval", "1d"),
            ]),
            true,
        );
        let source = of(&[("source", "moex-iss")]);
        check("get_trading_calendar", days(), source.clone(), true);
        check("compute_portfolio_risk", of(&[("query", "x")]), source, true);
        check(
            "get_dividends",
            json!({ "ticker": "SBER", "from_date": "2024-01-03" }),
            json!({ "source": "moex-iss", "ticker": "SBER", "from_date": "2024-01-03" }),
            true,
        );
        check(
            "get_index_constituents_metrics",
            json!({ "index_ticker": "IMOEX", "as_of_date": "2024-01-03" }),
            json!({ "source": "moex-iss", "index_ticker": "IMOEX", "as_of_date": "2024-01-03" }),
            true,
        );
        // The schema of a snapshot requires a price, so its error cannot fit the schema.
        check(
            "get_security_snapshot",
            json!({ "ticker": "SBER" }),
            json!({
                "source": "moex-iss", "ticker": "SBER", "board": "TQBR",
                "as_of": "2023-11-14T22:13:20Z",
            }),
            false,
        );
    }

    #[test]
    fn errors_of_the_simulated_exchange_say_so() {
        let args = json!({ "ticker": "SBER", "from_date": "2024-01-03", "to_date": "2024-01-05" });
        for (tool, source) in [("get_dividends", "simulated"), ("get_ohlcv_timeseries", "moex-iss")]
        {
            let (error, fits) = error_from("simulated", tool, args.clone());
            assert_eq!(error["metadata"]["source"], source, "{tool}");
            assert_eq!(
                (&error["error"]["simulated"], fits),
                (&json!(true), true),
                "{tool}: {error}"
            );
            let (real, _) = error_and_fit(tool, args.clone());
            assert_eq!(real["error"].get("simulated"), None, "{tool}");
        }
    }

    #[test]
    fn invalid_arguments_are_not_repeated() {
        let long = "x".repeat(101);
        for ticker in [json!(5), json!(long), json!({ "a": 1 }), Value::Null] {
            let (error, fits) = error_and_fit("get_dividends", json!({ "ticker": ticker }));
            assert_eq!(error["metadata"], json!({ "source": "moex-iss" }));
            assert!(!fits);
        }
    }
}
