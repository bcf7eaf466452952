//! The table of citations in `tests/citations.json`: each row is a text and what is found in it.

use serde_json::Value;

use crate::{Citation, find};

const FIELDS: [&str; 17] = [
    "volume",
    "edition",
    "page",
    "title",
    "section",
    "number",
    "pin_cite",
    "date",
    "year",
    "court",
    "plaintiff",
    "defendant",
    "antecedent",
    "parenthetical",
    "publisher",
    "parallel_to",
    "kind",
];

fn field(it: &Citation<'_>, name: &str) -> Option<String> {
    let text = match name {
        "volume" => it.volume,
        "edition" => it.edition,
        "page" => it.page,
        "title" => it.title,
        "section" => it.section,
        "number" => it.number,
        "pin_cite" => it.pin_cite,
        "date" => it.date,
        "court" => it.court,
        "plaintiff" => it.plaintiff,
        "defendant" => it.defendant,
        "antecedent" => it.antecedent,
        "parenthetical" => it.parenthetical,
        "publisher" => it.publisher,
        "year" => return it.year.map(|it| it.to_string()),
        "parallel_to" => return it.parallel_to.map(|it| it.to_string()),
        "kind" => return Some(snake(&format!("{:?}", it.kind))),
        _ => panic!("no field {name}"),
    };
    text.map(str::to_owned)
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

fn rows() -> Vec<(String, Vec<Value>)> {
    let rows: Vec<(String, Vec<Value>)> =
        serde_json::from_str(include_str!("../../tests/citations.json")).unwrap();
    rows
}

#[track_caller]
fn check(text: &str, expected: &[Value]) {
    let found = find(text);
    let shown: Vec<&str> = found.iter().map(|it| it.text).collect();
    assert_eq!(found.len(), expected.len(), "{text}: {shown:?}");
    for (it, expected) in found.iter().zip(expected) {
        assert_eq!(Some(it.text), expected[1].as_str(), "{text}");
        for name in FIELDS {
            let wanted = if name == "kind" { &expected[0] } else { &expected[2][name] };
            assert_eq!(
                field(it, name).as_deref(),
                wanted.as_str(),
                "{name} of {} in {text}",
                it.text
            );
        }
        for name in expected[2].as_object().unwrap().keys() {
            assert!(FIELDS.contains(&name.as_str()), "{name} in {text}");
        }
    }
}

#[test]
fn every_row_of_the_table_is_found_as_written() {
    let rows = rows();
    assert!(rows.len() >= 150);
    for (text, expected) in &rows {
        check(text, expected);
    }
}

#[test]
fn every_kind_has_a_row() {
    let kinds: std::collections::BTreeSet<String> = rows()
        .iter()
        .flat_map(|(_, found)| found.iter().map(|it| it[0].as_str().unwrap().to_owned()))
        .collect();
    let expected = [
        "decision",
        "docket",
        "full_case",
        "id",
        "journal",
        "public_domain",
        "reference",
        "regulation",
        "section",
        "short_case",
        "statute",
        "supra",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}
