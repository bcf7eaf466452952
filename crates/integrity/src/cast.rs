//! Who does what to whom, as far as word order, the passive and possessives tell: the people of
//! a source, their roles, and the relations each sentence states. No grammar beyond that.

use std::collections::{HashMap, HashSet};

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
            let role_at = |at: usize| page.words.get(at).and_then(|it| role(&it.fold()));
            let gap = |one: usize, next: usize| match (page.words.get(one), page.words.get(next)) {
                (Some(one), Some(next)) => page.text[one.end..next.start].trim(),
                _ => "?",
            };
            // Titles are cut off the front of a name, so the role may lie one or two words back.
            let before = from.checked_sub(1).filter(|it| gap(*it, *from).is_empty());
            let found = before.and_then(role_at).or_else(|| {
                let mut at = *to;
                let opens = gap(at.checked_sub(1)?, at);
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
            if let Some(role) = found {
                list.push((role, actor, mark.span));
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
        (sentence.words.0..sentence.words.1).filter_map(|at| scene.relation(at)).collect()
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

struct Scene<'a, 't> {
    page: &'a Reading<'t>,
    sentence: &'a Sentence,
    actors: Vec<(usize, usize, Actor)>,
}

/// How far from its verb an actor may stand, in words.
const AGENT_REACH: usize = 14;
const PATIENT_REACH: usize = 4;

impl Scene<'_, '_> {
    fn folded(&self, at: usize) -> String {
        let inside = at >= self.sentence.words.0 && at < self.sentence.words.1;
        self.page.words.get(at).filter(|_| inside).map(Word::fold).unwrap_or_default()
    }

    /// The last actors before the word, those joined by «and» together.
    fn before(&self, at: usize) -> Vec<Actor> {
        let after = self.actors.partition_point(|it| it.1 <= at);
        let mut list = Vec::new();
        let mut from = at;
        for (start, end, actor) in self.actors[..after].iter().rev().take(4) {
            let joined = from - end <= 1 && (from == *end || self.folded(*end) == "and");
            if (list.is_empty() && at - end > AGENT_REACH) || (!list.is_empty() && !joined) {
                break;
            }
            list.push(*actor);
            from = *start;
        }
        list
    }

    fn after(&self, at: usize, reach: usize) -> Option<Actor> {
        let next = self.actors.partition_point(|it| it.0 <= at);
        self.actors.get(next).filter(|it| it.0 - at <= reach).map(|it| it.2)
    }

    fn relation(&self, at: usize) -> Option<Relation> {
        let folded = self.folded(at);
        let word = self.page.words.get(at)?;
        let span = Span { start: word.start, end: word.end };
        if let Some(found) = self.side(at, &folded, span).or_else(|| self.owned(at, &folded, span))
        {
            return Some(found);
        }
        if BOTH.contains(&folded.as_str()) && !self.is_verb(at) {
            return None;
        }
        let verb = self.is_verb(at) && folded.len() > 3 && !self.folded(at).ends_with("ing");
        let mut class = class(&folded).or_else(|| verb.then(|| stem(&folded)))?;
        if matches!(folded.as_str(), "filed" | "files" | "brought" | "commenced" | "brings") {
            class = self.filed(at).unwrap_or(class);
        }
        let by = (1..=8).find(|it| self.folded(at + it) == "by").map(|it| at + it);
        let be = self.is_passive(at);
        let agent = by.filter(|it| be || it - at <= 2).and_then(|it| self.after(it, PATIENT_REACH));
        if let Some(agent) = agent {
            let patient = self.before(at).first().copied();
            return Some(Relation { class, agents: vec![agent], patient, span });
        }
        if be {
            let patient = self.before(at).first().copied();
            return patient.map(|it| Relation {
                class,
                agents: Vec::new(),
                patient: Some(it),
                span,
            });
        }
        if !self.has_subject(at) {
            return None;
        }
        // A second verb after «and» has the subject of the first.
        let second = at.checked_sub(1).is_some_and(|it| self.folded(it) == "and");
        let first = self.actors.first().filter(|it| second && it.1 <= at);
        let agents = first.map_or_else(|| self.before(at), |it| vec![it.2]);
        let patient = self.after(at, PATIENT_REACH);
        (!agents.is_empty()).then_some(Relation { class, agents, patient, span })
    }

    /// A form of «be» shortly before, unless «to» stands between.
    fn is_passive(&self, at: usize) -> bool {
        let before = (1..=3).filter_map(|it| at.checked_sub(it)).map(|it| self.folded(it));
        for word in before {
            match word.as_str() {
                "to" => return false,
                "was" | "were" | "been" | "is" | "are" | "be" | "being" => return true,
                _ => {}
            }
        }
        false
    }

    /// In `a contract signed on` the word before is what was signed, not who signed.
    fn has_subject(&self, at: usize) -> bool {
        let Some(last) = at.checked_sub(1).filter(|it| *it >= self.sentence.words.0) else {
            return false;
        };
        let gap = self.page.words[at].start - self.page.words[last].end;
        let named = self.actors.iter().any(|it| it.1 == at);
        let before = self.folded(last);
        let small = [
            "and",
            "also",
            "then",
            "never",
            "has",
            "had",
            "have",
            "did",
            "does",
            "not",
            "to",
            "who",
            "that",
            "which",
            "later",
            "first",
            "only",
            "will",
            "shall",
            "must",
            "may",
            "would",
            "could",
            "again",
            "but",
            "or",
            "stopped",
            "therefore",
            "thus",
            "he",
            "she",
            "it",
            "they",
        ];
        named || gap > 1 || before.ends_with("ly") || small.contains(&before.as_str())
    }

    /// After «to», a modal or a negation even such a word is a verb.
    fn is_verb(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|it| self.folded(it)).unwrap_or_default();
        matches!(
            before.as_str(),
            "to" | "did" | "not" | "will" | "shall" | "may" | "can" | "must" | "would"
        )
    }

    /// What was filed: the noun after the word, or before it in the passive.
    fn filed(&self, at: usize) -> Option<String> {
        let around = (1..=6).map(|it| at + it).chain((2..=4).filter_map(|it| at.checked_sub(it)));
        let words = around.map(|it| self.folded(it));
        words.into_iter().find_map(|word| {
            let meant = FILED.iter().find(|it| it.0 == word).map(|it| it.1.to_owned());
            let base = stem(&word);
            meant.or_else(|| {
                let noun = NOUNS.iter().any(|it| stem(it) == base);
                noun.then(|| class(&word).unwrap_or(base))
            })
        })
    }

    /// For whom or against whom something was decided.
    fn side(&self, at: usize, folded: &str, span: Span) -> Option<Relation> {
        let judged = |reach: usize| {
            (1..=reach).any(|it| {
                at.checked_sub(it).is_some_and(|at| {
                    matches!(
                        self.folded(at).as_str(),
                        "judgment" | "verdict" | "ruled" | "found" | "ruling" | "decided"
                    )
                })
            })
        };
        let class = match folded {
            "favor" | "favour" => "favor",
            "against" if judged(10) => "against",
            "for" if judged(3) => "favor",
            _ => return None,
        };
        let patient = self.after(at, 5)?;
        Some(Relation { class: class.to_owned(), agents: Vec::new(), patient: Some(patient), span })
    }

    /// `Vale's motion`, `the defendant's motion`.
    fn owned(&self, at: usize, folded: &str, span: Span) -> Option<Relation> {
        let base = stem(folded);
        NOUNS.iter().find(|it| stem(it) == base)?;
        let of = self.folded(at + 1) == "of";
        if let Some(actor) = self.after(at + 1, 2).filter(|_| of) {
            let class = class(folded).unwrap_or(base);
            return Some(Relation { class, agents: vec![actor], patient: None, span });
        }
        let after = self.actors.partition_point(|it| it.1 <= at);
        let (start, end, actor) = self.actors.get(after.checked_sub(1)?)?;
        // What somebody is sued for, he did.
        let accused = start.checked_sub(1).is_some_and(|it| self.folded(it) == "against");
        if accused && at - end <= 3 && matches!(folded, "breach" | "negligence" | "fraud") {
            return Some(Relation { class: base, agents: vec![*actor], patient: None, span });
        }
        let owner = self.page.words.get(end.checked_sub(1)?)?;
        let tail = &self.page.text[owner.end..];
        let owns = owner.text.ends_with("'s")
            || owner.text.ends_with("’s")
            || (owner.text.ends_with('s') && tail.starts_with(['\'', '’']));
        let class = class(folded).unwrap_or(base);
        (owns && at - end <= 2).then(|| Relation {
            class,
            agents: vec![*actor],
            patient: None,
            span,
        })
    }
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
