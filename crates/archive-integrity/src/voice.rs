//! Tones found by the structure of a sentence rather than by a phrase: the writer as first person,
//! unnamed authorities, superlatives and judgements of whole groups. Only the word order is read;
//! the module does not resolve who is meant.

use std::sync::LazyLock;

use text::WordList;

use crate::Span;
use crate::lexicon::{Tone, ToneHit};
use crate::text::Word;

static SELF: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/voice_self.txt")));
static OURS: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/voice_ours.txt")));
static FEELINGS: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/voice_feelings.txt")));
static TALKS: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/voice_talks.txt")));
static OFFERS: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/voice_offers.txt")));
static CROWDS: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/voice_crowds.txt")));
static AGREES: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/voice_agrees.txt")));
static MANY: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/voice_many.txt")));
static NEVER: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/voice_never.txt")));
static NO_SUPERLATIVE: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/voice_no_superlative.txt")));

/// The hits among the lower-case words of one sentence.
pub(crate) fn find(folded: &[String], words: &[Word<'_>]) -> Vec<ToneHit> {
    let mut list = Vec::new();
    for at in 0..folded.len() {
        let found = own_voice(folded, words, at)
            .or_else(|| crowd(folded, at))
            .or_else(|| superlative(folded, at));
        if let Some((tone, end)) = found {
            let end = end.min(words.len() - 1);
            list.push(ToneHit {
                tone,
                span: Span { start: words[at].start, end: words[end].end },
                at,
            });
        }
    }
    if let Some((at, end)) = group(folded, words) {
        let span = Span { start: words[at].start, end: words[end].end };
        list.push(ToneHit { tone: Tone::Sweeping, span, at });
    }
    list
}

fn near(folded: &[String], at: usize, reach: usize, list: &WordList) -> bool {
    folded.iter().skip(at + 1).take(reach).any(|it| list.contains(it))
}

/// The writer in the first person: feelings, offers, sales, or claims to have seen or kept
/// something.
fn own_voice(folded: &[String], words: &[Word<'_>], at: usize) -> Option<(Tone, usize)> {
    let word = folded[at].as_str();
    // «I» as a numeral: `Section I`, `Part I`, `I.`
    let figure = word == "i" && (words[at].text != "I" || !is_verbal(folded.get(at + 1)));
    let ours = OURS.contains(word) && words[at].text != "US";
    if figure || !(SELF.contains(word) || ours) {
        return None;
    }
    if near(folded, at, 4, &FEELINGS) {
        return Some((Tone::Human, at + 1));
    }
    if near(folded, at, 3, &TALKS) {
        return Some((Tone::Memory, at + 2));
    }
    if ours {
        let thing = folded.get(at + 1).is_some_and(|it| !matches!(it.as_str(), "view" | "opinion"));
        return thing.then_some((Tone::Interest, at + 1));
    }
    let before = at.checked_sub(1).map_or("", |it| folded[it].as_str());
    let asks = matches!(
        before,
        "shall" | "can" | "could" | "may" | "should" | "would" | "let" | "if" | "want" | "like"
    );
    let can = folded
        .get(at + 1)
        .is_some_and(|it| matches!(it.as_str(), "can" | "could" | "will" | "would" | "am"));
    if asks || (can && near(folded, at + 1, 2, &OFFERS)) {
        return Some((Tone::Offer, at + 1));
    }
    let idle = folded
        .get(at + 1)
        .is_none_or(|it| matches!(it.as_str(), "think" | "suppose" | "guess" | "assume"));
    (!idle).then_some((Tone::Memory, at + 1))
}

fn is_verbal(next: Option<&String>) -> bool {
    next.is_some_and(|it| it.chars().all(char::is_alphabetic))
}

/// «Most experts agree», «studies have shown», «everybody knows».
fn crowd(folded: &[String], at: usize) -> Option<(Tone, usize)> {
    let word = folded[at].as_str();
    let before = at.checked_sub(1).map_or("", |it| folded[it].as_str());
    let bare = before.is_empty()
        || MANY.contains(before)
        || matches!(before, "that" | "as" | "in" | "and" | "but");
    if CROWDS.contains(word) && bare {
        let verb = (at + 1..folded.len().min(at + 7)).find(|it| AGREES.contains(&folded[*it]))?;
        return Some((Tone::Weasel, verb));
    }
    let known = matches!(word, "widely" | "commonly" | "generally" | "universally" | "well")
        && folded.get(at + 1).is_some_and(|it| {
            matches!(it.as_str(), "known" | "accepted" | "believed" | "understood")
        });
    known.then_some((Tone::Weasel, at + 1))
}

/// «The finest», «the most generous», «ever written».
fn superlative(folded: &[String], at: usize) -> Option<(Tone, usize)> {
    let word = folded[at].as_str();
    let next = folded.get(at + 1).map_or("", String::as_str);
    let ending = |it: &str| it.len() > 4 && it.ends_with("est") && !NO_SUPERLATIVE.contains(it);
    let found = match word {
        "the" | "its" | "his" | "her" | "their" => {
            ending(next) || next == "best" || next == "worst"
        }
        "by" => next == "far",
        "ever" => matches!(
            next,
            "seen"
                | "been"
                | "written"
                | "sold"
                | "made"
                | "known"
                | "treated"
                | "recorded"
                | "built"
                | "heard"
        ),
        "has" | "have" | "was" => {
            next == "ever"
                || (next == "never" && folded.iter().skip(at + 1).take(4).any(|it| it == "more"))
        }
        _ => false,
    };
    found.then_some((Tone::Superlative, at + 1))
}

/// A bare plural that opens a sentence and is judged as a whole: «Landlords never …».
fn group(folded: &[String], words: &[Word<'_>]) -> Option<(usize, usize)> {
    let first = folded.first()?;
    let plural = first.len() > 4 && first.ends_with('s') && !first.ends_with("ss");
    let lead = if plural { 1 } else { 2 };
    let plural = plural
        || folded.get(1).is_some_and(|it| {
            let second = &words[1];
            !second.is_capital() && it.len() > 4 && it.ends_with('s') && !it.ends_with("ss")
        }) && !matches!(
            first.as_str(),
            "the"
                | "a"
                | "an"
                | "this"
                | "that"
                | "his"
                | "her"
                | "its"
                | "their"
                | "these"
                | "those"
                | "two"
                | "three"
                | "four"
        );
    if !plural {
        return None;
    }
    let end = folded.len().min(lead + 7);
    let at = (lead..end).find(|it| {
        let next = folded.get(it + 1).map_or("", String::as_str);
        NEVER.contains(&folded[*it])
            || (folded[*it] == "all" && next == "the")
            || (folded[*it] == "by" && next == "nature")
            || (folded[*it] == "to" && next == "blame")
    })?;
    Some((0, at))
}
