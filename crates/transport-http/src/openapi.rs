//! `/openapi.json`, generated from the contracts that the pipeline enforces.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use contract::{HttpBinding, Pipeline, Scope, Service, SseBinding, StreamRow, View, VisibleTool};
use fault::Kind;
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
    for found in pipeline.catalog().uploads(view) {
        let (service, row) = (found.service(), found.row());
        for method in row.spec.methods() {
            let method = method.to_lowercase();
            let operation = files::upload(service, row, &method);
            add(&mut paths, &method, row.spec.paths(), &operation);
        }
    }
    for found in pipeline.catalog().downloads(view) {
        let (service, row) = (found.service(), found.row());
        add(&mut paths, "get", row.spec.paths(), &files::download(service, row));
    }
    for found in pipeline.catalog().streams(view).filter(|_| sse) {
        let (service, row) = (found.service(), found.row());
        let Some(binding) = &row.spec.sse else { continue };
        paths.insert(binding.path.clone(), json!({ "get": sse_operation(service, row, binding) }));
    }
    paths.insert("/health".to_owned(), page(&HEALTH));
    paths.insert("/metrics".to_owned(), page(&METRICS));
    let (tags, schemas) = (tags(pipeline, &paths), error_schemas(pipeline, &paths));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Stoa",
            "version": version,
            "description": "Markets, prices and documents for agents.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{}, { "bearer": [] }],
    })
}

/// A page for operators, which belongs to no contract.
struct OpenApiPage {
    operation_id: &'static str,
    summary: &'static str,
    description: &'static str,
    media: &'static str,
}

const HEALTH: OpenApiPage = OpenApiPage {
    operation_id: "server_health",
    summary: "Whether the process serves",
    description: "The status of the server and, by venue, where its data come from. The status \
        code is 200 while the process serves, also when a venue is down.",
    media: "application/json",
};
const METRICS: OpenApiPage = OpenApiPage {
    operation_id: "server_metrics",
    summary: "Prometheus metrics",
    description: "The Prometheus text format, or OpenMetrics where `Accept` asks for it.",
    media: "text/plain",
};
/// The tag of the pages for operators.
const OPERATORS: &str = "server";
/// The component with the error object of what belongs to no service.
const SERVER_ERROR: &str = "server_error";

fn page(page: &OpenApiPage) -> Value {
    let content = json!({ (page.media): {} });
    json!({ "get": {
        "operationId": page.operation_id, "summary": page.summary,
        "description": page.description, "tags": [OPERATORS], "security": [{}],
        "responses": {
            "200": { "description": "ok", "content": content },
            "403": error_response("the host name is not allowed", SERVER_ERROR),
        },
    }})
}

/// The services with an operation, in the order of the catalog.
fn used_services<'a>(
    pipeline: &'a Pipeline,
    paths: &Map<String, Value>,
) -> impl Iterator<Item = &'a Arc<Service>> {
    let operations = paths.values().filter_map(Value::as_object).flat_map(Map::values);
    let tags = operations.filter_map(|operation| operation["tags"][0].as_str());
    let used: BTreeSet<String> = tags.map(str::to_owned).collect();
    pipeline.catalog().services().iter().filter(move |service| used.contains(&*service.name))
}

/// The tags of the operations, each with the sentence of its contract.
fn tags(pipeline: &Pipeline, paths: &Map<String, Value>) -> Vec<Value> {
    let operators = json!({ "name": OPERATORS, "description": "Pages for operators." });
    used_services(pipeline, paths)
        .map(|service| json!({ "name": &*service.name, "description": service.summary }))
        .chain([operators])
        .collect()
}

/// The error object of every service with an operation, by the name of its component.
fn error_schemas(pipeline: &Pipeline, paths: &Map<String, Value>) -> Map<String, Value> {
    let mut schemas: Map<String, Value> = used_services(pipeline, paths)
        .map(|service| (error_name(service), service.errors.http_envelope.json().clone()))
        .collect();
    let text = json!({ "type": "string" });
    let error = json!({
        "type": "object", "required": ["type", "message", "retryable", "http_status"],
        "properties": {
            "type": text, "message": text, "retryable": { "type": "boolean" },
            "http_status": { "type": "integer" }, "http_code": { "type": ["string", "null"] },
            "trace_id": text, "retry_after_s": { "type": ["number", "null"] },
        },
    });
    let schema = json!({
        "type": "object", "required": ["error"], "properties": { "error": error },
    });
    schemas.insert(SERVER_ERROR.to_owned(), schema);
    schemas
}

fn error_name(service: &Service) -> String {
    format!("{}_error", service.name)
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
    let spec = &listed.tool.spec;
    let content = json!({ "application/json": { "schema": binding.body.json() } });
    let ok = json!({ "description": "ok", "content": content });
    let mut responses = responses(ok, listed.service, listed.tool.scope);
    if binding.partial {
        let description = "some of the batch is missing, and named";
        responses
            .insert("206".to_owned(), json!({ "description": description, "content": content }));
    }
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
    if listed.tool.spec.host_name() == listed.name { own } else { listed.name }
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

/// The responses of an operation by status: its success, the errors that any client must expect, and
/// all others as `default`.
fn responses(ok: Value, service: &Service, scope: Scope) -> Map<String, Value> {
    let name = error_name(service);
    let has_scope = scope != Scope::Open;
    let kinds = [
        (true, Kind::Invalid, "the request is wrong; the error says where"),
        (has_scope, Kind::Unauthenticated, "the token is missing, invalid or expired"),
        (has_scope, Kind::Forbidden, "the token does not permit this"),
        (true, Kind::RateLimited, "too many requests; `Retry-After` has the time to wait"),
    ];
    let mut responses = Map::from_iter([("200".to_owned(), ok)]);
    for (_, kind, description) in kinds.into_iter().filter(|(applies, ..)| *applies) {
        let status = service.errors.kind_row(kind).http_status.to_string();
        responses.entry(status).or_insert_with(|| error_response(description, &name));
    }
    let description = "the error envelope, with a status that fits it";
    responses.insert("default".to_owned(), error_response(description, &name));
    responses
}

fn error_response(description: &str, schema: &str) -> Value {
    let schema = json!({ "$ref": format!("#/components/schemas/{schema}") });
    json!({ "description": description, "content": { "application/json": { "schema": schema } } })
}

/// The operation of a server-sent event stream.
fn sse_operation(service: &Service, row: &StreamRow, binding: &SseBinding) -> Value {
    let spec = &row.spec;
    let mut parameters = parameters(binding.query.json());
    parameters.push(json!({
        "name": "Last-Event-ID", "in": "header", "required": false,
        "schema": { "type": "string" },
        "description": format!("The id of the last event; goes before `{}`.", spec.resume),
    }));
    let content = json!({ "text/event-stream": { "schema": spec.event.json() } });
    let responses = responses(
        json!({ "description": "each `data` is an event of this shape", "content": content }),
        service,
        row.scope,
    );
    json!({
        "operationId": format!("stream_{}", spec.name),
        "summary": spec.title,
        "description": spec.description,
        "tags": [&*service.name],
        "parameters": parameters,
        "responses": responses,
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
