//! Legal citations: found in one pass, told apart, and led back to what they mean.
#![doc = include_str!("../README.md")]

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

/// Every citation in the text, in the order they stand there.
#[must_use]
pub fn find(text: &str) -> Vec<Citation<'_>> {
    search(&text::ScanText::new(text), &[])
}

/// The same, where it is known what is printed in italics: the name of a case cited before that
/// stands in italics refers to it, with or without a page.
#[must_use]
pub fn find_emphasised<'t>(text: &'t str, emphasis: &[Span]) -> Vec<Citation<'t>> {
    search(&text::ScanText::new(text), emphasis)
}

fn search<'t>(text: &text::ScanText<'t>, emphasis: &[Span]) -> Vec<Citation<'t>> {
    let mut scan = scan::scan(text);
    scan::settle(&mut scan.found);
    let references = reference::find(text, &scan.found, &scan.pages, emphasis);
    merge(scan.found, references)
}

/// Both lists in order, without what only carried a name, and with the places of parallel
/// citations counted anew.
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
        // What only carried a name gives its place to the first that has it.
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
