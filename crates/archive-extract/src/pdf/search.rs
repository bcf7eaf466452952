//! Finds words in the bytes of a PDF.

use super::object::is_space;

pub(super) fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    let first = *word.first()?;
    let mut at = 0;
    while let Some(step) = bytes[at..].iter().position(|it| *it == first) {
        at += step;
        if bytes[at..].starts_with(word) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Reads `12 0 ` backwards from the word `obj`: the number, and where it starts.
pub(super) fn header_before(bytes: &[u8], word: usize) -> Option<(u32, usize)> {
    let floor = word.saturating_sub(64);
    let back = |mut at: usize, wanted: fn(u8) -> bool| {
        while at > floor && wanted(bytes[at - 1]) {
            at -= 1;
        }
        at
    };
    let digit: fn(u8) -> bool = |it| it.is_ascii_digit();
    let generation_end = back(word, is_space);
    let generation = back(generation_end, digit);
    let number_end = back(generation, is_space);
    let number = back(number_end, digit);
    if generation == generation_end || number == number_end || number_end == generation {
        return None;
    }
    let text = std::str::from_utf8(&bytes[number..number_end]).ok()?;
    Some((text.parse().ok()?, number))
}
