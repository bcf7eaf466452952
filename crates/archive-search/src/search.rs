//! Runs a query over the segments that the caller may see.

mod expansion;
mod loaded;

use std::collections::{BTreeSet, HashMap, HashSet};

use archive_accounts::Visibility;
use clock::Millis;
use fault::Fault;
use store::{SqlRow, Tx};

use crate::evaluate::{
    CorpusSize, SegmentTerms, TermHits, TermVariants, matching, phrase_starts, term_hits,
};
use crate::page_set::PageSet;
use crate::query::{self, LastWord, ParsedQuery};
use crate::segment::{BlockTerms, ChunkStart};
use crate::snippet::{Window, WordMatch};
use crate::{DayRange, Search, sql};
use loaded::LoadedSegment;

/// Segments whose blocks are read by one statement.
const SEGMENTS_AT_ONCE: usize = 32;
/// Pages with a term, added up over the terms of a query: 64 MB.
const HITS_MAX: usize = 8_000_000;
/// Positions of a term on one page that its snippet is chosen from.
const POSITIONS_MAX: usize = 2_000;

/// What to search for. All filters must match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageQuery {
    pub query: String,
    /// The id of a case, not its name.
    pub case_id: Option<String>,
    pub file_id: Option<String>,
    pub media_type: Option<String>,
    /// The type of the paper, in any case of letters.
    pub document_type: Option<String>,
    /// The day of the paper.
    pub document_date: Option<DayRange>,
    /// The day of an event or deadline in the paper.
    pub event_date: Option<DayRange>,
    /// A file must have all of them.
    pub tags: Vec<String>,
    /// The time of the upload.
    pub from: Option<Millis>,
    /// Inclusive, as `from` is.
    pub to: Option<Millis>,
    pub limit: usize,
    pub offset: usize,
}

/// One page of results and the total, both of one snapshot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageHits {
    /// By score; equal scores by time of upload, the newest first, then by file and page.
    pub hits: Vec<PageHit>,
    pub total: u64,
    pub corrections: Vec<Correction>,
}

/// A word that no page has, and the words that were searched for instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    pub typed: String,
    pub searched: Vec<String>,
}

/// A page that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct PageHit {
    pub file_id: String,
    /// 0 is the record of the file: its name, tags and description.
    pub page: u32,
    pub score: f64,
    pub(crate) window: Window,
}

/// One page among all that match.
struct RankedPage {
    score: f64,
    segment: usize,
    page: u32,
}

/// A term of the query with the variants of each of its words, and its hits in every segment.
#[derive(Default)]
struct ResolvedTerm {
    words: Vec<TermVariants>,
    hits: Vec<TermHits>,
    /// Pages of all segments.
    pages: u64,
    /// The variants that occur on a page that the caller may find.
    occurring: BTreeSet<String>,
}

impl Search {
    /// The pages that the caller may see, that match the query and pass all filters. The
    /// transaction should be a snapshot.
    pub async fn query(
        &self,
        tx: &mut Tx,
        visibility: &Visibility,
        query: &PageQuery,
    ) -> Result<PageHits, Fault> {
        let parsed = query::parse(&query.query)?;
        let segments = self.load_segments(tx, visibility, query).await?;
        let corpus = segments.iter().fold(CorpusSize::default(), |sum, it| it.add_to(sum));
        let mut terms: Vec<ResolvedTerm> = Vec::with_capacity(parsed.terms.len());
        for term in &parsed.terms {
            let mut words: Vec<TermVariants> =
                term.words.iter().map(|word| TermVariants::from([word.clone()])).collect();
            if term.last != LastWord::Exact
                && let Some(last) = words.last_mut()
            {
                last.extend(self.expand(tx, &segments, term).await?);
            }
            terms.push(ResolvedTerm { words, ..ResolvedTerm::default() });
        }
        let all: Vec<usize> = (0..terms.len()).collect();
        self.find_hits(tx, &segments, &mut terms, &all).await?;
        let corrections = self.correct(tx, &segments, &parsed, &mut terms).await?;
        let (ranked, total) = rank(&segments, &parsed, &terms, corpus, query);
        let hits = self.build_hits(tx, &segments, &parsed, &terms, &ranked).await?;
        Ok(PageHits { hits, total, corrections })
    }

    /// Finds the hits of the terms with these numbers in all segments.
    async fn find_hits(
        &self,
        tx: &mut Tx,
        segments: &[LoadedSegment],
        terms: &mut [ResolvedTerm],
        which: &[usize],
    ) -> Result<(), Fault> {
        let words = |is_phrase: bool| -> HashSet<String> {
            let of_kind = which.iter().map(|&at| &terms[at]);
            let of_kind = of_kind.filter(|term| (term.words.len() > 1) == is_phrase);
            of_kind.flat_map(|term| term.words.iter().flatten().cloned()).collect()
        };
        let (plain, in_phrases) = (words(false), words(true));
        for &at in which {
            terms[at].hits = vec![TermHits::default(); segments.len()];
        }
        let mut total = 0;
        for (batch, some) in segments.chunks(SEGMENTS_AT_ONCE).enumerate() {
            let ids: Vec<i64> = some.iter().map(|it| it.id).collect();
            for (wanted, is_phrase) in [(&plain, false), (&in_phrases, true)] {
                let rows = self.blocks(tx, &ids, wanted, is_phrase).await?;
                let mut found = postings_by_segment(&rows, wanted, is_phrase)?;
                for (at, segment) in some.iter().enumerate() {
                    let Some(postings) = found.remove(&segment.id) else { continue };
                    for &term in which {
                        let term = &mut terms[term];
                        if (term.words.len() > 1) != is_phrase {
                            continue;
                        }
                        let (allowed, pages) = (&segment.allowed, segment.pages);
                        let (words, occurring) = (&term.words, &mut term.occurring);
                        let hits = term_hits(words, &postings, allowed, pages, occurring)?;
                        total += hits.0.len();
                        term.pages += hits.0.len() as u64;
                        term.hits[batch * SEGMENTS_AT_ONCE + at] = hits;
                    }
                }
                if total > HITS_MAX {
                    return Err(too_broad("its words are on too many pages"));
                }
            }
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    async fn blocks(
        &self,
        tx: &mut Tx,
        segments: &[i64],
        terms: &HashSet<String>,
        with_positions: bool,
    ) -> Result<Vec<SqlRow>, Fault> {
        if terms.is_empty() || segments.is_empty() {
            return Ok(Vec::new());
        }
        let mut terms: Vec<&str> = terms.iter().map(String::as_str).collect();
        terms.sort_unstable();
        sql::blocks(&self.db, tx, segments, &terms, with_positions).await
    }

    /// Builds the hits of the ranked pages; reads where the words of the query stand on them.
    async fn build_hits(
        &self,
        tx: &mut Tx,
        segments: &[LoadedSegment],
        parsed: &ParsedQuery,
        terms: &[ResolvedTerm],
        ranked: &[RankedPage],
    ) -> Result<Vec<PageHit>, Fault> {
        let positive = || terms.iter().enumerate().filter(|(at, _)| parsed.is_positive[*at]);
        let wanted: HashSet<String> =
            positive().flat_map(|(_, term)| term.words.iter().flatten().cloned()).collect();
        let mut matches: HashMap<(usize, u32), Vec<WordMatch>> = HashMap::new();
        let mut chosen: Vec<usize> = ranked.iter().map(|it| it.segment).collect();
        chosen.sort_unstable();
        chosen.dedup();
        for some in chosen.chunks(SEGMENTS_AT_ONCE) {
            let ids: Vec<i64> = some.iter().map(|&at| segments[at].id).collect();
            let rows = self.blocks(tx, &ids, &wanted, true).await?;
            let found = postings_by_segment(&rows, &wanted, true)?;
            for &at in some {
                let segment = &segments[at];
                let Some(postings) = found.get(&segment.id) else { continue };
                let mut within = PageSet::empty(segment.pages);
                let here = ranked.iter().filter(|it| it.segment == at);
                here.for_each(|it| within.insert(it.page));
                for (number, term) in positive() {
                    let length = u32::try_from(term.words.len()).unwrap_or(1);
                    let found = phrase_starts(
                        &term.words,
                        postings,
                        &within,
                        segment.pages,
                        POSITIONS_MAX,
                    )?;
                    for (page, starts) in found {
                        let spans = starts.into_iter().map(|first| WordMatch {
                            first,
                            last: first + length - 1,
                            term: number,
                        });
                        matches.entry((at, page)).or_default().extend(spans);
                    }
                }
            }
        }
        let hit = |it: &RankedPage| {
            let (file, page) = segments[it.segment].page(it.page)?;
            let found = matches.remove(&(it.segment, it.page)).unwrap_or_default();
            let window = Window::best(found, &page.chunks);
            Some(PageHit {
                file_id: file.file_id.clone(),
                page: page.page,
                score: it.score,
                window,
            })
        };
        Ok(ranked.iter().filter_map(hit).collect())
    }
}

/// The postings of the wanted terms in rows of blocks, for each segment.
fn postings_by_segment<'r>(
    rows: &'r [SqlRow],
    wanted: &HashSet<String>,
    with_positions: bool,
) -> Result<HashMap<i64, SegmentTerms<'r>>, Fault> {
    let mut found: HashMap<i64, SegmentTerms<'r>> = HashMap::new();
    for row in rows {
        let positions = if with_positions { row.bytes_ref(2)? } else { &[] };
        let mut terms = BlockTerms::new(row.bytes_ref(1)?, positions);
        let segment = found.entry(row.int(0)?).or_default();
        while let Some((term, postings)) = terms.next()? {
            if wanted.contains(term) {
                segment.insert(term.to_owned(), postings);
            }
        }
    }
    Ok(found)
}

/// The matching pages of the wanted page of results, in their order, and the number of all.
fn rank(
    segments: &[LoadedSegment],
    parsed: &ParsedQuery,
    terms: &[ResolvedTerm],
    corpus: CorpusSize,
    query: &PageQuery,
) -> (Vec<RankedPage>, u64) {
    let weights: Vec<f64> =
        terms.iter().map(|term| corpus.inverse_page_frequency(term.pages)).collect();
    let mut ranked = Vec::new();
    for (at, segment) in segments.iter().enumerate() {
        let sets: Vec<PageSet> =
            terms.iter().map(|term| term.hits[at].page_set(segment.pages)).collect();
        let found = matching(&parsed.expression, &sets, &segment.allowed);
        let mut scores = vec![0.0; segment.pages as usize];
        for (number, term) in terms.iter().enumerate() {
            if !parsed.is_positive[number] {
                continue;
            }
            for &(page, count) in term.hits[at].0.iter().filter(|it| found.contains(it.0)) {
                let words = segment.word_counts[page as usize];
                scores[page as usize] += weights[number] * corpus.term_score(count, words);
            }
        }
        let here = found.iter();
        ranked.extend(here.map(|page| RankedPage {
            score: scores[page as usize],
            segment: at,
            page,
        }));
    }
    let total = ranked.len() as u64;
    let order = |a: &RankedPage, b: &RankedPage| {
        b.score.total_cmp(&a.score).then_with(|| {
            let key = |it: &RankedPage| segments[it.segment].tie_order(it.page);
            key(a).cmp(&key(b))
        })
    };
    let end = query.offset.saturating_add(query.limit);
    if end < ranked.len() {
        ranked.select_nth_unstable_by(end, order);
        ranked.truncate(end);
    }
    ranked.sort_unstable_by(order);
    ranked.drain(..query.offset.min(ranked.len()));
    (ranked, total)
}

pub(super) fn too_broad(reason: &str) -> Fault {
    let message = format!("the query finds too much: {reason}");
    Fault::invalid("query_too_broad", message)
        .problem("query", "rarer words, longer prefixes, or a filter such as caseId")
}

impl PageHit {
    /// The first stored chunk of the page that [`Self::snippet`] needs; it needs the next one too,
    /// if there is one.
    pub fn first_chunk(&self) -> u32 {
        self.window.chunk
    }

    pub(crate) fn chunk_start(&self) -> ChunkStart {
        self.window.start
    }
}
