//! The results of an integrity test as the contract's JSON and as text.

use archive_integrity::{
    Claim, InsightReport, IntegrityTest, Issue, OpinionChange, RuleCheck, SourceEvidence, Span,
};
use clock::Millis;
use serde_json::{Map, Value, json};

use crate::clip::clip;
use crate::integrity::RestOfInsights;
use crate::integrity::model_judgement::Judgement;

/// Bytes of JSON that fit into a stored job, less the fields around the results.
pub(crate) const STORED_BYTES_MAX: usize = 56 * 1024;
/// Characters of the text that lists the issues.
const TEXT_MAX: usize = 16_000;

/// The results of one test over insights of any number of files.
pub(crate) struct TestResults {
    pub(crate) test: IntegrityTest,
    pub(crate) details: Vec<InsightReport>,
    /// In the order of `details`; empty without a model.
    pub(crate) judgements: Vec<Option<Judgement>>,
    /// The model that gave a second opinion.
    pub(crate) model: Option<String>,
    /// What was left out, and why.
    pub(crate) notes: Vec<String>,
    /// Set if there are more insights than one test checks.
    pub(crate) rest: Option<RestOfInsights>,
}

impl TestResults {
    pub(crate) fn new(test: IntegrityTest) -> Self {
        let (details, judgements, notes) = (Vec::new(), Vec::new(), Vec::new());
        Self { test, details, judgements, model: None, notes, rest: None }
    }

    pub(crate) fn json(&self) -> Value {
        self.json_of(self.details.len(), self.details.len())
    }

    /// At most `bytes` of JSON: full details of the first insights, verdicts of more, and the
    /// counts of all. The lowest scores come first.
    pub(crate) fn json_within(&self, bytes: usize) -> Value {
        let whole = self.json();
        if json_bytes(&whole) <= bytes {
            return whole;
        }
        // The fields around the details, and a comma for each detail.
        let around = json_bytes(&self.json_of(0, 0)) + self.details.len();
        let order = self.order(true);
        let fitting = |room: usize, explained: bool, from: usize| {
            let mut left = room;
            let sizes = order.iter().skip(from).map(|at| json_bytes(&self.detail(*at, explained)));
            sizes
                .take_while(|size| {
                    let fits = *size <= left;
                    left = left.saturating_sub(*size);
                    fits
                })
                .count()
        };
        let room = bytes.saturating_sub(around);
        let explained = fitting(room / 2, true, 0);
        let used: usize =
            order.iter().take(explained).map(|at| json_bytes(&self.detail(*at, true))).sum();
        let listed = fitting(room.saturating_sub(used), false, explained);
        self.json_of(explained, explained + listed)
    }

    fn json_of(&self, explained: usize, listed: usize) -> Value {
        let order = self.order(listed < self.details.len() || explained < self.details.len());
        let details: Vec<Value> = order
            .iter()
            .take(listed)
            .enumerate()
            .map(|(at, detail)| self.detail(*detail, at < explained))
            .collect();
        let count = |word: &str| self.details.iter().filter(|it| it.verdict.word() == word).count();
        let mut json = json!({
            "testType": self.test.word(),
            "insightsTested": self.details.len(),
            "passed": count("passed"),
            "failed": count("failed"),
            "warnings": count("warning"),
            "details": details,
            "model": self.judge_names(),
            "method": self.method(),
            "detailsTotal": self.details.len(),
        });
        if let Some(rest) = &self.rest {
            json["insightsTotal"] = Value::from(rest.total);
            if let Some(next) = &rest.next {
                json["next"] = Value::from(next.as_str());
            }
        }
        if explained < self.details.len() {
            json["more"] = Value::from(
                "the worst come first; for the issues of the others run the test again with \
                 their insightIds, at most 100 at a time",
            );
        }
        json
    }

    /// Indexes into `details`: in their order, or the lowest scores first when some are left out.
    fn order(&self, worst_first: bool) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.details.len()).collect();
        if worst_first {
            order.sort_by(|one, other| {
                self.details[*one].score.total_cmp(&self.details[*other].score)
            });
        }
        order
    }

    fn judge_names(&self) -> String {
        self.model.as_ref().map_or_else(|| "local".to_owned(), |it| format!("local and {it}"))
    }

    fn method(&self) -> String {
        let mut method = "rules over the insight and its source; every finding takes its weight \
                          off the score, which passes from 0.7 and is a warning from 0.5"
            .to_owned();
        if self.model.is_some() {
            method.push_str("; the model's judgement stands beside it and changes no score");
        }
        for note in &self.notes {
            method.push_str("; ");
            method.push_str(note);
        }
        method
    }

    fn detail(&self, at: usize, explained: bool) -> Value {
        let detail = &self.details[at];
        let mut json = json!({
            "insightId": detail.insight_id,
            "status": detail.verdict.word(),
            "score": rounded(detail.score),
        });
        if let Some(answer) = detail.answer {
            json["answer"] = Value::from(answer.word());
        }
        let Some(object) = json.as_object_mut().filter(|_| explained) else { return json };
        object.insert("issues".to_owned(), detail.issues().into());
        object.insert("recommendations".to_owned(), detail.recommendations().into());
        put(object, "findings", &detail.findings, finding);
        put(object, "claims", &detail.claims, claim);
        put(object, "rules", &detail.rules, rule);
        put(object, "changes", &detail.changes, change);
        if let Some(judgement) = self.judgements.get(at).and_then(Option::as_ref) {
            object.insert("model".to_owned(), judgement.json());
        }
        json
    }
}

/// Insights that the text names for the next call.
const IDS_SHOWN: usize = 50;

/// The text of stored results: the counts, then the issues of each insight.
pub(crate) fn results_text(results: &Value) -> String {
    let shown = |name: &str| match &results[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut text = format!(
        "{}: {} insights tested by {}, {} passed, {} warnings, {} failed.",
        shown("testType"),
        shown("insightsTested"),
        shown("model"),
        shown("passed"),
        shown("warnings"),
        shown("failed"),
    );
    if let Some(next) = results["next"].as_str() {
        let (most, total) = (shown("insightsTested"), shown("insightsTotal"));
        text.push_str(&format!(" One test checks {most} of the {total} insights; next: {next}"));
    }
    let details = results["details"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (at, detail) in details.iter().enumerate() {
        let issues = detail["issues"].as_array().map(Vec::as_slice).unwrap_or_default();
        let Some(id) = detail["insightId"].as_str().filter(|_| !issues.is_empty()) else {
            continue;
        };
        let word = detail["status"].as_str().unwrap_or_default();
        text.push_str(&format!("\n- {id} {word} ({})", detail["score"]));
        if let Some(verdict) = detail["model"]["verdict"].as_str() {
            text.push_str(&format!(", the model: {verdict}"));
        }
        for issue in issues.iter().filter_map(Value::as_str).take(5) {
            text.push_str(&format!("\n  - {}", clip(issue, 400)));
        }
        if text.len() > TEXT_MAX {
            let left = details.iter().skip(at + 1).filter_map(|it| it["insightId"].as_str());
            let left: Vec<&str> = left.take(IDS_SHOWN).collect();
            if !left.is_empty() {
                let ids = Value::from(left);
                text.push_str(&format!("\nnext: arkiver_integrity_test with insightIds {ids}"));
            }
            break;
        }
    }
    text
}

fn json_bytes(json: &Value) -> usize {
    json.to_string().len()
}

/// Scores are products of rounded weights; more decimals than four mean nothing.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}

fn put<T>(object: &mut Map<String, Value>, name: &str, list: &[T], item: impl Fn(&T) -> Value) {
    if !list.is_empty() {
        object.insert(name.to_owned(), list.iter().map(item).collect());
    }
}

fn span(span: Span) -> Value {
    json!({ "start": span.start, "end": span.end })
}

fn evidence(it: &SourceEvidence) -> Value {
    json!({ "fileHash": it.file_hash, "page": it.page, "span": span(it.span),
        "text": it.text, "sentence": it.sentence })
}

fn finding(it: &Issue) -> Value {
    let mut json = json!({ "code": it.code, "weight": it.weight, "message": it.message,
        "advice": it.advice, "sentence": it.sentence });
    if let Some(at) = it.span {
        json["span"] = span(at);
    }
    if let Some(there) = &it.evidence {
        json["evidence"] = evidence(there);
    }
    json
}

fn claim(it: &Claim) -> Value {
    let mut json = json!({ "kind": it.kind.word(), "text": it.text, "span": span(it.span),
        "support": it.support.word() });
    if let Some(there) = &it.evidence {
        json["evidence"] = evidence(there);
    }
    json
}

fn rule(it: &RuleCheck) -> Value {
    let mut json = json!({ "number": it.number, "rule": it.rule, "state": it.state.word(),
        "broken": it.broken });
    if let Some(there) = &it.evidence {
        json["evidence"] = Value::from(there.as_str());
    }
    json
}

fn change(it: &OpinionChange) -> Value {
    json!({ "what": it.what, "earlierInsightId": it.earlier_id, "laterInsightId": it.later_id,
        "earlierAt": Millis(it.earlier_ms).to_rfc3339_millis(),
        "laterAt": Millis(it.later_ms).to_rfc3339_millis(),
        "from": it.from, "to": it.to, "explained": it.explained })
}

#[cfg(test)]
mod tests {
    use archive_integrity::{Insight, SourceText, TestOptions};

    use super::*;

    /// Every second insight has a number that its source does not.
    fn results(count: usize) -> TestResults {
        let insights: Vec<Insight> = (0..count)
            .map(|at| Insight {
                id: format!("00000000-0000-7000-8000-{at:012}"),
                content: format!("The contract price was ${}.", 500 + at % 2),
                ..Insight::default()
            })
            .collect();
        let pages = vec!["The contract price was $500.".to_owned()];
        let text = SourceText { file_hash: "h".to_owned(), pages };
        let mut results = TestResults::new(IntegrityTest::FactCheck);
        let report = archive_integrity::run(
            IntegrityTest::FactCheck,
            &insights,
            &[text],
            &TestOptions::default(),
        );
        results.details = report.details;
        results
    }

    #[test]
    fn a_small_report_is_complete_and_in_order() {
        let results = results(4);
        let json = results.json_within(STORED_BYTES_MAX);
        assert_eq!(json, results.json());
        assert_eq!((&json["passed"], &json["failed"]), (&json!(2), &json!(2)), "{json}");
        assert_eq!(json["details"][1]["insightId"], "00000000-0000-7000-8000-000000000001");
        assert!(json.get("more").is_none());
        let text = results_text(&json);
        assert!(text.contains("$501"), "{text}");
    }

    #[test]
    fn a_large_report_fits_into_a_job_and_names_what_it_left_out() {
        let results = results(1000);
        let json = results.json_within(STORED_BYTES_MAX);
        assert!(json.to_string().len() <= STORED_BYTES_MAX);
        assert_eq!(json["insightsTested"], 1000);
        assert_eq!(json["details"][0]["status"], "failed");
        assert!(json["details"][0]["issues"].is_array());
        assert!(json["more"].is_string());
        assert!(results_text(&json).len() < TEXT_MAX + 4_000);
    }
}
