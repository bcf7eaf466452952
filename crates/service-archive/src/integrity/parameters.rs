//! The `parameters` object of `arkiver_integrity_test`, which the schema leaves open.

use archive_integrity::TestOptions;
use fault::Fault;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::integrity::model_judgement::{RUNS_DEFAULT, RUNS_MAX};

const FINDINGS_MAX: u64 = 100;
const OFFSET_MAX: u64 = 1_000_000_000;
const TOPIC_CHARS_MAX: usize = 500;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parameters {
    pub(crate) topic: Option<String>,
    pub(crate) runs: u32,
    pub(crate) findings_max: usize,
    /// How many insights were tested by earlier calls, where there are more than one test checks.
    #[serde(default)]
    pub(crate) offset: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        let findings_max = TestOptions::default().findings_max;
        Self { topic: None, runs: RUNS_DEFAULT, findings_max, offset: 0 }
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
        let number = |name: &str, least: u64, most: u64| match given.get(name) {
            None => Ok(None),
            Some(value) => {
                // A whole number may be written as 3.0.
                let whole = value.as_u64().or_else(|| {
                    value.as_f64().filter(|it| it.fract() == 0.0 && *it >= 0.0).map(|it| it as u64)
                });
                let fits = whole.filter(|it| (least..=most).contains(it));
                let expected = format!("a whole number from {least} to {most}");
                fits.map(Some).ok_or_else(|| invalid(name, &expected))
            }
        };
        if let Some(runs) = number("runs", 1, u64::from(RUNS_MAX))? {
            read.runs = u32::try_from(runs).unwrap_or(RUNS_MAX);
        }
        if let Some(most) = number("findingsMax", 1, FINDINGS_MAX)? {
            read.findings_max = usize::try_from(most).unwrap_or(usize::MAX);
        }
        if let Some(offset) = number("offset", 0, OFFSET_MAX)? {
            read.offset = offset;
        }
        Ok(read)
    }

    /// The parameters as a caller writes them, those with their usual value left out, and another
    /// offset.
    pub(crate) fn given(&self, offset: u64) -> Value {
        let usual = Self::default();
        let mut given = json!({ "offset": offset });
        if let Some(topic) = &self.topic {
            given["topic"] = Value::from(topic.as_str());
        }
        if self.runs != usual.runs {
            given["runs"] = Value::from(self.runs);
        }
        if self.findings_max != usual.findings_max {
            given["findingsMax"] = Value::from(self.findings_max);
        }
        given
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
    use super::*;

    #[track_caller]
    fn check(given: Value, refused: Option<&str>) {
        let read = Parameters::read(given.as_object().unwrap());
        let field = read.err().map(|fault| fault.problems()[0].field.clone());
        assert_eq!(field.as_deref(), refused, "{given}");
    }

    #[test]
    fn parameters_are_written_as_they_were_given() {
        for given in [
            json!({ "offset": 0 }),
            json!({ "offset": 7, "topic": "damages", "runs": 5, "findingsMax": 3 }),
        ] {
            let read = Parameters::read(given.as_object().unwrap()).unwrap();
            assert_eq!(read.given(read.offset), given);
        }
    }

    #[test]
    fn parameters_of_a_wrong_type_are_named() {
        check(json!({}), None);
        check(json!({ "runs": 5.0, "topic": "damages", "findingsMax": 3, "other": [] }), None);
        check(json!({ "runs": 6 }), Some("parameters.runs"));
        check(json!({ "runs": "3" }), Some("parameters.runs"));
        check(json!({ "runs": 1.5 }), Some("parameters.runs"));
        check(json!({ "findingsMax": 0 }), Some("parameters.findingsMax"));
        check(json!({ "offset": 0 }), None);
        check(json!({ "offset": 1000.0 }), None);
        check(json!({ "offset": -1 }), Some("parameters.offset"));
        check(json!({ "offset": 1e300 }), Some("parameters.offset"));
        check(json!({ "topic": 5 }), Some("parameters.topic"));
        check(json!({ "topic": " " }), Some("parameters.topic"));
        check(json!({ "topic": "x".repeat(501) }), Some("parameters.topic"));
    }
}
