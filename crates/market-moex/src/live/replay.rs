//! Closed candles that came before a follower did, read page by page as they are wanted.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use market::{Kline, Millis, Span};
use tokio::time::sleep;
use upstream::{Backoff, Replay};

use super::Series;
use super::look::look;
use crate::Inner;

/// So many looks that end too early say that there is nothing more.
const LOOKS_MAX: u32 = 3;
/// The same where others were told of more, minutes later: the exchange has struck it.
const LOOKS_MAX_TOLD: u32 = 20;

/// What a look gave, and how far it is known.
type Found = (Vec<Kline>, Millis);

pub(crate) struct Missed {
    inner: Arc<Inner>,
    series: Arc<Series>,
    next: Millis,
    /// The first candle that will come live.
    until: Millis,
    looks_max: u32,
    rows: VecDeque<Kline>,
    looking: Option<Pin<Box<dyn Future<Output = Found> + Send>>>,
}

impl Missed {
    /// `told` says that others were told of candles up to the end of what was missed.
    pub(crate) fn new(inner: &Arc<Inner>, series: &Arc<Series>, missed: Span, told: bool) -> Self {
        Self {
            inner: Arc::clone(inner),
            series: Arc::clone(series),
            next: missed.from,
            until: missed.to,
            looks_max: if told { LOOKS_MAX_TOLD } else { LOOKS_MAX },
            rows: VecDeque::new(),
            looking: None,
        }
    }
}

impl Replay for Missed {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Kline>> {
        loop {
            if let Some(row) = self.rows.pop_front() {
                return Poll::Ready(Some(row));
            }
            if self.next >= self.until {
                return Poll::Ready(None);
            }
            let looking = self.looking.get_or_insert_with(|| {
                let (inner, series) = (Arc::clone(&self.inner), Arc::clone(&self.series));
                Box::pin(find(inner, series, Span::new(self.next, self.until), self.looks_max))
            });
            let (rows, known_to) = ready!(looking.as_mut().poll(context));
            self.looking = None;
            self.next = known_to;
            let until = self.until;
            self.rows.extend(rows.into_iter().filter(|row| row.bar.open_time < until));
        }
    }
}

/// The next page of what was missed. All of it has closed, so an answer that does not reach the end
/// is older than what was told to others.
async fn find(inner: Arc<Inner>, series: Arc<Series>, missed: Span, looks_max: u32) -> Found {
    let every = inner.config.live.every;
    let mut waits = Backoff::new(every / 2, every * 4);
    let mut looks = 0;
    loop {
        match look(&inner, &series, missed.from).await {
            Ok(look) if look.more || look.known_to >= missed.to => {
                return (look.rows, look.known_to);
            }
            Ok(look) => {
                looks += 1;
                if looks >= looks_max {
                    return (look.rows, missed.to);
                }
            }
            Err(fault) => {
                let code = &series.listed.security.code;
                tracing::debug!(code, %fault, "a replay waits");
            }
        }
        sleep(waits.next()).await;
    }
}
