//! Finds legal citations in one pass, classifies them and resolves short forms to their source.
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod case;
mod citation;
mod law;
mod name;
mod reference;
mod resolve;
mod russian;
mod scan;
mod short;
mod table;
mod tail;
mod text;
mod trie;
mod words;

#[cfg(test)]
mod tests;

pub use citation::{CharPositions, Citation, CitationKind, Span};
pub use resolve::{CitedSource, Resolutions, resolve};

/// Finds every citation in the text, in the order of the text.
#[must_use]
pub fn find(text: &str) -> Vec<Citation<'_>> {
    search(&text::ScanText::new(text), &[], usize::MAX).0
}

/// Like [`find`], for a text that may be made of nothing but citations: stops after about `most` of
/// them, and says whether it did.
#[must_use]
pub fn find_at_most(text: &str, most: usize) -> (Vec<Citation<'_>>, bool) {
    search(&text::ScanText::new(text), &[], most)
}

/// Like [`find`], for a text whose italics are known: the name of a case that was cited before
/// refers to that case when it is in italics, with or without a page.
#[must_use]
pub fn find_emphasised<'t>(text: &'t str, emphasis: &[Span]) -> Vec<Citation<'t>> {
    search(&text::ScanText::new(text), emphasis, usize::MAX).0
}

fn search<'t>(
    text: &text::ScanText<'t>,
    emphasis: &[Span],
    most: usize,
) -> (Vec<Citation<'t>>, bool) {
    let mut scan = scan::scan(text, most);
    scan::complete_from_neighbours(&mut scan.found);
    let mut references = reference::find(text, &scan.found, &scan.pages, emphasis, most);
    let is_cut = scan.is_cut || references.len() > most;
    references.truncate(most);
    (merge(scan.found, references), is_cut)
}

/// Merges both lists in the order of the text, drops citations that only carried a name, and
/// renumbers `parallel_to`.
fn merge<'t>(
    found: Vec<case::PartialCitation<'t>>,
    references: Vec<case::PartialCitation<'t>>,
) -> Vec<Citation<'t>> {
    let mut places = Vec::with_capacity(found.len());
    let mut list: Vec<Citation<'t>> = Vec::with_capacity(found.len() + references.len());
    let mut references = references.into_iter().peekable();
    for mut it in found {
        let start = it.cite.span.start;
        while let Some(reference) = references.next_if(|it| it.cite.span.start < start) {
            list.push(reference.cite);
        }
        // A dropped citation gives its index to the first parallel citation after it.
        places.push(list.len());
        if it.blank {
            continue;
        }
        let head = it.cite.parallel_to.and_then(|at| places.get(at).copied());
        it.cite.parallel_to = head.filter(|at| *at < list.len());
        list.push(it.cite);
    }
    list.extend(references.map(|it| it.cite));
    list
}
