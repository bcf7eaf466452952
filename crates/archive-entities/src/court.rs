//! Finds courts: the word `Court` with the words around it that name the court.

mod column;
mod place;
mod russian;

use std::sync::LazyLock;

use text::Pattern;

use crate::entity::{EntityKind, Ground};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::text::TokenText;
use place::{bench, capital, is_ordinal, place, region, state};

const SIDE_TOKENS: usize = 8;
/// Most tokens at the head of a document in which the deciding body is named, above the parties.
const HEAD_TOKENS: usize = 40;

pub(crate) fn find<'t>(reading: &PieceContext<'_, 't>, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    let mut at = 0;
    while at < text.len() {
        let word = text.low(at);
        let found = match word {
            _ if reading.is_cited(at) => None,
            "court" if text.capital(at) => english(text, at),
            "суд" | "суда" | "суде" | "судом" | "суду" => {
                russian::find(text, at)
            }
            "участок" | "участка" | "участке" | "участку" => {
                russian::precinct(text, at)
            }
            "judicial" if text.at(at).is_some_and(|it| it.all_caps && !it.after_gap) => {
                circuit(text, at)
            }
            // `Macomb CC` of a lower court.
            "cc" if text.at(at).is_some_and(|it| it.all_caps && it.after_gap) && at > 0 => {
                let county =
                    capital(text, at - 1) && text.breaks(at) == 0 && text.breaks(at + 1) > 0;
                county.then_some((at - 1, at + 1))
            }
            // `Appellate Division, Third Department` in a line of its own.
            "appellate"
                if text.breaks(at) > 0
                    && text.run(at + 1, &["division", ","])
                    && text.is(at + 4, "department") =>
            {
                Some((at, at + 5))
            }
            "before" if text.is(at + 1, "the") && text.capital(at) => tribunal(text, at),
            "panel" if text.run(at + 1, &["on", "multidistrict", "litigation"]) => {
                english(text, at).map(|(from, _)| (from, at + 4))
            }
            "board" | "commission" | "tribunal" if at < HEAD_TOKENS => headed(text, at),
            "american" if text.run(at + 1, &["arbitration", "association"]) => {
                (at < reading.head_end).then_some((at, at + 3))
            }
            _ => None,
        };
        let Some((from, to)) = found else {
            at += 1;
            continue;
        };
        let ground = if reading.is_passing_court(from, to, has_place(text, from, to)) {
            Ground::Shape
        } else {
            Ground::Label
        };
        let mut found = EntityMatch::new(EntityKind::Court, text, (from, to), ground);
        found.is_reviewed = is_reviewed(text, from);
        out.push(match column::name(text, from, at, to) {
            Some(name) => found.with_name(name),
            None => found,
        });
        at = to.max(at + 1);
    }
}

/// What stands before a court whose decision is under review.
static REVIEWED: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "(appeal | appeals | certiorari | review | removed | remand | transfer | transferred) (from | of | to) \
         | (judgment | order | decision | decree | judgments | orders | ruling) ( of | , | ( entered | issued | rendered ) (by | in) ) \
         | (complaint | suit | action | lawsuit | case) (in | to) | (обратил* | иском | заявлением) в \
         | (на | об отмене | об изменении | отменить | отменив | с) (решени* | определени* | постановлени* | приговор* | приказ*) \
         | (решени* | определени* | постановлени* | приговор* | приказ* | судь*) !(№ | от | по)",
        &[],
    )
});

/// Whether the words before a court say that another court reviews what it decided.
fn is_reviewed(text: &TokenText<'_>, from: usize) -> bool {
    let mut at = from;
    while at > 0 && from - at < SIDE_TOKENS {
        // The act of this court is named in a heading, in a line of its own.
        if text.breaks(at) > 1 || text.is(at - 1, ".") && text.capital(at) || text.is(at - 1, ";") {
            return false;
        }
        at -= 1;
        if let Some(found) = REVIEWED.at(text, at) {
            let heading = at == 0 || text.breaks(at) > 0 && text.capital(at);
            let russian = !text.low(at).is_ascii();
            return found.end <= from && !(heading && russian);
        }
    }
    false
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
            | "tax"
            | "immigration"
            | "juvenile"
            | "surrogate's"
            | "high"
            | "crown"
            | "orphans"
            | "housing"
            | "land"
            | "justice"
            | "city"
            | "civil"
            | "criminal"
            | "magistrate"
            | "business"
    )
}

/// Whether the word after `Court` says that it is no court: `19 Court Square`, `the Court Clerk`.
fn is_other_court_word(word: &str) -> bool {
    matches!(
        word,
        "square"
            | "street"
            | "st"
            | "road"
            | "avenue"
            | "ave"
            | "clerk"
            | "reporter"
            | "address"
            | "rules"
            | "rule"
            | "costs"
            | "plaza"
            | "drive"
            | "lane"
            | "file"
            | "house"
    )
}

fn english(text: &TokenText<'_>, at: usize) -> Option<(usize, usize)> {
    let other = is_other_court_word(text.low(at + 1));
    if other && text.breaks(at + 1) == 0 && text.capital(at + 1) {
        return None;
    }
    let after_gap = |it: usize| text.at(it).is_some_and(|token| token.after_gap);
    let mut from = at;
    while from > 0
        && at - from < SIDE_TOKENS
        && text.breaks(from) == 0
        && after_gap(from - 1) == after_gap(from)
    {
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
                    | "our"
                    | "by"
                    | "at"
                    | "from"
            );
        let ordinal =
            matches!(text.low(before), "th" | "st" | "nd" | "rd") || text.is_number(before);
        // `District of Columbia Court of Appeals`
        let federal = text.is(before, "of")
            && text.is(from, "columbia")
            && before > 0
            && text.is(before - 1, "district");
        // `Orphans' Court`, `52-1 District Court`
        let joint = matches!(text.low(before), "'" | "’") && text.glued(before)
            || text.is(before, "-")
                && text.is_number(from)
                && before > 0
                && text.is_number(before - 1);
        if !(point || name || ordinal || joint || federal) {
            break;
        }
        from = before;
    }
    // `in the United` may end the line above `States District Court`.
    from -= usize::from(text.is(from, "states") && from > 0 && text.is(from - 1, "united"));
    let end = after(text, at + 1);
    let end = abbreviated_district(text, end).unwrap_or(end);
    let qualified = from < at
        && (from..at).any(|it| {
            is_qualifier(text.low(it))
                || text.is_number(it) && matches!(text.low(it + 1), "th" | "st" | "nd" | "rd")
        });
    let named = end > at + 1;
    (qualified || named).then_some((from, end))
}

/// Past `of Appeals`, `for the Eastern District of Michigan`, `for the County of Wayne`.
fn after(text: &TokenText<'_>, at: usize) -> usize {
    let mut end = at;
    let after_gap = |it: usize| text.at(it).is_some_and(|token| token.after_gap);
    // In the right column of a caption, what goes on below does so in that column.
    let column = after_gap(at - 1) && !after_gap(text.line_start(at - 1));
    for _ in 0..6 {
        let mut next = end;
        if text.breaks(next) == 1 && column && !after_gap(next) {
            break;
        }
        // The headings of pleadings put these on a line of their own.
        let heading = text.at(at - 1).is_some_and(|it| it.all_caps);
        let new_line = text.breaks(next) == 1 && text.at(next).is_some_and(|it| it.all_caps);
        let continues_below = text.breaks(next) == 1
            && (text.run(next, &["for", "the"])
                || text.run(next, &["in", "and", "for"])
                || text.is(next, "of")
                || text.run(next, &["county", "of"]) && text.capital(next)
                || text.run(next, &["district", "of"]) && text.capital(next)
                || text.run(next + 1, &["district", "of"]) && text.capital(next)
                || text.is(next + 1, "district") && text.breaks(next + 2) > 0);
        // A heading may have blank lines between its parts.
        let spaced = text.breaks(next) > 1 && text.breaks(next) <= 4 && names_district(text, next);
        if text.breaks(next) > 1 && !spaced
            || text.breaks(next) == 1 && !new_line && !continues_below
        {
            break;
        }
        let gap = heading && text.breaks(next) == 0 && text.at(next).is_some_and(|it| it.after_gap);
        // `in and for the County of`
        let link = if text.run(next, &["in", "and", "for"]) { 3 } else { 1 };
        if matches!(text.low(next), "for" | "of" | "," | ":") || link == 3 {
            next += link;
        }
        if text.is(next - 1, ",") && text.run(next, &["in", "and", "for"]) {
            next += 3;
        }
        if text.is(next, "and") && text.run(next + 1, &["for"]) {
            next += 2;
        }
        let linked = next > end || new_line || gap || continues_below || spaced;
        // The rule of a caption's box may stand between a link and the rest.
        let boxed =
            next > end && text.breaks(next) == 1 && matches!(text.low(next), ":" | ")" | "|");
        next += usize::from(boxed);
        next += usize::from(text.is(next, "the"));
        // A link may end its line: `IN THE SUPERIOR COURT OF\nPENNSYLVANIA`.
        // `AT SEATTLE` below a federal district is no part of its name.
        let federal = (at..end).any(|it| text.run(it, &["district", "of"]));
        let found = place(text, next)
            .or_else(|| (new_line && !federal).then(|| seat(text, next)).flatten());
        let Some(stop) = found.filter(|_| linked && (spaced || text.breaks(next) <= 1)) else {
            break;
        };
        // `WASHINGTON, DC 20217` below a court is its address.
        if new_line && next == end && text.is(stop, ",") && state(text, next) == Some(stop) {
            break;
        }
        end = stop;
    }
    end
}

/// Whether a line names the district of the court above it: `FOR THE DISTRICT OF COLUMBIA CIRCUIT`.
fn names_district(text: &TokenText<'_>, at: usize) -> bool {
    static DISTRICT: LazyLock<Pattern> = LazyLock::new(|| {
        Pattern::new(
            "[for the] [(eastern | western | northern | southern | central | middle)] district of \
             @capital | for the @capital circuit",
            &[],
        )
    });
    (text.capital(at) || text.run(at, &["for", "the"])) && DISTRICT.at(text, at).is_some()
}

/// `, D. Puerto Rico`, `, N.D. Illinois, Eastern Division`: a district as reporters write it.
fn abbreviated_district(text: &TokenText<'_>, at: usize) -> Option<usize> {
    let mut next = at + usize::from(text.is(at, ","));
    let side = matches!(text.low(next), "n" | "s" | "e" | "w" | "c" | "m");
    next += if side && text.is(next + 1, ".") { 2 } else { 0 };
    if !(text.is(next, "d") && text.is(next + 1, ".") && text.capital(next) && text.is(at, ",")) {
        return None;
    }
    state(text, next + 2)
}

/// `AT KANSAS CITY` in a line of its own.
fn seat(text: &TokenText<'_>, at: usize) -> Option<usize> {
    if !text.is(at, "at") {
        return None;
    }
    let end = text.line_end(at);
    (end - at <= 4 && (at + 1..end).all(|it| capital(text, it))).then_some(end)
}

/// `WORKERS' COMPENSATION BOARD` in a line of its own.
fn headed(text: &TokenText<'_>, at: usize) -> Option<(usize, usize)> {
    let from = text.line_start(at);
    let all_caps = |it: usize| {
        text.at(it).is_some_and(|token| token.all_caps)
            || matches!(text.low(it), "'" | "’" | "and" | "of")
    };
    // A commission that sues or is sued stands where courts stand.
    let party = (from..at).any(|it| matches!(text.low(it), "securities" | "trade"));
    let alone = !party
        && text.breaks(at + 1) > 0
        && at > from
        && at - from <= 7
        && (from..=at).all(all_caps);
    alone.then_some((from, at + 1))
}

/// `30TH JUDICIAL CIRCUIT` at the head of a form that does not say `court`.
fn circuit(text: &TokenText<'_>, at: usize) -> Option<(usize, usize)> {
    let suffix = at > 0 && matches!(text.low(at - 1), "st" | "nd" | "rd" | "th");
    let from = at.checked_sub(if suffix { 2 } else { 1 })?;
    let bench = matches!(text.low(at + 1), "circuit" | "district");
    (bench && is_ordinal(text, from) && text.breaks(from) > 0).then_some((from, at + 2))
}

/// A deciding body that is not a court: from `before the` to its noun, such as `Board`.
fn tribunal(text: &TokenText<'_>, at: usize) -> Option<(usize, usize)> {
    let from = at + 2;
    let last = (from + 1..from + 9).take_while(|it| text.breaks(*it) == 0).find(|it| {
        matches!(
            text.low(*it),
            "board" | "commission" | "tribunal" | "panel" | "agency" | "commissioner"
        )
    })?;
    let whole = (from..=last).all(|it| {
        capital(text, it) || matches!(text.low(it), "of" | "and" | "for" | "the" | "'" | "’" | ",")
    });
    let mut end = last + 1;
    if text.run(end, &["of", "the"]) || text.is(end, "of") {
        let next = end + 1 + usize::from(text.is(end + 1, "the"));
        end = region(text, next)
            .or_else(|| bench(text, next))
            .or_else(|| state(text, next))
            .unwrap_or(end);
    } else if text.breaks(end) <= 1 {
        let next = end + usize::from(text.is(end, ","));
        let introduced = text.run(next, &["state", "of"]) || next > end;
        end = region(text, next).filter(|_| introduced).unwrap_or(end);
    }
    (whole && capital(text, from)).then_some((from, end))
}

/// Whether the name of a court says where the court is.
fn has_place(text: &TokenText<'_>, from: usize, to: usize) -> bool {
    (from..to).any(|it| {
        is_state(text, it)
            || matches!(text.low(it), "county" | "parish" | "claims")
            || text.run(it, &["district", "of"])
            || is_ordinal(text, it)
    })
}

/// Whether the name of a state begins at this token.
pub(crate) fn is_state(text: &TokenText<'_>, at: usize) -> bool {
    state(text, at).is_some()
}

#[cfg(test)]
#[test]
fn the_pattern_is_right() {
    assert_eq!(REVIEWED.problem(), None);
}

/// The key that all names of one court share: its words in alphabetical order.
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
    // North and south are omitted in divisions, but never in districts.
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

/// A Russian word without its inflection.
fn stem(word: &str) -> String {
    let mut folded = text::fold::searched(word).unwrap_or_default();
    text::stem::inflection(&mut folded);
    folded
}
