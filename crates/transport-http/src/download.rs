//! Downloads. A file is always sent as an attachment and sandboxed, because its content comes from
//! other users.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use contract::{Download, DownloadRow, RequestMeta};
use futures_util::StreamExt as _;
use http::HeaderValue;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    X_CONTENT_TYPE_OPTIONS,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio_util::sync::CancellationToken;

use crate::path::{self, PathArguments};
use crate::rest::{BoundFile, http_call};
use crate::{encode, query};

/// The longest offered file name, in characters.
const NAME_MAX: usize = 200;
/// Everything but the `attr-char` of RFC 5987.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

pub(crate) fn route(bound: Arc<BoundFile<DownloadRow>>) -> MethodRouter {
    get(send).with_state(bound)
}

async fn send(
    State(bound): State<Arc<BoundFile<DownloadRow>>>,
    Extension(arrival): Extension<RequestMeta>,
    in_path: PathArguments,
    RawQuery(text): RawQuery,
) -> Response {
    let schema = bound.file.row().spec.input.json();
    let args = query::arguments(text.as_deref().unwrap_or_default(), schema)
        .and_then(|args| path::merge(args, in_path, schema));
    let args = match args {
        Ok(args) => args,
        Err(fault) => return bound.refused(&fault, &arrival),
    };
    let cancel = CancellationToken::new();
    // Dropped with the body, so the handler is cancelled when the client disconnects.
    let cancel_guard = cancel.clone().drop_guard();
    let call = http_call(args, &arrival, cancel);
    match bound.pipeline.download(&bound.file, call).await {
        Err(failure) => encode::failure(&failure),
        Ok(file) => response(file, cancel_guard),
    }
}

fn response(file: Download, guard: impl Send + 'static) -> Response {
    let Download { content_type, file_name, length, body } = file;
    let body = body.map(move |chunk| {
        let _kept = &guard;
        chunk
    });
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    let unknown = HeaderValue::from_static("application/octet-stream");
    headers.insert(CONTENT_TYPE, HeaderValue::from_str(&content_type).unwrap_or(unknown));
    headers.insert(CONTENT_DISPOSITION, disposition(file_name.as_deref()));
    if let Some(length) = length {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// `attachment` with the name in both forms of RFC 6266: plain ASCII, and UTF-8 where the plain form
/// loses characters.
fn disposition(name: Option<&str>) -> HeaderValue {
    let unnamed = HeaderValue::from_static("attachment");
    let name: String = name.unwrap_or_default().chars().take(NAME_MAX).map(harmless).collect();
    if name.is_empty() {
        return unnamed;
    }
    let plain: String = name.chars().map(|it| if is_plain(it) { it } else { '_' }).collect();
    let mut text = format!("attachment; filename=\"{plain}\"");
    if plain != name {
        text.push_str("; filename*=UTF-8''");
        text.extend(utf8_percent_encode(&name, ESCAPED));
    }
    HeaderValue::from_str(&text).unwrap_or(unnamed)
}

/// Replaces characters that could lead out of the folder the file is saved in.
fn harmless(char: char) -> char {
    if char.is_control() || matches!(char, '/' | '\\') { '_' } else { char }
}

/// Whether every client reads the character the same between quotes; some decode `%`.
fn is_plain(char: char) -> bool {
    (char.is_ascii_graphic() || char == ' ') && !matches!(char, '"' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: Option<&str>, expected: &str) {
        assert_eq!(disposition(name).to_str().unwrap(), expected, "{name:?}");
    }

    #[test]
    fn any_file_name_becomes_a_valid_header() {
        check(None, "attachment");
        check(Some(""), "attachment");
        check(Some("a b.pdf"), "attachment; filename=\"a b.pdf\"");
        check(
            Some("дело №1 \"x\".pdf"),
            "attachment; filename=\"____ _1 _x_.pdf\"; \
             filename*=UTF-8''%D0%B4%D0%B5%D0%BB%D0%BE%20%E2%84%961%20%22x%22.pdf",
        );
        check(Some("100%.txt"), "attachment; filename=\"100_.txt\"; filename*=UTF-8''100%25.txt");
        check(Some("../a\\b\r\nX: y"), "attachment; filename=\".._a_b__X: y\"");
        let long = "a".repeat(300);
        check(Some(&long), &format!("attachment; filename=\"{}\"", "a".repeat(200)));
    }
}
