//! Folds a word: [`lower`] gives the form in which words are compared, [`searched`] the form in
//! which they are searched.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// [`searched`] cuts a longer word to this many characters.
pub const SEARCHED_CHARS_MAX: usize = 64;

/// Characters that have no width and belong to the word around them: accents that stand alone, soft
/// hyphens and joiners.
#[must_use]
pub fn is_invisible(it: char) -> bool {
    matches!(it, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}') || is_combining_mark(it)
}

/// The form in which words are compared: lower case, `ё` as `е`, straight apostrophes, accents
/// joined to their letters, no soft hyphens.
///
/// ```
/// assert_eq!(text::fold::lower("Приём"), "прием");
/// assert_eq!(text::fold::lower("O’Brien"), "o'brien");
/// ```
#[must_use]
pub fn lower(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    push_lower(&mut folded, word);
    folded
}

/// Appends the form of [`lower`] to a buffer.
pub fn push_lower(folded: &mut String, word: &str) {
    if word.is_ascii() {
        folded.extend(word.chars().map(|it| it.to_ascii_lowercase()));
        return;
    }
    let word = if word.contains(is_combining_mark) {
        Cow::Owned(word.nfc().collect::<String>())
    } else {
        Cow::Borrowed(word)
    };
    let plain = word.chars().flat_map(char::to_lowercase).filter_map(|it| match it {
        '’' | 'ʼ' => Some('\''),
        'ё' => Some('е'),
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' => None,
        it => Some(it),
    });
    folded.extend(plain);
}

/// A folded word without the ending of the English possessive.
///
/// ```
/// assert_eq!(text::fold::without_possessive("court's"), "court");
/// assert_eq!(text::fold::without_possessive("plaintiffs'"), "plaintiffs");
/// ```
#[must_use]
pub fn without_possessive(folded: &str) -> &str {
    folded.strip_suffix("'s").or_else(|| folded.strip_suffix('\'')).unwrap_or(folded)
}

/// The form in which words are searched: lower case without accents, letters and digits alone, at
/// most 64 characters. `None` if nothing remains.
///
/// ```
/// assert_eq!(text::fold::searched("Café").as_deref(), Some("cafe"));
/// assert_eq!(text::fold::searched("Йод").as_deref(), Some("иод"));
/// ```
#[must_use]
pub fn searched(word: &str) -> Option<String> {
    if word.is_ascii() {
        let mut folded = word.to_ascii_lowercase();
        folded.truncate(SEARCHED_CHARS_MAX);
        return Some(folded);
    }
    let lower = word.nfkd().flat_map(char::to_lowercase);
    // Decomposed twice, because some capitals decompose only as small letters.
    let plain = lower.nfkd().filter(|it| it.is_alphanumeric() && !is_combining_mark(*it));
    // The final form of sigma is the same letter as the other form.
    let plain = plain.map(|it| if it == 'ς' { 'σ' } else { it });
    let folded: String = plain.take(SEARCHED_CHARS_MAX).collect();
    (!folded.is_empty()).then_some(folded)
}

/// Whether a folded word has a letter of the Russian alphabet.
#[must_use]
pub fn is_cyrillic(folded: &str) -> bool {
    folded.chars().any(|it| ('а'..='я').contains(&it))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_folded() {
        let check = |word: &str, expected: &str| assert_eq!(lower(word), expected, "{word}");
        check("COURT", "court");
        check("Ёж", "еж");
        check("и\u{306}од", "йод");
        check("con\u{ad}tract", "contract");
        check("Smith’s", "smith's");
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(word in "\\PC{0,12}") {
            prop_assert_eq!(lower(&lower(&word)), lower(&word));
            let once = searched(&word);
            prop_assert_eq!(once.as_deref().and_then(searched), once);
        }

        #[test]
        fn a_searched_word_has_letters_and_digits_alone(word in "\\PC{0,90}") {
            if let Some(folded) = searched(&word).filter(|_| !word.is_ascii()) {
                prop_assert!(folded.chars().all(char::is_alphanumeric));
                prop_assert!(folded.chars().count() <= SEARCHED_CHARS_MAX);
            }
        }
    }
}
