//! Names known from full citations that stand alone before a page: `Roe at 120`.

use std::collections::HashMap;

use crate::case::Found;
use crate::citation::{Citation, Kind};
use crate::tail;
use crate::text::Text;
use crate::words::capital;

/// Names with the same last word that are remembered.
const ALIKE_MAX: usize = 8;
/// Parties of too many cases to mean one of them.
const EVERYONE: [&str; 14] = [
    "State",
    "United States",
    "People",
    "Commonwealth",
    "Government",
    "U.S.",
    "U. S.",
    "Board",
    "City",
    "County",
    "Commissioner",
    "The State",
    "The People",
    "Mass",
];

struct Known<'t> {
    name: &'t str,
    plaintiff: bool,
    /// It is known after this place.
    from: usize,
}

pub(crate) struct Names<'t> {
    by_last: HashMap<&'t str, Vec<Known<'t>>>,
}

impl<'t> Names<'t> {
    pub(crate) fn of(found: &[Found<'t>]) -> Self {
        let mut names = Self { by_last: HashMap::new() };
        for it in found.iter().filter(|it| it.cite.is_full_case()) {
            let from = it.cite.span.end;
            for (name, plaintiff) in [(it.cite.plaintiff, true), (it.cite.defendant, false)] {
                let Some(name) = name else { continue };
                if name.len() >= 3 && capital(name) && !EVERYONE.contains(&name) {
                    names.learn(Known { name, plaintiff, from });
                }
            }
        }
        names
    }

    fn learn(&mut self, known: Known<'t>) {
        let Some(last) = known.name.rsplit([' ', '\n']).next() else { return };
        let alike = self.by_last.entry(last).or_default();
        if alike.len() < ALIKE_MAX && !alike.iter().any(|it| it.name == known.name) {
            alike.push(known);
        }
    }

    /// The reference whose page begins at `at`, if a known name stands before it.
    fn reference(&self, text: &Text<'t>, at: usize) -> Option<Found<'t>> {
        let end = text.skip_back(at, 0);
        let mut start = end;
        while start > 0 && end - start < 48 && text.blank(start - 1) == 0 {
            start -= 1;
        }
        let last =
            text.slice(start, end).trim_start_matches(['(', '[', '"', '\u{201c}', '\u{2018}']);
        let known = self.by_last.get(last)?.iter().rev().find(|it| {
            let from = end.saturating_sub(it.name.len());
            it.from <= from
                && text.slice(from, end) == it.name
                && !text.before(from).is_ascii_alphanumeric()
        })?;
        let first = if text.at(at) == b'a' { text.skip(at + 2) } else { at };
        let pin = tail::pages(text, at, first)?;
        let start = end - known.name.len();
        let mut cite = Citation::new(Kind::Reference, text.whole, start, pin.end);
        cite.pin_cite = Some(text.slice(pin.start, pin.end));
        if known.plaintiff {
            cite.plaintiff = Some(known.name);
        } else {
            cite.defendant = Some(known.name);
        }
        Some(Found::plain(cite))
    }
}

/// The references at those places that no other citation covers.
pub(crate) fn find<'t>(text: &Text<'t>, found: &[Found<'t>], pages: &[usize]) -> Vec<Found<'t>> {
    if pages.is_empty() || found.is_empty() {
        return Vec::new();
    }
    let names = Names::of(found);
    if names.by_last.is_empty() {
        return Vec::new();
    }
    let covered = |at: usize| {
        let before = found.partition_point(|it| it.cite.full_span.start <= at);
        found.get(before.wrapping_sub(1)).is_some_and(|it| at < it.tail)
    };
    let free = pages.iter().filter(|at| !covered(**at));
    free.filter_map(|at| names.reference(text, *at)).collect()
}
