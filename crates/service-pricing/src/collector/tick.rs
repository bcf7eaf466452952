//! Parses a tick from a caller or a file. The error names every wrong field and what was expected
//! there.

use clock::Millis;
use pricing_engine::Amount;
use serde_json::{Map, Value};

use crate::collector::names::{MARKET, market_problem, sku_problem, text_problem};
use crate::storage::ticks::{Tick, TickOrigin};

/// How far ahead of the server's clock a tick's time may be.
pub(crate) const AHEAD_MS: i64 = 5 * 60_000;
/// 2000-01-01. An earlier time is a mistake, usually seconds written for milliseconds.
const EARLIEST_MS: i64 = 946_684_800_000;
const DEMAND_MAX: f64 = 1e6;
const UNITS_MAX: f64 = 1e12;
const FIELDS: [&str; 10] = [
    "sku",
    "market",
    "our_price",
    "competitor",
    "competitor_price",
    "demand_index",
    "units",
    "in_stock",
    "ts",
    "source",
];

/// A wrong field: its name, and what was expected there.
pub(crate) type FieldProblem = (String, String);

/// The values of the fields that a tick leaves out.
#[derive(Clone, Copy)]
pub(crate) struct TickDefaults<'a> {
    pub(crate) market: &'a str,
    pub(crate) source: &'a str,
    pub(crate) now: Millis,
}

impl TickDefaults<'_> {
    pub(crate) fn by_hand(now: Millis) -> Self {
        Self { market: MARKET, source: "manual", now }
    }
}

pub(crate) fn parse(
    fields: &Map<String, Value>,
    defaults: TickDefaults<'_>,
) -> Result<Tick, Vec<FieldProblem>> {
    let mut reader = TickReader { fields, wrong: Vec::new() };
    reader.refuse_unknown();
    let sku = reader.named("sku", sku_problem);
    if sku.is_none() {
        reader.missing("sku");
    }
    let our_price = reader.price("our_price");
    if our_price.is_none() {
        reader.missing("our_price");
    }
    let market = reader.named("market", market_problem).unwrap_or(defaults.market);
    let competitor = reader.named("competitor", |text| text_problem(text, 200)).map(str::to_owned);
    let competitor_price = reader.price("competitor_price");
    let demand_index = reader.number("demand_index", DEMAND_MAX);
    let units = reader.number("units", UNITS_MAX);
    let in_stock = reader.flag("in_stock");
    let at = reader.time("ts", defaults.now).unwrap_or(defaults.now);
    let source = reader.named("source", |text| text_problem(text, 64)).unwrap_or(defaults.source);
    match (sku, our_price) {
        (Some(sku), Some(our_price)) if reader.wrong.is_empty() => Ok(Tick {
            sku: sku.to_owned(),
            market: market.to_owned(),
            at,
            our_price,
            competitor,
            competitor_price,
            demand_index,
            units,
            in_stock,
            source: source.to_owned(),
            origin: TickOrigin::of_source(source),
        }),
        _ => Err(reader.wrong),
    }
}

struct TickReader<'a> {
    fields: &'a Map<String, Value>,
    wrong: Vec<FieldProblem>,
}

impl<'a> TickReader<'a> {
    fn refuse_unknown(&mut self) {
        let unknown = self.fields.keys().filter(|name| !FIELDS.contains(&name.as_str()));
        for name in unknown.take(8) {
            let shown: String = name.chars().take(64).collect();
            let meant = market::closest_codes(&shown, FIELDS.into_iter(), 1);
            let meant: String = meant.iter().map(|it| format!("; did you mean {it}?")).collect();
            self.wrong.push((shown, format!("no such field{meant}")));
        }
    }

    /// A null is a field that was left out.
    fn get(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    fn expect(&mut self, name: &str, expected: impl Into<String>) {
        self.wrong.push((name.to_owned(), expected.into()));
    }

    fn missing(&mut self, name: &str) {
        if self.wrong.iter().all(|(wrong, _)| wrong != name) {
            self.expect(name, "a value: the field is required");
        }
    }

    fn named(&mut self, name: &str, problem: fn(&str) -> Option<String>) -> Option<&'a str> {
        let value = self.get(name)?;
        let Some(text) = value.as_str() else {
            self.expect(name, "a string");
            return None;
        };
        match problem(text) {
            Some(expected) => {
                self.expect(name, expected);
                None
            }
            None => Some(text),
        }
    }

    fn price(&mut self, name: &str) -> Option<Amount> {
        let read = amount(self.get(name)?).filter(|amount| amount.is_positive());
        if read.is_none() {
            self.expect(name, "a number more than 0 and below 1,000,000,000,000");
        }
        read
    }

    fn number(&mut self, name: &str, most: f64) -> Option<f64> {
        let read = self.get(name)?.as_f64().filter(|it| (0.0..=most).contains(it));
        if read.is_none() {
            self.expect(name, format!("a number from 0 to {most}"));
        }
        // -0.0 becomes 0.0, so that both have the same digest.
        read.map(|it| it + 0.0)
    }

    fn flag(&mut self, name: &str) -> Option<bool> {
        let read = self.get(name)?.as_bool();
        if read.is_none() {
            self.expect(name, "true or false");
        }
        read
    }

    fn time(&mut self, name: &str, now: Millis) -> Option<Millis> {
        let read = match self.get(name)? {
            Value::String(text) => contract::time_ms(text),
            value => value.as_i64(),
        };
        match read {
            None => self.expect(name, "a date, a time as RFC 3339, or milliseconds since 1970"),
            Some(at) if at < EARLIEST_MS => {
                self.expect(name, "a time after 2000; numbers are milliseconds, not seconds");
            }
            Some(at) if at > now.0.saturating_add(AHEAD_MS) => {
                self.expect(name, "a time that is not in the future");
            }
            Some(at) => return Some(Millis(at)),
        }
        None
    }
}

/// An amount of money in JSON: a number, or a number in a string.
pub(crate) fn amount(value: &Value) -> Option<Amount> {
    match value {
        Value::Number(number) => number.as_f64().and_then(Amount::from_f64),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Millis = Millis(1_800_000_000_000);

    fn parsed(d: &Value) -> Result<Tick, Vec<FieldProblem>> {
        parse(d.as_object().unwrap(), TickDefaults::by_hand(NOW))
    }

    #[track_caller]
    fn check(d: Value, wrong: &[(&str, &str)]) {
        let found = parsed(&d).err().unwrap_or_default();
        let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_eq!(found.len(), wrong.len(), "{d}: {found:?}");
        for ((field, expected), (wanted, part)) in found.iter().zip(wrong) {
            assert_eq!(field, wanted, "{d}");
            assert!(expected.contains(part), "{d}: {expected}");
        }
    }

    #[test]
    fn every_wrong_field_is_named() {
        check(json!({ "sku": "A", "our_price": 1 }), &[]);
        check(json!({}), &[("sku", "required"), ("our_price", "required")]);
        check(json!({ "sku": "", "our_price": 1 }), &[("sku", "character")]);
        check(json!({ "sku": 5, "our_price": 1 }), &[("sku", "a string")]);
        check(json!({ "sku": "A\u{0}", "our_price": 1 }), &[("sku", "control")]);
        check(json!({ "sku": "A", "our_price": 0 }), &[("our_price", "more than 0")]);
        check(json!({ "sku": "A", "our_price": -1 }), &[("our_price", "more than 0")]);
        check(json!({ "sku": "A", "our_price": 1e12 }), &[("our_price", "below")]);
        check(json!({ "sku": "A", "our_price": "cheap" }), &[("our_price", "a number")]);
        check(json!({ "sku": "A", "our_price": true }), &[("our_price", "a number")]);
        let with = |name: &str, value: Value| {
            let mut d = json!({ "sku": "A", "our_price": "1.50" });
            d[name] = value;
            d
        };
        check(with("competitor_price", Value::Null), &[]);
        check(with("competitor_price", json!(0)), &[("competitor_price", "more than 0")]);
        check(with("demand_index", json!(-0.1)), &[("demand_index", "from 0")]);
        check(with("demand_index", json!("high")), &[("demand_index", "a number")]);
        check(with("units", json!(1e13)), &[("units", "from 0")]);
        check(with("in_stock", json!("yes")), &[("in_stock", "true or false")]);
        check(with("market", json!("")), &[("market", "character")]);
        check(with("source", json!("x".repeat(65))), &[("source", "64")]);
        check(with("competitor_prise", json!(1)), &[("competitor_prise", "competitor_price")]);
        check(with("note", json!(1)), &[("note", "no such field")]);
        check(with("ts", json!("yesterday")), &[("ts", "RFC 3339")]);
        check(with("ts", json!(1.5)), &[("ts", "RFC 3339")]);
        check(with("ts", json!(1_800_000_000)), &[("ts", "milliseconds, not seconds")]);
        check(with("ts", json!(NOW.0 + AHEAD_MS + 1)), &[("ts", "not in the future")]);
        check(with("ts", json!(NOW.0 + AHEAD_MS)), &[]);
        for ts in ["2001-01-01T00:00:00+03:00", "2001-01-01", "978307200000"] {
            check(with("ts", json!(ts)), &[]);
        }
    }

    #[test]
    fn what_is_left_out_has_its_usual_value() {
        let tick = parsed(&json!({ "sku": "A", "our_price": 19.99 })).unwrap();
        assert_eq!((&*tick.market, &*tick.source, tick.at), ("DEFAULT", "manual", NOW));
        assert_eq!(tick.our_price.micros(), 19_990_000);
        let tick = parsed(&json!({ "sku": "A", "our_price": 1, "ts": "2026-01-02T03:04:05.678Z" }));
        assert_eq!(tick.unwrap().at.to_rfc3339(), "2026-01-02T03:04:05.678Z");
    }
}
