//! Caches between pages: indexes and hot bars by series and version, decoded chunks by id. All are
//! bounded and hold only committed data.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use crate::columns::BarColumns;
use crate::index::Index;

/// A cache of two generations: a used entry moves to the young one, and when that is full the old
/// one is dropped. It approximates least-recently-used without linked lists.
struct Generations<T> {
    young: HashMap<i64, T>,
    old: HashMap<i64, T>,
    weight: usize,
    weight_max: usize,
}

impl<T: Clone> Generations<T> {
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
    indexes: Mutex<Generations<Arc<Index>>>,
    chunks: Mutex<Generations<Arc<BarColumns>>>,
    hot: Mutex<Generations<(i64, Arc<BarColumns>)>>,
}

/// A million chunks: at most 50 MB, enough for some hundred years of minutes.
const INDEX_ENTRIES_MAX: usize = 1_000_000;
const CHUNK_BYTES_MAX: usize = 32 << 20;
const HOT_BYTES_MAX: usize = 16 << 20;

impl Cache {
    pub(crate) fn new() -> Self {
        Self {
            indexes: Mutex::new(Generations::new(INDEX_ENTRIES_MAX)),
            chunks: Mutex::new(Generations::new(CHUNK_BYTES_MAX)),
            hot: Mutex::new(Generations::new(HOT_BYTES_MAX)),
        }
    }

    /// The index of a series, if it has this version.
    pub(crate) fn index(&self, series: i64, version: i64) -> Option<Arc<Index>> {
        let index = self.indexes.lock().get(series, |index| index.chunks() + 1)?;
        (index.version == version).then_some(index)
    }

    pub(crate) fn keep_index(&self, series: i64, index: &Arc<Index>) {
        self.indexes.lock().put(series, Arc::clone(index), index.chunks() + 1);
    }

    pub(crate) fn chunk(&self, id: i64) -> Option<Arc<BarColumns>> {
        self.chunks.lock().get(id, |columns| columns.bytes())
    }

    /// The hot bars of a series, if they have this version.
    pub(crate) fn hot(&self, series: i64, version: i64) -> Option<Arc<BarColumns>> {
        let (known, columns) = self.hot.lock().get(series, |(_, columns)| columns.bytes())?;
        (known == version).then_some(columns)
    }

    pub(crate) fn keep_hot(&self, series: i64, version: i64, columns: &Arc<BarColumns>) {
        self.hot.lock().put(series, (version, Arc::clone(columns)), columns.bytes());
    }

    pub(crate) fn keep_chunk(&self, id: i64, columns: &Arc<BarColumns>) {
        self.chunks.lock().put(id, Arc::clone(columns), columns.bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_entries_stay_and_others_are_evicted() {
        let mut cache = Generations::new(8);
        for id in 0..100 {
            cache.put(id, id, 1);
            assert_eq!(cache.get(0, |_| 1), Some(0));
            assert!(cache.young.len() + cache.old.len() <= 8);
        }
        assert_eq!(cache.get(50, |_| 1), None);
        assert_eq!(cache.get(99, |_| 1), Some(99));
    }
}
