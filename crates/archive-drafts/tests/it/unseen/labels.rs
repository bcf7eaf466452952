//! The labelled documents of a lot: names, texts, and what is true of them, from the rows below
//! each.

use archive_entities::testing::{ExpectedFacts, counted};
use archive_entities::{DeadlineUnit, EventKind, Role};
use jiff::civil::Date;

pub(super) struct Sample {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) truth: ExpectedFacts,
}

impl Sample {
    /// Whether its errors are only counted and never shown.
    pub(super) fn is_held_out(&self) -> bool {
        let hash = self.name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        (hash >> 17) & 1 == 1
    }
}

pub(super) fn samples(lot: &str) -> Vec<Sample> {
    let list = lot.split("=== ").skip(1).map(|document| {
        let (name, rest) = document.split_once('\n').unwrap();
        let (text, rows) = rest.split_once("\n---\n").unwrap();
        let mut truth = ExpectedFacts::default();
        for row in rows.lines().filter(|it| !it.is_empty()) {
            let (label, value) = row.split_once(": ").unwrap();
            put(&mut truth, label, value);
        }
        Sample { name: name.to_owned(), text: text.to_owned(), truth }
    });
    list.collect()
}

fn put(truth: &mut ExpectedFacts, label: &str, value: &str) {
    let whole = value.to_owned();
    match label.split_once(' ') {
        Some(("party", role)) => truth.parties.push((whole, role_of(role))),
        Some(("event", kind)) => {
            let (from, to) = value.split_once("..").unwrap_or((value, value));
            truth.events.push((from.to_owned(), to.to_owned(), kind_of(kind)));
        }
        _ => match label {
            "attorney" => truth.attorneys.push(whole),
            "judge" => truth.judges.push(whole),
            "court" => truth.courts.push(whole),
            "number" => truth.numbers.push(whole),
            "money" => truth.money.push(whole),
            "cite" => truth.citations.push(whole),
            "deadline" => truth.deadlines.push(deadline(value)),
            _ => unreachable!("{label}"),
        },
    }
}

fn role_of(word: &str) -> Role {
    let roles = [
        Role::Plaintiff,
        Role::Defendant,
        Role::Appellant,
        Role::Appellee,
        Role::Petitioner,
        Role::Respondent,
        Role::Debtor,
        Role::Subject,
        Role::Contracting,
    ];
    *roles.iter().find(|it| format!("{it:?}").to_lowercase() == word).unwrap()
}

fn kind_of(word: &str) -> EventKind {
    let kinds = [
        EventKind::Filed,
        EventKind::Served,
        EventKind::Hearing,
        EventKind::Order,
        EventKind::Judgment,
        EventKind::Incident,
        EventKind::Agreement,
        EventKind::Payment,
        EventKind::Notice,
        EventKind::Employment,
        EventKind::Dated,
        EventKind::Other,
    ];
    let found = kinds.iter().find(|it| format!("{it:?}").to_lowercase() == word);
    if word == "due" { EventKind::Deadline } else { *found.unwrap() }
}

/// `14 days after 2023-05-08`, `15 days before 2023-10-05`, `90 days`
fn deadline(value: &str) -> (u16, DeadlineUnit, Option<String>) {
    let words: Vec<&str> = value.split(' ').collect();
    let count: u16 = words[0].parse().unwrap();
    let unit = match words[1] {
        "days" => DeadlineUnit::Days,
        "businessdays" => DeadlineUnit::BusinessDays,
        "months" => DeadlineUnit::Months,
        it => unreachable!("{it}"),
    };
    let day = words.get(3).map(|it| {
        let start: Date = it.parse().unwrap();
        counted(start, count, unit, words[2] == "before").to_string()
    });
    (count, unit, day)
}
