//! Pages of a legal document to drafts of insights: a summary, the authorities it cites, who and
//! what it names, what happened when, what is due and what contradicts itself.
//!
//! Every draft carries the passages it was read from, and a page's text at a passage is its quote,
//! always. No I/O, no clock, no knowledge from outside the pages; the crate `archive-integrity` can
//! check a content against the same pages. Time is linear in the text, and the output is bounded.
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
//! | `judge`, `court`, `case_number`, `organisation` | `name`, `key`, `mentions`, `written` |
//! | `money` | `name`, `key`, `currency`, `amount` (a decimal as text), `mentions`, `written` |
//! | `event` | `event`, `subject`, `date`, `from`, `to`, `precision` (`day`, `month`, `year`, `range`), `written` |
//! | `deadline` | `count`, `unit`, `before`, `anchor`, `written`; `due`, `counted`, `countedFrom`, `counting` where it could be counted, else `uncounted` |
//! | `conflict` | `event`, `subject`, `dates` (`date`, `written`) |
//!
//! `key` is what all ways to write one name have in common, so that two files can be compared.
//!
//! # Confidence
//!
//! A draft's confidence is that of the best ground it was read on (`archive_entities::Ground`), and
//! `meaning` says the same in words. A deadline that was counted is no surer than the date that
//! it was counted from, and a conflict no surer than the least of its dates.

mod authority;
mod builder;
mod draft;
mod entity;
mod genre;
mod summary;
mod timeline;
mod wording;

pub use draft::{
    CITATIONS_MAX, Category, DRAFTS_MAX, DocumentDrafts, Draft, DraftMode, DraftOptions,
    PASSAGES_MAX,
};

use std::borrow::Cow;

use archive_entities::{CaseEvent, EventKind};
use archive_text::{JoinedPages, PageText};
use builder::DraftBuilder;

/// Reads the pages of one file.
#[must_use]
pub fn read(pages: &[PageText<'_>], choice: &DraftOptions) -> DocumentDrafts {
    read_with_progress(pages, choice, &mut |_| ())
}

/// Like [`read`]; calls `watch` with the share that is done, from 0 to 1, after each page.
#[must_use]
pub fn read_with_progress(
    pages: &[PageText<'_>],
    choice: &DraftOptions,
    watch: &mut dyn FnMut(f64),
) -> DocumentDrafts {
    let words = pages.iter().map(|it| it.text.split_whitespace().count() as u64).sum();
    if words == 0 {
        return DocumentDrafts::default();
    }
    let mut authorities = authority::CitedAuthorities::default();
    let mut names = entity::FileEntities::default();
    let mut timeline = timeline::TimelineDrafts::default();
    let mut dated: Option<CaseEvent<'_>> = None;
    let mut truncated = false;
    let mut citations_left = CITATIONS_MAX;
    let mut citations_cut = false;
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
            if choice.citations {
                authorities.read(&joined, &citations, choice.mode);
            }
            archive_entities::cited_spans(&joined, &citations)
        };
        let mut casefile = archive_entities::read_with(part, &cited, &mut step);
        truncated |= casefile.truncated;
        timeline.add(&casefile);
        names.add(std::mem::take(&mut casefile.entities));
        if at == 0 {
            dated = casefile.events.into_iter().find(|it| it.kind == EventKind::Dated);
        }
    }
    truncated |= authorities.truncated;
    let authorities = authorities.finish(pages);
    let summary = summary::sketch(&summary::SummaryInput {
        pages,
        own: parts(pages).next().map_or(0, <[_]>::len),
        names: &names,
        dated,
        authorities: &authorities,
        events: timeline.events.len(),
        deadlines: &timeline.deadlines,
        conflicts: timeline.conflicts.len(),
        words,
    });
    let mut lists: Vec<Vec<DraftBuilder>> = vec![summary.into_iter().collect()];
    let mut processors: Vec<Cow<'static, str>> = vec!["summary".into()];
    if choice.citations {
        processors.push("citations".into());
        lists.push(authorities);
    }
    if choice.entities {
        processors.push("entities".into());
        let mut entities = names.sketches(pages, choice.mode);
        entities.sort_by_key(|it| it.category);
        lists.extend(by_category(entities));
    }
    if choice.timeline && choice.mode != DraftMode::Fast {
        processors.push("timeline".into());
        lists.extend([timeline.deadlines, timeline.conflicts, timeline.events]);
    }
    let all: usize = lists.iter().map(Vec::len).sum();
    let mut sketches = fit(lists, DRAFTS_MAX);
    truncated |= sketches.len() < all;
    sketches.sort_by_key(|it| it.category);
    let drafts = builder::finish_all(pages, sketches);
    DocumentDrafts { drafts, words, processors, truncated, citations_cut }
}

/// Runs of pages of one part.
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

/// Keeps at most `most` drafts and a fair share of every list, so that ten thousand events leave
/// room for the parties.
fn fit(mut lists: Vec<Vec<DraftBuilder>>, most: usize) -> Vec<DraftBuilder> {
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
