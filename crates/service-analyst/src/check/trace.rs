//! Builds citations for a text that has none: searches the tool results for each number.

use serde_json::{Value, json};

use super::scan::{Number, numbers, visit_values};
use super::{Citation, CitationPlace, Formula, Unsupported, is_code, is_mark, letters_and_digits};
use crate::number::{Language, date_forms};
use crate::tool_session::Finding;

/// One scalar value from a call's arguments, result or metadata.
struct EvidenceValue {
    call: usize,
    pointer: String,
    value: Value,
}

/// Finds the source of each number of a text: a value, with or without its sign, a date, or the
/// question itself. Returns the numbers without a source as an error. It does not find numbers
/// computed from several values, so the writer of such a text must not compute.
pub fn trace(
    text: &str,
    question: &str,
    findings: &[Finding],
) -> Result<Vec<Citation>, Vec<Unsupported>> {
    let chars: Vec<char> = text.chars().collect();
    let mut evidence = Vec::new();
    for finding in findings {
        visit_values(&finding.evidence(), &mut String::new(), &mut |pointer, value| {
            let (call, pointer, value) = (finding.id, pointer.to_owned(), value.clone());
            evidence.push(EvidenceValue { call, pointer, value });
        });
    }
    let mut citations = dates(text, &evidence);
    let mut wrong = Vec::new();
    for number in numbers(text) {
        let within = |it: &Citation| match it.place {
            CitationPlace::Text(from, to) => from <= number.from && number.to <= to,
            CitationPlace::Cell(..) => false,
        };
        let named = is_mark(&chars, &number, findings) || is_code(&chars, &number, findings);
        if named || citations.iter().any(within) {
            continue;
        }
        match cite_value(&chars, &number, &evidence).or_else(|| cite_question(&number, question)) {
            Some(citation) => citations.push(citation),
            None => wrong.push(Unsupported { text: number.shown, at: number.from }),
        }
    }
    if wrong.is_empty() { Ok(citations) } else { Err(wrong) }
}

fn cite_value(chars: &[char], number: &Number, evidence: &[EvidenceValue]) -> Option<Citation> {
    let float = |it: &EvidenceValue| it.value.as_f64();
    // A whole number of one or two digits would match too many values by rounding, so it matches
    // only whole values.
    let plain: f64 = letters_and_digits(&number.shown).parse().unwrap_or(f64::NAN);
    let short = number.shown.chars().filter(|it| *it != '−' && *it != '-').count() < 3
        && (number.shows(plain) || number.shows(-plain));
    let float = |it: &EvidenceValue| float(it).filter(|it| !short || it.fract() == 0.0);
    let exact = evidence.iter().find(|it| float(it).is_some_and(|it| number.shows(it)));
    let negative =
        || evidence.iter().find(|it| float(it).is_some_and(|it| it < 0.0 && number.shows(-it)));
    let (source, formula) = match exact {
        Some(source) => (source, Formula::Value),
        None => (negative()?, Formula::Absolute),
    };
    // The citation includes the word for thousands or millions.
    let scaled = (number.to..chars.len().min(number.to + 6)).map(|to| to + 1).find(|to| {
        let shown: String = chars.iter().take(*to).skip(number.from).collect();
        matches!(numbers(&shown).as_slice(), [it] if float(source).is_some_and(|value| it.shows(value.abs()) || it.shows(value)))
    });
    let alone = matches!(numbers(&number.shown).as_slice(), [it] if float(source).is_some_and(|value| it.shows(value.abs()) || it.shows(value)));
    let to = if alone { number.to } else { scaled.unwrap_or(number.to) };
    Some(Citation {
        place: CitationPlace::Text(number.from, to),
        shown: chars.iter().take(to).skip(number.from).collect(),
        value: source.value.clone(),
        sources: vec![(source.call, source.pointer.clone())],
        formula,
    })
}

fn cite_question(number: &Number, question: &str) -> Option<Citation> {
    let in_question = numbers(question)
        .iter()
        .any(|it| letters_and_digits(&it.shown) == letters_and_digits(&number.shown));
    in_question.then(|| Citation {
        place: CitationPlace::Text(number.from, number.to),
        shown: number.shown.clone(),
        value: json!(number.shown),
        sources: Vec::new(),
        formula: Formula::Question,
    })
}

/// Cites every date in the text that a tool returned, the longest written forms first.
fn dates(text: &str, evidence: &[EvidenceValue]) -> Vec<Citation> {
    let mut found: Vec<Citation> = Vec::new();
    let dated = |it: &EvidenceValue| {
        let date = clock::parse_date(it.value.as_str()?.get(..10)?)?;
        Some((it.call, it.pointer.clone(), it.value.clone(), date))
    };
    let all: Vec<_> = evidence.iter().filter_map(dated).collect();
    for form in 0..5 {
        for (call, pointer, value, date) in &all {
            for language in [Language::Russian, Language::English] {
                let Some(shown) = date_forms(*date, language).into_iter().nth(form) else {
                    continue;
                };
                for (at, _) in text.match_indices(&shown) {
                    let from = text.get(..at).map_or(0, |it| it.chars().count());
                    let place = CitationPlace::Text(from, from + shown.chars().count());
                    if !found.iter().any(|it| overlaps(it.place, place)) {
                        let sources = vec![(*call, pointer.clone())];
                        let (shown, value) = (shown.clone(), value.clone());
                        found.push(Citation {
                            place,
                            shown,
                            value,
                            sources,
                            formula: Formula::Value,
                        });
                    }
                }
            }
        }
    }
    found
}

fn overlaps(a: CitationPlace, b: CitationPlace) -> bool {
    matches!((a, b), (CitationPlace::Text(a, b), CitationPlace::Text(c, d)) if a < d && c < b)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::check::check_numbers;
    use crate::ports::ToolAnswer;

    #[track_caller]
    fn check(text: &str, supported: bool) {
        let result = json!({ "data": { "price": 271.5, "ticker": "4HUB" }, "metrics": { "fall": -3.917, "value": 12_345_678_900_u64 } });
        let finding = Finding {
            id: 1,
            tool: "t".to_owned(),
            args: json!({ "from_date": "2024-03-05" }),
            outcome: Ok(ToolAnswer { result, meta: serde_json::Map::new() }),
            duration: Duration::ZERO,
        };
        let findings = [finding];
        let question = "портфель 40%";
        let found = trace(text, question, &findings);
        assert_eq!(found.is_ok(), supported, "{text} {found:?}");
        if let Ok(found) = found {
            assert_eq!(check_numbers(text, &found, question, &findings), Ok(()), "{text}");
        }
    }

    #[test]
    fn numbers_are_traced_or_reported() {
        for text in [
            "цена 271,50 ₽ [1]",
            "price 271.5",
            "снизилась на 3,92 %",
            "−3,9 %",
            "оборот 12,3\u{a0}млрд ₽",
            "turnover 12.3 bn",
            "5 марта 2024",
            "с 05.03.2024",
            "в 2024 году",
            "доля 40 %",
            "бумага 4HUB",
        ] {
            check(text, true);
        }
        for text in [
            "цена 273",
            "+3,92 и 5,1 %",
            "[2]",
            "6 марта 2024",
            "13,3\u{a0}млрд",
            "4HUC",
            "в 2023 году",
        ] {
            check(text, false);
        }
    }
}
