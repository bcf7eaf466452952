//! Serves a client over a pair of pipes, such as standard input and output.

use std::io;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::line_transport::LineTransport;
use crate::server::McpServer;

/// The longest line a client may send; longer lines are refused.
pub const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Serves until the input ends or `cancel` is cancelled. Only protocol messages go to `output`. Calls
/// that run when the input ends are still answered.
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
        // A client may disconnect before its first request.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(ServerInitializeError::TransportError { error, .. }) => {
            tracing::debug!(%error, "the client disconnected during the handshake");
            return Ok(());
        }
        Err(error) => return Err(io::Error::other(error.to_string())),
    };
    running.waiting().await.map(drop).map_err(io::Error::other)
}
