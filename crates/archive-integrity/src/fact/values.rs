//! Checks numbers and dates against the source: the same value, the same value in another context,
//! another value in the same context, or none.

use super::{FactCheck, SentencePair, Support};
use crate::Span;
use crate::amount::{Amount, Unit};
use crate::date::Date;
use crate::index::SourcePosition;
use crate::reading::{Reading, Sentence, Value, ValueMark};
use crate::text::{Word, is_past, is_stop, stem};

type SupportAt = (Support, Option<SourcePosition>);

/// How much less similar a sentence with our value may be than the nearest one; below that it may
/// be about another thing.
const OUR_VALUE_MARGIN: f64 = 0.6;
/// How much more similar a sentence with another value must be than the one with our value.
const OTHER_VALUE_MARGIN: f64 = 1.5;
/// The similarity from which another value of a frequent kind stands in the place of ours.
const SAME_CONTEXT: f64 = 0.5;
/// The similarity from which the nearest source sentence is about the same thing.
const SAME_MATTER: f64 = 0.35;

/// Words before a number that names a thing instead of counting it.
const LABELS: &str = "clause section article suite room page paragraph exhibit chapter claim rule \
item exclusion schedule part badge department interstate route highway unit lot apartment статьи \
статья статье пункт пункта";

/// Words that count many things in one paper.
fn is_general(folded: &str) -> bool {
    let list = "day days week weeks month months year years hour hours minute minutes time times \
people persons percent дней дня день лет года год годы месяцев месяца месяц недель недели часов часа";
    list.split(' ').any(|it| it == folded)
}

/// Words on either side of a value that show what it measures.
const NEIGHBOURS: usize = 4;

/// A plain number that may be a year.
fn is_year(it: &Amount) -> bool {
    (17_000_000..=21_000_000).contains(&it.value) && it.value.is_multiple_of(10_000)
}

fn word_before<'t>(page: &'t Reading<'_>, span: Span) -> Option<&'t str> {
    let from = page.words.partition_point(|it| it.end <= span.start);
    from.checked_sub(1).and_then(|it| page.words.get(it)).map(|it| it.text)
}

/// The number that the sentence gives as a part of this one.
fn part_of(page: &Reading<'_>, sentence: &Sentence, whole: Span) -> Option<Amount> {
    let marks = page.marks_of(sentence);
    let part = marks.iter().find(|it| page.text.get(it.span.end..whole.start) == Some(" of "))?;
    match part.value {
        Value::Amount(it) => Some(it),
        _ => None,
    }
}

impl FactCheck<'_, '_, '_> {
    pub(super) fn amount(
        &self,
        pair: &SentencePair<'_>,
        it: &Amount,
        span: Span,
    ) -> Option<SupportAt> {
        let turned = it.converted();
        let turned = turned.iter().any(|it| !self.index.amounts(it.value, 0).is_empty());
        if let Some(answer) = self.counted(pair, it, span).filter(|_| !turned) {
            return Some(answer);
        }
        let mut found: Vec<SourcePosition> = Vec::new();
        for (value, place) in self.index.amounts(it.value, it.slack.max(it.value / 20)) {
            let there = self.amount_at(*place);
            let slack = it.slack.max(there.map_or(0, |it| it.slack));
            let fits = there.is_some_and(|there| there.unit.fits(it.unit));
            if fits && value.abs_diff(it.value) <= slack {
                found.push(*place);
            }
        }
        // A year or a plain count may be part of something else in the source.
        if found.is_empty() && it.unit == Unit::Bare {
            found.extend(self.index.word(self.reading.slice(span)));
            let figures = self.reading.slice(span).replace(',', "");
            found.extend(self.index.number(&figures).filter(|_| figures.len() > 3));
        }
        // «Two later payments» may be the writer's own count.
        let text = self.reading.slice(span);
        let next = self.reading.words.partition_point(|it| it.start < span.end);
        let next = self.reading.words.get(next).map(Word::fold).unwrap_or_default();
        let parted = next == "of" || is_past(&next);
        let own = it.unit == Unit::Bare && text.chars().all(char::is_alphabetic) && !parted;
        if found.is_empty() && own {
            return None;
        }
        for other in it.converted().into_iter().filter(|_| found.is_empty()).collect::<Vec<_>>() {
            let same = self.index.amounts(other.value, 0).iter();
            let fits = |place: &SourcePosition| {
                self.amount_at(*place).is_some_and(|there| there.unit == other.unit)
            };
            found.extend(same.map(|it| it.1).filter(fits));
        }
        let rival = |mark: &ValueMark| match &mark.value {
            Value::Amount(there) => {
                there.unit == it.unit
                    && !self.says_amount(pair, there)
                    && (it.unit != Unit::Bare || is_year(it) == is_year(there))
            }
            _ => false,
        };
        let led = self.led_by(span);
        // «From $7 to $5» supports «lowered to $5», although seven has nearer words.
        if led.is_some_and(|it| matches!(it, "to" | "from" | "с" | "до")) {
            let same = |place: &&SourcePosition| {
                let (page, _) = self.index.sentence(place.sentence);
                led == word_before(page, place.span)
                    && pair.score_of(place.sentence) >= SAME_MATTER / 2.0
            };
            if let Some(place) = found.iter().find(same) {
                return Some((Support::Supported, Some(*place)));
            }
        }
        let answer = self.choose_position(pair, &found, rival);
        if let (Support::Contradicted, Some(place)) = answer {
            // Another count of years, or one of several sums, refutes only in the same context.
            let marks = self.reading.marks_of(pair.sentence).iter();
            let sums = marks.filter(|it| matches!(it.value, Value::Amount(_))).count();
            let loose = sums > 1 || is_general(&next) || next.is_empty();
            if found.is_empty() && loose && pair.score_of(place.sentence) < SAME_CONTEXT {
                return Some((Support::NotFound, None));
            }
        }
        Some(answer)
    }

    fn led_by(&self, span: Span) -> Option<&str> {
        word_before(self.reading, span)
    }

    /// The number with the exact word that it counts, `four surgeries`, or that labels it, `Suite
    /// 210`. `None` where the source does not have the word beside a number.
    fn counted(&self, pair: &SentencePair<'_>, it: &Amount, span: Span) -> Option<SupportAt> {
        let words = &self.reading.words;
        let from = words.partition_point(|it| it.end <= span.start);
        let to = words.partition_point(|it| it.start < span.end);
        let beside = |one: usize, two: usize| {
            let gap = words.get(one).zip(words.get(two)).map(|(one, two)| (one.end, two.start));
            gap.is_some_and(|(from, to)| self.reading.text.get(from..to) == Some(" "))
        };
        let label = from.checked_sub(1).filter(|it| beside(*it, from)).map(|it| words[it].fold());
        if let Some(label) = label.filter(|it| LABELS.split(' ').any(|label| label == it)) {
            return self.neighbour(it, &stem(&label), false).map(|it| (it.0, Some(it.1)));
        }
        if matches!(it.unit, Unit::Money(_) | Unit::Percent) || !beside(to.checked_sub(1)?, to) {
            return None;
        }
        let head = words.get(to).map(Word::fold)?;
        let plain = head.chars().all(char::is_alphabetic) && head.chars().count() >= 3;
        if !plain || is_stop(&head) {
            return None;
        }
        let found = self.neighbour(it, &stem(&head), true)?;
        // The same count elsewhere in the source does not prove this claim, and another count of
        // days or years elsewhere does not refute it.
        let near = !is_general(&head) || pair.score_of(found.1.sentence) >= SAME_MATTER;
        (found.0 == Support::Contradicted && near).then_some((found.0, Some(found.1)))
    }

    fn neighbour(
        &self,
        it: &Amount,
        base: &str,
        before: bool,
    ) -> Option<(Support, SourcePosition)> {
        let mut rival = None;
        for id in self.index.sentences_with(base) {
            let (page, sentence) = self.index.sentence(id);
            for at in sentence.words.0..sentence.words.1 {
                let word = &page.words[at];
                if stem(&word.fold()) != base {
                    continue;
                }
                let mark = page.marks_of(sentence).iter().find(|mark| {
                    let gap = if before {
                        page.text.get(mark.span.end..word.start)
                    } else {
                        page.text.get(word.end..mark.span.start)
                    };
                    let joined = gap.is_some_and(|it| matches!(it, " " | ") " | "-"));
                    joined && matches!(mark.value, Value::Amount(_))
                });
                let single = at.checked_sub(1).and_then(|it| page.words.get(it));
                let single = single.filter(|it| before && matches!(it.text, "one" | "single"));
                let there = match (mark, single) {
                    (Some(mark), _) => match mark.value {
                        Value::Amount(there) => (there.value, there.slack, mark.span),
                        _ => continue,
                    },
                    (None, Some(one)) => (10_000, 0, Span { start: one.start, end: one.end }),
                    (None, None) => continue,
                };
                let place = self.index.place_in(id, there.2);
                // In `18 of 96 balconies` the sentence is about eighteen.
                if part_of(page, sentence, there.2).is_some_and(|part| part.value == it.value) {
                    return Some((Support::Supported, place));
                }
                if there.0.abs_diff(it.value) <= there.1.max(it.slack) {
                    return Some((Support::Supported, place));
                }
                rival = rival.or(Some(place));
            }
        }
        rival.map(|it| (Support::Contradicted, it))
    }

    fn amount_at(&self, place: SourcePosition) -> Option<Amount> {
        let (reading, sentence) = self.index.sentence(place.sentence);
        let mark = reading.marks_of(sentence).iter().find(|it| it.span == place.span)?;
        match mark.value {
            Value::Amount(it) => Some(it),
            _ => None,
        }
    }

    /// Whether our sentence also contains the source's amount.
    fn says_amount(&self, pair: &SentencePair<'_>, there: &Amount) -> bool {
        self.reading.marks_of(pair.sentence).iter().any(|it| match &it.value {
            Value::Amount(ours) => ours.value.abs_diff(there.value) <= ours.slack.max(there.slack),
            _ => false,
        })
    }

    pub(super) fn date(
        &self,
        pair: &SentencePair<'_>,
        date: Date,
        other: Option<Date>,
    ) -> SupportAt {
        let mut found: Vec<SourcePosition> = Vec::new();
        for it in std::iter::once(date).chain(other) {
            found.extend(self.index.dates(it).iter().copied());
            if it.year.is_some() && it.day.is_some() && found.is_empty() {
                found.extend(self.yearless(it));
            }
        }
        if found.is_empty() && date.month.is_none() {
            let year = date.year.map(|it| it.to_string()).unwrap_or_default();
            found.extend(self.index.word(&year));
        }
        let ours = self.reading.marks_of(pair.sentence);
        let rival = |mark: &ValueMark| match &mark.value {
            Value::Date { date: there, .. } => {
                // A year alone is refuted by another year alone.
                let same_form = there.day.is_some() == date.day.is_some();
                let in_our_sentence = ours.iter().any(|it| match &it.value {
                    Value::Date { date, other } => {
                        std::iter::once(date).chain(other).any(|it| it.fits(*there))
                    }
                    _ => false,
                });
                same_form && !in_our_sentence
            }
            _ => false,
        };
        self.choose_position(pair, &found, rival)
    }

    /// The source has the day without a year, and the year elsewhere.
    fn yearless(&self, date: Date) -> Option<SourcePosition> {
        let year = date.year?.to_string();
        self.index.word(&year)?;
        let bare = Date { year: None, ..date };
        self.index.dates(bare).iter().copied().find(|place| {
            let (reading, sentence) = self.index.sentence(place.sentence);
            reading.marks_of(sentence).iter().any(|it| {
                it.span == place.span
                    && matches!(it.value, Value::Date { date, .. } if date.year.is_none())
            })
        })
    }

    /// Chooses between the positions of our value and those of another value.
    fn choose_position(
        &self,
        pair: &SentencePair<'_>,
        found: &[SourcePosition],
        rival: impl Fn(&ValueMark) -> bool,
    ) -> SupportAt {
        let Some(best) = pair.plain.first() else {
            return match found.first() {
                Some(place) => (Support::Supported, Some(*place)),
                None => (Support::NotFound, None),
            };
        };
        let near = found
            .iter()
            .max_by(|one, other| {
                let score = |it: &SourcePosition| pair.score_of(it.sentence);
                score(one).total_cmp(&score(other)).then(other.sentence.cmp(&one.sentence))
            })
            .copied();
        let reached = near.map_or(0.0, |it| pair.score_of(it.sentence));
        if let Some(place) = near.filter(|_| reached >= OUR_VALUE_MARGIN * best.score) {
            return match self.beside(pair, place, &rival) {
                Some(other) => (Support::Contradicted, Some(other)),
                None => (Support::Supported, Some(place)),
            };
        }
        let close = pair.plain.iter().filter(|it| {
            let floor = if near.is_some() { SAME_MATTER } else { SAME_MATTER / 2.0 };
            let share = if near.is_some() { 0.5 } else { 0.8 };
            it.score >= floor.max(share * best.score) && it.score > OTHER_VALUE_MARGIN * reached
        });
        for it in close {
            let (reading, sentence) = self.index.sentence(it.sentence);
            if let Some(mark) = reading.marks_of(sentence).iter().find(|it| rival(it)) {
                let place = self.index.place_in(it.sentence, mark.span);
                return (Support::Contradicted, Some(place));
            }
        }
        match near {
            Some(place) => (Support::Supported, Some(place)),
            None => (Support::NotFound, None),
        }
    }

    /// Another value of the same sentence whose neighbours match our words better than those of the
    /// found value.
    fn beside(
        &self,
        pair: &SentencePair<'_>,
        place: SourcePosition,
        rival: &impl Fn(&ValueMark) -> bool,
    ) -> Option<SourcePosition> {
        let (reading, sentence) = self.index.sentence(place.sentence);
        let shared = |span: Span| {
            let from = reading.words.partition_point(|it| it.end <= span.start);
            let to = reading.words.partition_point(|it| it.start < span.end);
            let first = from.saturating_sub(NEIGHBOURS).max(sentence.words.0);
            let last = (to + NEIGHBOURS).min(sentence.words.1);
            let near = reading.words[first..from].iter().chain(&reading.words[to..last.max(to)]);
            let value = |it: &&Word<'_>| {
                let marks = reading.marks_of(sentence).iter();
                let inside =
                    |mark: &ValueMark| mark.span.start <= it.start && it.end <= mark.span.end;
                marks.filter(|it| !matches!(it.value, Value::Name { .. })).any(inside)
            };
            let near = near.filter(|it| !value(it));
            near.filter(|it| pair.sentence.stems.contains(&stem(&it.fold()))).count()
        };
        let own = shared(place.span);
        let marks = reading.marks_of(sentence).iter().filter(|it| it.span != place.span);
        // «Two or three persons».
        let beside = |span: Span| {
            let (first, last) = (span.end.min(place.span.end), span.start.max(place.span.start));
            last.saturating_sub(first) <= 5
        };
        let mut others = marks.filter(|it| rival(it) && !beside(it.span));
        let other = others.find(|it| shared(it.span) > own + 1)?;
        Some(self.index.place_in(place.sentence, other.span))
    }
}
