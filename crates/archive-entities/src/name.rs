//! The forms of English and Russian personal names, and the capitalised words that are not names.

use std::sync::LazyLock;

use text::WordList;
use text::stem::surname;

use crate::text::TokenText;

static NOT_NAMES: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/not_names.txt")));

/// Whether the word is in no personal name.
pub(crate) fn is_other_word(word: &str) -> bool {
    NOT_NAMES.contains(word)
}

/// First names that distinguish a person from a firm.
static GIVEN: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/given_names.txt")));

pub(crate) fn is_given(word: &str) -> bool {
    GIVEN.contains(word)
}

/// Capitalised words that occur beside names and are not part of them.
static TITLES: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/titles.txt")));

pub(crate) fn is_title_word(word: &str) -> bool {
    TITLES.contains(word)
}

/// Words for offices and occupations; firms may have them in their names, people do not.
static OFFICES: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/offices.txt")));

pub(crate) fn is_office_word(word: &str) -> bool {
    OFFICES.contains(word)
}

/// Skips a title before the name: `Assistant Federal Defender`.
pub(crate) fn past_titles(text: &TokenText<'_>, at: usize) -> usize {
    let title = |it: usize| {
        is_office_word(text.low(it))
            || matches!(
                text.low(it),
                "united"
                    | "states"
                    | "attorney"
                    | "counsel"
                    | "deputy"
                    | "chief"
                    | "mr"
                    | "mrs"
                    | "ms"
                    | "dr"
                    | "."
                    | "state"
                    | "u"
                    | "s"
            )
    };
    (at..at + 7).find(|it| !(title(*it) && text.breaks(*it) == 0)).unwrap_or(at + 7)
}

/// A capitalised word that may be part of a name.
pub(crate) fn is_name_word(text: &TokenText<'_>, at: usize) -> bool {
    text.is_word(at)
        && text.capital(at)
        && text.word(at).len() > 1
        && (!is_title_word(text.low(at)) || is_month_name(text, at))
}

/// `JUNE RASKIN`: some months are first names, where a surname follows.
fn is_month_name(text: &TokenText<'_>, at: usize) -> bool {
    matches!(text.low(at), "april" | "june" | "august")
        && text.is_word(at + 1)
        && text.capital(at + 1)
        && text.breaks(at + 1) == 0
        && !is_title_word(text.low(at + 1))
}

fn is_initial(text: &TokenText<'_>, at: usize) -> bool {
    text.capital(at) && text.word(at).chars().count() == 1 && text.is(at + 1, ".")
}

/// Words that begin the title of a judge after the name.
fn is_court_word(word: &str) -> bool {
    matches!(
        word,
        "administrative"
            | "superior"
            | "bankruptcy"
            | "probate"
            | "municipal"
            | "federal"
            | "appeals"
            | "supreme"
            | "part"
            | "civil"
            | "criminal"
            | "date"
            | "notice"
            | "central"
            | "northern"
            | "southern"
            | "eastern"
            | "western"
    )
}

/// `Marquita A Funches`: an initial without its point.
fn is_bare_initial(text: &TokenText<'_>, at: usize) -> bool {
    text.capital(at)
        && text.is_word(at)
        && text.word(at).len() == 1
        && is_name_word(text, at + 1)
        && text.breaks(at + 1) == 0
        && !is_other_word(text.low(at + 1))
}

fn is_particle(word: &str) -> bool {
    matches!(
        word,
        "de" | "la"
            | "las"
            | "los"
            | "du"
            | "den"
            | "van"
            | "von"
            | "der"
            | "del"
            | "di"
            | "bin"
            | "al"
            | "st"
    )
}

/// The token after the personal name that begins here; `single` accepts a name of one word.
pub(crate) fn person(text: &TokenText<'_>, at: usize, single: bool) -> Option<usize> {
    person_within(text, at, single, false)
}

/// Like [`person`] in running text, where a line may break within the name.
pub(crate) fn person_wrapped(text: &TokenText<'_>, at: usize) -> Option<usize> {
    person_within(text, at, false, true)
}

/// The end of a name; `wrapped` accepts a line that the width of the page broke within it.
fn person_within(text: &TokenText<'_>, at: usize, single: bool, wrapped: bool) -> Option<usize> {
    if text.word(at).starts_with(|it| matches!(it, '\u{400}'..='\u{4ff}')) {
        return russian(text, at);
    }
    // `-AB-FFM Trinh`: the end of a case number is no name.
    if at > 0 && text.glued(at) && text.is(at - 1, "-") {
        return None;
    }
    let (mut next, mut words, mut parts, mut last_word) = (at, 0, 0, at);
    while parts < 5 {
        let goes_on = text.breaks(next) == 0 || wrapped && text.wraps(next);
        let same_line = next == at || (goes_on && !wide(text, at, next));
        if !same_line {
            break;
        }
        if is_initial(text, next) {
            next += 2;
            parts += 1;
        } else if words > 0 && is_bare_initial(text, next) {
            next += 1;
            parts += 1;
        } else if text.is(next, "st") && text.is(next + 1, ".") && is_name_word(text, next + 2) {
            // `ST. CLOUD`
            next += 2;
        } else if words > 0 && is_nickname(text, next) {
            next += 3;
        } else if is_name_word(text, next)
            && !is_generation(text.low(next))
            && !is_office_word(text.low(next))
            && !is_other_word(text.low(next))
        {
            next += 1;
            (parts, words, last_word) = (parts + 1, words + 1, next);
        } else if words > 0 && is_joined(text, next) {
            // `MANZANO–DANIELS` with the dash of a printer.
            next += 2;
            last_word = next;
        } else if words > 0
            && is_particle(text.low(next))
            && (is_name_word(text, next + 1)
                || is_particle(text.low(next + 1)) && is_name_word(text, next + 2))
        {
            next += 1;
        } else {
            break;
        }
    }
    // A capital that goes on with a word of no name is a heading: `Santa Clara County Council`.
    let is_heading = text.breaks(next) == 0
        && next > at
        && is_other_word(text.low(next))
        && !is_court_word(text.low(next))
        && text.capital(next)
        && !wide(text, at, next);
    let has_initial = (at..next).any(|it| text.is(it, "."));
    if is_heading && !has_initial && !is_given(text.low(at)) {
        return None;
    }
    // A name does not end in an initial, so `John Q.` alone is not one.
    let enough = words >= 2 || (words == 1 && (parts >= 2 || single));
    (enough && words > 0).then(|| generation(text, last_word))
}

/// `LEOPOLD "LEO" MARCHETTI`
fn is_nickname(text: &TokenText<'_>, at: usize) -> bool {
    matches!(text.low(at), "\"" | "“")
        && text.is_word(at + 1)
        && matches!(text.low(at + 2), "\"" | "”")
        && is_name_word(text, at + 3)
        && text.breaks(at + 3) == 0
}

/// Whether a dash joins the name before it with the word after it.
fn is_joined(text: &TokenText<'_>, at: usize) -> bool {
    matches!(text.low(at), "–" | "-" | "‐" | "‑")
        && text.glued(at)
        && text.glued(at + 1)
        && is_name_word(text, at + 1)
        && !is_other_word(text.low(at + 1))
}

fn wide(text: &TokenText<'_>, from: usize, at: usize) -> bool {
    let after_gap = |it: usize| text.at(it).is_some_and(|token| token.after_gap);
    after_gap(at) != after_gap(from)
}

fn is_generation(word: &str) -> bool {
    matches!(word, "jr" | "sr" | "ii" | "iii" | "iv")
}

/// Past `, Jr.`, where it follows.
fn generation(text: &TokenText<'_>, end: usize) -> usize {
    let at = if text.is(end, ",") { end + 1 } else { end };
    if !is_generation(text.low(at)) || text.breaks(at) > 0 {
        return end;
    }
    if text.is(at + 1, ".") { at + 2 } else { at + 1 }
}

/// `Иванов И.И.`, `И.И. Иванов`, `Иванов Иван Иванович`
fn russian(text: &TokenText<'_>, at: usize) -> Option<usize> {
    let initials = |from: usize| {
        let mut next = from;
        while next < from + 4
            && is_initial(text, next)
            && (text.breaks(next) == 0 || next == from && from == at)
        {
            next += 2;
        }
        // The point of the last initial may be missing: `Родиной А.К, судей`.
        let bare = next > from
            && text.glued(next)
            && text.capital(next)
            && text.word(next).chars().count() == 1;
        // `Шевченко ЮН.`
        let joined = next == from
            && from > at
            && text.breaks(next) == 0
            && text.at(next).is_some_and(|it| it.all_caps)
            && text.word(next).chars().count() == 2
            && text.is(next + 1, ".");
        next + usize::from(bare) + if joined { 2 } else { 0 }
    };
    // `ФИО1` stands for a name that the court left out.
    if text.is(at, "фио") && text.is_number(at + 1) && text.glued(at + 1) {
        return Some(at + 2);
    }
    if is_initial(text, at) {
        let next = initials(at);
        return (next > at && is_name_word(text, next)).then_some(next + 1);
    }
    if !is_name_word(text, at) {
        return None;
    }
    let next = initials(at + 1);
    if next > at + 1 {
        return Some(next);
    }
    const ENDS: [&str; 19] = [
        "вич",
        "вича",
        "вичу",
        "вичем",
        "вна",
        "вны",
        "вне",
        "вной",
        "вну",
        "ьич",
        "ьича",
        "ьичу",
        "ьичом",
        "ична",
        "ичны",
        "ичне",
        "ичной",
        "оглы",
        "кызы",
    ];
    let patronymic = |at: usize| {
        text.is_word(at) && text.breaks(at) <= 1 && ENDS.iter().any(|it| text.low(at).ends_with(it))
    };
    // The second is how letters and signatures have it: `Иван Иванович Иванов`.
    let whole = is_name_word(text, at + 1)
        && text.breaks(at + 1) <= 1
        && (patronymic(at + 2) || patronymic(at + 1) && is_name_word(text, at + 2));
    whole.then_some(at + 3)
}

/// The first token of the personal name that ends before this token.
pub(crate) fn person_before(text: &TokenText<'_>, end: usize, single: bool) -> Option<usize> {
    let first = end.saturating_sub(8);
    let from = (first..end).find(|at| {
        // A name that begins in the middle of a longer one is not it.
        !(*at > first
            && is_name_word(text, at - 1)
            && text.breaks(*at) == 0
            && person(text, at - 1, single) == Some(end))
            && person(text, *at, single) == Some(end)
    })?;
    // The width of the page may break the line after the first name.
    let begun = from > 0 && text.wraps(from) && text.capital(from - 1);
    Some(if begun && is_given(text.low(from - 1)) { from - 1 } else { from })
}

/// The key that all mentions of one person share: the surname, and the given name if known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PersonKey {
    pub(crate) surname: String,
    pub(crate) given: String,
}

/// Surname and given name of a name as it is written.
pub(crate) fn person_key(name: &str) -> PersonKey {
    let lower = name.to_lowercase();
    let lower = lower.strip_suffix(", m.d.").unwrap_or(&lower);
    let words: Vec<&str> = lower
        .split(|it: char| it.is_whitespace() || matches!(it, '.' | ','))
        .filter(|it| !it.is_empty() && !is_generation(it))
        .filter(|it| !matches!(*it, "mr" | "mrs" | "ms" | "dr" | "hon" | "ип"))
        .collect();
    if lower.chars().any(|it| ('а'..='я').contains(&it)) {
        return russian_key(&words);
    }
    let surname = words.last().copied().unwrap_or_default().to_owned();
    let given = if words.len() > 1 { words.first().copied().unwrap_or_default() } else { "" };
    PersonKey { surname, given: given.to_owned() }
}

fn russian_key(words: &[&str]) -> PersonKey {
    let long = |it: &&&str| it.chars().count() > 1;
    let family = words.iter().find(long).copied().unwrap_or_default();
    let rest = words.iter().filter(|it| **it != family);
    // `ЮН.` are two initials.
    let given: String =
        rest.flat_map(|it| it.chars().take(if it.chars().count() == 2 { 2 } else { 1 })).collect();
    PersonKey { surname: surname(family).to_owned(), given }
}

impl PersonKey {
    /// Whether both may be one person; a surname alone fits any given name.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        if self.surname != other.surname {
            return false;
        }
        let (short, long) = if self.given.len() <= other.given.len() {
            (&self.given, &other.given)
        } else {
            (&other.given, &self.given)
        };
        short.is_empty()
            || short == long
            || (short.chars().count() == 1 && long.starts_with(short.as_str()))
    }

    pub(crate) fn shown(&self) -> String {
        format!("{} {}", self.given, self.surname).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn word_lists_are_sorted_and_without_repeats() {
        for file in [
            include_str!("../data/titles.txt"),
            include_str!("../data/offices.txt"),
            include_str!("../data/given_names.txt"),
        ] {
            assert_eq!(text::list_problem(file), None);
        }
    }
}
