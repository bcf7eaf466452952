//! A fault in this contract's words: `metadata` from the request, `data` empty, `error` set.

use contract::{Envelope, FailureContext};
use fault::Fault;
use serde_json::{Map, Value, json};

/// Fields of a request that an answer's metadata repeats.
const REPEATED: [&str; 9] = [
    "ticker",
    "board",
    "interval",
    "from_date",
    "to_date",
    "index_ticker",
    "as_of_date",
    "query",
    "tickers",
];

pub(crate) struct Iss;

impl Envelope for Iss {
    fn repeats_request(&self) -> bool {
        true
    }

    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        let mut metadata = Map::new();
        metadata.insert("source".to_owned(), Value::from("moex-iss"));
        for name in REPEATED {
            // Only what could be a field's value: a wrong one may be of any size and kind.
            let value = cx.args.get(name).filter(|value| fits(value));
            metadata.extend(value.map(|value| (name.to_owned(), value.clone())));
        }
        let problems: Value = fault
            .problems()
            .iter()
            .map(|it| json!({ "field": it.field, "expected": it.expected }))
            .collect();
        json!({
            "metadata": metadata,
            "data": if cx.tool == "get_security_snapshot" { json!({}) } else { json!([]) },
            "metrics": null,
            "error": {
                "error_type": kind(fault, cx),
                "message": fault.message(),
                "details": {
                    "problems": problems,
                    "retryable": cx.row.retryable,
                    "retry_after_s": fault.retry_wait().map(|wait| wait.as_secs_f64().ceil()),
                    "request_id": cx.request_id,
                },
            },
        })
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        self.tool_error(fault, cx)
    }
}

fn fits(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= 100,
        Value::Array(list) => {
            list.len() <= 20 && list.iter().all(|it| it.as_str().is_some_and(|it| it.len() <= 100))
        }
        _ => false,
    }
}

/// An index that the schema does not list is still an index we do not know.
fn kind<'a>(fault: &Fault, cx: &FailureContext<'a>) -> &'a str {
    let asked = cx.args.get("index_ticker").is_some_and(Value::is_string);
    let index = fault.problems().iter().any(|it| it.field == "index_ticker");
    if fault.code() == "invalid_input" && asked && index {
        return "UNKNOWN_INDEX";
    }
    &cx.row.r#type
}
