//! The forms of English and Russian personal names, and the capitalised words that are not names.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::text::TokenText;

/// Capitalised words that occur beside names and are not part of them.
const TITLE_WORDS: &str = "
    deputy officer sheriff detective sergeant lieutenant captain trooper
    plaintiff plaintiffs defendant defendants petitioner respondent appellant appellee
    intervenor the a an of and or for in on at by to with from this that court courts judge
    justice hon honorable magistrate chief circuit district county state united states
    attorney attorneys counsel esq mr mrs ms dr case no motion order complaint answer
    exhibit opinion judgment hearing before after if it its his her he she they we i you
    however therefore pursuant date dated re sincerely dear regards respectfully submitted
    counts count jury demand docket lower division appearances present per curiam law office
    offices firm bar telephone email subject sent cc presiding when as while since under any
    all each both january february march april june july august september october november
    december monday tuesday wednesday thursday friday saturday sunday there here judges jj
    cross counter third-party is was did суд суда истец ответчик судья решение дело истца
    ответчика именем российской российская федерации город арбитражный арбитражного общество
    определил решил установил";

/// Words for offices and occupations; firms may have them in their names, people do not.
const OFFICE_WORDS: &str = "
    assistant special administrator administratrix executor executrix personal representative
    trustee guardian secretary president vice director manager treasurer chairman federal defender
    prosecutor prosecuting notary clerk paralegal partner associate agent registered general
    executive commissioner warden mayor esquire lead signature name title address phone fax
    conservator receiver deceased individually city township";

/// First names that distinguish a person from a firm.
const GIVEN_NAMES: &str = "
    aaron adam alan albert alexander alice amanda amy andrea andrew angela ann anna anthony arthur
    barbara benjamin betty beverly brandon brenda brian bruce carl carlos carol catherine charles
    cheryl christina christine christopher cynthia daniel david deborah denise dennis diana diane
    donald donna dorothy douglas edward elizabeth emily emma eric ethan eugene evelyn frances frank
    gary george gerald gloria grace gregory hannah harold heather helen henry isabella jack jacob
    jacqueline james jane janet janice jason jean jeffrey jennifer jeremy jerry jesse jessica joan
    joe john jonathan jordan jose joseph joshua joyce juan judith judy julia julie justin karen
    katherine kathleen keith kelly kenneth kevin kimberly kyle larry laura lauren lawrence linda lisa
    logan louis madison margaret maria marie marilyn mark martha mary matthew megan melissa michael
    michelle miguel nancy natalie nathan nicholas nicole noah olivia pamela patricia patrick paul
    peter philip rachel ralph randy raymond rebecca richard robert roger ronald rose roy russell ruth
    ryan samantha samuel sandra sara sarah scott sean sharon shirley sophia stephanie stephen steven
    susan teresa terry theresa thomas timothy tyler victoria vincent virginia walter wayne william
    zachary";

static GIVEN: LazyLock<HashSet<&str>> = LazyLock::new(|| GIVEN_NAMES.split_whitespace().collect());

pub(crate) fn is_given(word: &str) -> bool {
    GIVEN.contains(word)
}

static TITLES: LazyLock<HashSet<&str>> = LazyLock::new(|| TITLE_WORDS.split_whitespace().collect());

pub(crate) fn is_title_word(word: &str) -> bool {
    TITLES.contains(word)
}

static OFFICES: LazyLock<HashSet<&str>> =
    LazyLock::new(|| OFFICE_WORDS.split_whitespace().collect());

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
    if text.word(at).starts_with(|it| matches!(it, '\u{400}'..='\u{4ff}')) {
        return russian(text, at);
    }
    let (mut next, mut words, mut parts, mut last_word) = (at, 0, 0, at);
    while parts < 5 {
        let same_line = next == at || (text.breaks(next) == 0 && !wide(text, at, next));
        if !same_line {
            break;
        }
        if is_initial(text, next) {
            next += 2;
            parts += 1;
        } else if text.is(next, "st") && text.is(next + 1, ".") && is_name_word(text, next + 2) {
            // `ST. CLOUD`
            next += 2;
        } else if words > 0 && is_nickname(text, next) {
            next += 3;
        } else if is_name_word(text, next)
            && !is_generation(text.low(next))
            && !is_office_word(text.low(next))
        {
            next += 1;
            (parts, words, last_word) = (parts + 1, words + 1, next);
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
        while next < from + 4 && is_initial(text, next) && text.breaks(next) == 0 {
            next += 2;
        }
        next
    };
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
    (first..end).find(|at| {
        // A name that begins in the middle of a longer one is not it.
        !(*at > first
            && is_name_word(text, at - 1)
            && text.breaks(*at) == 0
            && person(text, at - 1, single) == Some(end))
            && person(text, *at, single) == Some(end)
    })
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
    let surname = words.iter().find(long).copied().unwrap_or_default();
    let rest = words.iter().filter(|it| **it != surname);
    let given: String = rest.filter_map(|it| it.chars().next()).collect();
    PersonKey { surname: stem(surname), given }
}

/// A Russian surname without its case ending.
fn stem(word: &str) -> String {
    for end in
        ["ого", "ому", "ой", "ым", "ом", "ем", "ий", "ая", "ую", "а", "у", "е", "ы", "я", "ю", "й"]
    {
        if let Some(stem) = word.strip_suffix(end)
            && stem.chars().count() >= 3
        {
            return stem.to_owned();
        }
    }
    word.to_owned()
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
