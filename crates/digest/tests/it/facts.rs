//! What was read from a document and what is true of it, in one form, and how well they agree.

use std::collections::{BTreeMap, BTreeSet};

use casefile::testing::{Truth, plain, plain_court};
use casefile::{EventKind, Role, Unit};
use digest::{Category, Digest, Draft};
use serde_json::Value;

pub(crate) type Facts = BTreeMap<&'static str, BTreeSet<String>>;

/// Letters and digits alone, so that `NW2d` is `N.W.2d`.
fn bare(text: &str) -> String {
    text.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn role(role: Role) -> String {
    bare(&format!("{role:?}"))
}

fn event(kind: EventKind) -> String {
    if kind == EventKind::Deadline { "due".to_owned() } else { bare(&format!("{kind:?}")) }
}

fn unit(unit: Unit) -> String {
    bare(&format!("{unit:?}"))
}

/// The same for citations; an article is one however its word is bent or cut.
fn law(text: &str) -> String {
    let bare = bare(text);
    let forms = ["статья", "статьи", "статье", "статьей", "статью"];
    forms.iter().fold(bare, |text, form| text.replace(form, "ст"))
}

/// Russian names by surname and initials, because cases change the endings of all.
fn person(name: &str) -> String {
    let plain = plain(name);
    if plain.is_ascii() || plain.contains("ооо") {
        return plain;
    }
    let mut words = plain.split(' ');
    let first = words.next().unwrap_or_default();
    let initials: String = words.filter_map(|it| it.chars().next()).collect();
    format!("{first} {initials}")
}

pub(crate) fn stated(truth: &Truth) -> Facts {
    let set = |list: &[String], form: fn(&str) -> String| list.iter().map(|it| form(it)).collect();
    let day = |it: &Option<String>| it.clone().unwrap_or_default();
    Facts::from([
        ("document type", BTreeSet::from([truth.genre.to_owned()])),
        ("citation", set(&truth.citations, law)),
        (
            "party",
            truth.parties.iter().map(|it| format!("{} {}", person(&it.0), role(it.1))).collect(),
        ),
        ("attorney", set(&truth.attorneys, person)),
        ("judge", set(&truth.judges, person)),
        ("court", set(&truth.courts, plain_court)),
        ("case number", set(&truth.numbers, bare)),
        ("organisation", set(&truth.organisations, plain)),
        ("money", set(&truth.money, str::to_owned)),
        ("date", truth.events.iter().map(|it| format!("{} {}", it.0, it.1)).collect()),
        (
            "event",
            truth.events.iter().map(|it| format!("{} {} {}", it.0, it.1, event(it.2))).collect(),
        ),
        (
            "deadline",
            truth
                .deadlines
                .iter()
                .map(|it| format!("{} {} {}", it.0, unit(it.1), day(&it.2)))
                .collect(),
        ),
        (
            "conflict",
            truth.conflicts.iter().map(|it| format!("{} {}", event(it.0), it.1)).collect(),
        ),
    ])
}

fn text<'v>(draft: &'v Draft, key: &str) -> &'v str {
    draft.entities.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(draft: &'v Draft, key: &str) -> impl Iterator<Item = &'v str> {
    let values = draft.entities.get(key).and_then(Value::as_array);
    values.into_iter().flatten().filter_map(Value::as_str)
}

pub(crate) fn read(digest: &Digest) -> Facts {
    let mut facts = Facts::new();
    let mut add = |kind: &'static str, fact: String| {
        facts.entry(kind).or_default().insert(fact);
    };
    for it in &digest.drafts {
        let name = text(it, "name");
        match it.category {
            Category::Summary => add("document type", text(it, "documentType").to_owned()),
            Category::Citation => {
                let whole = text(it, "citation");
                let head = whole.strip_prefix(name).unwrap_or(whole);
                let dated = head
                    .rfind(" (")
                    .filter(|_| head.ends_with(')') && it.entities.contains_key("year"));
                add("citation", law(&head[..dated.unwrap_or(head.len())]));
                for other in list(it, "parallel") {
                    add("citation", law(other));
                }
            }
            Category::Party => {
                for role in list(it, "roles") {
                    add("party", format!("{} {}", person(name), bare(role)));
                }
            }
            Category::Attorney => add("attorney", person(name)),
            Category::Judge => add("judge", person(name)),
            Category::Court => add("court", plain_court(name)),
            Category::CaseNumber => add("case number", bare(name)),
            Category::Organisation => add("organisation", plain(name)),
            Category::Money => {
                add("money", format!("{} {}", text(it, "currency"), text(it, "amount")));
            }
            Category::Event => {
                let days = format!("{} {}", text(it, "from"), text(it, "to"));
                add("event", format!("{days} {}", text(it, "event")));
                add("date", days);
            }
            Category::Deadline => {
                let count = it.entities["count"].as_u64().unwrap();
                add("deadline", format!("{count} {} {}", bare(text(it, "unit")), text(it, "due")));
            }
            Category::Conflict => {
                add("conflict", format!("{} {}", text(it, "event"), text(it, "subject")));
            }
        }
    }
    facts
}

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Score {
    pub(crate) right: usize,
    pub(crate) wrong: usize,
    pub(crate) missed: usize,
}

impl Score {
    pub(crate) fn precision(self) -> f64 {
        share(self.right, self.right + self.wrong)
    }

    pub(crate) fn recall(self) -> f64 {
        share(self.right, self.right + self.missed)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

pub(crate) type Scores = BTreeMap<&'static str, Score>;

/// Counts what was read against what is true, and says what differs.
pub(crate) fn compare(
    scores: &mut Scores,
    truth: &Facts,
    read: &Facts,
    mut tell: impl FnMut(&str, &str, &str),
) {
    let kinds: BTreeSet<&'static str> = truth.keys().chain(read.keys()).copied().collect();
    let none = BTreeSet::new();
    for kind in kinds {
        let (known, found) = (truth.get(kind).unwrap_or(&none), read.get(kind).unwrap_or(&none));
        let score = scores.entry(kind).or_default();
        score.right += known.intersection(found).count();
        for it in found.difference(known) {
            score.wrong += 1;
            tell(kind, "wrong", it);
        }
        for it in known.difference(found) {
            score.missed += 1;
            tell(kind, "missed", it);
        }
    }
}
