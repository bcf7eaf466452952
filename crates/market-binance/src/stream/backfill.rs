//! Closed candles from the exchange's record, for what was not heard live.
//!
//! The record may lag behind the streams, and its newest rows may still change: what is not
//! certain is not told, and is asked for again. So are rows that are missing among others, for an
//! answer that lost them looks like an outage: only a record that keeps saying so is believed.

use std::sync::Arc;

use fault::Fault;
use market::{Interval, Kline, Millis};

use super::backoff::Backoff;
use crate::Inner;

/// How many looks must miss the same row before it is taken for one that does not exist.
const HOLE_LOOKS: u32 = 4;

/// What one look at the record gave.
#[derive(Debug)]
pub(crate) struct Filled {
    /// Closed, ascending.
    pub(crate) rows: Vec<Kline>,
    /// Every closed candle before this one is in `rows`, or does not exist.
    pub(crate) known_to: Millis,
    /// The first row that is not certain: mostly the candle that is forming.
    pub(crate) forming: Option<Kline>,
    /// The first row that is missing although later ones are there, unless it is believed to be.
    pub(crate) hole: Option<Millis>,
}

/// A hole that was seen, and how often.
#[derive(Debug, Default)]
pub(crate) struct Doubt {
    at: Option<Millis>,
    looks: u32,
}

impl Doubt {
    pub(crate) fn see(&mut self, hole: Option<Millis>) {
        if hole.is_none() {
            return;
        }
        self.looks = if self.at == hole { self.looks.saturating_add(1) } else { 1 };
        self.at = hole;
    }

    /// The hole that was seen often enough.
    pub(crate) fn believed(&self) -> Option<Millis> {
        self.at.filter(|_| self.looks >= HOLE_LOOKS)
    }
}

impl Filled {
    /// Whether something was traded that was not heard, `heard` being the last candle that was.
    pub(crate) fn moved_beyond(&self, heard: Option<&Kline>) -> bool {
        let newest = self.forming.as_ref().or(self.rows.last());
        newest.is_some_and(|newest| {
            let traded = newest.bar.volume.is_some_and(|volume| !volume.is_zero());
            traded && heard.is_none_or(|heard| heard.bar != newest.bar)
        })
    }
}

/// One page of the record from `from` on, over the hole that is believed.
pub(crate) async fn look(
    inner: &Arc<Inner>,
    code: &str,
    interval: Interval,
    from: Millis,
    believed: Option<Millis>,
) -> Result<Filled, Fault> {
    // Read before the rows: what closes in between is left for the next look.
    let server_now = inner.server_now().await?;
    let page = inner.rows_from(code, interval, from).await?;
    let settle = inner.config.streams.rest_settle.as_millis() as i64;
    Ok(judge(page, (interval, from), Millis(server_now.0 - settle), believed))
}

/// The end of the rows proves nothing, and a later row only that something is missing before it.
fn judge(
    page: Vec<Kline>,
    (interval, from): (Interval, Millis),
    certain_at: Millis,
    believed: Option<Millis>,
) -> Filled {
    let rows = Vec::with_capacity(page.len());
    let newest = page.last().copied();
    let mut filled = Filled { rows, known_to: from, forming: None, hole: None };
    for mut row in page {
        let next = interval.open_at_or_after(filled.known_to);
        if row.bar.open_time > next && believed != Some(next) {
            filled.hole = Some(next);
            filled.forming = newest;
            break;
        }
        if row.close_time >= certain_at {
            filled.known_to = filled.known_to.max(row.bar.open_time);
            filled.forming = Some(row);
            break;
        }
        filled.known_to = interval.next_open(row.bar.open_time);
        row.closed = true;
        filled.rows.push(row);
    }
    filled
}

/// Looks until the record says something new. Only for candles that are known to be over. Where
/// the symbol is not traded any more, nothing new is as good as knowing everything up to `ends_at`.
pub(crate) async fn look_until_known(
    inner: Arc<Inner>,
    code: Arc<str>,
    interval: Interval,
    from: Millis,
    ends_at: Option<Millis>,
) -> Filled {
    let config = &inner.config.streams;
    let mut waits = Backoff::new(config.lag_wait, config.lag_wait_max);
    let mut doubt = Doubt::default();
    loop {
        match look(&inner, &code, interval, from, doubt.believed()).await {
            Ok(filled) if filled.known_to > from => return filled,
            Ok(filled) => match ends_at {
                Some(known_to) if filled.hole.is_none() => return Filled { known_to, ..filled },
                _ => doubt.see(filled.hole),
            },
            Err(fault) => tracing::debug!(code = &*code, %interval, %fault, "a replay waits"),
        }
        tokio::time::sleep(waits.next()).await;
    }
}

#[cfg(test)]
mod tests {
    use market::{Bar, Decimal};

    use super::*;

    #[track_caller]
    fn check(minutes: &[i64], certain_s: i64, closed: usize, known_to: i64) {
        check_hole(minutes, certain_s, None, (closed, known_to, None));
    }

    /// `believed` and the last of what is expected are the minutes of holes.
    #[track_caller]
    fn check_hole(
        minutes: &[i64],
        certain_s: i64,
        believed: Option<i64>,
        expected: (usize, i64, Option<i64>),
    ) {
        let row = |minute: &i64| {
            let open_time = Millis(minute * 60_000);
            let one = Decimal::ZERO;
            let bar = Bar { open_time, open: one, high: one, low: one, close: one, volume: None };
            Kline { bar, close_time: Millis(open_time.0 + 59_999), closed: false }
        };
        let page = minutes.iter().map(row).collect();
        let believed = believed.map(|minute| Millis(minute * 60_000));
        let series = (Interval::M1, Millis(60_000));
        let filled = judge(page, series, Millis(certain_s * 1_000), believed);
        let hole = filled.hole.map(|at| at.0 / 60_000);
        assert_eq!((filled.rows.len(), filled.known_to.0 / 60_000, hole), expected);
        assert!(filled.rows.iter().all(|row| row.closed));
    }

    #[test]
    fn only_rows_that_are_over_are_closed_and_only_a_hole_that_is_believed_is_passed() {
        check(&[1, 2, 3], 210, 2, 3);
        check(&[1, 2, 3], 1_000, 3, 4);
        check(&[1, 2, 3], 180, 2, 3);
        check(&[1, 2, 3], 179, 1, 2);
        check(&[], 1_000, 0, 1);
        check_hole(&[7], 430, None, (0, 1, Some(1)));
        check_hole(&[7], 430, Some(1), (0, 7, None));
        check_hole(&[1, 7], 1_000, None, (1, 2, Some(2)));
        check_hole(&[1, 7], 1_000, Some(2), (2, 8, None));
        check_hole(&[1, 3, 5], 1_000, Some(2), (2, 4, Some(4)));
    }

    #[test]
    fn a_hole_is_believed_when_it_was_seen_often_enough() {
        let mut doubt = Doubt::default();
        let (one, other) = (Some(Millis(1)), Some(Millis(2)));
        for (hole, believed) in
            [(one, None), (one, None), (None, None), (one, None), (one, one), (other, None)]
        {
            doubt.see(hole);
            assert_eq!(doubt.believed(), believed, "{doubt:?}");
        }
    }

    #[test]
    fn silence_is_suspicious_only_where_something_was_traded() {
        let kline = |minute: i64, volume: i128| {
            let open_time = Millis(minute * 60_000);
            let (one, volume) = (Decimal::ZERO, Decimal::from_parts(volume, 0));
            let bar = Bar { open_time, open: one, high: one, low: one, close: one, volume };
            Kline { bar, close_time: Millis(open_time.0 + 59_999), closed: false }
        };
        let filled =
            |rows: Vec<Kline>, forming| Filled { rows, known_to: Millis(0), forming, hole: None };
        let heard = kline(2, 5);
        for (filled, suspicious) in [
            (filled(vec![], None), false),
            (filled(vec![], Some(kline(2, 5))), false),
            (filled(vec![], Some(kline(2, 6))), true),
            (filled(vec![kline(2, 5)], None), false),
            (filled(vec![kline(2, 5)], Some(kline(3, 0))), false),
            (filled(vec![kline(2, 5)], Some(kline(3, 1))), true),
        ] {
            assert_eq!(filled.moved_beyond(Some(&heard)), suspicious, "{filled:?}");
        }
        assert!(filled(vec![], Some(kline(2, 5))).moved_beyond(None));
    }
}
