//! Where each bar of a series lies: the chunks' bounds and how many bars come before each. This is
//! what makes `total` a sum and any page one lookup.

use crate::columns::BarColumns;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) id: i64,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) count: u64,
    pub(crate) step: i64,
}

/// The sealed chunks of a series, ascending, without overlaps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Index {
    /// The series' version this was read at; any change of its chunks makes another.
    pub(crate) version: i64,
    entries: Vec<Entry>,
    /// How many bars lie before each entry; one longer than `entries`.
    before: Vec<u64>,
}

/// A place that needs its chunk's times to be known exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inside {
    pub(crate) chunk: i64,
}

impl Index {
    pub(crate) fn new(version: i64, entries: Vec<Entry>) -> Self {
        let mut before = Vec::with_capacity(entries.len() + 1);
        let mut sum = 0;
        before.push(0);
        for entry in &entries {
            sum += entry.count;
            before.push(sum);
        }
        Self { version, entries, before }
    }

    pub(crate) fn count(&self) -> u64 {
        self.before.last().copied().unwrap_or(0)
    }

    pub(crate) fn chunks(&self) -> usize {
        self.entries.len()
    }

    /// How many bars open before `time`, unless that takes a look into a chunk.
    pub(crate) fn position(&self, time: i64) -> Result<u64, Inside> {
        let at = self.entries.partition_point(|entry| entry.last < time);
        let Some(entry) = self.entries.get(at) else { return Ok(self.count()) };
        if time <= entry.first {
            return Ok(self.before[at]);
        }
        if entry.step == 0 {
            return Err(Inside { chunk: entry.id });
        }
        // Even steps tell without a look.
        let distance = i128::from(time) - i128::from(entry.first);
        let step = i128::from(entry.step);
        let whole = (distance + step - 1) / step;
        Ok(self.before[at] + u64::try_from(whole).unwrap_or(entry.count).min(entry.count))
    }

    /// The same, with the chunk that [`Index::position`] asked for.
    pub(crate) fn position_in(&self, time: i64, columns: &BarColumns) -> u64 {
        let at = self.entries.partition_point(|entry| entry.last < time);
        self.before[at.min(self.entries.len())] + columns.before(time) as u64
    }

    /// The chunks that hold the bars from position `from` on, `count` of them: each with the rows
    /// to take.
    pub(crate) fn rows(&self, from: u64, count: u64) -> Vec<(i64, std::ops::Range<usize>)> {
        let end = from.saturating_add(count).min(self.count());
        let mut at = self.before.partition_point(|&before| before <= from).saturating_sub(1);
        let mut found = Vec::new();
        while at < self.entries.len() && self.before[at] < end {
            let entry = self.entries[at];
            let low = from.saturating_sub(self.before[at]);
            let high = (end - self.before[at]).min(entry.count);
            found.push((entry.id, low as usize..high as usize));
            at += 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Index {
        let entry = |id, first, last, count, step| Entry { id, first, last, count, step };
        Index::new(
            1,
            vec![entry(1, 0, 90, 10, 10), entry(2, 100, 300, 5, 0), entry(3, 400, 400, 1, 1)],
        )
    }

    #[test]
    fn positions_are_counted_without_a_look_where_steps_are_even() {
        for (time, position) in [
            (-5, 0),
            (0, 0),
            (1, 1),
            (10, 1),
            (11, 2),
            (90, 9),
            (91, 10),
            (100, 10),
            (301, 15),
            (400, 15),
            (401, 16),
        ] {
            assert_eq!(index().position(time), Ok(position), "{time}");
        }
        assert_eq!(index().position(101), Err(Inside { chunk: 2 }));
    }

    #[test]
    fn a_page_may_lie_across_chunks() {
        assert_eq!(index().rows(8, 4), [(1, 8..10), (2, 0..2)]);
        assert_eq!(index().rows(15, 9), [(3, 0..1)]);
        assert_eq!(index().rows(16, 9), []);
        assert_eq!(index().rows(0, 0), []);
    }
}
