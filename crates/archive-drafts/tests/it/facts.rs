//! The facts in the drafts of a document and its expected facts in one normal form, and their
//! score.

use std::collections::{BTreeMap, BTreeSet};

use archive_drafts::{Category, DocumentDrafts, Draft};
use archive_entities::testing::{ExpectedFacts, counted, plain, plain_court};
use archive_entities::{DeadlineUnit, EventKind, Role};
use jiff::civil::Date;
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

/// The normal form of a name. Russian names are compared by the first five letters of the surname
/// and the initials, in either order, because grammatical case changes the endings.
pub(crate) fn person(name: &str) -> String {
    let form = plain(name);
    let form = form.strip_prefix("the ").unwrap_or(&form).to_owned();
    // A degree is no part of a name.
    let form = form.strip_suffix(" m d").map_or(form.clone(), str::to_owned);
    let lower = name.to_lowercase();
    let firm =
        |it: &str| matches!(it, "ооо" | "ао" | "пао" | "оао" | "зао") || it.starts_with("обществ");
    if form.is_ascii() {
        return form;
    }
    if name.contains(['«', '"', '“']) || lower.split(' ').any(firm) {
        // The legal form is left out, because it is declined or abbreviated in many ways.
        let forms = ["общес", "акцио", "публи", "огран", "ответ", "оао", "зао", "откры", "закры"];
        let words = form.split(' ').filter(|it| !forms.contains(it));
        return words.collect::<Vec<_>>().join(" ");
    }
    // Single letters are kept here, because they are initials; `plain` drops some of them as words.
    let words = lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let words: Vec<&str> =
        words.map(|it| it.char_indices().nth(5).map_or(it, |(at, _)| &it[..at])).collect();
    let long = |it: &&str| it.chars().count() > 1;
    let surname = words.iter().position(long).unwrap_or_default();
    let rest = words.iter().enumerate().filter(|it| it.0 != surname);
    let initials: String = rest.filter_map(|it| it.1.chars().next()).collect();
    format!("{} {initials}", words.get(surname).unwrap_or(&""))
}

/// The normal form of a court's name: without a division that sits in another place, and with
/// `города` for `г.`.
pub(crate) fn court(name: &str) -> String {
    let lower = name.to_lowercase().replace("г.", "города ");
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
    Facts::from([
        ("document type", BTreeSet::from([truth.document_type.to_owned()])),
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
        ("deadline", truth.deadlines.iter().map(|it| format!("{} {}", it.0, unit(it.1))).collect()),
        ("due day", due_days(truth)),
        ("sure due day", due_days(truth)),
        (
            "conflict",
            truth.conflicts.iter().map(|it| format!("{} {}", event(it.0), it.1)).collect(),
        ),
    ])
}

fn due_days(truth: &ExpectedFacts) -> BTreeSet<String> {
    let days = truth.deadlines.iter();
    days.filter_map(|it| Some(format!("{} {} {}", it.0, unit(it.1), it.2.as_ref()?))).collect()
}

fn text<'v>(draft: &'v Draft, key: &str) -> &'v str {
    draft.entities.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(draft: &'v Draft, key: &str) -> impl Iterator<Item = &'v str> {
    let values = draft.entities.get(key).and_then(Value::as_array);
    values.into_iter().flatten().filter_map(Value::as_str)
}

pub(crate) fn read(document_drafts: &DocumentDrafts) -> Facts {
    let mut facts = Facts::new();
    for (kind, fact) in document_drafts.drafts.iter().flat_map(of_draft) {
        facts.entry(kind).or_default().insert(fact);
    }
    facts
}

/// The kinds and facts of one draft.
pub(crate) fn of_draft(it: &Draft) -> Vec<(&'static str, String)> {
    let name = text(it, "name");
    match it.category {
        Category::Summary => vec![("document type", text(it, "documentType").to_owned())],
        Category::Citation => {
            let whole = text(it, "citation");
            let head = whole.strip_prefix(name).unwrap_or(whole);
            let dated = head
                .rfind(" (")
                .filter(|_| head.ends_with(')') && it.entities.contains_key("year"));
            let cited = [&head[..dated.unwrap_or(head.len())]];
            let all = cited.into_iter().chain(list(it, "parallel")).flat_map(laws);
            all.map(|law| ("citation", law)).collect()
        }
        Category::Party => {
            let fact = |role| ("party", format!("{} {}", person(name), bare(role)));
            list(it, "roles").map(fact).collect()
        }
        Category::Attorney => vec![("attorney", person(name))],
        Category::Judge => vec![("judge", person(name))],
        Category::Court => vec![("court", court(name))],
        Category::CaseNumber => vec![("case number", bare(name))],
        Category::Organisation => vec![("organisation", plain(name))],
        Category::Money => {
            vec![("money", format!("{} {}", text(it, "currency"), text(it, "amount")))]
        }
        Category::Event => {
            let days = format!("{} {}", text(it, "from"), text(it, "to"));
            vec![("event", format!("{days} {}", text(it, "event"))), ("date", days)]
        }
        Category::Deadline if it.entities.contains_key("fixed") => {
            let days = format!("{} {}", text(it, "from"), text(it, "due"));
            vec![("event", format!("{days} due")), ("date", days)]
        }
        Category::Deadline => {
            let count = it.entities["count"].as_u64().unwrap();
            let term = format!("{count} {}", bare(text(it, "unit")));
            let mut list = vec![("deadline", term.clone())];
            if let Some(day) = counted_day(it) {
                list.push(("due day", format!("{term} {day}")));
                if it.confidence > 0.6 {
                    list.push(("sure due day", format!("{term} {day}")));
                }
            }
            list
        }
        Category::Outcome => Vec::new(),
        Category::Conflict => {
            vec![("conflict", format!("{} {}", text(it, "event"), text(it, "subject")))]
        }
    }
}

/// The day at which the count from the anchor ends, without the rules of holidays.
fn counted_day(draft: &Draft) -> Option<Date> {
    let start: Date = text(draft, "countedFrom").parse().ok()?;
    let count = u16::try_from(draft.entities["count"].as_u64()?).ok()?;
    let unit = match text(draft, "unit") {
        "days" => DeadlineUnit::Days,
        "business_days" => DeadlineUnit::BusinessDays,
        "weeks" => DeadlineUnit::Weeks,
        "months" => DeadlineUnit::Months,
        _ => DeadlineUnit::Years,
    };
    Some(counted(start, count, unit, draft.entities["before"].as_bool()?))
}

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Score {
    /// Facts in the drafts that are expected, and those that are not.
    pub(crate) right: usize,
    pub(crate) wrong: usize,
    /// Expected facts that are in the drafts, and those that are not.
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

/// Adds the comparison of the read facts with the expected ones to `scores` and reports each
/// difference. `same` gets the kind, the read fact and the expected fact.
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
