//! Requests that a client sends over an open connection, and the responses.

use serde::Deserialize;
use serde_json::{Value, json};

const STREAM_LENGTH_MAX: usize = 200;

/// `{"method":"SUBSCRIBE","params":["btcusdt@kline_1m"],"id":1}`
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Subscribe(Vec<String>),
    Unsubscribe(Vec<String>),
    List,
}

#[derive(Deserialize)]
struct Request {
    method: Method,
    #[serde(default)]
    params: Vec<String>,
    #[serde(default)]
    id: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Method {
    Subscribe,
    Unsubscribe,
    ListSubscriptions,
}

/// Parses a request and its id; the error is the response to send.
pub(crate) fn read(text: &str) -> Result<(Order, Value), String> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| refusal(3, &format!("Invalid JSON: {error}"), &Value::Null))?;
    let id = value.get("id").cloned().unwrap_or_default();
    if !(id.is_null() || id.is_u64() || id.is_i64() || id.is_string()) {
        let reason = "Invalid request: request ID must be an integer or a string";
        return Err(refusal(2, reason, &Value::Null));
    }
    let request: Request = serde_json::from_value(value)
        .map_err(|error| refusal(2, &format!("Invalid request: {error}"), &id))?;
    let named = request.params;
    if named.iter().any(|name| name.is_empty() || name.len() > STREAM_LENGTH_MAX) {
        return Err(refusal(2, "Invalid request: a stream name is malformed", &id));
    }
    let order = match request.method {
        Method::Subscribe | Method::Unsubscribe if named.is_empty() => {
            return Err(refusal(2, "Invalid request: no stream names were given", &id));
        }
        Method::Subscribe => Order::Subscribe(named),
        Method::Unsubscribe => Order::Unsubscribe(named),
        Method::ListSubscriptions => Order::List,
    };
    Ok((order, request.id))
}

pub(crate) fn answer(result: &Value, id: &Value) -> String {
    json!({"result": result, "id": id}).to_string()
}

/// A refusal as Binance sends it, inside `error`; its documents show it without `error`.
pub(crate) fn refusal(code: u8, reason: &str, id: &Value) -> String {
    json!({"error": {"code": code, "msg": reason}, "id": id}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(text: &str, start: &str) {
        let refusal = read(text).unwrap_err();
        assert!(refusal.starts_with(start), "{text}: {refusal}");
    }

    #[test]
    fn malformed_messages_are_refused_with_their_code() {
        check_refused("{", r#"{"error":{"code":3,"msg":"Invalid JSON: "#);
        check_refused("", r#"{"error":{"code":3,"msg":"Invalid JSON: "#);
        check_refused("[]", r#"{"error":{"code":2,"msg":"Invalid request: "#);
        check_refused(
            r#"{"id":7}"#,
            r#"{"error":{"code":2,"msg":"Invalid request: missing field `method`"#,
        );
        check_refused(
            r#"{"method":"DANCE","id":1}"#,
            r#"{"error":{"code":2,"msg":"Invalid request: unknown variant `DANCE`"#,
        );
        check_refused(
            r#"{"method":"SUBSCRIBE","params":[]}"#,
            r#"{"error":{"code":2,"msg":"Invalid"#,
        );
        check_refused(
            r#"{"method":"SUBSCRIBE","params":[1]}"#,
            r#"{"error":{"code":2,"msg":"Invalid"#,
        );
        check_refused(
            r#"{"method":"LIST_SUBSCRIPTIONS","id":[1]}"#,
            r#"{"error":{"code":2,"msg":"Inv"#,
        );
        assert!(read(r#"{"method":"DANCE","id":1}"#).unwrap_err().ends_with(r#","id":1}"#));
    }

    #[test]
    fn requests_are_read_with_their_id() {
        let text = r#"{"method":"SUBSCRIBE","params":["a@kline_1m"],"id":"x"}"#;
        let order = Order::Subscribe(vec!["a@kline_1m".to_owned()]);
        assert_eq!(read(text), Ok((order, json!("x"))));
        assert_eq!(answer(&Value::Null, &json!(1)), r#"{"result":null,"id":1}"#);
    }
}
