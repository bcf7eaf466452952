//! Runs the evaluation set: questions with the expected intent, securities, dates and figures.

use serde::Deserialize;
use serde_json::{Value, json};

use super::fake_tools::{FakeTools, SECURITIES, TestAnswer, ask};
use super::invariants::check_invariants;
use crate::Language;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EvalCase {
    ask: String,
    #[serde(default)]
    before: Vec<String>,
    locale: Option<String>,
    #[serde(default = "russian")]
    language: String,
    intent: String,
    /// The expected tickers, or `INDEX` for all constituents.
    #[serde(default)]
    tickers: Tickers,
    from: Option<String>,
    to: Option<String>,
    #[serde(default)]
    weights: Vec<f64>,
    /// Expected citations: the tool, the value of one argument, and the pointer into the result.
    #[serde(default)]
    figures: Vec<(String, String, String)>,
    /// Strings that the text must contain.
    #[serde(default)]
    says: Vec<String>,
    /// Strings that the first sentence must contain.
    #[serde(default)]
    lead: Vec<String>,
    /// Strings that the text must not contain.
    #[serde(default)]
    lacks: Vec<String>,
    /// The expected intents of the further parts.
    #[serde(default)]
    also: Vec<String>,
    /// Whether the question comes before the first trade of the day.
    #[serde(default)]
    morning: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Tickers {
    Named(Vec<String>),
    All(String),
}

impl Default for Tickers {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

impl Tickers {
    fn all(&self) -> Vec<String> {
        match self {
            Self::Named(all) => all.clone(),
            Self::All(of) => {
                assert_eq!(of, "INDEX");
                let tickers = SECURITIES.lines().filter_map(|it| it.split('|').next());
                tickers.take(20).map(ToOwned::to_owned).collect()
            }
        }
    }
}

impl EvalCase {
    fn messages(&self) -> Vec<&str> {
        self.before.iter().chain([&self.ask]).map(String::as_str).collect()
    }

    fn fake_tools(&self) -> FakeTools {
        FakeTools { morning: self.morning, ..FakeTools::default() }
    }
}

/// Returns the first sentence of an answer, below its heading.
fn lead(text: &str) -> &str {
    text.lines().find(|it| !it.starts_with("##") && !it.is_empty()).unwrap_or_default()
}

/// Reports whether a pointer matches the expected one, in which `*` matches any segment.
fn points(pointer: &str, expected: &str) -> bool {
    let (found, expected): (Vec<&str>, Vec<&str>) =
        (pointer.split('/').collect(), expected.split('/').collect());
    found.len() == expected.len()
        && found
            .iter()
            .zip(&expected)
            .all(|(found, expected)| *expected == "*" || found == expected)
}

fn russian() -> String {
    "ru".to_owned()
}

fn rows() -> Vec<EvalCase> {
    serde_json::from_str(include_str!("../../eval/questions.json")).unwrap()
}

/// Lists the differences between an answer and the expectation.
fn wrong(row: &EvalCase, test_answer: &TestAnswer) -> Vec<String> {
    let debug = &test_answer.answer.debug;
    let mut wrong = Vec::new();
    let mut check = |what: &str, found: Value, expected: Value| {
        if found != expected {
            wrong.push(format!("{what}: {found} instead of {expected}"));
        }
    };
    check("intent", debug["intent"].clone(), json!(row.intent));
    check("language", debug["language"].clone(), json!(row.language));
    check("tickers", debug["tickers"].clone(), json!(row.tickers.all()));
    for (name, expected) in [("from", &row.from), ("to", &row.to)] {
        if let Some(expected) = expected {
            check(name, debug["period"][name].clone(), json!(expected));
        }
    }
    if !row.weights.is_empty() {
        let risk = test_answer.findings.iter().find(|it| it.tool == "compute_portfolio_risk");
        let positions = risk.map(|it| it.args["positions"].clone()).unwrap_or_default();
        let found: Vec<f64> = positions
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|it| Some((it["weight"].as_f64()? * 1e4).round() / 1e4))
            .collect();
        check("weights", json!(found), json!(row.weights));
    }
    let text = &test_answer.answer.draft.text;
    for (tool, about, pointer) in &row.figures {
        let cited = test_answer.answer.draft.citations.iter().any(|citation| {
            citation.sources.iter().any(|(id, at)| {
                let call = test_answer.findings.iter().find(|it| it.id == *id);
                points(at, &format!("/result{pointer}"))
                    && call
                        .is_some_and(|it| it.tool == *tool && it.args.to_string().contains(about))
            })
        });
        check(&format!("{tool} {about} {pointer}"), json!(cited), json!(true));
    }
    check("also", debug["also"].clone(), json!(row.also));
    for piece in &row.says {
        check(piece, json!(text.contains(piece)), json!(true));
    }
    for piece in &row.lead {
        check(piece, json!(lead(text).contains(piece)), json!(true));
    }
    for piece in &row.lacks {
        check(piece, json!(text.contains(piece)), json!(false));
    }
    wrong
}

#[test]
fn every_question_of_the_evaluation_set_passes() {
    let rows = rows();
    assert!(rows.len() >= 350, "{} questions", rows.len());
    let mut failed = Vec::new();
    for row in &rows {
        let messages = row.messages();
        let locale = match row.locale.as_deref() {
            Some("en") => Some(Language::English),
            Some(_) => Some(Language::Russian),
            None => None,
        };
        let test_answer = ask(row.fake_tools(), &messages, locale);
        check_invariants(&test_answer, &messages.join("\n"));
        let wrong = wrong(row, &test_answer);
        if !wrong.is_empty() {
            failed.push(format!(
                "{}\n  {}\n  -- {}",
                row.ask,
                wrong.join("\n  "),
                lead(&test_answer.answer.draft.text)
            ));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), rows.len(), failed.join("\n"));
}

#[test]
fn all_sections_and_one_disclaimer_are_present() {
    // Answers of one figure have only the sections that say something.
    let short = ["help", "indicators", "crypto", "market_risk", "ranking"];
    let whole =
        |it: &&EvalCase| !short.contains(&it.intent.as_str()) && !it.tickers.all().is_empty();
    for row in rows().iter().filter(whole) {
        let messages = row.messages();
        let text = ask(row.fake_tools(), &messages, Some(Language::Russian)).answer.draft.text;
        for section in ["## Резюме", "## Ключевые показатели", "## Риски", "## Выводы"]
        {
            assert_eq!(text.matches(section).count(), 1, "{}: {section}\n{text}", row.ask);
        }
        assert_eq!(text.matches("не инвестиционная рекомендация").count(), 1, "{}", row.ask);
        assert!(text.contains("смоделированы") && text.contains("задержкой 15"), "{text}");
    }
}
