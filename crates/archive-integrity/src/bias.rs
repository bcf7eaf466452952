//! `bias`: loaded words and unequal treatment of the parties.
//!
//! Words in quotation marks and in sentences that say whose view it is do not count. Weights: a
//! loaded word 0.35 (0.15 where the source uses it too), a sweeping phrase 0.4, one side's words
//! doubted and the other's taken as proven 0.35, only one of two sides quoted 0.35.

use std::collections::BTreeMap;

use crate::actors::Actor;
use crate::honesty::own_hits;
use crate::index::Index;
use crate::lexicon::Tone;
use crate::reading::{Reading, Sentence};
use crate::report::{InsightReport, Issue, insufficient_evidence};
use crate::{Insight, Span};

/// Texts with fewer words are not tested.
const WORDS_MIN: usize = 4;

pub(crate) fn detail(insight: &Insight, reading: &Reading<'_>, index: &Index<'_>) -> InsightReport {
    let mut list = Vec::new();
    let mut sides: BTreeMap<Actor, PartyTreatment> = BTreeMap::new();
    for sentence in &reading.sentences {
        list.extend(loaded(reading, index, sentence));
        count_treatment(reading, index, sentence, &mut sides);
    }
    list.extend(unequal_treatment(reading, index, &sides));
    if reading.words.len() < WORDS_MIN {
        list.push(insufficient_evidence("the insight is too short to have a tone"));
    }
    InsightReport::new(&insight.id, list)
}

fn loaded(reading: &Reading<'_>, index: &Index<'_>, sentence: &Sentence) -> Vec<Issue> {
    let hits = own_hits(reading, sentence);
    // The words before the verb of saying are the writer's own.
    let attribution_at =
        hits.iter().filter(|it| it.tone == Tone::Attribution).map(|it| it.at).min();
    let mut list = Vec::new();
    if hits.is_empty() {
        return list;
    }
    let parties = index.actors.parties(reading, sentence);
    for hit in &hits {
        let word = reading.slice(hit.span);
        // A loaded word with a capital inside a sentence is part of a name.
        let within = hit.span.start > sentence.span.start;
        if within && word.starts_with(char::is_uppercase) && hit.tone != Tone::Sweeping {
            continue;
        }
        let reported = attribution_at.is_some_and(|it| it < hit.at);
        let (code, weight, what) = match hit.tone {
            Tone::Blame if !reported => ("loaded_blame", 0.35, "blames by its tone"),
            Tone::Praise if !reported => ("loaded_praise", 0.35, "praises by its tone"),
            Tone::Sweeping => ("sweeping", 0.4, "judges a whole group"),
            _ => continue,
        };
        let place = index.word(&word.to_lowercase());
        let weight = if place.is_some() && hit.tone != Tone::Sweeping { 0.15 } else { weight };
        let about = nearest_party(index, &parties, hit.span.start);
        let message = format!("\"{word}\" {what}{about}");
        let advice = format!("say what was done without \"{word}\", or quote who called it so");
        let found = Issue::at(reading, hit.span, code, weight, message, advice);
        list.push(found.with(place.map(|it| index.evidence(it))));
    }
    list
}

/// The party nearest to a loaded word, for the message.
fn nearest_party(index: &Index<'_>, parties: &[(Actor, Span)], byte: usize) -> String {
    let nearest = parties.iter().min_by_key(|it| it.1.start.abs_diff(byte));
    nearest.map(|it| format!(", about {}", index.actors.display_name(it.0))).unwrap_or_default()
}

/// How one party's words are treated.
#[derive(Debug, Default, Clone, Copy)]
struct PartyTreatment {
    quoted: usize,
    doubted: usize,
    proven: usize,
    at: Span,
}

/// Counts for each party that speaks in the sentence.
fn count_treatment(
    reading: &Reading<'_>,
    index: &Index<'_>,
    sentence: &Sentence,
    sides: &mut BTreeMap<Actor, PartyTreatment>,
) {
    let hits = own_hits(reading, sentence);
    if hits.is_empty() {
        return;
    }
    let parties = index.actors.parties(reading, sentence);
    let mut quoted: Vec<Actor> = Vec::new();
    for hit in hits {
        let (doubted, proven) = match hit.tone {
            Tone::Doubting => (1, 0),
            Tone::Proving => (0, 1),
            Tone::Attribution => (0, 0),
            _ => continue,
        };
        let Some((actor, _)) = parties.iter().rev().find(|it| it.1.end <= hit.span.start) else {
            continue;
        };
        let side = sides.entry(*actor).or_default();
        // Two verbs of saying in a sentence count once.
        if !quoted.contains(actor) {
            side.quoted += 1;
            quoted.push(*actor);
        }
        side.doubted += doubted;
        side.proven += proven;
        side.at = hit.span;
    }
}

fn unequal_treatment(
    reading: &Reading<'_>,
    index: &Index<'_>,
    sides: &BTreeMap<Actor, PartyTreatment>,
) -> Option<Issue> {
    let doubted = sides.iter().find(|it| it.1.doubted > 0 && it.1.proven == 0);
    let proven = sides.iter().find(|it| it.1.proven > 0 && it.1.doubted == 0);
    if let Some(((one, _), (other, side))) = doubted.zip(proven) {
        let (one, other) = (index.actors.display_name(*one), index.actors.display_name(*other));
        let message =
            format!("what {one} says is doubted and what {other} says is taken as proven");
        let advice = "use the same verb for both sides";
        return Some(Issue::at(reading, side.at, "uneven_verbs", 0.35, message, advice));
    }
    let (only, side) = sides.iter().next().filter(|it| sides.len() == 1 && it.1.quoted >= 2)?;
    let other = index.speakers().into_iter().find(|it| it != only)?;
    let (only, other) = (index.actors.display_name(*only), index.actors.display_name(other));
    let message = format!("only {only} is heard, though {other} speaks in the source too");
    let advice = format!("add what {other} says");
    Some(Issue::at(reading, side.at, "one_sided", 0.35, message, advice))
}
