//! One connection to the exchange's streams: subscribes at a bearable pace, answers pings, notices
//! when it is dead, and says what it hears. Whether to connect again is not decided here.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};
use tokio_util::sync::CancellationToken;
use upstream::chance;

use super::cadence::Cadence;
use super::sequence::Update;
use super::wire::{self, Message};
use crate::StreamConfig;

/// How many streams one request names.
const BATCH_MAX: usize = 100;
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
    /// All streams it began with are confirmed.
    Ready,
    /// It will end soon; a new one should take its place.
    Retiring,
    Gone(&'static str),
}

/// What a connection is asked to do.
#[derive(Debug)]
pub(crate) enum Order {
    Subscribe(Vec<String>),
    Unsubscribe(Vec<String>),
}

impl Order {
    fn batches(self) -> Vec<Self> {
        let (make, names): (fn(Vec<String>) -> Self, _) = match self {
            Self::Subscribe(names) => (Self::Subscribe, names),
            Self::Unsubscribe(names) => (Self::Unsubscribe, names),
        };
        names.chunks(BATCH_MAX).map(|names| make(names.to_vec())).collect()
    }

    fn text(&self, id: u64) -> String {
        let (method, names) = match self {
            Self::Subscribe(names) => ("SUBSCRIBE", names),
            Self::Unsubscribe(names) => ("UNSUBSCRIBE", names),
        };
        json!({"method": method, "params": names, "id": id}).to_string()
    }
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
    /// Requests that wait for their turn.
    waiting: VecDeque<Order>,
    /// Requests that were not answered yet, and since when.
    unanswered: HashMap<u64, (Instant, Order)>,
    next_id: u64,
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
        let life = link.config.life.mul_f64(0.95 + 0.05 * chance());
        Self {
            socket,
            waiting: Order::Subscribe(std::mem::take(&mut link.streams)).batches().into(),
            link,
            unanswered: HashMap::new(),
            next_id: 1,
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
            let first = self.unanswered.values().map(|(since, _)| *since).min();
            let dead_at = self.doubted_at(&config);
            let far = dead_at + Duration::from_hours(1);
            // What has come is heard before anything is called late: after a pause of our own, the
            // frames of the meantime are there.
            tokio::select! {
                biased;
                () = self.link.stop.cancelled() => return Err(None),
                order = self.link.orders.recv() => match order {
                    Some(order) => self.enqueue(order),
                    None => return Err(None),
                },
                () = sleep_until(self.may_say_at), if !self.waiting.is_empty() => {
                    self.request().await?;
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

    /// Orders that come one by one while others wait are sent as one.
    fn enqueue(&mut self, order: Order) {
        match (self.waiting.back_mut(), order) {
            (Some(Order::Subscribe(waiting)), Order::Subscribe(mut names))
            | (Some(Order::Unsubscribe(waiting)), Order::Unsubscribe(mut names))
                if waiting.len() + names.len() <= BATCH_MAX =>
            {
                waiting.append(&mut names);
            }
            (_, order) => self.waiting.extend(order.batches()),
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
            Ok(Message::Refused { id, reason }) => {
                tracing::warn!(id, reason, "the exchange refused a subscription");
                Err(Some("a subscription was refused"))
            }
            Ok(Message::Other) => Ok(()),
            Err(error) => {
                // One bad frame is no reason to lose the others; what it held comes again.
                tracing::debug!(error, "a frame is not understood");
                Ok(())
            }
        }
    }

    async fn confirmed(&mut self, id: u64) -> Result<(), Over> {
        if let Some((_, Order::Subscribe(names))) = self.unanswered.remove(&id) {
            self.tell(Heard::Subscribed(names)).await?;
        }
        if !self.ready && self.waiting.is_empty() && self.unanswered.is_empty() {
            self.ready = true;
            self.tell(Heard::Ready).await?;
        }
        Ok(())
    }

    async fn request(&mut self) -> Result<(), Over> {
        let Some(order) = self.waiting.pop_front() else { return Ok(()) };
        let id = self.next_id;
        self.next_id += 1;
        self.may_say_at = Instant::now() + self.link.config.message_gap;
        let text = order.text(id);
        self.unanswered.insert(id, (Instant::now(), order));
        self.say(Frame::text(text)).await
    }

    async fn say(&mut self, frame: Frame) -> Result<(), Over> {
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
