//! The time ranges of a series that are known completely.

use clock::{Millis, TimeRange};
use fault::Fault;
use store::Tx;

use crate::sql;

/// Adds a range and joins it with the ranges it touches.
pub(crate) async fn add(tx: &mut Tx, series: i64, range: TimeRange) -> Result<(), Fault> {
    if range.is_empty() {
        return Ok(());
    }
    let touching = sql::known_ranges(tx, series, range).await?;
    if let [only] = touching[..]
        && only.from <= range.from
        && range.to <= only.to
    {
        return Ok(());
    }
    let from = touching.iter().map(|known| known.from).fold(range.from, Millis::min);
    let to = touching.iter().map(|known| known.to).fold(range.to, Millis::max);
    sql::replace_known_ranges(tx, series, &touching, TimeRange::new(from, to)).await
}

/// The parts of the range that no known range covers; `known` is ascending and disjoint.
pub(crate) fn gaps(range: TimeRange, known: &[TimeRange]) -> Vec<TimeRange> {
    let mut gaps = Vec::new();
    let mut at = range.from;
    for covered in known {
        let gap = TimeRange::new(at, covered.from.min(range.to));
        if !gap.is_empty() {
            gaps.push(gap);
        }
        at = at.max(covered.to);
    }
    let rest = TimeRange::new(at, range.to);
    if !rest.is_empty() {
        gaps.push(rest);
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(pairs: &[(i64, i64)]) -> Vec<TimeRange> {
        pairs.iter().map(|&(from, to)| TimeRange::new(Millis(from), Millis(to))).collect()
    }

    #[track_caller]
    fn check(known: &[(i64, i64)], missing: &[(i64, i64)]) {
        let requested = TimeRange::new(Millis(10), Millis(20));
        assert_eq!(gaps(requested, &ranges(known)), ranges(missing));
    }

    #[test]
    fn gaps_are_the_uncovered_parts() {
        check(&[], &[(10, 20)]);
        check(&[(0, 30)], &[]);
        check(&[(10, 20)], &[]);
        check(&[(0, 12), (15, 17), (19, 40)], &[(12, 15), (17, 19)]);
        check(&[(12, 15)], &[(10, 12), (15, 20)]);
        check(&[(0, 10), (20, 30)], &[(10, 20)]);
    }
}
