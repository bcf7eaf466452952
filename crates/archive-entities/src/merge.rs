//! Merges the matches of one entity, and finds its further mentions by name.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use archive_text::TextSpan;

use crate::entity::{Entity, EntityKind, Ground, Mention, Role};
use crate::entity_match::EntityMatch;
use crate::name::{PersonKey, is_title_word, person_key};
use crate::text::{TokenText, single_spaced};
use crate::{ENTITIES_MAX, MENTIONS_MAX, court, docket, money, nominative, organisation};

/// Most entities that one surname, or one first word, is compared with.
const CANDIDATES_MAX: usize = 8;
/// Most parties that are compared with each other.
const SIDES_MAX: usize = 64;
/// Most courts that are compared with each other.
const COURTS_MAX: usize = 64;

#[derive(Default)]
pub(crate) struct EntityRegistry<'t> {
    pub(crate) entities: Vec<Entity<'t>>,
    people: HashMap<usize, PersonKey>,
    by_key: HashMap<(EntityKind, String), usize>,
    by_surname: HashMap<String, Vec<usize>>,
    pub(crate) truncated: bool,
}

impl<'t> EntityRegistry<'t> {
    pub(crate) fn add(&mut self, finding: EntityMatch<'t>) {
        let name = match &finding.shown {
            Some(it) => single_spaced(it),
            None => unboxed(single_spaced(&unnumbered(finding.mention.quote).replace('·', " "))),
        };
        if name.is_empty() {
            return;
        }
        let name = match name.strip_suffix("'s").or_else(|| name.strip_suffix("’s")) {
            Some(owner) if finding.kind == EntityKind::Person => owner.to_owned(),
            _ => name,
        };
        let name = in_nominative(finding.kind, name);
        let place = if finding.kind == EntityKind::Person {
            self.find_or_add_person(&finding, &name)
        } else {
            self.find_or_add(&finding, &name)
        };
        let Some(entity) = place.and_then(|it| self.entities.get_mut(it)) else { return };
        if name.len() > entity.name.len()
            || (name.len() == entity.name.len() && is_shout(&entity.name))
        {
            entity.name = name;
        }
        entity.ground = entity.ground.max(finding.ground);
        entity.is_reviewed &= finding.is_reviewed;
        entity.bar_number = entity.bar_number.take().or(finding.bar_number);
        add_role(&mut entity.roles, finding.role);
        add_role(&mut entity.represents, finding.represents);
        mention(entity, finding.mention);
    }

    fn find_or_add(&mut self, finding: &EntityMatch<'t>, name: &str) -> Option<usize> {
        let key = match finding.kind {
            EntityKind::Organisation | EntityKind::Person => organisation::key(name),
            EntityKind::Court => court::key(name),
            EntityKind::CaseNumber => docket::key(name),
            EntityKind::Money => money::key(finding.money?),
        };
        if let Some(place) = self.by_key.get(&(finding.kind, key.clone())) {
            return Some(*place);
        }
        let place = self.create(finding, name, key.clone())?;
        self.by_key.insert((finding.kind, key), place);
        Some(place)
    }

    fn find_or_add_person(&mut self, finding: &EntityMatch<'t>, name: &str) -> Option<usize> {
        let key = person_key(name);
        if key.surname.is_empty() {
            return None;
        }
        let known = self.by_surname.get(&key.surname).map(Vec::as_slice).unwrap_or_default();
        let fitting: Vec<usize> = known
            .iter()
            .copied()
            .filter(|it| self.people.get(it).is_some_and(|other| key.fits(other)))
            .collect();
        let same_role = |it: &&usize| {
            self.entities
                .get(**it)
                .is_some_and(|entity| finding.role.is_some_and(|role| entity.roles.contains(&role)))
        };
        let exact = |it: &&usize| self.people.get(it).is_some_and(|other| *other == key);
        let chosen = fitting
            .iter()
            .find(exact)
            .or_else(|| fitting.iter().find(same_role))
            .or_else(|| fitting.first())
            .copied();
        if let Some(place) = chosen {
            // A longer name replaces the shorter one that was found first.
            if let Some(other) = self.people.get_mut(&place)
                && key.given.len() > other.given.len()
            {
                if let Some(entity) = self.entities.get_mut(place) {
                    entity.key = key.shown();
                }
                *other = key;
            }
            return Some(place);
        }
        let place = self.create(finding, name, key.shown())?;
        let family = self.by_surname.entry(key.surname.clone()).or_default();
        if family.len() < CANDIDATES_MAX {
            family.push(place);
        }
        self.people.insert(place, key);
        Some(place)
    }

    fn create(&mut self, finding: &EntityMatch<'t>, name: &str, key: String) -> Option<usize> {
        if self.entities.len() >= ENTITIES_MAX {
            self.truncated = true;
            return None;
        }
        self.entities.push(Entity {
            kind: finding.kind,
            name: name.to_owned(),
            key,
            roles: Vec::new(),
            represents: Vec::new(),
            is_reviewed: finding.is_reviewed,
            bar_number: None,
            money: finding.money,
            mentions: Vec::new(),
            mention_count: 0,
            ground: finding.ground,
        });
        Some(self.entities.len() - 1)
    }

    /// The names to search for in the second pass.
    pub(crate) fn probes(&self) -> NameProbes {
        let mut by_word: HashMap<String, Vec<(usize, Vec<String>)>> = HashMap::new();
        for (place, entity) in self.entities.iter().enumerate() {
            let words: Vec<String> = match entity.kind {
                EntityKind::Person => {
                    let Some(key) = self.people.get(&place) else { continue };
                    let alone = self.by_surname.get(&key.surname).is_some_and(|it| it.len() == 1);
                    if !alone || !key.surname.is_ascii() {
                        continue;
                    }
                    vec![key.surname.clone()]
                }
                EntityKind::Organisation => entity.key.split(' ').map(str::to_owned).collect(),
                _ => continue,
            };
            let Some(first) =
                words.first().filter(|it| it.chars().count() > 2 && !is_title_word(it))
            else {
                continue;
            };
            let list = by_word.entry(first.clone()).or_default();
            if list.len() < CANDIDATES_MAX {
                list.push((place, words));
            }
        }
        NameProbes {
            by_word,
            given: self.people.iter().map(|(place, key)| (*place, key.given.clone())).collect(),
        }
    }

    /// Adds the mentions that the probes find where no other mention is.
    pub(crate) fn add_probed_mentions(
        &mut self,
        text: &TokenText<'t>,
        cited: &[bool],
        probes: &NameProbes,
        taken: &[TextSpan],
    ) {
        let mut covered =
            taken.partition_point(|it| (it.page, it.end) <= (text.page, text.place(0)));
        for at in 0..text.len() {
            if !text.capital(at) || cited.get(at).copied().unwrap_or_default() {
                continue;
            }
            let span = text.place(at);
            while taken.get(covered).is_some_and(|it| (it.page, it.end) <= (text.page, span)) {
                covered += 1;
            }
            if taken.get(covered).is_some_and(|it| it.page == text.page && it.start <= span) {
                continue;
            }
            let word = text.low(at);
            let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
            let Some(list) = probes.by_word.get(word) else { continue };
            let best = list
                .iter()
                .filter(|(_, words)| {
                    words.iter().enumerate().skip(1).all(|(step, it)| text.is(at + step, it))
                })
                .max_by_key(|(_, words)| words.len());
            let Some((place, words)) = best else { continue };
            let given = probes.given.get(place).filter(|it| !it.is_empty());
            let before = at > 0 && given.is_some_and(|it| text.is(at - 1, it));
            let from = if before { at - 1 } else { at };
            if let Some(entity) = self.entities.get_mut(*place) {
                mention(entity, text.mention(from, at + words.len()));
            }
        }
    }

    /// Merges a court into the court with the longest name that contains all its words: `the
    /// Superior Court`.
    fn merge_courts(&mut self) {
        let courts: Vec<usize> = (0..self.entities.len())
            .filter(|it| self.entities.get(*it).is_some_and(|it| it.kind == EntityKind::Court))
            .take(COURTS_MAX)
            .collect();
        let words = |place: usize| -> HashSet<&str> {
            self.entities.get(place).map(|it| it.key.split(' ').collect()).unwrap_or_default()
        };
        let sets: Vec<(usize, HashSet<&str>)> = courts.iter().map(|it| (*it, words(*it))).collect();
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (place, own) in &sets {
            let fuller = sets
                .iter()
                .filter(|(_, other)| other.len() > own.len() && own.is_subset(other))
                .max_by_key(|(_, other)| other.len());
            pairs.extend(fuller.map(|(into, _)| (*place, *into)));
        }
        self.merge_pairs(&pairs);
    }

    /// Merges a party into one with the same role whose name begins with its words: `Okada` into
    /// Okada Bearings Corp., or a name that a column cut short.
    fn merge_aliases(&mut self) {
        let sides: Vec<(usize, Vec<String>)> = (self.entities.iter().enumerate())
            .filter(|(_, it)| it.is_party())
            .map(|(place, it)| (place, words(&it.name)))
            .take(SIDES_MAX)
            .collect();
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (place, own) in &sides {
            let Some(entity) = self.entities.get(*place) else { continue };
            // `John L. Roe` is another party than `John L. Roe & Associates`.
            if entity.kind == EntityKind::Person && own.len() > 1 && entity.ground > Ground::Layout
            {
                continue;
            }
            let longer = sides.iter().find(|(other, name)| {
                name.len() > own.len()
                    && name.starts_with(own)
                    && self.entities.get(*other).is_some_and(|other| {
                        other.kind == EntityKind::Organisation
                            && entity.roles.iter().all(|it| other.roles.contains(it))
                    })
            });
            pairs.extend(longer.map(|(into, _)| (*place, *into)));
        }
        self.merge_pairs(&pairs);
    }

    /// Moves the mentions of the first entity of each pair to the second and removes the first.
    fn merge_pairs(&mut self, pairs: &[(usize, usize)]) {
        for (place, into) in pairs {
            let list = self.entities.get_mut(*place).map(|it| std::mem::take(&mut it.mentions));
            let ground = self.entities.get(*place).map(|it| it.ground);
            if let Some(entity) = self.entities.get_mut(*into) {
                entity.ground = entity.ground.max(ground.unwrap_or(entity.ground));
                for it in list.unwrap_or_default() {
                    mention(entity, it);
                }
            }
        }
        let gone: HashSet<usize> = pairs.iter().map(|it| it.0).collect();
        let mut place = 0;
        self.entities.retain(|_| {
            place += 1;
            !gone.contains(&(place - 1))
        });
    }

    /// Removes the courts, and the role of the judges, that were named only in passing, where the
    /// document names its own.
    fn drop_passing(&mut self) {
        let own = |it: &Entity<'_>| it.ground > Ground::Shape;
        let has_court = self.entities.iter().any(|it| it.kind == EntityKind::Court && own(it));
        let judge = |it: &Entity<'_>| it.roles.contains(&Role::Judge);
        let has_judge = self.entities.iter().any(|it| judge(it) && own(it));
        self.entities.retain(|it| {
            let passing = it.kind == EntityKind::Court && has_court || judge(it) && has_judge;
            own(it) || !passing
        });
    }

    /// Removes parties of one word where a party with a whole name has the same role: a surname that
    /// no rule could join with its person.
    fn drop_surnames(&mut self) {
        let whole: HashSet<Role> = (self.entities.iter())
            .filter(|it| it.is_party() && it.name.contains(' '))
            .flat_map(|it| it.roles.iter().copied())
            .collect();
        self.entities.retain(|it| {
            let single = it.kind == EntityKind::Person && !it.name.contains(' ');
            let repeated = it.roles.iter().all(|role| role.is_party() && whole.contains(role));
            !(it.is_party()
                && single
                && repeated
                && it.ground <= Ground::Label
                && it.name.is_ascii())
        });
    }

    /// Removes attorneys whose name is the end of another attorney's: `Q. Roe` beside `Jane Q. Roe`.
    fn drop_endings(&mut self) {
        let names: Vec<String> = (self.entities.iter())
            .filter(|it| it.roles.contains(&Role::Attorney))
            .map(|it| it.name.to_lowercase())
            .take(SIDES_MAX)
            .collect();
        self.entities.retain(|it| {
            let own = it.name.to_lowercase();
            let is_end = |other: &String| {
                other.strip_suffix(own.as_str()).is_some_and(|it| it.ends_with(' '))
            };
            !(it.roles == [Role::Attorney] && names.iter().any(is_end))
        });
    }

    pub(crate) fn finish(&mut self) {
        self.merge_aliases();
        self.drop_surnames();
        self.drop_endings();
        self.merge_courts();
        self.drop_passing();
        for entity in &mut self.entities {
            entity.mentions.sort_by_key(|it| it.span);
            entity.mentions.truncate(MENTIONS_MAX);
            entity.roles.sort_unstable();
            entity.represents.sort_unstable();
        }
    }
}

pub(crate) struct NameProbes {
    by_word: HashMap<String, Vec<(usize, Vec<String>)>>,
    given: HashMap<usize, String>,
}

/// A Russian name in the nominative, so that all its mentions have one spelling.
fn in_nominative(kind: EntityKind, name: String) -> String {
    let shown = match kind {
        _ if name.is_ascii() => None,
        EntityKind::Person => nominative::person(&name),
        EntityKind::Organisation => nominative::organisation(&name),
        EntityKind::Court => nominative::court(&name),
        EntityKind::CaseNumber | EntityKind::Money => None,
    };
    shown.unwrap_or(name)
}

fn words(name: &str) -> Vec<String> {
    let words = name.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.map(str::to_lowercase).collect()
}

fn is_shout(name: &str) -> bool {
    !name.chars().any(char::is_lowercase)
}

fn add_role(list: &mut Vec<Role>, role: Option<Role>) {
    if let Some(role) = role
        && !list.contains(&role)
    {
        list.push(role);
    }
}

/// Adds a mention unless one of the last eight overlaps it, because two rules may match the same
/// words.
fn mention<'t>(entity: &mut Entity<'t>, mention: Mention<'t>) {
    let seen = |it: &Mention<'_>| it.span.overlaps(&mention.span);
    if entity.mentions.iter().rev().take(8).any(seen) {
        return;
    }
    entity.mention_count += 1;
    if entity.mentions.len() < MENTIONS_MAX {
        entity.mentions.push(mention);
    }
}

/// Removes the line numbers of pleading paper inside a name.
fn unnumbered(quote: &str) -> Cow<'_, str> {
    if !quote.contains('\n') {
        return Cow::Borrowed(quote);
    }
    let mut lines = quote.lines();
    let mut name = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let rest = line.trim_start_matches([' ', '\t', '·']);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let after = rest.get(digits..).unwrap_or_default();
        let numbered =
            (1..3).contains(&digits) && (after.starts_with([' ', '·']) || after.is_empty());
        name.push('\n');
        name.push_str(if numbered { after } else { line });
    }
    Cow::Owned(name)
}

/// Removes the rules of a caption's box inside a name.
fn unboxed(name: String) -> String {
    let rule = |it: &str| matches!(it, ")" | "|" | "*" | "§" | ":");
    if !name.split(' ').any(rule) {
        return name;
    }
    name.split(' ').filter(|it| !rule(it)).collect::<Vec<_>>().join(" ")
}
