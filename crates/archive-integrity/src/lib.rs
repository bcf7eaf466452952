//! Five rule-based integrity tests that compare insights with their source texts. They are
//! deterministic, and each finding has its sentence and its evidence. No I/O, no model.
//!
//! Every score is the product of `1 - weight` over the findings, so the findings explain it
//! whole: 1 where there are none, and higher is always better. From 0.7 an insight passes, from
//! 0.5 it is a warning, below that it fails. One contradiction (0.55) fails an insight by itself;
//! one claim that is not in the source (0.35 to 0.4), or too little evidence (0.4), is a warning,
//! and so are several: `fact_check` fails only what its source contradicts.

mod actors;
mod amount;
mod bias;
mod court_facts;
mod date;
mod drift;
mod fact;
mod holding;
mod honesty;
mod index;
mod lexicon;
mod name;
mod proposal;
mod quote;
mod reading;
mod report;
mod rules;
mod text;
mod triples;
mod voice;

pub use fact::{Claim, ClaimKind, Support};
pub use proposal::{ProposedContradiction, verify};
pub use report::{
    Answer, InsightReport, Issue, OpinionChange, SourceEvidence, TestReport, Verdict,
};
pub use rules::{RULES, RuleCheck, RuleStatus};

use std::collections::BTreeMap;

use index::Index;
use reading::Reading;

/// A span of a text. Public spans count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// A statement about one or more files.
#[derive(Debug, Clone, Default)]
pub struct Insight {
    pub id: String,
    pub title: String,
    pub content: String,
    pub category: String,
    pub tags: Vec<String>,
    /// Milliseconds since 1970, UTC.
    pub created_ms: i64,
    pub sources: Vec<CitedSource>,
}

/// The source location that an insight gives.
#[derive(Debug, Clone, Default)]
pub struct CitedSource {
    pub file_hash: String,
    /// Counted from 1.
    pub page: Option<u32>,
    /// In characters of the page.
    pub span: Option<Span>,
    /// The words there; empty where none are given.
    pub quote: String,
}

/// The text of a file, page by page.
#[derive(Debug, Clone, Default)]
pub struct SourceText {
    pub file_hash: String,
    pub pages: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntegrityTest {
    OpinionDrift,
    Bias,
    Honesty,
    TenRules,
    FactCheck,
}

impl IntegrityTest {
    pub const ALL: [Self; 5] =
        [Self::OpinionDrift, Self::Bias, Self::Honesty, Self::TenRules, Self::FactCheck];

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::OpinionDrift => "opinion_drift",
            Self::Bias => "bias",
            Self::Honesty => "honesty",
            Self::TenRules => "ten_rules",
            Self::FactCheck => "fact_check",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }
}

/// The options of a test.
#[derive(Debug, Clone)]
pub struct TestOptions {
    /// `opinion_drift` compares only statements about this topic.
    pub topic: Option<String>,
    /// The most findings and claims kept for one insight; the rest are only counted.
    pub findings_max: usize,
}

impl Default for TestOptions {
    fn default() -> Self {
        Self { topic: None, findings_max: 20 }
    }
}

/// An insight's content beyond this many bytes is not read, and the report says so.
const CONTENT_MAX: usize = 200_000;

/// Runs one test over the insights. An insight is checked against the texts of the files it
/// names, or against all of them if it names none.
#[must_use]
pub fn run(
    test: IntegrityTest,
    insights: &[Insight],
    texts: &[SourceText],
    options: &TestOptions,
) -> TestReport {
    let mut details = if test == IntegrityTest::OpinionDrift {
        drift::check(insights, options)
    } else {
        run_per_insight(test, insights, texts)
    };
    for detail in &mut details {
        detail.bound(options.findings_max);
    }
    TestReport::new(test, details)
}

/// Insights of the same files are checked together, so that each source is parsed once.
fn run_per_insight(
    test: IntegrityTest,
    insights: &[Insight],
    texts: &[SourceText],
) -> Vec<InsightReport> {
    let mut groups: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for (at, insight) in insights.iter().enumerate() {
        let mut chosen: Vec<usize> = if insight.sources.is_empty() {
            (0..texts.len()).collect()
        } else {
            let named =
                |text: &SourceText| insight.sources.iter().any(|it| it.file_hash == text.file_hash);
            (0..texts.len()).filter(|it| named(&texts[*it])).collect()
        };
        chosen.dedup();
        groups.entry(chosen).or_default().push(at);
    }
    let mut details: Vec<(usize, InsightReport)> = Vec::with_capacity(insights.len());
    for (chosen, members) in groups {
        let sources: Vec<&SourceText> = chosen.iter().map(|it| &texts[*it]).collect();
        let index = Index::new(&sources);
        for at in members {
            details.push((at, test_insight(test, &insights[at], &index)));
        }
    }
    details.sort_by_key(|it| it.0);
    details.into_iter().map(|it| it.1).collect()
}

fn test_insight(test: IntegrityTest, insight: &Insight, index: &Index<'_>) -> InsightReport {
    let content = readable(&insight.content);
    let reading = Reading::new(content);
    let mut detail = match test {
        IntegrityTest::FactCheck => fact::detail(insight, &reading, index),
        IntegrityTest::Honesty => honesty::detail(insight, &reading, index),
        IntegrityTest::Bias => bias::detail(insight, &reading, index),
        IntegrityTest::TenRules | IntegrityTest::OpinionDrift => {
            rules::detail(insight, &reading, index)
        }
    };
    if content.len() < insight.content.len() {
        detail.findings.push(report::insufficient_evidence(
            "only the first part of this very long text was read",
        ));
    }
    detail
}

/// The part of the text that is read.
fn readable(text: &str) -> &str {
    let mut end = text.len().min(CONTENT_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
