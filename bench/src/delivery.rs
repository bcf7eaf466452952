//! Compares what subscribers got with the exchange's history.

use std::collections::{HashMap, HashSet};

use market::Bar;

/// A closed candle: when it opened, and its prices and volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosedCandle {
    pub open: i64,
    pub numbers: [f64; 5],
}

impl ClosedCandle {
    pub fn of(bar: &Bar) -> Self {
        let [open, high, low, close] =
            [bar.open, bar.high, bar.low, bar.close].map(|price| price.to_f64());
        let volume = bar.volume.map_or(0.0, |volume| volume.to_f64());
        Self { open: bar.open_time.0, numbers: [open, high, low, close, volume] }
    }
}

/// The counts of all subscribers together.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DeliveryTally {
    pub candles: usize,
    pub lost: usize,
    pub duplicated: usize,
    /// Older than one that came before it.
    pub out_of_order: usize,
    pub different: usize,
}

impl DeliveryTally {
    pub fn add(&mut self, delivered: &[ClosedCandle], history: &[ClosedCandle]) {
        let opens: HashSet<i64> = delivered.iter().map(|it| it.open).collect();
        let history: HashMap<i64, &ClosedCandle> = history.iter().map(|it| (it.open, it)).collect();
        self.candles += delivered.len();
        self.lost += history.keys().filter(|open| !opens.contains(open)).count();
        self.duplicated += delivered.len() - opens.len();
        self.different += delivered.iter().filter(|it| history.get(&it.open) != Some(it)).count();
        let mut newest = i64::MIN;
        for candle in delivered {
            self.out_of_order += usize::from(candle.open < newest);
            newest = newest.max(candle.open);
        }
    }

    pub fn is_clean(&self) -> bool {
        self.lost + self.duplicated + self.out_of_order + self.different == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(delivered: &[i64], [lost, duplicated, out_of_order, different]: [usize; 4]) {
        let closed = |open: &i64| ClosedCandle { open: *open, numbers: [1.0; 5] };
        let delivered: Vec<ClosedCandle> = delivered.iter().map(closed).collect();
        let mut tally = DeliveryTally::default();
        tally.add(&delivered, &[1, 2, 3, 4].map(|open| closed(&open)));
        let expected =
            DeliveryTally { candles: delivered.len(), lost, duplicated, out_of_order, different };
        assert_eq!(tally, expected);
        assert_eq!(tally.is_clean(), [lost, duplicated, out_of_order, different] == [0; 4]);
    }

    #[test]
    fn every_difference_from_the_history_is_counted() {
        check(&[1, 2, 3, 4], [0, 0, 0, 0]);
        check(&[1, 2, 4], [1, 0, 0, 0]);
        check(&[1, 2, 2, 3, 4], [0, 1, 0, 0]);
        check(&[1, 3, 2, 4], [0, 0, 1, 0]);
        check(&[1, 2, 3, 4, 3], [0, 1, 1, 0]);
        check(&[1, 2, 3, 4, 5], [0, 0, 0, 1]);
    }

    #[test]
    fn different_prices_are_counted() {
        let closed = |close| ClosedCandle { open: 1, numbers: [1.0, 1.0, 1.0, close, 1.0] };
        let mut tally = DeliveryTally::default();
        tally.add(&[closed(1.0)], &[closed(1.5)]);
        assert_eq!(tally.different, 1);
    }
}
