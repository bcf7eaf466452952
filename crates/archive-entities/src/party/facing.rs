//! Captions without roles: one party is above `v.` and the other below.

use super::names::split;
use super::{kind_of, roles};
use crate::entity::{Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};

/// A caption without roles: one side in the line above `v.`, the other in the line below.
pub(super) fn sides<'t>(reading: &PieceContext<'_, 't>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    let after_gap = |it: usize| text.at(it).is_some_and(|token| token.after_gap);
    let next = text.line_end(at);
    let stop = at + 1 + usize::from(text.is(at + 1, "."));
    let alone = stop >= next || after_gap(stop);
    if text.breaks(at) == 0 || at == 0 || !alone {
        return;
    }
    let column =
        |from: usize, to: usize| (from..to).filter(|it| !after_gap(*it)).collect::<Vec<_>>();
    let mut sides = [Vec::new(), Vec::new()];
    let mut line = at;
    for _ in 0..4 {
        let Some(last) = line.checked_sub(1) else { return };
        line = text.line_start(last);
        // `(Employee)` says what the name above it is.
        if text.is(line, "(") {
            continue;
        }
        sides[0] = column(line, last + 1);
        if sides[0].iter().any(|it| text.is_word(*it)) {
            break;
        }
    }
    let mut line = next;
    for _ in 0..4 {
        let end = text.line_end(line);
        sides[1] = column(line, end);
        line = end;
        if sides[1].iter().any(|it| text.is_word(*it)) {
            break;
        }
    }
    // A caption that names roles is read by its roles.
    let has_roles = |from: usize, to: usize| {
        (from..to.min(text.len()))
            .any(|it| text.capital(it) && roles(text.low(it)).next().is_some())
    };
    if has_roles(at.saturating_sub(24), at) {
        return;
    }
    // The prosecuting party may have no role where the other party has one.
    let only_left = has_roles(next, line + 12);
    let ruler = |list: &[usize]| {
        list.iter()
            .any(|it| matches!(text.low(*it), "people" | "state" | "commonwealth" | "united"))
    };
    if only_left && !sides.first().is_some_and(|it| ruler(it)) {
        return;
    }
    let count = if only_left { 1 } else { 2 };
    for (names, role) in sides.iter().zip([Role::Plaintiff, Role::Defendant]).take(count) {
        if let Some((from, to)) = split(reading, names).first().copied() {
            out.push(
                EntityMatch::new(kind_of(reading, from, to), text, (from, to), Ground::Layout)
                    .with(role),
            );
        }
    }
}
