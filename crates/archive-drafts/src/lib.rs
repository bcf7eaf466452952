//! Turns the pages of a legal document into drafts of insights: a summary, the cited authorities,
//! the entities, events, deadlines and contradicting days.
//!
//! Every draft has the passages it was read from, and the page's text at a passage always equals
//! its quote. The crate does no I/O, reads no clock and uses no knowledge from outside the pages.
//! Its time is linear in the text, and its output is bounded.
//!
//! # Entities
//!
//! `entities` of a draft is a JSON object. `kind` is the category's word; the rest is:
//!
//! | category | keys |
//! |---|---|
//! | `summary` | `documentType` (`complaint`, `motion`, `order`, `judgment`, `opinion`, `brief`, `letter`, `contract`, `e-mail`, … or `unknown`), `heading`, `courts`, `caseNumbers`, `parties` (`name`, `roles`), `judges`, `attorneys`, `senders`, `recipients`, `date`, `attachments`, `counts` |
//! | `citation` | `citation`, `citationKind` (`case`, `statute`, `regulation`, `journal`, `decision`), `name`, `plaintiff`, `defendant`, `volume`, `reporter`, `page`, `title`, `section`, `number`, `date`, `year`, `court` (as public tables call it, `ca6`), `pinCites`, `parallel`, `explanations`, `cited` (how often), `shortForms` (how many of these; in the deep mode) |
//! | `party` | `name`, `key`, `type` (`person`, `organisation`), `roles`, `mentions`, `written` |
//! | `attorney` | `name`, `key`, `represents` (roles), `barNumber`, `mentions`, `written` |
//! | `judge`, `court`, `case_number`, `organisation` | `name`, `key`, `mentions`, `written`; of a court that is only named as the one below, `reviewed` |
//! | `money` | `name`, `key`, `currency`, `amount` (a decimal as text), `mentions`, `written` |
//! | `event` | `event`, `subject`, `date`, `from`, `to`, `precision` (`day`, `month`, `year`, `range`), `written` |
//! | `deadline` | `count`, `unit`, `before`, `anchor`, `written`; `due`, `counted`, `countedFrom`, `counting`, `countingRule` where it could be counted, else `uncounted`; with a stated day `fixed`, `due`, `from`, `precision`, `written` |
//! | `outcome` | `outcome` (`granted`, `granted_in_part`, `denied`, `affirmed`, `affirmed_in_part`, `reversed`, `vacated`, `modified`, `remanded`, `dismissed`, `awarded`, `convicted`, `returned`, `left_without_motion`), `what`, `written` |
//! | `conflict` | `event`, `subject`, `dates` (`date`, `written`) |
//!
//! `key` is the same for all spellings of one name, so that two files can be compared.
//!
//! # Confidence
//!
//! The confidence of a draft is that of its category and its best evidence
//! (`archive_entities::Ground`), fitted on labelled papers, and `meaning` is the same in words. The confidence of a deadline is at most that of the date it is
//! counted from and 0.6 where the anchor or a holiday leaves a doubt; that of a conflict is 0.6.

mod authority;
mod builder;
mod confidence;
mod draft;
mod entity;
mod outcome;
mod summary;
mod timeline;
mod wording;

pub use draft::{
    CITATIONS_MAX, Category, DRAFTS_MAX, DocumentDrafts, Draft, DraftMode, DraftOptions,
    PASSAGES_MAX,
};

use std::borrow::Cow;

use archive_entities::{Caption, CaseEvent, EventKind};
use archive_text::{JoinedPages, PageText};
use builder::DraftBuilder;

/// Reads the pages of one file.
#[must_use]
pub fn read(pages: &[PageText<'_>], options: &DraftOptions) -> DocumentDrafts {
    read_with_progress(pages, options, &mut |_| ())
}

/// Like [`read`]; after each page it calls `watch` with the share of the work that is done, 0 to 1.
#[must_use]
pub fn read_with_progress(
    pages: &[PageText<'_>],
    options: &DraftOptions,
    watch: &mut dyn FnMut(f64),
) -> DocumentDrafts {
    let words = word_count(pages);
    if words == 0 {
        return DocumentDrafts::default();
    }
    let mut authorities = authority::CitedAuthorities::default();
    let mut names = entity::FileEntities::default();
    let mut timeline = timeline::TimelineDrafts::default();
    let mut dated: Option<CaseEvent<'_>> = None;
    let mut caption = Caption::default();
    let (mut truncated, mut citations_cut) = (false, false);
    let mut citations_left = CITATIONS_MAX;
    let (all, mut done) = (pages.len() * archive_entities::PASSES, 0_usize);
    let mut step = || {
        done += 1;
        watch(done as f64 / all as f64);
    };
    for (at, part) in parts(pages).enumerate() {
        let cited = {
            let joined = JoinedPages::new(part);
            let (citations, is_cut) = cite::find_at_most(joined.text(), citations_left);
            citations_left = citations_left.saturating_sub(citations.len());
            citations_cut |= is_cut;
            if options.citations {
                authorities.read(&joined, &citations, options.mode);
            }
            archive_entities::cited_spans(&joined, &citations)
        };
        let mut facts = archive_entities::read_with(part, &cited, &mut step);
        truncated |= facts.truncated;
        timeline.add(&facts);
        names.add(std::mem::take(&mut facts.entities));
        if at == 0 {
            caption = std::mem::take(&mut facts.caption);
            dated = facts.events.into_iter().find(|it| it.kind == EventKind::Dated);
        }
    }
    truncated |= authorities.truncated;
    let authorities = authorities.finish(pages);
    let summary = summary::draft_summary(&summary::SummaryInput {
        pages,
        own: parts(pages).next().map_or(0, <[_]>::len),
        names: &names,
        caption: &caption,
        dated,
        authorities: &authorities,
        events: timeline.events.len(),
        outcomes: &timeline.outcomes,
        deadlines: &timeline.deadlines,
        conflicts: timeline.conflicts.len(),
        words,
    });
    let mut lists: Vec<Vec<DraftBuilder>> = vec![summary.into_iter().collect(), timeline.outcomes];
    let mut processors: Vec<Cow<'static, str>> = vec!["summary".into()];
    if options.citations {
        processors.push("citations".into());
        lists.push(authorities);
    }
    if options.entities {
        processors.push("entities".into());
        let mut entities = names.drafts(pages, options.mode);
        entities.sort_by_key(|it| it.category);
        lists.extend(by_category(entities));
    }
    if options.timeline && options.mode != DraftMode::Fast {
        processors.push("timeline".into());
        lists.extend([timeline.deadlines, timeline.conflicts, timeline.events]);
    }
    let (selected, is_cut) = sorted_selection(lists);
    let drafts = builder::finish_all(pages, selected);
    DocumentDrafts { drafts, words, processors, truncated: truncated || is_cut, citations_cut }
}

fn word_count(pages: &[PageText<'_>]) -> u64 {
    pages.iter().map(|it| it.text.split_whitespace().count() as u64).sum()
}

/// At most [`DRAFTS_MAX`] drafts in the order of their categories, and whether some were left out.
fn sorted_selection(lists: Vec<Vec<DraftBuilder>>) -> (Vec<DraftBuilder>, bool) {
    let all: usize = lists.iter().map(Vec::len).sum();
    let mut selected = fair_selection(lists, DRAFTS_MAX);
    selected.sort_by_key(|it| it.category);
    let is_cut = selected.len() < all;
    (selected, is_cut)
}

/// The pages, grouped by part: the file itself, then each attachment.
fn parts<'a, 't>(pages: &'a [PageText<'t>]) -> impl Iterator<Item = &'a [PageText<'t>]> {
    pages.chunk_by(|one, next| one.part == next.part)
}

fn by_category(sorted: Vec<DraftBuilder>) -> Vec<Vec<DraftBuilder>> {
    let mut lists: Vec<Vec<DraftBuilder>> = Vec::new();
    for it in sorted {
        match lists.last_mut() {
            Some(list) if list.last().is_some_and(|last| last.category == it.category) => {
                list.push(it);
            }
            _ => lists.push(vec![it]),
        }
    }
    lists
}

/// Selects at most `most` drafts, from each list an equal share of the room that is left, so that
/// ten thousand events do not displace the parties.
fn fair_selection(mut lists: Vec<Vec<DraftBuilder>>, most: usize) -> Vec<DraftBuilder> {
    lists.sort_by_key(Vec::len);
    let mut left = most;
    let mut waiting = lists.len();
    let mut kept = Vec::new();
    for list in lists {
        let share = left / waiting.max(1);
        let before = kept.len();
        kept.extend(list.into_iter().take(share));
        left -= kept.len() - before;
        waiting -= 1;
    }
    kept
}
