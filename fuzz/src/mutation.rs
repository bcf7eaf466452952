//! Damages a seed: bits, numbers, lengths, order, repetition, and words of the format. It does not
//! measure coverage.

use testkit::TestRng;

/// The longest input. Longer ones find the same paths more slowly.
pub const INPUT_BYTES_MAX: usize = 32 * 1024;
/// Numbers around which length and index arithmetic goes wrong.
const NUMBERS: [i64; 19] = [
    0,
    1,
    -1,
    2,
    16,
    127,
    128,
    255,
    256,
    1_000,
    32_767,
    65_535,
    65_536,
    1 << 31,
    (1 << 31) - 1,
    (1 << 32) - 1,
    1 << 32,
    i64::MAX,
    i64::MIN,
];

/// The input of one run: a seed with up to eight changes, and one run in 64 the seed itself.
pub fn input(rng: &mut TestRng, seeds: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut bytes = rng.pick(seeds).clone();
    if rng.one_in(64) {
        return bytes;
    }
    for _ in 0..=rng.below(8) {
        change(rng, &mut bytes, seeds, words);
        bytes.truncate(INPUT_BYTES_MAX);
    }
    bytes
}

fn change(rng: &mut TestRng, bytes: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[&str]) {
    let at = rng.index(bytes.len() + 1);
    match rng.below(12) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << rng.below(8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = rng.next_u64() as u8;
            }
        }
        2 => binary_number(rng, bytes, at),
        3 => decimal_number(rng, bytes, at),
        4 => bytes.truncate(at),
        5 => {
            bytes.drain(range(rng, bytes.len(), at));
        }
        6 => {
            let copied = bytes[range(rng, bytes.len(), at)].to_vec();
            let to = rng.index(bytes.len() + 1);
            bytes.splice(to..to, copied);
        }
        7 => repeat(rng, bytes, at),
        8 => {
            let other = rng.pick(seeds);
            let from = rng.index(other.len() + 1);
            let copied = other[range(rng, other.len(), from)].to_vec();
            bytes.splice(at..at, copied);
        }
        9 if !words.is_empty() => {
            let word = rng.pick(words).bytes();
            bytes.splice(at..at, word);
        }
        10 if !words.is_empty() => {
            let word = rng.pick(words).as_bytes();
            let end = bytes.len().min(at + word.len());
            bytes.splice(at..end, word.iter().copied());
        }
        _ => {
            let other = rng.pick(seeds);
            bytes.truncate(at);
            bytes.extend_from_slice(&other[rng.index(other.len() + 1)..]);
        }
    }
}

/// A range that begins at `at`; short ones are as likely as long ones.
fn range(rng: &mut TestRng, length: usize, at: usize) -> std::ops::Range<usize> {
    let most = if rng.one_in(2) { 8 } else { length - at };
    let taken = rng.index(most + 1);
    at..length.min(at + taken)
}

fn repeat(rng: &mut TestRng, bytes: &mut Vec<u8>, at: usize) {
    let unit = bytes[range(rng, bytes.len(), at)].to_vec();
    let room = INPUT_BYTES_MAX.saturating_sub(bytes.len()) / unit.len().max(1);
    let count = if rng.one_in(4) { room } else { rng.index(room.min(64) + 1) };
    bytes.splice(at..at, unit.repeat(count));
}

fn binary_number(rng: &mut TestRng, bytes: &mut [u8], at: usize) {
    let number = *rng.pick(&NUMBERS);
    let width = 1 << rng.below(4);
    let little = number.to_le_bytes();
    let mut digits = little[..width].to_vec();
    if rng.one_in(2) {
        digits.reverse();
    }
    for (byte, digit) in bytes.iter_mut().skip(at).zip(digits) {
        *byte = digit;
    }
}

/// Replaces the decimal number at or after a place.
fn decimal_number(rng: &mut TestRng, bytes: &mut Vec<u8>, at: usize) {
    let Some(start) = (at..bytes.len()).find(|place| bytes[*place].is_ascii_digit()) else {
        return;
    };
    let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = rng.pick(&NUMBERS).to_string();
    bytes.splice(start..start + digits, number.bytes());
}
