//! `/docs`: one HTML page with every tool of every service, and `/`, which redirects there.
//!
//! The page is built once from the contracts. It has no scripts and loads nothing.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::response::{Html, Redirect};
use axum::routing::get;
use contract::{DownloadRow, Pipeline, RowRef, Service, StreamRow, UploadRow, View, VisibleTool};
use http::header::{CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};
use serde_json::Value;

use crate::mounted::ToolEndpoint;
use crate::stream::StreamOptions;

const STYLE: &str = include_str!("docs/style.css");

pub(crate) fn routes(
    pipeline: &Arc<Pipeline>,
    view: &View,
    streams: &StreamOptions,
    endpoints: &[ToolEndpoint],
) -> Router {
    let page: Arc<str> = Arc::from(page(pipeline, view, streams, endpoints));
    let safe = [
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Router::new()
        .route("/docs", get(move || async move { (safe, Html(page.to_string())) }))
        .route("/", get(|| async { Redirect::temporary("/docs") }))
}

fn page(
    pipeline: &Pipeline,
    view: &View,
    options: &StreamOptions,
    endpoints: &[ToolEndpoint],
) -> String {
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Stoa</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <style>{STYLE}</style></head><body><header><h1>Stoa</h1>\
         <p>Markets, prices and documents for agents. {}</p>\
         <p><a href=\"/openapi.json\">OpenAPI</a> · <a href=\"/asyncapi.json\">AsyncAPI</a> · \
         <a href=\"/health\">health</a> · <a href=\"/metrics\">metrics</a></p></header><main>",
        protocols(endpoints),
    );
    for service in pipeline.catalog().services() {
        let tools: Vec<VisibleTool<'_>> =
            pipeline.catalog().list(view).filter(|it| it.service.name == service.name).collect();
        let catalog = pipeline.catalog();
        let streams = catalog.streams(view).filter(|it| it.service().name == service.name);
        let streams: Vec<&StreamRow> = streams.map(RowRef::row).collect();
        let uploads = catalog.uploads(view).filter(|it| it.service().name == service.name);
        let downloads = catalog.downloads(view).filter(|it| it.service().name == service.name);
        let files = files(uploads.map(RowRef::row), downloads.map(RowRef::row));
        if tools.is_empty() && streams.is_empty() && files.is_empty() {
            continue;
        }
        open_section(&mut page, service, endpoints);
        for listed in &tools {
            tool(&mut page, listed, endpoints);
        }
        page.push_str(&files);
        for row in streams {
            stream(&mut page, row, options);
        }
        page.push_str("</section>");
    }
    page.push_str("</main></body></html>");
    page
}

/// The sentence that says over which protocols the tools answer.
fn protocols(endpoints: &[ToolEndpoint]) -> String {
    if endpoints.is_empty() {
        return "Every tool below answers over HTTP where it has an address.".to_owned();
    }
    let at = |it: &ToolEndpoint| format!("{} at <code>{}</code>", it.protocol, escape(&it.path));
    let listed: Vec<String> = endpoints.iter().map(at).collect();
    let listed = listed.join(" and ");
    format!("Every tool below answers over {listed}, and over HTTP where it has an address.")
}

/// The head of a service's section, with the addresses at which the service is alone.
fn open_section(page: &mut String, service: &Service, endpoints: &[ToolEndpoint]) {
    _ = write!(
        page,
        "<section id=\"{0}\"><h2>{1} <small>{2}</small></h2><p>{3}</p>",
        escape(&service.name),
        escape(&service.title),
        escape(&service.version),
        escape(&service.summary),
    );
    for path in endpoints.iter().filter_map(|it| it.service_paths.get(&service.name)) {
        _ = write!(page, "<p>Alone at <code>{}</code>.</p>", escape(path));
    }
}

fn tool(page: &mut String, listed: &VisibleTool<'_>, endpoints: &[ToolEndpoint]) {
    let spec = &listed.tool.spec;
    head(page, &spec.name, &spec.title, &spec.description);
    for endpoint in endpoints.iter().filter(|_| listed.name != spec.name) {
        let (path, name) = (escape(&endpoint.path), escape(listed.name));
        _ = write!(page, "<p>Listed at <code>{path}</code> as <code>{name}</code>.</p>");
    }
    if let Some(binding) = &spec.http {
        addresses(page, &binding.method, binding.paths());
    }
    _ = write!(page, "<p>Needs the scope <code>{}</code>.</p>", listed.tool.scope.as_str());
    fields(page, "Input", spec.input_for(false).json());
    fields(page, "Result", spec.output.json());
    page.push_str("</article>");
}

fn addresses<'a>(page: &mut String, method: &str, paths: impl Iterator<Item = &'a str>) {
    for path in paths {
        let (method, path) = (escape(method), escape(path));
        _ = write!(page, "<p class=\"http\"><code>{method} {path}</code></p>");
    }
}

fn files<'a>(
    uploads: impl Iterator<Item = &'a UploadRow>,
    downloads: impl Iterator<Item = &'a DownloadRow>,
) -> String {
    let mut page = String::new();
    let page = &mut page;
    for UploadRow { spec, scope, .. } in uploads {
        head(page, &spec.name, &spec.title, &spec.description);
        for method in spec.methods() {
            addresses(page, method, spec.paths());
        }
        let raw = if spec.raw { "The file as it is, or a" } else { "A" };
        _ = write!(
            page,
            "<p>{raw} form (<code>multipart/form-data</code>) with files of at most {} bytes, {} bytes \
             together. Needs the scope <code>{}</code>.</p>",
            spec.file_bytes,
            spec.batch_bytes,
            scope.as_str(),
        );
        fields(page, "Form", spec.form.json());
        fields(page, "Result", spec.output.json());
        page.push_str("</article>");
    }
    for DownloadRow { spec, scope, .. } in downloads {
        head(page, &spec.name, &spec.title, &spec.description);
        addresses(page, "GET", spec.paths());
        let scope = scope.as_str();
        _ = write!(page, "<p>Answers with a file. Needs the scope <code>{scope}</code>.</p>");
        fields(page, "Input", spec.input.json());
        page.push_str("</article>");
    }
    std::mem::take(page)
}

fn head(page: &mut String, name: &str, title: &str, description: &str) {
    _ = write!(
        page,
        "<article id=\"{0}\"><h3><code>{0}</code> {1}</h3><p>{2}</p>",
        escape(name),
        escape(title),
        escape(description),
    );
}

/// The section of a stream; nothing when neither SSE nor WebSocket serves it.
fn stream(page: &mut String, row: &StreamRow, options: &StreamOptions) {
    let spec = &row.spec;
    let sse = spec.sse.as_ref().filter(|_| options.sse);
    let ws = spec.ws.as_deref().filter(|_| options.ws);
    if sse.is_none() && ws.is_none() {
        return;
    }
    _ = write!(
        page,
        "<article id=\"stream-{0}\"><h3><code>{0}</code> {1}</h3><p>{2}</p>",
        escape(&spec.name),
        escape(&spec.title),
        escape(&spec.description),
    );
    if let Some(sse) = sse {
        let path = escape(&sse.path);
        _ = write!(page, "<p class=\"http\"><code>GET {path}</code> server-sent events</p>");
    }
    if let Some(ws) = ws {
        let (path, name) = (escape(ws), escape(&spec.name));
        _ = write!(
            page,
            "<p class=\"http\"><code>{path}</code> WebSocket: <code>{{\"type\":\"subscribe\",\
             \"id\":\"1\",\"stream\":\"{name}\", …}}</code></p>"
        );
    }
    _ = write!(page, "<p>Needs the scope <code>{}</code>.</p>", row.scope.as_str());
    fields(page, "Subscription", spec.input.json());
    fields(page, "Event", spec.event.json());
    page.push_str("</article>");
}

fn fields(page: &mut String, title: &str, schema: &Value) {
    let mut rows = String::new();
    collect(&mut rows, "", schema);
    if !rows.is_empty() {
        _ = write!(page, "<table><caption>{title}</caption>{rows}</table>");
    }
}

/// Adds a table row for every property, nested ones included (`quotes[].price`).
fn collect(rows: &mut String, before: &str, schema: &Value) {
    let required = schema["required"].as_array();
    for (name, rule) in schema["properties"].as_object().into_iter().flatten() {
        let needed = required.is_some_and(|list| list.iter().any(|it| it == name));
        let note = rule["description"].as_str().unwrap_or_default();
        _ = write!(
            rows,
            "<tr><td><code>{before}{}</code></td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(name),
            escape(&shape(rule)),
            if needed { "required" } else { "" },
            escape(note),
        );
        collect(rows, &format!("{before}{}[].", escape(name)), &rule["items"]);
        collect(rows, &format!("{before}{}.", escape(name)), rule);
    }
}

/// The type and the bounds of a property in a few words.
fn shape(rule: &Value) -> String {
    let mut words = match &rule["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    };
    if let Some(options) = rule["enum"].as_array() {
        let options: Vec<String> = options.iter().map(Value::to_string).collect();
        words = format!("one of {}", options.join(", "));
    }
    for (key, word) in [
        ("format", ""),
        ("minItems", "at least "),
        ("maxItems", "at most "),
        ("minimum", "from "),
        ("maximum", "to "),
        ("default", "default "),
    ] {
        match &rule[key] {
            Value::Null => {}
            Value::String(text) => _ = write!(words, ", {word}{text}"),
            other => _ = write!(words, ", {word}{other}"),
        }
    }
    words
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
