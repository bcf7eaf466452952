//! Numbers written in words, at a token: `twenty-one`, `two hundred fifty thousand`, «пять тысяч».

use text::numerals::{begins_number, spelled};

use crate::text::TokenText;

/// Whether a word is a number, or the beginning of one.
pub(crate) fn is_number(word: &str) -> bool {
    begins_number(word)
}

/// The number that the words from here on spell, and the token after them.
pub(crate) fn number(text: &TokenText<'_>, at: usize) -> Option<(u64, usize)> {
    let (value, words) = spelled((at..text.len()).map(|it| text.low(it)))?;
    Some((value, at + words))
}
