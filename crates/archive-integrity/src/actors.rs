//! The people of a source, their roles, and the relations (agent, act, patient) that each sentence
//! states, as far as word order, the passive and possessives show them. There is no other grammar.

mod roles;
mod segment;
mod sentence_actors;
mod speech;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use segment::{Person, ReadingContext, Segment, Slot};
pub(crate) use speech::is_saying;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use roles::{canon, is_insurer, is_russian, role, role_word};
use sentence_actors::SentenceActors;
use tables::{CLASSES, COURTS};

use crate::Span;
use crate::name;
use crate::reading::{Reading, Sentence, Value};
use crate::text::{Word, is_irregular, stem};

pub(crate) type Actor = u32;

pub(crate) const COURT: Actor = u32::MAX;
/// Roles without a known holder have numbers from here upwards.
const ROLE_FIRST: Actor = u32::MAX - 1_000;

/// One statement of an agent, an act and a patient.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    pub(crate) class: String,
    pub(crate) agents: Vec<Actor>,
    pub(crate) patient: Option<Actor>,
    pub(crate) span: Span,
    /// The statement is negated.
    pub(crate) denied: bool,
}

/// The people of a source.
#[derive(Debug, Default)]
pub(crate) struct ActorIndex {
    names: Vec<String>,
    by_token: HashMap<String, Vec<Actor>>,
    /// By the words of names as nouns: `the marina` for `Sable Point Marina`.
    by_stem: HashMap<String, Vec<Actor>>,
    roles: HashMap<usize, HashSet<Actor>>,
    /// Actors that act or have a role or a title, unlike places and things.
    parties: HashSet<Actor>,
    /// Words of names that also occur in lower case.
    common: HashSet<String>,
    firms: HashSet<Actor>,
}

/// The most people of one source; further ones are not distinguished.
const PEOPLE_MAX: usize = 2_000;
const NAMESAKES_MAX: usize = 8;

impl ActorIndex {
    pub(crate) fn new(pages: &[Reading<'_>]) -> Self {
        let mut actors = Self::default();
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
            actors.add_name(tokens);
        }
        for page in pages {
            for sentence in &page.sentences {
                for (role, actor, _) in actors.roles_in(page, sentence) {
                    actors.roles.entry(role).or_default().insert(actor);
                }
            }
        }
        for page in pages.iter().take(1) {
            let author = actors.author(page);
            for word in ["testator", "author", "sender", "expert", "deponent", "writer"] {
                if let Some((role, actor)) = role(word).zip(author) {
                    actors.roles.entry(role).or_insert_with(|| HashSet::from([actor]));
                }
            }
            for (role, actor) in actors.caption(page) {
                actors.roles.entry(role).or_insert_with(|| HashSet::from([actor]));
            }
        }
        actors.find_insurer();
        for page in pages {
            actors.find_parties(page);
            let small = page.words.iter().filter(|it| !it.is_capital()).map(Word::fold);
            let small: Vec<String> = small.filter(|it| actors.by_token.contains_key(it)).collect();
            actors.common.extend(small);
        }
        let with_role: Vec<Actor> = actors.roles.values().flatten().copied().collect();
        actors.parties.extend(with_role);
        actors
    }

    /// Finds parties: names with a title such as Mr., firms, names in a mail header or in quotation
    /// marks, and names that own something or are followed by a verb.
    fn find_parties(&mut self, page: &Reading<'_>) {
        let word = |at: usize| page.words.get(at).map(Word::fold).unwrap_or_default();
        for mark in &page.marks {
            let Value::Name { tokens, words: (from, to), .. } = &mark.value else { continue };
            let Some(actor) = self.actor(tokens) else { continue };
            let lead = from.checked_sub(1).map(word).unwrap_or_default();
            let titled = name::is_title(&lead) && lead != "the";
            let firm = name::is_title(&word(*to)) || name::is_title(&word(to.saturating_sub(1)));
            let next = word(*to);
            let acts = is_act(&next) || is_will(&next) || is_saying(&next);
            let owns = page
                .words
                .get(to - 1)
                .is_some_and(|it| it.text.ends_with("'s") || it.text.ends_with("’s"));
            let line = speech::line_before(page.text, mark.span.start);
            let listed =
                ["From:", "To:", "Cc:", "Present:", "Dear"].iter().any(|it| line.starts_with(it));
            let quoted =
                listed || page.text.get(..mark.span.start).is_some_and(|it| it.ends_with('«'));
            let placed = matches!(lead.as_str(), "in" | "at" | "under" | "near" | "в");
            let form = |it: &str| {
                matches!(
                    it,
                    "inc"
                        | "llc"
                        | "llp"
                        | "corp"
                        | "corporation"
                        | "company"
                        | "ltd"
                        | "co"
                        | "lp"
                )
            };
            if form(&word(*to)) || form(&word(to.saturating_sub(1))) {
                self.firms.insert(actor);
            }
            if titled || firm || quoted || ((acts || owns) && !placed) {
                self.parties.insert(actor);
            }
        }
    }

    /// Whether the name is that of a person, not of a firm or a body.
    pub(crate) fn is_human(&self, actor: Actor) -> bool {
        if actor >= ROLE_FIRST {
            return actor != COURT;
        }
        let firm = |name: &String| name.split(' ').any(is_body);
        let name = usize::try_from(actor).ok().and_then(|it| self.names.get(it));
        !self.firms.contains(&actor) && !name.is_some_and(firm)
    }

    pub(crate) fn is_party(&self, actor: Actor) -> bool {
        let place = |it: &String| it.split(' ').any(is_place);
        let name = usize::try_from(actor).ok().and_then(|it| self.names.get(it));
        actor >= ROLE_FIRST || (self.parties.contains(&actor) && !name.is_some_and(place))
    }

    /// Gives the role of the insurer to a firm with «Insurance» in its name, if no other actor has
    /// it.
    fn find_insurer(&mut self) {
        let Some(insurer) = role("insurer") else { return };
        let tokens = |it: &String| it.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut named = self.names.iter().enumerate().filter(|it| is_insurer(&tokens(it.1)));
        if let (Some((at, _)), None) = (named.next(), named.next()) {
            let Ok(actor) = u32::try_from(at) else { return };
            self.roles.entry(insurer).or_insert_with(|| HashSet::from([actor]));
        }
    }

    fn add_name(&mut self, tokens: &[String]) {
        // «Supplier» with a capital is still a role.
        if tokens.iter().all(|it| role(it).is_some() || name::is_plain(it)) {
            return;
        }
        let known = tokens.iter().all(|it| self.by_token.contains_key(&canon(it)));
        if (known && !self.people(tokens).is_empty()) || self.names.len() >= PEOPLE_MAX {
            return;
        }
        let Ok(id) = u32::try_from(self.names.len()) else { return };
        self.names.push(tokens.join(" "));
        for token in tokens {
            let list = self.by_token.entry(canon(token)).or_default();
            if list.len() < NAMESAKES_MAX && !list.contains(&id) {
                list.push(id);
            }
            let is_noun = token.chars().count() > 3 && tokens.len() > 1 && !is_russian(token);
            let list = self.by_stem.entry(stem(token)).or_default();
            if is_noun && list.len() < NAMESAKES_MAX && !list.contains(&id) {
                list.push(id);
            }
        }
    }

    /// Everybody whom the name can mean.
    pub(crate) fn people(&self, tokens: &[String]) -> Vec<Actor> {
        let mut lists = tokens.iter().map(|it| self.by_token.get(&canon(it)));
        let Some(Some(first)) = lists.next() else { return Vec::new() };
        let mut candidates = first.clone();
        for list in lists {
            candidates.retain(|it| list.is_some_and(|list| list.contains(it)));
        }
        candidates
    }

    /// The words for roles with their holders.
    pub(crate) fn all_roles(&self) -> impl Iterator<Item = (&'static str, &HashSet<Actor>)> {
        self.roles.iter().map(|it| (role_word(*it.0), it.1))
    }

    /// The only person that the name can mean.
    pub(crate) fn actor(&self, tokens: &[String]) -> Option<Actor> {
        match self.people(tokens).as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// The name of an actor in messages.
    pub(crate) fn display_name(&self, actor: Actor) -> String {
        if actor == COURT {
            return "the court".to_owned();
        }
        if actor >= ROLE_FIRST {
            let role = usize::try_from(actor - ROLE_FIRST).unwrap_or(0);
            return format!("the {}", role_word(role));
        }
        let name = usize::try_from(actor).ok().and_then(|it| self.names.get(it));
        name.cloned().unwrap_or_default()
    }

    fn role_actor(&self, role: usize) -> Actor {
        match self.roles.get(&role) {
            Some(holders) if holders.len() == 1 => holders.iter().copied().next().unwrap_or(COURT),
            _ => ROLE_FIRST + u32::try_from(role).unwrap_or(0),
        }
    }

    /// The holders of a role in the source.
    pub(crate) fn holders(&self, role: usize) -> Option<&HashSet<Actor>> {
        self.roles.get(&role)
    }

    /// Whether the source gives an actor roles, and none on the same side as this role: a claimant
    /// is a plaintiff by another word.
    pub(crate) fn has_other_role(&self, actor: Actor, role: usize) -> bool {
        let mut roles = self.roles.iter().filter(|it| it.1.contains(&actor)).peekable();
        roles.peek().is_some() && !roles.any(|it| roles::is_one_side(*it.0, role))
    }

    /// Names, roles and courts of a sentence, in order, with their words.
    fn actors_in(&self, page: &Reading<'_>, sentence: &Sentence) -> Vec<(usize, usize, Actor)> {
        let mut list: Vec<(usize, usize, Actor)> = Vec::new();
        let mut named: Vec<(usize, usize, Option<Actor>)> = Vec::new();
        for mark in page.marks_of(sentence) {
            if let Value::Name { tokens, words: (from, to), doubtful } = &mark.value {
                if *doubtful && tokens.iter().all(|it| self.common.contains(it)) {
                    continue;
                }
                let court =
                    tokens.iter().any(|it| it == "circuit" || COURTS.contains(&it.as_str()));
                let alone = tokens.first().filter(|_| tokens.len() == 1).and_then(|it| role(it));
                let alone = alone.map(|it| self.role_actor(it));
                let actor = if court { Some(COURT) } else { alone.or_else(|| self.actor(tokens)) };
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
            // The role before a name is part of the name.
            let titled = next.peek().is_some_and(|it| it.0 == at + 1);
            if COURTS.contains(&folded.as_str()) {
                list.push((at, at + 1, COURT));
            } else if let Some(role) =
                role(&folded).filter(|_| !titled && is_noun(page, at) && !opens_name(page, at))
            {
                let actor = self.role_actor(role);
                let named = self.actor_by_noun(page, at).filter(|_| actor >= ROLE_FIRST);
                list.push((at, at + 1, named.unwrap_or(actor)));
            } else if let Some(actor) = self.actor_by_noun(page, at).filter(|_| !titled) {
                list.push((at, at + 1, actor));
            }
            at += 1;
        }
        list
    }

    /// `The marina`, where only one name contains that word.
    fn actor_by_noun(&self, page: &Reading<'_>, at: usize) -> Option<Actor> {
        let before = page.words.get(at.checked_sub(1)?)?.fold();
        let next = page.words.get(at + 1).map(Word::fold).unwrap_or_default();
        let word = page.words.get(at)?;
        let plain = word.text.chars().all(char::is_lowercase) && before == "the";
        let firm = matches!(next.as_str(), "company" | "corporation" | "firm");
        match self.by_stem.get(&stem(&word.fold())).map(Vec::as_slice) {
            Some([one]) if (plain || (firm && before != "a")) && self.is_party(*one) => Some(*one),
            _ => None,
        }
    }

    /// The parties of a sentence without courts, with their positions.
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
        let scene = SentenceActors { page, sentence, actors };
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

/// «eleven patient years» has no patient: a role word needs an article or an owner before it,
/// unless it is a plural, opens the sentence or has a capital.
fn is_noun(page: &Reading<'_>, at: usize) -> bool {
    let word = &page.words[at];
    if word.is_capital() || word.text.ends_with('s') || is_russian(&word.fold()) {
        return true;
    }
    let list = "the a an his her its their my our your each every one another either any no this \
that both former";
    (1..=3).filter_map(|it| at.checked_sub(it)).any(|it| {
        let before = page.words[it].fold();
        let owner = page.words[it].text.ends_with("'s") || page.words[it].text.ends_with("’s");
        owner || list.split(' ').any(|it| it == before)
    })
}

/// `Workers' Compensation Commission`: the word is the first of a name.
fn opens_name(page: &Reading<'_>, at: usize) -> bool {
    let (Some(word), Some(next)) = (page.words.get(at), page.words.get(at + 1)) else {
        return false;
    };
    let gap = page.text.get(word.end..next.start).unwrap_or_default();
    word.is_capital()
        && word.text.ends_with(['s', '\'', '’'])
        && next.is_capital()
        && gap.starts_with(['\'', '’'])
}

fn class(folded: &str) -> Option<String> {
    // An employer is not an employee, and an employment is neither.
    let noun_endings = ["ment", "ments", "tion", "tions", "er", "ers", "ee", "ees", "ing", "ings"];
    if noun_endings.iter().any(|it| folded.ends_with(it)) && !folded.ends_with("paying") {
        return None;
    }
    let base = stem(folded);
    static FORMS: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
        let rows = CLASSES.iter().flat_map(|row| row.split(' ').map(move |it| (it, *row)));
        let forms = rows.flat_map(|(it, row)| [(it.to_owned(), row), (stem(it), row)]);
        // The first row that contains a form keeps it.
        let mut map = HashMap::new();
        for (form, row) in forms {
            map.entry(form).or_insert(row);
        }
        map
    });
    let known = FORMS.get(&base).or_else(|| FORMS.get(folded));
    match known {
        Some(list) => list.split(' ').next().map(str::to_owned),
        None => {
            let past = (folded.ends_with("ed") && folded.len() > 4) || is_irregular(folded);
            let present = ["appeal", "breach", "tell", "spend"].contains(&base.as_str());
            (past || present).then_some(base)
        }
    }
}

fn is_body(token: &str) -> bool {
    let list = "county school bank city district department association state insurance trust \
university hospital center services tools foods authority union board partners group cooperative \
logistics holdings savings township college church foundation agency";
    list.split(' ').any(|it| it == token)
}

fn is_place(token: &str) -> bool {
    matches!(token, "street" | "road" | "avenue" | "lane" | "drive" | "highway" | "boulevard")
}

fn is_will(folded: &str) -> bool {
    matches!(
        folded,
        "will" | "shall" | "would" | "may" | "must" | "can" | "could" | "should" | "cannot" | "are"
    )
}

/// Whether the word names a court or a person who decides.
pub(crate) fn is_court_word(folded: &str) -> bool {
    COURTS.contains(&folded)
}

/// Whether the word is an act.
pub(crate) fn is_act(folded: &str) -> bool {
    class(folded).is_some() || matches!(folded, "is" | "was" | "has" | "had" | "did" | "does")
}

pub(crate) fn is_court(actor: Actor) -> bool {
    actor == COURT
}

/// Whether two actors cannot be one person: two different names, or two opposed roles.
pub(crate) fn is_rival(one: Actor, other: Actor) -> bool {
    if one < ROLE_FIRST || other < ROLE_FIRST {
        return one != other;
    }
    let word = |it: Actor| role_word(usize::try_from(it - ROLE_FIRST).unwrap_or(usize::MAX));
    let (one, other) = (word(one), word(other));
    tables::OPPOSED.split(';').any(|row| {
        let has = |it: &str| row.split_ascii_whitespace().any(|word| word == it);
        one != other && has(one) && has(other)
    })
}

/// Whether both are names or both are roles, so that they can be compared.
pub(crate) fn comparable(one: Actor, other: Actor) -> bool {
    let sort = |it: Actor| if it == COURT { 2 } else { u8::from(it >= ROLE_FIRST) };
    sort(one) == sort(other)
}
