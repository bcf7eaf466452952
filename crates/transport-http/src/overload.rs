//! Answers a connection that found no slot with HTTP 503 or 429 and `Retry-After`, then closes it.
//! At most 64 such answers run at once, each for at most 1 s; further connections are closed at once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::connection_slots::Limit;

/// Answers that are written at the same time.
const RESPONSES_MAX: usize = 64;
/// How long one answer may take.
const TIMEOUT: Duration = Duration::from_secs(1);
const RETRY_AFTER_S: u64 = 5;
/// How much of the request is read: closing a socket with unread bytes resets the connection, and
/// the client loses the answer.
const READ_MAX: u64 = 16 * 1024;

#[derive(Clone)]
pub(crate) struct OverloadResponder(Arc<Semaphore>);

impl Default for OverloadResponder {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(RESPONSES_MAX)))
    }
}

impl OverloadResponder {
    /// Answers with the limit that was reached and closes the connection.
    pub(crate) fn respond(&self, mut stream: TcpStream, reached: Limit, tasks: &TaskTracker) {
        let Ok(permit) = Arc::clone(&self.0).try_acquire_owned() else { return };
        let answer = answer(reached);
        tasks.spawn(async move {
            let respond = async {
                // Some clients reject a response that arrives before they sent their request.
                drop(tokio::time::timeout(TIMEOUT / 2, stream.read(&mut [0; 1024])).await);
                stream.write_all(answer.as_bytes()).await?;
                stream.shutdown().await?;
                tokio::io::copy(&mut stream.take(READ_MAX), &mut tokio::io::sink()).await
            };
            // A client that does not read the answer in time loses it.
            drop(tokio::time::timeout(TIMEOUT, respond).await);
            drop(permit);
        });
    }
}

fn answer(reached: Limit) -> String {
    let (status, reason, word, message) = match reached {
        Limit::Global => {
            (503, "Service Unavailable", "OVERLOADED", "as many connections are open as may be")
        }
        Limit::Client => (
            429,
            "Too Many Requests",
            "RATE_LIMITED",
            "your address has as many connections open as it may; close one, or use one for more",
        ),
    };
    let body = json!({ "error": {
        "type": word,
        "message": message,
        "retryable": true,
        "http_status": status,
        "http_code": reason,
        "retry_after_s": RETRY_AFTER_S,
    }});
    let body = body.to_string();
    format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         retry-after: {RETRY_AFTER_S}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_status_and_retry_after() {
        for (reached, status) in [(Limit::Global, "503"), (Limit::Client, "429")] {
            let answer = answer(reached);
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
            assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
            assert!(head.contains("retry-after: 5"), "{head}");
            let body: serde_json::Value = body.parse().unwrap();
            assert_eq!(body["error"]["retryable"], true);
        }
    }
}
