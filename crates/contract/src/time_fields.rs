//! Times among the arguments of a tool. A caller of the whole server may write a date, an RFC 3339
//! time or milliseconds; they are converted to the form that the contract has.

use fault::Fault;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::files::ContractError;

/// What a time may look like, for the list of tools and for errors.
const FORMS: &str = "a date (2024-01-31), an RFC 3339 time or ms since the epoch";

/// The form that a contract has for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeForm {
    /// Milliseconds since the epoch.
    Millis,
    /// A date in UTC.
    Date,
}

/// A top-level argument that is a time.
#[derive(Debug, Clone)]
pub(crate) struct TimeField {
    name: String,
    form: TimeForm,
}

impl TimeField {
    /// Fails if the schema has no such property, or not as a time.
    pub(crate) fn of(name: &str, schema: &Value) -> Result<Self, ContractError> {
        let rule = &schema["properties"][name];
        let form = match (rule["type"].as_str(), rule["format"].as_str()) {
            (Some("integer"), _) => TimeForm::Millis,
            (Some("string"), Some("date")) => TimeForm::Date,
            _ => return Err(ContractError(format!("{name} is not a time"))),
        };
        Ok(Self { name: name.to_owned(), form })
    }

    /// Widens the property to every form.
    pub(crate) fn widen(&self, schema: &mut Value) {
        let rule = &mut schema["properties"][&self.name];
        let own = rule["description"].as_str().unwrap_or_default().to_owned();
        rule["description"] = format!("{own} May be {FORMS}.").trim_start().into();
        rule["type"] = match self.form {
            TimeForm::Millis => json!(["integer", "string"]),
            TimeForm::Date => json!(["string", "integer"]),
        };
        if let Some(rule) = rule.as_object_mut() {
            rule.remove("format");
        }
    }

    /// Converts the argument to the contract's form; other values stay for the schema to refuse.
    pub(crate) fn convert(&self, args: &mut serde_json::Map<String, Value>) -> Result<(), Fault> {
        let Some(value) = args.get_mut(&self.name) else { return Ok(()) };
        let converted = match (&*value, self.form) {
            (Value::String(text), TimeForm::Millis) => {
                Some(instant(text).map(|at| Value::from(at.as_millisecond())))
            }
            // The last days of the calendar are dates, but no instants.
            (Value::String(text), TimeForm::Date) if is_date(text) => None,
            (Value::String(text), TimeForm::Date) => {
                Some(instant(text).map(|at| Value::from(date(at).to_string())))
            }
            (Value::Number(_), TimeForm::Date) => {
                let at = value.as_i64().and_then(|at| Timestamp::from_millisecond(at).ok());
                Some(at.map(|at| Value::from(date(at).to_string())))
            }
            _ => None,
        };
        match converted {
            None => Ok(()),
            Some(Some(converted)) => {
                *value = converted;
                Ok(())
            }
            Some(None) => {
                let message = format!("invalid input: {}: expected {FORMS}", self.name);
                Err(Fault::invalid("invalid_input", message).problem(&self.name, FORMS))
            }
        }
    }
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<Date>().is_ok()
}

fn date(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}

/// The instant of a date (its midnight in UTC), an RFC 3339 time or digits.
fn instant(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Eight digits are a date without its hyphens, not an instant of 1970.
        let millis: i64 = text.parse().ok().filter(|_| text.len() > 8)?;
        return Timestamp::from_millisecond(millis).ok();
    }
    if text.len() == 10 {
        let date: Date = text.parse().ok()?;
        return Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp());
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({ "properties": {
            "start": { "type": "integer", "description": "First." },
            "from": { "type": "string", "format": "date" },
            "name": { "type": "string" },
        }})
    }

    #[track_caller]
    fn check(name: &str, written: Value, read: Option<Value>) {
        let field = TimeField::of(name, &schema()).unwrap();
        let mut args = serde_json::Map::from_iter([(name.to_owned(), written.clone())]);
        let converted = field.convert(&mut args);
        assert_eq!(converted.is_ok(), read.is_some(), "{name} {written}");
        if let Some(read) = read {
            assert_eq!(args[name], read, "{name} {written}");
        }
    }

    #[test]
    fn every_form_is_read_as_the_contracts_own() {
        let (day, noon) = (1_706_659_200_000_i64, 1_706_702_400_000_i64);
        check("start", json!(noon), Some(json!(noon)));
        check("start", json!("2024-01-31"), Some(json!(day)));
        check("start", json!("2024-01-31T12:00:00Z"), Some(json!(noon)));
        check("start", json!("2024-01-31T15:00:00+03:00"), Some(json!(noon)));
        check("start", json!(noon.to_string()), Some(json!(noon)));
        check("from", json!("2024-01-31"), Some(json!("2024-01-31")));
        check("from", json!("9999-12-31"), Some(json!("9999-12-31")));
        check("from", json!("2024-01-31T23:30:00-03:00"), Some(json!("2024-02-01")));
        check("from", json!(noon), Some(json!("2024-01-31")));
        for bad in ["", "soon", "20240131", "2024-02-30", "31.01.2024", "2024-1-31"] {
            check("start", json!(bad), None);
            check("from", json!(bad), None);
        }
        check("from", json!(1e300), None);
        // The schema refuses what is no time at all.
        check("start", json!(true), Some(json!(true)));
        check("from", json!(null), Some(json!(null)));
    }

    #[test]
    fn the_listed_schema_names_every_form() {
        let mut listed = schema();
        TimeField::of("start", &schema()).unwrap().widen(&mut listed);
        TimeField::of("from", &schema()).unwrap().widen(&mut listed);
        assert_eq!(listed["properties"]["start"]["type"], json!(["integer", "string"]));
        assert_eq!(listed["properties"]["from"].get("format"), None);
        let told = listed["properties"]["start"]["description"].as_str().unwrap();
        assert!(told.starts_with("First. May be a date"), "{told}");
        assert!(TimeField::of("name", &schema()).is_err());
        assert!(TimeField::of("none", &schema()).is_err());
    }
}
