//! The payload of the old `optimize_price` call, read as an [`PricingInput`].
//!
//! It has the fields of a proposal's input, older names of some, and sometimes numbers in quotes.
//! Missing and invalid fields are faults; unknown fields are ignored and reported.

use serde_json::{Map, Value};

use crate::money::{Amount, Rate};
use crate::pricing_input::{PricingInput, default_margin};
use crate::refusal::Refusal;

/// Each field with its older names.
const SPELLINGS: [(&str, &[&str]); 8] = [
    ("sku", &["product_id", "product", "id"]),
    ("our_price", &["current_price", "price"]),
    ("competitor_price", &["comp_price", "competitor", "market_price"]),
    ("demand_index", &["demand"]),
    ("cost", &["unit_cost", "cost_price"]),
    ("min_price", &["price_floor"]),
    ("max_price", &["price_ceiling"]),
    ("min_margin", &["margin"]),
];

/// A parsed old call.
#[derive(Debug, Clone, PartialEq)]
pub struct Legacy {
    pub input: PricingInput,
    /// Unknown fields of the payload.
    pub ignored: Vec<String>,
}

/// Reads a payload; `now_ms` is the caller's time.
pub fn read(payload: &Map<String, Value>, now_ms: i64) -> Result<Legacy, Refusal> {
    let mut reader = PayloadReader { payload, missing: Vec::new(), wrong: Vec::new() };
    let sku = reader.text("sku");
    let our_price = reader.amount("our_price");
    if our_price.is_none() && reader.find("our_price").is_none() {
        reader.missing.push("our_price".to_owned());
    }
    let competitor_price = reader.amount("competitor_price");
    let demand_index = reader.number("demand_index");
    let cost = reader.amount("cost");
    let min_price = reader.amount("min_price").unwrap_or(Amount::ZERO);
    let max_price = reader.amount("max_price");
    let min_margin = reader.rate("min_margin").unwrap_or(default_margin());
    let (Some(sku), Some(our_price), true) = (sku, our_price, reader.wrong.is_empty()) else {
        return Err(Refusal::Legacy { missing: reader.missing, wrong: reader.wrong });
    };
    let input = PricingInput {
        competitor_price,
        demand_index,
        cost,
        min_price,
        max_price,
        min_margin,
        ..PricingInput::new(sku, our_price, now_ms)
    };
    input.check()?;
    Ok(Legacy { input, ignored: ignored(payload) })
}

fn ignored(payload: &Map<String, Value>) -> Vec<String> {
    let known =
        |key: &str| SPELLINGS.iter().any(|(name, also)| *name == key || also.contains(&key));
    // At most 20 unknown fields are reported.
    payload.keys().filter(|key| !known(key)).take(20).cloned().collect()
}

struct PayloadReader<'a> {
    payload: &'a Map<String, Value>,
    missing: Vec<String>,
    wrong: Vec<String>,
}

impl PayloadReader<'_> {
    /// The value under the first name that is present.
    fn find(&self, field: &str) -> Option<&Value> {
        let (name, also) = SPELLINGS.iter().find(|(name, _)| *name == field)?;
        std::iter::once(name)
            .chain(*also)
            .filter_map(|key| self.payload.get(*key))
            .find(|value| !value.is_null())
    }

    fn text(&mut self, field: &str) -> Option<String> {
        let found = match self.find(field) {
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            // Identifiers were sometimes numbers.
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(_) => {
                self.wrong.push(format!("{field} (a name)"));
                return None;
            }
            None => None,
        };
        if found.is_none() {
            self.missing.push(field.to_owned());
        }
        found
    }

    fn amount(&mut self, field: &str) -> Option<Amount> {
        self.read(field, "an amount", |value| serde_json::from_value(value.clone()).ok())
    }

    fn rate(&mut self, field: &str) -> Option<Rate> {
        self.read(field, "a share", |value| serde_json::from_value(value.clone()).ok())
    }

    fn number(&mut self, field: &str) -> Option<f64> {
        self.read(field, "a number", |value| match value {
            Value::String(text) => text.parse().ok().filter(|it: &f64| it.is_finite()),
            other => other.as_f64(),
        })
    }

    fn read<T>(
        &mut self,
        field: &str,
        what: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.find(field)?;
        let found = read(value);
        if found.is_none() {
            self.wrong.push(format!("{field} ({what})"));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn payload(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    #[track_caller]
    fn check_refused(value: Value, message: &str) {
        let refusal = read(&payload(value), 0).unwrap_err();
        assert_eq!(refusal.to_string(), message);
    }

    #[test]
    fn old_field_names_are_accepted() {
        let old = json!({
            "product_id": "A-1", "current_price": "19.99", "comp_price": 18, "unit_cost": 10.5,
            "margin": 0.2, "max_price": null, "user": "x",
        });
        let legacy = read(&payload(old), 7).unwrap();
        assert_eq!(legacy.ignored, ["user"]);
        let input = legacy.input;
        assert_eq!((input.sku.as_str(), input.now_ms), ("A-1", 7));
        assert_eq!(input.our_price, "19.99".parse().unwrap());
        assert_eq!(input.competitor_price, "18".parse().ok());
        assert_eq!(input.cost, "10.5".parse().ok());
        assert_eq!(input.min_margin, Rate::percent(20));
        assert_eq!(input.max_price, None);
    }

    #[test]
    fn missing_or_invalid_fields_are_named() {
        check_refused(json!({}), "the payload cannot be priced: missing sku, our_price");
        check_refused(
            json!({"sku": "A", "our_price": "dear", "cost": {}}),
            "the payload cannot be priced: not understood our_price (an amount), cost (an amount)",
        );
        check_refused(
            json!({"our_price": true}),
            "the payload cannot be priced: missing sku; not understood our_price (an amount)",
        );
        check_refused(json!({"sku": "A", "our_price": 0}), "our_price must be above 0, not 0");
        check_refused(
            json!({"sku": "A", "our_price": 9, "min_price": 8, "max_price": 7}),
            "min_price must be at most max_price 7, not 8",
        );
    }
}
