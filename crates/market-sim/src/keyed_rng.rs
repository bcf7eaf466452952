//! Random numbers by key: the same key always gives the same numbers, in any order of requests. Not
//! for secrets.

/// Scrambles a word so that neighbouring inputs give unrelated outputs.
const fn scramble(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

/// A key from several numbers.
pub(crate) fn key(parts: &[u64]) -> u64 {
    parts.iter().fold(STRIDE, |all, part| scramble(all.wrapping_add(STRIDE) ^ scramble(*part)))
}

/// A key from a name.
pub(crate) fn key_of(name: &str) -> u64 {
    name.bytes().fold(STRIDE, |all, byte| scramble(all ^ u64::from(byte)))
}

/// The random numbers of one key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyedRng(u64);

impl KeyedRng {
    pub(crate) const fn new(key: u64) -> Self {
        Self(key)
    }

    pub(crate) const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STRIDE);
        scramble(self.0)
    }

    /// A number from 0 up to, not including, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        unit(self.next_u64())
    }
}

/// The word's upper 53 bits as a fraction.
pub(crate) fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_key_changes_the_number() {
        let keys =
            [key(&[1, 2]), key(&[2, 1]), key(&[1, 3]), key(&[1]), key_of("AB"), key_of("BA")];
        for (at, left) in keys.iter().enumerate() {
            assert!(keys[at + 1..].iter().all(|right| right != left), "{at}");
        }
    }

    #[test]
    fn units_fill_their_range_evenly() {
        let mut rng = KeyedRng::new(7);
        let mut buckets = [0_u32; 10];
        for _ in 0..10_000 {
            buckets[(rng.unit() * 10.0) as usize] += 1;
        }
        assert!(buckets.iter().all(|count| (850..1150).contains(count)), "{buckets:?}");
    }
}
