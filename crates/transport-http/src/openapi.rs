//! `/openapi.json`, generated from the same contracts that are enforced.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use contract::{ErrorTable, Listed, Pipeline, Service, SseBinding, StreamSpec, View};
use http::header::CONTENT_TYPE;
use serde_json::{Map, Value, json};

pub(crate) fn routes(pipeline: &Arc<Pipeline>, view: &View, version: &str, sse: bool) -> Router {
    let text: Arc<str> = Arc::from(document(pipeline, view, version, sse).to_string());
    Router::new().route(
        "/openapi.json",
        get(move || async move { ([(CONTENT_TYPE, "application/json")], text.to_string()) }),
    )
}

fn document(pipeline: &Pipeline, view: &View, version: &str, sse: bool) -> Value {
    let mut paths = Map::new();
    for listed in pipeline.catalog().list(view) {
        let Some(binding) = &listed.tool.spec.http else { continue };
        let operation = operation(&listed);
        paths.insert(binding.path.clone(), json!({ (binding.method.to_lowercase()): operation }));
    }
    for (service, row) in pipeline.catalog().streams(view).filter(|_| sse) {
        let Some(binding) = &row.spec.sse else { continue };
        paths.insert(binding.path.clone(), json!({ "get": follow(service, &row.spec, binding) }));
    }
    paths.insert("/health".to_owned(), plain("Whether the process serves", "application/json"));
    paths.insert("/metrics".to_owned(), plain("Prometheus metrics", "text/plain"));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Stoa",
            "version": version,
            "description": "Markets, prices and documents for agents.",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{}, { "bearer": [] }],
    })
}

fn plain(summary: &str, media: &str) -> Value {
    json!({ "get": {
        "summary": summary, "security": [{}],
        "responses": { "200": { "description": "ok", "content": { (media): {} } } },
    }})
}

fn operation(listed: &Listed<'_>) -> Value {
    let (spec, errors) = (&listed.tool.spec, &listed.service.errors);
    let body = spec.http.as_ref().map_or(Value::Null, |binding| binding.body.json().clone());
    let partial = spec.http.as_ref().is_some_and(|binding| binding.partial);
    let content = json!({ "application/json": { "schema": body } });
    let mut responses = Map::new();
    responses.insert("200".to_owned(), json!({ "description": "ok", "content": content }));
    if partial {
        let description = "some of the batch is missing, and named";
        responses
            .insert("206".to_owned(), json!({ "description": description, "content": content }));
    }
    responses.insert("default".to_owned(), failed(errors));
    let mut operation = json!({
        "operationId": spec.name,
        "summary": spec.title,
        "description": spec.description,
        "tags": [&*listed.service.name],
        "responses": responses,
    });
    if spec.http.as_ref().is_some_and(|binding| binding.method == "POST") {
        let content = json!({ "application/json": { "schema": spec.input.json() } });
        operation["requestBody"] = json!({ "required": true, "content": content });
    } else {
        operation["parameters"] = parameters(spec.input.json());
    }
    operation
}

fn failed(errors: &ErrorTable) -> Value {
    json!({
        "description": "the error envelope, with a status that fits it",
        "content": { "application/json": { "schema": errors.http_envelope.json() } },
    })
}

/// A stream as server-sent events.
fn follow(service: &Service, spec: &StreamSpec, binding: &SseBinding) -> Value {
    let mut parameters = parameters(binding.query.json());
    if let Some(parameters) = parameters.as_array_mut() {
        parameters.push(json!({
            "name": "Last-Event-ID", "in": "header", "required": false,
            "schema": { "type": "string" },
            "description": format!("The id of the last event; goes before `{}`.", spec.resume),
        }));
    }
    let content = json!({ "text/event-stream": { "schema": spec.event.json() } });
    json!({
        "operationId": format!("stream_{}", spec.name),
        "summary": spec.title,
        "description": spec.description,
        "tags": [&*service.name],
        "parameters": parameters,
        "responses": {
            "200": { "description": "each `data` is an event of this shape", "content": content },
            "default": failed(&service.errors),
        },
    })
}

/// Lists travel as one comma-separated parameter.
fn parameters(input: &Value) -> Value {
    let required: Vec<&str> =
        input["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let parameter = |(name, rule): (&String, &Value)| {
        json!({
            "name": name, "in": "query", "required": required.contains(&name.as_str()),
            "schema": rule, "style": "form", "explode": false,
            "description": rule["description"].as_str().unwrap_or_default(),
        })
    };
    input["properties"].as_object().into_iter().flatten().map(parameter).collect()
}
