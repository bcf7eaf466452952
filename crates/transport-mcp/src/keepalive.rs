//! Keeps a slow request alive: clients and proxies close a silent connection, and rmcp sends nothing
//! before a call's first message. After `quiet_max` the answer becomes an event stream with comments.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, StreamExt, unfold};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

/// A comment, which clients skip.
const COMMENT: &[u8] = b":\n\n";

/// Returns the answer if it comes within `quiet_max`; otherwise an event stream that sends a comment
/// every `quiet_max` and then the answer. A disconnect ends the call in both cases.
pub(crate) async fn with_keepalive(
    mut answering: BoxFuture<'static, Response>,
    quiet_max: Duration,
) -> Response {
    if let Ok(response) = tokio::time::timeout(quiet_max, &mut answering).await {
        return response;
    }
    let events = unfold(Some(State::Waiting(answering)), move |state| next(state, quiet_max));
    let first = futures_util::stream::iter([Bytes::from_static(COMMENT)]);
    let body = Body::from_stream(first.chain(events).map(Ok::<_, std::convert::Infallible>));
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")];
    (headers, [("x-accel-buffering", "no")], body).into_response()
}

enum State {
    Waiting(BoxFuture<'static, Response>),
    Streaming(BoxStream<'static, Bytes>),
}

async fn next(state: Option<State>, quiet_max: Duration) -> Option<(Bytes, Option<State>)> {
    let mut events = match state? {
        State::Waiting(mut answering) => {
            let Ok(response) = tokio::time::timeout(quiet_max, &mut answering).await else {
                let alive = Bytes::from_static(COMMENT);
                return Some((alive, Some(State::Waiting(answering))));
            };
            match has_type(&response, "text/event-stream") {
                true => {
                    let data = response.into_body().into_data_stream();
                    data.filter_map(|piece| std::future::ready(piece.ok())).boxed()
                }
                false => return Some((event(response).await?, None)),
            }
        }
        State::Streaming(events) => events,
    };
    let piece = events.next().await?;
    Some((piece, Some(State::Streaming(events))))
}

/// The JSON message as one event; `None` for any other answer, which ends the stream.
async fn event(response: Response) -> Option<Bytes> {
    if !has_type(&response, "application/json") {
        tracing::debug!(status = %response.status(), "a late answer was not a JSON message");
        return None;
    }
    // The body is ours and complete, so it needs no limit.
    let message = to_bytes(response.into_body(), usize::MAX).await.ok()?;
    Some([b"data: ".as_slice(), &message, b"\n\n"].concat().into())
}

fn has_type(response: &Response, kind: &str) -> bool {
    let found = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    found.is_some_and(|found| found.starts_with(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Json;
    use futures_util::FutureExt;
    use http::StatusCode;
    use serde_json::json;

    const QUIET: Duration = Duration::from_secs(10);

    async fn after(seconds: u64, response: Response) -> (Response, String) {
        let wait = Duration::from_secs(seconds);
        let answering = async move {
            tokio::time::sleep(wait).await;
            response
        };
        let (head, body) = with_keepalive(answering.boxed(), QUIET).await.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        (Response::from_parts(head, Body::empty()), String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_in_time_is_unchanged() {
        let refused = (StatusCode::BAD_REQUEST, Json(json!({ "id": 1 }))).into_response();
        let (head, body) = after(9, refused).await;
        assert_eq!((head.status(), body.as_str()), (StatusCode::BAD_REQUEST, r#"{"id":1}"#));
        assert!(has_type(&head, "application/json"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_message_is_an_event_after_comments() {
        let (head, body) = after(25, Json(json!({ "id": 1 })).into_response()).await;
        assert_eq!((head.status(), has_type(&head, "text/event-stream")), (StatusCode::OK, true));
        assert_eq!(body, ":\n\n:\n\ndata: {\"id\":1}\n\n");
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_stream_is_passed_through() {
        let pieces = ["data: 1\n\n", "data: 2\n\n"].map(Ok::<_, std::convert::Infallible>);
        let body = Body::from_stream(futures_util::stream::iter(pieces));
        let (_, body) =
            after(15, ([(CONTENT_TYPE, "text/event-stream")], body).into_response()).await;
        assert_eq!(body, ":\n\ndata: 1\n\ndata: 2\n\n");
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_answer_that_is_not_json_ends_the_stream() {
        let late = (StatusCode::INTERNAL_SERVER_ERROR, "no").into_response();
        assert_eq!(after(15, late).await.1, ":\n\n");
    }
}
