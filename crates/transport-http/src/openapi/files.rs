//! Uploads and downloads in the OpenAPI document.

use contract::{DownloadRow, Service, UploadRow};
use serde_json::{Value, json};

use super::{parameters, responses, split_path_parameters};

pub(super) fn upload(service: &Service, row: &UploadRow, method: &str) -> Value {
    let spec = &row.spec;
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
    let mut content = json!({ "multipart/form-data": { "schema": form, "encoding": encoding } });
    if spec.raw {
        let raw = json!({ "schema": { "type": "string", "format": "binary" } });
        content["application/octet-stream"] = raw;
    }
    let in_path = contract::path_parameters(&spec.path).map(|name| {
        json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } })
    });
    let mut parameters: Vec<Value> = in_path.collect();
    parameters.push(json!({
        "name": "X-Upload-Id", "in": "header", "required": false,
        "schema": { "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$" },
        "description": "The client's own name for this upload.",
    }));
    // Two operations of one document may not share an id.
    let id = match method {
        "post" => spec.name.clone(),
        method => format!("{}_{method}", spec.name),
    };
    let answer = json!({ "application/json": { "schema": spec.output.json() } });
    let ok = json!({ "description": "ok", "content": answer });
    json!({
        "operationId": id,
        "summary": spec.title,
        "description": spec.description,
        "tags": [&*service.name],
        "parameters": parameters,
        "requestBody": { "required": true, "content": content },
        "responses": responses(ok, service, row.scope),
    })
}

pub(super) fn download(service: &Service, row: &DownloadRow) -> Value {
    let spec = &row.spec;
    let (mut all, rest) = split_path_parameters(spec.input.json(), &spec.path);
    all.extend(parameters(&rest));
    let content = match spec.media.as_deref() {
        None => json!({ "*/*": { "schema": { "type": "string", "format": "binary" } } }),
        Some(media @ "application/json") => json!({ media: { "schema": { "type": "object" } } }),
        Some(media) => json!({ media: { "schema": { "type": "string" } } }),
    };
    let ok = json!({ "description": "the file, to be saved", "content": content });
    json!({
        "operationId": spec.name,
        "summary": spec.title,
        "description": spec.description,
        "tags": [&*service.name],
        "parameters": all,
        "responses": responses(ok, service, row.scope),
    })
}
