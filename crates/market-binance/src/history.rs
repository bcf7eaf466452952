//! Assesses pages of the exchange's history and decides when a gap in them is confirmed.
//!
//! A row can be missing because it does not exist or because the response lost it, and the response
//! does not show which. A gap is confirmed when a later row exists and `GAP_SIGHTINGS` responses in
//! a row, with waits between them, lacked the same row. Live streams and bars use this one rule;
//! the end of the rows is never a gap.

use clock::Millis;
use market::{Interval, Kline};

/// Number of responses in a row that must lack the same row before it counts as not existing.
const GAP_SIGHTINGS: u32 = 4;

/// One page of history after it was assessed.
#[derive(Debug)]
pub(crate) struct HistoryPage {
    /// Closed, ascending.
    pub(crate) rows: Vec<Kline>,
    /// Every closed candle before this time is in `rows` or does not exist.
    pub(crate) complete_to: Millis,
    /// The first row that is not final, usually the forming candle.
    pub(crate) forming: Option<Kline>,
    /// The first row that is missing although later rows exist, unless the gap is confirmed.
    pub(crate) gap: Option<Millis>,
}

/// How many responses in a row had the same gap.
#[derive(Debug, Default)]
pub(crate) struct GapEvidence {
    at: Option<Millis>,
    sightings: u32,
}

impl GapEvidence {
    pub(crate) fn observe(&mut self, gap: Option<Millis>) {
        if gap.is_none() {
            return;
        }
        self.sightings = if self.at == gap { self.sightings.saturating_add(1) } else { 1 };
        self.at = gap;
    }

    /// The gap that enough responses had.
    pub(crate) fn confirmed(&self) -> Option<Millis> {
        self.at.filter(|_| self.sightings >= GAP_SIGHTINGS)
    }

    /// Assesses the rows of one response and counts its gap. The response that confirms the gap is
    /// read beyond it.
    pub(crate) fn assess(
        &mut self,
        rows: &[Kline],
        series: (Interval, Millis),
        final_before: Millis,
    ) -> HistoryPage {
        let page = assess_page(rows, series, final_before, None);
        self.observe(page.gap);
        match page.gap {
            Some(gap) if self.confirmed() == Some(gap) => {
                assess_page(rows, series, final_before, Some(gap))
            }
            _ => page,
        }
    }
}

impl HistoryPage {
    /// Whether the page has trades after `received`, the last candle that the stream sent.
    pub(crate) fn traded_after(&self, received: Option<&Kline>) -> bool {
        let newest = self.forming.as_ref().or(self.rows.last());
        newest.is_some_and(|newest| {
            let traded = newest.bar.volume.is_some_and(|volume| !volume.is_zero());
            traded && received.is_none_or(|received| received.bar != newest.bar)
        })
    }
}

/// Reads `rows` from `from` on. Rows that close at or after `final_before` may still change. The
/// end of the rows proves nothing; a later row proves only that rows before it are missing.
pub(crate) fn assess_page(
    rows: &[Kline],
    (interval, from): (Interval, Millis),
    final_before: Millis,
    confirmed_gap: Option<Millis>,
) -> HistoryPage {
    let closed = Vec::with_capacity(rows.len());
    let newest = rows.last().copied();
    let mut page = HistoryPage { rows: closed, complete_to: from, forming: None, gap: None };
    for mut row in rows.iter().copied() {
        let next = interval.open_at_or_after(page.complete_to);
        if row.bar.open_time > next && confirmed_gap != Some(next) {
            page.gap = Some(next);
            page.forming = newest;
            break;
        }
        if row.close_time >= final_before {
            page.complete_to = page.complete_to.max(row.bar.open_time);
            page.forming = Some(row);
            break;
        }
        page.complete_to = interval.next_open(row.bar.open_time);
        row.closed = true;
        page.rows.push(row);
    }
    page
}

#[cfg(test)]
mod tests {
    use market::{Bar, Decimal};

    use super::*;

    #[track_caller]
    fn check(minutes: &[i64], certain_s: i64, closed: usize, complete_to: i64) {
        check_hole(minutes, certain_s, None, (closed, complete_to, None));
    }

    /// `confirmed_gap` and the last expected value are minutes.
    #[track_caller]
    fn check_hole(
        minutes: &[i64],
        certain_s: i64,
        confirmed_gap: Option<i64>,
        expected: (usize, i64, Option<i64>),
    ) {
        let row = |minute: &i64| {
            let open_time = Millis(minute * 60_000);
            let one = Decimal::ZERO;
            let bar = Bar { open_time, open: one, high: one, low: one, close: one, volume: None };
            Kline { bar, close_time: Millis(open_time.0 + 59_999), closed: false }
        };
        let page: Vec<Kline> = minutes.iter().map(row).collect();
        let confirmed_gap = confirmed_gap.map(|minute| Millis(minute * 60_000));
        let series = (Interval::M1, Millis(60_000));
        let page = assess_page(&page, series, Millis(certain_s * 1_000), confirmed_gap);
        let gap = page.gap.map(|at| at.0 / 60_000);
        assert_eq!((page.rows.len(), page.complete_to.0 / 60_000, gap), expected);
        assert!(page.rows.iter().all(|row| row.closed));
    }

    #[test]
    fn only_final_rows_are_closed_and_only_a_confirmed_gap_is_skipped() {
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
    fn a_gap_is_confirmed_after_four_sightings() {
        let mut evidence = GapEvidence::default();
        let (one, other) = (Some(Millis(1)), Some(Millis(2)));
        for (gap, confirmed_gap) in
            [(one, None), (one, None), (None, None), (one, None), (one, one), (other, None)]
        {
            evidence.observe(gap);
            assert_eq!(evidence.confirmed(), confirmed_gap, "{evidence:?}");
        }
    }

    #[test]
    fn the_confirming_response_is_read_beyond_the_gap() {
        let kline = |minute: i64| {
            let (open_time, one) = (Millis(minute * 60_000), Decimal::ZERO);
            let bar = Bar { open_time, open: one, high: one, low: one, close: one, volume: None };
            Kline { bar, close_time: Millis(open_time.0 + 59_999), closed: false }
        };
        let mut evidence = GapEvidence::default();
        let series = (Interval::M1, Millis(60_000));
        let mut known = |minutes: &[i64]| {
            let page: Vec<Kline> = minutes.iter().copied().map(kline).collect();
            evidence.assess(&page, series, Millis(3_600_000)).complete_to.0 / 60_000
        };
        // Two gaps in one page are confirmed one after the other.
        assert_eq!([(); 3].map(|()| known(&[1, 3, 5])), [2, 2, 2]);
        assert_eq!(known(&[1, 3, 5]), 4);
        assert_eq!(known(&[3, 5]), 1);
        assert_eq!(known(&[]), 1);
    }

    #[test]
    fn silence_is_suspicious_only_after_trades() {
        let kline = |minute: i64, volume: i128| {
            let open_time = Millis(minute * 60_000);
            let (one, volume) = (Decimal::ZERO, Decimal::from_parts(volume, 0));
            let bar = Bar { open_time, open: one, high: one, low: one, close: one, volume };
            Kline { bar, close_time: Millis(open_time.0 + 59_999), closed: false }
        };
        let page = |rows: Vec<Kline>, forming| HistoryPage {
            rows,
            complete_to: Millis(0),
            forming,
            gap: None,
        };
        let received = kline(2, 5);
        for (page, suspicious) in [
            (page(vec![], None), false),
            (page(vec![], Some(kline(2, 5))), false),
            (page(vec![], Some(kline(2, 6))), true),
            (page(vec![kline(2, 5)], None), false),
            (page(vec![kline(2, 5)], Some(kline(3, 0))), false),
            (page(vec![kline(2, 5)], Some(kline(3, 1))), true),
        ] {
            assert_eq!(page.traded_after(Some(&received)), suspicious, "{page:?}");
        }
        assert!(page(vec![], Some(kline(2, 5))).traded_after(None));
    }
}
