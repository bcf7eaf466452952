//! The index of a series: the first and last bar of each chunk, and how many bars come before it.
//! With it a page knows its total by one subtraction and its chunks by one binary search.

use crate::columns::BarColumns;

/// A sealed chunk without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChunkEntry {
    pub(crate) id: i64,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) count: u64,
    /// As in [`crate::chunk::SealedChunk`].
    pub(crate) step: i64,
}

/// The sealed chunks of one series, ascending, without overlaps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ChunkIndex {
    /// The version of the series when the index was read; every change of its chunks raises it.
    pub(crate) version: i64,
    entries: Vec<ChunkEntry>,
    /// How many bars come before each entry, and at the end the number of all bars.
    bars_before: Vec<u64>,
}

/// The position lies in a chunk with uneven steps, so the times of that chunk are needed to find
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChunkNeeded {
    pub(crate) id: i64,
}

impl ChunkIndex {
    pub(crate) fn new(version: i64, entries: Vec<ChunkEntry>) -> Self {
        let mut bars_before = Vec::with_capacity(entries.len() + 1);
        let mut sum = 0;
        bars_before.push(0);
        for entry in &entries {
            sum += entry.count;
            bars_before.push(sum);
        }
        Self { version, entries, bars_before }
    }

    pub(crate) fn bar_count(&self) -> u64 {
        self.bars_before.last().copied().unwrap_or(0)
    }

    pub(crate) fn chunk_count(&self) -> usize {
        self.entries.len()
    }

    /// How many bars open before `time`, unless the times of a chunk are needed to know it.
    pub(crate) fn position(&self, time: i64) -> Result<u64, ChunkNeeded> {
        let at = self.entries.partition_point(|entry| entry.last < time);
        let Some(entry) = self.entries.get(at) else { return Ok(self.bar_count()) };
        if time <= entry.first {
            return Ok(self.bars_before[at]);
        }
        if entry.step == 0 {
            return Err(ChunkNeeded { id: entry.id });
        }
        // With even steps the position follows from the distance.
        let distance = i128::from(time) - i128::from(entry.first);
        let step = i128::from(entry.step);
        let whole = (distance + step - 1) / step;
        Ok(self.bars_before[at] + u64::try_from(whole).unwrap_or(entry.count).min(entry.count))
    }

    /// Like [`ChunkIndex::position`], with the chunk that it needs.
    pub(crate) fn position_with_chunk(&self, time: i64, columns: &BarColumns) -> u64 {
        let at = self.entries.partition_point(|entry| entry.last < time);
        self.bars_before[at.min(self.entries.len())] + columns.rows_before(time) as u64
    }

    /// The chunks with the `count` bars from position `from` on, each with the rows to take from
    /// it.
    pub(crate) fn chunk_rows(&self, from: u64, count: u64) -> Vec<(i64, std::ops::Range<usize>)> {
        let end = from.saturating_add(count).min(self.bar_count());
        let mut at = self.bars_before.partition_point(|&count| count <= from).saturating_sub(1);
        let mut found = Vec::new();
        while at < self.entries.len() && self.bars_before[at] < end {
            let entry = self.entries[at];
            let low = from.saturating_sub(self.bars_before[at]);
            let high = (end - self.bars_before[at]).min(entry.count);
            found.push((entry.id, low as usize..high as usize));
            at += 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> ChunkIndex {
        let entry = |id, first, last, count, step| ChunkEntry { id, first, last, count, step };
        ChunkIndex::new(
            1,
            vec![entry(1, 0, 90, 10, 10), entry(2, 100, 300, 5, 0), entry(3, 400, 400, 1, 1)],
        )
    }

    #[test]
    fn positions_in_chunks_with_even_steps_need_no_chunk() {
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
        assert_eq!(index().position(101), Err(ChunkNeeded { id: 2 }));
    }

    #[test]
    fn a_page_spans_several_chunks() {
        assert_eq!(index().chunk_rows(8, 4), [(1, 8..10), (2, 0..2)]);
        assert_eq!(index().chunk_rows(15, 9), [(3, 0..1)]);
        assert_eq!(index().chunk_rows(16, 9), []);
        assert_eq!(index().chunk_rows(0, 0), []);
    }
}
