//! What a connection is told for which there is no place: an answer in HTTP to whatever it asks, so
//! that a client knows to come back instead of guessing at a broken line.
//!
//! Few are told at a time, and none for long; the others are closed at once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::connection_slots::Limit;

/// How many are told at a time.
const TOLD_MAX: usize = 64;
/// How long that may take.
const PATIENCE: Duration = Duration::from_secs(1);
/// When to come back.
const COME_BACK_S: u64 = 5;
/// The most that is read of what they ask. A line that is closed over something unread is reset,
/// and the answer lost with it.
const READ_MAX: u64 = 16 * 1024;

#[derive(Clone)]
pub(crate) struct OverloadResponder(Arc<Semaphore>);

impl Default for OverloadResponder {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(TOLD_MAX)))
    }
}

impl OverloadResponder {
    /// Tells a client why it cannot come in, and closes the connection.
    pub(crate) fn respond(&self, mut stream: TcpStream, why: Limit, tasks: &TaskTracker) {
        let Ok(turn) = Arc::clone(&self.0).try_acquire_owned() else { return };
        let answer = answer(why);
        tasks.spawn(async move {
            let told = async {
                // An answer that comes before the question is taken for nonsense by some.
                drop(tokio::time::timeout(PATIENCE / 2, stream.read(&mut [0; 1024])).await);
                stream.write_all(answer.as_bytes()).await?;
                stream.shutdown().await?;
                tokio::io::copy(&mut stream.take(READ_MAX), &mut tokio::io::sink()).await
            };
            // Whoever does not take it has gone, and that is as well.
            drop(tokio::time::timeout(PATIENCE, told).await);
            drop(turn);
        });
    }
}

fn answer(why: Limit) -> String {
    let (status, reason, word, message) = match why {
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
        "retry_after_s": COME_BACK_S,
    }});
    let body = body.to_string();
    format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         retry-after: {COME_BACK_S}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_when_to_come_back() {
        for (why, status) in [(Limit::Global, "503"), (Limit::Client, "429")] {
            let answer = answer(why);
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
            assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
            assert!(head.contains("retry-after: 5"), "{head}");
            let body: serde_json::Value = body.parse().unwrap();
            assert_eq!(body["error"]["retryable"], true);
        }
    }
}
