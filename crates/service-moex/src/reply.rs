//! The successful reply of every tool: `metadata`, `data` and `metrics`, with `error` null.

use contract::{HttpReply, Reply};
use jiff::civil::Date;
use market::{Decimal, Freshness, SIMULATED, SecurityCandles};
use serde_json::{Map, Value, json};

/// What a tool replies.
#[derive(Default)]
pub(crate) struct MoexReply {
    pub(crate) metadata: Value,
    pub(crate) data: Value,
    pub(crate) metrics: Value,
    /// The text for models, without the lines on source and missing days.
    pub(crate) text: String,
    pub(crate) freshness: Option<Freshness>,
    /// Missing days by ticker; empty when the reply has no series.
    pub(crate) missing_days: Vec<(String, MissingDays)>,
}

/// The contract's name of the exchange's interface.
pub(crate) const ISS: &str = "moex-iss";

/// The most missing days that a reply lists; all are counted.
const DAYS_LISTED_MAX: usize = 60;

/// The missing days of a series.
#[derive(Debug, Clone, Default)]
pub(crate) struct MissingDays {
    /// Trading days for which candles are missing, all or some of them.
    pub(crate) missing: Vec<Date>,
    /// Why missing days could not be determined, if they could not.
    pub(crate) unchecked: Option<String>,
}

impl MissingDays {
    pub(crate) fn of(candles: &SecurityCandles) -> Self {
        Self { missing: candles.missing.clone(), unchecked: candles.unchecked.clone() }
    }

    /// The missing days as JSON; `None` when there are none.
    pub(crate) fn days(&self) -> Option<Value> {
        let days = self.missing.iter().take(DAYS_LISTED_MAX);
        (!self.missing.is_empty()).then(|| days.map(|day| Value::from(day.to_string())).collect())
    }

    fn to_json(&self) -> Value {
        json!({
            "complete": self.unchecked.is_none().then_some(self.missing.is_empty()),
            "num_missing_days": self.missing.len(),
            "missing_days": self.days().unwrap_or_else(|| json!([])),
            "unchecked": self.unchecked,
        })
    }

    /// A line for the text; `None` when no day is missing.
    fn line(&self, ticker: &str) -> Option<String> {
        if let Some(why) = &self.unchecked {
            return Some(format!("{ticker}: missing days could not be checked: {why}\n"));
        }
        let days: Vec<String> = self.missing.iter().take(10).map(Date::to_string).collect();
        let more = self.missing.len().saturating_sub(days.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!days.is_empty()).then(|| {
            let days = days.join(" ");
            format!(
                "{ticker}: the exchange traded, but has no or too few candles, on {days}{more}\n"
            )
        })
    }
}

impl Reply for MoexReply {
    fn result(&self) -> Value {
        let mut result = json!({
            "metadata": self.metadata,
            "data": self.data,
            "metrics": self.metrics,
            "error": null,
        });
        // The contract fixes `metadata.source` of three tools, so `data` and `metrics` say
        // `simulated` too.
        if self.freshness.as_ref().is_some_and(Freshness::is_simulated) {
            for part in ["data", "metrics"] {
                if let Some(fields) = result[part].as_object_mut() {
                    fields.insert(SIMULATED.to_owned(), Value::Bool(true));
                }
            }
        }
        result
    }

    fn text(&self) -> String {
        let mut text = self.text.clone();
        if let Some(freshness) = &self.freshness {
            let stale = if freshness.stale { ", stale" } else { "" };
            text.push_str(&format!(
                "source: {}, {}{stale}\n",
                freshness.source,
                freshness.delay.as_str()
            ));
        }
        text.extend(
            self.missing_days.iter().filter_map(|(ticker, missing_days)| missing_days.line(ticker)),
        );
        text
    }

    fn meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        if let Some(freshness) = &self.freshness {
            meta.insert("stoa/freshness".to_owned(), freshness_json(freshness));
        }
        if !self.missing_days.is_empty() {
            let missing_days = self
                .missing_days
                .iter()
                .map(|(ticker, missing_days)| (ticker.clone(), missing_days.to_json()));
            meta.insert("stoa/completeness".to_owned(), Value::Object(missing_days.collect()));
        }
        meta
    }

    fn http(&self) -> HttpReply {
        let headers = self.freshness.as_ref().map(headers).unwrap_or_default();
        HttpReply { status: 200, body: self.result(), max_age_s: Some(1), headers }
    }
}

/// `metadata.source` of the tools whose schema allows `simulated`.
pub(crate) fn source(freshness: Option<&Freshness>) -> &'static str {
    if freshness.is_some_and(Freshness::is_simulated) { SIMULATED } else { ISS }
}

fn headers(freshness: &Freshness) -> Vec<(&'static str, String)> {
    vec![
        ("x-stoa-source", freshness.source.clone()),
        ("x-stoa-as-of", freshness.as_of.to_rfc3339()),
        ("x-stoa-received-at", freshness.received_at.to_rfc3339()),
        ("x-stoa-delay", freshness.delay.as_str().to_owned()),
        ("x-stoa-stale", freshness.stale.to_string()),
    ]
}

fn freshness_json(freshness: &Freshness) -> Value {
    json!({
        "source": freshness.source,
        "as_of": freshness.as_of.to_rfc3339(),
        "received_at": freshness.received_at.to_rfc3339(),
        "delay": freshness.delay.as_str(),
        "stale": freshness.stale,
        "fallback": freshness.fallback,
    })
}

/// An object of the known fields; unknown ones are left out, because the schemas require numbers.
pub(crate) fn known_fields<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let known_fields =
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(known_fields.collect())
}

/// A price as a JSON number.
pub(crate) fn number(value: Decimal) -> Value {
    Value::from(value.to_f64())
}

/// A rounded figure; `None` when it is absent or not finite.
pub(crate) fn figure(value: Option<f64>) -> Option<Value> {
    value.filter(|value| value.is_finite()).map(|value| Value::from(rounded(value)))
}

/// Rounds to six decimals; figures are estimates without more precision.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_are_left_out() {
        let found =
            known_fields([("a", Some(json!(1))), ("b", None), ("c", figure(Some(f64::NAN)))]);
        assert_eq!(found, json!({"a": 1}));
        assert_eq!(figure(Some(1.234_567_89)), Some(json!(1.234_568)));
    }

    #[track_caller]
    fn check(missing: usize, unchecked: Option<&str>, complete: Value, listed: usize, line: &str) {
        let missing = vec![jiff::civil::date(2024, 2, 15); missing];
        let missing_days = MissingDays { missing, unchecked: unchecked.map(ToOwned::to_owned) };
        assert_eq!(missing_days.to_json()["complete"], complete);
        assert_eq!(missing_days.to_json()["missing_days"].as_array().map(Vec::len), Some(listed));
        let text = missing_days.line("X").unwrap_or_default();
        assert!(text.contains(line) && text.is_empty() == line.is_empty(), "{text}");
    }

    #[test]
    fn missing_days_are_listed_up_to_a_limit() {
        check(0, None, json!(true), 0, "");
        check(1, None, json!(false), 1, "on 2024-02-15\n");
        check(99, None, json!(false), 60, "and 89 more");
        check(0, Some("it failed"), Value::Null, 0, "could not be checked: it failed");
    }
}
