//! Checks decisions, negations and reversals: opposite words, a «not» on one side only, and words
//! of small closed sets (weekdays, left and right, first and second), each in its own clause.

use std::collections::HashSet;

mod clause_stems;

use super::{ClaimKind, FactCheck, SentencePair, Support};
use crate::Span;
use crate::holding::{Mention, Polarity, axis_name, is_opposed, is_related, related_axes};
use crate::index::{AlignedSentence, SourcePosition};
use crate::reading::{Reading, Sentence};
use crate::text::{Word, clauses, is_same_stem, is_stop, stem};
use clause_stems::clause_stems;

/// Sets of which only one word can be true of a thing.
const CLOSED: [&str; 6] = [
    "monday tuesday wednesday thursday friday saturday sunday",
    "left right",
    "northern southern eastern western north south east west",
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
    "morning afternoon evening midnight",
    "понедельник вторник среду четверг пятницу субботу воскресенье",
];
/// The weight of a word outside the clause.
const FAR_WEIGHT: f64 = 0.4;
/// The share of common words from which a decision in other words is compared with ours.
const RELATED_SHARE: f64 = 0.27;
/// The similarity from which one negated word reverses a sentence.
const REVERSED_SHARE: f64 = 0.4;
/// The share of common words from which a decision contradicts ours.
const CONTRADICTS_SHARE: f64 = 0.16;
/// Beginnings of the words that a claim about the outcome of an appeal has.
const DECIDES: [&str; 18] = [
    "court",
    "justice",
    "panel",
    "circuit",
    "board",
    "appeal",
    "judgment",
    "convict",
    "sentence",
    "order",
    "dismiss",
    "decision",
    "апелляц",
    "кассац",
    "суд",
    "решен",
    "определен",
    "постановл",
];

impl FactCheck<'_, '_, '_> {
    pub(super) fn holdings(&mut self, pair: &SentencePair<'_>) {
        let names = self.name_stems(pair.sentence);
        for mention in &pair.sentence.polarity.mentions {
            let sides = self.nearest_decisions(pair, mention, &names);
            let place = |it: (f64, usize, Span)| Some(self.index.place_in(it.1, it.2));
            let disposition = self.disposition(pair, mention);
            let answer = match sides {
                [None, _] if disposition.is_some() => {
                    disposition.unwrap_or((Support::NotFound, None))
                }
                [same, Some(other)]
                    if other.0 >= CONTRADICTS_SHARE
                        && same.is_none_or(|it| it.0 * 1.1 < other.0) =>
                {
                    (Support::Contradicted, place(other))
                }
                [Some(same), _] => (Support::Supported, place(same)),
                [None, Some(_)] => continue,
                _ if source_has_axis(self, mention.axis) => continue,
                // The parties check compares «against» alone.
                _ if axis_name(mention.axis) == "side" => continue,
                _ => (Support::NotFound, None),
            };
            self.push(ClaimKind::Holding, mention.span, answer);
        }
    }

    /// The source's decision nearest to ours on the same side, and on the other side.
    fn nearest_decisions(
        &self,
        pair: &SentencePair<'_>,
        mention: &Mention,
        names: &HashSet<String>,
    ) -> [Option<(f64, usize, Span)>; 2] {
        let near = pair.aligned.iter().filter(|it| it.score >= 0.25).map(|it| it.sentence);
        let near: Vec<usize> = near.collect();
        let on = |axis: usize| self.index.holdings.get(&axis).into_iter().flatten().copied();
        // The favoured party weighs less than the thing decided.
        let weigh = |it: &String| {
            let least = names.contains(it) || it.starts_with(|it: char| it.is_ascii_digit());
            self.index.weight(it) * if least { 0.3 } else { 1.0 }
        };
        let sum = |list: &[String]| -> f64 { list.iter().map(weigh).sum() };
        let shared = |one: &[String], two: &[String]| -> f64 {
            one.iter().filter(|it| two.contains(it)).map(weigh).sum()
        };
        let total = sum(&mention.near) + FAR_WEIGHT * sum(&mention.far);
        let mut sides: [Option<(f64, usize, Span)>; 2] = [None, None];
        // The same pair of words is compared first; related pairs only where it has no match.
        let own = near.iter().copied().chain(on(mention.axis)).take(96);
        let own = own.map(|it| (it, false));
        let related = near.iter().copied().chain(related_axes(mention.axis).flat_map(on)).take(96);
        let related = related.map(|it| (it, true));
        for (id, other) in own.chain(related) {
            if other && sides.iter().flatten().next().is_some_and(|it| it.0 >= RELATED_SHARE) {
                break;
            }
            let alike = pair.aligned.iter().find(|it| it.sentence == id);
            let alike = alike.map_or(0.0, |it| it.score);
            let there = &self.index.sentence(id).1.polarity.mentions;
            let fits = |axis: usize| {
                if other {
                    axis != mention.axis && is_related(axis, mention.axis)
                } else {
                    axis == mention.axis
                }
            };
            for it in there.iter().filter(|it| fits(it.axis)) {
                let opposed = it.positive != mention.positive;
                if opposed
                    && !(mention.is_actual
                        && it.is_actual
                        && self.may_refute(pair, mention, id, it))
                {
                    continue;
                }
                let across = shared(&mention.near, &it.far) + shared(&mention.far, &it.near);
                let weight = shared(&mention.near, &it.near) + FAR_WEIGHT * across;
                let theirs = sum(&it.near);
                let score = weight / (total + 0.4 * theirs).max(1.0) + 0.2 * alike;
                if weight <= 0.0 || (other && score < RELATED_SHARE) {
                    continue;
                }
                let side = &mut sides[usize::from(it.positive != mention.positive)];
                if side.is_none_or(|best| best.0 < score) {
                    *side = Some((score, id, it.span));
                }
            }
        }
        sides
    }

    /// What the source's own disposition says about a claim that this court affirmed or reversed.
    fn disposition(
        &self,
        pair: &SentencePair<'_>,
        mention: &Mention,
    ) -> Option<(Support, Option<SourcePosition>)> {
        let words: Vec<String> =
            self.reading.words_of(pair.sentence).iter().map(Word::fold).collect();
        let about = |it: &String| DECIDES.iter().any(|start| it.starts_with(start));
        let earlier = words.iter().any(|it| it == "had");
        let is_appeal = matches!(axis_name(mention.axis), "appeal" | "обжалование");
        if !is_appeal || !mention.is_actual || earlier || !words.iter().any(about) {
            return None;
        }
        let (positive, place) = *self.index.dispositions.first()?;
        // Where a court affirms in part, the claim may be about either part.
        if self.index.dispositions.iter().any(|it| it.0 != positive) {
            return None;
        }
        let same = positive == mention.positive;
        Some((if same { Support::Supported } else { Support::Contradicted }, Some(place)))
    }

    /// Whether a decision in a source sentence can refute ours: not where the source only reports
    /// it or stays the thing, and a consent only where both sentences have the same subject.
    fn may_refute(
        &self,
        pair: &SentencePair<'_>,
        mention: &Mention,
        id: usize,
        theirs: &Mention,
    ) -> bool {
        let (page, there) = self.index.sentence(id);
        let axis = axis_name(theirs.axis);
        let reported = reports(page, there) && !reports(self.reading, pair.sentence);
        let stays = |it: &Sentence| it.stems.iter().any(|it| it == "stay");
        if (reported && axis != "word") || stays(there) != stays(pair.sentence) {
            return false;
        }
        if axis != "consent" {
            return true;
        }
        let subject = |page: &Reading<'_>, sentence: &Sentence, end: usize| -> Vec<String> {
            let words = page.words_of(sentence).iter().filter(|it| it.end <= end).map(Word::fold);
            words.filter(|it| !is_stop(it)).map(|it| stem(&it)).collect()
        };
        let ours = subject(self.reading, pair.sentence, mention.span.start);
        let theirs = subject(page, there, theirs.span.start);
        ours.iter().any(|it| theirs.contains(it))
    }

    /// A plain «not» that only one of the two sentences has.
    pub(super) fn negation(&mut self, pair: &SentencePair<'_>) {
        let span = pair.sentence.span;
        let quotes = self.reading.quotes.iter();
        let quoted = quotes.into_iter().any(|it| it.start > span.start && it.start < span.end);
        let whole = || self.turned_sentence(pair).filter(|_| !quoted);
        let found = self.turned_clause(pair).or_else(whole).or_else(|| self.turned_word(pair));
        if let Some((here, place)) = found {
            self.push(ClaimKind::Holding, here, (Support::Contradicted, Some(place)));
        }
    }

    fn turned_sentence(&self, pair: &SentencePair<'_>) -> Option<(Span, SourcePosition)> {
        let best = pair.best().filter(|it| it.score >= 0.55)?;
        let (page, there) = self.index.sentence(best.sentence);
        let reported = reports(page, there) && !reports(self.reading, pair.sentence);
        if reported || is_of_others(&self.name_stems(pair.sentence), there) {
            return None;
        }
        let (ours, theirs) = (&pair.sentence.polarity.heads, &there.polarity.heads);
        let found = match (ours.is_empty(), theirs.is_empty()) {
            (false, true) => {
                ours.iter().find(|it| there.stems.contains(&it.0)).map(|it| (it.1, there.span))
            }
            (true, false) => theirs
                .iter()
                .find(|it| pair.sentence.stems.contains(&it.0) && !asserts(page, there, &it.0))
                .map(|it| (pair.sentence.span, it.1)),
            _ => pair
                .sentence
                .stems
                .iter()
                .any(|it| {
                    !there.stems.contains(it) && there.stems.iter().any(|at| is_opposed(it, at))
                })
                .then_some((pair.sentence.span, there.span)),
        };
        found.map(|(here, span)| (here, self.index.place_in(best.sentence, span)))
    }

    /// The source clause most similar to one of ours, if it says the opposite.
    fn turned_clause(&self, pair: &SentencePair<'_>) -> Option<(Span, SourcePosition)> {
        let names = self.name_stems(pair.sentence);
        for ours in clause_stems(self.reading, pair.sentence) {
            let inside = |it: &Span| it.start < ours.span.end && ours.span.start < it.end;
            if self.reading.quotes.iter().any(inside) {
                continue;
            }
            // The same act of another person is no reversal.
            let named: Vec<&String> = ours.stems.iter().filter(|it| names.contains(*it)).collect();
            let mut best: [(f64, Option<SourcePosition>); 2] = [(0.0, None), (0.0, None)];
            let near = self.index.align(&ours.stems);
            for id in near.iter().chain(&pair.aligned).map(|it| it.sentence) {
                let (page, there) = self.index.sentence(id);
                if reports(page, there) && !reports(self.reading, pair.sentence) {
                    continue;
                }
                for theirs in clause_stems(page, there) {
                    if !named.is_empty() && !named.iter().any(|it| theirs.stems.contains(it)) {
                        continue;
                    }
                    let Some((score, same)) = ours.against(&theirs) else { continue };
                    let side = &mut best[usize::from(!same)];
                    if score > side.0 {
                        *side = (score, Some(self.index.place_in(id, theirs.span)));
                    }
                }
            }
            if best[1].0 > best[0].0 {
                return best[1].1.map(|it| (ours.span, it));
            }
        }
        None
    }

    /// A word that one text negates and the other asserts, in any sentence that resembles ours.
    fn turned_word(&self, pair: &SentencePair<'_>) -> Option<(Span, SourcePosition)> {
        let ours = &pair.sentence.polarity.heads;
        let near: Vec<AlignedSentence> = pair.plain.iter().chain(&pair.aligned).copied().collect();
        let near: Vec<AlignedSentence> = near.into_iter().filter(|it| it.score >= 0.12).collect();
        let flat = |it: &Polarity| it.heads.is_empty() && it.mentions.iter().all(|it| it.positive);
        // «Ingrid» is not the negation of «Grid».
        let names = self.name_stems(pair.sentence);
        for word in self.reading.words_of(pair.sentence) {
            let folded = word.fold();
            let base = stem(&folded);
            let span = Span { start: word.start, end: word.end };
            // `Company Limited` is no form of «limitation».
            let opens = word.start == pair.sentence.span.start;
            let idle = is_stop(&folded) || names.contains(&base) || (word.is_capital() && !opens);
            if idle || folded.chars().count() < 4 || self.reading.in_quote(word.start) {
                continue;
            }
            let denied = ours.iter().any(|it| it.1 == span);
            let (mut other, mut same) = (None, false);
            for it in &near {
                let (page, there) = self.index.sentence(it.sentence);
                let reported = reports(page, there) && !reports(self.reading, pair.sentence);
                if reported || is_of_others(&names, there) {
                    continue;
                }
                let head = there.polarity.heads.iter().find(|it| is_same_stem(&it.0, &base));
                let inner = there.stems.iter().find(|at| is_opposed(&base, at));
                let held = there.stems.iter().any(|it| is_same_stem(it, &base));
                if head.is_none() && inner.is_none() && !held {
                    continue;
                }
                let theirs = head.is_some() || inner.is_some();
                // «Declined to enter judgment» negates the judgment too, and «may not be changed
                // orally, but may be changed in writing» says both.
                let reached = there.polarity.negated.iter().any(|it| it.0 == base);
                let both = head.is_some() && asserts(page, there, &base);
                if theirs == denied || (denied && reached) || both {
                    same = true;
                } else if it.score >= REVERSED_SHARE
                    && ((theirs && flat(&pair.sentence.polarity))
                        || (denied && flat(&there.polarity)))
                {
                    let place = head.map_or(there.span, |it| it.1);
                    other = other.or(Some(self.index.place_in(it.sentence, place)));
                }
            }
            if let Some(place) = other.filter(|_| !same) {
                return Some((span, place));
            }
        }
        None
    }

    /// The source sentences nearest to the clause of a word.
    fn clause_around(&self, pair: &SentencePair<'_>, word: &Word<'_>) -> Vec<AlignedSentence> {
        let parts = clauses(self.reading.text, self.reading.words_of(pair.sentence));
        let own = parts.iter().find(|it| it.iter().any(|it| it.start == word.start));
        let whole = parts.len() < 2;
        let (near, floor) = match own.filter(|_| !whole) {
            Some(own) => {
                let others = own.iter().filter(|it| it.start != word.start).map(Word::fold);
                let stems: Vec<String> =
                    others.filter(|it| !is_stop(it)).map(|it| stem(&it)).collect();
                (self.index.align(&stems), 0.4)
            }
            None => (pair.plain.clone(), 0.3),
        };
        near.into_iter().filter(|it| it.score >= floor).take(2).collect()
    }

    fn is_part_of_name(&self, word: &Word<'_>) -> bool {
        let at = self.reading.words.partition_point(|it| it.start <= word.start);
        let next = self.reading.words.get(at);
        word.is_capital() && next.is_some_and(|it| it.is_capital() && it.start - word.end == 1)
    }

    /// `Third party` and `first-party` are no counts.
    fn is_of_party(&self, word: &Word<'_>) -> bool {
        let at = self.reading.words.partition_point(|it| it.start <= word.start);
        self.reading.words.get(at).is_some_and(|it| it.fold().starts_with("part"))
    }

    /// Another word of a closed set in the position of ours.
    pub(super) fn closed(&mut self, pair: &SentencePair<'_>) {
        let words = self.reading.words_of(pair.sentence);
        let ours: Vec<String> = words.iter().map(Word::fold).collect();
        for (word, folded) in words.iter().zip(&ours) {
            let Some(set) = CLOSED.iter().find(|it| it.split(' ').any(|it| it == folded)) else {
                continue;
            };
            // `Fifth Circuit` is a name and no count.
            if self.is_part_of_name(word) || self.is_of_party(word) {
                continue;
            }
            let near = self.clause_around(pair, word);
            let mut rival = None;
            for it in near {
                let (page, there) = self.index.sentence(it.sentence);
                let theirs = page.words_of(there);
                if theirs.iter().any(|it| it.fold() == *folded) {
                    rival = None;
                    break;
                }
                let other = theirs.iter().enumerate().find(|(at, it)| {
                    let other = it.fold();
                    // `Second Circuit`, and «second» against «first», which begins the sentence.
                    let next = theirs.get(at + 1);
                    let named = (it.is_capital() && next.is_some_and(Word::is_capital))
                        || next.is_some_and(|it| it.fold().starts_with("part"));
                    set.split(' ').any(|it| it == other) && !ours.contains(&other) && !named
                });
                let other = other.map(|it| it.1);
                let place = other.map(|at| {
                    self.index.place_in(it.sentence, Span { start: at.start, end: at.end })
                });
                rival = rival.or(place);
            }
            if rival.is_some() {
                let span = Span { start: word.start, end: word.end };
                self.push(ClaimKind::Statement, span, (Support::Contradicted, rival));
            }
        }
    }
}

/// Whether a sentence also has a word where it is not negated.
fn asserts(page: &Reading<'_>, there: &Sentence, base: &str) -> bool {
    let negated = there.polarity.heads.iter().filter(|it| it.0 == base).count();
    let all = page.words_of(there).iter().filter(|it| stem(&it.fold()) == base).count();
    all > negated
}

/// Whether a source sentence has none of our names: the act of another person is no reversal.
fn is_of_others(names: &HashSet<String>, there: &Sentence) -> bool {
    !names.is_empty() && !names.iter().any(|it| there.stems.contains(it))
}

/// Whether a sentence gives what a party says, proposes or asks, which the court may not share.
fn reports(page: &Reading<'_>, sentence: &Sentence) -> bool {
    page.words_of(sentence).iter().any(|it| {
        let folded = it.fold();
        crate::actors::is_saying(&folded)
            || matches!(
                folded.as_str(),
                "proposition"
                    | "contention"
                    | "argument"
                    | "contend"
                    | "contends"
                    | "stating"
                    | "argues"
                    | "alleging"
                    | "theory"
                    | "suggests"
                    | "suggestion"
            )
            || ["довод", "указ", "утвержда", "полага", "счита", "просил", "просит"]
                .iter()
                .any(|start| folded.starts_with(start))
    })
}

fn source_has_axis(check: &FactCheck<'_, '_, '_>, axis: usize) -> bool {
    check.index.holdings.contains_key(&axis)
}
