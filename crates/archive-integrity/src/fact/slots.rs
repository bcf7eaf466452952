//! Compares the people of each segment and their slots with the source segments about the same
//! thing: the best supporting segment competes with the best contradicting one.

use super::{ClaimKind, FactCheck, SentencePair, Support};
use crate::Span;
use crate::actors::{self, ReadingContext, Segment, Slot};
use crate::date;
use crate::index::SourcePosition;
use crate::reading::Reading;
use crate::text::{Word, is_stop, stem};

/// The minimum similarity of two segments where both have the same two people.
const FLOOR_TWO: f64 = 0.2;
/// The minimum where only one of our people is compared.
const FLOOR_ONE: f64 = 0.42;
/// The minimum where another person is in our person's slot.
const FLOOR_OTHER_PERSON: f64 = 0.55;
/// The minimum where only one of our two people occurs.
const FLOOR_PART: f64 = 0.5;
/// The minimum where the segments share a single word.
const FLOOR_ONE_WORD: f64 = 0.4;
/// How much more similar a contradicting segment must be than a supporting one.
const MARGIN: f64 = 1.3;

impl FactCheck<'_, '_, '_> {
    /// Assigns people to slots in every sentence in order, because «she» may mean a person of the
    /// previous sentence.
    pub(super) fn people(&mut self) {
        let mut context = ReadingContext::default();
        for sentence in &self.reading.sentences {
            self.segments.push(self.index.actors.segments(self.reading, sentence, &mut context));
        }
    }

    /// The verdict of the source segments on ours, if there is one.
    pub(super) fn slots(&mut self, pair: &SentencePair<'_>) -> Option<Support> {
        let after =
            self.reading.sentences.partition_point(|it| it.span.start <= pair.sentence.span.start);
        let segments = after.checked_sub(1).and_then(|it| self.segments.get(it))?;
        let mut found: Option<(Span, Support, SourcePosition)> = None;
        for ours in segments {
            // The quotes check covers the text in quotation marks.
            let quoted = |it: &actors::Person| {
                self.reading.words.get(it.words.0).is_some_and(|it| self.reading.in_quote(it.start))
            };
            if ours.people.iter().any(quoted) {
                continue;
            }
            let stems = context(self.reading, ours);
            let Some((support, place)) = self.slot_verdict(pair, ours, &stems) else { continue };
            let Some(first) = ours.people.first() else { continue };
            let words = &self.reading.words[first.words.0..first.words.1];
            // «The contract» is no party, whatever name has the word.
            let thing =
                |it: &Word<'_>| !it.is_capital() && crate::name::is_plain(&stem(&it.fold()));
            if support == Support::Contradicted && words.iter().all(thing) {
                continue;
            }
            let (Some(one), Some(last)) = (words.first(), words.last()) else { continue };
            let span = Span { start: one.start, end: last.end };
            if found.is_none() || support == Support::Contradicted {
                found = Some((span, support, place));
            }
        }
        let (span, support, place) = found?;
        self.push(ClaimKind::Party, span, (support, Some(place)));
        Some(support)
    }

    fn reports_speech(&self, ours: &Segment) -> bool {
        let words = &self.reading.words[ours.words.0..ours.words.1];
        let hits = crate::lexicon::find(words);
        crate::lexicon::has(&hits, crate::lexicon::Tone::Attribution)
            || words.iter().any(|it| actors::is_saying(&it.fold()))
            || words.iter().any(|it| matches!(it.text, "doubts" | "doubted" | "expects" | "wants"))
    }

    fn slot_verdict(
        &self,
        pair: &SentencePair<'_>,
        ours: &Segment,
        stems: &[String],
    ) -> Option<(Support, SourcePosition)> {
        if stems.is_empty() {
            return None;
        }
        let sum = |list: &[String]| -> f64 { list.iter().map(|it| self.index.weight(it)).sum() };
        // A word that the source lacks is the writer's own.
        let own: Vec<String> =
            stems.iter().filter(|it| !self.index.has_stem(it)).cloned().collect();
        let total = sum(stems) - 0.6 * sum(&own);
        let mut ids: Vec<(usize, f64)> = Vec::new();
        for it in self.index.align(stems).iter().chain(&pair.plain).chain(&pair.aligned) {
            if !ids.iter().any(|id| id.0 == it.sentence) {
                ids.push((it.sentence, pair.score_of(it.sentence)));
            }
        }
        let mut best: [Option<(f64, SourcePosition)>; 2] = [None, None];
        for (id, alike) in ids {
            let (page, _) = self.index.sentence(id);
            for theirs in self.index.segments(id) {
                // Statements are compared with statements, and acts with acts.
                if ours.denied != theirs.denied || ours.topic.is_some() != theirs.topic.is_some() {
                    continue;
                }
                let Some((agrees, two)) = compare(ours, theirs) else { continue };
                // A caption or a label states no act.
                if !agrees && !has_content_words(page, theirs) {
                    continue;
                }
                let there = context(page, theirs);
                let shared: Vec<String> =
                    stems.iter().filter(|it| there.contains(it)).cloned().collect();
                let score = sum(&shared) / (total + 0.2 * sum(&there)).max(1.0);
                let same_person = ours
                    .people
                    .iter()
                    .any(|it| theirs.people.iter().any(|one| one.actor == it.actor));
                let floor = match (two, same_person) {
                    (true, _) => FLOOR_TWO,
                    (false, true) if !agrees && theirs.people.len() < ours.people.len() => {
                        FLOOR_PART
                    }
                    (false, true) => FLOOR_ONE,
                    (false, false) => FLOOR_OTHER_PERSON,
                };
                // «Vale blames the weather» is a statement about Vale alone.
                if !two && !agrees && ours.topic.is_none() && self.reports_speech(ours) {
                    continue;
                }
                let few = !two
                    && !same_person
                    && score < FLOOR_ONE_WORD
                    && shared.len() < stems.len().min(2);
                if score < floor || few {
                    continue;
                }
                let score = score + 0.15 * alike;
                let (first, last) = theirs.words;
                let span = Span { start: page.words[first].start, end: page.words[last - 1].end };
                let side = &mut best[usize::from(!agrees)];
                if side.is_none_or(|it| it.0 < score) {
                    *side = Some((score, self.index.place_in(id, span)));
                }
            }
        }
        match best {
            [same, Some(other)] if same.is_none_or(|it| it.0 * MARGIN < other.0) => {
                Some((Support::Contradicted, other.1))
            }
            [Some(same), _] => Some((Support::Supported, same.1)),
            _ => None,
        }
    }
}

/// The content words of a segment without the names of its people.
fn context(page: &Reading<'_>, it: &Segment) -> Vec<String> {
    let named = |at: usize| it.people.iter().any(|one| one.words.0 <= at && at < one.words.1);
    let topic = it.topic.map_or(0..0, |it| it.0..it.1);
    let own = (it.words.0..it.words.1).filter(|at| !named(*at)).chain(topic);
    let mut list: Vec<String> = Vec::new();
    for word in own.filter_map(|at| page.words.get(at)).map(Word::fold) {
        let base = stem(&word);
        let value = word.starts_with(|it: char| it.is_ascii_digit()) || date::is_month(&base);
        let idle = is_stop(&word) || crate::name::is_title(&word) || actors::is_saying(&word);
        if !value && !idle && !list.contains(&base) {
            list.push(base);
        }
    }
    list
}

/// Whether a segment has content words in lower case, as sentences do.
fn has_content_words(page: &Reading<'_>, it: &Segment) -> bool {
    let words = page.words.get(it.words.0..it.words.1).unwrap_or_default();
    words.iter().any(|it| {
        it.text.chars().count() > 2 && it.text.chars().all(char::is_lowercase) && !is_stop(it.text)
    })
}

/// Whether the people have the same slots, and whether two of them could be compared. `None` where
/// the segments do not show it.
fn compare(ours: &Segment, theirs: &Segment) -> Option<(bool, bool)> {
    // The buyer of one verb is the recipient of «sell».
    let turned = match (ours.converse, theirs.converse) {
        // The payer is the buyer.
        (Some((0, gets)), Some((1, got))) | (Some((1, gets)), Some((0, got))) => gets == got,
        (Some((one, gets)), Some((two, got))) => one == two && gets != got,
        _ => false,
    };
    // A recipient is not an agent, whatever the other verb is.
    let gets = |it: &Segment| it.converse.is_some_and(|it| it.1);
    if gets(ours) != gets(theirs) && (ours.converse.is_none() || theirs.converse.is_none()) {
        return None;
    }
    let acts = |slot: Slot| slot != Slot::Goal;
    let owned = |it: &actors::Person| it.head.as_ref().map(|head| (it.actor, head.clone()));
    let there: Vec<_> = theirs.people.iter().filter_map(owned).collect();
    for (actor, head) in ours.people.iter().filter_map(owned) {
        let mut same = there.iter().filter(|it| it.1 == head).peekable();
        let other = same.peek().is_some_and(|it| actors::comparable(it.0, actor));
        if other && same.all(|it| it.0 != actor) {
            return Some((false, true));
        }
    }
    let (mut agree, mut oppose, mut known) = (0, 0, 0);
    for it in &ours.people {
        let mut own = theirs.people.iter().filter(|one| one.actor == it.actor).peekable();
        if own.peek().is_some() {
            known += 1;
            if own.any(|one| (acts(one.slot) == acts(it.slot)) != turned) {
                agree += 1;
            } else {
                oppose += 1;
            }
            continue;
        }
        let rival = theirs.people.iter().any(|one| {
            actors::comparable(one.actor, it.actor)
                && acts(it.slot)
                && !theirs.has_pronoun_agent
                && actors::is_rival(one.actor, it.actor)
                && (acts(one.slot) == acts(it.slot)) != turned
                && one.actor != it.actor
        });
        oppose += i32::from(rival);
    }
    match (agree, oppose) {
        (0, 0) => None,
        (_, 0) => Some((true, known > 1)),
        // A state of a person proves no act; the roles check covers states.
        (0, _) if ours.is_stative => None,
        (0, _) => {
            // Different slots are a swap only where both segments have both people.
            let alone = theirs.people.len() < 2 && ours.people.len() < 2;
            let idle = known == 1 && ours.people.len() < 2 && theirs.is_stative;
            let swapped = known != 1 || oppose > 1 || !(alone || idle);
            swapped.then_some((false, known > 1))
        }
        _ => None,
    }
}
