//! Who, where, how much and when in a legal document: parties, attorneys, judges, courts, case
//! numbers, organisations and sums with their roles, and a timeline with deadlines and
//! contradictions, each with the place in the text that it was read from.
//!
//! It works by rules over words, in time that grows with the text and no faster, and reads English
//! first and Russian second. It does not read files, does not know the world outside the text, and
//! does not name people who have no part in the case.

mod appearance;
mod bench;
mod correspondence;
mod counsel;
mod court;
mod date;
mod deadline;
mod docket;
mod entity;
mod event;
mod finding;
mod merge;
mod money;
mod name;
mod organisation;
mod party;
mod sentence;
mod signature;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod text;
mod timeline;
mod when;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use entity::{Currency, Entity, Ground, Kind, Mention, Money, Page, Role, Span};
use finding::{Finding, Reading};
use text::Text;
pub use when::{
    Anchor, Conflict, Deadline, Due, Event, EventKind, Precision, Uncounted, Unit, When,
};

/// Entities of one document.
pub const ENTITIES_MAX: usize = 2_000;
/// Mentions that are listed of one entity; all are counted.
pub const MENTIONS_MAX: usize = 200;
/// Events of one document.
pub const EVENTS_MAX: usize = 5_000;
/// Deadlines of one document.
pub const DEADLINES_MAX: usize = 500;
/// Contradictions of one document.
pub const CONFLICTS_MAX: usize = 200;
/// The longest sentence that is quoted, in words and marks.
pub const SENTENCE_TOKENS_MAX: usize = 160;

/// What a document says about its case.
#[derive(Debug, Clone, Default)]
pub struct Casefile<'t> {
    pub entities: Vec<Entity<'t>>,
    /// In the order of the document.
    pub events: Vec<Event<'t>>,
    pub deadlines: Vec<Deadline<'t>>,
    pub conflicts: Vec<Conflict>,
    /// There was more of something than is listed.
    pub truncated: bool,
}

impl<'t> Casefile<'t> {
    /// The people and organisations that have a role.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &Entity<'t>> {
        self.entities.iter().filter(move |it| it.roles.contains(&role))
    }

    /// The events in order of time: places in `events`.
    #[must_use]
    pub fn by_time(&self) -> Vec<usize> {
        let mut list: Vec<usize> = (0..self.events.len()).collect();
        list.sort_by_key(|at| self.events.get(*at).map(|it| it.when));
        list
    }

    fn mentions(&mut self) -> impl Iterator<Item = &mut Mention<'t>> {
        let entities = self.entities.iter_mut().flat_map(|it| it.mentions.iter_mut());
        let events = self.events.iter_mut().flat_map(|it| [&mut it.date, &mut it.sentence]);
        let deadlines =
            self.deadlines.iter_mut().flat_map(|it| [&mut it.mention, &mut it.sentence]);
        entities.chain(events).chain(deadlines)
    }
}

/// Reads the pages of one document.
#[must_use]
pub fn read<'t>(pages: &[Page<'t>]) -> Casefile<'t> {
    read_watched(pages, &mut || ())
}

/// How often every page is gone through.
pub const PASSES: usize = 2;

/// The same; `watch` is called after each page of each pass.
#[must_use]
pub fn read_watched<'t>(pages: &[Page<'t>], watch: &mut dyn FnMut()) -> Casefile<'t> {
    let mut registry = merge::Registry::default();
    let mut timeline = timeline::Timeline::default();
    each_piece(pages, watch, |text, cited| {
        for finding in findings(text, cited) {
            registry.add(finding);
        }
        timeline.read(text, cited);
    });
    let probes = registry.probes();
    let mut taken: Vec<Span> =
        registry.entities.iter().flat_map(|it| it.mentions.iter().map(|it| it.span)).collect();
    taken.sort_unstable_by_key(|it| (it.index, it.end, it.start));
    each_piece(pages, watch, |text, cited| registry.look(text, cited, &probes, &taken));
    registry.finish();
    timeline.finish();
    let mut casefile = Casefile {
        entities: registry.entities,
        events: timeline.events,
        deadlines: timeline.deadlines,
        conflicts: timeline.conflicts,
        truncated: registry.truncated || timeline.truncated,
    };
    count_characters(pages, &mut casefile);
    casefile
}

fn each_piece<'t>(
    pages: &[Page<'t>],
    watch: &mut dyn FnMut(),
    mut visit: impl FnMut(&Text<'t>, &[bool]),
) {
    for (index, page) in pages.iter().enumerate() {
        for (offset, piece) in text::pieces(page.text) {
            let text = Text::new(index, page, offset, piece);
            let cited = cited(&text);
            visit(&text, &cited);
        }
        watch();
    }
}

/// Everything that the rules see in one piece, in the order of the text.
fn findings<'t>(text: &Text<'t>, cited: &[bool]) -> Vec<Finding<'t>> {
    let organisations = organisation::find(text);
    let reading = Reading { text, cited, organisations };
    let mut list = Vec::new();
    party::find(&reading, &mut list);
    counsel::find(&reading, &mut list);
    signature::find(&reading, &mut list);
    appearance::find(&reading, &mut list);
    bench::find(&reading, &mut list);
    correspondence::find(&reading, &mut list);
    court::find(&reading, &mut list);
    docket::find(&reading, &mut list);
    money::find(text, &mut list);
    // A county in the name of a court is no body of its own.
    let courts: Vec<Span> =
        list.iter().filter(|it| it.kind == Kind::Court).map(|it| it.mention.span).collect();
    for (from, to, ground) in &reading.organisations {
        let found = Finding::new(Kind::Organisation, text, (*from, *to), *ground);
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

/// Which tokens belong to citations: the parties, courts and years of other cases are not ours.
fn cited(text: &Text<'_>) -> Vec<bool> {
    let mut edges = vec![0i32; text.len() + 1];
    for it in cite::find(text.raw) {
        // A decision may be one of this case, but what a plenum resolved never is.
        let plenary = it.kind == cite::Kind::Decision && it.text.contains("Пленум");
        if matches!(it.kind, cite::Kind::Docket | cite::Kind::Decision | cite::Kind::Section)
            && !plenary
        {
            continue;
        }
        // `Case No. 2022 LA 000317` has the shape of a decision's number.
        let before = text.raw.get(..it.span.start).unwrap_or_default().trim_end();
        if ["No.", "NO.", "№", "No:", "NO:"].iter().any(|label| before.ends_with(label)) {
            continue;
        }
        let from = text.tokens.partition_point(|token| token.end <= it.full_span.start);
        let to = text.tokens.partition_point(|token| token.start < it.full_span.end);
        if let Some(edge) = edges.get_mut(from) {
            *edge += 1;
        }
        if let Some(edge) = edges.get_mut(to.max(from)) {
            *edge -= 1;
        }
    }
    let mut depth = 0;
    edges
        .iter()
        .take(text.len())
        .map(|edge| {
            depth += edge;
            depth > 0
        })
        .collect()
}

/// Bytes become characters in one walk over each page.
fn count_characters(pages: &[Page<'_>], casefile: &mut Casefile<'_>) {
    let mut places: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for it in casefile.mentions() {
        places.insert((it.span.index, it.span.start), 0);
        places.insert((it.span.index, it.span.end), 0);
    }
    let mut page = usize::MAX;
    let mut positions = cite::CharPositions::new("");
    for ((index, byte), chars) in &mut places {
        if *index != page {
            page = *index;
            positions = cite::CharPositions::new(pages.get(page).map_or("", |it| it.text));
        }
        *chars = positions.at(*byte);
    }
    for it in casefile.mentions() {
        let chars = |byte: usize| places.get(&(it.span.index, byte)).copied().unwrap_or_default();
        (it.span.char_start, it.span.char_end) = (chars(it.span.start), chars(it.span.end));
    }
}
