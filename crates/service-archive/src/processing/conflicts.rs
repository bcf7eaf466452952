//! Deep processing: compares a file with the other files of the same docket. Two things are
//! conflicts: a role with other parties, and another day of an event that happens once in a case.

use std::collections::{BTreeMap, BTreeSet};

use archive_drafts::{Category, Draft};
use serde_json::{Map, Value, json};

/// At most this many conflicts are reported for one file.
const CONFLICTS_MAX: usize = 50;
const CONFIDENCE: f64 = 0.6;
const MEANING: &str = "two files of the case say different things, by rules; one may be wrong, or \
                       they may speak of different things";

/// The compared facts of another file of the case.
#[derive(Debug, Clone, Default)]
pub(crate) struct OtherFile {
    pub(crate) file_id: String,
    pub(crate) file_name: String,
    pub(crate) facts: Vec<(Category, Map<String, Value>)>,
}

/// The categories that are compared.
pub(crate) const COMPARED_CATEGORIES: [Category; 3] =
    [Category::CaseNumber, Category::Party, Category::Event];

/// The conflicts between this file's drafts and the other files, each with its passages here.
pub(crate) fn conflicts(drafts: &[Draft], others: &[OtherFile]) -> Vec<Draft> {
    let mut found = Vec::new();
    let Some(docket) = drafts_of(drafts, Category::CaseNumber).next() else { return found };
    for other in others.iter().filter(|it| is_same_docket(docket, it)) {
        found.extend(party_conflicts(drafts, docket, other));
        found.extend(date_conflicts(drafts, other));
        if found.len() >= CONFLICTS_MAX {
            break;
        }
    }
    found.truncate(CONFLICTS_MAX);
    found
}

/// Whether the first case number of both files, which stands in the caption, is the same.
fn is_same_docket(docket: &Draft, other: &OtherFile) -> bool {
    let theirs = other.of(Category::CaseNumber).next().and_then(|it| text(it, "key"));
    theirs.is_some() && theirs == text(&docket.entities, "key")
}

fn drafts_of(drafts: &[Draft], category: Category) -> impl Iterator<Item = &Draft> {
    drafts.iter().filter(move |it| it.category == category)
}

impl OtherFile {
    fn of(&self, category: Category) -> impl Iterator<Item = &Map<String, Value>> {
        self.facts.iter().filter(move |(it, _)| *it == category).map(|(_, entities)| entities)
    }
}

fn text<'a>(entities: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    entities.get(name).and_then(Value::as_str).filter(|it| !it.is_empty())
}

fn roles(entities: &Map<String, Value>) -> Vec<&str> {
    let listed = entities.get("roles").and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The parties of each role: key and name.
fn parties_by_role<'a>(
    parties: impl Iterator<Item = &'a Map<String, Value>>,
) -> BTreeMap<&'a str, BTreeMap<&'a str, &'a str>> {
    let mut roles_found: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for entities in parties {
        let Some(key) = text(entities, "key") else { continue };
        for role in roles(entities) {
            roles_found.entry(role).or_default().insert(key, display_name(entities));
        }
    }
    roles_found
}

/// The name, else the key.
fn display_name(entities: &Map<String, Value>) -> &str {
    text(entities, "name").or_else(|| text(entities, "key")).unwrap_or_default()
}

/// The words of a name by which two spellings of it are compared: of at least four letters, without
/// `ё` and without the ending, which a Russian case changes.
fn stems(name: &str) -> BTreeSet<String> {
    let lower = name.to_lowercase().replace('ё', "е");
    let words = lower.split(|it: char| !it.is_alphanumeric());
    let long = words.filter(|it| it.chars().count() > 3);
    long.map(|it| it.chars().take(5).collect()).collect()
}

/// Two names that share a word may be one party: `Воробьёва Виктора` and `Воробьев В.В.`.
fn may_be_one(one: &str, other: &str) -> bool {
    !stems(one).is_disjoint(&stems(other))
}

/// A role whose parties have no name in common, where the other side of the case is the same.
fn party_conflicts(drafts: &[Draft], docket: &Draft, other: &OtherFile) -> Vec<Draft> {
    let there = parties_by_role(other.of(Category::Party));
    let here = parties_by_role(drafts_of(drafts, Category::Party).map(|it| &it.entities));
    let mut found = Vec::new();
    for (role, ours) in &here {
        let role = *role;
        let Some(theirs) = there.get(role) else { continue };
        // A party of another role there is the same party: an appellee was the plaintiff.
        let known: Vec<&str> = there.values().flat_map(BTreeMap::values).copied().collect();
        if ours.values().any(|name| known.iter().any(|it| may_be_one(name, it))) {
            continue;
        }
        // Without one common party the two captions are not of one case.
        let common = |(it, ours): (&&str, &BTreeMap<&str, &str>)| {
            *it != role && ours.values().any(|name| known.iter().any(|it| may_be_one(name, it)))
        };
        if !here.iter().any(common) {
            continue;
        }
        let names = |parties: &BTreeMap<&str, &str>| {
            parties.values().copied().collect::<Vec<_>>().join(", ")
        };
        let (ours_named, theirs_named) = (names(ours), names(theirs));
        let number = display_name(&docket.entities);
        let first = drafts_of(drafts, Category::Party)
            .find(|it| text(&it.entities, "key").is_some_and(|key| ours.contains_key(key)));
        let Some(first) = first else { continue };
        found.push(conflict(
            first,
            other,
            format!("Case {number}: another {role} in \"{}\"", other.file_name),
            format!(
                "The {role} is {ours_named} here and {theirs_named} in \"{}\".",
                other.file_name
            ),
            json!({ "kind": "conflict", "conflict": "parties", "docket": number, "role": role,
                "here": ours_named, "there": theirs_named }),
        ));
    }
    found
}

/// An event that a case has once, that each file mentions once to the day, and on different days.
fn date_conflicts(drafts: &[Draft], other: &OtherFile) -> Vec<Draft> {
    type DaysByEvent<'a, T> = BTreeMap<(&'a str, &'a str), Vec<(&'a str, T)>>;
    fn event_day(entities: &Map<String, Value>) -> Option<((&str, &str), &str)> {
        text(entities, "precision").filter(|it| *it == "day")?;
        // Only the first pleading of a case and the accident it is about happen once; hearings,
        // orders and decisions of several instances each have their own day.
        let subject = text(entities, "subject")?;
        let event = text(entities, "event")?;
        let once = match event {
            "filed" => matches!(subject, "complaint" | "lawsuit" | "иск"),
            "incident" => true,
            _ => false,
        };
        once.then_some(((event, subject), text(entities, "from")?))
    }
    let mut here: DaysByEvent<'_, &Draft> = BTreeMap::new();
    for draft in drafts_of(drafts, Category::Event) {
        if let Some((event, day)) = event_day(&draft.entities) {
            here.entry(event).or_default().push((day, draft));
        }
    }
    let mut there: DaysByEvent<'_, ()> = BTreeMap::new();
    for (event, day) in other.of(Category::Event).filter_map(event_day) {
        there.entry(event).or_default().push((day, ()));
    }
    let mut found = Vec::new();
    for ((event, subject), ours) in here {
        let theirs = there.get(&(event, subject)).map(Vec::as_slice).unwrap_or_default();
        // A hearing may take many days. Only an event mentioned once in each file is the same
        // event.
        let ([(ours, draft)], [(theirs, ())]) = (&ours[..], theirs) else { continue };
        if ours == theirs {
            continue;
        }
        let what = event.replace('_', " ");
        let of = if subject.is_empty() { String::new() } else { format!(" of {subject}") };
        found.push(conflict(
            draft,
            other,
            format!("Another date of {what}{of} in \"{}\"", other.file_name),
            format!("The {what}{of} is on {ours} here and on {theirs} in \"{}\".", other.file_name),
            json!({ "kind": "conflict", "conflict": "dates", "event": event, "subject": subject,
                "here": ours, "there": theirs }),
        ));
    }
    found
}

fn conflict(
    at: &Draft,
    other: &OtherFile,
    title: String,
    content: String,
    entities: Value,
) -> Draft {
    let mut entities = if let Value::Object(entities) = entities { entities } else { Map::new() };
    entities.insert("otherFileId".to_owned(), Value::from(other.file_id.as_str()));
    entities.insert("otherFileName".to_owned(), Value::from(other.file_name.as_str()));
    Draft {
        category: Category::Conflict,
        title: crate::clip::clip(&title, 400),
        content: crate::clip::clip(&content, 4_000),
        tags: vec![Category::Conflict.word().to_owned(), "across-files".to_owned()],
        entities,
        citations: Vec::new(),
        confidence: CONFIDENCE,
        meaning: MEANING.into(),
        passages: at.passages.clone(),
        passages_total: at.passages_total,
    }
}

#[cfg(test)]
mod tests {
    use archive_text::Passage;

    use super::*;

    fn map(entities: Value) -> Map<String, Value> {
        entities.as_object().cloned().unwrap_or_default()
    }

    fn draft(category: Category, entities: Value) -> Draft {
        let quote = "words".to_owned();
        Draft {
            category,
            title: "t".to_owned(),
            content: "c".to_owned(),
            tags: Vec::new(),
            entities: map(entities),
            citations: Vec::new(),
            confidence: 0.9,
            meaning: "m".into(),
            passages: vec![Passage { page: 3, start: 0, end: 5, quote }],
            passages_total: 1,
        }
    }

    fn docket(key: &str) -> (Category, Value) {
        (Category::CaseNumber, json!({ "key": key }))
    }

    fn party(key: &str, role: &str) -> (Category, Value) {
        (Category::Party, json!({ "key": key, "roles": [role] }))
    }

    fn event(event: &str, subject: &str, from: &str, precision: &str) -> (Category, Value) {
        let entities = json!({ "event": event, "subject": subject, "from": from,
            "precision": precision });
        (Category::Event, entities)
    }

    #[track_caller]
    fn check(here: &[(Category, Value)], there: &[(Category, Value)], titles: &[&str]) {
        let drafts: Vec<Draft> =
            here.iter().map(|(category, it)| draft(*category, it.clone())).collect();
        let other = OtherFile {
            file_id: "f".to_owned(),
            file_name: "b.pdf".to_owned(),
            facts: there.iter().map(|(category, it)| (*category, map(it.clone()))).collect(),
        };
        let found = conflicts(&drafts, &[other]);
        let found_titles: Vec<&str> = found.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(found_titles, titles);
        assert!(found.iter().all(|it| it.passages[0].page == 3));
    }

    #[test]
    fn one_docket_with_no_common_party_in_a_role_is_a_conflict() {
        let here = [docket("24-1"), party("smith", "plaintiff"), party("jones", "defendant")];
        let there = [docket("24-1"), party("smith", "plaintiff"), party("brown", "defendant")];
        check(&here, &there, &["Case 24-1: another defendant in \"b.pdf\""]);
        let elsewhere = [docket("24-2"), party("brown", "defendant")];
        check(&here, &elsewhere, &[]);
        let more = [docket("24-1"), party("jones", "defendant"), party("brown", "defendant")];
        check(&here, &more, &[]);
        check(&here, &[docket("24-1")], &[]);
        // Another docket of the file does not make it one of this case.
        let cites = [docket("24-9"), docket("24-1"), party("brown", "defendant")];
        check(&here, &cites, &[]);
    }

    #[test]
    fn spellings_and_instances_of_one_case_are_no_conflict() {
        let first = [
            docket("2-1"),
            party("Воробьёва Виктора Викторовича", "plaintiff"),
            party("МКУ «Декабрист»", "defendant"),
        ];
        let appeal = [
            docket("2-1"),
            party("Воробьев В.В.", "appellant"),
            party("Воробьев В.В.", "plaintiff"),
            party("МКУ Декабрист", "appellee"),
        ];
        check(&first, &appeal, &[]);
        check(&appeal, &first, &[]);
        let here = [docket("2-1"), event("judgment", "judgment", "2024-03-01", "day")];
        check(&here, &[docket("2-1"), event("judgment", "judgment", "2024-06-01", "day")], &[]);
        let here = [docket("2-1"), event("filed", "", "2024-03-01", "day")];
        check(&here, &[docket("2-1"), event("filed", "", "2024-06-01", "day")], &[]);
    }

    #[test]
    fn one_event_on_two_days_is_a_conflict() {
        let day = |subject: &str, from: &str, precision: &str| {
            [docket("24-1"), event("filed", subject, from, precision)]
        };
        let here = day("complaint", "2024-03-01", "day");
        let title = "Another date of filed of complaint in \"b.pdf\"";
        check(&here, &day("complaint", "2024-03-05", "day"), &[title]);
        check(&here, &day("complaint", "2024-03-01", "day"), &[]);
        check(&here, &day("answer", "2024-03-05", "day"), &[]);
        check(&here, &day("complaint", "2024-03-01", "month"), &[]);
        check(&here, &[event("filed", "complaint", "2024-03-05", "day")], &[]);
        let two = [
            docket("24-1"),
            event("filed", "complaint", "2024-03-05", "day"),
            event("filed", "complaint", "2024-03-07", "day"),
        ];
        check(&here, &two, &[]);
    }
}
