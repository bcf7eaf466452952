//! Ids of what is kept in order: UUIDs of version 7, whose text sorts by time, and within a process by order of making.

use parking_lot::Mutex;

use clock::Millis;
use fault::Fault;

/// Ids of one millisecond before the next one is borrowed.
const PER_MILLI: u16 = 0x0fff;

/// Makes ids; one maker for each table.
#[derive(Default)]
pub struct Ids(Mutex<(u64, u16)>);

impl Ids {
    pub fn next(&self, now: Millis) -> Result<String, Fault> {
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random).map_err(Fault::internal)?;
        let tail = u64::from_be_bytes(random) >> 2 | 1 << 63;
        let (time, count) = self.step(u64::try_from(now.0).unwrap_or(0));
        let head = time << 16 | 0x7000 | u64::from(count);
        Ok(format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            head >> 32,
            head >> 16 & 0xffff,
            head & 0xffff,
            tail >> 48,
            tail & 0xffff_ffff_ffff
        ))
    }

    /// The time and count of the next id: never at or below the one before, even if the clock is.
    fn step(&self, now: u64) -> (u64, u16) {
        let mut last = self.0.lock();
        *last = match *last {
            (time, _) if now > time => (now, 0),
            (time, PER_MILLI) => (time + 1, 0),
            (time, count) => (time, count + 1),
        };
        *last
    }
}

/// Whether this could be the id of a job, so that anything else is not looked up.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_their_making_even_when_the_clock_steps_back() {
        let ids = Ids::default();
        let times = [5, 5, 6, 3, 1_800_000_000_000].into_iter().chain([7; 9000]);
        let made: Vec<String> = times.map(|at| ids.next(Millis(at)).unwrap()).collect();
        assert!(made.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(made.iter().all(|id| is_id(id) && id.as_bytes()[14] == b'7'));
        assert!(made.iter().all(|id| b"89ab".contains(&id.as_bytes()[19])));
    }

    #[test]
    fn the_time_can_be_read_from_an_id() {
        let id = Ids::default().next(Millis(0x0192_f3a4_b5c6)).unwrap();
        assert!(id.starts_with("0192f3a4-b5c6-7000-"), "{id}");
        assert!(!is_id("0192f3a4"));
    }
}
