//! The `parameters` object of `arkiver_integrity_test`, which the schema leaves open.

use archive_integrity::TestOptions;
use fault::Fault;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::integrity::model_judgement::{RUNS_DEFAULT, RUNS_MAX};

const FINDINGS_MAX: u64 = 100;
const TOPIC_CHARS_MAX: usize = 500;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parameters {
    pub(crate) topic: Option<String>,
    pub(crate) runs: u32,
    pub(crate) findings_max: usize,
}

impl Default for Parameters {
    fn default() -> Self {
        let findings_max = TestOptions::default().findings_max;
        Self { topic: None, runs: RUNS_DEFAULT, findings_max }
    }
}

impl Parameters {
    pub(crate) fn read(given: &Map<String, Value>) -> Result<Self, Fault> {
        let mut read = Self::default();
        if let Some(topic) = given.get("topic") {
            let expected = "a text of 1 to 500 characters";
            let fits = |it: &&str| !it.trim().is_empty() && it.chars().count() <= TOPIC_CHARS_MAX;
            let topic = topic.as_str().filter(fits).ok_or_else(|| invalid("topic", expected))?;
            read.topic = Some(topic.to_owned());
        }
        let number = |name: &str, most: u64| match given.get(name) {
            None => Ok(None),
            Some(value) => {
                // A whole number may be written as 3.0.
                let whole = value.as_u64().or_else(|| {
                    value.as_f64().filter(|it| it.fract() == 0.0 && *it >= 0.0).map(|it| it as u64)
                });
                let fits = whole.filter(|it| (1..=most).contains(it));
                let expected = format!("a whole number from 1 to {most}");
                fits.map(Some).ok_or_else(|| invalid(name, &expected))
            }
        };
        if let Some(runs) = number("runs", u64::from(RUNS_MAX))? {
            read.runs = u32::try_from(runs).unwrap_or(RUNS_MAX);
        }
        if let Some(most) = number("findingsMax", FINDINGS_MAX)? {
            read.findings_max = usize::try_from(most).unwrap_or(usize::MAX);
        }
        Ok(read)
    }

    pub(crate) fn options(&self) -> TestOptions {
        TestOptions { topic: self.topic.clone(), findings_max: self.findings_max }
    }
}

fn invalid(name: &str, expected: &str) -> Fault {
    let field = format!("parameters.{name}");
    Fault::invalid("invalid_input", format!("{field} must be {expected}")).problem(field, expected)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(given: Value, refused: Option<&str>) {
        let read = Parameters::read(given.as_object().unwrap());
        let field = read.err().map(|fault| fault.problems()[0].field.clone());
        assert_eq!(field.as_deref(), refused, "{given}");
    }

    #[test]
    fn parameters_of_a_wrong_type_are_named() {
        check(json!({}), None);
        check(json!({ "runs": 5.0, "topic": "damages", "findingsMax": 3, "other": [] }), None);
        check(json!({ "runs": 6 }), Some("parameters.runs"));
        check(json!({ "runs": "3" }), Some("parameters.runs"));
        check(json!({ "runs": 1.5 }), Some("parameters.runs"));
        check(json!({ "findingsMax": 0 }), Some("parameters.findingsMax"));
        check(json!({ "topic": 5 }), Some("parameters.topic"));
        check(json!({ "topic": " " }), Some("parameters.topic"));
        check(json!({ "topic": "x".repeat(501) }), Some("parameters.topic"));
    }
}
