//! A query string as tool arguments: the input schema says which parameters are lists and numbers.
//!
//! A value that does not convert is passed on as text, so that the schema refuses it and names the
//! field. This module itself refuses only a parameter that occurs twice and is not a list, because
//! the schema would see one value.

use fault::Fault;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// How many characters of a parameter's name an error repeats.
const NAME_SHOWN_MAX: usize = 64;

/// Converts a query string. A list may be a repeated parameter or a comma-separated value, because
/// clients write both.
pub(crate) fn arguments(query: &str, schema: &Value) -> Result<Map<String, Value>, Fault> {
    let mut args = Map::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decode(name), decode(value));
        match (self::value(&value, &name, schema), args.get_mut(&name)) {
            (Value::Array(more), Some(Value::Array(list))) => list.extend(more),
            (value, None) => _ = args.insert(name, value),
            (_, Some(_)) => return Err(repeated(&name)),
        }
    }
    Ok(args)
}

/// The fault for a parameter that has two values and is not a list.
fn repeated(name: &str) -> Fault {
    let shown: String = name.chars().take(NAME_SHOWN_MAX).collect();
    let expected = "one value";
    Fault::invalid("repeated_parameter", format!("{shown}: expected {expected}, not several"))
        .problem(shown, expected)
}

/// Converts one value to the type that the schema gives the property `name`.
pub(crate) fn value(text: &str, name: &str, schema: &Value) -> Value {
    let rule =
        schema.pointer(&format!("/properties/{}", name.replace('~', "~0").replace('/', "~1")));
    match rule.and_then(|rule| rule["type"].as_str()).unwrap_or("string") {
        "array" => text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(Value::from)
            .collect(),
        "integer" | "number" => {
            let number = serde_json::from_str(text).ok().filter(Value::is_number);
            number.unwrap_or_else(|| Value::from(text))
        }
        "boolean" => text.parse().map_or_else(|_| Value::from(text), Value::Bool),
        _ => Value::from(text),
    }
}

/// Percent-decoding with `+` for a space.
fn decode(text: &str) -> String {
    percent_decoded(&text.replace('+', " "))
}

/// Percent-decodes a text. Bytes that are not UTF-8 become U+FFFD, which no valid name contains.
pub(crate) fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(query: &str, expected: Value) {
        let schema = json!({ "properties": {
            "tickers": { "type": "array" }, "page": { "type": "integer" },
            "from": { "type": "string" }, "deep": { "type": "boolean" },
        }});
        assert_eq!(Value::Object(arguments(query, &schema).unwrap()), expected, "{query}");
    }

    #[test]
    fn what_is_there_twice_is_refused_unless_it_is_a_list() {
        let schema = json!({ "properties": { "page": { "type": "integer" } }});
        for (query, field) in [
            ("page=1&page=2", "page"),
            ("page=1&page=1", "page"),
            ("page=1&p%61ge=2", "page"),
            ("x=1&page=1&x=", "x"),
        ] {
            let fault = arguments(query, &schema).unwrap_err();
            assert_eq!((fault.code(), &*fault.problems()[0].field), ("repeated_parameter", field));
        }
    }

    #[test]
    fn lists_numbers_and_text() {
        check("tickers=A,B&page=2", json!({"tickers": ["A", "B"], "page": 2}));
        check("tickers=A&tickers=B,%20C", json!({"tickers": ["A", "B", "C"]}));
        check("from=2024-01-01&deep=true", json!({"from": "2024-01-01", "deep": true}));
        check("tickers=BINANCE%3ABTCUSDT", json!({"tickers": ["BINANCE:BTCUSDT"]}));
        check("", json!({}));
    }

    #[test]
    fn what_does_not_convert_is_left_for_the_schema_to_refuse() {
        check("page=two&deep=perhaps", json!({"page": "two", "deep": "perhaps"}));
        check("page=", json!({"page": ""}));
        check("tickers=", json!({"tickers": []}));
        check("unknown=1&a~b/c=%zz%", json!({"unknown": "1", "a~b/c": "%zz%"}));
        check("from=%ff", json!({"from": "\u{fffd}"}));
    }
}
