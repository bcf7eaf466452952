//! The order of one series: which candles may be published next, and whether candles are missing.
//!
//! Pure: frames and rows go in, in any order; candles come out in order. A candle is closed only if
//! the exchange said so.

use std::collections::BTreeMap;

use clock::{Millis, TimeRange};
use market::{Interval, Kline};

/// How many closed candles are kept while an older one is missing. Later ones come again with the
/// history.
const AHEAD_MAX: usize = 64;

/// A candle and the exchange's time of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CandleUpdate {
    pub(crate) kline: Kline,
    pub(crate) as_of: Millis,
}

impl CandleUpdate {
    fn open(&self) -> Millis {
        self.kline.bar.open_time
    }
}

#[derive(Debug)]
pub(crate) struct Sequence {
    interval: Interval,
    /// The candle that closes next: all closed ones before it were released or do not exist.
    expected: Millis,
    /// Closed candles that must wait for older ones.
    ahead: BTreeMap<Millis, CandleUpdate>,
    /// The newest forming candle, and whether it was released.
    forming: Option<(CandleUpdate, bool)>,
}

impl Sequence {
    pub(crate) fn new(interval: Interval, expected: Millis) -> Self {
        Self { interval, expected, ahead: BTreeMap::new(), forming: None }
    }

    pub(crate) fn expected(&self) -> Millis {
        self.expected
    }

    /// The newest candle that the stream sent.
    pub(crate) fn forming(&self) -> Option<&Kline> {
        self.forming.as_ref().map(|(update, _)| &update.kline)
    }

    /// When the next candle closes by the clock.
    pub(crate) fn closes_at(&self) -> Millis {
        self.interval.next_open(self.expected)
    }

    /// The later candle that proves that candles before it are missing.
    pub(crate) fn gap(&self) -> Option<Millis> {
        let closed = self.ahead.keys().next().copied();
        let forming = self.forming.map(|(update, _)| update.open());
        let first = closed.into_iter().chain(forming).min()?;
        (first > self.expected).then_some(first)
    }

    /// Takes a frame and appends the candles that may be published now.
    pub(crate) fn push(&mut self, update: CandleUpdate, released: &mut Vec<CandleUpdate>) {
        let open = update.open();
        if open < self.expected {
            return;
        }
        if update.kline.closed {
            // The expected candle always has room, because it is released at once.
            if open == self.expected || self.ahead.len() < AHEAD_MAX {
                self.ahead.entry(open).or_insert(update);
            }
        } else {
            let newer =
                |(last, _): &(CandleUpdate, bool)| (last.open(), last.as_of) < (open, update.as_of);
            if self.forming.as_ref().is_none_or(newer) {
                self.forming = Some((update, false));
            }
        }
        self.release(released);
    }

    /// Takes closed rows of the history, ascending, which is complete up to `complete_to`. Returns
    /// the range of the rows that were released.
    pub(crate) fn fill(
        &mut self,
        rows: &[Kline],
        complete_to: Millis,
        released: &mut Vec<CandleUpdate>,
    ) -> Option<TimeRange> {
        let mut filled: Option<TimeRange> = None;
        for row in rows {
            let open = row.bar.open_time;
            if open < self.expected {
                continue;
            }
            self.expected = self.interval.next_open(open);
            released.push(CandleUpdate { kline: *row, as_of: row.close_time });
            let from = filled.map_or(open, |span| span.from);
            filled = Some(TimeRange::new(from, self.expected));
        }
        self.expected = self.expected.max(complete_to);
        self.release(released);
        filled
    }

    fn release(&mut self, released: &mut Vec<CandleUpdate>) {
        while let Some(first) = self.ahead.first_entry()
            && *first.key() <= self.expected
        {
            let update = first.remove();
            if update.open() == self.expected {
                self.expected = self.interval.next_open(self.expected);
                released.push(update);
            }
        }
        if let Some((update, was_released)) = &mut self.forming {
            if update.open() < self.expected {
                self.forming = None;
            } else if update.open() == self.expected && !*was_released {
                *was_released = true;
                released.push(*update);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use market::{Bar, Decimal};
    use proptest::prelude::*;

    use super::*;

    const MINUTE: i64 = 60_000;

    fn kline(minute: i64, closed: bool) -> Kline {
        let open_time = Millis(minute * MINUTE);
        let one = Decimal::ZERO;
        let bar = Bar { open_time, open: one, high: one, low: one, close: one, volume: None };
        Kline { bar, close_time: Millis(open_time.0 + MINUTE - 1), closed }
    }

    fn update(minute: i64, closed: bool, as_of: i64) -> CandleUpdate {
        CandleUpdate { kline: kline(minute, closed), as_of: Millis(as_of) }
    }

    fn shown(released: &[CandleUpdate]) -> String {
        let show = |update: &CandleUpdate| {
            let minute = update.open().0 / MINUTE;
            if update.kline.closed { format!("[{minute}]") } else { format!("{minute}") }
        };
        released.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    /// `3` is a frame of a forming candle, `[3]` of a closed one, `r1-3<5` rows of a history that
    /// is complete up to minute 5.
    #[track_caller]
    fn check(frames: &str, expected: &str, gap: Option<i64>) {
        let mut sequence = Sequence::new(Interval::M1, Millis(MINUTE));
        let mut released = Vec::new();
        for (at, word) in frames.split(' ').enumerate() {
            if let Some(rows) = word.strip_prefix('r') {
                let (rows, known) = rows.split_once('<').unwrap();
                let (first, last) = rows.split_once('-').unwrap();
                let range = first.parse().unwrap()..=last.parse().unwrap();
                let rows: Vec<_> = range.map(|minute| kline(minute, true)).collect();
                let known = known.parse::<i64>().unwrap() * MINUTE;
                sequence.fill(&rows, Millis(known), &mut released);
            } else {
                let closed = word.starts_with('[');
                let minute = word.trim_matches(['[', ']']).parse().unwrap();
                sequence.push(update(minute, closed, at as i64), &mut released);
            }
        }
        assert_eq!(shown(&released), expected, "{frames}");
        assert_eq!(sequence.gap().map(|until| until.0 / MINUTE), gap, "{frames}");
    }

    #[test]
    fn candles_come_in_order_once_and_without_gaps() {
        check("1 1 [1] 2 [2]", "1 1 [1] 2 [2]", None);
        check("1 [1] [1] 1 2", "1 [1] 2", None);
        check("0 [0] 1", "1", None);
        // A later candle proves that this one closed, but does not replace its closing frame.
        check("1 2", "1", Some(2));
        check("1 2 2 3 r1-1<2", "1 [1]", Some(3));
        check("1 2 2 r1-1<2", "1 [1] 2", None);
        check("1 2 [1] 2", "1 [1] 2 2", None);
        check("1 [2] 3 [1]", "1 [1] [2] 3", None);
        check("1 [4] 5", "1", Some(4));
        check("1 [4] 5 r1-2<3", "1 [1] [2]", Some(4));
        check("1 [4] 5 r1-2<3 r3-3<4", "1 [1] [2] [3] [4] 5", None);
        check("1 [4] 5 r1-4<5", "1 [1] [2] [3] [4] 5", None);
        // A gap in the history: nothing was traded.
        check("1 [1] 5 r9-8<5", "1 [1] 5", None);
        // The history lags behind.
        check("1 5 r9-8<1", "1", Some(5));
    }

    #[test]
    fn an_older_state_of_a_forming_candle_is_ignored() {
        let mut sequence = Sequence::new(Interval::M1, Millis(MINUTE));
        let mut released = Vec::new();
        for as_of in [5, 3, 5, 7] {
            sequence.push(update(1, false, as_of), &mut released);
        }
        let as_of: Vec<i64> = released.iter().map(|update| update.as_of.0).collect();
        assert_eq!(as_of, [5, 7]);
    }

    proptest! {
        /// With lost, duplicate and reordered frames, closed candles come in order and once, and
        /// only those that the exchange closed; after a fill, all of them.
        #[test]
        fn no_candle_is_lost_duplicated_or_invented(
            frames in prop::collection::vec((1_i64..200, any::<bool>(), 0_i64..50), 0..300),
            fills in prop::collection::vec(1_i64..220, 0..10),
        ) {
            let mut sequence = Sequence::new(Interval::M1, Millis(MINUTE));
            let mut released = Vec::new();
            let every = frames.len() / (fills.len() + 1) + 1;
            for (at, (minute, closed, as_of)) in frames.iter().enumerate() {
                sequence.push(update(*minute, *closed, *as_of), &mut released);
                if at % every == every - 1 {
                    let until = fills[(at / every) % fills.len().max(1)..].first().copied();
                    let from = sequence.expected().0 / MINUTE;
                    if let Some(until) = until.filter(|until| *until > from) {
                        let rows: Vec<_> = (from..until).map(|at| kline(at, true)).collect();
                        sequence.fill(&rows, Millis(until * MINUTE), &mut released);
                    }
                }
                prop_assert!(sequence.ahead.len() <= AHEAD_MAX);
            }
            let rows: Vec<_> = (1..250).map(|at| kline(at, true)).collect();
            sequence.fill(&rows, Millis(250 * MINUTE), &mut released);
            let closed: Vec<i64> = released
                .iter()
                .filter(|update| update.kline.closed)
                .map(|update| update.open().0 / MINUTE)
                .collect();
            prop_assert_eq!(closed, (1..250).collect::<Vec<_>>());
            prop_assert_eq!(sequence.gap(), None);
            let mut closed_before = 0;
            for update in &released {
                let minute = update.open().0 / MINUTE;
                prop_assert_eq!(minute, closed_before + 1);
                closed_before += i64::from(update.kline.closed);
            }
        }
    }
}
