//! A WebSocket client over tungstenite, so that our codec is not tested against itself.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use http::{HeaderName, HeaderValue, Response};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::stream::tests::fixture::TestServer;

/// How long to wait for a message.
const TIMEOUT: Duration = Duration::from_secs(10);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub(crate) struct WsClient {
    outgoing: mpsc::UnboundedSender<Message>,
    incoming: mpsc::Receiver<Message>,
    _tasks: JoinSet<()>,
}

async fn open_socket(
    server: &TestServer,
    path: &str,
    headers: &[(&'static str, &str)],
) -> Result<(Socket, Response<()>), u16> {
    let mut request = format!("ws://{}{path}", server.address).into_client_request().unwrap();
    for (name, value) in headers {
        let value = HeaderValue::from_str(value).unwrap();
        request.headers_mut().insert(HeaderName::from_static(name), value);
    }
    match connect_async(request).await {
        Ok((socket, response)) => Ok((socket, response.map(|_| ()))),
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(other) => panic!("{other}"),
    }
}

impl WsClient {
    pub(crate) async fn connect(server: &TestServer, path: &str) -> Self {
        Self::connect_with(server, path, &[]).await
    }

    pub(crate) async fn connect_with(
        server: &TestServer,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Self {
        let (socket, _) = open_socket(server, path, headers).await.unwrap();
        let (mut sink, mut stream) = socket.split();
        let (outgoing, mut to_send) = mpsc::unbounded_channel();
        let (received, incoming) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            while let Some(message) = to_send.recv().await {
                if sink.send(message).await.is_err() {
                    return;
                }
            }
        });
        tasks.spawn(async move {
            while let Some(Ok(message)) = stream.next().await {
                if received.send(message).await.is_err() {
                    return;
                }
            }
        });
        Self { outgoing, incoming, _tasks: tasks }
    }

    /// The response to an upgrade request; the status as an error.
    pub(crate) async fn upgrade_response(
        server: &TestServer,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Response<()>, u16> {
        open_socket(server, path, headers).await.map(|(_, response)| response)
    }

    pub(crate) async fn upgrade_status(
        server: &TestServer,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> u16 {
        Self::upgrade_response(server, path, headers)
            .await
            .map_or_else(|status| status, |it| it.status().as_u16())
    }

    pub(crate) fn send_json(&self, message: Value) {
        self.send_text(&message.to_string());
    }

    pub(crate) fn send_text(&self, text: &str) {
        self.send(Message::text(text));
    }

    pub(crate) fn send(&self, message: Message) {
        // A closed connection shows up when reading.
        _ = self.outgoing.send(message);
    }

    async fn next(&mut self) -> Option<Message> {
        tokio::time::timeout(TIMEOUT, self.incoming.recv()).await.expect("no message came in time")
    }

    /// The next messages, as JSON.
    pub(crate) async fn receive(&mut self, count: usize) -> Vec<Value> {
        let mut received = Vec::new();
        while received.len() < count {
            match self.next().await {
                Some(Message::Text(text)) => received.push(serde_json::from_str(&text).unwrap()),
                Some(Message::Ping(_)) => {}
                other => panic!("{other:?} after {received:?}"),
            }
        }
        received
    }

    /// The next message, whatever it is.
    pub(crate) async fn receive_any(&mut self) -> Option<Message> {
        self.next().await
    }

    /// The close code of the server; messages before it are skipped.
    pub(crate) async fn closed(&mut self) -> Option<CloseCode> {
        loop {
            match self.next().await {
                Some(Message::Close(frame)) => return frame.map(|frame| frame.code),
                Some(_) => {}
                None => return None,
            }
        }
    }

    /// Sends a close frame and waits for the answer.
    pub(crate) async fn close(mut self) {
        self.send(Message::Close(None));
        assert_eq!(self.closed().await, Some(CloseCode::Normal));
        assert_eq!(self.next().await, None);
    }
}
