//! Which connection carries a shard's streams: the current one, and for a while the one that is
//! to replace it. Connecting is tried for ever, at growing intervals.

use std::collections::HashSet;
use std::sync::Arc;

use http_client::Backoff;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::connection::{self, Heard, Link};
use super::requests::Order;
use super::trial::{Trial, Verdict};
use crate::{Inner, StreamConfig};

/// What connections say and have not been asked about yet.
const HEARD_MAX: usize = 1_024;
const ORDERS_MAX: usize = 1_024;

/// One connection, as its owner sees it. It ends when this is dropped.
struct Line {
    id: u64,
    orders: mpsc::Sender<Order>,
    opened: Instant,
    /// The streams the exchange has confirmed.
    confirmed: HashSet<String>,
    retiring: bool,
    /// Whether it may replace another one.
    trial: Trial,
    _stop: DropGuard,
}

impl Line {
    fn take(&mut self, order: Order) -> Result<(), TrySendError<Order>> {
        if let Order::Unsubscribe(names) = &order {
            for name in names {
                self.confirmed.remove(name);
                self.trial.forget(name);
            }
        }
        self.orders.try_send(order)
    }
}

/// What follows for the series from what a connection said.
#[derive(Debug)]
pub(crate) enum Change {
    Nothing,
    /// These are heard live.
    Live(Vec<String>),
    /// A new connection has taken over, and carries these.
    Moved(HashSet<String>),
    /// The connection is gone. Another one carries these already.
    Broken(HashSet<String>),
}

pub(crate) struct Lines {
    config: Arc<StreamConfig>,
    tasks: TaskTracker,
    current: Option<Line>,
    standby: Option<Line>,
    retry_at: Option<Instant>,
    waits: Backoff,
    /// When a connection may be replaced again because of a stream it has lost.
    replace_from: Option<Instant>,
    replace_waits: Backoff,
    next_id: u64,
    say: mpsc::Sender<(u64, Heard)>,
    said: mpsc::Receiver<(u64, Heard)>,
}

impl Lines {
    pub(crate) fn new(inner: &Inner) -> Self {
        let config = Arc::new(inner.config.streams.clone());
        let (say, said) = mpsc::channel(HEARD_MAX);
        Self {
            waits: Backoff::new(config.backoff, config.backoff_max),
            replace_from: None,
            replace_waits: Backoff::new(config.silence_min * 2, config.mute_wait_max),
            config,
            tasks: inner.tasks.clone(),
            current: None,
            standby: None,
            retry_at: None,
            next_id: 0,
            say,
            said,
        }
    }

    /// What any of the connections says next. Nothing is lost by giving up waiting.
    pub(crate) async fn hear(&mut self) -> (u64, Heard) {
        match self.said.recv().await {
            Some(said) => said,
            // Never happens: we hold a sender ourselves.
            None => std::future::pending().await,
        }
    }

    pub(crate) fn retry_at(&self) -> Option<Instant> {
        self.retry_at
    }

    /// Opens what is missing.
    pub(crate) fn retry<'a>(&mut self, streams: impl Iterator<Item = &'a String>) {
        self.retry_at = None;
        match &self.current {
            None => self.current = Some(self.open(streams)),
            Some(line) if line.retiring && self.standby.is_none() => {
                self.standby = Some(self.open(streams));
            }
            Some(_) => {}
        }
    }

    /// Replaces the current connection, which has lost a stream: at once, and then at growing
    /// intervals for as long as that does not help.
    pub(crate) fn replace<'a>(&mut self, streams: impl Iterator<Item = &'a String>) {
        let now = Instant::now();
        let waits = self.replace_from.is_some_and(|from| now < from);
        let Some(line) = self.current.as_mut().filter(|line| !line.retiring && !waits) else {
            return;
        };
        line.retiring = true;
        self.replace_from = Some(now + self.replace_waits.next());
        if self.retry_at.is_none() {
            self.retry(streams);
        }
    }

    /// A stream that was lost is heard again.
    pub(crate) fn regained(&mut self) {
        self.replace_waits.reset();
    }

    /// Passes an order on, or connects: a new connection subscribes to everything anyway.
    pub(crate) fn order<'a>(
        &mut self,
        order: impl Fn() -> Order,
        streams: impl Iterator<Item = &'a String>,
    ) {
        if self.current.is_none() && self.retry_at.is_none() {
            self.current = Some(self.open(streams));
            return;
        }
        for line in [&mut self.current, &mut self.standby] {
            let refused = line.as_mut().map(|line| line.take(order()));
            // One that has ended is about to say so; one that takes no orders is replaced.
            if let Some(Err(TrySendError::Full(_))) = refused {
                *line = None;
                self.retry_at = Some(Instant::now());
            }
        }
    }

    fn open<'a>(&mut self, streams: impl Iterator<Item = &'a String>) -> Line {
        let id = self.next_id;
        self.next_id += 1;
        let stop = CancellationToken::new();
        let (orders, receiver) = mpsc::channel(ORDERS_MAX);
        let link = Link {
            id,
            config: Arc::clone(&self.config),
            streams: streams.cloned().collect(),
            orders: receiver,
            heard: self.say.clone(),
            stop: stop.clone(),
        };
        self.tasks.spawn(connection::run(link));
        Line {
            id,
            orders,
            opened: Instant::now(),
            confirmed: HashSet::new(),
            retiring: false,
            trial: Trial::default(),
            _stop: stop.drop_guard(),
        }
    }

    pub(crate) fn heard<'a>(
        &mut self,
        id: u64,
        heard: Heard,
        streams: impl Iterator<Item = &'a String>,
    ) -> Change {
        let is = |line: &Option<Line>| line.as_ref().is_some_and(|line| line.id == id);
        let (current, standby) = (is(&self.current), is(&self.standby));
        match heard {
            Heard::Subscribed(names) => {
                let line = if current { &mut self.current } else { &mut self.standby };
                if let Some(line) = line.as_mut().filter(|line| line.id == id) {
                    line.confirmed.extend(names.iter().cloned());
                }
                if current { Change::Live(names) } else { Change::Nothing }
            }
            Heard::Ready if standby => {
                if let Some(line) = &mut self.standby {
                    line.trial.begin(Instant::now());
                }
                self.judge()
            }
            Heard::Retiring if current => {
                if let Some(line) = &mut self.current {
                    line.retiring = true;
                }
                self.retry(streams);
                Change::Nothing
            }
            Heard::Retiring if standby => {
                // It has yet to take over, and its own successor is opened then.
                if let Some(line) = &mut self.standby {
                    line.retiring = true;
                }
                Change::Nothing
            }
            Heard::Gone(reason) if current || standby => {
                tracing::info!(reason, "a connection to the exchange's streams is over");
                self.lost(current)
            }
            _ => Change::Nothing,
        }
    }

    /// Notes on which connection a candle came, while there are two.
    pub(crate) fn candle(&mut self, id: u64, stream: &str) -> Change {
        let Some(standby) = &mut self.standby else { return Change::Nothing };
        if self.current.as_ref().is_some_and(|current| current.id == id) {
            standby.trial.heard_old(stream, Instant::now());
        }
        if standby.id != id {
            return Change::Nothing;
        }
        standby.trial.heard_new(stream);
        self.judge()
    }

    /// Make before break: the old connection is let go when the new one is heard, and a new one
    /// that is not is given up for another.
    pub(crate) fn judge(&mut self) -> Change {
        let within = self.config.standby_within;
        let Some(standby) = self.standby.take() else { return Change::Nothing };
        let old = self.current.as_ref().map_or(&standby.confirmed, |line| &line.confirmed);
        match standby.trial.verdict([&standby.confirmed, old], Instant::now(), within) {
            Verdict::Open => {
                self.standby = Some(standby);
                Change::Nothing
            }
            Verdict::Passed => {
                let carried = standby.confirmed.clone();
                self.retry_at = standby.retiring.then(Instant::now);
                self.current = Some(standby);
                Change::Moved(carried)
            }
            Verdict::Failed => {
                tracing::info!("a new connection to the exchange's streams stays mute");
                self.retry_at = Some(Instant::now() + self.waits.next());
                Change::Nothing
            }
        }
    }

    fn lost(&mut self, current: bool) -> Change {
        let line = if current { self.current.take() } else { self.standby.take() };
        if line.is_some_and(|line| line.opened.elapsed() >= self.config.stable_after) {
            self.waits.reset();
        }
        if current && let Some(standby) = self.standby.take() {
            let kept = standby.confirmed.clone();
            self.retry_at = standby.retiring.then(Instant::now);
            self.current = Some(standby);
            return Change::Broken(kept);
        }
        self.retry_at = Some(Instant::now() + self.waits.next());
        if current { Change::Broken(HashSet::new()) } else { Change::Nothing }
    }
}
