//! Compares the day of an act with the day that the source gives for the same act: «arrested on
//! May 4» against «he was arrested on June 2».

use std::sync::LazyLock;

use super::{ClaimKind, FactCheck, SentencePair, Support};
use crate::Span;
use crate::date::{self, Date};
use crate::index::SourcePosition;
use crate::reading::{Reading, Sentence, Value};
use crate::text::{Word, is_stop, stem};

/// The most words between an act and its day.
const REACH: usize = 14;
/// The share of our words that a source sentence needs.
const SAME_MATTER: f64 = 0.5;

static ROWS: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let file = include_str!("../../data/dated_acts.txt");
    file.lines().filter(|it| !it.starts_with('#')).map(|it| it.split(' ').collect()).collect()
});

fn act(folded: &str) -> Option<usize> {
    ROWS.iter().position(|row| {
        row.iter().any(|it| match it.strip_suffix('*') {
            Some(start) => folded.starts_with(start),
            None => *it == folded,
        })
    })
}

/// An act with its day.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DatedAct {
    pub(crate) act: usize,
    pub(crate) date: Date,
    pub(crate) span: Span,
}

/// The days of a sentence, each with the act whose word is the nearest.
pub(crate) fn read(page: &Reading<'_>, sentence: &Sentence) -> Vec<DatedAct> {
    let marks = page.marks_of(sentence);
    let dates: Vec<(Date, Span)> = marks
        .iter()
        .filter_map(|it| match it.value {
            Value::Date { date, .. } => Some((date, it.span)),
            _ => None,
        })
        .collect();
    if dates.is_empty() {
        return Vec::new();
    }
    let (first, last) = sentence.words;
    let acts: Vec<(usize, usize)> =
        (first..last).filter_map(|at| Some((at, act(&page.words[at].fold())?))).collect();
    let mut list = Vec::new();
    for (date, span) in dates {
        let from = page.words.partition_point(|it| it.end <= span.start);
        let to = page.words.partition_point(|it| it.start < span.end);
        let distance = |at: usize| if at < from { from - at } else { at + 1 - to.min(at) };
        let nearest = acts.iter().min_by_key(|it| distance(it.0));
        if let Some((at, act)) = nearest.filter(|it| distance(it.0) <= REACH) {
            let _ = at;
            list.push(DatedAct { act: *act, date, span });
        }
    }
    list
}

/// Whether both dates have the same parts, and one of them differs.
fn differs(one: &Date, other: &Date) -> bool {
    let parts = |it: &Date| (it.year.is_some(), it.month.is_some(), it.day.is_some());
    parts(one).0
        && parts(other).0
        && parts(one).1
        && parts(other).1
        && !one.fits(*other)
        && !other.fits(*one)
}

impl FactCheck<'_, '_, '_> {
    pub(super) fn dated_acts(&mut self, pair: &SentencePair<'_>) {
        let index = self.index;
        for ours in read(self.reading, pair.sentence) {
            let list = index.dated.get(&ours.act).map_or(&[][..], Vec::as_slice);
            let fits = |it: &Date| it.fits(ours.date) || ours.date.fits(*it);
            if list.iter().any(|it| fits(&it.0.date)) || self.says_both(&ours) {
                continue;
            }
            let context = self.act_context(pair);
            let all: f64 = context.iter().map(|it| index.weight(it)).sum();
            let rival = list
                .iter()
                .filter(|it| differs(&it.0.date, &ours.date))
                .map(|(it, id)| {
                    let (_, there) = index.sentence(*id);
                    let shared = context.iter().filter(|it| there.stems.contains(*it));
                    let shared: f64 = shared.map(|it| index.weight(it)).sum();
                    let share = if all > 0.0 { shared / all } else { 0.0 };
                    (share, index.place_in(*id, it.span))
                })
                .max_by(|one, other| one.0.total_cmp(&other.0));
            let single = list.windows(2).all(|it| it[0].0.date == it[1].0.date);
            let Some((share, place)) = rival else { continue };
            if share >= SAME_MATTER || (single && context.is_empty()) {
                self.push(ClaimKind::Date, ours.span, (Support::Contradicted, Some(place)));
            }
        }
    }

    /// Whether a source sentence has our day and a word of our act.
    fn says_both(&self, ours: &DatedAct) -> bool {
        self.index.dates(ours.date).iter().take(64).any(|place: &SourcePosition| {
            let (page, there) = self.index.sentence(place.sentence);
            page.words_of(there).iter().any(|it| act(&it.fold()) == Some(ours.act))
        })
    }

    /// The content words of our sentence without its act, its names and its days.
    fn act_context(&self, pair: &SentencePair<'_>) -> Vec<String> {
        let names = self.name_stems(pair.sentence);
        let words = self.reading.words_of(pair.sentence).iter().map(Word::fold);
        let mut list: Vec<String> = words
            .filter(|it| act(it).is_none() && !is_stop(it))
            .map(|it| stem(&it))
            .filter(|it| !names.contains(it) && !date::is_month(it))
            .filter(|it| !it.starts_with(|it: char| it.is_ascii_digit()))
            .collect();
        list.dedup();
        list
    }
}
