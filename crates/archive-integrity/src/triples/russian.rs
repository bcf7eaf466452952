//! Russian: a participant fills a side by its preposition or by its case, which the endings of
//! names and of words for roles show. A form that two cases share stays open.

use super::lexicon::{RUSSIAN, RussianPhrase};
use super::references::Reference;
use super::{Filler, Triple, context};
use crate::reading::{Reading, Sentence};

/// The most words between a verb and a participant.
const REACH: usize = 12;
const PREPOSITIONS: &str =
    "к ко с со у от из для против по о об за при между через до на перед в во";

pub(super) fn triples(
    page: &Reading<'_>,
    sentence: &Sentence,
    references: &[Reference],
) -> Vec<Triple> {
    let mut list = Vec::new();
    for at in sentence.words.0..sentence.words.1 {
        let Some(word) = page.words.get(at) else { break };
        if !word.text.starts_with(|it: char| it.is_alphabetic() && !it.is_ascii()) {
            continue;
        }
        let folded = word.fold();
        let named = references.iter().any(|it| it.from <= at && at < it.to);
        let fits = |it: &&RussianPhrase| {
            it.words.iter().any(|it| match it.strip_suffix('*') {
                Some(start) => folded.starts_with(start),
                None => folded == *it,
            })
        };
        for phrase in RUSSIAN.iter().filter(fits).filter(|_| !named) {
            list.extend(triple(page, sentence, references, (at, phrase)));
        }
    }
    list
}

fn triple(
    page: &Reading<'_>,
    sentence: &Sentence,
    references: &[Reference],
    (at, phrase): (usize, &RussianPhrase),
) -> Option<Triple> {
    let near = |it: &&Reference| it.from.abs_diff(at) <= REACH && !crosses(page, at, it.from);
    let mut sides = [Filler::Absent, Filler::Absent];
    for it in references.iter().filter(near) {
        let Some(who) = &it.who else { continue };
        for (side, form) in phrase.sides.iter().enumerate() {
            let Some(form) = form else { continue };
            if fills(page, it, form, sentence.words.0)
                && let Some(place) = sides.get_mut(side).filter(|it| **it == Filler::Absent)
            {
                *place = Filler::Known(who.clone());
            }
        }
    }
    let both = sides.iter().all(|it| it.known().is_some());
    let single = phrase.sides.iter().flatten().count() == 1;
    if !(both || single && sides.iter().any(|it| it.known().is_some())) {
        return None;
    }
    let denied = at.checked_sub(1).is_some_and(|it| page.words[it].fold() == "не");
    let words = sentence.words;
    let context = context(page, words, references, at);
    Some(Triple { act: phrase.act, sides, denied, words, context })
}

/// Whether a mark that divides clauses stands between two words.
fn crosses(page: &Reading<'_>, one: usize, other: usize) -> bool {
    let (from, to) = (one.min(other), one.max(other));
    let ends = page.words.get(from).zip(page.words.get(to)).map(|(one, two)| (one.end, two.start));
    ends.is_some_and(|(from, to)| page.text.get(from..to).is_some_and(|it| it.contains(';')))
}

/// Whether a participant has this preposition or case.
fn fills(page: &Reading<'_>, it: &Reference, form: &str, first: usize) -> bool {
    let before = |back: usize| {
        let at = it.from.checked_sub(back).filter(|at| *at >= first);
        at.and_then(|at| page.words.get(at)).map(crate::text::Word::fold).unwrap_or_default()
    };
    // «к ООО «Вал»», «к ответчику Валу»: the form of a company or a role stands between.
    let leads: Vec<String> = (1..=3).map(before).collect();
    let preposition = leads.iter().find(|it| PREPOSITIONS.split(' ').any(|one| one == **it));
    if form == "польз" {
        return leads.iter().any(|it| it.starts_with("польз"));
    }
    let Some(word) = page.words.get(it.from).map(crate::text::Word::fold) else { return false };
    match form {
        "nom" | "gen" | "dat" | "acc" | "ins" => {
            preposition.is_none() && case(&word).is_some_and(|it| it == form)
        }
        other => preposition.is_some_and(|it| it == other || (other == "с" && it == "со")),
    }
}

/// The case of a word for a role; `None` for names, whose endings depend on their gender, and for
/// endings that two cases share.
fn case(word: &str) -> Option<&'static str> {
    super::participants::group(word)?;
    let ends = |list: &[&str]| list.iter().any(|it| word.ends_with(it));
    if ends(&["ия"]) {
        Some("nom")
    } else if ends(&["ии"]) {
        Some("dat")
    } else if ends(&["ию"]) {
        Some("acc")
    } else if ends(&["ом", "ем", "ами", "ями"]) {
        Some("ins")
    } else if ends(&["у", "ю", "ам", "ям"]) {
        Some("dat")
    } else if ends(&["а", "я", "ов", "ей"]) {
        Some("gen")
    } else if ends(&["ец", "ик", "ор", "ль", "ы", "и"]) {
        Some("nom")
    } else {
        None
    }
}
