//! Begins a call with a large body on a blocking thread: rmcp parses the message in the first poll,
//! which would block an async worker for the time of the parse.

use std::task::{Context, Poll, Waker};

use axum::response::{IntoResponse as _, Response};
use futures_util::future::BoxFuture;
use http::StatusCode;

/// Polls the call once on a blocking thread and goes on where it was left.
pub(crate) fn begin_off_worker(
    mut call: BoxFuture<'static, Response>,
) -> BoxFuture<'static, Response> {
    Box::pin(async move {
        let begin = move || {
            // The call is polled again below, with the waker of its own task.
            match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(response) => Ok(response),
                Poll::Pending => Err(call),
            }
        };
        match tokio::task::spawn_blocking(begin).await {
            Ok(Ok(response)) => response,
            Ok(Err(call)) => call.await,
            Err(error) => {
                tracing::error!(%error, "a large call could not be begun");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn the_first_poll_is_on_another_thread_and_the_rest_is_not() {
        let here = thread::current().id();
        let call = Box::pin(async move {
            let first = thread::current().id();
            tokio::task::yield_now().await;
            format!("{} {}", first == here, thread::current().id() == here).into_response()
        });
        let response = begin_off_worker(call).await;
        let body = axum::body::to_bytes(response.into_body(), 99).await.unwrap();
        assert_eq!(body, "false true");
    }
}
