//! One connection to the exchange's streams: subscribes at a bearable pace, answers pings, notices
//! when it is dead, and says what it hears. Whether to connect again is not decided here.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http_client::{Backoff, random_unit};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};
use tokio_util::sync::CancellationToken;

use super::cadence::Cadence;
use super::requests::{Order, Requests};
use super::sequence::Update;
use super::wire::{self, Message};
use crate::StreamConfig;

const MESSAGE_BYTES_MAX: usize = 1 << 20;
const FAREWELL: Duration = Duration::from_secs(1);
/// How soon candles are expected on a new connection.
const FIRST_CANDLES: Duration = Duration::from_secs(2);

/// What a connection tells, with its own number.
#[derive(Debug)]
pub(crate) enum Heard {
    Candle {
        stream: String,
        update: Box<Update>,
    },
    /// The exchange has confirmed these streams.
    Subscribed(Vec<String>),
    /// The exchange has refused a stream, which is asked for again.
    Refused,
    /// All streams it began with are confirmed, but for those that are refused.
    Ready,
    /// It will end soon; a new one should take its place.
    Retiring,
    Gone(&'static str),
}

/// What a connection needs.
pub(crate) struct Link {
    pub(crate) id: u64,
    pub(crate) config: Arc<StreamConfig>,
    pub(crate) streams: Vec<String>,
    pub(crate) orders: mpsc::Receiver<Order>,
    pub(crate) heard: mpsc::Sender<(u64, Heard)>,
    pub(crate) stop: CancellationToken,
}

/// Why a connection is over; `None` where nobody wants to know.
type Over = Option<&'static str>;

pub(crate) async fn run(mut link: Link) {
    let stop = link.stop.clone();
    let connected = tokio::select! {
        () = stop.cancelled() => return,
        connected = connect(&link.config) => connected,
    };
    let over = match connected {
        Ok(socket) => {
            let mut talk = Talk::new(socket, &mut link);
            let over = talk.run().await.err().flatten();
            talk.part(over).await;
            over
        }
        Err(reason) => Some(reason),
    };
    if let Some(reason) = over {
        let gone = link.heard.send((link.id, Heard::Gone(reason)));
        tokio::select! {
            () = stop.cancelled() => {}
            // Nobody listens where the house closes.
            _ = gone => {}
        }
    }
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn connect(config: &StreamConfig) -> Result<Socket, &'static str> {
    let limits = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX));
    let connecting = connect_async_with_config(config.endpoint(), Some(limits), true);
    match timeout(config.connect_timeout, connecting).await {
        Ok(Ok((socket, _))) => Ok(socket),
        Ok(Err(error)) => {
            tracing::debug!(%error, "no stream could be opened");
            Err("it could not be opened")
        }
        Err(_) => Err("it could not be opened in time"),
    }
}

struct Talk<'a> {
    socket: Socket,
    link: &'a mut Link,
    requests: Requests,
    may_say_at: Instant,
    heard_at: Instant,
    /// How often candles come.
    cadence: Cadence,
    asked_for_life_at: Option<Instant>,
    ready: bool,
    retire_at: Option<Instant>,
}

impl<'a> Talk<'a> {
    fn new(socket: Socket, link: &'a mut Link) -> Self {
        let now = Instant::now();
        // Connections that were opened together are not replaced together.
        let life = link.config.life.mul_f64(0.95 + 0.05 * random_unit());
        let retry_waits = Backoff::new(link.config.backoff, link.config.backoff_max);
        Self {
            socket,
            requests: Requests::new(std::mem::take(&mut link.streams), retry_waits),
            link,
            may_say_at: now,
            heard_at: now,
            cadence: Cadence::new(FIRST_CANDLES),
            asked_for_life_at: None,
            ready: false,
            retire_at: Some(now + life),
        }
    }

    async fn run(&mut self) -> Result<(), Over> {
        loop {
            let config = Arc::clone(&self.link.config);
            let first = self.requests.unanswered_since();
            let retry_at = self.requests.retry_at();
            let dead_at = self.doubted_at(&config);
            let far = dead_at + Duration::from_hours(1);
            // What has come is heard before anything is called late: after a pause of our own, the
            // frames of the meantime are there.
            tokio::select! {
                biased;
                () = self.link.stop.cancelled() => return Err(None),
                order = self.link.orders.recv() => match order {
                    Some(order) => self.requests.enqueue(order),
                    None => return Err(None),
                },
                () = sleep_until(self.may_say_at), if self.requests.is_waiting() => {
                    self.request().await?;
                }
                () = sleep_until(retry_at.unwrap_or(far)), if retry_at.is_some() => {
                    self.requests.retry();
                }
                () = sleep_until(self.retire_at.unwrap_or(far)), if self.retire_at.is_some() => {
                    self.retire_at = None;
                    self.tell(Heard::Retiring).await?;
                }
                frame = self.socket.next() => match frame {
                    Some(Ok(frame)) => self.hear(frame).await?,
                    Some(Err(_)) => return Err(Some("it broke")),
                    None => return Err(Some("it was closed")),
                },
                () = sleep_until(dead_at) => {
                    if self.asked_for_life_at.replace(Instant::now()).is_some() {
                        return Err(Some("nothing was heard"));
                    }
                    self.say(Frame::Ping(Vec::new().into())).await?;
                }
                () = sleep_until(first.unwrap_or(far) + config.ack_within), if first.is_some() => {
                    return Err(Some("a subscription was not confirmed"));
                }
            }
        }
    }

    /// When the connection is to be asked for a sign of life, or is dead for want of one.
    fn doubted_at(&self, config: &StreamConfig) -> Instant {
        let longest = config.silence_max / 2;
        match self.asked_for_life_at {
            Some(asked) => asked + config.answer_within.min(longest),
            None => self.heard_at + self.cadence.patience(config.silence_min, longest),
        }
    }

    async fn hear(&mut self, frame: Frame) -> Result<(), Over> {
        self.heard_at = Instant::now();
        if self.asked_for_life_at.take().is_some() {
            self.cadence.excused();
        }
        let text = match frame {
            Frame::Text(text) => text,
            Frame::Close(_) => return Err(Some("it was closed")),
            // The library has queued the pong to a ping, and sends it when it is read from next,
            // which is at once: nothing here waits for long between two reads.
            _ => return Ok(()),
        };
        match wire::read(text.as_str()) {
            Ok(Message::Kline { stream, update }) => {
                self.cadence.heard(self.heard_at);
                self.tell(Heard::Candle { stream, update }).await
            }
            Ok(Message::Done { id }) => self.confirmed(id).await,
            Ok(Message::Shutdown) => {
                self.retire_at = None;
                self.tell(Heard::Retiring).await
            }
            Ok(Message::Refused { id, reason }) => self.refused(id, &reason).await,
            Ok(Message::Other) => Ok(()),
            Err(error) => {
                // One bad frame is no reason to lose the others; what it held comes again.
                tracing::debug!(error, "a frame is not understood");
                Ok(())
            }
        }
    }

    async fn confirmed(&mut self, id: u64) -> Result<(), Over> {
        let names = self.requests.confirmed(id);
        if !names.is_empty() {
            self.tell(Heard::Subscribed(names)).await?;
        }
        self.settle().await
    }

    async fn refused(&mut self, id: Option<u64>, reason: &str) -> Result<(), Over> {
        if let Some(stream) = self.requests.refused(id, self.heard_at) {
            tracing::warn!(stream, reason, "the exchange refused a subscription");
            self.tell(Heard::Refused).await?;
        }
        match self.requests.is_hopeless() {
            true => Err(Some("every subscription was refused")),
            false => self.settle().await,
        }
    }

    async fn settle(&mut self) -> Result<(), Over> {
        if !self.ready && self.requests.is_settled() {
            self.ready = true;
            self.tell(Heard::Ready).await?;
        }
        Ok(())
    }

    async fn request(&mut self) -> Result<(), Over> {
        let Some(text) = self.requests.next(Instant::now()) else { return Ok(()) };
        self.say(Frame::text(text)).await
    }

    async fn say(&mut self, frame: Frame) -> Result<(), Over> {
        // The exchange counts whatever is sent.
        self.may_say_at = Instant::now() + self.link.config.message_gap;
        match timeout(self.link.config.ack_within, self.socket.send(frame)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Some("it broke")),
            Err(_) => Err(Some("it takes nothing")),
        }
    }

    async fn tell(&self, heard: Heard) -> Result<(), Over> {
        tokio::select! {
            () = self.link.stop.cancelled() => Err(None),
            told = self.link.heard.send((self.link.id, heard)) => told.map_err(|_| None),
        }
    }

    /// A connection that is given up while it works is closed properly.
    async fn part(&mut self, over: Over) {
        if over.is_none() {
            // It is over either way.
            let _parted = timeout(FAREWELL, self.socket.close(None)).await;
        }
    }
}
