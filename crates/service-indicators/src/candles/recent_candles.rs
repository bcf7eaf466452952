//! An in-memory cache of the newest closed candles of each series, which most requests read.
//!
//! An entry records the time range in which it is complete and answers only within that range, so
//! it is never stale: after the next candle closes, a request for the newest candles misses the
//! cache and stores a new entry.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;

use clock::{Millis, TimeRange};
use market::BarSeries;

use super::columns::Candles;

/// Maximum number of cached candles of one series.
pub(crate) const SERIES_CANDLES_MAX: usize = 5_000;
/// Maximum number of cached candles of all series: 48 MB.
const CANDLES_MAX: usize = 1_000_000;
/// Maximum number of cached series.
const SERIES_MAX: usize = 4_096;

/// The cached newest candles of one series.
#[derive(Debug, Clone)]
pub(crate) struct RecentSeries {
    /// Start of the complete range; `None` if the series has no candle before the first cached one.
    from: Option<Millis>,
    /// End of the complete range, exclusive.
    to: Millis,
    candles: Candles,
}

impl RecentSeries {
    /// `candles` must contain every candle of the series between `from` and `to`.
    pub(crate) fn new(from: Option<Millis>, to: Millis, candles: &Candles) -> Self {
        let complete = candles.before(to);
        let newest = candles.part(complete.saturating_sub(SERIES_CANDLES_MAX)..complete);
        let cut = (complete > SERIES_CANDLES_MAX).then(|| newest.first()).flatten();
        Self { from: cut.or(from), to, candles: newest.compacted() }
    }

    /// The newest `count` candles before `end`, or all if the series has fewer.
    fn last(&self, end: Millis, count: usize) -> Option<Candles> {
        let before = self.candles.before(end);
        let enough = before >= count || self.from.is_none();
        (end <= self.to && enough).then(|| self.candles.part(before.saturating_sub(count)..before))
    }

    fn within(&self, span: TimeRange) -> Option<Candles> {
        let complete = span.to <= self.to && self.from.is_none_or(|from| from <= span.from);
        complete.then(|| {
            self.candles.part(self.candles.before(span.from)..self.candles.before(span.to))
        })
    }

    /// Whether this entry answers every request that `other` answers.
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
    state: Mutex<CacheState>,
}

#[derive(Default)]
struct CacheState {
    entries: HashMap<BarSeries, CacheEntry>,
    candles: usize,
    /// Counts lookups and inserts; the entry with the lowest `used` is the least recently used.
    clock: u64,
}

struct CacheEntry {
    recent: RecentSeries,
    used: u64,
}

impl RecentCandles {
    pub(crate) fn last(&self, series: &BarSeries, end: Millis, count: usize) -> Option<Candles> {
        self.find(series, |recent| recent.last(end, count))
    }

    pub(crate) fn within(&self, series: &BarSeries, span: TimeRange) -> Option<Candles> {
        self.find(series, |recent| recent.within(span))
    }

    fn find(
        &self,
        series: &BarSeries,
        lookup: impl Fn(&RecentSeries) -> Option<Candles>,
    ) -> Option<Candles> {
        let mut state = self.state();
        state.clock += 1;
        let now = state.clock;
        let entry = state.entries.get_mut(series)?;
        entry.used = now;
        lookup(&entry.recent)
    }

    /// Stores an entry unless the present entry covers it.
    pub(crate) fn insert(&self, series: &BarSeries, recent: RecentSeries) {
        let mut state = self.state();
        if state.entries.get(series).is_some_and(|entry| entry.recent.covers(&recent)) {
            return;
        }
        state.remove(series);
        while state.entries.len() >= SERIES_MAX
            || state.candles + recent.candles.len() > CANDLES_MAX
        {
            let Some(oldest) = state.least_recently_used() else { return };
            state.remove(&oldest);
        }
        state.clock += 1;
        state.candles += recent.candles.len();
        let entry = CacheEntry { recent, used: state.clock };
        state.entries.insert(series.clone(), entry);
    }

    /// No code under this lock can panic in the middle of a change.
    fn state(&self) -> MutexGuard<'_, CacheState> {
        self.state.lock()
    }
}

impl CacheState {
    fn least_recently_used(&self) -> Option<BarSeries> {
        let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used)?;
        Some(oldest.0.clone())
    }

    fn remove(&mut self, series: &BarSeries) {
        if let Some(gone) = self.entries.remove(series) {
            self.candles -= gone.recent.candles.len();
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

    /// One candle for each opening time.
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
    fn the_cache_answers_only_within_its_complete_range() {
        let cache = RecentCandles::default();
        // The range 10 to 19 is complete. Candle 20 is present, but the range up to 21 is not
        // complete.
        cache.insert(&series(1), RecentSeries::new(Some(Millis(10)), Millis(20), &candles(10..21)));
        let last = |end, count| times(cache.last(&series(1), Millis(end), count));
        assert_eq!(last(20, 10), Some((10, 19)));
        assert_eq!(last(15, 2), Some((13, 14)));
        assert_eq!(last(20, 11), None, "more than is known");
        assert_eq!(last(21, 1), None, "newer than is known");
        let within =
            |from, to| times(cache.within(&series(1), TimeRange::new(Millis(from), Millis(to))));
        assert_eq!(within(12, 14), Some((12, 13)));
        assert_eq!((within(9, 14), within(12, 21)), (None, None));
        assert!(cache.last(&series(2), Millis(20), 1).is_none());
        // `from` is `None`: the series has no earlier candle, so a short entry answers a large
        // count.
        cache.insert(&series(3), RecentSeries::new(None, Millis(20), &candles(10..20)));
        assert_eq!(times(cache.last(&series(3), Millis(20), 99)), Some((10, 19)));
        assert_eq!(
            times(cache.within(&series(3), TimeRange::new(Millis(0), Millis(12)))),
            Some((10, 11))
        );
    }

    #[test]
    fn an_entry_is_replaced_unless_it_covers_the_new_one() {
        let cache = RecentCandles::default();
        let has = |end, count| cache.last(&series(1), Millis(end), count).is_some();
        cache.insert(&series(1), RecentSeries::new(Some(Millis(10)), Millis(20), &candles(10..20)));
        cache.insert(&series(1), RecentSeries::new(Some(Millis(15)), Millis(20), &candles(15..20)));
        assert!(has(20, 10), "the longer one stays");
        cache.insert(&series(1), RecentSeries::new(Some(Millis(19)), Millis(21), &candles(19..21)));
        assert!(has(21, 2) && !has(20, 10), "the newer one comes");
    }

    #[test]
    fn memory_is_bounded_and_the_least_recently_used_entry_is_evicted() {
        let cache = RecentCandles::default();
        let many = candles(0..6_000);
        for code in 0..CANDLES_MAX / SERIES_CANDLES_MAX + 10 {
            cache.insert(&series(code), RecentSeries::new(None, Millis(6_000), &many));
            assert!(cache.last(&series(0), Millis(6_000), 10).is_some(), "used all the time");
        }
        assert!(cache.state().candles <= CANDLES_MAX);
        assert!(cache.last(&series(1), Millis(6_000), 10).is_none());
        assert!(cache.last(&series(0), Millis(6_000), SERIES_CANDLES_MAX).is_some());
        assert!(
            cache.last(&series(0), Millis(6_000), SERIES_CANDLES_MAX + 1).is_none(),
            "its start was cut"
        );
    }
}
