//! The arguments of `stoa call`: a JSON object, `-` for an object on stdin, and `name=value` words,
//! whose types come from the tool's input schema. Later words override earlier ones.

use serde_json::{Map, Value};

use crate::config::did_you_mean;

/// Parses the words; `stdin` is the text for `-`.
pub(super) fn parse(
    words: &[String],
    schema: &Value,
    stdin: Option<&str>,
) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    for word in words {
        match word.as_str() {
            "-" => arguments.extend(parse_object(stdin.unwrap_or_default())?),
            word if word.trim_start().starts_with('{') => arguments.extend(parse_object(word)?),
            word => match parse_pair(word) {
                Some(pair) => set_member(&mut arguments, &pair, schema)?,
                None => arguments.extend(parse_object(word)?),
            },
        }
    }
    Ok(arguments)
}

fn parse_object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err("the arguments must be a JSON object, or words like name=value".to_owned()),
        Err(error) => Err(format!("the arguments are neither JSON ({error}) nor name=value")),
    }
}

/// A word `name=value`, or `name:=JSON`.
struct Pair<'a> {
    name: &'a str,
    value: &'a str,
    is_json: bool,
}

fn parse_pair(word: &str) -> Option<Pair<'_>> {
    let (name, value) = word.split_once('=')?;
    let (name, is_json) = name.strip_suffix(':').map_or((name, false), |name| (name, true));
    let is_allowed = |it: char| it.is_alphanumeric() || "_.-".contains(it);
    let is_name = !name.is_empty() && name.chars().all(is_allowed);
    is_name.then_some(Pair { name, value, is_json })
}

/// Sets a member; a dot in the name separates an object from its member.
fn set_member(
    arguments: &mut Map<String, Value>,
    pair: &Pair<'_>,
    schema: &Value,
) -> Result<(), String> {
    let (name, rest) = match pair.name.split_once('.') {
        Some((name, rest)) => (name, Some(rest)),
        None => (pair.name, None),
    };
    let rule = member_schema(schema, name)?;
    if let Some(rest) = rest {
        let inner = arguments.entry(name).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(inner) = inner else { return Err(format!("{name} is not an object")) };
        return set_member(inner, &Pair { name: rest, ..*pair }, rule);
    }
    let value = match pair.is_json {
        true => serde_json::from_str(pair.value)
            .map_err(|error| format!("the value of {name} is not JSON: {error}"))?,
        false => parse_value(pair.value, rule),
    };
    match (arguments.get_mut(name), value) {
        // A list may be given by several words.
        (Some(Value::Array(before)), Value::Array(more)) => before.extend(more),
        (_, value) => drop(arguments.insert(name.to_owned(), value)),
    }
    Ok(())
}

/// The schema of a member; an unknown member is an error only where the schema is closed.
fn member_schema<'a>(schema: &'a Value, name: &str) -> Result<&'a Value, String> {
    let Some(rules) = schema["properties"].as_object() else { return Ok(&Value::Null) };
    match rules.get(name) {
        Some(rule) => Ok(rule),
        None if schema["additionalProperties"] == false => {
            let near = did_you_mean(name, rules.keys().map(String::as_str));
            Err(format!("there is no argument {name:?}{near}"))
        }
        None => Ok(&Value::Null),
    }
}

/// The value as a type that the schema allows; text if it fits none, which the input schema then
/// refuses.
fn parse_value(text: &str, rule: &Value) -> Value {
    let types: Vec<&str> = match &rule["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let parsed = || serde_json::from_str::<Value>(text).ok();
    let fits = |value: &Value| match value {
        Value::Number(_) => types.iter().any(|it| ["integer", "number"].contains(it)),
        Value::Bool(_) => types.contains(&"boolean"),
        Value::Null => types.contains(&"null"),
        Value::Array(_) => types.contains(&"array"),
        Value::Object(_) => types.contains(&"object"),
        Value::String(_) => false,
    };
    if let Some(value) = parsed().filter(fits) {
        return value;
    }
    if types.contains(&"array") {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        return items.map(|item| parse_value(item, &rule["items"])).collect();
    }
    match types.is_empty() {
        true => parsed().unwrap_or_else(|| Value::from(text)),
        false => Value::from(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "tickers": { "type": "array", "items": { "type": "string" } },
                "windows": { "type": "array", "items": { "type": "integer" } },
                "limit": { "type": "integer" },
                "price": { "type": ["number", "null"] },
                "interval": { "type": "string" },
                "all": { "type": "boolean" },
                "policy": {
                    "type": "object",
                    "properties": { "mode": { "type": "string" }, "max": { "type": "number" } },
                },
                "any": {},
            },
        })
    }

    fn parse_words(words: &[&str], stdin: Option<&str>) -> Result<Value, String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        parse(&words, &schema(), stdin).map(Value::Object)
    }

    #[track_caller]
    fn check(words: &[&str], expected: Value) {
        assert_eq!(parse_words(words, Some("{\"limit\": 9}")), Ok(expected), "{words:?}");
    }

    #[test]
    fn values_get_the_type_of_the_schema() {
        check(&[], json!({}));
        check(&["tickers=BTCUSDT"], json!({ "tickers": ["BTCUSDT"] }));
        check(&["tickers=A, B,"], json!({ "tickers": ["A", "B"] }));
        check(&["tickers=A", "tickers=B"], json!({ "tickers": ["A", "B"] }));
        check(&["tickers=[\"A,B\"]"], json!({ "tickers": ["A,B"] }));
        check(&["windows=7,14"], json!({ "windows": [7, 14] }));
        check(&["limit=3", "all=true"], json!({ "limit": 3, "all": true }));
        check(&["limit=many"], json!({ "limit": "many" }));
        check(&["price=12.90"], json!({ "price": 12.90 }));
        check(&["price=null"], json!({ "price": null }));
        check(&["interval=1"], json!({ "interval": "1" }));
        check(&["interval=a=b"], json!({ "interval": "a=b" }));
        check(
            &["policy.mode=auto", "policy.max=5"],
            json!({ "policy": { "mode": "auto", "max": 5 } }),
        );
        check(&["policy={\"mode\":\"auto\"}"], json!({ "policy": { "mode": "auto" } }));
        check(&["any=1", "interval:=\"x\""], json!({ "any": 1, "interval": "x" }));
        check(&["any=text"], json!({ "any": "text" }));
    }

    #[test]
    fn an_object_may_come_first_or_from_stdin() {
        check(&["{\"limit\": 1}", "limit=2"], json!({ "limit": 2 }));
        check(&["-"], json!({ "limit": 9 }));
        check(&["-", "all=false"], json!({ "limit": 9, "all": false }));
    }

    #[test]
    fn invalid_words_are_refused() {
        for (words, expected) in [
            (&["[1]"][..], "must be a JSON object"),
            (&["BTCUSDT"], "neither JSON"),
            (&["{\"limit\":"], "neither JSON"),
            (&["ticker=A"], "there is no argument \"ticker\"; did you mean tickers?"),
            (&["limit:=x"], "the value of limit is not JSON"),
            (&["limit=1", "limit.x=2"], "limit is not an object"),
        ] {
            let error = parse_words(words, None).unwrap_err();
            assert!(error.contains(expected), "{words:?}: {error}");
        }
    }
}
