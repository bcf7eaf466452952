//! Caches that all page requests share: indexes and hot bars by series and version, decoded chunks
//! by id. Each is bounded and has committed data only.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use crate::columns::BarColumns;
use crate::index::ChunkIndex;

/// A cache of two generations. An entry that is used moves to the young generation; when that is
/// full, the old generation is dropped and the young one becomes old. This approximates a
/// least-recently-used cache without linked lists.
struct GenerationCache<T> {
    young: HashMap<i64, T>,
    old: HashMap<i64, T>,
    weight: usize,
    weight_max: usize,
}

impl<T: Clone> GenerationCache<T> {
    fn new(weight_max: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), weight: 0, weight_max: weight_max / 2 }
    }

    fn get(&mut self, id: i64, weigh: impl Fn(&T) -> usize) -> Option<T> {
        if let Some(value) = self.young.get(&id) {
            return Some(value.clone());
        }
        let value = self.old.remove(&id)?;
        let weight = weigh(&value);
        self.put(id, value.clone(), weight);
        Some(value)
    }

    fn put(&mut self, id: i64, value: T, weight: usize) {
        if self.weight + weight > self.weight_max {
            self.old = std::mem::take(&mut self.young);
            self.weight = 0;
        }
        self.weight += weight;
        self.young.insert(id, value);
    }
}

pub(crate) struct Cache {
    indexes: Mutex<GenerationCache<Arc<ChunkIndex>>>,
    chunks: Mutex<GenerationCache<Arc<BarColumns>>>,
    hot: Mutex<GenerationCache<(i64, Arc<BarColumns>)>>,
}

/// A million chunks: at most 50 MB, enough for the one-minute bars of about 1,900 years.
const INDEX_ENTRIES_MAX: usize = 1_000_000;
const CHUNK_BYTES_MAX: usize = 32 << 20;
const HOT_BYTES_MAX: usize = 16 << 20;

impl Cache {
    pub(crate) fn new() -> Self {
        Self {
            indexes: Mutex::new(GenerationCache::new(INDEX_ENTRIES_MAX)),
            chunks: Mutex::new(GenerationCache::new(CHUNK_BYTES_MAX)),
            hot: Mutex::new(GenerationCache::new(HOT_BYTES_MAX)),
        }
    }

    /// The index of a series, if it has this version.
    pub(crate) fn index(&self, series: i64, version: i64) -> Option<Arc<ChunkIndex>> {
        let index = self.indexes.lock().get(series, |index| index.chunk_count() + 1)?;
        (index.version == version).then_some(index)
    }

    pub(crate) fn put_index(&self, series: i64, index: &Arc<ChunkIndex>) {
        self.indexes.lock().put(series, Arc::clone(index), index.chunk_count() + 1);
    }

    pub(crate) fn chunk(&self, id: i64) -> Option<Arc<BarColumns>> {
        self.chunks.lock().get(id, |columns| columns.memory_bytes())
    }

    /// The hot bars of a series, if they have this version.
    pub(crate) fn hot(&self, series: i64, version: i64) -> Option<Arc<BarColumns>> {
        let (known, columns) =
            self.hot.lock().get(series, |(_, columns)| columns.memory_bytes())?;
        (known == version).then_some(columns)
    }

    pub(crate) fn put_hot(&self, series: i64, version: i64, columns: &Arc<BarColumns>) {
        self.hot.lock().put(series, (version, Arc::clone(columns)), columns.memory_bytes());
    }

    pub(crate) fn put_chunk(&self, id: i64, columns: &Arc<BarColumns>) {
        self.chunks.lock().put(id, Arc::clone(columns), columns.memory_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_entries_stay_and_others_are_evicted() {
        let mut cache = GenerationCache::new(8);
        for id in 0..100 {
            cache.put(id, id, 1);
            assert_eq!(cache.get(0, |_| 1), Some(0));
            assert!(cache.young.len() + cache.old.len() <= 8);
        }
        assert_eq!(cache.get(50, |_| 1), None);
        assert_eq!(cache.get(99, |_| 1), Some(99));
    }
}
