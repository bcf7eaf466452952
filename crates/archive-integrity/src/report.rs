//! The report of a test: findings with their sentences, the score that follows from them, and a
//! verdict.

use crate::reading::Reading;
use crate::text::clip;
use crate::{Claim, IntegrityTest, RuleCheck, Span, Support};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    Passed,
    Warning,
    Failed,
}

impl Verdict {
    pub const PASS_FROM: f64 = 0.7;
    pub const WARNING_FROM: f64 = 0.5;

    #[must_use]
    pub fn of(score: f64) -> Self {
        if score >= Self::PASS_FROM {
            Self::Passed
        } else if score >= Self::WARNING_FROM {
            Self::Warning
        } else {
            Self::Failed
        }
    }

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Warning => "warning",
            Self::Failed => "failed",
        }
    }
}

/// What the source says about an insight as a whole, by `fact_check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Answer {
    /// Every claim is in the source: score 1.
    Supported,
    /// The source says otherwise about at least one claim: a score below 0.5.
    Contradicted,
    /// Nothing contradicts the insight, and at least one claim is not confirmed: a score between
    /// the other two.
    NotFound,
    /// There is no source text, or the insight claims nothing: score 0.5.
    NothingToCheck,
}

impl Answer {
    /// The least score of an insight that nothing contradicts: a warning, however many of its
    /// claims were not found.
    pub const NOT_FOUND_LEAST: f64 = 0.51;

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Contradicted => "contradicted",
            Self::NotFound => "not_found",
            Self::NothingToCheck => "nothing_to_check",
        }
    }

    pub(crate) fn of(claims: &[Claim]) -> Self {
        let has = |support: Support| claims.iter().any(|it| it.support == support);
        if has(Support::Contradicted) {
            Self::Contradicted
        } else if has(Support::NotFound) {
            Self::NotFound
        } else if has(Support::Supported) {
            Self::Supported
        } else {
            Self::NothingToCheck
        }
    }
}

/// A place in a source that supports or contradicts a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceEvidence {
    pub file_hash: String,
    /// Counted from 1.
    pub page: u32,
    /// In characters of the page.
    pub span: Span,
    pub text: String,
    pub sentence: String,
}

/// One defect, or a reason why the test cannot decide.
#[derive(Debug, Clone)]
pub struct Issue {
    pub code: &'static str,
    /// The share by which it lowers the score.
    pub weight: f64,
    pub message: String,
    pub advice: String,
    /// The sentence of the insight, clipped; empty where the finding is about the whole insight.
    pub sentence: String,
    /// In characters of the content.
    pub span: Option<Span>,
    pub evidence: Option<SourceEvidence>,
}

impl Issue {
    /// About the words at the span, in bytes of the reading.
    pub(crate) fn at(
        reading: &Reading<'_>,
        span: Span,
        code: &'static str,
        weight: f64,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let sentence = reading.sentence_at(span.start).map(|it| clip(reading.slice(it.span), 300));
        Self {
            code,
            weight,
            message: message.into(),
            advice: advice.into(),
            sentence: sentence.unwrap_or_default(),
            span: Some(reading.chars(span)),
            evidence: None,
        }
    }

    pub(crate) fn with(mut self, evidence: Option<SourceEvidence>) -> Self {
        self.evidence = evidence;
        self
    }
}

pub(crate) fn insufficient_evidence(why: &str) -> Issue {
    too_little_evidence(why, 0.4)
}

/// `fact_check` had nothing to check, which is worse than a claim that was not found (0.4).
pub(crate) fn nothing_to_check(why: &str) -> Issue {
    too_little_evidence(why, 0.5)
}

fn too_little_evidence(why: &str, weight: f64) -> Issue {
    Issue {
        code: "too_little_evidence",
        weight,
        message: format!("too little evidence: {why}"),
        advice: "give the insight a source, or more to check".to_owned(),
        sentence: String::new(),
        span: None,
        evidence: None,
    }
}

/// A difference between two insights.
#[derive(Debug, Clone)]
pub struct OpinionChange {
    /// `reversed`, `number_changed`, `date_changed`, `tone_turned`, `certainty_changed`,
    /// `replaced`.
    pub what: &'static str,
    pub earlier_id: String,
    pub later_id: String,
    pub earlier_ms: i64,
    pub later_ms: i64,
    pub from: String,
    pub to: String,
    /// The later insight says that it corrects the earlier one, or has another file as its source.
    pub explained: bool,
}

/// The result for one insight.
#[derive(Debug, Clone)]
pub struct InsightReport {
    pub insight_id: String,
    /// 0 to 1, higher is better.
    pub score: f64,
    pub verdict: Verdict,
    /// Only by `fact_check`.
    pub answer: Option<Answer>,
    /// The heaviest first.
    pub findings: Vec<Issue>,
    /// Findings beyond the limit; they count in the score.
    pub findings_more: usize,
    /// The claims checked against the source, by `fact_check` and `ten_rules`.
    pub claims: Vec<Claim>,
    pub claims_more: usize,
    /// One result for each rule, by `ten_rules`.
    pub rules: Vec<RuleCheck>,
    /// By `opinion_drift`, in the order of the text.
    pub changes: Vec<OpinionChange>,
}

impl InsightReport {
    pub(crate) fn new(insight_id: &str, findings: Vec<Issue>) -> Self {
        Self {
            insight_id: insight_id.to_owned(),
            score: 1.0,
            verdict: Verdict::Passed,
            answer: None,
            findings,
            findings_more: 0,
            claims: Vec::new(),
            claims_more: 0,
            rules: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Computes the score from all findings, then keeps the first ones.
    pub(crate) fn bound(&mut self, max: usize) {
        self.score = self.findings.iter().map(|it| 1.0 - it.weight.clamp(0.0, 1.0)).product();
        if self.answer == Some(Answer::NotFound) {
            self.score = self.score.max(Answer::NOT_FOUND_LEAST);
        }
        self.verdict = Verdict::of(self.score);
        self.findings.sort_by(|one, other| other.weight.total_cmp(&one.weight));
        self.findings_more = self.findings.len().saturating_sub(max);
        self.findings.truncate(max);
        // Unsupported claims come first.
        self.claims.sort_by_key(|it| match it.support {
            Support::Contradicted => 0,
            Support::NotFound => 1,
            Support::Supported => 2,
        });
        self.claims_more = self.claims.len().saturating_sub(max);
        self.claims.truncate(max);
        self.changes.truncate(max);
    }

    /// One line for each finding with its sentence, and a last line for the omitted ones.
    #[must_use]
    pub fn issues(&self) -> Vec<String> {
        let mut list: Vec<String> = self.findings.iter().map(line).collect();
        if self.findings_more > 0 {
            list.push(format!("and {} more", self.findings_more));
        }
        list
    }

    /// The advice of all findings, without duplicates.
    #[must_use]
    pub fn recommendations(&self) -> Vec<String> {
        let mut list: Vec<String> = Vec::new();
        for it in self.findings.iter().filter(|it| !it.advice.is_empty()) {
            let text = match it.sentence.as_str() {
                "" => it.advice.clone(),
                sentence => format!("{}: \"{}\"", it.advice, clip(sentence, 120)),
            };
            if !list.contains(&text) {
                list.push(text);
            }
        }
        list
    }
}

fn line(it: &Issue) -> String {
    let mut text = it.message.clone();
    if !it.sentence.is_empty() {
        text = format!("{text}, in \"{}\"", it.sentence);
    }
    if let Some(evidence) = &it.evidence {
        text = format!("{text} (page {}: \"{}\")", evidence.page, evidence.sentence);
    }
    text
}

/// The result for all insights.
#[derive(Debug, Clone)]
pub struct TestReport {
    pub test: IntegrityTest,
    pub passed: usize,
    pub warnings: usize,
    pub failed: usize,
    /// The mean of the insights' scores; `None` without insights.
    pub score: Option<f64>,
    /// In the order of the insights.
    pub details: Vec<InsightReport>,
}

impl TestReport {
    pub(crate) fn new(test: IntegrityTest, details: Vec<InsightReport>) -> Self {
        let count = |verdict| details.iter().filter(|it| it.verdict == verdict).count();
        let sum: f64 = details.iter().map(|it| it.score).sum();
        let all = f64::from(u32::try_from(details.len()).unwrap_or(u32::MAX));
        Self {
            test,
            passed: count(Verdict::Passed),
            warnings: count(Verdict::Warning),
            failed: count(Verdict::Failed),
            score: (all > 0.0).then(|| sum / all),
            details,
        }
    }

    #[must_use]
    pub fn tested(&self) -> usize {
        self.details.len()
    }
}
