//! The newest closed candles of each series, in memory: what most requests ask for, over and over.
//!
//! A tail knows from when until when it is complete and answers only within that, so it is never
//! stale: the next closed candle makes requests for the newest miss it, and they bring a new one.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;

use clock::{Millis, TimeRange};
use market::BarSeries;

use super::columns::Candles;

/// Candles kept of one series.
pub(crate) const TAIL_MAX: usize = 5_000;
/// Candles kept in all: 48 MB.
const CANDLES_MAX: usize = 1_000_000;
/// Series, however short their tails are.
const SERIES_MAX: usize = 4_096;

/// The end of a series as far as it is known.
#[derive(Debug, Clone)]
pub(crate) struct RecentSeries {
    /// Since when it is complete; `None` where there is nothing before its first candle.
    from: Option<Millis>,
    /// Until when it is complete, exclusive.
    to: Millis,
    candles: Candles,
}

impl RecentSeries {
    /// Candles that are all there are from `from` on, as far as `to`.
    pub(crate) fn new(from: Option<Millis>, to: Millis, candles: &Candles) -> Self {
        let known = candles.before(to);
        let kept = candles.part(known.saturating_sub(TAIL_MAX)..known);
        let cut = (known > TAIL_MAX).then(|| kept.first()).flatten();
        Self { from: cut.or(from), to, candles: kept.alone() }
    }

    /// The newest candles before a time: so many, or all there are.
    fn last(&self, end: Millis, count: usize) -> Option<Candles> {
        let before = self.candles.before(end);
        let enough = before >= count || self.from.is_none();
        (end <= self.to && enough).then(|| self.candles.part(before.saturating_sub(count)..before))
    }

    fn within(&self, span: TimeRange) -> Option<Candles> {
        let known = span.to <= self.to && self.from.is_none_or(|from| from <= span.from);
        known.then(|| {
            self.candles.part(self.candles.before(span.from)..self.candles.before(span.to))
        })
    }

    /// Whether this answers everything that the other does.
    fn covers(&self, other: &Self) -> bool {
        let reaches = match (self.from, other.from) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(mine), Some(theirs)) => mine <= theirs,
        };
        reaches && self.to >= other.to
    }
}

#[derive(Default)]
pub(crate) struct RecentCandles {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    tails: HashMap<BarSeries, Entry>,
    candles: usize,
    /// Counts uses, so that the longest unused can be found.
    clock: u64,
}

struct Entry {
    tail: RecentSeries,
    used: u64,
}

impl RecentCandles {
    pub(crate) fn last(&self, series: &BarSeries, end: Millis, count: usize) -> Option<Candles> {
        self.find(series, |tail| tail.last(end, count))
    }

    pub(crate) fn within(&self, series: &BarSeries, span: TimeRange) -> Option<Candles> {
        self.find(series, |tail| tail.within(span))
    }

    fn find(
        &self,
        series: &BarSeries,
        ask: impl Fn(&RecentSeries) -> Option<Candles>,
    ) -> Option<Candles> {
        let mut kept = self.kept();
        kept.clock += 1;
        let now = kept.clock;
        let entry = kept.tails.get_mut(series)?;
        entry.used = now;
        ask(&entry.tail)
    }

    /// Keeps a tail, unless a better one is there.
    pub(crate) fn keep(&self, series: &BarSeries, tail: RecentSeries) {
        let mut kept = self.kept();
        if kept.tails.get(series).is_some_and(|entry| entry.tail.covers(&tail)) {
            return;
        }
        kept.remove(series);
        while kept.tails.len() >= SERIES_MAX || kept.candles + tail.candles.len() > CANDLES_MAX {
            let Some(oldest) = kept.longest_unused() else { return };
            kept.remove(&oldest);
        }
        kept.clock += 1;
        kept.candles += tail.candles.len();
        let entry = Entry { tail, used: kept.clock };
        kept.tails.insert(series.clone(), entry);
    }

    /// Nothing that holds this lock can panic half-way through a change.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock()
    }
}

impl Kept {
    fn longest_unused(&self) -> Option<BarSeries> {
        let oldest = self.tails.iter().min_by_key(|(_, entry)| entry.used)?;
        Some(oldest.0.clone())
    }

    fn remove(&mut self, series: &BarSeries) {
        if let Some(gone) = self.tails.remove(series) {
            self.candles -= gone.tail.candles.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use market::{Bar, Decimal, Interval, Symbol, Venue};

    fn series(code: usize) -> BarSeries {
        let symbol = Symbol { venue: Venue::Binance, code: code.to_string() };
        BarSeries { source: "test".to_owned(), symbol, interval: Interval::S1 }
    }

    /// One candle for every number.
    fn candles(times: std::ops::Range<i64>) -> Candles {
        let one = Decimal::from_parts(1, 0).unwrap();
        let bar =
            |open_time| Bar { open_time, open: one, high: one, low: one, close: one, volume: None };
        Candles::of(&times.map(|at| bar(Millis(at))).collect::<Vec<_>>())
    }

    fn times(found: Option<Candles>) -> Option<(i64, i64)> {
        let found = found?;
        Some((found.iter().next()?.t, found.iter().next_back()?.t))
    }

    #[test]
    fn only_what_is_known_is_answered() {
        let tails = RecentCandles::default();
        // Candles of 10 to 19 are known; 20 has been seen, but not all before 21 is certain.
        tails.keep(&series(1), RecentSeries::new(Some(Millis(10)), Millis(20), &candles(10..21)));
        let last = |end, count| times(tails.last(&series(1), Millis(end), count));
        assert_eq!(last(20, 10), Some((10, 19)));
        assert_eq!(last(15, 2), Some((13, 14)));
        assert_eq!(last(20, 11), None, "more than is known");
        assert_eq!(last(21, 1), None, "newer than is known");
        let within =
            |from, to| times(tails.within(&series(1), TimeRange::new(Millis(from), Millis(to))));
        assert_eq!(within(12, 14), Some((12, 13)));
        assert_eq!((within(9, 14), within(12, 21)), (None, None));
        assert!(tails.last(&series(2), Millis(20), 1).is_none());
        // With nothing before it, a short tail is all there is.
        tails.keep(&series(3), RecentSeries::new(None, Millis(20), &candles(10..20)));
        assert_eq!(times(tails.last(&series(3), Millis(20), 99)), Some((10, 19)));
        assert_eq!(
            times(tails.within(&series(3), TimeRange::new(Millis(0), Millis(12)))),
            Some((10, 11))
        );
    }

    #[test]
    fn a_better_tail_replaces_a_worse_one_and_no_other() {
        let tails = RecentCandles::default();
        let has = |end, count| tails.last(&series(1), Millis(end), count).is_some();
        tails.keep(&series(1), RecentSeries::new(Some(Millis(10)), Millis(20), &candles(10..20)));
        tails.keep(&series(1), RecentSeries::new(Some(Millis(15)), Millis(20), &candles(15..20)));
        assert!(has(20, 10), "the longer one stays");
        tails.keep(&series(1), RecentSeries::new(Some(Millis(19)), Millis(21), &candles(19..21)));
        assert!(has(21, 2) && !has(20, 10), "the newer one comes");
    }

    #[test]
    fn memory_is_bounded_and_the_longest_unused_goes() {
        let tails = RecentCandles::default();
        let many = candles(0..6_000);
        for code in 0..CANDLES_MAX / TAIL_MAX + 10 {
            tails.keep(&series(code), RecentSeries::new(None, Millis(6_000), &many));
            assert!(tails.last(&series(0), Millis(6_000), 10).is_some(), "used all the time");
        }
        assert!(tails.kept().candles <= CANDLES_MAX);
        assert!(tails.last(&series(1), Millis(6_000), 10).is_none());
        assert!(tails.last(&series(0), Millis(6_000), TAIL_MAX).is_some());
        assert!(tails.last(&series(0), Millis(6_000), TAIL_MAX + 1).is_none(), "its start was cut");
    }
}
