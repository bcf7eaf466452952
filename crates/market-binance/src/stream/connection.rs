//! One connection to the exchange's streams: sends subscriptions at the allowed rate, answers pings,
//! detects that it is dead, and emits events. `connection_pair` decides whether to connect again.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http_client::Backoff;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, client_async_tls_with_config};
use tokio_util::sync::CancellationToken;

use super::cadence::Cadence;
use super::dial::{ByteStream, Dial};
use super::sequence::CandleUpdate;
use super::subscriptions::{SubscriptionChange, Subscriptions};
use super::wire::{self, StreamMessage};
use crate::StreamConfig;

const MESSAGE_BYTES_MAX: usize = 1 << 20;
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// The gap between frames that is assumed on a new connection.
const FIRST_FRAME_GAP: Duration = Duration::from_secs(2);

/// What a connection reports, together with its id.
#[derive(Debug)]
pub(crate) enum ConnectionEvent {
    Candle {
        stream: String,
        update: Box<CandleUpdate>,
    },
    /// The exchange has confirmed these streams.
    Subscribed(Vec<String>),
    /// The exchange has refused a stream, which is requested again later.
    Refused,
    /// All initial streams are confirmed or refused.
    Ready,
    /// The connection will end soon and should be replaced.
    Retiring,
    Closed(&'static str),
}

/// What a connection is started with.
pub(crate) struct ConnectionSetup {
    pub(crate) id: u64,
    pub(crate) config: Arc<StreamConfig>,
    pub(crate) dial: Arc<dyn Dial>,
    pub(crate) streams: Vec<String>,
    pub(crate) changes: mpsc::Receiver<SubscriptionChange>,
    pub(crate) events: mpsc::Sender<(u64, ConnectionEvent)>,
    pub(crate) stop: CancellationToken,
}

/// Why a connection ended; `None` if its owner ended it.
type CloseReason = Option<&'static str>;

pub(crate) async fn run(mut setup: ConnectionSetup) {
    let stop = setup.stop.clone();
    let connected = tokio::select! {
        () = stop.cancelled() => return,
        connected = connect(&setup.config, &*setup.dial) => connected,
    };
    let reason = match connected {
        Ok(socket) => {
            let mut connection = ConnectionLoop::new(socket, &mut setup);
            let reason = connection.run().await.err().flatten();
            connection.close(reason).await;
            reason
        }
        Err(reason) => Some(reason),
    };
    if let Some(reason) = reason {
        let gone = setup.events.send((setup.id, ConnectionEvent::Closed(reason)));
        tokio::select! {
            () = stop.cancelled() => {}
            // The receiver is gone when the server shuts down.
            _ = gone => {}
        }
    }
}

type Socket = WebSocketStream<MaybeTlsStream<Box<dyn ByteStream>>>;

async fn connect(config: &StreamConfig, dial: &dyn Dial) -> Result<Socket, &'static str> {
    let limits = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX));
    let endpoint = config.endpoint();
    let connecting = async {
        let stream = dial.dial(&endpoint).await?;
        client_async_tls_with_config(endpoint.as_str(), stream, Some(limits), None).await
    };
    match timeout(config.connect_timeout, connecting).await {
        Ok(Ok((socket, _))) => Ok(socket),
        Ok(Err(error)) => {
            tracing::debug!(%error, "no stream could be opened");
            Err("it could not be opened")
        }
        Err(_) => Err("it could not be opened in time"),
    }
}

struct ConnectionLoop<'a> {
    socket: Socket,
    setup: &'a mut ConnectionSetup,
    subscriptions: Subscriptions,
    next_send_at: Instant,
    last_frame_at: Instant,
    /// How often candles come on this connection.
    cadence: Cadence,
    ping_sent_at: Option<Instant>,
    ready: bool,
    retire_at: Option<Instant>,
}

impl<'a> ConnectionLoop<'a> {
    fn new(socket: Socket, setup: &'a mut ConnectionSetup) -> Self {
        let now = Instant::now();
        // Random, so that connections that were opened together are not replaced together.
        let life = setup.config.connection_lifetime.mul_f64(0.95 + 0.05 * fastrand::f64());
        let retry_waits = Backoff::new(setup.config.backoff, setup.config.backoff_max);
        Self {
            socket,
            subscriptions: Subscriptions::new(std::mem::take(&mut setup.streams), retry_waits),
            setup,
            next_send_at: now,
            last_frame_at: now,
            cadence: Cadence::new(FIRST_FRAME_GAP),
            ping_sent_at: None,
            ready: false,
            retire_at: Some(now + life),
        }
    }

    async fn run(&mut self) -> Result<(), CloseReason> {
        loop {
            let config = Arc::clone(&self.setup.config);
            let first = self.subscriptions.unanswered_since();
            let retry_at = self.subscriptions.retry_at();
            let liveness_at = self.liveness_deadline(&config);
            let far = liveness_at + Duration::from_hours(1);
            // Frames are read before deadlines are checked: after a pause of this process, the frames of
            // the meantime are waiting.
            tokio::select! {
                biased;
                () = self.setup.stop.cancelled() => return Err(None),
                change = self.setup.changes.recv() => match change {
                    Some(change) => self.subscriptions.enqueue(change),
                    None => return Err(None),
                },
                () = sleep_until(self.next_send_at), if self.subscriptions.is_waiting() => {
                    self.send_request().await?;
                }
                () = sleep_until(retry_at.unwrap_or(far)), if retry_at.is_some() => {
                    self.subscriptions.retry();
                }
                () = sleep_until(self.retire_at.unwrap_or(far)), if self.retire_at.is_some() => {
                    self.retire_at = None;
                    self.emit(ConnectionEvent::Retiring).await?;
                }
                frame = self.socket.next() => match frame {
                    Some(Ok(frame)) => self.handle_frame(frame).await?,
                    Some(Err(_)) => return Err(Some("it broke")),
                    None => return Err(Some("it was closed")),
                },
                () = sleep_until(liveness_at) => {
                    if self.ping_sent_at.replace(Instant::now()).is_some() {
                        return Err(Some("nothing was received"));
                    }
                    self.send_frame(Frame::Ping(Vec::new().into())).await?;
                }
                () = sleep_until(first.unwrap_or(far) + config.ack_timeout), if first.is_some() => {
                    return Err(Some("a subscription was not confirmed"));
                }
            }
        }
    }

    /// When to send a ping, or, after a ping, when the connection counts as dead.
    fn liveness_deadline(&self, config: &StreamConfig) -> Instant {
        let longest = config.silence_max / 2;
        match self.ping_sent_at {
            Some(ping_sent) => ping_sent + config.pong_timeout.min(longest),
            None => self.last_frame_at + self.cadence.silence_limit(config.silence_min, longest),
        }
    }

    async fn handle_frame(&mut self, frame: Frame) -> Result<(), CloseReason> {
        self.last_frame_at = Instant::now();
        if self.ping_sent_at.take().is_some() {
            self.cadence.silence_was_harmless();
        }
        let text = match frame {
            Frame::Text(text) => text,
            Frame::Close(_) => return Err(Some("it was closed")),
            // tungstenite has queued the pong to a ping and sends it with the next read, which follows at
            // once.
            _ => return Ok(()),
        };
        match wire::read(text.as_str()) {
            Ok(StreamMessage::Kline { stream, update }) => {
                self.cadence.record(self.last_frame_at);
                self.emit(ConnectionEvent::Candle { stream, update }).await
            }
            Ok(StreamMessage::Done { id }) => self.confirmed(id).await,
            Ok(StreamMessage::Shutdown) => {
                self.retire_at = None;
                self.emit(ConnectionEvent::Retiring).await
            }
            Ok(StreamMessage::Refused { id, reason }) => self.refused(id, &reason).await,
            Ok(StreamMessage::Other) => Ok(()),
            Err(error) => {
                // One malformed frame does not end the connection; its candle comes again.
                tracing::debug!(error, "a frame is not understood");
                Ok(())
            }
        }
    }

    async fn confirmed(&mut self, id: u64) -> Result<(), CloseReason> {
        let names = self.subscriptions.confirmed(id);
        if !names.is_empty() {
            self.emit(ConnectionEvent::Subscribed(names)).await?;
        }
        self.check_ready().await
    }

    async fn refused(&mut self, id: Option<u64>, reason: &str) -> Result<(), CloseReason> {
        if let Some(stream) = self.subscriptions.refused(id, self.last_frame_at) {
            tracing::warn!(stream, reason, "the exchange refused a subscription");
            self.emit(ConnectionEvent::Refused).await?;
        }
        match self.subscriptions.is_all_refused() {
            true => Err(Some("every subscription was refused")),
            false => self.check_ready().await,
        }
    }

    async fn check_ready(&mut self) -> Result<(), CloseReason> {
        if !self.ready && self.subscriptions.is_settled() {
            self.ready = true;
            self.emit(ConnectionEvent::Ready).await?;
        }
        Ok(())
    }

    async fn send_request(&mut self) -> Result<(), CloseReason> {
        let Some(text) = self.subscriptions.next(Instant::now()) else { return Ok(()) };
        self.send_frame(Frame::text(text)).await
    }

    async fn send_frame(&mut self, frame: Frame) -> Result<(), CloseReason> {
        // The exchange counts every message of a client.
        self.next_send_at = Instant::now() + self.setup.config.send_interval;
        match timeout(self.setup.config.ack_timeout, self.socket.send(frame)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Some("it broke")),
            Err(_) => Err(Some("it takes nothing")),
        }
    }

    async fn emit(&self, event: ConnectionEvent) -> Result<(), CloseReason> {
        tokio::select! {
            () = self.setup.stop.cancelled() => Err(None),
            sent = self.setup.events.send((self.setup.id, event)) => sent.map_err(|_| None),
        }
    }

    /// Closes a connection that its owner ended while it worked.
    async fn close(&mut self, reason: CloseReason) {
        if reason.is_none() {
            // The connection is dropped afterwards, whether or not the close frame was sent.
            let _parted = timeout(CLOSE_TIMEOUT, self.socket.close(None)).await;
        }
    }
}
