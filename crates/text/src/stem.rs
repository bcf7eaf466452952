//! Stems: a word without its inflection. Derivations (motion, motive) stay different words, because
//! a person who searches for one does not mean the other; a Snowball stemmer would join them.
//!
//! [`inflection`] is for searching, [`rough`] for comparing the words of two statements,
//! [`without_case_ending`] for names of companies, [`surname`] for names of people.

mod rough;

pub use rough::{is_irregular, rough};

/// Removes English plurals, -ed and -ing, and Russian cases and persons. The word is in the form of
/// [`crate::fold::searched`], so `й` is `и`. Stored search indexes hold these stems: a change needs
/// a rebuild of every index.
///
/// ```
/// let mut word = "motions".to_owned();
/// text::stem::inflection(&mut word);
/// assert_eq!(word, "motion");
/// ```
pub fn inflection(word: &mut String) {
    if word.len() > 2 && word.bytes().all(|it| it.is_ascii_lowercase()) {
        english(word);
    } else if word.chars().all(|it| ('а'..='я').contains(&it)) {
        russian(word);
    }
}

/// Steps 1 and 5 of Porter's algorithm: plurals, -ed, -ing, a final y, a silent e, a double l.
fn english(word: &mut String) {
    plural(word);
    past_and_participle(word);
    if let Some(stem) = word.strip_suffix('y')
        && has_vowel(stem.as_bytes())
    {
        word.pop();
        word.push('i');
    }
    if let Some(stem) = word.strip_suffix('e') {
        let count = vowel_groups(stem.as_bytes());
        if count > 1 || (count == 1 && !is_short(stem.as_bytes())) {
            word.pop();
        }
    }
    if word.ends_with("ll") && vowel_groups(&word.as_bytes()[..word.len() - 1]) > 1 {
        word.pop();
    }
}

fn plural(word: &mut String) {
    if word.ends_with("sses") || word.ends_with("ies") {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
}

fn past_and_participle(word: &mut String) {
    if let Some(stem) = word.strip_suffix("eed") {
        if vowel_groups(stem.as_bytes()) > 0 {
            word.pop();
        }
        return;
    }
    let stem = word.strip_suffix("ed").or_else(|| word.strip_suffix("ing"));
    let Some(stem) = stem.filter(|stem| has_vowel(stem.as_bytes())) else { return };
    word.truncate(stem.len());
    if ["at", "bl", "iz"].iter().any(|end| word.ends_with(end)) {
        word.push('e');
    } else if is_doubled(word.as_bytes()) && !word.ends_with(['l', 's', 'z']) {
        word.pop();
    } else if vowel_groups(word.as_bytes()) == 1 && is_short(word.as_bytes()) {
        word.push('e');
    }
}

fn is_consonant(word: &[u8], at: usize) -> bool {
    match word[at] {
        b'a' | b'e' | b'i' | b'o' | b'u' => false,
        b'y' => at == 0 || !is_consonant(word, at - 1),
        _ => true,
    }
}

fn has_vowel(stem: &[u8]) -> bool {
    (0..stem.len()).any(|at| !is_consonant(stem, at))
}

/// How many times a vowel is followed by a consonant, which Porter calls the measure.
fn vowel_groups(stem: &[u8]) -> usize {
    let kinds = (0..stem.len()).map(|at| is_consonant(stem, at));
    let (mut count, mut vowel_before) = (0, false);
    for consonant in kinds {
        if consonant && vowel_before {
            count += 1;
        }
        vowel_before = !consonant;
    }
    count
}

fn is_doubled(word: &[u8]) -> bool {
    let last = word.len().wrapping_sub(1);
    word.len() > 1 && word[last] == word[last - 1] && is_consonant(word, last)
}

/// Ends in consonant, vowel, consonant, the last of them not w, x or y.
fn is_short(word: &[u8]) -> bool {
    let Some(last) = word.len().checked_sub(1).filter(|&last| last >= 2) else { return false };
    is_consonant(word, last)
        && !is_consonant(word, last - 1)
        && is_consonant(word, last - 2)
        && !matches!(word[last], b'w' | b'x' | b'y')
}

/// Endings of Russian nouns, adjectives and verbs; `й` is `и` here.
const RUSSIAN_ENDINGS: [&str; 58] = [
    "ениями",
    "остями",
    "иями",
    "ами",
    "ями",
    "ого",
    "его",
    "ому",
    "ему",
    "ыми",
    "ими",
    "иях",
    "ием",
    "иеи",
    "ешь",
    "ишь",
    "ете",
    "ите",
    "ала",
    "али",
    "ало",
    "ила",
    "или",
    "ило",
    "ять",
    "ать",
    "ить",
    "еть",
    "ах",
    "ях",
    "ов",
    "ев",
    "ом",
    "ем",
    "ам",
    "ям",
    "ыи",
    "ии",
    "ои",
    "еи",
    "ая",
    "яя",
    "ое",
    "ее",
    "ые",
    "ие",
    "ых",
    "их",
    "ым",
    "им",
    "ую",
    "юю",
    "ию",
    "ия",
    "ью",
    "ет",
    "ит",
    "ют",
];

/// Cyrillic letters have two bytes, and a stem keeps three letters.
const RUSSIAN_STEM_BYTES: usize = 6;

fn russian(word: &mut String) {
    for reflexive in ["ся", "сь"] {
        if word.ends_with(reflexive) && word.len() - reflexive.len() > RUSSIAN_STEM_BYTES {
            word.truncate(word.len() - reflexive.len());
            break;
        }
    }
    let fits = |end: &&&str| word.ends_with(**end) && word.len() - end.len() >= RUSSIAN_STEM_BYTES;
    if let Some(end) = RUSSIAN_ENDINGS.iter().filter(fits).max_by_key(|end| end.len()) {
        word.truncate(word.len() - end.len());
    } else if word.len() > RUSSIAN_STEM_BYTES
        && word.ends_with(['а', 'е', 'и', 'о', 'у', 'ы', 'ь', 'ю', 'я'])
    {
        word.pop();
    }
}

/// Endings of Russian nouns and adjectives; among those with a common end, the longest is first.
const CASE_ENDINGS: [&str; 48] = [
    "иями", "ями", "ами", "иях", "ого", "его", "ому", "ему", "ыми", "ими", "ях", "ах", "ой", "ей",
    "ою", "ею", "ом", "ем", "ов", "ев", "ам", "ям", "ия", "ии", "ию", "ый", "ий", "ая", "яя", "ое",
    "ее", "ые", "ие", "ых", "их", "ую", "юю", "ью", "а", "я", "о", "е", "у", "ю", "ы", "и", "ь",
    "й",
];

/// Endings of Russian surnames; `ов` and `ев` belong to the surname.
const SURNAME_ENDINGS: [&str; 16] =
    ["ого", "ому", "ой", "ым", "ом", "ем", "ий", "ая", "ую", "а", "у", "е", "ы", "я", "ю", "й"];

/// The word before the first of the endings that leaves at least three letters.
fn without<'w>(word: &'w str, endings: &[&str]) -> &'w str {
    let cut = endings.iter().find_map(|ending| {
        let rest = word.strip_suffix(ending)?;
        (rest.chars().count() >= 3).then_some(rest)
    });
    cut.unwrap_or(word)
}

/// A folded Russian noun or adjective without its case ending, so that it is a prefix of the word's
/// other cases. Other words are returned as they are.
///
/// ```
/// assert_eq!(text::stem::without_case_ending("газпромом"), "газпром");
/// assert_eq!(text::stem::without_case_ending("lukoil"), "lukoil");
/// ```
#[must_use]
pub fn without_case_ending(word: &str) -> &str {
    if crate::fold::is_cyrillic(word) { without(word, &CASE_ENDINGS) } else { word }
}

/// Whether a text is an ending of a Russian noun or adjective, or nothing.
#[must_use]
pub fn is_case_ending(text: &str) -> bool {
    text.is_empty() || CASE_ENDINGS.contains(&text)
}

/// A folded Russian surname without its case ending.
///
/// ```
/// assert_eq!(text::stem::surname("ивановым"), text::stem::surname("иванов"));
/// ```
#[must_use]
pub fn surname(word: &str) -> &str {
    without(word, &SURNAME_ENDINGS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stemmed(word: &str) -> String {
        let mut word = word.to_owned();
        inflection(&mut word);
        word
    }

    #[track_caller]
    fn check(words: &[&str]) {
        let stems: Vec<String> = words.iter().map(|it| stemmed(it)).collect();
        assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{words:?} became {stems:?}");
    }

    #[test]
    fn forms_of_one_word_have_one_stem() {
        check(&["motion", "motions"]);
        check(&["file", "files", "filed", "filing"]);
        check(&["deny", "denies", "denied", "denying"]);
        check(&["argue", "argues", "argued", "arguing"]);
        check(&["party", "parties"]);
        check(&["plead", "pleads", "pleading", "pleaded"]);
        check(&["stop", "stops", "stopped", "stopping"]);
        check(&["agree", "agrees", "agreed"]);
        check(&["договор", "договора", "договору", "договором", "договоры", "договоров"]);
        check(&["суд", "суда", "суду", "судом", "суды", "судов", "судах"]);
        check(&["решение", "решения", "решению", "решением", "решениях"]);
        check(&["арбитражныи", "арбитражного", "арбитражному", "арбитражныи"]);
    }

    #[test]
    fn different_words_have_different_stems() {
        for (one, other) in [
            ("motion", "motive"),
            ("universal", "university"),
            ("trial", "tribal"),
            ("иск", "искра"),
        ] {
            assert_ne!(stemmed(one), stemmed(other), "{one} and {other}");
        }
    }

    /// What stored indexes hold: these rows may never change without a rebuild.
    #[test]
    fn stored_stems_stay_as_they_are() {
        for (word, stem) in [
            ("dismissed", "dismiss"),
            ("summary", "summari"),
            ("close", "close"),
            ("closed", "close"),
            ("relational", "relational"),
            ("agreement", "agreement"),
            ("controlling", "control"),
            ("eed", "eed"),
            ("правонарушениями", "правонаруш"),
            ("ответственностями", "ответственн"),
            ("обратился", "обратил"),
            ("взыскать", "взыск"),
            ("судеи", "суд"),
            ("и", "и"),
        ] {
            assert_eq!(stemmed(word), stem, "{word}");
        }
    }

    #[test]
    fn short_and_odd_words_do_not_panic() {
        for word in
            ["yyyyyyy", "s", "ss", "ed", "ing", "eed", "ies", "сь", "ся", "я", "yed", "bying"]
        {
            stemmed(word);
        }
    }

    proptest! {
        #[test]
        fn a_stem_of_a_name_is_a_beginning_of_it(word in "[а-я]{0,12}|[a-z]{0,8}") {
            prop_assert!(word.starts_with(without_case_ending(&word)));
            prop_assert!(word.starts_with(surname(&word)));
            prop_assert!(is_case_ending(&word[without_case_ending(&word).len()..]));
        }

        #[test]
        fn a_stem_has_at_most_one_letter_more_than_its_word(word in "[а-я]{0,12}|[a-z]{0,12}") {
            prop_assert!(stemmed(&word).len() <= word.len() + 1);
        }
    }
}
