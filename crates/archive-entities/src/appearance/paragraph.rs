//! Attorneys in the paragraphs of an opinion that list who appeared: `Jane Roe (John Doe on the
//! brief), Albany, for appellant`, `ROE & DOE LLP, by Jane Roe, for the State`. Names stand in lists
//! between firms, offices and places, and a line may break within a name.

use std::sync::LazyLock;

use text::{Pattern, TokenRow, WordList};

use crate::entity::{Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::name;
use crate::organisation::legal_form;
use crate::party;
use crate::text::TokenText;

/// Most tokens of one list.
const LIST_TOKENS: usize = 260;
/// Most words of a list that are neither capitalised nor usual in a list.
const SMALL_WORDS: usize = 3;

/// Words of addresses, which are in no personal name.
static ADDRESSES: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../../data/addresses.txt")));
/// First words of the names of places: `South Bend`.
static PLACES: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../../data/places.txt")));
/// Words without a capital that a list of lawyers has.
static LIST_WORDS: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../../data/list_words.txt")));

fn side(row: &dyn TokenRow, at: usize) -> Option<usize> {
    party::roles(row.lower(at)).next().map(|_| at + 1)
}

/// `Paul G. Kleinman, M.D. and another, respondents`: a name with its role after it.
fn named_side(row: &dyn TokenRow, at: usize) -> Option<usize> {
    if !row.is_capital(at) {
        return None;
    }
    let role = (at + 1..at + 16).take_while(|it| row.breaks(*it) < 2).find(|it| {
        party::roles(row.lower(*it)).next().is_some() && matches!(row.lower(*it - 1), "," | "and")
    })?;
    Some(role + 1)
}

/// What a list ends with: whom the lawyers speak for.
static SPEAKS: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "[attorney | attorneys | counsel | solicitors] for [the] ({side} | state | government \
         | people | commonwealth | united states | city | county | amicus | amici) \
         | <(, | ')') for [the] {named}",
        &[("side", side), ("named", named_side)],
    )
});

/// `(Jane Roe of counsel)`, `on the briefs of Jane Roe`, `Counsel for the Roe Fund`.
static SUBMITTED: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::new("(brief | briefs) of @capital", &[]));
static NAMED_FOR: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::new("<, (attorney | attorneys | counsel) for [the] @capital", &[]));

pub(super) fn find<'t>(reading: &PieceContext<'_, 't>, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    let mut start = 0;
    let mut at = 0;
    while at < text.len() {
        // A blank line, a line after a full stop, and the end of the sentence that named a side begin
        // another list.
        let stopped = at > 1 && text.is(at - 1, ".") && text.word(at - 2).chars().count() > 2;
        if text.breaks(at) > 1 || text.breaks(at) == 1 && stopped && text.capital(at) {
            start = start.max(at);
        }
        if SUBMITTED.at(text, at).is_some() && !reading.is_cited(at) {
            let end = sentence_end(text, at + 2);
            list(reading, at + 2..end, None, out);
            at = end;
            continue;
        }
        let found = SPEAKS.at(text, at).or_else(|| NAMED_FOR.at(text, at));
        let Some(found) = found.filter(|_| !reading.is_cited(at)) else {
            at += 1;
            continue;
        };
        let represents = (at..found.end).find_map(|it| party::roles(text.low(it)).next());
        // In a signature block these words have a line of their own; `signature` reads it.
        let inline = text.breaks(at) == 0 || text.wraps(at);
        if inline && at - start <= LIST_TOKENS && is_list(text, start, at) {
            list(reading, start..at, represents, out);
        }
        let end = sentence_end(text, found.end);
        start = end;
        at = end.max(at + 1);
    }
}

/// The token after the sentence that goes on here, at most a list's length on.
fn sentence_end(text: &TokenText<'_>, at: usize) -> usize {
    let limit = (at + LIST_TOKENS).min(text.len());
    let ends = |it: &usize| {
        text.breaks(*it) > 1
            || text.is(*it - 1, ";")
            || text.is(*it - 1, ".")
                && text.capital(*it)
                && text.word(it.saturating_sub(2)).chars().count() > 2
    };
    (at + 1..limit).find(ends).unwrap_or(limit)
}

/// Whether the tokens are a list of names: they open a line or a sentence, and hardly any word has
/// no capital.
fn is_list(text: &TokenText<'_>, from: usize, to: usize) -> bool {
    let small =
        |it: &usize| text.is_word(*it) && !text.capital(*it) && !LIST_WORDS.contains(text.low(*it));
    let names = (from..to).filter(|it| text.capital(*it)).count();
    names > 1 && (from..to).filter(small).count() <= SMALL_WORDS
}

/// Adds the names of a list.
fn list<'t>(
    reading: &PieceContext<'_, 't>,
    range: std::ops::Range<usize>,
    represents: Option<Role>,
    out: &mut Vec<EntityMatch<'t>>,
) {
    let text = reading.text;
    let first = range.start;
    let mut at = range.start;
    // Whether a name may stand here: after a comma only while names are listed.
    let mut listed = true;
    while at < range.end {
        // `Jane Q. Roe and John Doe of Roe & Doe, P.C.` begins with people.
        let people = name::person_wrapped(text, at).filter(|end| {
            let sure = (at..*end).any(|it| text.is(it, ".")) || name::is_given(text.low(at));
            sure && matches!(text.low(*end), "and" | "of" | ",") && listed
        });
        if let Some(end) = reading.organisation_at(at).filter(|_| people.is_none()) {
            at = end;
            listed = false;
            continue;
        }
        match text.low(at) {
            "by" | ";" | ":" | "(" | ")" | "and" | "with" | "whom" | "brief" => {
                listed = true;
                at += 1;
                continue;
            }
            // `Attorney General for the District of Columbia,` and `of Cross, Jenks & Co.`
            "of" | "for" | "at" | "&" => {
                let office = at > 0
                    && matches!(text.low(at - 1), "general" | "counsel" | "defender" | "solicitor");
                listed = text.is(at, "for") || office;
                at = item_end(text, at + 1, range.end);
                continue;
            }
            _ if text.is_number(at) => {
                listed = false;
                at += 1;
                continue;
            }
            _ => {}
        }
        let titled = past_offices(text, at);
        let from = if text.capital(at) { titled } else { at };
        let Some(end) = name::person_wrapped(text, from).filter(|it| *it <= range.end) else {
            at = from.max(at + 1);
            continue;
        };
        let alone = matches!(
            text.low(end),
            "," | "and"
                | ";"
                | "("
                | ")"
                | "."
                | "of"
                | "on"
                | "was"
                | "were"
                | "argued"
                | "for"
                | "with"
        ) || end == range.end;
        let formed = (from..=end).any(|it| text.is(it, "co") || legal_form(text, it).is_some());
        let firm = formed || text.is(end, "&") || text.is(end, "and") && text.is(end + 2, "llp");
        // After a comma stands a place or a firm as often as a name.
        let known = name::is_given(text.low(from)) || (from..end).any(|it| text.is(it, "."));
        let sure = known || from == first || !text.is(from - 1, ",");
        if listed && alone && !firm && sure && !is_place(text, from, end, from == first) {
            out.push(EntityMatch::attorney(text, (from, end), Ground::Label, represents));
        } else {
            listed = false;
        }
        at = end;
    }
}

/// Past the offices of government lawyers: `Senior Assistant Attorney General`, `Appellate Defender`.
fn past_offices(text: &TokenText<'_>, at: usize) -> usize {
    let mut next = at;
    for _ in 0..4 {
        let end = name::past_titles(text, next);
        let more = matches!(
            text.low(end),
            "solicitor" | "senior" | "appellate" | "public" | "principal" | "acting" | "district"
        );
        next = end + usize::from(more);
        if !more {
            break;
        }
    }
    next
}

/// The end of what stands between two commas.
fn item_end(text: &TokenText<'_>, at: usize, limit: usize) -> usize {
    let ends = |it: &usize| matches!(text.low(*it), "," | ";" | "(" | ")" | "and" | "by");
    (at..limit).find(ends).unwrap_or(limit).max(at)
}

/// Whether capitalised words are a place or an address and no person.
pub(crate) fn is_place(text: &TokenText<'_>, from: usize, end: usize, first: bool) -> bool {
    let words = end - from;
    let addressed = (from..end).any(|it| ADDRESSES.contains(text.low(it)));
    let next = end + 1;
    let state = text.is(end, ",")
        && (crate::court::is_state(text, next)
            || text.is_all_caps(next)
                && text.word(next).len() == 2
                && (text.is_number(next + 1) || text.is(next + 1, ",")));
    let named = words == 2 && !first && PLACES.contains(text.low(from));
    addressed || state && words <= 3 && !first || named
}

#[cfg(test)]
mod tests {
    #[test]
    fn lists_are_sorted_and_patterns_are_right() {
        for file in [
            include_str!("../../data/addresses.txt"),
            include_str!("../../data/places.txt"),
            include_str!("../../data/list_words.txt"),
        ] {
            assert_eq!(text::list_problem(file), None);
        }
        for it in [&super::SPEAKS, &super::SUBMITTED, &super::NAMED_FOR] {
            assert_eq!(it.problem(), None);
        }
    }
}
