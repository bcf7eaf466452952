//! The sides of an agreement, from the words that open one. Agreements that a document only speaks
//! of have no sides here.

use super::{kind_of, party_at};
use crate::entity::{Ground, Role};
use crate::finding::{Finding, Reading};
use crate::name;
use crate::text::Text;

/// `This Agreement is made … between` is looked for this far back.
const OPENING_TOKENS: usize = 40;
/// What describes one side is no longer.
const SIDE_TOKENS: usize = 48;
const SIDES_MAX: usize = 8;

/// `This Agreement is made between Acme LLC, a … company (\"Buyer\"), and Jane Roe (\"Seller\")`
pub(super) fn between<'t>(reading: &Reading<'_, 't>, at: usize, out: &mut Vec<Finding<'t>>) {
    let text = reading.text;
    if !opens(text, at) {
        return;
    }
    let mut sides: Vec<(usize, usize)> = Vec::new();
    let mut next = at + 1;
    while sides.len() < SIDES_MAX {
        let from = past_links(text, next);
        let Some(end) = party_at(reading, from) else { break };
        sides.push((from, end));
        let Some(link) = link_after(text, end) else { break };
        next = link;
    }
    if sides.len() > 1 {
        out.extend(sides.into_iter().map(|range| side(reading, range)));
    }
}

fn side<'t>(reading: &Reading<'_, 't>, (from, to): (usize, usize)) -> Finding<'t> {
    let kind = kind_of(reading, from, to);
    Finding::new(kind, reading.text, (from, to), Ground::Layout).with(Role::Contracting)
}

fn opens(text: &Text<'_>, at: usize) -> bool {
    if text.at(at).is_some_and(|it| it.shout) && text.breaks(at) > 0 {
        return true;
    }
    (at.saturating_sub(OPENING_TOKENS)..at).any(|it| {
        text.is(it, "this")
            && (it + 1..it + 7)
                .any(|it| matches!(text.low(it), "agreement" | "contract" | "lease" | "deed"))
    })
}

/// Past `:`, `(1)`, `and` and the like.
fn past_links(text: &Text<'_>, at: usize) -> usize {
    let mut next = at;
    while next < at + 8 {
        if text.is(next, "(") && text.is_number(next + 1) && text.is(next + 2, ")") {
            next += 3;
        } else if matches!(text.low(next), "dr" | "mr" | "mrs" | "ms") && text.is(next + 1, ".") {
            next += 2;
        } else if matches!(text.low(next), ":" | "," | ";" | "and" | "&" | "the") {
            next += 1;
        } else {
            break;
        }
    }
    next
}

/// The place of the `and` or of the number that leads to the next side.
fn link_after(text: &Text<'_>, end: usize) -> Option<usize> {
    let mut at = end;
    let mut depth = 0_usize;
    while at < (end + SIDE_TOKENS).min(text.len()) {
        match text.low(at) {
            "(" if depth == 0 && text.is_number(at + 1) && text.is(at + 2, ")") => return Some(at),
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "and" | ";" if depth == 0 => return Some(at),
            // A third side follows what the second is called.
            "," if depth == 0 && text.is(at - 1, ")") => return Some(at),
            "." if depth == 0 && text.capital(at + 1) && !text.glued(at) => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

/// `ООО «Ромашка», именуемое в дальнейшем «Поставщик»`
pub(super) fn called<'t>(reading: &Reading<'_, 't>, at: usize, out: &mut Vec<Finding<'t>>) {
    let text = reading.text;
    let end = if at > 0 && text.is(at - 1, ",") { at - 1 } else { at };
    let from = reading.organisation_before(end).or_else(|| name::person_before(text, end, false));
    if let Some(from) = from {
        out.push(side(reading, (from, end)));
    }
}
