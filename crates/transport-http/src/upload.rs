//! Uploads. The edge does not read their bodies; the handler reads the form while it arrives, with
//! limits on size and speed.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};
use contract::{MemoryParts, RequestMeta, Upload, UploadRow, UploadSpec};
use fault::Fault;
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use serde_json::Map;
use tokio_util::sync::CancellationToken;

use crate::drain::Drain;
use crate::encode;
use crate::path::PathArguments;
use crate::rest::{BoundFile, http_call};
use crate::upload::multipart::Multipart;
use crate::upload::paced_body::{PacedBody, UnreadBody};
use crate::upload::raw_file::RawFile;

pub(crate) mod head;
pub(crate) mod multipart;
pub(crate) mod paced_body;
mod raw_file;
#[cfg(test)]
mod tests;

/// Bytes of a form beside its files.
const OVERHEAD_BYTES: u64 = 1024 * 1024;
/// The client's id of the upload, under which its progress can be queried.
const UPLOAD_ID: &str = "x-upload-id";

pub(crate) fn route(method: MethodFilter, bound: Arc<BoundFile<UploadRow>>) -> MethodRouter {
    on(method, receive).with_state(bound)
}

async fn receive(
    State(bound): State<Arc<BoundFile<UploadRow>>>,
    Extension(arrival): Extension<RequestMeta>,
    placed: PathArguments,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let (unread, drain) = (UnreadBody::default(), Drain::new(&parts));
    let path = match placed.decoded() {
        Ok(path) => path,
        Err(fault) => return bound.refused(&fault, &arrival),
    };
    let upload = form(&parts.headers, body, &bound.file.row().spec, &unread).with_path(path);
    // Dropped with this future when the client disconnects, which cancels the handler.
    let cancel = CancellationToken::new();
    let _cancel_guard = cancel.clone().drop_guard();
    let call = http_call(Map::new(), &arrival, cancel);
    let response = match bound.pipeline.upload(&bound.file, call, upload).await {
        Err(failure) => encode::failure(&failure),
        Ok(reply) => encode::reply(reply.http(), &parts.headers),
    };
    if let Some(body) = unread.take() {
        drain.discard(body);
    }
    response
}

/// The form for the handler. A bad request header becomes a fault of the body, so the pipeline
/// checks the credential first.
fn form(headers: &HeaderMap, body: Body, spec: &UploadSpec, unread: &UnreadBody) -> Upload {
    let announced = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
    let bytes_max = spec.batch_bytes.saturating_add(OVERHEAD_BYTES);
    let body = PacedBody::new(body, bytes_max);
    let upload = match read(headers, announced, bytes_max, spec.raw) {
        Ok((Some(boundary), id)) => {
            Upload::new(Multipart::new(&boundary, body, unread.clone())).with_id(id)
        }
        Ok((None, id)) => Upload::new(RawFile::new(body, unread.clone())).with_id(id),
        Err(fault) => {
            unread.leave(body);
            Upload::new(MemoryParts::new().ending_with(fault))
        }
    };
    upload.with_announced_bytes(announced)
}

/// The boundary of the form, if the body is one, and the client's id of the upload.
fn read(
    headers: &HeaderMap,
    announced: Option<u64>,
    bytes_max: u64,
    may_be_raw: bool,
) -> Result<(Option<String>, Option<String>), Fault> {
    if announced.is_some_and(|length| length > bytes_max) {
        return Err(paced_body::too_large(bytes_max));
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let boundary = head::boundary(kind);
    if boundary.is_none() && !may_be_raw {
        let expected = "multipart/form-data with a boundary";
        let fault = Fault::invalid("not_multipart", format!("the body is not {expected}"));
        return Err(fault.problem("content-type", expected));
    }
    let Some(id) = headers.get(UPLOAD_ID) else { return Ok((boundary, None)) };
    let good = |id: &&str| {
        let odd = |byte: u8| !byte.is_ascii_alphanumeric() && !b"._-".contains(&byte);
        (1..=64).contains(&id.len()) && !id.bytes().any(odd)
    };
    match id.to_str().ok().filter(good) {
        Some(id) => Ok((boundary, Some(id.to_owned()))),
        None => {
            let expected = "1 to 64 characters of A-Z, a-z, 0-9, \".\", \"_\" and \"-\"";
            let message = format!("{UPLOAD_ID}: expected {expected}");
            Err(Fault::invalid("invalid_upload_id", message).problem(UPLOAD_ID, expected))
        }
    }
}
