//! Who does what to whom, as far as word order, the passive and possessives tell: the people of
//! a source, their roles, and the relations each sentence states. No grammar beyond that.

mod scene;
mod speech;

use std::collections::{HashMap, HashSet};

use scene::Scene;

use crate::Span;
use crate::reading::{Reading, Sentence, Value};
use crate::text::{Word, is_irregular, stem};

pub(crate) type Actor = u32;

const COURT: Actor = u32::MAX;
/// Roles that nobody is known to hold count upwards from here.
const ROLE_FIRST: Actor = u32::MAX - 1_000;

const ROLES: [&str; 32] = [
    "plaintiff",
    "defendant",
    "appellant",
    "appellee",
    "petitioner",
    "respondent",
    "landlord",
    "tenant",
    "buyer",
    "seller",
    "lender",
    "borrower",
    "employer",
    "employee",
    "licensor",
    "licensee",
    "contractor",
    "owner",
    "lessor",
    "lessee",
    "insurer",
    "insured",
    "claimant",
    "supplier",
    "purchaser",
    "guarantor",
    "franchisor",
    "franchisee",
    "истец",
    "ответчик",
    "покупатель",
    "продавец",
];

const COURTS: [&str; 12] = [
    "court",
    "judge",
    "jury",
    "panel",
    "tribunal",
    "arbitrator",
    "magistrate",
    "justice",
    "суд",
    "судья",
    "commission",
    "board",
];

/// Stems of one meaning, the first standing for all.
const CLASSES: [&str; 20] = [
    "argue argu contend claim assert alleg maintain insist",
    "motion mov mo",
    "sue su suit",
    "seek ask request",
    "pay repay",
    "sell",
    "buy purchas",
    "lease leas rent",
    "objection object",
    "send mail",
    "win prevail",
    "hire hir employ",
    "fire fir",
    "lend loan",
    "deliver ship",
    "sign execut",
    "strike strik hit",
    "owe ow",
    "own",
    "end terminat cancel",
];

/// Words that are nouns as often as verbs; alone they say nobody acts.
const BOTH: [&str; 25] = [
    "complaint",
    "action",
    "lawsuit",
    "breach",
    "lease",
    "rent",
    "appeal",
    "claim",
    "motion",
    "object",
    "loan",
    "suit",
    "ship",
    "claims",
    "sign",
    "fire",
    "hire",
    "demand",
    "request",
    "purchase",
    "mail",
    "leases",
    "rents",
    "demands",
    "requests",
];

/// What it means to file one of these.
const FILED: [(&str, &str); 4] =
    [("complaint", "sue"), ("suit", "sue"), ("action", "sue"), ("lawsuit", "sue")];

const NOUNS: [&str; 11] = [
    "motion",
    "appeal",
    "counterclaim",
    "complaint",
    "claim",
    "objection",
    "request",
    "petition",
    "offer",
    "breach",
    "negligence",
];

/// One statement of who acts and on whom.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    pub(crate) class: String,
    pub(crate) agents: Vec<Actor>,
    pub(crate) patient: Option<Actor>,
    pub(crate) span: Span,
    /// Said not to be so.
    pub(crate) denied: bool,
}

/// The people of a source.
#[derive(Debug, Default)]
pub(crate) struct Cast {
    names: Vec<String>,
    by_token: HashMap<String, Vec<Actor>>,
    roles: HashMap<usize, HashSet<Actor>>,
}

/// So many people and no more; the rest are not told apart.
const PEOPLE_MAX: usize = 2_000;
const NAMESAKES_MAX: usize = 8;

impl Cast {
    pub(crate) fn new(pages: &[Reading<'_>]) -> Self {
        let mut cast = Self::default();
        let mut names: Vec<&Vec<String>> = pages
            .iter()
            .flat_map(|it| &it.marks)
            .filter_map(|it| match &it.value {
                Value::Name { tokens, doubtful: false, .. } => Some(tokens),
                _ => None,
            })
            .collect();
        names.sort_by_key(|it| std::cmp::Reverse(it.len()));
        names.dedup();
        for tokens in names {
            cast.admit(tokens);
        }
        for page in pages {
            for sentence in &page.sentences {
                for (role, actor, _) in cast.roles_in(page, sentence) {
                    cast.roles.entry(role).or_default().insert(actor);
                }
            }
        }
        cast
    }

    fn admit(&mut self, tokens: &[String]) {
        let known = tokens.iter().all(|it| self.by_token.contains_key(it));
        if (known && !self.people(tokens).is_empty()) || self.names.len() >= PEOPLE_MAX {
            return;
        }
        let Ok(id) = u32::try_from(self.names.len()) else { return };
        self.names.push(tokens.join(" "));
        for token in tokens {
            let list = self.by_token.entry(token.clone()).or_default();
            if list.len() < NAMESAKES_MAX && !list.contains(&id) {
                list.push(id);
            }
        }
    }

    fn people(&self, tokens: &[String]) -> Vec<Actor> {
        let mut lists = tokens.iter().map(|it| self.by_token.get(it));
        let Some(Some(first)) = lists.next() else { return Vec::new() };
        let mut left = first.clone();
        for list in lists {
            left.retain(|it| list.is_some_and(|list| list.contains(it)));
        }
        left
    }

    /// The one person the name can mean.
    fn actor(&self, tokens: &[String]) -> Option<Actor> {
        match self.people(tokens).as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// What to call an actor in a message.
    pub(crate) fn called(&self, actor: Actor) -> String {
        if actor == COURT {
            return "the court".to_owned();
        }
        if actor >= ROLE_FIRST {
            let role = usize::try_from(actor - ROLE_FIRST).unwrap_or(0);
            return format!("the {}", ROLES.get(role).unwrap_or(&""));
        }
        let name = usize::try_from(actor).ok().and_then(|it| self.names.get(it));
        name.cloned().unwrap_or_default()
    }

    fn role_actor(&self, role: usize) -> Actor {
        match self.roles.get(&role) {
            Some(held) if held.len() == 1 => held.iter().copied().next().unwrap_or(COURT),
            _ => ROLE_FIRST + u32::try_from(role).unwrap_or(0),
        }
    }

    /// Who holds a role in the source, by all it says.
    pub(crate) fn holders(&self, role: usize) -> Option<&HashSet<Actor>> {
        self.roles.get(&role)
    }

    /// Names with the word of a role beside them: `plaintiff Vale`, `Vale, the plaintiff`.
    pub(crate) fn roles_in(
        &self,
        page: &Reading<'_>,
        sentence: &Sentence,
    ) -> Vec<(usize, Actor, Span)> {
        let mut list = Vec::new();
        for mark in page.marks_of(sentence) {
            let Value::Name { tokens, words: (from, to), .. } = &mark.value else { continue };
            let Some(actor) = self.actor(tokens) else { continue };
            let role_at =
                |at: usize| page.words.get(at).and_then(|it| role(&it.fold())).map(|it| (it, at));
            let gap = |one: usize, next: usize| match (page.words.get(one), page.words.get(next)) {
                (Some(one), Some(next)) => page.text[one.end..next.start].trim(),
                _ => "?",
            };
            // Titles are cut off the front of a name, so the role may lie one or two words back.
            let before = from.checked_sub(1).filter(|it| gap(*it, *from).is_empty());
            let found = before.and_then(role_at).or_else(|| {
                let mut at = *to;
                let opens = gap(at.checked_sub(1)?, at).trim_start_matches('.').trim_start();
                if !(opens.starts_with(',') || opens.starts_with('(')) {
                    let linked = page.words.get(at).is_some_and(|it| is_link(&it.fold()));
                    if !linked {
                        return None;
                    }
                    at += 1;
                }
                let article = page.words.get(at).map(Word::fold)?;
                if matches!(article.as_str(), "the" | "a" | "an" | "as" | "hereinafter") {
                    at += 1;
                }
                role_at(at)
            });
            if let Some((role, at)) = found {
                list.push((role, actor, mark.span));
                // `Plaintiff-Appellee` holds both.
                let second = role_at(at + 1).filter(|_| gap(at, at + 1) == "-");
                list.extend(second.map(|it| (it.0, actor, mark.span)));
            }
        }
        list
    }

    /// Names, roles and courts of a sentence, in order, with their words.
    fn actors_in(&self, page: &Reading<'_>, sentence: &Sentence) -> Vec<(usize, usize, Actor)> {
        let mut list: Vec<(usize, usize, Actor)> = Vec::new();
        let mut named: Vec<(usize, usize, Option<Actor>)> = Vec::new();
        for mark in page.marks_of(sentence) {
            if let Value::Name { tokens, words: (from, to), .. } = &mark.value {
                let court = tokens.iter().any(|it| it == "court");
                let actor = if court { Some(COURT) } else { self.actor(tokens) };
                named.push((*from, *to, actor));
            }
        }
        let mut next = named.into_iter().peekable();
        let mut at = sentence.words.0;
        while at < sentence.words.1 {
            if let Some((from, to, actor)) = next.next_if(|it| it.0 <= at) {
                list.extend(actor.map(|it| (from, to, it)));
                at = to.max(at + 1);
                continue;
            }
            let folded = page.words[at].fold();
            // The role before a name is part of it.
            let titled = next.peek().is_some_and(|it| it.0 == at + 1);
            if COURTS.contains(&folded.as_str()) {
                list.push((at, at + 1, COURT));
            } else if let Some(role) = role(&folded).filter(|_| !titled) {
                list.push((at, at + 1, self.role_actor(role)));
            }
            at += 1;
        }
        list
    }

    /// The parties of a sentence, courts left out, with where they stand.
    pub(crate) fn parties(&self, page: &Reading<'_>, sentence: &Sentence) -> Vec<(Actor, Span)> {
        let actors = self.actors_in(page, sentence).into_iter().filter(|it| it.2 != COURT);
        actors
            .filter_map(|(from, to, actor)| {
                let (first, last) = (page.words.get(from)?, page.words.get(to.checked_sub(1)?)?);
                Some((actor, Span { start: first.start, end: last.end }))
            })
            .collect()
    }

    pub(crate) fn relations(&self, page: &Reading<'_>, sentence: &Sentence) -> Vec<Relation> {
        let actors = self.actors_in(page, sentence);
        if actors.is_empty() {
            return Vec::new();
        }
        let scene = Scene { page, sentence, actors };
        let places = sentence.words.0..sentence.words.1;
        let between = places.clone().filter_map(|at| scene.between(at));
        let mut list: Vec<Relation> =
            places.filter_map(|at| scene.relation(at)).chain(between).collect();
        for it in &mut list {
            it.denied = sentence.polarity.negated.iter().any(|negated| negated.1 == it.span);
        }
        list
    }
}

fn is_link(folded: &str) -> bool {
    matches!(folded, "is" | "was" | "as")
}

fn role(folded: &str) -> Option<usize> {
    let bare = folded.strip_suffix('s').unwrap_or(folded);
    ROLES.iter().position(|it| *it == folded || *it == bare)
}

fn class(folded: &str) -> Option<String> {
    // Who employs is not who is employed, and an employment is neither.
    let thing = ["ment", "ments", "tion", "tions", "er", "ers", "ee", "ees", "ing", "ings"];
    if thing.iter().any(|it| folded.ends_with(it)) && !folded.ends_with("paying") {
        return None;
    }
    let base = stem(folded);
    let known = CLASSES.iter().find(|it| it.split(' ').any(|it| it == base || it == folded));
    match known {
        Some(list) => list.split(' ').next().map(str::to_owned),
        None => {
            let past = (folded.ends_with("ed") && folded.len() > 4) || is_irregular(folded);
            let present = ["appeal", "breach", "tell", "spend"].contains(&base.as_str());
            (past || present).then_some(base)
        }
    }
}

/// Whether the word is one that somebody does.
pub(crate) fn is_act(folded: &str) -> bool {
    class(folded).is_some() || matches!(folded, "is" | "was" | "has" | "had" | "did" | "does")
}

pub(crate) fn is_court(actor: Actor) -> bool {
    actor == COURT
}

/// Whether both name someone by the same measure, so that a difference is one.
pub(crate) fn comparable(one: Actor, other: Actor) -> bool {
    let sort = |it: Actor| if it == COURT { 2 } else { u8::from(it >= ROLE_FIRST) };
    sort(one) == sort(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each relation as `agents class patient`, in words.
    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let pages = [Reading::new(text)];
        let cast = Cast::new(&pages);
        let mut got = Vec::new();
        for sentence in &pages[0].sentences {
            for it in cast.relations(&pages[0], sentence) {
                let agents: Vec<String> = it.agents.iter().map(|it| cast.called(*it)).collect();
                let patient = it.patient.map(|it| cast.called(it)).unwrap_or_default();
                got.push(format!("{} {} {patient}", agents.join("+"), it.class));
            }
        }
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn word_order_and_the_passive_tell_who_acts() {
        check("Casper Nye hired Maud Pell on May 4, 2020.", &["casper nye hire maud pell"]);
        check("Maud Pell was hired by Casper Nye.", &["casper nye hire maud pell"]);
        check("Maud Pell sued Casper Nye.", &["maud pell sue casper nye"]);
        check("Winifred Nye came with Alfred Pell.", &["winifred nye com alfred pell"]);
        check(
            "Maud Pell filed a complaint against Casper Nye alleging breach.",
            &["maud pell sue casper nye", "casper nye breach "],
        );
        check(
            "The court granted Maud Pell's motion.",
            &["the court grant maud pell", "maud pell motion "],
        );
        check("Maud Pell and Casper Nye signed it.", &["casper nye+maud pell sign "]);
        check("Judgment was entered for Maud Pell.", &[" favor maud pell"]);
    }

    #[test]
    fn roles_stand_for_their_holders() {
        check(
            "Maud Pell, Plaintiff, v. Casper Nye, Defendant. The plaintiff sued the defendant.",
            &["maud pell sue casper nye"],
        );
    }
}
