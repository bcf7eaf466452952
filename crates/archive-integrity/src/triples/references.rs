//! Who is mentioned in a sentence: names, words for roles, defined terms, courts and pronouns, each
//! with its words. A participant that cannot be told is a reference too, so that no other one is taken for the
//! subject.

use super::participants::{Participants, Who, group, is_state};
use crate::actors::{Actor, ActorIndex, COURT, is_court_word};
use crate::reading::{Reading, Sentence, Value};

#[derive(Debug, Clone)]
pub(super) struct Reference {
    /// The first word and the word after the last, of the page.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) who: Option<Who>,
    /// `Vale's`: what follows is meant.
    pub(super) is_owner: bool,
}

const PRONOUNS: &str =
    "i we he she they him her them me us it you я мы он она они его ее их ему им ей нам";
/// Words after which a word for a role means a holder of it.
const DETERMINERS: &str = "the a an his her its their my our your each every one another either \
any no this that both former said such all neither";

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

/// The references of a sentence, in order.
pub(super) fn of(
    page: &Reading<'_>,
    sentence: &Sentence,
    actors: &ActorIndex,
    participants: &Participants,
) -> Vec<Reference> {
    let (first, last) = sentence.words;
    let mut names: Vec<(usize, usize, Option<Who>)> = Vec::new();
    for mark in page.marks_of(sentence) {
        let Value::Name { tokens, words: (from, to), .. } = &mark.value else { continue };
        let who = if is_state(page.slice(mark.span)) {
            participants.role("state")
        } else {
            named(tokens, actors, participants)
        };
        names.push((*from, *to, who));
    }
    let mut next = names.into_iter().peekable();
    let mut list: Vec<Reference> = Vec::new();
    let mut at = first;
    while at < last {
        if let Some((from, to, who)) = next.next_if(|it| it.0 <= at) {
            let to = to.max(at + 1);
            add(&mut list, page, (from, to), who);
            at = to;
            continue;
        }
        let folded = page.words[at].fold();
        // The role before a name is a part of the name.
        let titled = next.peek().is_some_and(|it| it.0 == at + 1)
            && (page.words[at].is_capital() || crate::name::is_title(&folded));
        let who = word(page, (first, at), &folded, participants).filter(|_| !titled);
        if let Some(who) = who {
            add(&mut list, page, (at, at + 1), who);
        }
        at += 1;
    }
    list
}

fn add(list: &mut Vec<Reference>, page: &Reading<'_>, words: (usize, usize), who: Option<Who>) {
    let (from, to) = words;
    let Some(last) = page.words.get(to - 1) else { return };
    let tail = page.text.get(last.end..).unwrap_or_default();
    let is_owner = last.text.ends_with("'s")
        || last.text.ends_with("’s")
        || (last.text.ends_with('s') && tail.starts_with(['\'', '’']));
    list.push(Reference { from, to, who, is_owner });
}

/// Who a name means.
fn named(tokens: &[String], actors: &ActorIndex, participants: &Participants) -> Option<Who> {
    if tokens.iter().any(|it| is_court_word(it) || it == "circuit") {
        return Some(Who { actors: vec![COURT], role: None });
    }
    if let Some(who) = participants.term(&tokens.join(" ")) {
        return Some(who);
    }
    if let [one] = tokens
        && let Some(who) = participants.role(one)
    {
        return Some(who);
    }
    let mut all: Vec<Actor> = actors.people(tokens);
    all.sort_unstable();
    match all.as_slice() {
        [one] => Some(Who { actors: vec![*one], role: None }),
        _ => None,
    }
}

/// Who a word in small letters means; the inner `None` is a participant that we cannot tell.
fn word(
    page: &Reading<'_>,
    (first, at): (usize, usize),
    folded: &str,
    participants: &Participants,
) -> Option<Option<Who>> {
    if is_in(PRONOUNS, folded) {
        return Some(None);
    }
    if is_court_word(folded) {
        return Some(Some(Who { actors: vec![COURT], role: None }));
    }
    let before = at.checked_sub(1).filter(|it| *it >= first).map(|it| page.words[it].fold());
    let before = before.unwrap_or_default();
    let russian = folded.starts_with(|it: char| ('а'..='я').contains(&it));
    let owned = at.checked_sub(1).filter(|it| *it >= first).is_some_and(|it| {
        let text = page.words[it].text;
        text.ends_with("'s") || text.ends_with("’s")
    });
    let defined = before == "the" || page.words[at].is_capital();
    if let Some(who) = participants.term(folded).filter(|_| defined && !owned) {
        return Some(Some(who));
    }
    group(folded)?;
    let noun = russian
        || at == first
        || page.words[at].is_capital()
        || folded.ends_with('s')
        || is_in(DETERMINERS, &before)
        // «Denied defendant's motion»: papers of courts leave the article out.
        || is_in("plaintiff defendant appellant appellee petitioner respondent claimant employer", folded);
    // «Vale's employee» is another one than the employee of the caption.
    let who = participants.role(folded).filter(|it| !owned || it.actors.is_empty());
    noun.then_some(who)
}
