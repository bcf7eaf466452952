//! JSON-RPC with one message per line over a pair of pipes. An invalid line is answered with an error
//! and never ends the connection; a line has a maximum length.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorData, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::answer::RATE_LIMITED;

/// Requests that may run at once; further ones are refused.
const OPEN_MAX: usize = 1_024;

pub(crate) struct LineTransport<R, W> {
    read: BufReader<R>,
    write: Arc<Mutex<W>>,
    line_bytes_max: usize,
    /// Requests that were neither answered nor cancelled yet.
    open: HashSet<RequestId>,
    /// The line so far. Kept here because rmcp drops a pending read to send an answer.
    line: Vec<u8>,
    /// Whether the rest of an oversized line is being skipped.
    skipping: bool,
    /// Whether a request has come. Before the first request rmcp gives up on any other message, so
    /// earlier notifications are dropped.
    begun: bool,
    /// An error reply being written, kept here for the same reason as the line.
    replying: Option<BoxFuture<'static, io::Result<()>>>,
    /// Cancelled when the input ends, which ends subscriptions.
    ended: CancellationToken,
}

enum ReadStep {
    Line,
    TooLong,
    End,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(crate) fn new(read: R, write: W, line_bytes_max: usize, ended: CancellationToken) -> Self {
        Self {
            read: BufReader::new(read),
            write: Arc::new(Mutex::new(write)),
            line_bytes_max,
            open: HashSet::new(),
            line: Vec::new(),
            skipping: false,
            begun: false,
            replying: None,
            ended,
        }
    }

    async fn step(&mut self) -> io::Result<ReadStep> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                // A last line without a newline counts.
                let whole = !self.skipping && !self.line.is_empty();
                return Ok(if whole { ReadStep::Line } else { ReadStep::End });
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            let fits = self.line.len() + taken <= self.line_bytes_max;
            if fits && !self.skipping {
                self.line.extend_from_slice(available.get(..taken).unwrap_or_default());
            }
            self.read.consume(taken);
            match (self.skipping, fits, newline.is_some()) {
                (true, _, ended) => self.skipping = !ended,
                (false, true, true) => return Ok(ReadStep::Line),
                (false, true, false) => {}
                (false, false, ended) => {
                    self.line = Vec::new();
                    self.skipping = !ended;
                    return Ok(ReadStep::TooLong);
                }
            }
        }
    }

    /// The next valid message; `None` at the end of the input.
    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Err(error) = self.reply().await {
                tracing::debug!(%error, "the client no longer reads");
                return None;
            }
            match self.step().await {
                Ok(ReadStep::Line) => {
                    if let Some(message) = self.parse() {
                        return Some(message);
                    }
                }
                Ok(ReadStep::TooLong) => {
                    let max = self.line_bytes_max;
                    let message = format!("the line is longer than {max} bytes");
                    self.refuse(ErrorData::parse_error(message, None), None);
                }
                Ok(ReadStep::End) => return None,
                Err(error) => {
                    tracing::debug!(%error, "the client can no longer be read");
                    return None;
                }
            }
        }
    }

    /// Finishes a pending error reply.
    async fn reply(&mut self) -> io::Result<()> {
        let Some(replying) = &mut self.replying else { return Ok(()) };
        let sent = replying.await;
        self.replying = None;
        sent
    }

    fn refuse(&mut self, error: ErrorData, id: Option<RequestId>) {
        let message = ServerJsonRpcMessage::error(error, id);
        self.replying = Some(send(Arc::clone(&self.write), message).boxed());
    }

    fn admit(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &message {
            ClientJsonRpcMessage::Request(request) if self.open.len() >= OPEN_MAX => {
                let id = request.id.clone();
                self.refuse(too_many_requests(), Some(id));
                return None;
            }
            ClientJsonRpcMessage::Request(request) => {
                self.begun = true;
                self.open.insert(request.id.clone());
            }
            ClientJsonRpcMessage::Notification(notification) => {
                // A cancelled request gets no answer, so it stops counting here.
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.remove(id);
                }
            }
            _ => {}
        }
        self.begun.then_some(message)
    }

    fn parse(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = std::mem::take(&mut self.line);
        let text = line.trim_ascii();
        let text = text.strip_prefix(b"\xEF\xBB\xBF".as_slice()).unwrap_or(text);
        if text.is_empty() {
            return None;
        }
        match serde_json::from_slice::<ClientJsonRpcMessage>(text) {
            Ok(message) => self.admit(message),
            Err(_) => {
                let (error, id) = line_error(text);
                if let Some(error) = error {
                    self.refuse(error, id);
                }
                None
            }
        }
    }
}

fn too_many_requests() -> ErrorData {
    let message = format!("{OPEN_MAX} requests are under way; wait for an answer");
    ErrorData::new(RATE_LIMITED, message, None)
}

/// The error for a line that is not a message, and the id of its request. A malformed notification
/// gets no answer.
fn line_error(text: &[u8]) -> (Option<ErrorData>, Option<RequestId>) {
    let Ok(json) = serde_json::from_slice::<Value>(text) else {
        return (Some(ErrorData::parse_error("the line is not JSON in UTF-8", None)), None);
    };
    let id = json.get("id").cloned().and_then(|id| serde_json::from_value(id).ok());
    if id.is_none() && json.get("method").is_some() {
        return (None, None);
    }
    (Some(ErrorData::invalid_request("the line is not a JSON-RPC 2.0 message", None)), id)
}

async fn send<W>(write: Arc<Mutex<W>>, message: ServerJsonRpcMessage) -> io::Result<()>
where
    W: AsyncWrite + Send + Unpin + 'static,
{
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut write = write.lock().await;
    write.write_all(&line).await?;
    write.flush().await
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &item {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = answered {
            self.open.remove(id);
        }
        send(Arc::clone(&self.write), item)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.next().await;
        if message.is_none() {
            self.ended.cancel();
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        self.reply().await?;
        self.write.lock().await.flush().await
    }
}
