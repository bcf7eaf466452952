//! Finds organisations by the word that identifies them: `LLC`, `Inc.`, `ООО`, `City of`.

mod russian;

use crate::entity::Ground;
use crate::name::{is_given, is_title_word};
use crate::text::TokenText;

/// Most tokens of an organisation's name.
const TOKENS_MAX: usize = 14;

/// Every organisation of the piece, in order, none within another.
pub(crate) fn find(text: &TokenText<'_>) -> Vec<(usize, usize, Ground)> {
    let mut list: Vec<(usize, usize, Ground)> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let found =
            russian::find(text, at).or_else(|| body(text, at)).or_else(|| by_suffix(text, at));
        let Some((from, to, ground)) = found else {
            at += 1;
            continue;
        };
        if list.last().is_none_or(|last| last.1 <= from) {
            list.push((from, to, ground));
        } else if let Some(last) = list.last_mut()
            && from <= last.0
            && to > last.1
        {
            // A longer name that ends later takes the place of its own beginning.
            *last = (from, to, ground);
        }
        at = to.max(at + 1);
    }
    list
}

/// The end of the legal form that begins here: `LLC`, `L.L.C.`, `Inc.`
pub(crate) fn legal_form(text: &TokenText<'_>, at: usize) -> Option<usize> {
    let dot = |end: usize| if text.is(end, ".") && text.glued(end) { end + 1 } else { end };
    if !text.capital(at) {
        return None;
    }
    match text.low(at) {
        "llc" | "inc" | "corp" | "corporation" | "ltd" | "llp" | "lp" | "plc" | "pllc"
        | "incorporated" | "limited" | "gmbh" | "pc" | "apc" | "lllp" | "pty" => Some(dot(at + 1)),
        "co" if text.is(at + 1, ".") => Some(at + 2),
        "l" | "p" | "n" | "s" => [
            &["l", ".", "l", ".", "c", "."][..],
            &["l", ".", "l", ".", "p", "."],
            &["p", ".", "l", ".", "l", ".", "c", "."],
            &["p", ".", "l", ".", "c", "."],
            &["l", ".", "p", "."],
            &["p", ".", "c", "."],
            &["p", ".", "a", "."],
            &["s", ".", "a", "."],
            &["s", ".", "e", "."],
            &["s", ".", "c", "."],
            &["n", ".", "v", "."],
            &["p", ".", "l", "."],
            &["p", ".", "l", ".", "l", ".", "p", "."],
            &["n", ".", "a", "."],
        ]
        .iter()
        // `J.S.C.` is the title of a judge.
        .find(|form| text.run(at, form) && !(text.glued(at) && at > 0 && text.is(at - 1, ".")))
        .map(|form| at + form.len()),
        _ => None,
    }
}

fn is_weak(word: &str) -> bool {
    matches!(
        word,
        "company"
            | "bank"
            | "university"
            | "hospital"
            | "association"
            | "trust"
            | "authority"
            | "partners"
            | "foundation"
            | "commission"
            | "agency"
            | "union"
            | "cooperative"
    )
}

fn by_suffix(text: &TokenText<'_>, at: usize) -> Option<(usize, usize, Ground)> {
    if let Some(end) = legal_form(text, at) {
        let mut name_end = at;
        // In a caption's box the form may stand in the next line, after the rule.
        let boxed =
            at > 1 && text.breaks(at) == 1 && matches!(text.low(at - 1), ")" | "|" | "*" | "§");
        if boxed && text.is(at - 2, ",") && text.at(at - 1).is_some_and(|it| it.after_gap) {
            name_end = at - 2;
        } else if at > 0 && text.is(at - 1, ",") {
            name_end = at - 1;
        }
        // `336 LLC`
        let numbered = name_end > 0
            && text.is_number(name_end - 1)
            && name_end == at
            && text.breaks(at) == 0
            && !(name_end > 1 && text.capital(name_end - 2) && text.breaks(name_end - 1) == 0)
            && text.at(at).is_some_and(|it| it.all_caps);
        let from = if numbered { name_end - 1 } else { backwards(text, name_end)? };
        return Some((from, end, Ground::Form));
    }
    if !(text.capital(at) && is_weak(text.low(at))) {
        return None;
    }
    // In `Acme Trust Company` the name continues after `Trust`.
    if text.breaks(at + 1) == 0
        && (is_weak(text.low(at + 1)) || legal_form(text, at + 1).is_some())
        && text.capital(at + 1)
    {
        return None;
    }
    if text.is(at + 1, ",") && legal_form(text, at + 2).is_some() {
        return None;
    }
    // In a caption's box the last word may stand in the next line, after the rule.
    let boxed = at > 1
        && text.breaks(at) == 1
        && matches!(text.low(at - 1), ")" | "|" | "*" | "§" | ":")
        && text.at(at - 1).is_some_and(|it| it.after_gap)
        && text.at(at - 2).is_some_and(|it| it.all_caps);
    let from = backwards(text, if boxed { at - 1 } else { at })?;
    Some((from, at + 1, Ground::Layout))
}

/// The first token of the capitalised words before `end`, at least one.
fn backwards(text: &TokenText<'_>, end: usize) -> Option<usize> {
    let mut from = end;
    while from > 0 && end - from < TOKENS_MAX {
        let at = from - 1;
        // The line may break before the form, not twice.
        let joins = matches!(text.low(at), "&" | "of") || matches!(text.low(from), "&" | "of");
        let all_caps = text.at(at).is_some_and(|it| it.all_caps);
        let may_continue = all_caps || joins || text.wraps(from);
        if text.breaks(from) >= 2 || (text.breaks(from) == 1 && from != end && !may_continue) {
            break;
        }
        let after_gap = |it: usize| text.at(it).is_some_and(|token| token.after_gap);
        if from != end && after_gap(from) != after_gap(at) {
            break;
        }
        let name = text.is_word(at) && text.capital(at) && !is_stop(text.low(at));
        let joint = matches!(text.low(at), "&" | "of" | "and" | "-") && from != end;
        let joined = joint
            && at > 0
            && text.capital(at - 1)
            && !is_stop(text.low(at - 1))
            && text.breaks(at) == 0;
        let initial =
            text.is(at, ".") && at > 0 && text.word(at - 1).len() == 1 && text.capital(at - 1);
        // `Okada Bearings (USA) Corp.`
        let bracket = text.is(at, ")")
            && text.at(from).is_some_and(|it| it.breaks == 0)
            && at > 2
            && text.is(at - 2, "(")
            && text.capital(at - 1)
            && text.capital(at - 3);
        if bracket {
            from = at - 2;
            continue;
        }
        let listed = text.is(at, ",") && lists_partners(text, at, from);
        let number = text.is_number(at)
            && from != end
            && text.word(at).len() <= 3
            && at > 0
            && text.capital(at - 1);
        if !(name || joined || initial || listed || number) {
            break;
        }
        from = at;
    }
    from = past_people(text, from, end);
    while from < end
        && (matches!(text.low(from), "&" | "of" | "and" | "-" | "." | ",") || text.is_number(from))
    {
        from += 1;
    }
    (from < end).then_some(from)
}

/// `JOHN Q. PUBLIC and BETA LLC` are two, and so are `John Public of Beta LLC`: the name of a
/// person before the last such word is not part of the organisation's.
fn past_people(text: &TokenText<'_>, from: usize, end: usize) -> usize {
    let joint = |it: &usize| matches!(text.low(*it), "and" | "of");
    let Some(and) = (from..end).rev().find(joint) else { return from };
    let initial = (from + 1..and).any(|it| text.is(it, ".") && text.word(it - 1).len() == 1);
    let person = crate::name::person(text, from, false) == Some(and);
    if person && (initial || is_given(text.low(from))) { and + 1 } else { from }
}

/// `Roe, Doe & Poe, P.C.`: a comma between partners, of whom the last is joined by `&`.
fn lists_partners(text: &TokenText<'_>, comma: usize, from: usize) -> bool {
    let ampersand = (from..from + 3).any(|it| text.is(it, "&"));
    ampersand && comma > 0 && text.capital(comma - 1) && text.is_word(comma - 1)
}

fn is_stop(word: &str) -> bool {
    is_title_word(word)
        && !matches!(
            word,
            "united"
                | "states"
                | "state"
                | "county"
                | "law"
                | "district"
                | "circuit"
                | "offices"
                | "office"
                | "firm"
                | "january"
                | "the"
        )
        || matches!(word, "the" | "v" | "vs" | "versus" | "attorneys" | "between")
}

/// `City of Detroit`, `Department of Health`, `People of the State of Michigan`
fn body(text: &TokenText<'_>, at: usize) -> Option<(usize, usize, Ground)> {
    if !text.capital(at) {
        return None;
    }
    if text.run(at, &["people", "of", "the", "state", "of"]) {
        return Some((at, capitals(text, at + 5, 2)?, Ground::Form));
    }
    if text.run(at, &["united", "states", "of", "america"]) {
        return Some((at, at + 4, Ground::Form));
    }
    let before = at.checked_sub(1).map(|it| text.low(it)).unwrap_or_default();
    let opens =
        matches!(text.low(at), "city" | "township" | "village" | "department" | "board" | "bank")
            || (matches!(text.low(at), "county") && !matches!(before, "the" | "of"));
    if !(opens && text.is(at + 1, "of")) || matches!(before, "the") && text.is(at, "county") {
        return None;
    }
    let mut end = capitals(text, at + 2, 3)?;
    // `Board of Education of the City of Chicago`
    for _ in 0..2 {
        let next = end + 1 + usize::from(text.is(end + 1, "the"));
        match capitals(text, next, 3).filter(|_| text.is(at, "board") && text.is(end, "of")) {
            Some(more) if text.breaks(end) == 0 => end = more,
            _ => break,
        }
    }
    // `Department of Health and Human Services`
    if text.is(at, "department")
        && matches!(text.low(end), "and" | "&")
        && let Some(more) = capitals(text, end + 1, 3)
        && text.breaks(end) == 0
    {
        end = more;
    }
    // `BROOK RUN TOWNSHIP BOARD OF TRUSTEES`
    let whose = text.is(at, "board")
        && matches!(before, "township" | "county" | "city" | "village" | "school" | "town")
        && text.capital(at - 1);
    let state = text.is(at, "department") && at > 0 && text.breaks(at) == 0;
    let from = if whose {
        backwards(text, at - 1).unwrap_or(at)
    } else if state {
        backwards(text, at).filter(|it| at - it <= 3).unwrap_or(at)
    } else {
        at
    };
    Some((from, end, Ground::Layout))
}

fn capitals(text: &TokenText<'_>, at: usize, most: usize) -> Option<usize> {
    let mut end = at;
    while end < at + most
        && text.is_word(end)
        && text.capital(end)
        && (end == at || text.breaks(end) == 0)
        && !is_title_word(text.low(end))
        && !matches!(text.low(end), "et" | "al")
    {
        end += 1;
    }
    (end > at).then_some(end)
}

/// The key that all mentions of one organisation share.
pub(crate) fn key(name: &str) -> String {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower
        .split(|it: char| !(it.is_alphanumeric() || it == '&' || it == '\''))
        .filter(|it| !it.is_empty())
        .collect();
    let mut words = words.as_slice();
    if words.first().is_some_and(|it| matches!(*it, "the")) {
        words = words.get(1..).unwrap_or_default();
    }
    let is_form = |it: &&str| {
        ["обществ", "учреждени", "предприяти", "товариществ", "кооператив"]
            .iter()
            .any(|stem| it.starts_with(stem))
            || it.starts_with("ответственност")
    };
    let russian = words.iter().position(is_form);
    if russian.is_some() {
        let last = words.iter().rposition(is_form);
        words = words.get(last.map_or(0, |it| it + 1)..).unwrap_or_default();
    } else if words.len() > 1
        && matches!(
            words.first().copied(),
            Some(
                "ооо"
                    | "ао"
                    | "пао"
                    | "оао"
                    | "зао"
                    | "нао"
                    | "мку"
                    | "мбу"
                    | "гбу"
                    | "муп"
                    | "гуп"
            )
        )
    {
        words = words.get(1..).unwrap_or_default();
    }
    let form = |it: &str| {
        matches!(
            it,
            "llc"
                | "inc"
                | "corp"
                | "corporation"
                | "co"
                | "company"
                | "ltd"
                | "llp"
                | "lp"
                | "plc"
                | "pllc"
                | "pc"
                | "incorporated"
                | "limited"
        ) || it.chars().count() == 1
    };
    let core = words.iter().rposition(|it| !form(it)).map_or(words.len(), |it| it + 1);
    words.get(..core).unwrap_or_default().join(" ")
}
