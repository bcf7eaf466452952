//! Removes inflections: English plurals, -ed and -ing, Russian cases and persons.
//!
//! Deliberately light: derivations (motion, motive) stay different words, because a lawyer who
//! searches for one does not mean the other.

/// Folds a word that is in lower case and without accents (й is и and ё is е by then), and short.
pub(crate) fn stem(word: &mut String) {
    if word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase()) {
        english(word);
    } else if word.chars().all(|c| ('а'..='я').contains(&c)) {
        russian(word);
    }
}

/// Porter's first step and the silent e of his last.
fn english(word: &mut String) {
    plural(word);
    past(word);
    if let Some(stem) = word.strip_suffix('y')
        && has_vowel(stem.as_bytes())
    {
        word.pop();
        word.push('i');
    }
    if let Some(stem) = word.strip_suffix('e') {
        let count = measure(stem.as_bytes());
        if count > 1 || (count == 1 && !is_short(stem.as_bytes())) {
            word.pop();
        }
    }
    if word.ends_with("ll") && measure(&word.as_bytes()[..word.len() - 1]) > 1 {
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

fn past(word: &mut String) {
    if let Some(stem) = word.strip_suffix("eed") {
        if measure(stem.as_bytes()) > 0 {
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
    } else if measure(word.as_bytes()) == 1 && is_short(word.as_bytes()) {
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

/// How many times a vowel is followed by a consonant.
fn measure(stem: &[u8]) -> usize {
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

/// Longest first; й is и here.
const RUSSIAN: [&str; 58] = [
    "иями",
    "ениями",
    "остями",
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
    if let Some(end) = RUSSIAN.iter().filter(fits).max_by_key(|end| end.len()) {
        word.truncate(word.len() - end.len());
    } else if word.len() > RUSSIAN_STEM_BYTES
        && word.ends_with(['а', 'е', 'и', 'о', 'у', 'ы', 'ь', 'ю', 'я'])
    {
        word.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str]) {
        let stems: Vec<String> = words
            .iter()
            .map(|word| {
                let mut word = (*word).to_owned();
                stem(&mut word);
                word
            })
            .collect();
        assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{words:?} became {stems:?}");
    }

    #[track_caller]
    fn check_apart(one: &str, other: &str) {
        let (mut a, mut b) = (one.to_owned(), other.to_owned());
        stem(&mut a);
        stem(&mut b);
        assert_ne!(a, b, "{one} and {other}");
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
        check_apart("motion", "motive");
        check_apart("universal", "university");
        check_apart("trial", "tribal");
        check_apart("иск", "искра");
    }

    #[test]
    fn odd_words_do_not_panic() {
        for word in
            ["yyyyyyy", "s", "ss", "ed", "ing", "eed", "ies", "сь", "ся", "я", "yed", "bying"]
        {
            let mut word = word.to_owned();
            stem(&mut word);
        }
    }
}
