//! Builds citations for a model's text, which has only call marks such as `[1]`: looks up each
//! number in the result of the call that its line names.

use serde_json::{Value, json};

use super::claims;
use crate::check::{
    Citation, CitationPlace, Formula, Number, Unsupported, check_numbers, numbers, visit_values,
};
use crate::number::{Language, date_forms};
use crate::tool_session::Finding;

/// One scalar value from a call's arguments, result or metadata.
struct EvidenceValue {
    call: usize,
    pointer: String,
    value: Value,
}

struct CallMark {
    call: usize,
    from: usize,
    to: usize,
}

/// Returns a citation for every number of the text, or the numbers that have no source.
pub(super) fn cited(
    text: &str,
    question: &str,
    findings: &[Finding],
) -> Result<Vec<Citation>, Vec<Unsupported>> {
    let chars: Vec<char> = text.chars().collect();
    let evidence = evidence_values(findings);
    let dates = dates(&evidence);
    let marks = marks(&chars);
    let question_numbers = numbers(question);
    let mut citations: Vec<Citation> = Vec::new();
    let mut cited_to = 0;
    for number in numbers(text) {
        if number.from < cited_to
            || marks.iter().any(|it| it.from < number.from && number.to < it.to)
        {
            continue;
        }
        let citation = cite_date(&chars, &number, &dates)
            .or_else(|| cite_result_value(&chars, &number, &evidence, &marks))
            .or_else(|| cite_question_number(&chars, &number, &question_numbers));
        if let Some(citation) = citation {
            if let CitationPlace::Text(_, to) = citation.place {
                cited_to = to;
            }
            citations.push(citation);
        }
    }
    let mut wrong = check_numbers(text, &citations, question, findings).err().unwrap_or_default();
    wrong.extend(claims::written_otherwise(text, question, findings));
    if wrong.is_empty() { Ok(citations) } else { Err(wrong) }
}

fn evidence_values(findings: &[Finding]) -> Vec<EvidenceValue> {
    let mut evidence = Vec::new();
    for finding in findings {
        visit_values(&finding.evidence(), &mut String::new(), &mut |pointer, value| {
            let (call, pointer) = (finding.id, pointer.to_owned());
            evidence.push(EvidenceValue { call, pointer, value: value.clone() });
        });
    }
    evidence
}

/// Lists every distinct date among the values, with all its written forms.
fn dates(evidence: &[EvidenceValue]) -> Vec<(&EvidenceValue, Vec<Vec<char>>)> {
    let mut seen = std::collections::BTreeSet::new();
    let mut dates = Vec::new();
    for source in evidence {
        let text = source.value.as_str().and_then(|it| it.get(..10)).unwrap_or_default();
        let Some(date) = clock::parse_date(text).filter(|it| seen.insert(*it)) else { continue };
        let forms = [Language::Russian, Language::English];
        let forms = forms.iter().flat_map(|it| date_forms(date, *it));
        dates.push((source, forms.map(|it| it.chars().collect()).collect()));
    }
    dates
}

fn marks(chars: &[char]) -> Vec<CallMark> {
    let mut marks = Vec::new();
    for (from, _) in chars.iter().enumerate().filter(|(_, it)| **it == '[') {
        let digits: String =
            chars[from + 1..].iter().take(6).take_while(|it| it.is_ascii_digit()).collect();
        let to = from + digits.len() + 2;
        if let (Ok(call), Some(']')) = (digits.parse(), chars.get(to - 1)) {
            marks.push(CallMark { call, from, to });
        }
    }
    marks
}

fn cite_date(
    chars: &[char],
    number: &Number,
    dates: &[(&EvidenceValue, Vec<Vec<char>>)],
) -> Option<Citation> {
    let rest = chars.get(number.from..)?;
    // A bare year is not the head of a longer date: `2026` in `2026-08-16`.
    let continues = |at: usize| {
        let dash = rest.get(at).is_some_and(|it| "-.".contains(*it));
        let digit = |at: usize| rest.get(at).is_some_and(char::is_ascii_digit);
        digit(at) || dash && digit(at + 1)
    };
    let fits = |form: &&Vec<char>| rest.starts_with(form) && !continues(form.len());
    let all = dates.iter().flat_map(|(source, forms)| forms.iter().map(move |it| (source, it)));
    let (source, form) = all.filter(|it| fits(&it.1)).max_by_key(|it| it.1.len())?;
    Some(Citation {
        place: CitationPlace::Text(number.from, number.from + form.len()),
        shown: form.iter().collect(),
        value: source.value.clone(),
        sources: vec![(source.call, source.pointer.clone())],
        formula: Formula::Value,
    })
}

/// Returns the calls named for a number: by the first group of adjacent marks after it on its line,
/// or else by all marks before it on the line.
fn calls_named_for(chars: &[char], number: &Number, marks: &[CallMark]) -> Vec<usize> {
    let is_break = |it: &char| *it == '\n';
    let start = chars[..number.from].iter().rposition(is_break).map_or(0, |it| it + 1);
    let end = chars[number.to..].iter().position(is_break).map_or(chars.len(), |it| number.to + it);
    let mut calls = Vec::new();
    let mut group_end = end;
    for mark in marks.iter().filter(|it| number.to <= it.from && it.to <= end) {
        if mark.from > group_end && !calls.is_empty() {
            break;
        }
        calls.push(mark.call);
        group_end = mark.to + 2;
    }
    if calls.is_empty() {
        let earlier = marks.iter().filter(|it| start <= it.from && it.to <= number.from);
        calls.extend(earlier.map(|it| it.call));
    }
    calls
}

/// Cites a numeric value of a result. The arguments of a call support nothing, because the model
/// chose them; neither does a number inside a string.
fn cite_result_value(
    chars: &[char],
    number: &Number,
    evidence: &[EvidenceValue],
    marks: &[CallMark],
) -> Option<Citation> {
    let calls = calls_named_for(chars, number, marks);
    let mut after = chars[number.to..].iter().skip_while(|it| it.is_whitespace());
    let percent = after.next() == Some(&'%');
    let rest: String = chars[number.to..].iter().take(8).collect();
    let money = claims::is_money(rest.trim_start());
    let matching = |source: &EvidenceValue| {
        let value = source.value.as_f64()?;
        let field = claims::Field::of(&source.pointer);
        if percent && field == claims::Field::Other || money && field != claims::Field::Other {
            return None;
        }
        if number.shows(value) {
            claims::agrees_with_words(chars, number, value, &source.pointer)
                .then(|| (Formula::Value, source.value.clone()))
        } else if percent && field == claims::Field::Fraction && number.shows(value * 100.0) {
            Some((Formula::Percent, json!(value * 100.0)))
        } else {
            None
        }
    };
    let results = evidence.iter().filter(|it| it.pointer.starts_with("/result/"));
    let mut named_results = results.filter(|it| calls.contains(&it.call));
    named_results.find_map(|source| {
        let (formula, value) = matching(source)?;
        Some(Citation {
            place: CitationPlace::Text(number.from, number.to),
            shown: number.shown.clone(),
            value,
            sources: vec![(source.call, source.pointer.clone())],
            formula,
        })
    })
}

/// Cites a number that the question itself contains.
fn cite_question_number(
    chars: &[char],
    number: &Number,
    question_numbers: &[Number],
) -> Option<Citation> {
    if !claims::is_term_of_question(chars, number) {
        return None;
    }
    question_numbers.iter().any(|it| it.shown == number.shown).then(|| Citation {
        place: CitationPlace::Text(number.from, number.to),
        shown: number.shown.clone(),
        value: json!(number.shown),
        sources: Vec::new(),
        formula: Formula::Question,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::data::prose;
    use crate::ports::ToolAnswer;

    fn finding(id: usize, args: Value, result: Value) -> Finding {
        let outcome = Ok(ToolAnswer { result, ..ToolAnswer::default() });
        Finding { id, tool: "t".to_owned(), args, outcome, duration: Duration::ZERO }
    }

    #[track_caller]
    fn check(text: &str, unsupported: &[&str]) {
        let findings = [
            finding(
                1,
                json!({ "limit": 777, "from_date": "2024-05-01", "to_date": "2024-06-03" }),
                json!({ "price": 1234.56 }),
            ),
            finding(
                2,
                json!({}),
                json!({ "share": 0.4, "fall_pct": -3.21, "name": "price 31337" }),
            ),
        ];
        let cited = cited(&prose(text), "портфель на 500 тысяч", &findings);
        let wrong: Vec<String> = cited.err().into_iter().flatten().map(|it| it.text).collect();
        assert_eq!(wrong, unsupported, "{text}");
    }

    #[test]
    fn a_number_is_supported_by_the_call_its_line_names() {
        check("Цена 1 234,56 ₽ [1], доля 40% [2]", &[]);
        check("Цена 1235 [1] с 1 мая 2024, на 500 тысяч", &[]);
        check("По [2] падение −3,2%", &[]);
        check("Цена 1234.56 [2]", &["1234.56"]);
        check("Цена 1234.56\n[1]", &["1234.56"]);
        check("Рост 3,2% [2]", &["3,2"]);
        check("Доля 40 штук [2]", &["40"]);
        check("Предел 777 [1], цель 31337 [2]", &["777", "31337"]);
        check("Слово [9]", &["9"]);
    }

    #[test]
    fn a_number_is_supported_only_by_the_field_it_speaks_of() {
        check("С 2024-05-01 по 2024-06-03 [1][2]", &[]);
        check("Рост 1234,56% [1]", &["1234,56"]);
        check("Падение 3,21 ₽ [2]", &["3,21"]);
        check("Доходность −3,21% [2]", &[]);
        check("Рост на −3,21% [2]", &["−3,21"]);
        check("Цена RUB1234 [1]", &["RUB1234"]);
        check("Цена １２３４ [1]", &["１２３４"]);
        check("Доля ⁴⁰ % [2]", &["⁴⁰"]);
        check("Рост двадцать процентов [2]", &["двадцать процентов"]);
        check("It rose twenty percent [2]", &["twenty percent"]);
        check("Тысяча рублей за акцию [1]", &["тысяча рублей"]);
        check("GAZP стоит 500 рублей [1]", &["500"]);
        check("Портфель на сумму 500 тысяч [1]", &[]);
        check("Три бумаги и первый квартал [1]", &[]);
    }
}
