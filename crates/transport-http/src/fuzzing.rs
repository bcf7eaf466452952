//! The entry points of the fuzz targets: the WebSocket codec and the form parser, both over bytes that
//! arrive in any pieces.

use std::convert::Infallible;
use std::task::{Context, Poll, Waker};

use axum::body::Body;
use bytes::Bytes;
use contract::{PartHead, PartSource as _};
use futures_util::stream;

use crate::stream::ws::codec::{self, Decoder};
use crate::upload::head;
use crate::upload::multipart::Multipart;
use crate::upload::paced_body::{PacedBody, UnreadBody};

/// Decodes what a client sends; each message as `Debug` shows it, and the close code of an error.
#[must_use]
pub fn read_frames(pieces: &[&[u8]], message_bytes_max: usize) -> (Vec<String>, Option<u16>) {
    let mut decoder = Decoder::new(message_bytes_max);
    let mut messages = Vec::new();
    for piece in pieces {
        let mut rest = *piece;
        loop {
            match decoder.next(&mut rest) {
                Ok(Some(message)) => messages.push(format!("{message:?}")),
                Ok(None) => break,
                Err(code) => return (messages, Some(code as u16)),
            }
        }
    }
    (messages, None)
}

/// Encodes a text message as the server sends it: one frame without a mask.
#[must_use]
pub fn text_frame(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    codec::put_text(&mut out, [text, ""]);
    out
}

/// Parses a form; the error is the message that the client gets.
pub fn read_form(content_type: &str, pieces: &[&[u8]]) -> Result<Vec<(PartHead, Vec<u8>)>, String> {
    let boundary = head::boundary(content_type).ok_or("no boundary")?;
    let owned: Vec<_> =
        pieces.iter().map(|it| Ok::<_, Infallible>(Bytes::copy_from_slice(it))).collect();
    let body = PacedBody::new(Body::from_stream(stream::iter(owned)), u64::MAX);
    let mut form = Multipart::new(&boundary, body, UnreadBody::default());
    // The body is always ready, so the parser never waits.
    let mut context = Context::from_waker(Waker::noop());
    let mut parts = Vec::new();
    while let Some(head) = now(form.poll_head(&mut context))? {
        let mut bytes = Vec::new();
        while let Some(chunk) = now(form.poll_chunk(&mut context))? {
            bytes.extend_from_slice(&chunk);
        }
        parts.push((head, bytes));
    }
    Ok(parts)
}

fn now<T>(outcome: Poll<Result<T, fault::Fault>>) -> Result<T, String> {
    match outcome {
        Poll::Ready(outcome) => outcome.map_err(|fault| fault.message().to_owned()),
        Poll::Pending => Err("the parser waits for a body that is complete".to_owned()),
    }
}
