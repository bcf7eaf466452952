//! Splits the block of a caption into single names and removes their descriptions.

use super::party_at;
use super::sort::is_office;
use crate::entity::{EntityKind, Ground};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::name;
use crate::text::TokenText;

/// Splits a block at commas, semicolons and `and` into names without their descriptions.
pub(super) fn split(reading: &PieceContext<'_, '_>, names: &[usize]) -> Vec<(usize, usize)> {
    let text = reading.text;
    let mut list = Vec::new();
    let mut place = 0;
    while let Some(at) = names.get(place).copied() {
        let starts_name = place == 0
            || place.checked_sub(1).and_then(|it| names.get(it)).is_some_and(|before| {
                matches!(
                    text.low(*before),
                    "," | ";"
                        | "and"
                        | "&"
                        | ")"
                        | "the"
                        | "deputy"
                        | "officer"
                        | "sheriff"
                        | "detective"
                        | "sergeant"
                ) || place == 1 && text.is(*before, ".")
                    || before + 1 != at
                    || text.breaks(at) > 0
            });
        let end =
            if starts_name { whole(reading, at).or_else(|| party_at(reading, at)) } else { None };
        let acted_for = !list.is_empty() && acts_for(text, names, place);
        match end {
            Some(end) => {
                let end = trading_as(text, names, end);
                if !acted_for {
                    list.push((at, end));
                }
                while names.get(place).is_some_and(|it| *it < end) {
                    place += 1;
                }
            }
            None => place += 1,
        }
        if list.len() >= 12 {
            break;
        }
    }
    // `STATE OF X  DISTRICT COURT` above the names is a heading, and an office is whose it is.
    let heading = |(from, to): &(usize, usize)| {
        matches!(text.low(*from), "state" | "county") && !text.is(*to, ",")
    };
    while list.len() > 1 && list.first().is_some_and(heading) {
        list.remove(0);
    }
    let mut place = 0;
    list.retain(|(from, _)| {
        place += 1;
        place == 1 || !is_office(text.low(*from))
    });
    list
}

/// Whether the words before a name say that the previously named person acts for it: `Special
/// Administrator of the Estate of`.
fn acts_for(text: &TokenText<'_>, names: &[usize], place: usize) -> bool {
    let before = names.get(place.saturating_sub(5)..place).unwrap_or_default();
    let acts = |it: &usize| {
        matches!(
            text.low(*it),
            "administrator"
                | "administratrix"
                | "executor"
                | "executrix"
                | "representative"
                | "guardian"
                | "trustee"
                | "friend"
                | "conservator"
                | "parent"
                | "mother"
                | "father"
        )
    };
    before.iter().any(acts) && !before.iter().any(|it| matches!(text.low(*it), ";" | "and"))
}

/// A name with small words in it that no other rule knows: `FRIENDS OF THE LITTLE RIVER,`.
fn whole(reading: &PieceContext<'_, '_>, at: usize) -> Option<usize> {
    let text = reading.text;
    if reading.organisation_at(at).is_some() || !name::is_name_word(text, at) {
        return None;
    }
    let joint = |it: usize| matches!(text.low(it), "of" | "for" | "the" | "&");
    let goes = |it: usize| text.breaks(it) == 0 && (name::is_name_word(text, it) || joint(it));
    let end = (at + 1..at + 12).find(|it| !goes(*it))?;
    let closed = matches!(text.low(end), "," | ";") || text.breaks(end) > 0;
    let inner = (at + 1..end).any(joint) && !joint(end - 1);
    (closed && inner && !text.is(at + 1, "&")).then_some(end)
}

/// Past `d/b/a Blue Heron Pools`.
fn trading_as(text: &TokenText<'_>, names: &[usize], end: usize) -> usize {
    let next = names.partition_point(|it| *it < end);
    let skip = names.get(next).is_some_and(|it| text.is(*it, ","));
    let Some(at) = names.get(next + usize::from(skip)).copied() else { return end };
    if !text.run(at, &["d", "/", "b", "/", "a"]) {
        return end;
    }
    let goes = |it: &usize| {
        (text.is_word(*it) && text.capital(*it) || text.is(*it, "&"))
            && names.binary_search(it).is_ok()
    };
    (at + 5..at + 12).take_while(goes).last().map_or(end, |it| it + 1)
}

/// `WENDELL and GRACE OYELARAN`: the first has the surname of the second.
pub(super) fn shared<'t>(text: &TokenText<'t>, from: usize, to: usize) -> Option<EntityMatch<'t>> {
    let first = from.checked_sub(2).filter(|_| matches!(text.low(from - 1), "and" | "&"))?;
    let single = name::is_name_word(text, first)
        && (first == 0
            || text.breaks(first) > 0
            || !text.capital(first - 1) && !text.is(first - 1, "."))
        && name::person(text, from, false) == Some(to);
    let name = format!("{} {}", text.word(first), text.word(to - 1));
    single.then(|| {
        EntityMatch::new(EntityKind::Person, text, (first, first + 1), Ground::Layout)
            .with_name(name)
    })
}
