//! One WebSocket connection: pings, requests, frames that are due, and injected faults.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use clock::Millis;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout};

use super::feed::Feed;
use super::frame::{self, Frame};
use super::requests::{self, Order};
use crate::faults::FaultKind;
use crate::sim::Shared;

/// The clock is read this often even if it stands still, because tests set it.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a stalled connection stays open.
const STALL_MAX: Duration = Duration::from_mins(2);

/// The path and query a connection was opened with.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) combined: bool,
    pub(crate) streams: Vec<String>,
}

pub(crate) struct Session {
    socket: WebSocket,
    shared: Arc<Shared>,
    combined: bool,
    /// By stream name; `None` for streams that never send.
    feeds: BTreeMap<String, Option<Feed>>,
    /// A frame that is sent after the next one.
    held: Option<Frame>,
    /// When the client's last messages came.
    message_times: VecDeque<Instant>,
    /// When the first unanswered ping was sent, and the payload of the last one.
    owed: Option<(Instant, Vec<u8>)>,
    ends_at: Instant,
}

/// The connection has ended.
struct Ended;

impl Session {
    pub(crate) fn new(socket: WebSocket, shared: Arc<Shared>, opening: Opening) -> Self {
        let ends_at = Instant::now() + shared.streams.rules.life;
        let mut session = Self {
            socket,
            shared,
            combined: opening.combined,
            feeds: BTreeMap::new(),
            held: None,
            message_times: VecDeque::new(),
            owed: None,
            ends_at,
        };
        session.subscribe(opening.streams);
        session
    }

    pub(crate) async fn run(&mut self) {
        let _ended = self.serve().await;
    }

    async fn serve(&mut self) -> Result<(), Ended> {
        let (ping_every, pong_within) =
            (self.shared.streams.rules.ping_every, self.shared.streams.rules.pong_within);
        let mut ping = tokio::time::interval_at(Instant::now() + ping_every, ping_every);
        loop {
            let wake = self.wake_at();
            let pong_by = self.owed.as_ref().map(|(since, _)| *since + pong_within);
            tokio::select! {
                biased;
                message = self.socket.next() => {
                    let Some(Ok(message)) = message else { return Err(Ended) };
                    self.handle_message(message).await?;
                }
                () = sleep_until(wake) => self.send_due().await?,
                _ = ping.tick() => self.ping().await?,
                () = sleep_until(self.ends_at) => {
                    return self.close(close_code::NORMAL, "").await;
                }
                () = sleep_until(pong_by.unwrap_or(wake)), if pong_by.is_some() => {
                    return self.close(close_code::POLICY, "Pong timeout").await;
                }
            }
        }
    }

    /// When the next frame is due, in tokio's time.
    fn wake_at(&self) -> Instant {
        let now = self.shared.clock.now();
        let due = self.feeds.values().flatten().map(Feed::due).min();
        let wait_ms = due.map_or(i64::MAX, |due| due.0.saturating_sub(now.0)).max(0) as f64;
        let wait_ms = (wait_ms / self.shared.streams.rules.time_scale.max(0.001)).ceil();
        let wait = Duration::from_millis(wait_ms as u64).min(LOOK_EVERY);
        Instant::now() + wait.max(Duration::from_millis(1))
    }

    async fn send(&mut self, message: Message) -> Result<(), Ended> {
        // A client that does not read is treated like one that does not answer pings.
        let limit = self.shared.streams.rules.pong_within;
        match timeout(limit, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Ended),
        }
    }

    async fn close(&mut self, code: u16, reason: &'static str) -> Result<(), Ended> {
        self.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await?;
        Err(Ended)
    }

    async fn ping(&mut self) -> Result<(), Ended> {
        let payload = self.shared.clock.now().0.to_string().into_bytes();
        let since = self.owed.take().map_or_else(Instant::now, |(since, _)| since);
        self.owed = Some((since, payload.clone()));
        self.send(Message::Ping(payload.into())).await
    }

    async fn handle_message(&mut self, message: Message) -> Result<(), Ended> {
        let now = Instant::now();
        self.message_times.retain(|at| now.duration_since(*at) < Duration::from_secs(1));
        self.message_times.push_back(now);
        if self.message_times.len() > self.shared.streams.rules.messages_per_second {
            return self.close(close_code::POLICY, "Too many requests").await;
        }
        match message {
            Message::Text(text) => match self.handle_request(text.as_str()) {
                Some(answer) => self.send(Message::Text(answer.into())).await,
                None => Ok(()),
            },
            // An unsolicited pong does not count.
            Message::Pong(payload) => {
                self.owed.take_if(|(_, owed)| **owed == *payload);
                Ok(())
            }
            Message::Ping(_) => Ok(()),
            Message::Binary(_) => {
                let refusal = requests::refusal(3, "Invalid JSON: binary data", &Value::Null);
                self.send(Message::Text(refusal.into())).await
            }
            Message::Close(_) => Err(Ended),
        }
    }

    /// The response to a request; `None` only by a fault.
    fn handle_request(&mut self, text: &str) -> Option<String> {
        let (order, id) = match requests::read(text) {
            Ok(read) => read,
            Err(refusal) => return Some(refusal),
        };
        let refuse = |reason: &str| Some(requests::refusal(2, reason, &id));
        match order {
            Order::Subscribe(streams) => {
                match self.subscription_fault(&streams) {
                    Some(FaultKind::WsUnanswered) => return None,
                    Some(_) => return refuse("Invalid request: refused"),
                    None => {}
                }
                let new = streams.iter().filter(|name| !self.feeds.contains_key(*name)).count();
                if self.feeds.len() + new > self.shared.streams.rules.streams_max {
                    return refuse("Invalid request: too many streams");
                }
                self.subscribe(streams);
            }
            Order::Unsubscribe(streams) => {
                for name in streams {
                    if self.feeds.remove(&name).is_some() {
                        self.shared.streams.streams.fetch_sub(1, Ordering::Relaxed);
                    }
                }
            }
            Order::List => {
                let names: Vec<&String> = self.feeds.keys().collect();
                return Some(requests::answer(&json!(names), &id));
            }
        }
        Some(requests::answer(&Value::Null, &id))
    }

    /// A fault strikes one request once, however many streams it names.
    fn subscription_fault(&self, streams: &[String]) -> Option<FaultKind> {
        let strike =
            |name| self.shared.faults.strike_stream(name, FaultKind::strikes_subscriptions);
        streams.iter().find_map(|name| strike(name)).map(|fault| fault.kind)
    }

    fn subscribe(&mut self, streams: Vec<String>) {
        let now = self.shared.clock.now();
        for name in streams {
            let muted = |kind| kind == FaultKind::WsMute;
            let feed = match self.shared.faults.strike_stream(&name, muted) {
                Some(_) => None,
                None => Feed::new(&name, now),
            };
            if let std::collections::btree_map::Entry::Vacant(place) = self.feeds.entry(name) {
                place.insert(feed);
                self.shared.streams.streams.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    async fn send_due(&mut self) -> Result<(), Ended> {
        let now = self.shared.clock.now();
        let mut frames = Vec::new();
        for feed in self.feeds.values_mut().flatten() {
            feed.advance(&self.shared, now, &mut frames);
        }
        for frame in frames {
            self.send_frame(frame, now).await?;
        }
        Ok(())
    }

    async fn send_frame(&mut self, frame: Frame, now: Millis) -> Result<(), Ended> {
        let fault = self.shared.faults.strike_stream(&frame.stream, FaultKind::strikes_frames);
        match fault.map(|fault| fault.kind) {
            Some(FaultKind::WsDrop) => return Err(Ended),
            Some(FaultKind::WsStall) => {
                tokio::time::sleep(STALL_MAX).await;
                return Err(Ended);
            }
            Some(FaultKind::WsShutdown) => {
                self.ends_at =
                    self.ends_at.min(Instant::now() + self.shared.streams.rules.shutdown_notice);
                self.put(&frame::shutdown(now)).await?;
            }
            Some(FaultKind::WsDuplicate) => self.put(&frame).await?,
            Some(FaultKind::WsReorder) if self.held.is_none() => {
                self.held = Some(frame);
                return Ok(());
            }
            _ => {}
        }
        self.put(&frame).await?;
        match self.held.take() {
            Some(held) => self.put(&held).await,
            None => Ok(()),
        }
    }

    async fn put(&mut self, frame: &Frame) -> Result<(), Ended> {
        self.shared.streams.frames.fetch_add(1, Ordering::Relaxed);
        let text = if self.combined { frame::combined(frame) } else { frame.data.clone() };
        self.send(Message::Text(text.into())).await
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.shared.streams.streams.fetch_sub(self.feeds.len() as u64, Ordering::Relaxed);
    }
}
