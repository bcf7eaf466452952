//! Outages: the exchange has no rows for these times, as after a real outage.

use clock::{DAY_MS, Millis, TimeRange};

use crate::keyed_rng::{KeyedRng, key, key_of};

/// Each block of this many days has one outage. A day never lies in two blocks.
const CELL_DAYS: i64 = 24;
const CELL_MS: i64 = CELL_DAYS * DAY_MS;
const MINUTES_MIN: u64 = 4;
const MINUTES_MAX: u64 = 90;

/// The outages of one market. They affect all its pairs and last whole minutes.
#[derive(Debug)]
pub(crate) struct Outages {
    key: u64,
    /// The last outage that was computed, because neighbouring bars need the same one.
    last: Option<(i64, TimeRange)>,
}

impl Outages {
    pub(crate) fn new(seed: u64) -> Self {
        Self { key: key(&[seed, key_of("outages")]), last: None }
    }

    /// The outage that overlaps a range within one day.
    pub(crate) fn overlapping(&mut self, stretch: TimeRange) -> Option<TimeRange> {
        let cell = stretch.from.0.div_euclid(CELL_MS);
        let outage = match self.last {
            Some((at, outage)) if at == cell => outage,
            _ => self.of_cell(cell),
        };
        self.last = Some((cell, outage));
        (!outage.overlap(stretch).is_empty()).then_some(outage)
    }

    fn of_cell(&self, cell: i64) -> TimeRange {
        let mut rng = KeyedRng::new(key(&[self.key, cell as u64]));
        let minutes = MINUTES_MIN + rng.next_u64() % (MINUTES_MAX - MINUTES_MIN + 1);
        let latest = (CELL_MS / 60_000).unsigned_abs() - MINUTES_MAX;
        let start = cell * CELL_MS + (rng.next_u64() % latest) as i64 * 60_000;
        TimeRange::new(Millis(start), Millis(start + minutes as i64 * 60_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_found_from_every_day_it_touches() {
        for seed in 0..50 {
            let mut outages = Outages::new(seed);
            for cell in -3..900 {
                let outage = outages.of_cell(cell);
                assert!(outage.from.0 >= cell * CELL_MS && outage.to.0 <= (cell + 1) * CELL_MS);
                assert_eq!(outage.from.0 % 60_000, 0);
                let minutes = outage.length_ms() / 60_000;
                assert!((MINUTES_MIN as i64..=MINUTES_MAX as i64).contains(&minutes));
                let minute = TimeRange::new(Millis(outage.to.0 - 60_000), outage.to);
                assert_eq!(outages.overlapping(minute), Some(outage));
                let after = TimeRange::new(outage.to, Millis(outage.to.0 + 1_000));
                assert_eq!(outages.overlapping(after).filter(|found| *found == outage), None);
            }
        }
    }
}
