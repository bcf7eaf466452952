//! `opinion_drift`: compares the statements of insights about one topic, oldest first.
//!
//! Two statements have the same topic if they share at least half of their content words (numbers,
//! negations and decision words excluded). A change is a difference from the nearest earlier
//! statement of another insight. Weights: a reversed decision 0.55; a tone turned from praise to
//! blame 0.5; a changed number or date, or one replaced part of the sentence, 0.4; doubt turned
//! into certainty or back 0.35. A change explained by a word such as «corrected» or by another file
//! weighs a fifth. Statements of different days under one title of two words or more, or on the
//! topic of the test, are compared even where they share fewer words. An insight without a
//! comparable statement is a warning.

mod subject;
mod values;
mod word_lists;

use std::collections::{HashMap, HashSet};

use text::WordList;

use crate::holding::{is_holding, is_opposed};
use crate::honesty::own_hits;
use crate::lexicon::{Tone, ToneHit, has};
use crate::reading::{Reading, Sentence, Value};
use crate::report::{InsightReport, Issue, OpinionChange, insufficient_evidence};
use crate::text::{Word, clip, fold, is_stop, stem, words};
use crate::{Insight, Span, TestOptions, readable};
use subject::{Subject, SubjectChange, latest_change};
use values::{day, other_amount, other_date};
use word_lists::{BAD, GOOD, HIGH, LOW};

/// Excluded from topics, because they occur beside every decision.
const NEUTRAL: [&str; 6] = ["doubt", "possible", "proceed", "fault", "refuses", "refused"];
/// Opposing sides: a decision can favour only one of them.
const RIVALS: [(&str, &str); 20] = [
    ("contractor", "owner"),
    ("supplier", "buyer"),
    ("insurer", "insured"),
    ("lessor", "lessee"),
    ("licensor", "licensee"),
    ("carrier", "shipper"),
    ("driver", "pedestrian"),
    ("перевозчик", "грузоотправитель"),
    ("заказчик", "подрядчик"),
    ("арендатор", "арендодатель"),
    ("продавец", "покупатель"),
    ("работник", "работодатель"),
    ("plaintiff", "defendant"),
    ("appellant", "appellee"),
    ("buyer", "seller"),
    ("landlord", "tenant"),
    ("employer", "employee"),
    ("lender", "borrower"),
    ("petitioner", "respondent"),
    ("истец", "ответчик"),
];

const ORDER: [&str; 7] = ["first", "second", "third", "fourth", "fifth", "last", "next"];

fn is_judging(folded: &str) -> bool {
    [&GOOD, &BAD, &HIGH, &LOW].iter().any(|it| it.contains(folded))
}

/// One sentence of one insight.
struct Statement<'a> {
    insight: usize,
    sentence: &'a Sentence,
    topic: HashSet<String>,
    /// The stems of its names.
    names: HashSet<String>,
    hits: Vec<ToneHit>,
}

/// The most statements indexed for one word; the newest replaces the oldest.
const STATEMENTS_PER_WORD_MAX: usize = 32;
/// Earlier insights among which one of the same subject is looked for.
const RECENT_MAX: usize = 64;
/// Earlier insights of one subject that are compared.
const SUBJECT_INSIGHTS_MAX: usize = 8;
/// The share of common words from which two statements have the same topic.
const SAME_TOPIC: f64 = 0.5;
/// The share from which they may be the same sentence with one part replaced.
const NEAR_TOPIC: f64 = 0.2;
/// The share of a sentence that must be unchanged for the rest to count as replaced.
const SAME_FRAME: f64 = 0.6;

pub(crate) fn check(insights: &[Insight], options: &TestOptions) -> Vec<InsightReport> {
    let readings: Vec<Reading<'_>> =
        insights.iter().map(|it| Reading::new(readable(&it.content))).collect();
    let mut details: Vec<InsightReport> =
        insights.iter().map(|it| InsightReport::new(&it.id, Vec::new())).collect();
    let mut compared = vec![false; insights.len()];
    let topic: Option<HashSet<String>> = options.topic.as_deref().map(topic_words);
    let subjects: Vec<Subject> = insights
        .iter()
        .zip(&readings)
        .map(|(it, reading)| Subject::new(it, reading, topic.as_ref()))
        .collect();
    let mut order: Vec<usize> = (0..insights.len()).collect();
    order.sort_by_key(|it| (subjects[*it].at_ms, *it));
    let mut earlier = StatementIndex::default();
    let mut recent: Vec<usize> = Vec::new();
    for at in order {
        let reading = &readings[at];
        let mut statements = Vec::new();
        for sentence in &reading.sentences {
            let statement = Statement::new(at, reading, sentence);
            let about_topic = topic.as_ref().is_none_or(|it| !it.is_disjoint(&statement.topic));
            if statement.topic.len() < 2 || !about_topic {
                continue;
            }
            if let Some((before, share)) = earlier.nearest(&statement) {
                let pair = StatementPair {
                    insights,
                    readings: &readings,
                    subjects: &subjects,
                    before,
                    after: &statement,
                };
                if let Some(changes) = pair.compare(share) {
                    (compared[at], compared[before.insight]) = (true, true);
                    for (finding, change) in changes {
                        details[at].findings.push(finding);
                        details[at].changes.push(change);
                    }
                }
            }
            statements.push(statement);
        }
        for it in statements {
            earlier.add(it);
        }
        if details[at].findings.is_empty() {
            let same = recent.iter().rev().filter(|it| subjects[**it].is_same(&subjects[at]));
            let same: Vec<usize> = same.take(SUBJECT_INSIGHTS_MAX).copied().collect();
            for before in &same {
                (compared[at], compared[*before]) = (true, true);
            }
            let found = latest_change(insights, &readings, &subjects, (&same, at));
            if let Some((finding, change)) = found {
                details[at].findings.push(finding);
                details[at].changes.push(change);
            }
        }
        recent.push(at);
        if recent.len() > RECENT_MAX {
            recent.remove(0);
        }
    }
    for (detail, compared) in details.iter_mut().zip(compared) {
        if !compared {
            detail
                .findings
                .push(insufficient_evidence("no other insight speaks of the same thing"));
        }
    }
    details
}

fn topic_words(topic: &str) -> HashSet<String> {
    let all = words(topic);
    all.iter().map(|it| fold(it.text)).filter(|it| !is_stop(it)).map(|it| stem(&it)).collect()
}

impl<'a> Statement<'a> {
    fn new(insight: usize, reading: &Reading<'_>, sentence: &'a Sentence) -> Self {
        let hits = own_hits(reading, sentence);
        // Doubt, tone, numbers and dates are compared separately, so they are not part of the
        // topic.
        let marks = reading.marks_of(sentence).iter();
        let values = marks.filter(|it| matches!(it.value, Value::Amount(_) | Value::Date { .. }));
        let apart: Vec<Span> = hits
            .iter()
            .filter(|it| it.tone != Tone::Interest)
            .map(|it| it.span)
            .chain(values.map(|it| it.span))
            .collect();
        let own = reading.words_of(sentence);
        let topic = own
            .iter()
            .filter(|it| !apart.iter().any(|at| at.start <= it.start && it.end <= at.end))
            .map(Word::fold)
            .filter(|it| !is_stop(it) && !is_holding(it))
            .filter(|it| !it.starts_with(|it: char| it.is_ascii_digit()))
            .filter(|it| !is_judging(it) && !NEUTRAL.contains(&it.as_str()))
            .map(|it| stem(&it))
            .collect();
        let names = reading.marks_of(sentence).iter().flat_map(|it| match &it.value {
            Value::Name { tokens, .. } => tokens.iter().map(|it| stem(it)).collect(),
            _ => Vec::new(),
        });
        Self { insight, sentence, topic, names: names.collect(), hits }
    }

    fn amounts(&self, reading: &Reading<'_>) -> Vec<(crate::amount::Amount, Span)> {
        let marks = reading.marks_of(self.sentence).iter();
        marks
            .filter_map(|it| match it.value {
                Value::Amount(amount) => Some((amount, it.span)),
                _ => None,
            })
            .collect()
    }

    fn dates(&self, reading: &Reading<'_>) -> Vec<(crate::date::Date, Span)> {
        let marks = reading.marks_of(self.sentence).iter();
        marks
            .filter_map(|it| match it.value {
                Value::Date { date, .. } => Some((date, it.span)),
                _ => None,
            })
            .collect()
    }
}

#[derive(Default)]
struct StatementIndex<'a> {
    statements: Vec<Statement<'a>>,
    by_word: HashMap<String, Vec<usize>>,
}

impl<'a> StatementIndex<'a> {
    fn add(&mut self, statement: Statement<'a>) {
        let id = self.statements.len();
        for word in &statement.topic {
            let list = self.by_word.entry(word.clone()).or_default();
            if list.len() >= STATEMENTS_PER_WORD_MAX {
                list.remove(0);
            }
            list.push(id);
        }
        self.statements.push(statement);
    }

    /// The earlier statement with the largest share of common words, the newest of equals.
    fn nearest(&self, statement: &Statement<'_>) -> Option<(&Statement<'a>, f64)> {
        let mut shared: HashMap<usize, u32> = HashMap::new();
        for word in &statement.topic {
            for id in self.by_word.get(word).into_iter().flatten() {
                *shared.entry(*id).or_default() += 1;
            }
        }
        let share = |id: usize, count: u32| {
            let sizes = statement.topic.len() + self.statements[id].topic.len();
            let both = f64::from(u32::try_from(sizes).unwrap_or(u32::MAX)) - f64::from(count);
            f64::from(count) / both.max(1.0)
        };
        let best = shared
            .into_iter()
            .filter(|(id, _)| {
                // «The first payment» and «the second payment» are different things.
                let order = |it: &Statement<'_>| -> Vec<String> {
                    let stems = it.sentence.stems.iter();
                    stems.filter(|it| ORDER.contains(&it.as_str())).cloned().collect()
                };
                order(&self.statements[*id]) == order(statement)
            })
            .filter(|(id, _)| self.statements[*id].insight != statement.insight)
            .map(|(id, count)| (share(id, count), id))
            .max_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)))?;
        (best.0 >= NEAR_TOPIC).then(|| (&self.statements[best.1], best.0))
    }
}

/// An earlier and a later statement on the same topic.
struct StatementPair<'a> {
    insights: &'a [Insight],
    readings: &'a [Reading<'a>],
    subjects: &'a [Subject],
    before: &'a Statement<'a>,
    after: &'a Statement<'a>,
}

impl StatementPair<'_> {
    /// The changes, where the two are about one thing: they share words, a frame or a name.
    fn compare(&self, share: f64) -> Option<Vec<(Issue, OpinionChange)>> {
        let replaced = self.replaced();
        if share >= SAME_TOPIC || replaced {
            return Some(self.changes(replaced));
        }
        // Statements that share a name and few other words are compared by decision only.
        let named = !self.before.names.is_disjoint(&self.after.names);
        named.then(|| match self.subject_change() {
            SubjectChange::Changed(found) => vec![*found],
            _ => Vec::new(),
        })
    }

    fn changes(&self, replaced: bool) -> Vec<(Issue, OpinionChange)> {
        let mut list = Vec::new();
        if let Some(at) = self.reversed() {
            list.push(self.change("reversed", 0.55, at));
        }
        let (then, now) = (&self.readings[self.before.insight], &self.readings[self.after.insight]);
        if let Some(at) = other_amount(&self.before.amounts(then), &self.after.amounts(now)) {
            list.push(self.change("number_changed", 0.4, at));
        }
        let dates = |it: &Statement<'_>, reading: &Reading<'_>| {
            let own = self.subjects[it.insight].own_date;
            let all = it.dates(reading).into_iter();
            all.filter(|it| Some(it.1) != own).collect::<Vec<_>>()
        };
        if let Some(at) = other_date(&dates(self.before, then), &dates(self.after, now)) {
            list.push(self.change("date_changed", 0.4, at));
        }
        let (old, new) = (&self.before.hits, &self.after.hits);
        let opposed = |one: Tone, two: Tone| has(old, one) && has(new, two) && !has(old, two);
        if opposed(Tone::Blame, Tone::Praise) || opposed(Tone::Praise, Tone::Blame) {
            list.push(self.change("tone_turned", 0.5, self.after.sentence.span));
        }
        if opposed(Tone::Hedge, Tone::Certain) || opposed(Tone::Certain, Tone::Hedge) {
            list.push(self.change("certainty_changed", 0.35, self.after.sentence.span));
        }
        if list.is_empty() && replaced {
            list.push(self.change("replaced", 0.4, self.after.sentence.span));
        }
        list
    }

    /// The same sentence with one part replaced and its subject unchanged.
    fn replaced(&self) -> bool {
        let (old, new) = (self.folded(self.before), self.folded(self.after));
        let front = old.iter().zip(&new).take_while(|(one, two)| one == two).count();
        let room = old.len().min(new.len()) - front;
        let back = old.iter().rev().zip(new.iter().rev());
        let back = back.take(room).take_while(|(one, two)| one == two).count();
        let (gone, come) = (&old[front..old.len() - back], &new[front..new.len() - back]);
        let telling = |list: &[String]| -> Vec<String> {
            list.iter().filter(|it| !is_stop(it)).cloned().collect()
        };
        let (gone, come) = (telling(gone), telling(come));
        let count = |it: usize| f64::from(u32::try_from(it).unwrap_or(u32::MAX));
        let unchanged_share = count(front + back) / count(old.len().max(new.len()).max(1));
        let alike = |list: &WordList| {
            gone.iter().any(|it| list.contains(it)) && come.iter().any(|it| list.contains(it))
        };
        let same = [&GOOD, &BAD, &HIGH, &LOW].iter().any(|it| alike(it));
        let stems = |list: &[String]| -> Vec<String> { list.iter().map(|it| stem(it)).collect() };
        // Numbers, dates and doubts have their own weights.
        let figure = |it: &String| it.starts_with(|it: char| it.is_ascii_digit());
        let values = gone.iter().chain(&come).any(figure);
        let toned = has(&self.before.hits, Tone::Hedge) && has(&self.after.hits, Tone::Hedge);
        let short = (1..=3).contains(&gone.len()) && (1..=3).contains(&come.len());
        let valued = |it: &Statement<'_>| {
            let reading = &self.readings[it.insight];
            !it.amounts(reading).is_empty() || !it.dates(reading).is_empty()
        };
        let counted = valued(self.before) && valued(self.after) && front + back < old.len() / 2;
        front >= 2
            && unchanged_share >= SAME_FRAME
            && short
            && !same
            && !values
            && !counted
            && stems(&gone) != stems(&come)
            && !(toned && gone.len() == 1 && come.len() == 1)
    }

    /// A decision or a negation that is reversed.
    fn reversed(&self) -> Option<Span> {
        let (old, new) = (&self.before.sentence.polarity, &self.after.sentence.polarity);
        for it in &new.mentions {
            let mut same = old.mentions.iter().filter(|old| old.axis == it.axis).peekable();
            if same.peek().is_some() && same.all(|old| old.positive != it.positive) {
                return Some(it.span);
            }
        }
        if !new.mentions.is_empty() && !old.mentions.is_empty() {
            return None;
        }
        if self.judgement_reversed() || self.favours_other_side() {
            return Some(self.after.sentence.span);
        }
        let stems = |sentence: &Sentence, word: &String| sentence.stems.contains(word);
        match (old.negated.is_empty(), new.negated.is_empty()) {
            (true, false) => {
                let it = new.negated.iter().find(|it| stems(self.before.sentence, &it.0));
                it.map(|it| it.1)
            }
            (false, true) => {
                let it = old.negated.iter().find(|it| stems(self.after.sentence, &it.0));
                it.map(|_| self.after.sentence.span)
            }
            _ => None,
        }
    }

    fn folded(&self, it: &Statement<'_>) -> Vec<String> {
        self.readings[it.insight].words_of(it.sentence).iter().map(Word::fold).collect()
    }

    /// A good word turned into a bad one, or a word into the same word with a negating prefix.
    fn judgement_reversed(&self) -> bool {
        let (old, new) = (self.folded(self.before), self.folded(self.after));
        let has = |words: &[String], list: &WordList| words.iter().any(|it| list.contains(it));
        let reversed = |one: &WordList, two: &WordList| {
            has(&old, one) && has(&new, two) && !has(&old, two) && !has(&new, one)
        };
        let plain = self.before.sentence.polarity.negated.is_empty()
            == self.after.sentence.polarity.negated.is_empty();
        let opposed = old.iter().any(|it| {
            !new.contains(it) && new.iter().any(|at| !old.contains(at) && is_opposed(it, at))
        });
        let judged = reversed(&GOOD, &BAD) || reversed(&BAD, &GOOD);
        plain && (judged || reversed(&HIGH, &LOW) || reversed(&LOW, &HIGH) || opposed)
    }

    /// A verdict that favoured one side and now favours the other.
    fn favours_other_side(&self) -> bool {
        let (old, new) = (self.folded(self.before), self.folded(self.after));
        let only = |words: &[String], one: &str, two: &str| {
            words.iter().any(|it| it == one) && !words.iter().any(|it| it == two)
        };
        RIVALS.iter().any(|(one, two)| {
            (only(&old, one, two) && only(&new, two, one))
                || (only(&old, two, one) && only(&new, one, two))
        })
    }

    fn is_explained(&self) -> bool {
        let corrected = self.readings[self.after.insight]
            .sentences
            .iter()
            .any(|it| has(&own_hits(&self.readings[self.after.insight], it), Tone::Correction));
        let files = |at: usize| -> HashSet<&str> {
            self.insights[at].sources.iter().map(|it| it.file_hash.as_str()).collect()
        };
        let (old, new) = (files(self.before.insight), files(self.after.insight));
        corrected || (!old.is_empty() && !new.is_empty() && old.is_disjoint(&new))
    }

    fn change(&self, what: &'static str, weight: f64, at: Span) -> (Issue, OpinionChange) {
        let (then, now) = (&self.insights[self.before.insight], &self.insights[self.after.insight]);
        let (old, new) = (&self.readings[self.before.insight], &self.readings[self.after.insight]);
        let from = clip(old.slice(self.before.sentence.span), 300);
        let explained = self.is_explained();
        let weight = if explained { weight / 5.0 } else { weight };
        let reason = if explained { ", and says why" } else { "" };
        let message = format!(
            "{} since insight {} of {}, which had \"{}\"{reason}",
            what.replace('_', " "),
            then.id,
            day(self.subjects[self.before.insight].at_ms),
            clip(&from, 160),
        );
        let advice =
            format!("say what changed since insight {}, or bring the two together", then.id);
        let change = OpinionChange {
            what,
            earlier_id: then.id.clone(),
            later_id: now.id.clone(),
            earlier_ms: self.subjects[self.before.insight].at_ms,
            later_ms: self.subjects[self.after.insight].at_ms,
            from,
            to: clip(new.slice(self.after.sentence.span), 300),
            explained,
        };
        (Issue::at(new, at, what, weight, message, advice), change)
    }
}
