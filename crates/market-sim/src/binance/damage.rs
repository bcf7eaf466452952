//! Faults that change the rows of a klines response.

use clock::Millis;

use super::klines::Row;
use crate::faults::{FaultKind, InjectedFault};

/// A change of the rows of a klines response.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RowFault {
    Missing,
    Duplicate,
    Shuffled,
    Malformed,
    Lag { delay_ms: i64 },
    Unsettled { delay_ms: i64 },
}

impl RowFault {
    pub(crate) fn of(fault: &InjectedFault) -> Option<Self> {
        let delay_ms = fault.delay_ms.unwrap_or_default().cast_signed();
        match fault.kind {
            FaultKind::MissingRows => Some(Self::Missing),
            FaultKind::DuplicateRows => Some(Self::Duplicate),
            FaultKind::ShuffledRows => Some(Self::Shuffled),
            FaultKind::MalformedRows => Some(Self::Malformed),
            FaultKind::RestLag => Some(Self::Lag { delay_ms }),
            FaultKind::UnsettledRows => Some(Self::Unsettled { delay_ms }),
            _ => None,
        }
    }

    pub(crate) fn apply(
        self,
        rows: &mut Vec<Row>,
        next_open: impl Fn(Millis) -> Millis,
        now: Millis,
    ) {
        match self {
            Self::Missing => {
                let (from, to) = (rows.len() / 3, rows.len() / 3 + rows.len().div_ceil(10));
                rows.drain(from..to.min(rows.len()));
            }
            Self::Duplicate => {
                let repeat = |(at, row)| std::iter::repeat_n(row, if at % 3 == 0 { 2 } else { 1 });
                *rows = rows.drain(..).enumerate().flat_map(repeat).collect();
            }
            Self::Shuffled => rows.reverse(),
            Self::Lag { delay_ms } => {
                rows.retain(|(open, _)| next_open(*open).0 + delay_ms <= now.0);
            }
            Self::Unsettled { delay_ms } => {
                let closed = |open: Millis| next_open(open).0 <= now.0;
                let young = |open: Millis| next_open(open).0 + delay_ms > now.0;
                for (_, candle) in rows.iter_mut().filter(|row| closed(row.0) && young(row.0)) {
                    candle.bar.close = candle.bar.open;
                    candle.bar.volume /= 2;
                    candle.bar.trades /= 2;
                }
            }
            Self::Malformed => {
                let middle = rows.len() / 2;
                if let Some((_, candle)) = rows.get_mut(middle) {
                    candle.bar.high = candle.bar.low - 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price_tree::{Candle, Node};

    /// Three minutes, each of which rises from 100 to 110 while 8 are traded.
    fn rows() -> Vec<Row> {
        let bar = Node { open: 100, high: 120, low: 90, close: 110, volume: 8, trades: 4 };
        let candle = Candle { bar, turnover: 800 };
        (0..3).map(|minute| (Millis(minute * 60_000), candle)).collect()
    }

    /// The closing price and the volume of each row at this second.
    #[track_caller]
    fn check(fault: RowFault, now_s: i64, expected: &[(i64, i64)]) {
        let mut rows = rows();
        fault.apply(&mut rows, |open| Millis(open.0 + 60_000), Millis(now_s * 1_000));
        let shown: Vec<_> = rows.iter().map(|(_, row)| (row.bar.close, row.bar.volume)).collect();
        assert_eq!(shown, expected, "{fault:?} at {now_s} s");
    }

    #[test]
    fn only_rows_that_have_just_closed_change() {
        let fault = RowFault::Unsettled { delay_ms: 5_000 };
        let (settled, unsettled) = ((110, 8), (100, 4));
        check(fault, 119, &[settled, settled, settled]);
        check(fault, 120, &[settled, unsettled, settled]);
        check(fault, 124, &[settled, unsettled, settled]);
        check(fault, 125, &[settled, settled, settled]);
    }

    #[test]
    fn late_rows_are_absent() {
        let fault = RowFault::Lag { delay_ms: 5_000 };
        check(fault, 124, &[(110, 8)]);
        check(fault, 125, &[(110, 8), (110, 8)]);
    }
}
