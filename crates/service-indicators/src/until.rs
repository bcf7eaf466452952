//! The stop condition of `stream_klines`: a value of the candle or of an indicator above or below a
//! bound.

use fault::Fault;
use serde::Deserialize;
use serde_json::Value;

use crate::windows::Window;

/// The series that every candle has.
const CANDLE_SERIES: [&str; 5] = ["o", "h", "l", "c", "v"];

#[derive(Debug, Deserialize)]
pub(crate) struct Until {
    series: String,
    above: Option<f64>,
    below: Option<f64>,
}

impl Until {
    /// Refuses a series that no event contains, and bounds that no value can meet.
    pub(crate) fn check(&self, windows: &[Window]) -> Result<(), Fault> {
        let mut known: Vec<&str> = CANDLE_SERIES.to_vec();
        known.extend(windows.iter().flat_map(|it| it.keys()).map(|key| &**key));
        let refuse = |field: &str, expected: String| {
            let message = format!("{field}: expected {expected}");
            Err(Fault::invalid("invalid_until", message).problem(field, expected))
        };
        if !known.contains(&&*self.series) {
            let expected = format!("one of {}; others need `indicators`", known.join(", "));
            return refuse("until.series", expected);
        }
        match (self.above, self.below) {
            (None, None) => refuse("until", "`above`, `below` or both".to_owned()),
            (Some(above), Some(below)) if above >= below => {
                refuse("until.above", format!("less than `below` ({below}), to be between them"))
            }
            _ => Ok(()),
        }
    }

    /// Whether this candle meets the condition. A value that is still `null` never meets it.
    pub(crate) fn is_met(&self, event: &str) -> bool {
        let event: Value = serde_json::from_str(event).unwrap_or(Value::Null);
        let place = if CANDLE_SERIES.contains(&&*self.series) { "candle" } else { "deltas" };
        let Some(value) = event[place][&self.series].as_f64() else { return false };
        self.above.is_none_or(|above| value > above) && self.below.is_none_or(|below| value < below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windows;
    use serde_json::json;

    fn until(it: Value) -> Until {
        serde_json::from_value(it).unwrap()
    }

    #[track_caller]
    fn check(it: Value, met: bool) {
        let event =
            json!({ "candle": { "c": 100.5, "v": 0 }, "deltas": { "rsi": 71, "atr": null } });
        assert_eq!(until(it.clone()).is_met(&event.to_string()), met, "{it}");
    }

    #[test]
    fn a_value_is_above_below_or_between() {
        check(json!({ "series": "c", "above": 100 }), true);
        check(json!({ "series": "c", "above": 100.5 }), false);
        check(json!({ "series": "v", "below": 1 }), true);
        check(json!({ "series": "rsi", "above": 70, "below": 80 }), true);
        check(json!({ "series": "rsi", "below": 70 }), false);
        for missing in ["atr", "macd"] {
            check(json!({ "series": missing, "above": -1e9 }), false);
        }
    }

    #[test]
    fn a_condition_that_no_event_can_meet_is_refused() {
        let windows = json!({ "rsi": {}, "sma:50": {} });
        let windows = windows::parse("indicators", windows.as_object().unwrap()).unwrap();
        for (it, field) in [
            (json!({ "series": "rsi", "above": 1 }), None),
            (json!({ "series": "sma:50", "below": 1 }), None),
            (json!({ "series": "l", "above": 1, "below": 2 }), None),
            (json!({ "series": "sma", "above": 1 }), Some("until.series")),
            (json!({ "series": "t", "above": 1 }), Some("until.series")),
            (json!({ "series": "rsi" }), Some("until")),
            (json!({ "series": "rsi", "above": 2, "below": 2 }), Some("until.above")),
        ] {
            let found = until(it.clone()).check(&windows);
            let found = found.err().map(|fault| fault.problems()[0].field.clone());
            assert_eq!(found.as_deref(), field, "{it}");
        }
    }
}
