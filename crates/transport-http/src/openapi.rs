//! `/openapi.json`, generated from the contracts that the pipeline enforces.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use contract::{
    ErrorTable, HttpBinding, Pipeline, Service, SseBinding, StreamSpec, View, VisibleTool,
};
use http::header::CONTENT_TYPE;
use serde_json::{Map, Value, json};

mod files;

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
        let method = binding.method.to_lowercase();
        add(&mut paths, &method, binding.paths(), &operation(&listed, binding));
    }
    for (service, row) in pipeline.catalog().uploads(view) {
        add(&mut paths, "post", row.spec.paths(), &files::upload(service, &row.spec));
    }
    for (service, row) in pipeline.catalog().downloads(view) {
        add(&mut paths, "get", row.spec.paths(), &files::download(service, &row.spec));
    }
    for (service, row) in pipeline.catalog().streams(view).filter(|_| sse) {
        let Some(binding) = &row.spec.sse else { continue };
        paths.insert(
            binding.path.clone(),
            json!({ "get": sse_operation(service, &row.spec, binding) }),
        );
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
        "servers": [{ "url": "/" }],
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

/// Adds the operation at each of its paths, with a distinct `operationId` each.
fn add<'a>(
    paths: &mut Map<String, Value>,
    method: &str,
    at: impl Iterator<Item = &'a str>,
    operation: &Value,
) {
    for (index, path) in at.enumerate() {
        let mut operation = operation.clone();
        if let (1.., Some(id)) = (index, operation["operationId"].as_str()) {
            operation["operationId"] = Value::from(format!("{id}_{}", index + 1));
        }
        let entry = paths.entry(path).or_insert_with(|| json!({}));
        entry[method] = operation;
    }
}

fn operation(listed: &VisibleTool<'_>, binding: &HttpBinding) -> Value {
    let (spec, errors) = (&listed.tool.spec, &listed.service.errors);
    let content = json!({ "application/json": { "schema": binding.body.json() } });
    let mut responses = Map::new();
    responses.insert("200".to_owned(), json!({ "description": "ok", "content": content }));
    if binding.partial {
        let description = "some of the batch is missing, and named";
        responses
            .insert("206".to_owned(), json!({ "description": description, "content": content }));
    }
    responses.insert("default".to_owned(), error_response(errors));
    let mut operation = json!({
        "operationId": operation_id(listed),
        "summary": spec.title,
        "description": spec.description,
        "tags": [&*listed.service.name],
        "responses": responses,
    });
    let mut input = spec.input_for(false).json().clone();
    if let Some(credential) = &listed.service.access.credential_argument {
        remove_property(&mut input, credential);
    }
    let (in_path, rest) = split_path_parameters(&input, &binding.path);
    if binding.has_body() {
        let required = rest["required"].as_array().is_some_and(|names| !names.is_empty());
        let content = json!({ "application/json": { "schema": rest } });
        // Without path arguments the body is always marked as required.
        let required = required || in_path.is_empty();
        operation["requestBody"] = json!({ "required": required, "content": content });
        if !in_path.is_empty() {
            operation["parameters"] = Value::from(in_path);
        }
    } else {
        operation["parameters"] = in_path.into_iter().chain(parameters(&rest)).collect();
    }
    operation
}

/// The contract's name of a tool, or the name with the service in front if two services share it.
fn operation_id<'a>(listed: &VisibleTool<'a>) -> &'a str {
    let own = &listed.tool.spec.name;
    if contract::host_safe(own) == listed.name { own } else { listed.name }
}

/// Removes a property from an object schema and returns its rule.
fn remove_property(schema: &mut Value, name: &str) -> Value {
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|it| it != name);
    }
    let properties = schema["properties"].as_object_mut();
    properties.and_then(|it| it.shift_remove(name)).unwrap_or_default()
}

/// Splits an input schema into the path parameters and the schema of the other arguments.
fn split_path_parameters(input: &Value, path: &str) -> (Vec<Value>, Value) {
    let mut rest = input.clone();
    let in_path = contract::path_parameters(path).map(|name| {
        let rule = remove_property(&mut rest, name);
        json!({
            "name": name, "in": "path", "required": true, "schema": rule,
            "description": rule["description"].as_str().unwrap_or_default(),
        })
    });
    (in_path.collect(), rest)
}

fn error_response(errors: &ErrorTable) -> Value {
    json!({
        "description": "the error envelope, with a status that fits it",
        "content": { "application/json": { "schema": errors.http_envelope.json() } },
    })
}

/// The operation of a server-sent event stream.
fn sse_operation(service: &Service, spec: &StreamSpec, binding: &SseBinding) -> Value {
    let mut parameters = parameters(binding.query.json());
    parameters.push(json!({
        "name": "Last-Event-ID", "in": "header", "required": false,
        "schema": { "type": "string" },
        "description": format!("The id of the last event; goes before `{}`.", spec.resume),
    }));
    let content = json!({ "text/event-stream": { "schema": spec.event.json() } });
    json!({
        "operationId": format!("stream_{}", spec.name),
        "summary": spec.title,
        "description": spec.description,
        "tags": [&*service.name],
        "parameters": parameters,
        "responses": {
            "200": { "description": "each `data` is an event of this shape", "content": content },
            "default": error_response(&service.errors),
        },
    })
}

/// Query parameters of an input schema; a list is one comma-separated parameter.
fn parameters(input: &Value) -> Vec<Value> {
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
