//! Finds the pages of a segment that a query matches, and scores them by BM25.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fault::Fault;

use crate::page_set::PageSet;
use crate::postings::{TermPostings, positions};
use crate::query::Expression;

/// The terms that match one word of a query: the word itself, or the words of a prefix or a
/// correction.
pub(crate) type TermVariants = BTreeSet<String>;
/// The postings of the terms of one segment.
pub(crate) type SegmentTerms<'a> = HashMap<String, TermPostings<'a>>;

/// The usual constants of BM25: how soon repeats of a term stop to count, and how much the length
/// of a page counts.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The pages of a segment that have a term of the query, ascending, and how often.
#[derive(Debug, Default, Clone)]
pub(crate) struct TermHits(pub Vec<(u32, u32)>);

impl TermHits {
    pub(crate) fn page_set(&self, pages: u32) -> PageSet {
        let mut set = PageSet::empty(pages);
        self.0.iter().for_each(|&(page, _)| set.insert(page));
        set
    }
}

/// The hits of one term of the query within the allowed pages. Variants that occur there are
/// added to `occurring`.
pub(crate) fn term_hits(
    words: &[TermVariants],
    terms: &SegmentTerms<'_>,
    allowed: &PageSet,
    pages: u32,
    occurring: &mut BTreeSet<String>,
) -> Result<TermHits, Fault> {
    if words.len() > 1 {
        let starts = phrase_starts(words, terms, allowed, pages, usize::MAX)?;
        let count = |starts: &Vec<u32>| u32::try_from(starts.len()).unwrap_or(u32::MAX);
        return Ok(TermHits(starts.iter().map(|(&page, it)| (page, count(it))).collect()));
    }
    let mut hits = TermHits::default();
    let mut lists = 0;
    for term in words.iter().flatten() {
        let Some(postings) = terms.get(term) else { continue };
        let before = hits.0.len();
        postings.each_page(|page, count| {
            if allowed.contains(page) {
                hits.0.push((page, count));
            }
        })?;
        if hits.0.len() > before {
            lists += 1;
            occurring.insert(term.clone());
        }
    }
    if lists > 1 {
        hits.0.sort_unstable();
        hits.0.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 += if is_same { next.1 } else { 0 };
            is_same
        });
    }
    Ok(hits)
}

/// The positions at which a phrase begins, for each page that has the phrase. The postings must
/// have positions; at most `most` of each term and page are read.
pub(crate) fn phrase_starts(
    words: &[TermVariants],
    terms: &SegmentTerms<'_>,
    allowed: &PageSet,
    pages: u32,
    most: usize,
) -> Result<BTreeMap<u32, Vec<u32>>, Fault> {
    let mut within = allowed.clone();
    for word in words {
        let mut set = PageSet::empty(pages);
        for postings in word.iter().filter_map(|term| terms.get(term)) {
            postings.each_page(|page, _| set.insert(page))?;
        }
        within.intersect(&set);
    }
    let mut found: Option<BTreeMap<u32, Vec<u32>>> = None;
    for (offset, word) in (0_u32..).zip(words) {
        let mut here = word_positions(word, terms, &within, most)?;
        found = Some(match found {
            None => here,
            Some(mut before) => {
                before.retain(|page, starts| {
                    let here = here.remove(page).unwrap_or_default();
                    starts.retain(|start| here.binary_search(&(start + offset)).is_ok());
                    !starts.is_empty()
                });
                before
            }
        });
    }
    Ok(found.unwrap_or_default())
}

/// The positions of one word of the query, for each page.
fn word_positions(
    word: &TermVariants,
    terms: &SegmentTerms<'_>,
    within: &PageSet,
    most: usize,
) -> Result<BTreeMap<u32, Vec<u32>>, Fault> {
    let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for postings in word.iter().filter_map(|term| terms.get(term)) {
        let mut pages = postings.pages_with_positions();
        while let Some(here) = pages.next()? {
            if within.contains(here.page) {
                found.entry(here.page).or_default().extend(positions(here.positions, most)?);
            }
        }
    }
    if word.len() > 1 {
        found.values_mut().for_each(|positions| positions.sort_unstable());
    }
    Ok(found)
}

/// The pages that match an expression, given those of each term.
pub(crate) fn matching(expression: &Expression, sets: &[PageSet], allowed: &PageSet) -> PageSet {
    let join = |parts: &[Expression], join: fn(&mut PageSet, &PageSet)| {
        let mut sets = parts.iter().map(|part| matching(part, sets, allowed));
        let first = sets.next();
        sets.fold(first, |joined, set| {
            joined.map(|mut joined| {
                join(&mut joined, &set);
                joined
            })
        })
    };
    let found = match expression {
        Expression::Term(at) => sets.get(*at).cloned(),
        Expression::All(parts) => join(parts, PageSet::intersect),
        Expression::Any(parts) => join(parts, PageSet::unite),
        Expression::Not(part) => {
            let mut set = matching(part, sets, allowed);
            set.invert();
            Some(set)
        }
    };
    let mut found = found.unwrap_or_else(|| PageSet::empty(0));
    found.intersect(allowed);
    found
}

/// The pages that a query may find: how many there are and how many words they have.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct CorpusSize {
    pub pages: u64,
    pub words: u64,
}

impl CorpusSize {
    /// The BM25 weight of a term that this many pages have.
    pub(crate) fn inverse_page_frequency(&self, pages: u64) -> f64 {
        let (all, with) = (self.pages as f64, pages as f64);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    /// The BM25 score of a page of `words` words that has a term `count` times, before the term's
    /// weight.
    pub(crate) fn term_score(&self, count: u32, words: u32) -> f64 {
        let average = self.words as f64 / (self.pages as f64).max(1.0);
        let length = f64::from(words) / average.max(1.0);
        let count = f64::from(count);
        count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
    }
}
