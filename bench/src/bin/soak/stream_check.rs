//! Runs the readers of live candles and compares what they got with the exchange's history.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bench::delivery::{ClosedCandle, DeliveryTally};
use clock::{Clock as _, SystemClock};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::clients::Shared;
use crate::clients::streams::StreamReader;
use crate::exchange::Exchange;

/// The candles that closed before the end of the load must arrive within this time.
const LAST_CANDLES_TIMEOUT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(200);
const SECOND_MS: i64 = 1_000;

pub(crate) struct StreamReaders {
    tasks: JoinSet<StreamReader>,
    newest: Vec<Arc<AtomicI64>>,
    stop: CancellationToken,
}

/// What all readers got.
pub(crate) struct Delivered {
    pub(crate) readers: usize,
    pub(crate) tally: DeliveryTally,
    /// One line for each reader whose candles are not those of the exchange.
    pub(crate) wrong: Vec<String>,
}

impl StreamReaders {
    pub(crate) fn start(shared: &Arc<Shared>, seed: u64, count: usize) -> Self {
        let (mut tasks, mut newest, stop) = (JoinSet::new(), Vec::new(), CancellationToken::new());
        for number in 0..count {
            let reader = StreamReader::new(shared, seed, number);
            newest.push(Arc::clone(&reader.newest));
            tasks.spawn(reader.run(stop.clone()));
        }
        Self { tasks, newest, stop }
    }

    /// Waits for the candles that closed before now, ends the readers and compares.
    pub(crate) async fn check(mut self, exchange: Exchange) -> Outcome<Delivered> {
        let now = SystemClock.now().0;
        let last = now - now.rem_euclid(SECOND_MS) - SECOND_MS;
        let until = Instant::now() + LAST_CANDLES_TIMEOUT;
        let behind = || self.newest.iter().any(|it| it.load(Ordering::Relaxed) < last);
        while behind() && Instant::now() < until {
            tokio::time::sleep(POLL).await;
        }
        self.stop.cancel();
        let mut readers = Vec::new();
        while let Some(reader) = self.tasks.join_next().await {
            readers.push(reader?);
        }
        let mut first: BTreeMap<&'static str, i64> = BTreeMap::new();
        for reader in &readers {
            for candle in &reader.closed {
                let first = first.entry(reader.symbol).or_insert(candle.open);
                *first = candle.open.min(*first);
            }
        }
        let mut history = BTreeMap::new();
        for (symbol, first) in first {
            history.insert(symbol, exchange.history(symbol, first, last).await?);
        }
        Ok(compare(&readers, &history, last))
    }
}

fn compare(
    readers: &[StreamReader],
    history: &BTreeMap<&'static str, Vec<ClosedCandle>>,
    last: i64,
) -> Delivered {
    let (mut all, mut wrong) = (DeliveryTally::default(), Vec::new());
    for reader in readers {
        let delivered: Vec<ClosedCandle> =
            reader.closed.iter().filter(|it| it.open <= last).copied().collect();
        let Some(first) = delivered.iter().map(|it| it.open).min() else {
            wrong.push(format!("{}: nothing came", reader.name()));
            continue;
        };
        let history = history.get(reader.symbol).into_iter().flatten();
        let history: Vec<ClosedCandle> =
            history.filter(|it| (first..=last).contains(&it.open)).copied().collect();
        let mut own = DeliveryTally::default();
        own.add(&delivered, &history);
        if !own.is_clean() {
            let newest = delivered.last().map_or(0, |it| it.open);
            wrong.push(format!("{}: {own:?}, from {first} to {newest} of {last}", reader.name()));
        }
        all.add(&delivered, &history);
    }
    Delivered { readers: readers.len(), tally: all, wrong }
}
