//! Uploads and downloads in the OpenAPI document.

use contract::{DownloadSpec, Service, UploadSpec};
use serde_json::{Value, json};

use super::{error_response, parameters, split_path_parameters};

pub(super) fn upload(service: &Service, spec: &UploadSpec) -> Value {
    let mut form = spec.form.json().clone();
    let file = json!({ "type": "string", "format": "binary", "description": format!(
        "A file of at most {} bytes; further files are further parts, of at most {} bytes together.",
        spec.file_bytes, spec.batch_bytes,
    )});
    // Objects and lists are sent as JSON text, so their parts have the media type of JSON.
    let fields = form["properties"].as_object().into_iter().flatten();
    let structured = fields.filter(|(_, rule)| rule["type"] == "object" || rule["type"] == "array");
    let encoding: serde_json::Map<String, Value> = structured
        .map(|(name, _)| (name.clone(), json!({ "contentType": "application/json" })))
        .collect();
    form["type"] = Value::from("object");
    form["properties"]["file"] = file;
    let mut required: Vec<Value> = form["required"].as_array().cloned().unwrap_or_default();
    required.push(Value::from("file"));
    form["required"] = Value::from(required);
    let content = json!({ "multipart/form-data": { "schema": form, "encoding": encoding } });
    let answer = json!({ "application/json": { "schema": spec.output.json() } });
    json!({
        "operationId": spec.name,
        "summary": spec.title,
        "description": spec.description,
        "tags": [&*service.name],
        "parameters": [{
            "name": "X-Upload-Id", "in": "header", "required": false,
            "schema": { "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$" },
            "description": "The client's own name for this upload.",
        }],
        "requestBody": { "required": true, "content": content },
        "responses": {
            "200": { "description": "ok", "content": answer },
            "default": error_response(&service.errors),
        },
    })
}

pub(super) fn download(service: &Service, spec: &DownloadSpec) -> Value {
    let (mut all, rest) = split_path_parameters(spec.input.json(), &spec.path);
    all.extend(parameters(&rest));
    json!({
        "operationId": spec.name,
        "summary": spec.title,
        "description": spec.description,
        "tags": [&*service.name],
        "parameters": all,
        "responses": {
            "200": {
                "description": "the file, to be saved",
                "content": { "*/*": { "schema": { "type": "string", "format": "binary" } } },
            },
            "default": error_response(&service.errors),
        },
    })
}
