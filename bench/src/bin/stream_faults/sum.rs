//! What subscribers were told against what the exchange's record holds.

use std::collections::{HashMap, HashSet};

use market::Bar;

/// A closed candle: when it opened, and its prices and volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Closed {
    pub(crate) open: i64,
    pub(crate) numbers: [f64; 5],
}

impl Closed {
    pub(crate) fn of(bar: &Bar) -> Self {
        let [open, high, low, close] =
            [bar.open, bar.high, bar.low, bar.close].map(|price| price.to_f64());
        let volume = bar.volume.map_or(0.0, |volume| volume.to_f64());
        Self { open: bar.open_time.0, numbers: [open, high, low, close, volume] }
    }
}

/// What came of all subscribers together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) candles: usize,
    pub(crate) lost: usize,
    pub(crate) doubled: usize,
    /// Older than one that came before it.
    pub(crate) misplaced: usize,
    pub(crate) different: usize,
}

impl Sum {
    pub(crate) fn add(&mut self, told: &[Closed], record: &[Closed]) {
        let opens: HashSet<i64> = told.iter().map(|it| it.open).collect();
        let record: HashMap<i64, &Closed> = record.iter().map(|it| (it.open, it)).collect();
        self.candles += told.len();
        self.lost += record.keys().filter(|open| !opens.contains(open)).count();
        self.doubled += told.len() - opens.len();
        self.different += told.iter().filter(|it| record.get(&it.open) != Some(it)).count();
        let mut newest = i64::MIN;
        for candle in told {
            self.misplaced += usize::from(candle.open < newest);
            newest = newest.max(candle.open);
        }
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.lost + self.doubled + self.misplaced + self.different == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(told: &[i64], [lost, doubled, misplaced, different]: [usize; 4]) {
        let closed = |open: &i64| Closed { open: *open, numbers: [1.0; 5] };
        let told: Vec<Closed> = told.iter().map(closed).collect();
        let mut sum = Sum::default();
        sum.add(&told, &[1, 2, 3, 4].map(|open| closed(&open)));
        let expected = Sum { candles: told.len(), lost, doubled, misplaced, different };
        assert_eq!(sum, expected);
        assert_eq!(sum.is_clean(), [lost, doubled, misplaced, different] == [0; 4]);
    }

    #[test]
    fn whatever_is_not_as_in_the_record_is_counted() {
        check(&[1, 2, 3, 4], [0, 0, 0, 0]);
        check(&[1, 2, 4], [1, 0, 0, 0]);
        check(&[1, 2, 2, 3, 4], [0, 1, 0, 0]);
        check(&[1, 3, 2, 4], [0, 0, 1, 0]);
        check(&[1, 2, 3, 4, 3], [0, 1, 1, 0]);
        check(&[1, 2, 3, 4, 5], [0, 0, 0, 1]);
    }

    #[test]
    fn numbers_count_as_well() {
        let closed = |close| Closed { open: 1, numbers: [1.0, 1.0, 1.0, close, 1.0] };
        let mut sum = Sum::default();
        sum.add(&[closed(1.0)], &[closed(1.5)]);
        assert_eq!(sum.different, 1);
    }
}
