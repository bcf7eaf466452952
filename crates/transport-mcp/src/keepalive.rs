//! Answers that are long in coming. Clients and proxies give up on a connection that says nothing,
//! and the library says nothing before a call's first message; so the stream is opened for it.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, StreamExt, unfold};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

/// A comment, which every reader of events skips.
const SIGN_OF_LIFE: &[u8] = b":\n\n";

/// The answer as it comes; or, after `quiet_max`, a stream of events with signs of life until the
/// answer is the rest of it. Hanging up ends the call in either case.
pub(crate) async fn with_keepalive(
    mut answering: BoxFuture<'static, Response>,
    quiet_max: Duration,
) -> Response {
    if let Ok(response) = tokio::time::timeout(quiet_max, &mut answering).await {
        return response;
    }
    let events = unfold(Some(State::Waiting(answering)), move |state| next(state, quiet_max));
    let first = futures_util::stream::iter([Bytes::from_static(SIGN_OF_LIFE)]);
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
                let alive = Bytes::from_static(SIGN_OF_LIFE);
                return Some((alive, Some(State::Waiting(answering))));
            };
            match is(&response, "text/event-stream") {
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

/// One message as the only event of its stream. An answer that is no message has no place there,
/// and the end of the stream says as much.
async fn event(response: Response) -> Option<Bytes> {
    if !is(&response, "application/json") {
        tracing::debug!(status = %response.status(), "a late answer was no message");
        return None;
    }
    // The body is our own and whole already.
    let message = to_bytes(response.into_body(), usize::MAX).await.ok()?;
    Some([b"data: ".as_slice(), &message, b"\n\n"].concat().into())
}

fn is(response: &Response, kind: &str) -> bool {
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
    async fn an_answer_in_time_is_left_alone() {
        let refused = (StatusCode::BAD_REQUEST, Json(json!({ "id": 1 }))).into_response();
        let (head, body) = after(9, refused).await;
        assert_eq!((head.status(), body.as_str()), (StatusCode::BAD_REQUEST, r#"{"id":1}"#));
        assert!(is(&head, "application/json"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_message_is_an_event_after_signs_of_life() {
        let (head, body) = after(25, Json(json!({ "id": 1 })).into_response()).await;
        assert_eq!((head.status(), is(&head, "text/event-stream")), (StatusCode::OK, true));
        assert_eq!(body, ":\n\n:\n\ndata: {\"id\":1}\n\n");
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_stream_goes_on_as_it_is() {
        let pieces = ["data: 1\n\n", "data: 2\n\n"].map(Ok::<_, std::convert::Infallible>);
        let body = Body::from_stream(futures_util::stream::iter(pieces));
        let (_, body) =
            after(15, ([(CONTENT_TYPE, "text/event-stream")], body).into_response()).await;
        assert_eq!(body, ":\n\ndata: 1\n\ndata: 2\n\n");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_no_message_ends_the_stream() {
        let late = (StatusCode::INTERNAL_SERVER_ERROR, "no").into_response();
        assert_eq!(after(15, late).await.1, ":\n\n");
    }
}
