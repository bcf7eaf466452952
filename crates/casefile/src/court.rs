//! Courts: the words about `Court` that say which one.

use crate::entity::{Ground, Kind};
use crate::finding::{Finding, Reading};
use crate::text::Text;

const SIDE_TOKENS: usize = 8;

pub(crate) fn find<'t>(reading: &Reading<'_, 't>, out: &mut Vec<Finding<'t>>) {
    let text = reading.text;
    let mut at = 0;
    while at < text.len() {
        let word = text.low(at);
        let found = match word {
            _ if reading.is_cited(at) => None,
            "court" if text.capital(at) => english(text, at),
            "суд" | "суда" | "суде" | "судом" | "суду" => russian(text, at),
            _ => None,
        };
        let Some((from, to)) = found else {
            at += 1;
            continue;
        };
        out.push(Finding::new(Kind::Court, text, (from, to), Ground::Label));
        at = to.max(at + 1);
    }
}

fn is_qualifier(word: &str) -> bool {
    matches!(
        word,
        "united"
            | "states"
            | "district"
            | "circuit"
            | "supreme"
            | "probate"
            | "county"
            | "superior"
            | "bankruptcy"
            | "appellate"
            | "municipal"
            | "federal"
            | "judicial"
            | "michigan"
            | "u"
            | "s"
            | "family"
            | "chancery"
    )
}

fn english(text: &Text<'_>, at: usize) -> Option<(usize, usize)> {
    let mut from = at;
    while from > 0 && at - from < SIDE_TOKENS && text.breaks(from) == 0 {
        let before = from - 1;
        let point = text.is(before, ".") && before > 0 && matches!(text.low(before - 1), "u" | "s");
        let name = text.is_word(before)
            && text.capital(before)
            && !matches!(
                text.low(before),
                "the"
                    | "this"
                    | "in"
                    | "honorable"
                    | "and"
                    | "lower"
                    | "trial"
                    | "by"
                    | "at"
                    | "from"
            );
        let ordinal =
            matches!(text.low(before), "th" | "st" | "nd" | "rd") || text.is_number(before);
        if !(point || name || ordinal) {
            break;
        }
        from = before;
    }
    let end = after(text, at + 1);
    let said = from < at && (from..at).any(|it| is_qualifier(text.low(it)) || text.is_number(it));
    let named = end > at + 1;
    (said || named).then_some((from, end))
}

/// Past `of Appeals`, `for the Eastern District of Michigan`, `for the County of Wayne`.
fn after(text: &Text<'_>, at: usize) -> usize {
    let mut end = at;
    for _ in 0..4 {
        let mut next = end;
        // The headings of pleadings put these on a line of their own.
        let fresh_line = text.breaks(next) == 1 && text.at(next).is_some_and(|it| it.shout);
        let goes_on = text.breaks(next) == 1
            && (text.run(next, &["for", "the"]) || text.run(next, &["in", "and", "for"]));
        if text.breaks(next) > 0 && !fresh_line && !goes_on {
            break;
        }
        // `in and for the County of`
        let link = if text.run(next, &["in", "and", "for"]) { 3 } else { 1 };
        if matches!(text.low(next), "for" | "of" | ",") || link == 3 {
            next += link;
        }
        let linked = next > end || fresh_line;
        next += usize::from(text.is(next, "the"));
        let Some(stop) = place(text, next).filter(|_| linked) else { break };
        end = stop;
    }
    end
}

fn place(text: &Text<'_>, at: usize) -> Option<usize> {
    let capital = |it: usize| text.capital(it) && text.is_word(it);
    if matches!(text.low(at), "appeals" | "claims" | "chancery") && capital(at) {
        return Some(at + 1);
    }
    if text.run(at, &["common", "pleas"])
        || text.run(at, &["federal", "claims"])
        || text.run(at, &["international", "trade"])
        || matches!(text.low(at), "criminal" | "civil" | "special") && text.is(at + 1, "appeals")
    {
        return Some(at + 2);
    }
    if text.run(at, &["state", "of"])
        || text.run(at, &["county", "of"])
        || text.run(at, &["city", "of"])
    {
        return capital(at + 2).then(|| at + 3 + usize::from(is_first_of_two(text, at + 2)));
    }
    if matches!(
        text.low(at),
        "eastern" | "western" | "northern" | "southern" | "central" | "middle"
    ) {
        if text.run(at + 1, &["district", "of"]) && capital(at + 3) {
            return Some(at + 4 + usize::from(is_first_of_two(text, at + 3)));
        }
        return text.is(at + 1, "division").then_some(at + 2);
    }
    if text.run(at, &["district", "of"]) && capital(at + 2) {
        return Some(at + 3 + usize::from(is_first_of_two(text, at + 2)));
    }
    let same_line = text.breaks(at + 1) == 0;
    if capital(at)
        && matches!(text.low(at + 1), "county" | "circuit")
        && capital(at + 1)
        && same_line
    {
        return Some(at + 2);
    }
    // `Eleventh Judicial Circuit`, `11th Judicial District`
    let judicial = (at + 1..at + 3).find(|it| text.is(*it, "judicial") && capital(*it));
    if let Some(it) = judicial.filter(|it| matches!(text.low(it + 1), "circuit" | "district")) {
        return Some(it + 2);
    }
    if at > 0 && text.is(at - 1, ",") && capital(at) {
        return is_state(text.low(at)).then(|| at + 1 + usize::from(is_first_of_two(text, at)));
    }
    let state = capital(at)
        && at > 0
        && text.is(at - 1, "of")
        && text.word(at).len() > 3
        && !text.is(at, "this");
    state.then_some(at + 1)
}

/// The first word of a state's name.
fn is_state(word: &str) -> bool {
    const STATES: &str = "alabama alaska arizona arkansas california colorado connecticut delaware \
        florida georgia hawaii idaho illinois indiana iowa kansas kentucky louisiana maine maryland \
        massachusetts michigan minnesota mississippi missouri montana nebraska nevada new north ohio \
        oklahoma oregon pennsylvania rhode south tennessee texas utah vermont virginia washington \
        west wisconsin wyoming";
    STATES.split(' ').any(|it| it == word)
}

/// `New York`, `Rhode Island`, `St. Clair` is not among them.
fn is_first_of_two(text: &Text<'_>, at: usize) -> bool {
    matches!(text.low(at), "new" | "north" | "south" | "west" | "rhode" | "puerto")
        && text.capital(at + 1)
        && text.breaks(at + 1) == 0
}

/// `Арбитражный суд города Москвы`, `Девятый арбитражный апелляционный суд`
fn russian(text: &Text<'_>, at: usize) -> Option<(usize, usize)> {
    let telling = |word: &str| {
        [
            "арбитражн",
            "апелляционн",
            "верховн",
            "районн",
            "городск",
            "областн",
            "кассационн",
            "мировой",
        ]
        .iter()
        .any(|it| word.starts_with(it))
    };
    let mut from = at;
    while from > 0 && at - from < 5 && text.breaks(from) <= 1 {
        let word = text.low(from - 1);
        let ordinal = text.capital(from - 1)
            && ["ый", "ой", "ого", "ом", "ым", "ому", "ий", "его"]
                .iter()
                .any(|it| word.ends_with(it));
        if !(telling(word) || ordinal) {
            break;
        }
        from -= 1;
    }
    if from == at || !(from..at).any(|it| telling(text.low(it))) {
        return None;
    }
    let mut end = at + 1;
    match text.low(end) {
        "города" | "республики" if text.capital(end + 1) => {
            end += 2;
            // `города Санкт-Петербурга и Ленинградской области`
            if text.is(end, "и") && text.capital(end + 1) && text.is(end + 2, "области") {
                end += 3;
            }
        }
        "г" if text.is(end + 1, ".") && text.capital(end + 2) => end += 3,
        "российской" => end += 2,
        "рф" => end += 1,
        word if (word.ends_with("ской") || word.ends_with("ого")) && text.capital(end) => {
            end += 1 + usize::from(matches!(text.low(end + 1), "области" | "края" | "округа"));
        }
        _ => {}
    }
    // «суд установил» of an arbitration court without a place says which court only in a heading.
    (end > at + 1 || at - from > 1 || text.capital(from)).then_some((from, end.min(text.len())))
}

/// What the names of one court have in common: its words in order of the alphabet.
pub(crate) fn key(name: &str) -> String {
    let lower = name.to_lowercase().replace("u.s.", "united states");
    let mut words: Vec<String> = lower
        .split(|it: char| !it.is_alphanumeric())
        .filter(|it| !it.is_empty())
        .filter(|it| {
            !matches!(
                *it,
                "of" | "the"
                    | "for"
                    | "in"
                    | "state"
                    | "division"
                    | "southern"
                    | "northern"
                    | "г"
                    | "города"
            )
        })
        .map(|it| if it.is_ascii() { it.to_owned() } else { stem(it) })
        .collect();
    // North and south are left out of divisions alone, never of districts.
    if lower.contains("district of") {
        words.extend(
            ["southern district", "northern district"]
                .iter()
                .filter(|it| lower.contains(**it))
                .map(|it| (*it).to_owned()),
        );
    }
    words.sort();
    words.dedup();
    words.join(" ")
}

fn stem(word: &str) -> String {
    let keep = word.chars().count().saturating_sub(3).max(3);
    word.chars().take(keep).collect()
}
