//! The parties of a paper, the side on which each stands, and the names that the paper gives them,
//! from its caption, its opening words and its defined terms.

use std::collections::HashMap;

use archive_entities::{CaseFacts, Entity, EntityKind, Role};
use archive_text::PageText;

use crate::actors::{self, Actor, ActorIndex};
use crate::reading::{Reading, Value};
use crate::text::Word;

/// One or more participants, or the word of a role whose holder is not known.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Who {
    /// Sorted.
    pub(crate) actors: Vec<Actor>,
    /// The group of the role in [`GROUPS`].
    pub(crate) role: Option<usize>,
}

/// Where a participant stands. Two of different sides are opponents or contract with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Before `v.`
    Left,
    /// After `v.`
    Right,
    /// One of the parties to an agreement.
    Contracting(usize),
}

/// Words for one role; the roles of one row before and after the bar exclude each other.
const GROUPS: [(&str, &str); 17] = [
    (
        "plaintiff plaintiffs claimant claimants complainant истец истца истцу истцом истцы истцов",
        "defendant defendants ответчик ответчика ответчику ответчиком ответчики ответчиков",
    ),
    ("appellant appellants", "appellee appellees"),
    ("petitioner petitioners", "respondent respondents"),
    ("landlord landlords lessor lessors арендодател*", "tenant tenants lessee lessees арендатор*"),
    (
        "seller sellers vendor vendors supplier suppliers продав* поставщик*",
        "buyer buyers purchaser purchasers покупател*",
    ),
    ("lender lenders займодав*", "borrower borrowers заемщик*"),
    ("employer employers работодател*", "employee employees работник* worker"),
    ("licensor licensors", "licensee licensees"),
    ("insurer insurers страховщик*", "insured insureds страховател*"),
    ("franchisor franchisors", "franchisee franchisees"),
    ("assignor assignors", "assignee assignees"),
    ("mortgagor mortgagors", "mortgagee mortgagees"),
    ("creditor creditors кредитор* взыскател*", "debtor debtors должник*"),
    ("contractor contractors подрядчик* исполнител*", "customer customers owner заказчик*"),
    (
        "prosecution prosecutor prosecutors government state commonwealth people прокур*",
        "accused подсудим* обвиняем* осужденн*",
    ),
    ("компани* администраци* площадк* оператор*", "пользовател*"),
    ("лицензиар*", "лицензиат*"),
];
/// The group of the prosecution, and the actor for a state that is a party.
const GOVERNMENT: usize = 28;
const STATE: Actor = u32::MAX - 5_000;

fn has(list: &str, folded: &str) -> bool {
    list.split(' ').any(|it| match it.strip_suffix('*') {
        Some(start) => folded.starts_with(start),
        None => it == folded,
    })
}

/// The number of the group that has a word; the two groups of a row are neighbours.
pub(super) fn group(folded: &str) -> Option<usize> {
    GROUPS.iter().enumerate().find_map(|(at, (one, other))| {
        if has(one, folded) {
            Some(2 * at)
        } else if has(other, folded) {
            Some(2 * at + 1)
        } else {
            None
        }
    })
}

fn groups_of(role: Role) -> Option<usize> {
    match role {
        Role::Plaintiff => Some(0),
        Role::Defendant => Some(1),
        Role::Appellant => Some(2),
        Role::Appellee => Some(3),
        Role::Petitioner => Some(4),
        Role::Respondent => Some(5),
        Role::Debtor => Some(25),
        _ => None,
    }
}

/// Bytes at the head of a source that are read for its parties; signatures of long papers are left
/// out.
const HEAD_BYTES: usize = 400_000;
/// The most words between a name and the term in brackets that stands for it.
const TERM_REACH: usize = 40;

#[derive(Debug, Default)]
pub(crate) struct Participants {
    groups: HashMap<usize, Vec<Actor>>,
    sides: HashMap<Actor, Side>,
    /// Short names that the paper defines in brackets, in lower case.
    terms: HashMap<String, Actor>,
    /// The last words of longer terms: «the affiliate» for the “Business Affiliate”; `None` where
    /// two terms end so.
    short_terms: HashMap<String, Option<Actor>>,
}

impl Participants {
    /// The parties and the caption at the head of the source.
    pub(crate) fn facts<'t>(pages: &[(u32, &'t str)]) -> CaseFacts<'t> {
        let mut room = HEAD_BYTES;
        let mut head = Vec::new();
        for (number, text) in pages {
            if text.len() > room {
                break;
            }
            room -= text.len();
            head.push(PageText { number: *number, part: "", text });
        }
        archive_entities::read(&head)
    }

    pub(crate) fn new(facts: &CaseFacts<'_>, actors: &ActorIndex, pages: &[Reading<'_>]) -> Self {
        let mut it = Self::default();
        let mut contracting = 0;
        for entity in facts.entities.iter().filter(|it| is_actor(it)) {
            let Some(actor) = party(&entity.name, actors) else { continue };
            for role in &entity.roles {
                if *role == Role::Contracting {
                    contracting += 1;
                    it.sides.entry(actor).or_insert(Side::Contracting(contracting));
                }
                it.hold(groups_of(*role), actor);
            }
        }
        for (names, side) in
            [(&facts.caption.left, Side::Left), (&facts.caption.right, Side::Right)]
        {
            for name in names {
                if let Some(actor) = party(name, actors) {
                    it.sides.insert(actor, side);
                }
            }
        }
        for (word, holders) in actors.all_roles() {
            for actor in holders {
                it.hold(group(word), *actor);
            }
        }
        for page in pages.iter().take(20) {
            it.read_terms(page, actors);
        }
        for (term, actor) in &it.terms {
            let last = term.rsplit_once(' ').map(|it| it.1).filter(|it| it.len() > 4);
            if let Some(last) = last {
                let known = it.short_terms.entry(last.to_owned()).or_insert(Some(*actor));
                *known = known.filter(|it| it == actor);
            }
        }
        it.sides_by_roles();
        it
    }

    fn hold(&mut self, group: Option<usize>, actor: Actor) {
        let Some(group) = group else { return };
        let list = self.groups.entry(group).or_default();
        if !list.contains(&actor) {
            list.push(actor);
            list.sort_unstable();
        }
    }

    /// Plaintiffs stand on the left and defendants on the right where the caption was not read.
    fn sides_by_roles(&mut self) {
        let has_caption = self.sides.values().any(|it| *it == Side::Left);
        if has_caption {
            return;
        }
        for (group, side) in [(0, Side::Left), (1, Side::Right)] {
            for actor in self.groups.get(&group).into_iter().flatten() {
                self.sides.entry(*actor).or_insert(side);
            }
        }
    }

    /// `Sable Point Marina LLC (the “Lessor”)`, «ООО «Вал» (далее — Общество)».
    fn read_terms(&mut self, page: &Reading<'_>, actors: &ActorIndex) {
        let mut names: Vec<(usize, Actor)> = Vec::new();
        for mark in &page.marks {
            let Value::Name { tokens, words: (from, to), .. } = &mark.value else { continue };
            if opens_term(page, mark.span.start, tokens) {
                if let Some(actor) = self.defined(page, Some(&names), *from) {
                    self.terms.entry(tokens.join(" ")).or_insert(actor);
                }
                continue;
            }
            names.extend(actors.actor(tokens).map(|it| (*to, it)));
        }
        self.read_role_terms(page, actors);
    }

    /// The name before a term: the nearest that is a party or ends like a company, else the nearest.
    fn defined(
        &self,
        page: &Reading<'_>,
        names: Option<&[(usize, Actor)]>,
        at: usize,
    ) -> Option<Actor> {
        let near = || {
            let all = names.unwrap_or_default().iter().rev();
            all.take_while(|it| it.0 <= at && at - it.0 <= TERM_REACH)
        };
        let firm = |to: usize| {
            [to.wrapping_sub(1), to].iter().filter_map(|it| page.words.get(*it)).any(|it| {
                it.is_capital()
                    && matches!(
                        it.fold().as_str(),
                        "inc"
                            | "llc"
                            | "llp"
                            | "corp"
                            | "corporation"
                            | "ltd"
                            | "limited"
                            | "co"
                            | "lp"
                    )
            })
        };
        let chosen = near().find(|it| self.sides.contains_key(&it.1) || firm(it.0));
        chosen.or_else(|| near().next()).map(|it| it.1)
    }

    /// `Sphere 3D Corp. ("Company")`: a term that is no name by itself.
    fn read_role_terms(&mut self, page: &Reading<'_>, actors: &ActorIndex) {
        let names: Vec<(usize, Actor)> = page
            .marks
            .iter()
            .filter_map(|it| match &it.value {
                Value::Name { tokens, words, .. } => Some((words.1, actors.actor(tokens)?)),
                _ => None,
            })
            .collect();
        for (at, word) in page.words.iter().enumerate() {
            let capital = word.is_capital() && word.text.chars().count() > 3;
            let folded = word.fold();
            if !capital || !opens_term(page, word.start, std::slice::from_ref(&folded)) {
                continue;
            }
            let tail = page.text.get(word.end..).unwrap_or_default();
            let closed = tail.starts_with(['"', '”', '»', '\'', '’', ',']);
            let before = names.partition_point(|it| it.0 <= at);
            if let Some(actor) = self.defined(page, names.get(..before), at).filter(|_| closed) {
                self.terms.entry(folded).or_insert(actor);
            }
        }
    }

    /// Who a defined term means.
    pub(crate) fn term(&self, folded: &str) -> Option<Who> {
        let short = || self.short_terms.get(folded).copied().flatten();
        let found = self.terms.get(folded).copied().or_else(short);
        found.map(|it| Who { actors: vec![it], role: None })
    }

    /// Who a word for a role means.
    pub(super) fn role(&self, folded: &str) -> Option<Who> {
        let group = group(folded)?;
        let mut actors = self.groups.get(&group).cloned().unwrap_or_default();
        if group == GOVERNMENT && self.sides.contains_key(&STATE) {
            actors = vec![STATE];
        }
        // Before `v.` or after it, where the paper has no other word for the side.
        if actors.is_empty() && group < 2 && !self.groups.contains_key(&(1 - group)) {
            let side = if group == 0 { Side::Left } else { Side::Right };
            let labelled = (2..6).any(|it| self.groups.contains_key(&it));
            if !labelled {
                actors = self.sides.iter().filter(|it| *it.1 == side).map(|it| *it.0).collect();
                actors.sort_unstable();
            }
        }
        Some(Who { actors, role: Some(group) })
    }

    fn groups_with(&self, actor: Actor) -> impl Iterator<Item = usize> {
        self.groups.iter().filter(move |it| it.1.contains(&actor)).map(|it| *it.0)
    }

    /// Whether both certainly include one participant.
    pub(crate) fn is_same(&self, one: &Who, other: &Who) -> bool {
        if one.actors.iter().any(|it| other.actors.contains(it)) {
            return true;
        }
        let by_role = one.role.is_some() && one.role == other.role;
        by_role && (one.actors.is_empty() || other.actors.is_empty() || one.actors == other.actors)
    }

    /// Whether the two certainly stand against each other.
    pub(crate) fn is_opposed(&self, one: &Who, other: &Who) -> bool {
        if self.is_same(one, other) {
            return false;
        }
        let rivals = |one: usize, other: usize| {
            one != other && one / 2 == other / 2
                || (one == 1 && other == GOVERNMENT)
                || (one == GOVERNMENT && other == 1)
        };
        if one.role.zip(other.role).is_some_and(|(one, other)| rivals(one, other)) {
            return true;
        }
        let role_against = |role: Option<usize>, actors: &[Actor]| {
            role.is_some_and(|role| {
                !actors.is_empty()
                    && actors.iter().all(|it| self.groups_with(*it).any(|it| rivals(it, role)))
            })
        };
        if one.actors.is_empty() || other.actors.is_empty() {
            return role_against(one.role, &other.actors) || role_against(other.role, &one.actors);
        }
        one.actors.iter().all(|one| {
            other.actors.iter().all(|other| {
                let sides = self.sides.get(one).zip(self.sides.get(other));
                let by_side = sides.is_some_and(|(one, other)| one != other);
                let by_group = self
                    .groups_with(*one)
                    .any(|one| self.groups_with(*other).any(|other| rivals(one, other)));
                by_side || by_group
            })
        })
    }

    /// Whether the paper gives the participant a side, a role or a term of its own.
    pub(crate) fn is_party(&self, it: &Who) -> bool {
        it.role.is_some()
            || it.actors.iter().any(|it| {
                self.sides.contains_key(it)
                    || self.terms.values().any(|term| term == it)
                    || self.groups_with(*it).next().is_some()
            })
    }

    /// Whether the two are certainly not one.
    pub(crate) fn is_different(&self, one: &Who, other: &Who) -> bool {
        let apart = !one.actors.is_empty() && !other.actors.is_empty();
        let humans = |it: &Who| it.actors.iter().all(|it| !actors::is_court(*it));
        self.is_opposed(one, other)
            || (apart && humans(one) && humans(other) && !self.is_same(one, other))
    }
}

/// Whether a defined term begins at a byte: `(the "Lessor`, `(FGHI`, «(далее — Общество».
fn opens_term(page: &Reading<'_>, start: usize, tokens: &[String]) -> bool {
    const QUOTES: [char; 7] = ['"', '“', '«', '\'', '‘', '”', '„'];
    let before = page.text.get(..start).unwrap_or_default();
    let opened = before.trim_end_matches(QUOTES);
    let quoted = opened.len() < before.len();
    let lead = opened.trim_end();
    let lead = lead.strip_suffix("the").map_or(lead, str::trim_end);
    let lead = lead.trim_end_matches(QUOTES).trim_end().trim_end_matches([',', ':']);
    let further = ["далее –", "далее —", "далее -"].iter().any(|it| lead.ends_with(it));
    let bracket = lead.ends_with('(') || lead.ends_with("hereinafter") || lead.ends_with(" or");
    let rest = page.text.get(start..).unwrap_or_default();
    let end = rest.find(|it: char| !it.is_alphanumeric()).unwrap_or(rest.len());
    let letters = rest.get(..end).unwrap_or_default();
    let loud = letters.chars().count() >= 2
        && letters.chars().all(|it| it.is_uppercase() || it.is_ascii_digit())
        && rest.get(end..).is_some_and(|it| it.starts_with(')'));
    tokens.len() <= 3 && (further || (bracket && (quoted || (loud && lead.ends_with('(')))))
}

/// Whether the name is that of a state: `State of Ohio`, `The People`, `United States`.
pub(super) fn is_state(name: &str) -> bool {
    let words: Vec<String> = crate::text::words(name).iter().map(Word::fold).collect();
    let mut words = words.iter().map(String::as_str).filter(|it| *it != "the");
    matches!(
        (words.next(), words.next()),
        (Some("state" | "people" | "commonwealth" | "government"), None | Some("of"))
            | (Some("united"), Some("states"))
    )
}

/// The party of a name.
fn party(name: &str, actors: &ActorIndex) -> Option<Actor> {
    if is_state(name) { Some(STATE) } else { actors.actor(&name_tokens(name)) }
}

fn is_actor(it: &Entity<'_>) -> bool {
    matches!(it.kind, EntityKind::Person | EntityKind::Organisation) && !it.roles.is_empty()
}

/// The words of a name as the actor index keeps them.
fn name_tokens(name: &str) -> Vec<String> {
    let words = crate::text::words(name);
    let folded = words.iter().map(Word::fold);
    folded
        .filter(|it| !crate::text::is_stop(it) && !crate::name::is_title(it))
        .filter(|it| it.chars().any(char::is_alphabetic))
        .collect()
}
