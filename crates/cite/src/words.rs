//! Words of case names and of the prose around them, from `data/words.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

static FILE: &str = include_str!("../data/words.txt");

static WORDS: LazyLock<HashMap<&'static str, u8>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    for line in FILE.lines().filter(|it| !it.starts_with('#')) {
        let mut line = line.split(' ');
        let class = match line.next() {
            Some("connects") => CONNECTS,
            Some("signal") => SIGNAL,
            Some("company") => COMPANY,
            _ => SHORTENED,
        };
        for word in line {
            *words.entry(word).or_default() |= class;
        }
    }
    words
});

const CONNECTS: u8 = 1;
const SIGNAL: u8 = 2;
const COMPANY: u8 = 4;
const SHORTENED: u8 = 8;

fn is(word: &str, class: u8) -> bool {
    WORDS.get(word).is_some_and(|it| it & class != 0)
}

/// Whether a word looks like part of a name.
pub(crate) fn capital(word: &str) -> bool {
    word == "&" || word.chars().take(3).any(char::is_uppercase)
}

/// Small words that names have inside.
pub(crate) fn connects(word: &str) -> bool {
    is(word, CONNECTS)
}

/// Words that lead to a citation and belong to no name.
pub(crate) fn signal(word: &str) -> bool {
    is(word, SIGNAL)
}

/// Whether the rest of a name begins with a kind of company, which a comma may stand before.
pub(crate) fn company(rest: &str) -> bool {
    let word = rest.split([' ', ',']).next().unwrap_or_default();
    is(word.trim_end_matches('.'), COMPANY)
}

/// Whether the stop at the end of a word shortens it instead of ending a sentence.
pub(crate) fn abbreviation(word: &str) -> bool {
    let plain = word.trim_end_matches('.');
    let vowel = |it: char| "aeiouyAEIOUY".contains(it);
    if plain.ends_with(['\'', '\u{2019}', '\u{201d}', '"', ')']) {
        return false;
    }
    plain.chars().count() <= 2
        || plain.contains(['.', '\'', '\u{2019}', '&'])
        || !plain.contains(vowel)
        || is(plain, SHORTENED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_shorten_or_end() {
        for word in ["Inc.", "Mfg.", "U.S.", "J.", "Ass'n.", "Prods.", "Ry."] {
            assert!(abbreviation(word), "{word}");
        }
        for word in ["Court.", "State.", "Smith.", "Appeals."] {
            assert!(!abbreviation(word), "{word}");
        }
    }
}
