//! Finds the parties to an agreement in its opening words. An agreement that a document only
//! mentions gives no parties.

use super::names::shared;
use super::{kind_of, party_at};
use crate::entity::{EntityKind, Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::name;
use crate::text::TokenText;

/// Most tokens back that are searched for `This Agreement is made … between`.
const OPENING_TOKENS: usize = 56;
/// Most tokens that describe one party.
const SIDE_TOKENS: usize = 48;
const SIDES_MAX: usize = 8;
/// Most tokens at the beginning of a document in which its heading is.
const HEAD_TOKENS: usize = 60;
/// Most tokens that describe a party before its defined term.
const DESCRIPTION_TOKENS: usize = 24;

/// `This Agreement is made between Acme LLC, a … company (\"Buyer\"), and Jane Roe (\"Seller\")`
pub(super) fn between<'t>(
    reading: &PieceContext<'_, 't>,
    at: usize,
    out: &mut Vec<EntityMatch<'t>>,
) {
    let text = reading.text;
    if !opens(text, at) {
        return;
    }
    let mut sides: Vec<(usize, usize)> = Vec::new();
    let mut spouses = Vec::new();
    let mut next = at + 1;
    while sides.len() < SIDES_MAX {
        let from = past_links(text, next);
        let pair = couple(text, from).filter(|_| reading.organisation_at(from).is_none());
        let Some(end) = pair.or_else(|| party_at(reading, from)).or_else(|| capitals(text, from))
        else {
            break;
        };
        if let Some(last) = pair.map(|_| from + 2) {
            spouses.extend(shared(text, last, end).map(|it| it.with(Role::Contracting)));
            sides.push((last, end));
        } else {
            sides.push((from, end));
        }
        let Some(link) = link_after(text, end) else { break };
        next = link;
    }
    if sides.len() > 1 {
        out.extend(spouses);
        out.extend(sides.into_iter().map(|range| side(reading, range)));
    }
}

fn side<'t>(reading: &PieceContext<'_, 't>, (from, to): (usize, usize)) -> EntityMatch<'t> {
    let person = name::person(reading.text, from, false) == Some(to);
    let kind = if person { kind_of(reading, from, to) } else { EntityKind::Organisation };
    EntityMatch::new(kind, reading.text, (from, to), Ground::Layout).with(Role::Contracting)
}

fn opens(text: &TokenText<'_>, at: usize) -> bool {
    if text.at(at).is_some_and(|it| it.all_caps) && text.breaks(at) > 0 {
        return true;
    }
    if at < OPENING_TOKENS && is_headed(text) {
        return true;
    }
    (at.saturating_sub(OPENING_TOKENS)..at)
        .any(|it| text.is(it, "this") && (it + 1..it + 7).any(|it| is_agreement(text.low(it))))
}

/// `Gordon & Faye Hastings`: the end of the second name.
fn couple(text: &TokenText<'_>, at: usize) -> Option<usize> {
    let first = name::is_name_word(text, at) && matches!(text.low(at + 1), "&" | "and");
    let end = first.then(|| name::person(text, at + 2, false))??;
    (end == at + 4).then_some(end)
}

fn is_agreement(word: &str) -> bool {
    matches!(
        word,
        "agreement"
            | "contract"
            | "lease"
            | "deed"
            | "note"
            | "guaranty"
            | "mortgage"
            | "indenture"
            | "amendment"
            | "addendum"
            | "release"
            | "sale"
            | "assignment"
            | "license"
            | "licence"
            | "charter"
            | "partnership"
            | "договор"
            | "соглашение"
    )
}

/// A party whose name has no word of an organisation: capitalised words up to a mark.
fn capitals(text: &TokenText<'_>, at: usize) -> Option<usize> {
    let goes = |it: usize| {
        text.breaks(it) <= 1
            && (text.is_word(it) && text.capital(it) || matches!(text.low(it), "&" | "of" | "and"))
    };
    let end = (at..at + 10).find(|it| !goes(*it))?;
    let closed = matches!(text.low(end), "," | "(");
    (closed && end > at + 1 && text.capital(at)).then_some(end)
}

/// `ООО «Ромашка» (далее — Заказчик)` in an agreement.
pub(super) fn further<'t>(
    reading: &PieceContext<'_, 't>,
    at: usize,
    out: &mut Vec<EntityMatch<'t>>,
) {
    let text = reading.text;
    if !text.is(at + 1, "далее") {
        return;
    }
    let from = reading.organisation_before(at).or_else(|| name::person_before(text, at, false));
    out.extend(from.map(|from| side(reading, (from, at))));
}

/// Acme LLC, hereinafter called Lessor
pub(super) fn hereinafter<'t>(
    reading: &PieceContext<'_, 't>,
    at: usize,
    out: &mut Vec<EntityMatch<'t>>,
) {
    let text = reading.text;
    let named = (at + 1..at + 8).any(|it| is_side(text.low(it)));
    let end = if at > 0 && matches!(text.low(at - 1), "," | "(") { at - 1 } else { at };
    let from = reading.organisation_before(end).or_else(|| name::person_before(text, end, false));
    out.extend(from.filter(|_| named).map(|from| side(reading, (from, end))));
}

/// Whether the heading of the piece says that it is an agreement.
pub(super) fn is_headed(text: &TokenText<'_>) -> bool {
    (0..text.len().min(HEAD_TOKENS))
        .any(|it| text.at(it).is_some_and(|token| token.all_caps) && is_agreement(text.low(it)))
}

/// `Acme LLC, an Idaho company ("Borrower")`: a name and what the agreement calls it.
pub(super) fn defined<'t>(
    reading: &PieceContext<'_, 't>,
    at: usize,
    out: &mut Vec<EntityMatch<'t>>,
) {
    let text = reading.text;
    let quote = at + 1 + usize::from(text.is(at + 1, "the"));
    let term = text.low(quote + 1);
    let quoted = matches!(text.low(quote), "\"" | "“") && is_side(term);
    if !(quoted && matches!(text.low(quote + 2), "\"" | "”" | "," | ".")) {
        return;
    }
    let firm = reading.organisations.partition_point(|it| it.1 <= at);
    let firm = firm.checked_sub(1).and_then(|it| reading.organisations.get(it));
    let firm = firm.filter(|it| at - it.1 < DESCRIPTION_TOKENS).map(|it| (it.0, it.1));
    let person = (at.saturating_sub(DESCRIPTION_TOKENS)..=at).rev().find_map(|end| {
        let closed = end == at || text.is(end, ",");
        name::person_before(text, end, false).filter(|_| closed).map(|from| (from, end))
    });
    let nearest = match (firm, person) {
        (Some(firm), Some(person)) => Some(if firm.1 >= person.1 { firm } else { person }),
        (firm, person) => firm.or(person),
    };
    out.extend(nearest.map(|range| side(reading, range)));
}

/// `Seller: Acme LLC` in an agreement.
pub(super) fn labelled<'t>(
    reading: &PieceContext<'_, 't>,
    at: usize,
    out: &mut Vec<EntityMatch<'t>>,
) {
    let text = reading.text;
    let from = at + 2;
    // `PARTY A : Acme LLC`
    let lettered = at > 0
        && text.is(at - 1, "party")
        && text.word(at).len() == 1
        && (at == 1 || text.breaks(at - 1) > 0);
    if !text.is(at + 1, ":") || !(is_side(text.low(at)) || lettered) || text.breaks(from) > 1 {
        return;
    }
    let paragraph = || {
        let end = (from..from + 16).find(|it| *it > from && text.breaks(*it) > 1)?;
        let words = (from..end).filter(|it| text.is_word(*it));
        let named =
            words.clone().all(|it| text.capital(it) || matches!(text.low(it), "of" | "and"));
        named.then_some(end)
    };
    if let Some(end) = party_at(reading, from).or_else(|| lettered.then(paragraph).flatten()) {
        let whole = lettered.then(paragraph).flatten().unwrap_or(end);
        out.push(side(reading, (from, whole.max(end))));
    }
}

fn is_side(word: &str) -> bool {
    const SIDES: &str = "borrower lender guarantor seller buyer purchaser landlord tenant lessor \
        lessee licensor licensee employer employee contractor owner client consultant vendor \
        customer supplier distributor franchisor franchisee grantor grantee maker holder payee \
        assignor assignee releasor releasee mortgagor mortgagee investor pledgor developer \
        subcontractor settlor sublandlord subtenant sublessor sublessee indemnitor obligor \
        discloser recipient";
    SIDES.split_whitespace().any(|it| it == word)
}

/// Past `:`, `(1)`, `and` and the like.
fn past_links(text: &TokenText<'_>, at: usize) -> usize {
    let mut next = at;
    while next < at + 12 {
        if text.is(next, "(") && text.is_number(next + 1) && text.is(next + 2, ")") {
            next += 3;
        } else if matches!(text.low(next), "dr" | "mr" | "mrs" | "ms") && text.is(next + 1, ".") {
            next += 2;
        } else if text.run(next, &["on", "the"]) && text.is(next + 3, "hand") {
            next += 4;
        } else if matches!(text.low(next), ":" | "," | ";" | "and" | "&" | "the") {
            next += 1;
        } else {
            break;
        }
    }
    next
}

/// The place of the `and` or of the number that leads to the next side.
fn link_after(text: &TokenText<'_>, end: usize) -> Option<usize> {
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
pub(super) fn called<'t>(
    reading: &PieceContext<'_, 't>,
    at: usize,
    out: &mut Vec<EntityMatch<'t>>,
) {
    let text = reading.text;
    let end = if at > 0 && text.is(at - 1, ",") { at - 1 } else { at };
    let from = reading.organisation_before(end).or_else(|| name::person_before(text, end, false));
    // `ООО «Ромашка» в лице директора Иванова И.И., действующего на основании устава, именуемое`
    let acting = (at.saturating_sub(SIDE_TOKENS)..at)
        .rev()
        .find(|it| text.run(*it, &["в", "лице"]))
        .map(|it| it - usize::from(it > 0 && text.is(it - 1, ",")));
    let firm = acting.and_then(|end| Some((reading.organisation_before(end)?, end)));
    // `Иванов Иван Иванович, паспорт …, именуемый`
    let described = || {
        let ends = (at.saturating_sub(DESCRIPTION_TOKENS)..at).rev().filter(|it| text.is(*it, ","));
        ends.take(4).find_map(|end| Some((name::person_before(text, end, false)?, end)))
    };
    if let Some(range) = firm.or_else(|| Some((from?, end))).or_else(described) {
        out.push(side(reading, range));
    }
}
