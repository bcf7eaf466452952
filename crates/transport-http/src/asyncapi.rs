//! `/asyncapi.json`: the streams, their addresses and every message on them, generated from the
//! contracts that the pipeline enforces.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use contract::{Pipeline, Service, StreamSpec, View};
use http::header::CONTENT_TYPE;
use serde_json::{Map, Value, json};

use crate::stream::StreamOptions;

pub(crate) fn routes(
    pipeline: &Arc<Pipeline>,
    view: &View,
    version: &str,
    options: &StreamOptions,
) -> Router {
    let text: Arc<str> = Arc::from(document(pipeline, view, version, options).to_string());
    Router::new().route(
        "/asyncapi.json",
        get(move || async move { ([(CONTENT_TYPE, "application/json")], text.to_string()) }),
    )
}

/// The messages of one WebSocket address, collected from all its streams.
#[derive(Default)]
struct WsChannel {
    streams: Vec<String>,
    from_client: Map<String, Value>,
    to_client: Map<String, Value>,
}

fn document(pipeline: &Pipeline, view: &View, version: &str, options: &StreamOptions) -> Value {
    let (mut channels, mut operations) = (Map::new(), Map::new());
    let mut ws_channels: Vec<(&str, WsChannel)> = Vec::new();
    for found in pipeline.catalog().streams(view) {
        let (service, spec) = (found.service(), &*found.row().spec);
        if let Some(sse) = spec.sse.as_ref().filter(|_| options.sse) {
            let id = identifier(&sse.path);
            channels.insert(id.clone(), sse_channel(spec, &sse.path));
            operations.insert(format!("follow_{id}"), sse_operation(spec, &id, sse.query.json()));
        }
        if let Some(path) = spec.ws.as_deref().filter(|_| options.ws) {
            let at =
                ws_channels.iter().position(|(known, _)| *known == path).unwrap_or_else(|| {
                    ws_channels.push((path, WsChannel::default()));
                    ws_channels.len() - 1
                });
            ws_channels[at].1.add(service, spec);
        }
    }
    for (path, address) in ws_channels {
        address.write(path, &mut channels, &mut operations);
    }
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Stoa",
            "version": version,
            "description": "Live streams. Where the server wants a token, it is sent as a bearer \
                token, or on a WebSocket as the subprotocol `bearer.<token>` beside `stoa.v1`.",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": operations,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
    })
}

/// A path as an identifier that needs no escaping in a `$ref`.
fn identifier(path: &str) -> String {
    let name: String =
        path.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
    name.trim_matches('_').to_owned()
}

fn reference(channel: &str, message: &str) -> Value {
    json!({ "$ref": format!("#/channels/{channel}/messages/{message}") })
}

fn message(name: &str, title: &str, payload: Value) -> Value {
    json!({ "name": name, "title": title, "payload": payload })
}

fn sse_channel(spec: &StreamSpec, path: &str) -> Value {
    json!({
        "address": path,
        "title": spec.title,
        "description": spec.description,
        "messages": { "event": message("event", &spec.title, spec.event.json().clone()) },
    })
}

fn sse_operation(spec: &StreamSpec, channel: &str, query: &Value) -> Value {
    let summary = format!(
        "Server-sent events. Each `data` is an event; its `id`, where it has one, comes back as \
         `Last-Event-ID` or `{}` to go on from there.",
        spec.resume
    );
    json!({
        "action": "send",
        "channel": { "$ref": format!("#/channels/{channel}") },
        "title": spec.title,
        "summary": summary,
        "messages": [reference(channel, "event")],
        "bindings": { "http": { "method": "GET", "query": query, "bindingVersion": "0.3.0" } },
    })
}

impl WsChannel {
    fn add(&mut self, service: &Service, spec: &StreamSpec) {
        let name = identifier(&spec.name);
        self.streams.push(spec.name.clone());
        let subscribe = with(spec.input.json(), &[("id", id()), ("stream", constant(&spec.name))]);
        let subscribe = typed(subscribe, "subscribe");
        let subscribe = message("subscribe", &spec.title, subscribe);
        self.from_client.insert(format!("subscribe_{name}"), subscribe);
        let event = with(spec.event.json(), &[("id", id())]);
        self.to_client.insert(format!("event_{name}"), message("event", &spec.title, event));
        let envelope = service.errors.envelope.json();
        let nested = ["type", "id"].iter().any(|it| !envelope["properties"][*it].is_null());
        let error = match nested {
            true => json!({ "type": "object", "required": ["error"],
                "properties": { "error": envelope } }),
            false => envelope.clone(),
        };
        let source = json!({ "type": "string", "description": "Where the data come from." });
        let error = typed(with(&error, &[("id", id()), ("source", source)]), "error");
        let key = format!("error_{}", identifier(&service.name));
        self.to_client.insert(key, message("error", "What could not be done, and why", error));
    }

    fn write(
        mut self,
        path: &str,
        channels: &mut Map<String, Value>,
        operations: &mut Map<String, Value>,
    ) {
        let channel = identifier(path);
        self.add_protocol();
        let refer = |messages: &Map<String, Value>| -> Vec<Value> {
            messages.keys().map(|name| reference(&channel, name)).collect()
        };
        let at = json!({ "$ref": format!("#/channels/{channel}") });
        let receive = json!({
            "action": "receive", "channel": at, "title": "Messages from a client",
            "messages": refer(&self.from_client),
        });
        let send = json!({
            "action": "send", "channel": at, "title": "Messages to a client",
            "messages": refer(&self.to_client),
        });
        operations.insert(format!("say_{channel}"), receive);
        operations.insert(format!("hear_{channel}"), send);
        let messages: Map<String, Value> =
            self.from_client.into_iter().chain(self.to_client).collect();
        let described = format!(
            "A WebSocket with JSON text messages. Streams: {}. `stream` may be left out where \
             there is one. Events carry the `id` of their subscription: the client's, or the one made for it.",
            self.streams.join(", ")
        );
        channels.insert(
            channel,
            json!({
                "address": path,
                "description": described,
                "messages": messages,
                "bindings": { "ws": { "method": "GET", "bindingVersion": "0.1.0" } },
            }),
        );
    }

    /// Adds the messages that every address has.
    fn add_protocol(&mut self) {
        let object = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required });
        // With several streams at one address a subscription must name its stream.
        if self.streams.len() > 1 {
            for subscribe in self.from_client.values_mut() {
                if let Some(required) = subscribe["payload"]["required"].as_array_mut() {
                    required.push(Value::from("stream"));
                }
            }
        }
        let names = json!({ "type": "string", "enum": self.streams });
        let ending = json!({ "id": id(), "stream": names });
        let rows = [
            (
                true,
                "unsubscribe",
                "End the subscription with that id, or with those fields",
                ending,
                &[][..],
            ),
            (true, "ping", "Ask whether the server is there", json!({}), &[]),
            (false, "pong", "The answer to a ping", json!({}), &[]),
            (
                false,
                "subscribed",
                "Events follow; the id is the client's or one made for it",
                json!({ "id": id(), "stream": names }),
                &["id", "stream"],
            ),
            (false, "unsubscribed", "No more events follow", json!({ "id": id() }), &["id"]),
        ];
        for (from_client, kind, title, properties, required) in rows {
            let payload = typed(object(properties, required), kind);
            let into = if from_client { &mut self.from_client } else { &mut self.to_client };
            into.insert(kind.to_owned(), message(kind, title, payload));
        }
    }
}

fn id() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 64 })
}

fn constant(word: &str) -> Value {
    json!({ "type": "string", "const": word })
}

/// The schema with additional properties.
fn with(schema: &Value, more: &[(&str, Value)]) -> Value {
    let mut schema = schema.clone();
    for (name, rule) in more {
        schema["properties"][*name] = rule.clone();
    }
    schema
}

/// The schema with a required constant `type`.
fn typed(schema: Value, word: &str) -> Value {
    let mut schema = with(&schema, &[("type", constant(word))]);
    let kind = Value::from("type");
    match schema["required"].as_array_mut() {
        Some(required) => required.push(kind),
        None => schema["required"] = Value::Array(vec![kind]),
    }
    schema
}
