//! A reader of live candles of one second, over server-sent events or WebSocket, that hangs up at
//! random and resumes after its last closed candle.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bench::delivery::ClosedCandle;
use bench::frames::{self, CLOSE, PING, PONG, TEXT};
use serde_json::{Value, json};
use testkit::TestRng;
use tokio::io::AsyncWriteExt as _;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::clients::{REQUEST_TIMEOUT, Shared, error_kind, error_word, failure_kind, refusal_kind};
use crate::http::{Connection, Request, Response, status, take_chunk};
use crate::observations::{FailureKind, RequestTimes, increment};

/// Heartbeats come every 15 s.
const SILENCE_MAX: Duration = Duration::from_secs(40);
const RETRY_WAIT: Duration = Duration::from_millis(200);
/// A reader that was refused waits longer than one whose connection was cut.
const REFUSED_WAIT: Duration = Duration::from_secs(1);
/// The most closed candles of one connection.
const CANDLES_MAX: usize = 40;
pub(crate) const SYMBOLS: [&str; 4] = ["BTCUSDT", "ETHUSDT", "SOLUSDT", "DOGEUSDT"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    ServerSentEvents,
    WebSocket,
}

/// Why a connection of a reader ended.
enum StreamEnd {
    /// The reader hung up.
    Enough,
    /// The server ended the stream and named the point to resume from.
    Ended,
    /// The server answered with an error.
    Refused(FailureKind, String),
    Broken(io::Error),
}

impl From<io::Error> for StreamEnd {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

pub(crate) struct StreamReader {
    pub(crate) symbol: &'static str,
    pub(crate) closed: Vec<ClosedCandle>,
    /// The opening time of the newest closed candle, for the program that waits for it.
    pub(crate) newest: Arc<AtomicI64>,
    shared: Arc<Shared>,
    protocol: Protocol,
    indicators: bool,
    /// The id of the last event, as a browser keeps it.
    last_event_id: Option<String>,
    /// When the last bytes came.
    active: Instant,
    rng: TestRng,
}

impl StreamReader {
    pub(crate) fn new(shared: &Arc<Shared>, seed: u64, number: usize) -> Self {
        let protocol =
            if number.is_multiple_of(2) { Protocol::WebSocket } else { Protocol::ServerSentEvents };
        Self {
            symbol: SYMBOLS[number / 2 % SYMBOLS.len()],
            closed: Vec::new(),
            newest: Arc::default(),
            shared: Arc::clone(shared),
            protocol,
            indicators: number / 8 % 2 == 1,
            last_event_id: None,
            active: Instant::now(),
            rng: TestRng::new(seed ^ (number as u64) << 20),
        }
    }

    pub(crate) fn name(&self) -> String {
        format!("{:?} {}", self.protocol, self.symbol)
    }

    /// Follows until cancelled.
    pub(crate) async fn run(mut self, stop: CancellationToken) -> Self {
        while !stop.is_cancelled() {
            let followed = async {
                self.shared.wait_until_up().await;
                self.active = Instant::now();
                let ended = match self.protocol {
                    Protocol::ServerSentEvents => self.follow_events().await,
                    Protocol::WebSocket => self.follow_socket().await,
                };
                self.record(ended).await;
            };
            stop.run_until_cancelled(followed).await;
        }
        self
    }

    async fn record(&self, ended: Result<(), StreamEnd>) {
        let observations = &self.shared.observations;
        increment(&observations.counts.stream_connections);
        let times = RequestTimes::since(self.active);
        let name = self.name();
        match ended {
            Ok(()) | Err(StreamEnd::Enough) => return,
            Err(StreamEnd::Ended) => increment(&observations.counts.streams_ended),
            Err(StreamEnd::Refused(kind, said)) => {
                observations.record_failure(kind, times, &format!("{name}: {said}"));
                tokio::time::sleep(REFUSED_WAIT).await;
            }
            Err(StreamEnd::Broken(error)) => {
                observations.record_failure(
                    failure_kind(&error),
                    times,
                    &format!("{name}: {error}"),
                );
            }
        }
        tokio::time::sleep(RETRY_WAIT).await;
    }

    fn wanted(&mut self) -> usize {
        self.closed.len() + 1 + self.rng.index(CANDLES_MAX)
    }

    async fn follow_events(&mut self) -> Result<(), StreamEnd> {
        let indicators = if self.indicators { "&indicators=rsi,macd" } else { "" };
        let path = format!("/stream/klines?symbol={}&interval=1s{indicators}", self.symbol);
        let mut request = Request::get(path).header("accept", "text/event-stream");
        if let Some(last) = &self.last_event_id {
            request = request.header("last-event-id", last);
        }
        let mut connection = self.open("open SSE stream", &request, 200).await?;
        let (wanted, mut text) = (self.wanted(), Vec::new());
        while self.closed.len() < wanted {
            while let Some(chunk) = take_chunk(&mut connection.buffer)? {
                if chunk.is_empty() {
                    return Err(StreamEnd::Ended);
                }
                text.extend(chunk);
            }
            while let Some(end) = text.windows(2).position(|it| it == b"\n\n") {
                let event: Vec<u8> = text.drain(..end + 2).collect();
                self.handle_event(&String::from_utf8_lossy(&event))?;
            }
            self.read_more(&mut connection).await?;
        }
        Err(StreamEnd::Enough)
    }

    fn handle_event(&mut self, event: &str) -> Result<(), StreamEnd> {
        let field = |name: &str| {
            let mut values = event.lines().filter_map(|line| line.strip_prefix(name));
            values.next().map(str::trim)
        };
        if let Some(id) = field("id:") {
            self.last_event_id = Some(id.to_owned());
        }
        match field("data:") {
            Some(data) => self.handle_message(data.as_bytes()),
            None => Ok(()),
        }
    }

    async fn follow_socket(&mut self) -> Result<(), StreamEnd> {
        let mut connection = self.open("open WebSocket", &upgrade(), 101).await?;
        let mut subscription = json!({ "type": "subscribe", "symbol": self.symbol, "interval": "1s",
            "closedOnly": false });
        if self.indicators {
            subscription["indicators"] = json!({ "rsi": {}, "macd": {} });
        }
        if let Some(last) = self.closed.last() {
            subscription["after"] = last.open.into();
        }
        let hello = frames::from_client(TEXT, subscription.to_string().as_bytes());
        connection.stream.write_all(&hello).await?;
        let wanted = self.wanted();
        while self.closed.len() < wanted {
            let bytes = std::mem::take(&mut connection.buffer);
            let mut at = 0;
            while let Some((frame, length)) =
                frames::first(&bytes[at..]).map_err(io::Error::other)?
            {
                match frame.opcode {
                    PING => {
                        let pong = frames::from_client(PONG, frame.payload);
                        connection.stream.write_all(&pong).await?;
                    }
                    CLOSE => return Err(StreamEnd::Broken(io::Error::other("closed"))),
                    _ => self.handle_message(frame.payload)?,
                }
                at += length;
            }
            connection.buffer = bytes[at..].to_vec();
            self.read_more(&mut connection).await?;
        }
        Err(StreamEnd::Enough)
    }

    /// Opens a stream; its head must have the expected status.
    async fn open(
        &mut self,
        kind: &'static str,
        request: &Request,
        expected: u16,
    ) -> Result<Connection, StreamEnd> {
        let (address, began) = (self.shared.address, Instant::now());
        let opened = async {
            let mut connection = Connection::open(address).await?;
            connection.stream.write_all(&request.bytes(address)).await?;
            let head = connection.read_head().await?;
            if status(&head)? == expected {
                return Ok((connection, None));
            }
            let response = connection.read_response(head).await?;
            Ok::<(Connection, Option<Response>), io::Error>((connection, Some(response)))
        };
        let (connection, refused) =
            timeout(REQUEST_TIMEOUT, opened).await.map_err(|_| timed_out("the head"))??;
        self.active = Instant::now();
        self.shared.observations.record_answer(kind, RequestTimes::since(began));
        match refused {
            None => Ok(connection),
            Some(it) => {
                let said = format!("{} {}", it.status, it.excerpt());
                Err(StreamEnd::Refused(refusal_kind(&it), said))
            }
        }
    }

    async fn read_more(&mut self, connection: &mut Connection) -> Result<(), StreamEnd> {
        timeout(SILENCE_MAX, connection.read_more()).await.map_err(|_| timed_out("an event"))??;
        self.active = Instant::now();
        Ok(())
    }

    fn handle_message(&mut self, message: &[u8]) -> Result<(), StreamEnd> {
        let message: Value = serde_json::from_slice(message).map_err(io::Error::other)?;
        let candle = &message["candle"];
        match message["type"].as_str() {
            Some("kline") if candle["closed"] == true => {
                let number = |name: &str| candle[name].as_f64().unwrap_or(f64::NAN);
                let numbers = ["o", "h", "l", "c", "v"].map(number);
                let open = candle["t"].as_i64().unwrap_or_default();
                self.closed.push(ClosedCandle { open, numbers });
                self.newest.store(open, Ordering::Relaxed);
            }
            Some("status") if message["status"] == "ended" => return Err(StreamEnd::Ended),
            Some("kline" | "status" | "heartbeat" | "subscribed") => {}
            _ => {
                let kind = error_kind(&error_word(&message));
                return Err(StreamEnd::Refused(kind, message.to_string()));
            }
        }
        Ok(())
    }
}

fn timed_out(what: &str) -> StreamEnd {
    StreamEnd::Broken(io::Error::new(io::ErrorKind::TimedOut, format!("{what} did not come")))
}

pub(crate) fn upgrade() -> Request {
    Request::get("/ws")
        .header("upgrade", "websocket")
        .header("connection", "upgrade")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
}
