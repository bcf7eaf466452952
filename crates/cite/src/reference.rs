//! Names known from full citations that stand alone before a page: `Roe at 120`.

use std::collections::HashMap;

use crate::case::PartialCitation;
use crate::citation::{Citation, CitationKind, Span};
use crate::tail;
use crate::text::ScanText;
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

struct KnownName<'t> {
    name: &'t str,
    plaintiff: bool,
    /// It is known after this place.
    from: usize,
}

pub(crate) struct KnownNames<'t> {
    by_last: HashMap<&'t str, Vec<KnownName<'t>>>,
}

impl<'t> KnownNames<'t> {
    pub(crate) fn of(found: &[PartialCitation<'t>]) -> Self {
        let mut names = Self { by_last: HashMap::new() };
        for it in found.iter().filter(|it| it.cite.is_full_case()) {
            let from = it.cite.span.end;
            for (name, plaintiff) in [(it.cite.plaintiff, true), (it.cite.defendant, false)] {
                let Some(name) = name else { continue };
                if name.len() >= 3 && capital(name) && !EVERYONE.contains(&name) {
                    names.learn(KnownName { name, plaintiff, from });
                }
            }
        }
        names
    }

    fn learn(&mut self, known: KnownName<'t>) {
        let Some(last) = known.name.rsplit([' ', '\n']).next() else { return };
        let alike = self.by_last.entry(last).or_default();
        if alike.len() < ALIKE_MAX && !alike.iter().any(|it| it.name == known.name) {
            alike.push(known);
        }
    }

    /// The known name that ends there.
    fn ending(&self, text: &ScanText<'t>, end: usize) -> Option<&KnownName<'t>> {
        let mut start = end;
        while start > 0 && end - start < 48 && text.blank(start - 1) == 0 {
            start -= 1;
        }
        while start < end && (text.at(start) & 0xc0) == 0x80 {
            start += 1;
        }
        let last = text.slice(start, end);
        let last = last.trim_start_matches(['(', '[', '"', '\u{201c}', '\u{2018}']);
        self.by_last.get(last)?.iter().rev().find(|it| {
            let from = end.saturating_sub(it.name.len());
            it.from <= from
                && text.slice(from, end) == it.name
                && !text.before(from).is_ascii_alphanumeric()
        })
    }

    /// The reference whose page begins at `at`, if a known name stands before it.
    fn paged(&self, text: &ScanText<'t>, at: usize) -> Option<PartialCitation<'t>> {
        let end = text.skip_back(at, 0);
        let known = self.ending(text, end)?;
        let first = if text.at(at) == b'a' { text.skip(at + 2) } else { at };
        let pin = tail::pages(text, at, first)?;
        let mut found = known.reference(text, end, pin.end);
        found.cite.pin_cite = Some(text.slice(pin.start, pin.end));
        Some(found)
    }

    /// The reference that a name in italics is, unless it is part of a longer citation.
    fn emphasised(&self, text: &ScanText<'t>, span: Span) -> Option<PartialCitation<'t>> {
        let words = text.slice(span.start, span.end);
        let end = span.start + words.trim_end_matches([' ', '\n', ',', ';', ':', '.']).len();
        let known = self.ending(text, end).or_else(|| self.ending(text, span.end))?;
        let start = text.skip(span.start);
        let next = text.skip(span.end + usize::from(text.at(span.end) == b','));
        let longer = ["v.", "v ", "vs.", "supra"].iter().any(|it| text.has(next, it));
        let whole = known.name.len() + start == end || known.name.len() + start == span.end;
        (whole && !longer)
            .then(|| known.reference(text, start + known.name.len(), start + known.name.len()))
    }
}

impl<'t> KnownName<'t> {
    fn reference(&self, text: &ScanText<'t>, name_end: usize, end: usize) -> PartialCitation<'t> {
        let mut cite =
            Citation::new(CitationKind::Reference, text.whole, name_end - self.name.len(), end);
        if self.plaintiff {
            cite.plaintiff = Some(self.name);
        } else {
            cite.defendant = Some(self.name);
        }
        PartialCitation::plain(cite)
    }
}

/// The references at those places, and among those words in italics, that no other citation
/// covers; not many more than `most`.
pub(crate) fn find<'t>(
    text: &ScanText<'t>,
    found: &[PartialCitation<'t>],
    pages: &[usize],
    emphasis: &[Span],
    most: usize,
) -> Vec<PartialCitation<'t>> {
    if (pages.is_empty() && emphasis.is_empty()) || found.is_empty() {
        return Vec::new();
    }
    let names = KnownNames::of(found);
    if names.by_last.is_empty() {
        return Vec::new();
    }
    let covered = |at: usize| {
        let before = found.partition_point(|it| it.cite.full_span.start <= at);
        found.get(before.wrapping_sub(1)).is_some_and(|it| at < it.tail)
    };
    let free = pages.iter().filter(|at| !covered(**at));
    let mut list: Vec<PartialCitation<'t>> =
        free.filter_map(|at| names.paged(text, *at)).take(most.saturating_add(1)).collect();
    let within = |it: &&Span| text.whole.get(it.start..it.end).is_some();
    let free = emphasis.iter().filter(within).filter(|it| !covered(it.start));
    list.extend(free.filter_map(|it| names.emphasised(text, *it)));
    // A name in italics before a page was found twice, with its page first.
    list.sort_by_key(|it| it.cite.span.start);
    list.dedup_by_key(|it| it.cite.span.start);
    list
}

#[cfg(test)]
mod tests {
    use crate::{CitationKind, Span};

    #[test]
    fn names_in_italics_are_references() {
        let text = "Able v. Baker, 5 F.3d 10. In Able, we said; Able at 12; Able v. Carr; Baker.";
        let at = |from: usize, name: &str| {
            let start = from + text[from..].find(name).unwrap();
            Span::new(start, start + name.len())
        };
        let emphasis =
            [at(0, "Able"), at(26, "Able,"), at(44, "Able"), at(50, "Able"), at(60, "Baker.")];
        let found = crate::find_emphasised(text, &emphasis);
        let shown: Vec<_> = found.iter().map(|it| (it.kind, it.text)).collect();
        let reference = |text| (CitationKind::Reference, text);
        let expected = [
            (CitationKind::FullCase, "5 F.3d 10"),
            reference("Able"),
            reference("Able at 12"),
            reference("Baker"),
        ];
        assert_eq!(shown, expected);
        assert_eq!(crate::find(text).len(), 2);
    }
}
