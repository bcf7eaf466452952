//! Record ids: UUIDs of version 7, whose text sorts by creation time.

use parking_lot::Mutex;
use uuid::{ContextV7, Timestamp, Uuid};

use crate::Millis;

/// Generates ids that sort by creation order within one generator, also when the clock steps back.
///
/// The time comes from the caller, so a test with its own clock gets ids of that clock.
pub struct IdGenerator(Mutex<ContextV7>);

impl Default for IdGenerator {
    fn default() -> Self {
        Self(Mutex::new(ContextV7::new()))
    }
}

impl IdGenerator {
    /// A new id, larger than every id that this generator returned before.
    pub fn next(&self, now: Millis) -> String {
        let ms = u64::try_from(now.0).unwrap_or(0);
        let nanos = u32::try_from(ms % 1000 * 1_000_000).unwrap_or(0);
        let context = self.0.lock();
        let timestamp = Timestamp::from_unix(&*context, ms / 1000, nanos);
        Uuid::new_v7(timestamp).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_creation_even_when_the_clock_steps_back() {
        let ids = IdGenerator::default();
        let times = [5, 5, 6, 3, 1_800_000_000_000].into_iter().chain([7; 9000]);
        let made: Vec<String> = times.map(|at| ids.next(Millis(at))).collect();
        assert!(made.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(made.iter().all(|id| id.len() == 36 && id.as_bytes()[14] == b'7'));
        assert!(made.iter().all(|id| b"89ab".contains(&id.as_bytes()[19])));
    }

    #[test]
    fn an_id_begins_with_its_time() {
        let id = IdGenerator::default().next(Millis(0x0192_f3a4_b5c6));
        assert!(id.starts_with("0192f3a4-b5c6-7"), "{id}");
    }
}
