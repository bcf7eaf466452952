//! The connection that carries a shard's streams and, during a renewal, the standby connection that is to
//! replace it. Reconnects without limit, with exponential backoff.

use std::collections::HashSet;
use std::sync::Arc;

use http_client::Backoff;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::connection::{self, ConnectionEvent, ConnectionSetup};
use super::dial::Dial;
use super::standby_probe::{ProbeResult, StandbyProbe};
use super::subscriptions::SubscriptionChange;
use crate::{BinanceShared, StreamConfig};

/// Events of connections that were not read yet.
const EVENTS_MAX: usize = 1_024;
const CHANGES_MAX: usize = 1_024;

/// The owner's handle of one connection; dropping it ends the connection.
struct ConnectionHandle {
    id: u64,
    changes: mpsc::Sender<SubscriptionChange>,
    opened: Instant,
    /// The streams the exchange has confirmed.
    confirmed: HashSet<String>,
    retiring: bool,
    /// Whether this connection may replace the current one.
    probe: StandbyProbe,
    _stop: DropGuard,
}

impl ConnectionHandle {
    fn send(&mut self, change: SubscriptionChange) -> Result<(), TrySendError<SubscriptionChange>> {
        if let SubscriptionChange::Unsubscribe(names) = &change {
            for name in names {
                self.confirmed.remove(name);
                self.probe.forget(name);
            }
        }
        self.changes.try_send(change)
    }
}

/// What an event of a connection means for the series.
#[derive(Debug)]
pub(crate) enum SeriesChange {
    Nothing,
    /// These streams are live.
    Live(Vec<String>),
    /// The standby connection has taken over and carries these streams.
    Moved(HashSet<String>),
    /// The current connection is lost. The remaining one carries these streams.
    Broken(HashSet<String>),
}

pub(crate) struct ConnectionPair {
    config: Arc<StreamConfig>,
    dial: Arc<dyn Dial>,
    tasks: TaskTracker,
    current: Option<ConnectionHandle>,
    standby: Option<ConnectionHandle>,
    retry_at: Option<Instant>,
    backoff: Backoff,
    /// When a connection may be replaced again because of a mute stream.
    replace_from: Option<Instant>,
    replace_backoff: Backoff,
    next_id: u64,
    event_sender: mpsc::Sender<(u64, ConnectionEvent)>,
    event_receiver: mpsc::Receiver<(u64, ConnectionEvent)>,
}

impl ConnectionPair {
    pub(crate) fn new(shared: &BinanceShared) -> Self {
        let config = Arc::new(shared.config.streams.clone());
        let (event_sender, event_receiver) = mpsc::channel(EVENTS_MAX);
        Self {
            backoff: Backoff::new(config.backoff, config.backoff_max),
            replace_from: None,
            replace_backoff: Backoff::new(config.silence_min * 2, config.mute_wait_max),
            config,
            dial: Arc::clone(&shared.streams.dial),
            tasks: shared.tasks.clone(),
            current: None,
            standby: None,
            retry_at: None,
            next_id: 0,
            event_sender,
            event_receiver,
        }
    }

    /// The next event of any connection. Cancel safe.
    pub(crate) async fn next_event(&mut self) -> (u64, ConnectionEvent) {
        match self.event_receiver.recv().await {
            Some(event) => event,
            // Never happens: this struct holds a sender.
            None => std::future::pending().await,
        }
    }

    pub(crate) fn retry_at(&self) -> Option<Instant> {
        self.retry_at
    }

    /// Opens the connection that is missing.
    pub(crate) fn retry<'a>(&mut self, streams: impl Iterator<Item = &'a String>) {
        self.retry_at = None;
        match &self.current {
            None => self.current = Some(self.open(streams)),
            Some(connection) if connection.retiring && self.standby.is_none() => {
                self.standby = Some(self.open(streams));
            }
            Some(_) => {}
        }
    }

    /// Replaces the current connection because of a mute stream: at once the first time, then with
    /// growing waits while streams stay mute.
    pub(crate) fn replace<'a>(&mut self, streams: impl Iterator<Item = &'a String>) {
        let now = Instant::now();
        let too_soon = self.replace_from.is_some_and(|from| now < from);
        let Some(connection) =
            self.current.as_mut().filter(|connection| !connection.retiring && !too_soon)
        else {
            return;
        };
        connection.retiring = true;
        self.replace_from = Some(now + self.replace_backoff.next());
        if self.retry_at.is_none() {
            self.retry(streams);
        }
    }

    /// A mute stream sends again.
    pub(crate) fn on_recovered(&mut self) {
        self.replace_backoff.reset();
    }

    /// Sends a change to the connections, or opens one: a new connection subscribes to everything.
    pub(crate) fn update_subscriptions<'a>(
        &mut self,
        change: impl Fn() -> SubscriptionChange,
        streams: impl Iterator<Item = &'a String>,
    ) {
        if self.current.is_none() && self.retry_at.is_none() {
            self.current = Some(self.open(streams));
            return;
        }
        for connection in [&mut self.current, &mut self.standby] {
            let refused = connection.as_mut().map(|connection| connection.send(change()));
            // A connection that has ended will report it; one whose queue is full is replaced.
            if let Some(Err(TrySendError::Full(_))) = refused {
                *connection = None;
                self.retry_at = Some(Instant::now());
            }
        }
    }

    fn open<'a>(&mut self, streams: impl Iterator<Item = &'a String>) -> ConnectionHandle {
        let id = self.next_id;
        self.next_id += 1;
        let stop = CancellationToken::new();
        let (changes, receiver) = mpsc::channel(CHANGES_MAX);
        let setup = ConnectionSetup {
            id,
            config: Arc::clone(&self.config),
            dial: Arc::clone(&self.dial),
            streams: streams.cloned().collect(),
            changes: receiver,
            events: self.event_sender.clone(),
            stop: stop.clone(),
        };
        self.tasks.spawn(connection::run(setup));
        ConnectionHandle {
            id,
            changes,
            opened: Instant::now(),
            confirmed: HashSet::new(),
            retiring: false,
            probe: StandbyProbe::default(),
            _stop: stop.drop_guard(),
        }
    }

    pub(crate) fn on_event<'a>(
        &mut self,
        id: u64,
        event: ConnectionEvent,
        streams: impl Iterator<Item = &'a String>,
    ) -> SeriesChange {
        let is = |connection: &Option<ConnectionHandle>| {
            connection.as_ref().is_some_and(|connection| connection.id == id)
        };
        let (current, standby) = (is(&self.current), is(&self.standby));
        match event {
            ConnectionEvent::Subscribed(names) => {
                let connection = if current { &mut self.current } else { &mut self.standby };
                if let Some(connection) =
                    connection.as_mut().filter(|connection| connection.id == id)
                {
                    connection.confirmed.extend(names.iter().cloned());
                }
                if current { SeriesChange::Live(names) } else { SeriesChange::Nothing }
            }
            ConnectionEvent::Ready if standby => {
                if let Some(connection) = &mut self.standby {
                    connection.probe.start(Instant::now());
                }
                self.decide_takeover()
            }
            ConnectionEvent::Retiring if current => {
                if let Some(connection) = &mut self.current {
                    connection.retiring = true;
                }
                self.retry(streams);
                SeriesChange::Nothing
            }
            ConnectionEvent::Retiring if standby => {
                // Its own successor is opened when it takes over.
                if let Some(connection) = &mut self.standby {
                    connection.retiring = true;
                }
                SeriesChange::Nothing
            }
            ConnectionEvent::Closed(reason) if current || standby => {
                tracing::info!(reason, "a connection to the exchange's streams is over");
                self.on_closed(current)
            }
            _ => SeriesChange::Nothing,
        }
    }

    /// Records on which of two connections a candle came.
    pub(crate) fn on_candle(&mut self, id: u64, stream: &str) -> SeriesChange {
        let Some(standby) = &mut self.standby else { return SeriesChange::Nothing };
        if self.current.as_ref().is_some_and(|current| current.id == id) {
            standby.probe.on_current_frame(stream, Instant::now());
        }
        if standby.id != id {
            return SeriesChange::Nothing;
        }
        standby.probe.on_standby_frame(stream);
        self.decide_takeover()
    }

    /// Make before break: drops the current connection when the standby one sends frames, and drops a
    /// standby connection that stays mute.
    pub(crate) fn decide_takeover(&mut self) -> SeriesChange {
        let within = self.config.standby_timeout;
        let Some(standby) = self.standby.take() else { return SeriesChange::Nothing };
        let old =
            self.current.as_ref().map_or(&standby.confirmed, |connection| &connection.confirmed);
        match standby.probe.result([&standby.confirmed, old], Instant::now(), within) {
            ProbeResult::Pending => {
                self.standby = Some(standby);
                SeriesChange::Nothing
            }
            ProbeResult::Passed => {
                let carried = standby.confirmed.clone();
                self.retry_at = standby.retiring.then(Instant::now);
                self.current = Some(standby);
                SeriesChange::Moved(carried)
            }
            ProbeResult::Failed => {
                tracing::info!("a new connection to the exchange's streams stays mute");
                self.retry_at = Some(Instant::now() + self.backoff.next());
                SeriesChange::Nothing
            }
        }
    }

    fn on_closed(&mut self, current: bool) -> SeriesChange {
        let connection = if current { self.current.take() } else { self.standby.take() };
        if connection
            .is_some_and(|connection| connection.opened.elapsed() >= self.config.stable_after)
        {
            self.backoff.reset();
        }
        if current && let Some(standby) = self.standby.take() {
            let remaining_streams = standby.confirmed.clone();
            self.retry_at = standby.retiring.then(Instant::now);
            self.current = Some(standby);
            return SeriesChange::Broken(remaining_streams);
        }
        self.retry_at = Some(Instant::now() + self.backoff.next());
        if current { SeriesChange::Broken(HashSet::new()) } else { SeriesChange::Nothing }
    }
}
