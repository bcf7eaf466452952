//! What the exchange's record says, and when what it leaves out is believed.
//!
//! A row can be missing because nothing was recorded or because the answer lost it, and nothing in
//! an answer tells one from the other. So a hole is believed when a later row proves that the
//! record went on, and when so many looks in a row, with waits between them, missed the same row.
//! Live streams and history go by this one rule; the end of the rows is never a hole.

use clock::Millis;
use market::{Interval, Kline};

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

    /// What a page says, which is one look at the hole that it may have: the last look of those
    /// that are needed sees beyond it.
    pub(crate) fn read(
        &mut self,
        page: &[Kline],
        series: (Interval, Millis),
        certain_at: Millis,
    ) -> Filled {
        let filled = judge(page, series, certain_at, None);
        self.see(filled.hole);
        match filled.hole {
            Some(hole) if self.believed() == Some(hole) => {
                judge(page, series, certain_at, Some(hole))
            }
            _ => filled,
        }
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

/// The end of the rows proves nothing, and a later row only that something is missing before it.
pub(crate) fn judge(
    page: &[Kline],
    (interval, from): (Interval, Millis),
    certain_at: Millis,
    believed: Option<Millis>,
) -> Filled {
    let rows = Vec::with_capacity(page.len());
    let newest = page.last().copied();
    let mut filled = Filled { rows, known_to: from, forming: None, hole: None };
    for mut row in page.iter().copied() {
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
        let page: Vec<Kline> = minutes.iter().map(row).collect();
        let believed = believed.map(|minute| Millis(minute * 60_000));
        let series = (Interval::M1, Millis(60_000));
        let filled = judge(&page, series, Millis(certain_s * 1_000), believed);
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
    fn the_last_look_that_is_needed_sees_beyond_the_hole() {
        let kline = |minute: i64| {
            let (open_time, one) = (Millis(minute * 60_000), Decimal::ZERO);
            let bar = Bar { open_time, open: one, high: one, low: one, close: one, volume: None };
            Kline { bar, close_time: Millis(open_time.0 + 59_999), closed: false }
        };
        let mut doubt = Doubt::default();
        let series = (Interval::M1, Millis(60_000));
        let mut known = |minutes: &[i64]| {
            let page: Vec<Kline> = minutes.iter().copied().map(kline).collect();
            doubt.read(&page, series, Millis(3_600_000)).known_to.0 / 60_000
        };
        // Two holes in one page are believed one after the other.
        assert_eq!([(); 3].map(|()| known(&[1, 3, 5])), [2, 2, 2]);
        assert_eq!(known(&[1, 3, 5]), 4);
        assert_eq!(known(&[3, 5]), 1);
        assert_eq!(known(&[]), 1);
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
