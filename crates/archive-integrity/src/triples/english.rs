//! English: the subject is found by walking back from the verb over auxiliaries and adverbs, the
//! other side by walking forward over articles and prepositions. Every other word ends the walk.

use super::lexicon::{ENGLISH, Phrase};
use super::references::Reference;
use super::{Filler, Triple, context};
use crate::reading::{Reading, Sentence};
use crate::text::is_past;

const BE: &str = "is was are were be been being am";
const HAVE: &str = "has had have having did does do get got gets";
const MODALS: &str = "will shall would may must can could should might";
const DENIALS: &str = "not never neither nor cannot didn't doesn't don't wasn't isn't won't hasn't \
hadn't weren't aren't couldn't wouldn't shouldn't can't";
/// Words between a subject and its verb that change nothing.
const ADVERBS: &str = "also then later first only again thus hereby therefore already just still \
jointly now once both each all all, ever further soon twice so too";
/// Verbs before «to» whose subject also acts in the verb behind «to», and the negating ones.
const CONTROL: &str = "agreed agrees agree ordered required obligated obliged promised promises \
undertakes undertook wanted wants sought seeks continues continued directed entitled allowed \
permitted bound supposed able began begins started had has have going is was are were be liable \
responsible due used proceeded chose decided intends intended asked offered managed";
const REFUSING: &str = "refused refuses failed fails declined declines neglected";
/// Words before a noun that belong to it.
const SMALL: &str = "the a an his her its their my our your this that said such both all each any \
mr mrs ms dr former co fellow own new certain one two three four five another other judge officer \
detective sheriff attorney counsel named";
const PREPOSITIONS: &str = "to from by against with for of on upon at in under between about than \
as into toward towards through over after before without during via per among";
const OPENERS: &str = "because although while whereas when if unless which who whom that where \
since until though whether and but or";

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

fn is_be(word: &str) -> bool {
    is_in(BE, word)
}

pub(super) fn triples(
    page: &Reading<'_>,
    sentence: &Sentence,
    references: &[Reference],
) -> Vec<Triple> {
    let (first, last) = sentence.words;
    let folded = page.words[first..last].iter().map(crate::text::Word::fold).collect();
    let mut clause = Clause { page, first, last, folded, references, subject: None };
    let mut list = Vec::new();
    for at in first..last {
        if clause.reference_at(at).is_some() {
            continue;
        }
        let verbs = ENGLISH.verb(clause.word(at));
        if !verbs.is_empty() && clause.is_verb(at) {
            list.extend(clause.verbal(at, &verbs));
            continue;
        }
        let nouns = ENGLISH.noun(clause.word(at));
        if !nouns.is_empty() {
            list.extend(clause.nominal(at, &nouns));
        }
    }
    list
}

struct Clause<'a, 't> {
    page: &'a Reading<'t>,
    first: usize,
    last: usize,
    folded: Vec<String>,
    references: &'a [Reference],
    /// The subject of the last verb, for a verb behind «and».
    subject: Option<(usize, Filler)>,
}

/// A verb with its auxiliaries.
#[derive(Debug, Default)]
struct Group {
    subject: Filler,
    is_passive: bool,
    denied: bool,
    start: usize,
}

/// What stands behind a verb: a preposition, empty for the direct object, and who.
type Arguments = Vec<(&'static str, Filler)>;

fn argument(list: &Arguments, preposition: &str) -> Filler {
    list.iter().find(|it| it.0 == preposition).map(|it| it.1.clone()).unwrap_or_default()
}

impl Clause<'_, '_> {
    fn word(&self, at: usize) -> &str {
        let at = at.checked_sub(self.first).and_then(|it| self.folded.get(it));
        at.map_or("", String::as_str)
    }

    /// The text between a word and the one before it.
    fn gap(&self, at: usize) -> &str {
        let words = &self.page.words;
        let before = at.checked_sub(1).and_then(|it| words.get(it));
        match (before, words.get(at)) {
            (Some(one), Some(two)) => self.page.text.get(one.end..two.start).unwrap_or("?"),
            _ => "?",
        }
    }

    fn has_mark(&self, at: usize) -> bool {
        self.gap(at).contains([',', ';', ':', '(', ')', '—', '–', '"', '“', '”'])
    }

    fn reference_at(&self, at: usize) -> Option<&Reference> {
        let after = self.references.partition_point(|it| it.from <= at);
        let it = self.references.get(after.checked_sub(1)?)?;
        (at < it.to).then_some(it)
    }

    /// Whether the word acts here: «appeal» and «lease» are nouns as often as verbs.
    fn is_verb(&self, at: usize) -> bool {
        let word = self.word(at);
        let before = at.checked_sub(1).filter(|it| *it >= self.first);
        let lead = before.map_or("", |it| self.word(it));
        if is_in("the a an his her its their this that any no such of", lead) {
            return false;
        }
        if before.is_some_and(|it| self.reference_at(it).is_some_and(|it| it.is_owner)) {
            return false;
        }
        if is_be(word) || is_past(word) || word == "sued" || word == "owed" {
            return true;
        }
        if word.ends_with("ing") {
            return is_be(lead);
        }
        let adverb = lead.ends_with("ly") || is_in(ADVERBS, lead) || is_in(DENIALS, lead);
        let beside = before.is_some_and(|it| self.reference_at(it).is_some()) && !self.has_mark(at);
        let coordinated = is_in("and or but", lead) && self.subject.is_some();
        beside
            || adverb
            || coordinated
            || is_in(MODALS, lead)
            || is_in("to who which did does do we i they", lead)
    }

    /// The filler of a reference, joined with those that «and» adds before it.
    fn fill(&self, it: &Reference) -> Filler {
        if it.is_owner {
            return Filler::Unknown;
        }
        let Some(mut who) = it.who.clone() else { return Filler::Unknown };
        let joined = it.from.checked_sub(1).filter(|at| self.word(*at) == "and");
        let other = joined.and_then(|at| self.reference_at(at.checked_sub(1)?));
        if let Some(other) = other.filter(|it| !it.is_owner).and_then(|it| it.who.as_ref()) {
            who.actors.extend(other.actors.iter().copied());
            who.actors.sort_unstable();
            who.actors.dedup();
        }
        Filler::Known(who)
    }

    /// The subject that a reference makes, unless a preposition leads to it.
    fn subject_of(&self, it: &Reference) -> Filler {
        let mut from = it.from;
        while let Some(before) = from.checked_sub(1).filter(|it| *it >= self.first) {
            let small = is_in(SMALL, self.word(before)) && self.word(before) != "that";
            if !small || self.has_mark(from) {
                break;
            }
            from = before;
        }
        let before = from.checked_sub(1).filter(|it| *it >= self.first);
        let lead = before.map_or("", |it| self.word(it));
        let led = !self.has_mark(from) && is_in(PREPOSITIONS, lead);
        // «After Vale sued»: the word opens a clause.
        let opens = is_in("after before than as", lead);
        if led && !opens { Filler::Unknown } else { self.fill(it) }
    }

    fn group(&self, at: usize) -> Group {
        let past = is_past(self.word(at)) || matches!(self.word(at), "sued" | "owed");
        let mut group = Group { start: at, ..Group::default() };
        let mut it = at;
        while it > self.first {
            let before = it - 1;
            let word = self.word(before);
            if self.has_mark(it) {
                group.subject = self.past_commas(it);
                break;
            }
            if let Some(found) = self.reference_at(before) {
                group.subject = self.subject_of(found);
                break;
            }
            if is_be(word) {
                // «Was going to pay» is active.
                group.is_passive |= past && !self.is_infinitive(it, at);
            } else if is_in(DENIALS, word) {
                group.denied = !group.denied;
            } else if word == "to" {
                let control = before.checked_sub(1).filter(|it| *it >= self.first);
                let lead = control.map_or("", |it| self.word(it));
                let named = control.and_then(|it| self.reference_at(it));
                if let Some(named) = named {
                    group.subject = self.fill(named);
                    break;
                }
                if is_in(REFUSING, lead) {
                    group.denied = !group.denied;
                } else if !is_in(CONTROL, lead) {
                    group.subject = Filler::Unknown;
                    break;
                }
                it = before;
            } else if is_in("and but or then", word) && before > self.first {
                let last = self.subject.as_ref().filter(|it| before - it.0.min(before) < 30);
                group.subject = last.map_or(Filler::Unknown, |it| it.1.clone());
                break;
            } else if !(is_in(HAVE, word)
                || is_in(MODALS, word)
                || is_in(ADVERBS, word)
                || is_in("who which that", word)
                || word.ends_with("ly"))
            {
                group.subject = Filler::Unknown;
                break;
            }
            it -= 1;
            group.start = it;
        }
        group
    }

    /// Whether «to» stands between an auxiliary and the verb.
    fn is_infinitive(&self, from: usize, verb: usize) -> bool {
        (from..verb).any(|it| self.word(it) == "to")
    }

    /// The subject before words between commas: `Vale, the tenant, sued` and `Vale, who sued`.
    fn past_commas(&self, at: usize) -> Filler {
        let before = at - 1;
        let relative = is_in("who which", self.word(at));
        if let Some(found) = self.reference_at(before).filter(|_| relative || at == before + 1) {
            let comma = self.gap(at).trim() == ",";
            if relative && comma {
                return self.subject_of(found);
            }
        }
        if self.gap(at).trim() != "," {
            return Filler::Unknown;
        }
        let from = at.saturating_sub(14).max(self.first + 1);
        let open = (from..at).rev().find(|it| self.gap(*it).trim() == ",");
        let found = open.and_then(|it| self.reference_at(it - 1).filter(|one| one.to == it));
        found.map_or(Filler::Unknown, |it| self.subject_of(it))
    }

    /// Who stands behind a word, by preposition.
    fn arguments(&self, at: usize) -> (Arguments, usize) {
        let mut list: Arguments = Vec::new();
        let mut pending: Option<&'static str> = Some("");
        let mut it = at + 1;
        let end = (at + 26).min(self.last);
        while it < end {
            let gap = self.gap(it);
            if gap.contains([';', ':', '(']) {
                break;
            }
            let word = self.word(it);
            let goes_on = pending == Some("") && self.joins_verb(it);
            if gap.contains(',') && !goes_on {
                if is_in("and but which who while whereas although because", word) {
                    break;
                }
                pending = None;
            }
            if let Some(found) = self.reference_at(it) {
                if found.is_owner && argument(&list, "of") == Filler::Absent {
                    let owner = Reference { is_owner: false, ..found.clone() };
                    list.push(("of", self.fill(&owner)));
                }
                if let Some(preposition) = pending.take() {
                    list.push((preposition, self.fill(found)));
                } else if it > 0 && self.word(it - 1) == "and" {
                    // «Sued Vale and Orr».
                    let joined = self.fill(found);
                    if let Some(last) = list.last_mut().filter(|it| it.1.known().is_some()) {
                        last.1 = joined;
                    }
                }
                it = found.to;
                continue;
            }
            if let Some((preposition, length)) = self.preposition(it) {
                if let Some(before) = pending.take().filter(|it| !it.is_empty()) {
                    list.push((before, Filler::Unknown));
                }
                pending = Some(preposition);
                it += length;
                continue;
            }
            let verb = is_be(word) || is_in(HAVE, word) || is_in(MODALS, word);
            let joint = is_in("and or but", word) && self.reference_at(it + 1).is_none();
            if verb || (is_in(OPENERS, word) && !joint && word != "and" && word != "or") {
                break;
            }
            if goes_on {
                it += 1;
                continue;
            }
            if joint && self.is_clause_after(it) {
                break;
            }
            let small = is_in(SMALL, word) || word.ends_with("ly") || is_in("and or", word);
            if !small && let Some(before) = pending.take().filter(|it| !it.is_empty()) {
                list.push((before, Filler::Unknown));
            }
            it += 1;
        }
        (list, it)
    }

    /// Whether a verb follows the joint: «and was fined», «and paid».
    fn is_clause_after(&self, at: usize) -> bool {
        (at + 1..at + 4).any(|it| {
            let word = self.word(it);
            is_be(word) || is_in(HAVE, word) || is_in(MODALS, word) || is_past(word)
        })
    }

    /// Whether the word joins another verb to the same object: `indemnify, defend and hold
    /// harmless`.
    fn joins_verb(&self, at: usize) -> bool {
        let list = "and or indemnify defend hold save harmless fully reimburse protect";
        is_in(list, self.word(at)) && !is_past(self.word(at))
    }

    fn preposition(&self, at: usize) -> Option<(&'static str, usize)> {
        let word = self.word(at);
        if matches!(word, "in" | "on") && self.word(at + 2) == "of" {
            match self.word(at + 1) {
                "favor" | "favour" => return Some(("favor", 3)),
                "behalf" => return Some(("behalf", 3)),
                _ => {}
            }
        }
        PREPOSITIONS.split_ascii_whitespace().find(|it| *it == word).map(|it| (it, 1))
    }

    fn verbal(&mut self, at: usize, phrases: &[&Phrase]) -> Option<Triple> {
        let group = self.group(at);
        let (arguments, end) = self.arguments(at);
        // `A complaint filed by Vale`: a participle behind its noun.
        let bare = group.subject == Filler::Unknown && group.start == at;
        let by = argument(&arguments, "by");
        let reduced = bare && by != Filler::Absent && is_past(self.word(at));
        let is_passive = group.is_passive || reduced;
        if !is_passive {
            self.subject = Some((at, group.subject.clone()));
        }
        let mut best: Option<(usize, [Filler; 2], &'static str)> = None;
        for phrase in phrases {
            if !self.has_noun(phrase, at, is_passive.then_some(group.start)) {
                continue;
            }
            let Some(sides) = sides(phrase, &group.subject, &arguments, is_passive) else {
                continue;
            };
            let score = sides.iter().map(|it| match it {
                Filler::Known(_) => 4,
                Filler::Unknown => 1,
                Filler::Absent => 0,
            });
            let score = score.sum::<usize>() + usize::from(!phrase.nouns.is_empty());
            if sides.iter().any(|it| it.known().is_some())
                && best.as_ref().is_none_or(|it| it.0 < score)
            {
                best = Some((score, sides, phrase.act));
            }
        }
        let (_, sides, act) = best?;
        let words = (group.start, end);
        let context = context(self.page, words, self.references, at);
        Some(Triple { act, sides, denied: group.denied, words, context })
    }

    /// Whether a noun of the phrase stands behind the verb, or before a passive one.
    fn has_noun(&self, phrase: &Phrase, at: usize, passive: Option<usize>) -> bool {
        let among = |mut range: std::ops::Range<usize>| {
            range.any(|it| {
                let word = self.word(it);
                let single = word.strip_suffix('s').unwrap_or(word);
                phrase.nouns.iter().any(|it| *it == word || *it == single)
            })
        };
        if phrase.nouns.is_empty() {
            return true;
        }
        let before =
            passive.is_some_and(|start| among(start.saturating_sub(8).max(self.first)..at));
        before || among(at + 1..(at + 9).min(self.last))
    }

    /// `Vale's motion`, `the lawsuit of Vale against Orr`, `a motion by the tenant`.
    fn nominal(&self, at: usize, phrases: &[&Phrase]) -> Option<Triple> {
        let owner = self.references.iter().rev().find(|it| it.to <= at);
        let owner = owner.filter(|it| it.is_owner && at - it.to <= 3 && it.from >= self.first);
        let owner = owner.map(|it| self.fill(&Reference { is_owner: false, ..it.clone() }));
        let (mut arguments, end) = self.arguments(at);
        // The words directly behind a noun are no object of it.
        arguments.retain(|it| !it.0.is_empty() && it.0 != "of" || self.word(at + 1) == "of");
        let by = argument(&arguments, "by");
        for phrase in phrases {
            let mut sides = [Filler::Absent, Filler::Absent];
            for (preposition, side) in &phrase.rest {
                let found = match (*preposition, &owner) {
                    ("of", Some(owner)) => owner.clone(),
                    ("of", None) => match argument(&arguments, "of") {
                        Filler::Absent => by.clone(),
                        of => of,
                    },
                    (other, _) => argument(&arguments, other),
                };
                if let Some(place) = sides.get_mut(*side) {
                    *place = found;
                }
            }
            if sides.iter().any(|it| it.known().is_some()) {
                let start = at.saturating_sub(3).max(self.first);
                let context = context(self.page, (start, end), self.references, at);
                let words = (start, end);
                return Some(Triple { act: phrase.act, sides, denied: false, words, context });
            }
        }
        None
    }
}

/// The two sides by one phrase; `None` where a part of the phrase is missing.
fn sides(
    phrase: &Phrase,
    subject: &Filler,
    arguments: &Arguments,
    is_passive: bool,
) -> Option<[Filler; 2]> {
    let mut sides = [Filler::Absent, Filler::Absent];
    let mut agent = subject.clone();
    if is_passive {
        agent = argument(arguments, "by");
    }
    if let Some(side) = phrase.subject {
        *sides.get_mut(side)? = agent;
    }
    for (preposition, side) in &phrase.rest {
        let found = match (*preposition, is_passive) {
            ("", true) => subject.clone(),
            (other, _) => argument(arguments, other),
        };
        if found == Filler::Absent {
            return None;
        }
        *sides.get_mut(*side)? = found;
    }
    Some(sides)
}
