//! Statements about one subject that share few words: the same title, or the topic of the test. Only
//! a reversed decision and another judge, law or court are changes there.

use std::collections::HashSet;

use super::{Statement, StatementPair};
use crate::Span;
use crate::court_facts::{self, CourtFact, is_same};
use crate::date::Date;
use crate::holding::is_related;
use crate::reading::{Reading, Value};
use crate::report::{Issue, OpinionChange};
use crate::text::{fold, is_stop, stem, words};
use crate::{Insight, drift::topic_words};

const DAY_MS: i64 = 86_400_000;
/// A date among the first words of a statement is the statement's own: «As of May 4, 2020, …».
const OWN_DATE_WORDS: usize = 4;

/// Sentences of an insight that are compared where only the subject is the same.
const SUBJECT_SENTENCES_MAX: usize = 8;

/// What an insight is about, beyond the words of its sentences.
pub(super) struct Subject {
    /// The content words of the title, in order; empty where there are fewer than two.
    title: String,
    /// Whether the title, the tags or the content name the topic of the test.
    is_on_topic: bool,
    /// The statement's own date, else the time at which the insight was stored.
    pub(super) at_ms: i64,
    /// The span of the statement's own date.
    pub(super) own_date: Option<Span>,
}

impl Subject {
    pub(super) fn new(
        insight: &Insight,
        reading: &Reading<'_>,
        topic: Option<&HashSet<String>>,
    ) -> Self {
        let content_words = words(&insight.title);
        let title: Vec<String> = content_words
            .iter()
            .map(|it| fold(it.text))
            .filter(|it| !is_stop(it))
            .map(|it| stem(&it))
            .collect();
        let named = |topic: &HashSet<String>| {
            let tags = insight.tags.iter().flat_map(|it| topic_words(it));
            let content = reading.sentences.iter().flat_map(|it| it.stems.iter().cloned());
            title.iter().cloned().chain(tags).chain(content).any(|it| topic.contains(&it))
        };
        let own = own_date(reading);
        Self {
            is_on_topic: topic.is_some_and(named),
            title: if title.len() < 2 { String::new() } else { title.join(" ") },
            at_ms: own.map_or(insight.created_ms, |it| it.0),
            own_date: own.map(|it| it.1),
        }
    }

    /// Whether two insights of different days are about one subject.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let titled = !self.title.is_empty() && self.title == other.title;
        let apart = (self.at_ms - other.at_ms).abs() >= DAY_MS / 2;
        apart && (titled || (self.is_on_topic && other.is_on_topic))
    }
}

fn own_date(reading: &Reading<'_>) -> Option<(i64, Span)> {
    let last = reading.words.get(OWN_DATE_WORDS.min(reading.words.len().checked_sub(1)?))?;
    reading.marks.iter().take_while(|it| it.span.start <= last.start).find_map(|it| {
        match it.value {
            Value::Date { date, .. } => Some((start_of(date)?, it.span)),
            _ => None,
        }
    })
}

/// Milliseconds from 1970 to the start of a day.
fn start_of(date: Date) -> Option<i64> {
    let (year, month) = (i64::from(date.year?), i64::from(date.month?));
    let day = i64::from(date.day?);
    // Years start in March, so that the leap day comes last.
    let year = if month <= 2 { year - 1 } else { year };
    let shifted_month = (month + 9) % 12;
    let of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    Some((era * 146_097 + of_era - 719_468) * DAY_MS)
}

/// The change since the latest of the earlier insights that can be compared; they are given newest
/// first.
pub(super) fn latest_change(
    insights: &[Insight],
    readings: &[Reading<'_>],
    subjects: &[Subject],
    (earlier, at): (&[usize], usize),
) -> Option<(Issue, OpinionChange)> {
    for before in earlier {
        match subject_change(insights, readings, subjects, (*before, at)) {
            SubjectChange::NotComparable => {}
            SubjectChange::Same => return None,
            SubjectChange::Changed(found) => return Some(*found),
        }
    }
    None
}

/// The first change between two insights on one subject.
fn subject_change(
    insights: &[Insight],
    readings: &[Reading<'_>],
    subjects: &[Subject],
    (before, after): (usize, usize),
) -> SubjectChange {
    let statements = |at: usize| {
        let sentences = readings[at].sentences.iter().take(SUBJECT_SENTENCES_MAX);
        sentences.map(|it| Statement::new(at, &readings[at], it)).collect::<Vec<_>>()
    };
    let (old, new) = (statements(before), statements(after));
    let mut found = SubjectChange::NotComparable;
    for after in &new {
        for before in &old {
            let pair = StatementPair { insights, readings, subjects, before, after };
            match pair.subject_change() {
                SubjectChange::NotComparable => {}
                SubjectChange::Same => found = SubjectChange::Same,
                changed => return changed,
            }
        }
    }
    found
}

/// What two statements on one subject show.
pub(super) enum SubjectChange {
    /// They have no decision and no court fact in common.
    NotComparable,
    Same,
    Changed(Box<(Issue, OpinionChange)>),
}

impl StatementPair<'_> {
    /// Compares the decisions, and the judges, laws and courts that both statements name.
    pub(super) fn subject_change(&self) -> SubjectChange {
        let (old, new) = (&self.before.sentence.polarity, &self.after.sentence.polarity);
        let mut is_same_once = false;
        for it in &new.mentions {
            let fits = |axis: usize| axis == it.axis || is_related(axis, it.axis);
            let mut same = old.mentions.iter().filter(|old| fits(old.axis)).peekable();
            is_same_once |= same.peek().is_some();
            if same.peek().is_some() && same.all(|old| old.positive != it.positive) {
                return SubjectChange::Changed(Box::new(self.change("reversed", 0.55, it.span)));
            }
        }
        let facts = |it: &Statement<'_>| {
            let found = court_facts::read(&self.readings[it.insight], it.sentence);
            found.into_iter().map(|it| (general(it.fact), it.value, it.span)).collect::<Vec<_>>()
        };
        let old = facts(self.before);
        for (fact, value, span) in facts(self.after) {
            let mut same = old.iter().filter(|it| it.0 == fact).peekable();
            is_same_once |= same.peek().is_some();
            if same.peek().is_some() && same.all(|it| !is_same(&it.1, &value)) {
                return SubjectChange::Changed(Box::new(self.change("replaced", 0.4, span)));
            }
        }
        if is_same_once { SubjectChange::Same } else { SubjectChange::NotComparable }
    }
}

/// Any judge of a case counts as its judge.
fn general(fact: CourtFact) -> CourtFact {
    match fact {
        CourtFact::Author | CourtFact::Presiding => CourtFact::Judge,
        other => other,
    }
}
