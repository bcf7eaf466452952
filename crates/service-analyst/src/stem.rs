//! Strips case endings from Russian words and scores how well a question's word fits a name's word.
//! It uses a list of endings, not a dictionary.

/// Among endings with a common suffix, the longest comes first.
const ENDINGS: [&str; 42] = [
    "иями", "ями", "ами", "иях", "ого", "его", "ому", "ему", "ыми", "ими", "ях", "ах", "ой", "ей",
    "ою", "ею", "ом", "ем", "ов", "ев", "ам", "ям", "ия", "ии", "ию", "ый", "ий", "ая", "яя", "ое",
    "ее", "ые", "ие", "ых", "их", "ую", "юю", "ью", "а", "я", "о", "е",
];
const SHORT_ENDINGS: [&str; 6] = ["у", "ю", "ы", "и", "ь", "й"];

/// A stem keeps at least three letters.
const STEM_MIN: usize = 3;

fn is_cyrillic(word: &str) -> bool {
    word.chars().any(|it| ('а'..='я').contains(&it))
}

/// Returns a lower-case word without its case ending, so that it is a prefix of the word's other
/// case forms.
pub(crate) fn stem(word: &str) -> String {
    if !is_cyrillic(word) {
        return word.to_owned();
    }
    let cut = ENDINGS.iter().chain(&SHORT_ENDINGS).find_map(|ending| {
        let rest = word.strip_suffix(ending)?;
        (rest.chars().count() >= STEM_MIN).then_some(rest)
    });
    cut.unwrap_or(word).to_owned()
}

fn is_ending(text: &str) -> bool {
    text.is_empty() || ENDINGS.contains(&text) || SHORT_ENDINGS.contains(&text)
}

/// Scores how well a question's word fits a name's word, both in lower case; 0 means no fit.
pub(crate) fn fit(word: &str, named: &str) -> u32 {
    if word == named {
        return 60;
    }
    let inflected = is_cyrillic(word) && named.chars().count() >= STEM_MIN;
    if inflected && word.strip_prefix(named).is_some_and(is_ending) {
        return 55;
    }
    if inflected && stem(word) == stem(named) {
        return 50;
    }
    let possessive = ["'s", "’s", "s"];
    if possessive.iter().any(|it| word.strip_suffix(it) == Some(named)) {
        return 50;
    }
    let begins = |prefix: &str| prefix.chars().count() >= STEM_MIN && named.starts_with(prefix);
    if begins(word) {
        return 30;
    }
    if is_cyrillic(word) && begins(&stem(word)) { 25 } else { 0 }
}

/// Reports whether a word differs from a name by one wrong, missing, extra or transposed letter.
/// Words shorter than `NEAR_MIN` never match, because they would match too many names.
pub(crate) fn near(word: &str, named: &str) -> bool {
    let differs_by_one = |word: &str, named: &str| {
        let (a, b): (Vec<char>, Vec<char>) = (word.chars().collect(), named.chars().collect());
        if a.len().min(b.len()) < NEAR_MIN || a.len().abs_diff(b.len()) > 1 {
            return false;
        }
        let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let (a, b) = (&a[same..], &b[same..]);
        match (a, b) {
            ([], _) | (_, []) => true,
            ([x, y, a @ ..], [z, w, b @ ..]) if x == w && y == z && a == b => true,
            ([_, rest @ ..], [_, other @ ..]) => rest == other || rest == b || a == other,
        }
    };
    differs_by_one(word, named)
        || differs_by_one(&stem(word), named)
        || differs_by_one(&stem(word), &stem(named))
}

/// Fewest letters a word needs for a one-mistake match.
const NEAR_MIN: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, named: &str, at_least: u32) {
        let found = fit(word, named);
        assert!(found >= at_least && (at_least > 0 || found == 0), "{word} {named} {found}");
    }

    #[test]
    fn case_forms_match_their_name() {
        for (named, cases) in [
            ("сбербанк", ["сбербанка", "сбербанку", "сбербанком", "сбербанке"]),
            ("газпром", ["газпрома", "газпрому", "газпромом", "газпроме"]),
            ("роснефть", ["роснефти", "роснефтью", "роснефть", "роснефти"]),
            ("алроса", ["алросы", "алросу", "алросой", "алросе"]),
            ("полюс", ["полюса", "полюсу", "полюсом", "полюсе"]),
            ("северсталь", ["северстали", "северсталью", "северсталь", "северстали"]),
        ] {
            for case in cases {
                check(case, named, 50);
                assert!(named.starts_with(&stem(case)), "{case} {}", stem(case));
            }
        }
    }

    #[test]
    fn prefixes_score_low_and_other_words_score_zero() {
        check("сбер", "сбербанк", 30);
        check("сбером", "сбербанк", 25);
        check("газ", "лукойл", 0);
        check("втб", "вк", 0);
        check("gazprom's", "gazprom", 50);
    }

    #[track_caller]
    fn check_near(word: &str, named: &str, expected: bool) {
        assert_eq!(near(word, named), expected, "{word} {named}");
    }

    #[test]
    fn words_with_one_mistake_match_names() {
        for word in ["газпорм", "газпрм", "газпроом", "гаспром", "газпорма", "газпрому"]
        {
            check_near(word, "газпром", true);
        }
        check_near("сбербнак", "сбербанк", true);
        check_near("яндкес", "яндекс", true);
        check_near("плюс", "полюс", false);
        check_near("роснефть", "татнефть", false);
        check_near("", "газпром", false);
    }
}
