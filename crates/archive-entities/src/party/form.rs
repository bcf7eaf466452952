//! Printed forms: `Plaintiff's name(s)` above the names, two columns wide.

use super::names::{shared, split};
use super::{kind_of, roles};
use crate::entity::Ground;
use crate::entity_match::{EntityMatch, PieceContext};

/// Most lines below the label that are read.
const LINES: usize = 3;

/// `Plaintiff name(s), address(es)       Defendant name(s)` and the names in the lines below.
pub(super) fn find<'t>(reading: &PieceContext<'_, 't>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    let word = text.low(at).trim_end_matches("'s").trim_end_matches("’s");
    let Some(role) = roles(word).next() else { return };
    let label = at + 1 + usize::from(matches!(text.low(at + 1), "'" | "’" | "s"));
    if !matches!(text.low(label), "name" | "names") {
        return;
    }
    let after_gap = |it: usize| text.at(it).is_some_and(|token| token.after_gap);
    let column = after_gap(at);
    let mut line = text.line_end(at);
    for _ in 0..LINES {
        let end = text.line_end(line);
        let own: Vec<usize> = (line..end)
            .filter(|it| after_gap(*it) == column && !matches!(text.low(*it), "v" | "vs" | "|"))
            .collect();
        let names = split(reading, &own);
        for (from, to) in &names {
            if let Some(spouse) = shared(text, *from, *to) {
                out.push(spouse.with(role));
            }
            let kind = kind_of(reading, *from, *to);
            out.push(EntityMatch::new(kind, text, (*from, *to), Ground::Layout).with(role));
        }
        if !names.is_empty() || end >= text.len() {
            return;
        }
        line = end;
    }
}
