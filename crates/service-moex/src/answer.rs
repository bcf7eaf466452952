//! The one shape of every answer: `metadata`, `data`, `metrics`, and no error.

use contract::Reply;
use jiff::civil::Date;
use market::{Decimal, Freshness, SecurityCandles};
use serde_json::{Map, Value, json};

#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) metadata: Value,
    pub(crate) data: Value,
    pub(crate) metrics: Value,
    pub(crate) text: String,
    pub(crate) freshness: Option<Freshness>,
    /// What the series lack, by ticker; empty where an answer holds no series.
    pub(crate) gaps: Vec<(String, Gaps)>,
}

/// Days that are told in full; more of them are counted.
const DAYS_TOLD_MAX: usize = 60;

/// What a series lacks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gaps {
    /// Days on which the exchange traded and of which there is no candle, or not all of them.
    pub(crate) missing: Vec<Date>,
    /// Why that could not be found out.
    pub(crate) unchecked: Option<String>,
}

impl Gaps {
    pub(crate) fn of(candles: &SecurityCandles) -> Self {
        Self { missing: candles.missing.clone(), unchecked: candles.unchecked.clone() }
    }

    /// The missing days, where there are any.
    pub(crate) fn days(&self) -> Option<Value> {
        let days = self.missing.iter().take(DAYS_TOLD_MAX);
        (!self.missing.is_empty()).then(|| days.map(|day| Value::from(day.to_string())).collect())
    }

    fn told(&self) -> Value {
        json!({
            "complete": self.unchecked.is_none().then_some(self.missing.is_empty()),
            "num_missing_days": self.missing.len(),
            "missing_days": self.days().unwrap_or_else(|| json!([])),
            "unchecked": self.unchecked,
        })
    }

    /// A line for the text; none where nothing is missing.
    fn line(&self, ticker: &str) -> Option<String> {
        if let Some(why) = &self.unchecked {
            return Some(format!(
                "{ticker}: whether days are missing could not be checked: {why}\n"
            ));
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

impl Reply for Answer {
    fn result(&self) -> Value {
        json!({
            "metadata": self.metadata,
            "data": self.data,
            "metrics": self.metrics,
            "error": null,
        })
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
        text.extend(self.gaps.iter().filter_map(|(ticker, gaps)| gaps.line(ticker)));
        text
    }

    fn meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        if let Some(freshness) = &self.freshness {
            meta.insert("stoa/freshness".to_owned(), told(freshness));
        }
        if !self.gaps.is_empty() {
            let gaps = self.gaps.iter().map(|(ticker, gaps)| (ticker.clone(), gaps.told()));
            meta.insert("stoa/completeness".to_owned(), Value::Object(gaps.collect()));
        }
        meta
    }
}

fn told(freshness: &Freshness) -> Value {
    json!({
        "source": freshness.source,
        "as_of": freshness.as_of.to_rfc3339(),
        "received_at": freshness.received_at.to_rfc3339(),
        "delay": freshness.delay.as_str(),
        "stale": freshness.stale,
        "fallback": freshness.fallback,
    })
}

/// An object from what is known; what is not is left out, because the schemas want numbers.
pub(crate) fn known<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let known = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(known.collect())
}

/// A price as a JSON number.
pub(crate) fn number(value: Decimal) -> Value {
    Value::from(value.to_f64())
}

/// A figure, where there is one.
pub(crate) fn figure(value: Option<f64>) -> Option<Value> {
    value.filter(|value| value.is_finite()).map(|value| Value::from(rounded(value)))
}

/// Figures are estimates; digits beyond these would only pretend.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out() {
        let found = known([("a", Some(json!(1))), ("b", None), ("c", figure(Some(f64::NAN)))]);
        assert_eq!(found, json!({"a": 1}));
        assert_eq!(figure(Some(1.234_567_89)), Some(json!(1.234_568)));
    }

    #[track_caller]
    fn check(missing: usize, unchecked: Option<&str>, complete: Value, told: usize, line: &str) {
        let missing = vec![jiff::civil::date(2024, 2, 15); missing];
        let gaps = Gaps { missing, unchecked: unchecked.map(ToOwned::to_owned) };
        assert_eq!(gaps.told()["complete"], complete);
        assert_eq!(gaps.told()["missing_days"].as_array().map(Vec::len), Some(told));
        let said = gaps.line("X").unwrap_or_default();
        assert!(said.contains(line) && said.is_empty() == line.is_empty(), "{said}");
    }

    #[test]
    fn what_is_missing_is_named_up_to_a_bound() {
        check(0, None, json!(true), 0, "");
        check(1, None, json!(false), 1, "on 2024-02-15\n");
        check(99, None, json!(false), 60, "and 89 more");
        check(0, Some("it failed"), Value::Null, 0, "could not be checked: it failed");
    }
}
