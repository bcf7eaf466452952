//! What was read from a document and what is true of it, in one form, and how well they agree.

use std::collections::{BTreeMap, BTreeSet};

use archive_drafts::{Category, DocumentDrafts, Draft};
use archive_entities::testing::{ExpectedFacts, plain, plain_court};
use archive_entities::{DeadlineUnit, EventKind, Role};
use serde_json::Value;

use crate::law::{bare, laws};

pub(crate) type Facts = BTreeMap<&'static str, BTreeSet<String>>;

fn role(role: Role) -> String {
    bare(&format!("{role:?}"))
}

fn event(kind: EventKind) -> String {
    if kind == EventKind::Deadline { "due".to_owned() } else { bare(&format!("{kind:?}")) }
}

fn unit(unit: DeadlineUnit) -> String {
    bare(&format!("{unit:?}"))
}

/// Russian names by surname and initials, whichever stands first, because cases change the endings
/// of all.
fn person(name: &str) -> String {
    let form = plain(name);
    let form = form.strip_prefix("the ").unwrap_or(&form).to_owned();
    let lower = name.to_lowercase();
    let firm =
        |it: &str| matches!(it, "ооо" | "ао" | "пао" | "оао" | "зао") || it.starts_with("обществ");
    if form.is_ascii() {
        return form;
    }
    if name.contains(['«', '"', '“']) || lower.split(' ').any(firm) {
        // The legal form is the same however it is bent or cut.
        let forms = ["общес", "акцио", "публи", "огран", "ответ", "оао", "зао"];
        let words = form.split(' ').filter(|it| !forms.contains(it));
        return words.collect::<Vec<_>>().join(" ");
    }
    // Initials may be letters that are words elsewhere.
    let words = lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let words: Vec<&str> =
        words.map(|it| it.char_indices().nth(5).map_or(it, |(at, _)| &it[..at])).collect();
    let long = |it: &&str| it.chars().count() > 1;
    let surname = words.iter().position(long).unwrap_or_default();
    let rest = words.iter().enumerate().filter(|it| it.0 != surname);
    let initials: String = rest.filter_map(|it| it.1.chars().next()).collect();
    format!("{} {initials}", words.get(surname).unwrap_or(&""))
}

/// A court is the same with and without the division of it that sits in a place, and a city is
/// one however its word is cut.
fn court(name: &str) -> String {
    let lower = name.to_lowercase().replace("г.", "города");
    let words: Vec<&str> = lower.split_whitespace().collect();
    let kept = match words.as_slice() {
        [
            kept @ ..,
            "eastern" | "western" | "northern" | "southern" | "central" | "probate" | "civil"
            | "criminal" | "family",
            "division",
        ] => kept,
        all => all,
    };
    plain_court(&kept.join(" "))
}

pub(crate) fn stated(truth: &ExpectedFacts) -> Facts {
    let set = |list: &[String], form: fn(&str) -> String| list.iter().map(|it| form(it)).collect();
    let day = |it: &Option<String>| it.clone().unwrap_or_default();
    Facts::from([
        ("document type", BTreeSet::from([truth.genre.to_owned()])),
        ("citation", truth.citations.iter().flat_map(|it| laws(it)).collect()),
        (
            "party",
            truth.parties.iter().map(|it| format!("{} {}", person(&it.0), role(it.1))).collect(),
        ),
        ("attorney", set(&truth.attorneys, person)),
        ("judge", set(&truth.judges, person)),
        ("court", set(&truth.courts, court)),
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

pub(crate) fn read(digest: &DocumentDrafts) -> Facts {
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
                let cited = [&head[..dated.unwrap_or(head.len())]];
                for law in cited.into_iter().chain(list(it, "parallel")).flat_map(laws) {
                    add("citation", law);
                }
            }
            Category::Party => {
                for role in list(it, "roles") {
                    add("party", format!("{} {}", person(name), bare(role)));
                }
            }
            Category::Attorney => add("attorney", person(name)),
            Category::Judge => add("judge", person(name)),
            Category::Court => add("court", court(name)),
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
    /// Of what was read.
    pub(crate) right: usize,
    pub(crate) wrong: usize,
    /// Of what is true.
    pub(crate) found: usize,
    pub(crate) missed: usize,
}

impl Score {
    pub(crate) fn precision(self) -> f64 {
        share(self.right, self.right + self.wrong)
    }

    pub(crate) fn recall(self) -> f64 {
        share(self.found, self.found + self.missed)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

pub(crate) type Scores = BTreeMap<&'static str, Score>;

/// Counts what was read against what is true, and says what differs. `same` is asked of what was
/// read and what is true, in this order.
pub(crate) fn compare(
    scores: &mut Scores,
    truth: &Facts,
    read: &Facts,
    same: impl Fn(&str, &str, &str) -> bool,
    mut tell: impl FnMut(&str, &str, &str),
) {
    let kinds: BTreeSet<&'static str> = truth.keys().chain(read.keys()).copied().collect();
    let none = BTreeSet::new();
    for kind in kinds {
        let (known, found) = (truth.get(kind).unwrap_or(&none), read.get(kind).unwrap_or(&none));
        let score = scores.entry(kind).or_default();
        for it in found {
            if known.iter().any(|other| same(kind, it, other)) {
                score.right += 1;
            } else {
                score.wrong += 1;
                tell(kind, "wrong", it);
            }
        }
        for it in known {
            if found.iter().any(|other| same(kind, other, it)) {
                score.found += 1;
            } else {
                score.missed += 1;
                tell(kind, "missed", it);
            }
        }
    }
}
