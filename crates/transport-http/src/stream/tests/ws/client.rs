//! A WebSocket client: another's protocol, so that ours is not checked against itself.

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

/// LongLived enough for anything that comes, short enough to see that it does not.
const PATIENCE: Duration = Duration::from_secs(10);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub(crate) struct Client {
    say: mpsc::UnboundedSender<Message>,
    hear: mpsc::Receiver<Message>,
    _tasks: JoinSet<()>,
}

async fn connect(
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

impl Client {
    pub(crate) async fn enter(server: &TestServer, path: &str) -> Self {
        Self::enter_with(server, path, &[]).await
    }

    pub(crate) async fn enter_with(
        server: &TestServer,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Self {
        let (socket, _) = connect(server, path, headers).await.unwrap();
        let (mut sink, mut stream) = socket.split();
        let (say, mut said) = mpsc::unbounded_channel();
        let (heard, hear) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            while let Some(message) = said.recv().await {
                if sink.send(message).await.is_err() {
                    return;
                }
            }
        });
        tasks.spawn(async move {
            while let Some(Ok(message)) = stream.next().await {
                if heard.send(message).await.is_err() {
                    return;
                }
            }
        });
        Self { say, hear, _tasks: tasks }
    }

    /// The status and headers of an answer to an upgrade.
    pub(crate) async fn answer(
        server: &TestServer,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Response<()>, u16> {
        connect(server, path, headers).await.map(|(_, response)| response)
    }

    pub(crate) async fn refused(
        server: &TestServer,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> u16 {
        Self::answer(server, path, headers)
            .await
            .map_or_else(|status| status, |it| it.status().as_u16())
    }

    pub(crate) fn say(&self, message: Value) {
        self.say_text(&message.to_string());
    }

    pub(crate) fn say_text(&self, text: &str) {
        self.send(Message::text(text));
    }

    pub(crate) fn send(&self, message: Message) {
        // A server that has closed the connection is heard of by reading.
        _ = self.say.send(message);
    }

    async fn next(&mut self) -> Option<Message> {
        tokio::time::timeout(PATIENCE, self.hear.recv()).await.expect("nothing was heard")
    }

    /// The next messages, as JSON.
    pub(crate) async fn hear(&mut self, count: usize) -> Vec<Value> {
        let mut heard = Vec::new();
        while heard.len() < count {
            match self.next().await {
                Some(Message::Text(text)) => heard.push(serde_json::from_str(&text).unwrap()),
                Some(Message::Ping(_)) => {}
                other => panic!("{other:?} after {heard:?}"),
            }
        }
        heard
    }

    /// The next message, whatever it is.
    pub(crate) async fn hear_any(&mut self) -> Option<Message> {
        self.next().await
    }

    /// The code the server closes with; events before it are not looked at.
    pub(crate) async fn closed(&mut self) -> Option<CloseCode> {
        loop {
            match self.next().await {
                Some(Message::Close(frame)) => return frame.map(|frame| frame.code),
                Some(_) => {}
                None => return None,
            }
        }
    }

    /// Says goodbye and hears it said back.
    pub(crate) async fn leave(mut self) {
        self.send(Message::Close(None));
        assert_eq!(self.closed().await, Some(CloseCode::Normal));
        assert_eq!(self.next().await, None);
    }
}
