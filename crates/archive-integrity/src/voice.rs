//! Tones found by the structure of a sentence rather than by a phrase: the writer as first person,
//! unnamed authorities, superlatives and judgements of whole groups. Only the word order is read;
//! the module does not resolve who is meant.

use crate::Span;
use crate::lexicon::{Tone, ToneHit};
use crate::text::Word;

const SELF: &str =
    "i we my me myself mine i'm i've i'd i'll we've we'd we're я мы мне мной мой моя мое";
const OURS: &str = "our ours us наш наша наше наши нашу нашего нашей";
const FEELINGS: &str = "feel feels felt feeling love loved loves hate hated hope hopes hoped worry \
worried sad saddened happy glad sorry proud moved touched thrilled excited heart heartbroken \
afraid ashamed delighted disappointed upset shocked angry furious grateful cry cried tears dream \
sympathize sympathise sympathy empathize pity adore enjoy enjoyed regret gut soul believer mother \
father human shaken stunned horrified appalled terrified overjoyed disgusted nervous lonely outraged heartened anxious relieved fear wish чувствую рад рада жаль люблю надеюсь боюсь сердце грустно";
const TALKS: &str = "conversation conversations chat chats discussion discussions talk talks call \
calls session sessions meeting exchange correspondence беседа беседы беседе разговор разговора";
const OFFERS: &str = "draft prepare compare look help write add send provide summarize summarise \
explain check also assist expand continue";
const CROWDS: &str = "experts expert lawyers lawyer doctors doctor scientists engineers engineer \
economists scholars judges observers critics commentators analysts specialists specialist everyone \
everybody people studies study statistics research surveys professionals practitioners physicians \
historians insiders эксперты юристы врачи специалисты исследования статистика все всем";
const AGREES: &str = "agree agrees agreed say says think thinks know knows known believe believes \
consider considers show shows shown prove proves proven would confirm confirms hold acknowledge \
accept recognize recognise suggest suggests regard claim считают знают известно согласны показывают \
доказывают утверждают";
const MANY: &str = "most many all every any some numerous no countless large scores";
const NEVER: &str = "always never invariably only exist everything nothing every themselves";
const NO_SUPERLATIVE: &str = "interest request rest west test contest protest forest guest honest \
modest earnest arrest harvest invest suggest digest nearest latest earliest northwest southwest \
midwest behest conquest inquest bequest manifest dishonest divest attest detest crest chest quest \
priest unrest wrest zest nest pest vest";

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

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

fn near(folded: &[String], at: usize, reach: usize, list: &str) -> bool {
    folded.iter().skip(at + 1).take(reach).any(|it| is_in(list, it))
}

/// The writer in the first person: feelings, offers, sales, or claims to have seen or kept
/// something.
fn own_voice(folded: &[String], words: &[Word<'_>], at: usize) -> Option<(Tone, usize)> {
    let word = folded[at].as_str();
    // «I» as a numeral: `Section I`, `Part I`, `I.`
    let figure = word == "i" && (words[at].text != "I" || !is_verbal(folded.get(at + 1)));
    let ours = is_in(OURS, word) && words[at].text != "US";
    if figure || !(is_in(SELF, word) || ours) {
        return None;
    }
    if near(folded, at, 4, FEELINGS) {
        return Some((Tone::Human, at + 1));
    }
    if near(folded, at, 3, TALKS) {
        return Some((Tone::Memory, at + 2));
    }
    if ours {
        let thing = folded.get(at + 1).is_some_and(|it| !is_in("view opinion", it));
        return thing.then_some((Tone::Interest, at + 1));
    }
    let before = at.checked_sub(1).map_or("", |it| folded[it].as_str());
    let asks = is_in("shall can could may should would let if want like", before);
    let can = folded.get(at + 1).is_some_and(|it| is_in("can could will would am", it));
    if asks || (can && near(folded, at + 1, 2, OFFERS)) {
        return Some((Tone::Offer, at + 1));
    }
    let idle = folded.get(at + 1).is_none_or(|it| is_in("think suppose guess assume", it));
    (!idle).then_some((Tone::Memory, at + 1))
}

fn is_verbal(next: Option<&String>) -> bool {
    next.is_some_and(|it| it.chars().all(char::is_alphabetic))
}

/// «Most experts agree», «studies have shown», «everybody knows».
fn crowd(folded: &[String], at: usize) -> Option<(Tone, usize)> {
    let word = folded[at].as_str();
    let before = at.checked_sub(1).map_or("", |it| folded[it].as_str());
    let bare = before.is_empty() || is_in(MANY, before) || is_in("that as in and but", before);
    if is_in(CROWDS, word) && bare {
        let verb = (at + 1..folded.len().min(at + 7)).find(|it| is_in(AGREES, &folded[*it]))?;
        return Some((Tone::Weasel, verb));
    }
    let known = is_in("widely commonly generally universally well", word)
        && folded.get(at + 1).is_some_and(|it| is_in("known accepted believed understood", it));
    known.then_some((Tone::Weasel, at + 1))
}

/// «The finest», «the most generous», «ever written».
fn superlative(folded: &[String], at: usize) -> Option<(Tone, usize)> {
    let word = folded[at].as_str();
    let next = folded.get(at + 1).map_or("", String::as_str);
    let ending = |it: &str| it.len() > 4 && it.ends_with("est") && !is_in(NO_SUPERLATIVE, it);
    let found = match word {
        "the" | "its" | "his" | "her" | "their" => {
            ending(next) || next == "best" || next == "worst"
        }
        "by" => next == "far",
        "ever" => is_in("seen been written sold made known treated recorded built heard", next),
        "has" | "have" | "was" => {
            next == "ever" || (next == "never" && near(folded, at, 4, "more"))
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
        }) && !is_in("the a an this that his her its their these those two three four", first);
    if !plural {
        return None;
    }
    let end = folded.len().min(lead + 7);
    let at = (lead..end).find(|it| {
        let next = folded.get(it + 1).map_or("", String::as_str);
        is_in(NEVER, &folded[*it])
            || (folded[*it] == "all" && next == "the")
            || (folded[*it] == "by" && next == "nature")
            || (folded[*it] == "to" && next == "blame")
    })?;
    Some((0, at))
}
