//! The one shape of every answer: `metadata`, `data`, `metrics`, and no error.

use contract::Reply;
use market::{Decimal, Freshness};
use serde_json::{Map, Value, json};

pub(crate) struct Answer {
    pub(crate) metadata: Value,
    pub(crate) data: Value,
    pub(crate) metrics: Value,
    pub(crate) text: String,
    pub(crate) freshness: Option<Freshness>,
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
                freshness.delay.word()
            ));
        }
        text
    }

    fn meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        if let Some(freshness) = &self.freshness {
            meta.insert("stoa/freshness".to_owned(), told(freshness));
        }
        meta
    }
}

fn told(freshness: &Freshness) -> Value {
    json!({
        "source": freshness.source,
        "as_of": freshness.as_of.to_rfc3339(),
        "received_at": freshness.received_at.to_rfc3339(),
        "delay": freshness.delay.word(),
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
}
