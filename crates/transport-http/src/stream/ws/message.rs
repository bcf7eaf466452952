//! The messages of the WebSocket, both ways: what a client asks, and what it is told beside events.

use contract::CallFailure;
use fault::Fault;
use serde_json::{Map, Value, json};

const ID_CHARS_MAX: usize = 64;

/// What a client asks for.
#[derive(Debug, PartialEq)]
pub(crate) enum Asked {
    Subscribe(Named),
    Unsubscribe(Named),
    Ping,
}

/// A subscription as its client spells it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Named {
    pub(crate) id: Option<String>,
    pub(crate) stream: Option<String>,
    /// Everything else: the stream's own input.
    pub(crate) args: Map<String, Value>,
}

/// A message that could not be taken, with its id where that could be read.
#[derive(Debug)]
pub(crate) struct Misread {
    pub(crate) id: Option<String>,
    pub(crate) fault: Box<Fault>,
}

pub(crate) fn read(text: &str) -> Result<Asked, Misread> {
    let Ok(mut args) = serde_json::from_str::<Map<String, Value>>(text) else {
        let fault = Fault::invalid("invalid_message", "the message is not a JSON object")
            .problem("", "a JSON object");
        return Err(Misread { id: None, fault: Box::new(fault) });
    };
    let kind = args.shift_remove("type");
    let id = match args.shift_remove("id") {
        None => None,
        Some(Value::String(id)) if (1..=ID_CHARS_MAX).contains(&id.chars().count()) => Some(id),
        Some(_) => {
            let expected = format!("a text of 1 to {ID_CHARS_MAX} characters");
            return Err(Misread { id: None, fault: wrong("id", &expected) });
        }
    };
    let stream = match args.shift_remove("stream") {
        None => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => return Err(Misread { id, fault: wrong("stream", "a text") }),
    };
    let named = Named { id, stream, args };
    match kind.as_ref().and_then(Value::as_str) {
        Some("subscribe") => Ok(Asked::Subscribe(named)),
        Some("unsubscribe") => Ok(Asked::Unsubscribe(named)),
        Some("ping") => Ok(Asked::Ping),
        _ => {
            let expected = "one of \"subscribe\", \"unsubscribe\", \"ping\"";
            Err(Misread { id: named.id, fault: wrong("type", expected) })
        }
    }
}

fn wrong(field: &str, expected: &str) -> Box<Fault> {
    let message = format!("invalid message: {field}: expected {expected}");
    Box::new(Fault::invalid("invalid_message", message).problem(field, expected))
}

pub(crate) const PONG: &str = r#"{"type":"pong"}"#;

pub(crate) fn subscribed(id: &str, stream: &str) -> String {
    json!({ "type": "subscribed", "id": id, "stream": stream }).to_string()
}

pub(crate) fn unsubscribed(id: &str) -> String {
    json!({ "type": "unsubscribed", "id": id }).to_string()
}

/// A failure in the words of its contract. An envelope that has a `type` or an `id` of its own is
/// told whole, under `error`.
pub(crate) fn error(id: Option<&str>, failure: CallFailure) -> String {
    let mut message = Map::new();
    message.insert("type".to_owned(), Value::from("error"));
    if let Some(id) = id {
        message.insert("id".to_owned(), Value::from(id));
    }
    match failure.tool_error {
        Value::Object(fields) if !fields.contains_key("type") && !fields.contains_key("id") => {
            message.extend(fields);
        }
        envelope => _ = message.insert("error".to_owned(), envelope),
    }
    Value::Object(message).to_string()
}

/// How the events of a subscription begin: `{"id":"…",`.
pub(crate) fn opening(id: &str) -> String {
    format!("{{\"id\":{},", Value::from(id))
}

/// The two parts of an event's message, which is not serialized again.
pub(crate) fn event<'a>(opening: &'a str, json: &'a str) -> [&'a str; 2] {
    let Some(fields) = json.strip_prefix('{').filter(|_| !opening.is_empty()) else {
        return ["", json];
    };
    match fields.trim_start().starts_with('}') {
        true => [opening.trim_end_matches(','), fields],
        false => [opening, fields],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Asked) {
        assert_eq!(read(text).unwrap(), expected, "{text}");
    }

    #[track_caller]
    fn check_misread(text: &str, id: Option<&str>, field: &str) {
        let misread = read(text).unwrap_err();
        assert_eq!(misread.id.as_deref(), id, "{text}");
        assert_eq!(misread.fault.problems()[0].field, field, "{text}");
    }

    #[test]
    fn what_is_not_the_protocol_s_own_is_the_stream_s() {
        let Value::Object(args) = json!({ "symbol": "A", "n": 1 }) else { unreachable!() };
        let named = || Named { id: Some("x".into()), stream: Some("s".into()), args: args.clone() };
        let rest = r#""id":"x","stream":"s","symbol":"A","n":1}"#;
        check(&format!("{{\"type\":\"subscribe\",{rest}"), Asked::Subscribe(named()));
        check(&format!("{{\"type\":\"unsubscribe\",{rest}"), Asked::Unsubscribe(named()));
        check(r#"{"type":"subscribe"}"#, Asked::Subscribe(Named::default()));
        check(r#" {"type":"ping"} "#, Asked::Ping);
    }

    #[test]
    fn what_cannot_be_taken_names_its_field() {
        for text in ["", "nonsense", "[]", "null", "7", "\"subscribe\"", "{\"type\":"] {
            check_misread(text, None, "");
        }
        check_misread("{}", None, "type");
        check_misread(r#"{"type":"subscribe!","id":"x"}"#, Some("x"), "type");
        check_misread(r#"{"type":["subscribe"]}"#, None, "type");
        check_misread(r#"{"type":"subscribe","id":7}"#, None, "id");
        check_misread(r#"{"type":"subscribe","id":""}"#, None, "id");
        check_misread(&json!({"type": "ping", "id": "é".repeat(65)}).to_string(), None, "id");
        check_misread(r#"{"type":"subscribe","id":"x","stream":1}"#, Some("x"), "stream");
    }

    #[track_caller]
    fn check_event(id: Option<&str>, json: &str, expected: Value) {
        let opening = id.map(opening).unwrap_or_default();
        let joined = event(&opening, json).concat();
        assert_eq!(serde_json::from_str::<Value>(&joined).unwrap(), expected);
    }

    #[test]
    fn an_id_is_put_into_an_event_without_reading_it() {
        check_event(None, r#"{"a":1}"#, json!({"a": 1}));
        check_event(Some("x"), r#"{"a":1}"#, json!({"id": "x", "a": 1}));
        check_event(Some("a\"\\\n"), r#"{"a":1}"#, json!({"id": "a\"\\\n", "a": 1}));
        check_event(Some("x"), "{ }", json!({"id": "x"}));
    }
}
