//! The JSON messages of the WebSocket, in both directions.

use contract::CallFailure;
use fault::Fault;
use serde_json::{Map, Value, json};

const ID_CHARS_MAX: usize = 64;

/// A message from a client.
#[derive(Debug, PartialEq)]
pub(crate) enum ClientMessage {
    Subscribe(SubscriptionRef),
    Unsubscribe(SubscriptionRef),
    Ping,
}

/// A subscription as the client names it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SubscriptionRef {
    pub(crate) id: Option<String>,
    pub(crate) stream: Option<String>,
    /// All other fields: the input of the stream.
    pub(crate) args: Map<String, Value>,
}

/// A message that is not valid, with its id where that could be read.
#[derive(Debug)]
pub(crate) struct InvalidMessage {
    pub(crate) id: Option<String>,
    pub(crate) fault: Box<Fault>,
}

pub(crate) fn read(text: &str) -> Result<ClientMessage, InvalidMessage> {
    let Ok(mut args) = serde_json::from_str::<Map<String, Value>>(text) else {
        let fault = Fault::invalid("invalid_message", "the message is not a JSON object")
            .problem("", "a JSON object");
        return Err(InvalidMessage { id: None, fault: Box::new(fault) });
    };
    let kind = args.shift_remove("type");
    let id = match args.shift_remove("id") {
        None => None,
        Some(Value::String(id)) if (1..=ID_CHARS_MAX).contains(&id.chars().count()) => Some(id),
        Some(_) => {
            let expected = format!("a text of 1 to {ID_CHARS_MAX} characters");
            return Err(InvalidMessage { id: None, fault: wrong("id", &expected) });
        }
    };
    let stream = match args.shift_remove("stream") {
        None => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => return Err(InvalidMessage { id, fault: wrong("stream", "a text") }),
    };
    let wanted = SubscriptionRef { id, stream, args };
    match kind.as_ref().and_then(Value::as_str) {
        Some("subscribe") => Ok(ClientMessage::Subscribe(wanted)),
        Some("unsubscribe") => Ok(ClientMessage::Unsubscribe(wanted)),
        Some("ping") => Ok(ClientMessage::Ping),
        _ => {
            let expected = "one of \"subscribe\", \"unsubscribe\", \"ping\"";
            Err(InvalidMessage { id: wanted.id, fault: wrong("type", expected) })
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

/// A failure as an error message. The envelope's fields are merged into the message, or put whole
/// under `error` when the envelope has a `type` or an `id` of its own. `source` says where the data of
/// the service come from.
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
    if let Some(source) = &failure.source {
        message.entry("source").or_insert_with(|| Value::from(&**source));
    }
    Value::Object(message).to_string()
}

/// The prefix of a subscription's events: `{"id":"…",`.
pub(crate) fn event_prefix(id: &str) -> String {
    format!("{{\"id\":{},", Value::from(id))
}

/// The two parts of an event's message; the event is not serialized again.
pub(crate) fn event<'a>(prefix: &'a str, json: &'a str) -> [&'a str; 2] {
    let Some(fields) = json.strip_prefix('{').filter(|_| !prefix.is_empty()) else {
        return ["", json];
    };
    match fields.trim_start().starts_with('}') {
        true => [prefix.trim_end_matches(','), fields],
        false => [prefix, fields],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: ClientMessage) {
        assert_eq!(read(text).unwrap(), expected, "{text}");
    }

    #[track_caller]
    fn check_invalid(text: &str, id: Option<&str>, field: &str) {
        let invalid = read(text).unwrap_err();
        assert_eq!(invalid.id.as_deref(), id, "{text}");
        assert_eq!(invalid.fault.problems()[0].field, field, "{text}");
    }

    #[test]
    fn other_fields_are_the_input_of_the_stream() {
        let Value::Object(args) = json!({ "symbol": "A", "n": 1 }) else { unreachable!() };
        let wanted = || SubscriptionRef {
            id: Some("x".into()),
            stream: Some("s".into()),
            args: args.clone(),
        };
        let rest = r#""id":"x","stream":"s","symbol":"A","n":1}"#;
        check(&format!("{{\"type\":\"subscribe\",{rest}"), ClientMessage::Subscribe(wanted()));
        check(&format!("{{\"type\":\"unsubscribe\",{rest}"), ClientMessage::Unsubscribe(wanted()));
        check(r#"{"type":"subscribe"}"#, ClientMessage::Subscribe(SubscriptionRef::default()));
        check(r#" {"type":"ping"} "#, ClientMessage::Ping);
    }

    #[test]
    fn an_invalid_message_names_the_field() {
        for text in ["", "nonsense", "[]", "null", "7", "\"subscribe\"", "{\"type\":"] {
            check_invalid(text, None, "");
        }
        check_invalid("{}", None, "type");
        check_invalid(r#"{"type":"subscribe!","id":"x"}"#, Some("x"), "type");
        check_invalid(r#"{"type":["subscribe"]}"#, None, "type");
        check_invalid(r#"{"type":"subscribe","id":7}"#, None, "id");
        check_invalid(r#"{"type":"subscribe","id":""}"#, None, "id");
        check_invalid(&json!({"type": "ping", "id": "é".repeat(65)}).to_string(), None, "id");
        check_invalid(r#"{"type":"subscribe","id":"x","stream":1}"#, Some("x"), "stream");
    }

    #[track_caller]
    fn check_event(id: Option<&str>, json: &str, expected: Value) {
        let prefix = id.map(event_prefix).unwrap_or_default();
        let joined = event(&prefix, json).concat();
        assert_eq!(serde_json::from_str::<Value>(&joined).unwrap(), expected);
    }

    #[test]
    fn an_id_is_put_into_an_event_without_parsing_it() {
        check_event(None, r#"{"a":1}"#, json!({"a": 1}));
        check_event(Some("x"), r#"{"a":1}"#, json!({"id": "x", "a": 1}));
        check_event(Some("a\"\\\n"), r#"{"a":1}"#, json!({"id": "a\"\\\n", "a": 1}));
        check_event(Some("x"), "{ }", json!({"id": "x"}));
    }
}
