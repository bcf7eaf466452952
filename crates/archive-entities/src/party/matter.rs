//! The subject of a matter: `In re Roe`, an estate, the author of a will.

use super::{kind_of, party_at};
use crate::entity::{EntityKind, Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::name;
use crate::text::TokenText;

/// Most tokens below words that end their column that are searched for the name.
const BELOW_TOKENS: usize = 24;

pub(super) fn opens(text: &TokenText<'_>, at: usize) -> bool {
    text.capital(at)
        && (text.run(at, &["in", "re"])
            || text.run(at, &["in", "the", "matter", "of"])
            || text.run(at, &["last", "will", "and", "testament", "of"])
            || text.run(at, &["estate", "of"]) && (at == 0 || text.breaks(at) > 0))
}

/// `In re Roe`, `In the Matter of the Estate of Roe`
pub(super) fn find<'t>(reading: &PieceContext<'_, 't>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    let after_gap = |it: usize| text.at(it).is_some_and(|token| token.after_gap);
    let mut at = match text.low(at) {
        "estate" => at,
        "last" => at + 5,
        _ if text.is(at + 1, "re") => at + 2,
        _ => at + 4,
    };
    at += usize::from(text.is(at, ":"));
    at += usize::from(text.is(at, "the"));
    // In a caption's box the left column continues below.
    let limit = at + 16;
    let left = (at..limit).find(|it| !after_gap(*it));
    at = if text.breaks(at) > 0 && text.is(at - 1, "of") { at } else { left.unwrap_or(limit) };
    // The debtor of a bankruptcy has a role of its own.
    let debts = |it: usize| matches!(text.low(it), "debtor" | "debtors") && text.capital(it);
    if (at..at + 30).any(debts) {
        return;
    }
    // `Name Change of Jane Roe`
    if text.run(at, &["name", "change", "of"]) {
        at += 3;
    } else if text.run(at, &["change", "of", "name", "of"]) {
        at += 4;
    }
    // `Guardianship of Jane Roe` is about her.
    if text.is(at + 1, "of")
        && matches!(
            text.low(at),
            "guardianship"
                | "conservatorship"
                | "adoption"
                | "detention"
                | "commitment"
                | "interest"
                | "welfare"
                | "dissolution"
        )
    {
        at += 2;
    }
    if text.run(at, &["estate", "of"]) && name::person(text, at + 2, false).is_none() {
        estate_below(text, at, out);
    } else if let Some(end) = party_at(reading, at) {
        out.push(
            EntityMatch::new(kind_of(reading, at, end), text, (at, end), Ground::Layout)
                .with(Role::Subject),
        );
    }
}

/// `ESTATE OF      File No. 1\n\nJANE ROE,\n  Deceased.`
fn estate_below<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let opened = |it: &usize| text.breaks(*it) > 0;
    let Some(line) = (at + 2..at + BELOW_TOKENS).find(opened) else { return };
    let mut from = line;
    while from < line + 3 && matches!(text.low(from), ":" | ")" | "|") {
        from += 1;
    }
    if let Some(end) = name::person(text, from, false) {
        let name = format!("{} {}", text.slice(at, at + 2), text.slice(from, end));
        let found = EntityMatch::new(EntityKind::Person, text, (from, end), Ground::Layout);
        out.push(found.with_name(name).with(Role::Subject));
    }
}
