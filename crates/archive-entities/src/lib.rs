//! Reads the facts of a legal document: parties, attorneys, judges, courts, case numbers,
//! organisations and sums with their roles, and a timeline with deadlines and contradictions, each
//! with its position in the text.
//!
//! It applies rules to English and Russian words, in time linear in the length of the text. It does
//! not read files, uses no outside knowledge, and omits people who have no role in the case.

mod appearance;
mod caption;
mod chronology;
mod cited;
mod correspondence;
mod counsel;
mod counsel_block;
mod court;
mod date;
mod deadline;
mod docket;
pub mod document_type;
mod entity;
mod entity_match;
mod event;
mod judge;
mod merge;
mod money;
mod name;
mod nominative;
mod numerals;
mod organisation;
mod outcome;
mod paper;
mod party;
mod sentence;
mod signature;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod text;
mod timeline;

#[cfg(test)]
mod tests;

use archive_text::{JoinedPages, PageText, TextSpan};

use self::text::TokenText;
pub use caption::Caption;
use caption::FoundCaption;
pub use chronology::{
    Anchor, CaseEvent, Conflict, CountingRule, DateRange, Deadline, DeadlineUnit, Due, EventKind,
    Outcome, OutcomeKind, Precision, UncountedReason,
};
pub use cited::cited_spans;
pub use entity::{Currency, Entity, EntityKind, Ground, Mention, Money, Role};
use entity_match::{EntityMatch, PieceContext};

/// Most entities of one document.
pub const ENTITIES_MAX: usize = 2_000;
/// Most mentions listed for one entity; all are counted.
pub const MENTIONS_MAX: usize = 200;
/// Most events of one document.
pub const EVENTS_MAX: usize = 5_000;
/// Most deadlines of one document.
pub const DEADLINES_MAX: usize = 500;
/// Most outcomes of one document.
pub const OUTCOMES_MAX: usize = 100;
/// Most contradictions of one document.
pub const CONFLICTS_MAX: usize = 200;
/// The longest sentence that is quoted, in words and marks.
pub const SENTENCE_TOKENS_MAX: usize = 160;

/// The facts that a document states about its case.
#[derive(Debug, Clone, Default)]
pub struct CaseFacts<'t> {
    pub entities: Vec<Entity<'t>>,
    /// In the order of the document.
    pub events: Vec<CaseEvent<'t>>,
    pub deadlines: Vec<Deadline<'t>>,
    pub conflicts: Vec<Conflict>,
    /// What the document itself decides, in its order.
    pub outcomes: Vec<Outcome<'t>>,
    /// The parties at the head of the document, as the document groups them.
    pub caption: Caption,
    /// Whether a limit omitted something.
    pub truncated: bool,
}

impl<'t> CaseFacts<'t> {
    /// The people and organisations that have a role.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &Entity<'t>> {
        self.entities.iter().filter(move |it| it.roles.contains(&role))
    }

    /// Indices of `events` in order of time.
    #[must_use]
    pub fn by_time(&self) -> Vec<usize> {
        let mut list: Vec<usize> = (0..self.events.len()).collect();
        list.sort_by_key(|at| self.events.get(*at).map(|it| it.when));
        list
    }
}

/// Reads the pages of one document; finds their citations itself.
#[must_use]
pub fn read<'t>(pages: &[PageText<'t>]) -> CaseFacts<'t> {
    let joined = JoinedPages::new(pages);
    let cited = cited_spans(&joined, &cite::find(joined.text()));
    read_with(pages, &cited, &mut || ())
}

/// The number of passes that [`read_with`] makes over the pages.
pub const PASSES: usize = 2;

/// Reads the pages of one document. `cited` are the spans of citations of other cases, from
/// [`cited_spans`]. Calls `on_page` after each page of each of the [`PASSES`].
#[must_use]
pub fn read_with<'t>(
    pages: &[PageText<'t>],
    cited: &[TextSpan],
    on_page: &mut dyn FnMut(),
) -> CaseFacts<'t> {
    let mut registry = merge::EntityRegistry::default();
    let mut timeline = timeline::TimelineBuilder::default();
    let mut outcomes = outcome::OutcomeBuilder::default();
    let paper = paper::Paper::of(pages);
    let mut caption = FoundCaption::of(pages, cited);
    let mut pieces = PieceCache::default();
    pieces.for_each(pages, cited, on_page, |text, cited| {
        for finding in findings(text, cited, &mut caption) {
            registry.add(finding);
        }
        timeline.read(text, cited);
        outcomes.read(text, cited, &paper);
    });
    let probes = registry.probes();
    let mut taken: Vec<TextSpan> =
        registry.entities.iter().flat_map(|it| it.mentions.iter().map(|it| it.span)).collect();
    taken.sort_unstable_by_key(|it| (it.page, it.end, it.start));
    pieces.for_each(pages, cited, on_page, |text, cited| {
        registry.add_probed_mentions(text, cited, &probes, &taken);
    });
    registry.finish();
    timeline.finish(&paper);
    CaseFacts {
        entities: registry.entities,
        events: timeline.events,
        deadlines: timeline.deadlines,
        conflicts: timeline.conflicts,
        outcomes: outcomes.outcomes,
        caption: caption.caption,
        truncated: registry.truncated || timeline.truncated,
    }
}

/// Keeps the tokens of the first pass for the second. Tokens need about nine times the memory of
/// their text, so pieces beyond the first [`CACHED_BYTES`] are cut into tokens again.
#[derive(Default)]
struct PieceCache<'t> {
    pieces: Vec<(TokenText<'t>, Vec<bool>)>,
    bytes: usize,
}

/// Text whose tokens are kept between the passes: 4 MiB, about 1,500 pages.
const CACHED_BYTES: usize = 4 << 20;

impl<'t> PieceCache<'t> {
    /// Visits every piece of the pages with its tokens and which of them are cited.
    fn for_each(
        &mut self,
        pages: &[PageText<'t>],
        cited: &[TextSpan],
        on_page: &mut dyn FnMut(),
        mut visit: impl FnMut(&TokenText<'t>, &[bool]),
    ) {
        let mut at = 0;
        for page in pages {
            for (offset, raw) in text::pieces(page.text) {
                if let Some((text, flags)) = self.pieces.get(at) {
                    visit(text, flags);
                } else {
                    let text = TokenText::new(page.number, offset, raw);
                    let flags = cited::token_flags(&text, cited);
                    visit(&text, &flags);
                    if self.pieces.len() == at && self.bytes + raw.len() <= CACHED_BYTES {
                        self.bytes += raw.len();
                        self.pieces.push((text, flags));
                    }
                }
                at += 1;
            }
            on_page();
        }
    }
}

/// The matches of all rules in one piece, in the order of the text.
fn findings<'t>(
    text: &TokenText<'t>,
    cited: &[bool],
    caption: &mut FoundCaption<'t>,
) -> Vec<EntityMatch<'t>> {
    let reading = PieceContext::new(text, cited, caption.begins_on(text));
    let mut list = Vec::new();
    party::find(&reading, &mut list);
    list.retain(|it| caption.keeps(it));
    if caption.is_on(text.page) {
        list.append(&mut caption.matches);
    }
    let before = list.len();
    counsel::find(&reading, &mut list);
    signature::find(&reading, &mut list);
    counsel_block::find(&reading, &mut list);
    appearance::find(&reading, &mut list);
    // A party that speaks for itself signs where attorneys do.
    let known = list.split_off(before);
    let attorney = |it: &EntityMatch<'_>| it.role == Some(Role::Attorney);
    // `ФИО1` stands for a name that the court left out.
    let unnamed = |it: &EntityMatch<'_>| it.mention.quote.starts_with("ФИО") || caption.names(it);
    list.extend(known.into_iter().filter(|it| !(attorney(it) && unnamed(it))));
    judge::find(&reading, &mut list);
    correspondence::find(&reading, &mut list);
    court::find(&reading, &mut list);
    docket::find(&reading, &mut list);
    money::find(text, &mut list);
    // A county in the name of a court is not a separate organisation.
    let courts: Vec<TextSpan> =
        list.iter().filter(|it| it.kind == EntityKind::Court).map(|it| it.mention.span).collect();
    for (from, to, ground) in &reading.organisations {
        let found = EntityMatch::new(EntityKind::Organisation, text, (*from, *to), *ground);
        let span = found.mention.span;
        let after = courts.partition_point(|it| it.start <= span.start);
        let within = after.checked_sub(1).and_then(|it| courts.get(it));
        if !reading.is_cited(*from) && within.is_none_or(|it| it.end < span.end) {
            list.push(found);
        }
    }
    list.sort_by_key(|it| (it.mention.span.start, usize::MAX - it.mention.span.end));
    list
}
