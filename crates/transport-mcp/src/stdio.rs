//! A server on a pair of pipes, for clients that start it themselves.

use std::io;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::line_transport::LineTransport;
use crate::server::McpServer;

/// The longest line a client may send; whatever is longer is refused unread.
pub const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Serves until the input ends or `cancel` fires. Only protocol messages go to `output`. Answers
/// that are under way when the input ends are still sent.
pub async fn serve_stdio<R, W>(
    server: McpServer,
    input: R,
    output: W,
    cancel: CancellationToken,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let ended = cancel.child_token();
    let lines = LineTransport::new(input, output, LINE_BYTES_MAX, ended.clone());
    let running = match server.for_session(&ended).serve_with_ct(lines, cancel).await {
        Ok(running) => running,
        // A client that leaves before its first request has done nothing wrong.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(ServerInitializeError::TransportError { error, .. }) => {
            tracing::debug!(%error, "the client left during the handshake");
            return Ok(());
        }
        Err(error) => return Err(io::Error::other(error.to_string())),
    };
    running.waiting().await.map(drop).map_err(io::Error::other)
}
