//! A stem that cuts more than inflection, for comparing the words of two statements.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::fold::is_cyrillic;

static FILE: &str = include_str!("../../data/irregular.txt");

/// Irregular past forms and the stems of their verbs.
static IRREGULAR: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let rows = FILE.lines().filter(|it| !it.starts_with('#'));
    rows.filter_map(|it| it.split_once(' ')).collect()
});

/// Whether a folded word is the past of an irregular English verb.
#[must_use]
pub fn is_irregular(folded: &str) -> bool {
    IRREGULAR.contains_key(folded)
}

const ENGLISH_ENDINGS: [&str; 12] =
    ["ations", "ation", "ments", "ment", "ings", "ing", "ers", "ies", "ed", "es", "er", "s"];
const RUSSIAN_ENDINGS: [&str; 59] = [
    "ывается",
    "ивается",
    "ываются",
    "ывает",
    "ивает",
    "ывать",
    "ивать",
    "ается",
    "уется",
    "алась",
    "алось",
    "ались",
    "илась",
    "ились",
    "аться",
    "иться",
    "ался",
    "ился",
    "ится",
    "ует",
    "ать",
    "ить",
    "еть",
    "лена",
    "лено",
    "лен",
    "его",
    "ым",
    "им",
    "ями",
    "ами",
    "ого",
    "ему",
    "ому",
    "ыми",
    "ими",
    "ила",
    "ило",
    "или",
    "ала",
    "ало",
    "али",
    "ей",
    "ой",
    "ый",
    "ий",
    "ая",
    "ое",
    "ые",
    "ов",
    "ам",
    "ах",
    "ом",
    "ем",
    "ил",
    "ал",
    "ть",
    "ию",
    "ия",
];

/// The word without its commonest endings, derivations included: `granted` and `grants`, `payment`
/// and `pays`. Two words with one rough stem may be the same, which the caller must confirm by
/// other words.
///
/// ```
/// use text::stem::rough;
///
/// assert_eq!(rough("terminated"), rough("terminate"));
/// assert_eq!(rough("sought"), "seek");
/// ```
#[must_use]
pub fn rough(folded: &str) -> String {
    if let Some(base) = IRREGULAR.get(folded) {
        return (*base).to_owned();
    }
    let cyrillic = is_cyrillic(folded);
    // A stem keeps three letters, of two bytes each in Russian.
    let (endings, keep): (&[&str], usize) =
        if cyrillic { (&RUSSIAN_ENDINGS, 6) } else { (&ENGLISH_ENDINGS, 3) };
    for ending in endings {
        let Some(base) = folded.strip_suffix(ending) else { continue };
        if base.len() < keep {
            continue;
        }
        let base = base.strip_suffix('e').filter(|it| it.len() >= keep).unwrap_or(base);
        return undouble(base).to_owned();
    }
    let rest = if cyrillic {
        folded.strip_suffix(['а', 'я', 'у', 'ю', 'е', 'и', 'ы', 'о', 'ь'])
    } else {
        folded.strip_suffix('e').or_else(|| folded.strip_suffix('y'))
    };
    rest.filter(|it| it.len() >= keep).unwrap_or(folded).to_owned()
}

fn undouble(base: &str) -> &str {
    let mut back = base.chars().rev();
    match (back.next(), back.next()) {
        (Some(last), Some(before)) if last == before && !matches!(last, 's' | 'l') => {
            &base[..base.len() - last.len_utf8()]
        }
        _ => base,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (one, other) in [
            ("granted", "grants"),
            ("filed", "filing"),
            ("terminated", "terminate"),
            ("parties", "party"),
            ("договора", "договор"),
        ] {
            assert_eq!(rough(one), rough(other), "{one} {other}");
        }
    }

    #[test]
    fn the_list_of_irregular_verbs_is_sorted() {
        assert_eq!(crate::list_problem(FILE), None);
    }

    proptest! {
        #[test]
        fn a_rough_stem_is_a_beginning_of_its_word(word in "[а-я]{0,12}|[a-z]{0,12}") {
            prop_assert!(is_irregular(&word) || word.starts_with(&rough(&word)));
        }
    }
}
