//! The facts that a generated document states, and how many of them were found.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

use crate::{CaseFacts, DeadlineUnit, EntityKind, EventKind, Ground, Role};

/// The facts that a generated document states; its generator fills each list together with the
/// text.
#[derive(Debug, Default, Clone)]
pub struct ExpectedFacts {
    /// The document type that a summary should name.
    pub document_type: &'static str,
    /// Volume, reporter and page, or what a law has instead; parallel ones too.
    pub citations: Vec<String>,
    pub parties: Vec<(String, Role)>,
    pub attorneys: Vec<String>,
    pub judges: Vec<String>,
    pub courts: Vec<String>,
    pub numbers: Vec<String>,
    pub organisations: Vec<String>,
    /// `USD 5000.00`
    pub money: Vec<String>,
    /// First day, last day and kind: `2024-03-05`.
    pub events: Vec<(String, String, EventKind)>,
    /// Count, unit and the day; no day if the text gives no anchor to count from.
    pub deadlines: Vec<(u16, DeadlineUnit, Option<String>)>,
    pub conflicts: Vec<(EventKind, String)>,
}

/// Lower case without punctuation; Russian words lose their endings, which differ by case.
pub fn plain(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let cut = words.map(|it| match it {
        "общество"
        | "общества"
        | "обществу"
        | "с"
        | "ограниченной"
        | "ответственностью"
        | "ооо"
        | "ао"
        | "пао"
        | "акционерное"
        | "акционерного"
        | "акционерному" => "",
        it if it.is_ascii() => it,
        it => it.char_indices().nth(5).map_or(it, |(at, _)| &it[..at]),
    });
    cut.filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Courts are compared without the words that all of them share.
pub fn plain_court(name: &str) -> String {
    let name = plain(name).replace("u s ", "united states ");
    let mut words: Vec<&str> = name
        .split(' ')
        .filter(|it| !matches!(*it, "of" | "the" | "for" | "in" | "state" | "city" | "город"))
        .map(|it| {
            if matches!(it, "суда" | "суде" | "суду" | "судом") {
                "суд"
            } else {
                it
            }
        })
        .collect();
    words.sort_unstable();
    words.join(" ")
}

type FactSets = BTreeMap<&'static str, BTreeSet<String>>;

pub fn stated(truth: &ExpectedFacts) -> FactSets {
    let set = |list: &[String], form: fn(&str) -> String| list.iter().map(|it| form(it)).collect();
    let events = |it: &(String, String, EventKind)| format!("{} {} {:?}", it.0, it.1, it.2);
    let days = |it: &(String, String, EventKind)| format!("{} {}", it.0, it.1);
    FactSets::from([
        (
            "party",
            truth.parties.iter().map(|(name, role)| format!("{} {role:?}", plain(name))).collect(),
        ),
        ("attorney", set(&truth.attorneys, plain)),
        ("judge", set(&truth.judges, plain)),
        ("court", set(&truth.courts, plain_court)),
        ("case number", set(&truth.numbers, plain)),
        ("organisation", set(&truth.organisations, plain)),
        ("money", set(&truth.money, str::to_owned)),
        ("date", truth.events.iter().map(days).collect()),
        ("event", truth.events.iter().map(events).collect()),
        ("deadline", truth.deadlines.iter().map(|it| format!("{} {:?}", it.0, it.1)).collect()),
        (
            "due day",
            truth
                .deadlines
                .iter()
                .filter_map(|it| Some(format!("{} {:?} {}", it.0, it.1, it.2.as_ref()?)))
                .collect(),
        ),
        ("conflict", truth.conflicts.iter().map(|it| format!("{:?} {}", it.0, it.1)).collect()),
    ])
}

/// The facts that were read from the document, each with its ground.
pub fn found(facts: &CaseFacts<'_>) -> Vec<(&'static str, String, Ground)> {
    let mut list = Vec::new();
    for it in &facts.entities {
        for role in it.roles.iter().filter(|it| it.is_party()) {
            list.push(("party", format!("{} {role:?}", plain(&it.name)), it.ground));
        }
        if it.roles.contains(&Role::Attorney) {
            list.push(("attorney", plain(&it.name), it.ground));
        }
        if it.roles.contains(&Role::Judge) {
            list.push(("judge", plain(&it.name), it.ground));
        }
        match it.kind {
            EntityKind::Court => list.push(("court", plain_court(&it.name), it.ground)),
            EntityKind::CaseNumber => list.push(("case number", plain(&it.name), it.ground)),
            EntityKind::Organisation => list.push(("organisation", plain(&it.name), it.ground)),
            EntityKind::Money => list.push(("money", it.key.clone(), it.ground)),
            EntityKind::Person => {}
        }
    }
    for it in &facts.events {
        list.push(("date", format!("{} {}", it.when.from, it.when.to), it.ground));
        list.push(("event", format!("{} {} {:?}", it.when.from, it.when.to, it.kind), it.ground));
    }
    for it in &facts.deadlines {
        list.push(("deadline", format!("{} {:?}", it.count, it.unit), Ground::Shape));
        let from = it.due.ok().and_then(|due| facts.events.get(due.from));
        if let Some(from) = from {
            let day = counted(from.when.from, it.count, it.unit, it.before);
            list.push(("due day", format!("{} {:?} {day}", it.count, it.unit), it.ground));
        }
    }
    for it in &facts.conflicts {
        list.push(("conflict", format!("{:?} {}", it.kind, it.subject), Ground::Label));
    }
    list
}

/// The day at which a count ends, moved off a weekend. Labels name the anchor of a deadline; the
/// rules and holidays by which the last day moves have their own tests.
pub fn counted(start: Date, count: u16, unit: DeadlineUnit, before: bool) -> Date {
    let sign = if before { -1 } else { 1 };
    let count = i64::from(count) * sign;
    let add = |day: Date, span: Span| day.checked_add(span).unwrap_or(day);
    let free = |day: Date| matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
    let next = |mut day: Date| {
        while free(day) {
            day = add(day, sign.days());
        }
        day
    };
    next(match unit {
        DeadlineUnit::Years => add(start, count.years()),
        DeadlineUnit::Months => add(start, count.months()),
        DeadlineUnit::Weeks => add(start, count.weeks()),
        DeadlineUnit::Days => add(start, count.days()),
        DeadlineUnit::BusinessDays => {
            (0..count.abs()).fold(start, |day, _| next(add(day, sign.days())))
        }
    })
}

#[derive(Debug, Default, Clone, Copy)]
pub struct Score {
    pub right: usize,
    pub wrong: usize,
    pub missed: usize,
}

impl Score {
    pub fn precision(self) -> f64 {
        share(self.right, self.right + self.wrong)
    }

    pub fn recall(self) -> f64 {
        share(self.right, self.right + self.missed)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
