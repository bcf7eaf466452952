//! Scores how well a question's word fits a name's word, whatever its case ending.

use text::fold::is_cyrillic;
use text::stem::{is_case_ending, without_case_ending};

/// Fewest letters of a name or a stem that other words may begin with.
const STEM_MIN: usize = 3;

/// Scores how well a question's word fits a name's word, both in lower case; 0 means no fit.
pub(crate) fn fit(word: &str, named: &str) -> u32 {
    if word == named {
        return 60;
    }
    let inflected = is_cyrillic(word) && named.chars().count() >= STEM_MIN;
    if inflected && word.strip_prefix(named).is_some_and(is_case_ending) {
        return 55;
    }
    if inflected && without_case_ending(word) == without_case_ending(named) {
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
    if is_cyrillic(word) && begins(without_case_ending(word)) { 25 } else { 0 }
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
        || differs_by_one(without_case_ending(word), named)
        || differs_by_one(without_case_ending(word), without_case_ending(named))
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
                assert!(
                    named.starts_with(without_case_ending(case)),
                    "{case} {}",
                    without_case_ending(case)
                );
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
