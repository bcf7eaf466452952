//! Times among the arguments of a tool. A caller of the whole server may write a date, an RFC 3339
//! time or milliseconds; they are converted to the form that the contract has.

use fault::Fault;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

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
    /// RFC 3339; a date stands for the start of its day.
    DateTime,
    /// RFC 3339 at the end of a range; a date stands for the last millisecond of its day.
    LastDateTime,
}

/// An argument that is a time: `start`, or `filters.dateRange.start` for one inside objects.
#[derive(Debug, Clone)]
pub(crate) struct TimeField {
    path: String,
    form: TimeForm,
}

impl TimeField {
    /// Fails if the schema has no such property, or not as a time.
    pub(crate) fn of(path: &str, schema: &Value) -> Result<Self, ContractError> {
        let rule = path.split('.').fold(schema, |part, name| &part["properties"][name]);
        let name = path.rsplit('.').next().unwrap_or_default();
        let form = match (rule["type"].as_str(), rule["format"].as_str()) {
            (Some("integer"), _) => TimeForm::Millis,
            (Some("string"), Some("date")) => TimeForm::Date,
            (Some("string"), Some("date-time")) => match name {
                "end" | "to" => TimeForm::LastDateTime,
                _ => TimeForm::DateTime,
            },
            _ => return Err(ContractError(format!("{path} is not a time"))),
        };
        Ok(Self { path: path.to_owned(), form })
    }

    /// Widens the property to every form.
    pub(crate) fn widen(&self, schema: &mut Value) {
        let rule = self.path.split('.').fold(schema, |part, name| &mut part["properties"][name]);
        let own = rule["description"].as_str().unwrap_or_default().to_owned();
        rule["description"] = format!("{own} May be {FORMS}.").trim_start().into();
        rule["type"] = match self.form {
            TimeForm::Millis => json!(["integer", "string"]),
            _ => json!(["string", "integer"]),
        };
        if let Some(rule) = rule.as_object_mut() {
            rule.remove("format");
        }
    }

    /// Converts the argument to the contract's form; other values stay for the schema to refuse.
    pub(crate) fn convert(&self, args: &mut Map<String, Value>) -> Result<(), Fault> {
        let mut names = self.path.split('.');
        let first = names.next().and_then(|name| args.get_mut(name));
        let Some(value) = names.fold(first, |part, name| part?.get_mut(name)) else {
            return Ok(());
        };
        let at = match &*value {
            Value::String(text) if self.has_own_form(text) => return Ok(()),
            Value::String(text) => self.instant(text),
            Value::Number(_) if self.form == TimeForm::Millis => return Ok(()),
            Value::Number(number) => {
                number.as_i64().and_then(|at| Timestamp::from_millisecond(at).ok())
            }
            _ => return Ok(()),
        };
        let Some(at) = at else {
            let message = format!("invalid input: {}: expected {FORMS}", self.path);
            return Err(Fault::invalid("invalid_input", message).problem(&self.path, FORMS));
        };
        *value = match self.form {
            TimeForm::Millis => Value::from(at.as_millisecond()),
            TimeForm::Date => Value::from(at.to_zoned(TimeZone::UTC).date().to_string()),
            TimeForm::DateTime | TimeForm::LastDateTime => Value::from(at.to_string()),
        };
        Ok(())
    }

    /// Whether a text is in the contract's form already. The last days of the calendar are dates and
    /// times, but no instants.
    fn has_own_form(&self, text: &str) -> bool {
        match self.form {
            TimeForm::Millis => false,
            TimeForm::Date => is_date(text),
            TimeForm::DateTime | TimeForm::LastDateTime => {
                text.get(..10).is_some_and(is_date)
                    && text.get(10..11).is_some_and(|it| matches!(it, "T" | "t"))
            }
        }
    }

    fn instant(&self, text: &str) -> Option<Timestamp> {
        match self.form {
            TimeForm::LastDateTime if is_date(text) => {
                let end = jiff::civil::Time::constant(23, 59, 59, 999_000_000);
                let date: Date = text.parse().ok()?;
                Some(date.to_datetime(end).to_zoned(TimeZone::UTC).ok()?.timestamp())
            }
            _ => instant(text),
        }
    }
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<Date>().is_ok()
}

/// The milliseconds since the epoch of a time that a caller wrote as a date, as an RFC 3339 time or
/// as milliseconds.
pub fn time_ms(text: &str) -> Option<i64> {
    instant(text).map(Timestamp::as_millisecond)
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
            "range": { "type": "object", "properties": {
                "start": { "type": "string", "format": "date-time" },
                "end": { "type": "string", "format": "date-time" },
            } },
        }})
    }

    #[track_caller]
    fn check(name: &str, written: Value, read: Option<Value>) {
        let field = TimeField::of(name, &schema()).unwrap();
        let nested = |value: Value| name.rsplit('.').fold(value, |part, it| json!({ it: part }));
        let mut args = nested(written.clone());
        let converted = field.convert(args.as_object_mut().unwrap());
        assert_eq!(converted.is_ok(), read.is_some(), "{name} {written}");
        if let Some(read) = read {
            assert_eq!(args, nested(read), "{name} {written}");
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
    fn a_time_inside_an_object_is_read_in_every_form() {
        let (start, end) = ("range.start", "range.end");
        for (written, first, last) in [
            (json!("2024-01-31"), "2024-01-31T00:00:00Z", "2024-01-31T23:59:59.999Z"),
            (json!(1_706_702_400_000_i64), "2024-01-31T12:00:00Z", "2024-01-31T12:00:00Z"),
            (json!("1706702400000"), "2024-01-31T12:00:00Z", "2024-01-31T12:00:00Z"),
            (json!("9999-12-31T23:59:59Z"), "9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
        ] {
            check(start, written.clone(), Some(json!(first)));
            check(end, written, Some(json!(last)));
        }
        for bad in ["", "soon", "20240131", "2024-02-30", "31.01.2024"] {
            check(start, json!(bad), None);
            check(end, json!(bad), None);
        }
        let mut args = Map::from_iter([("range".to_owned(), json!("soon"))]);
        TimeField::of(start, &schema()).unwrap().convert(&mut args).unwrap();
        assert_eq!(args["range"], "soon");
        let mut listed = schema();
        TimeField::of(end, &schema()).unwrap().widen(&mut listed);
        let rule = &listed["properties"]["range"]["properties"]["end"];
        assert_eq!((&rule["type"], rule.get("format")), (&json!(["string", "integer"]), None));
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
