//! `windows` as indicators: each name with its parameters, checked by `ta` itself.

use fault::Fault;
use serde_json::{Map, Value};
use ta::{Arg, Spec};

/// The indicators asked for, in the order they were written.
/// `at` is the field they stand in.
pub(crate) fn parse(at: &str, windows: &Map<String, Value>) -> Result<Vec<Spec>, Fault> {
    let mut specs: Vec<Spec> = Vec::with_capacity(windows.len());
    for (name, settings) in windows {
        let spec = one(at, name, settings)?;
        // Names are read in any case, and the series of the second would stand in the first's place.
        if specs.iter().any(|it| it.name() == spec.name()) {
            return Err(twice(at, name, spec.name()));
        }
        specs.push(spec);
    }
    Ok(specs)
}

fn twice(at: &str, name: &str, indicator: &str) -> Fault {
    let field = format!("{at}.{name}");
    let message = format!("{field}: {indicator} is there twice");
    Fault::invalid("invalid_window", message).problem(field, "each indicator once")
}

fn one(at: &str, name: &str, settings: &Value) -> Result<Spec, Fault> {
    let settings = settings.as_object();
    // The schema lets numbers and words through, nothing else.
    let mut args: Vec<(&str, Arg<'_>)> = Vec::new();
    for (key, value) in settings.into_iter().flatten() {
        match value {
            Value::String(text) => args.push((key, Arg::Text(text))),
            other => args.extend(other.as_f64().map(|number| (key.as_str(), Arg::Number(number)))),
        }
    }
    Spec::parse(name, &args).map_err(|error| {
        let field = match error.name() {
            Some(parameter) => format!("{at}.{name}.{parameter}"),
            None => format!("{at}.{name}"),
        };
        let message = format!("{field}: {error}");
        Fault::invalid("invalid_window", message).problem(field, error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use serde_json::json;

    fn rule() -> Value {
        let text = contract::text("indicators/schemas.json").unwrap();
        let schemas: Value = text.parse().unwrap();
        schemas.pointer("/compute/input/properties/windows").unwrap().clone()
    }

    #[test]
    fn the_contract_names_every_indicator_there_is() {
        let rule = rule();
        let further = rule["description"].as_str().unwrap();
        for name in ta::known() {
            let listed =
                further.contains(&format!(" {name}")) || rule["properties"][name].is_object();
            assert!(listed, "{name} is not in the contract");
        }
    }

    #[test]
    fn every_parameter_of_the_contract_is_one_of_the_engine_s() {
        for (name, window) in rule()["properties"].as_object().unwrap() {
            for (parameter, rule) in window["properties"].as_object().unwrap() {
                let value = match &rule["enum"] {
                    Value::Array(words) => words[0].clone(),
                    _ => rule.get("default").cloned().unwrap_or(json!(3)),
                };
                let window = json!({ name: { parameter: value } });
                let parsed = parse("windows", window.as_object().unwrap());
                assert!(parsed.is_ok(), "{name}.{parameter}: {:?}", parsed.err());
            }
        }
    }

    #[test]
    fn no_two_indicators_share_a_key() {
        let mut seen = BTreeSet::new();
        for name in ta::known() {
            for key in Spec::parse(name, &[]).unwrap().outputs() {
                assert!(seen.insert(*key), "{key} is there twice");
            }
        }
    }

    #[track_caller]
    fn check(windows: &Value, field: &str) {
        let fault = parse("windows", windows.as_object().unwrap()).unwrap_err();
        assert_eq!(fault.problems()[0].field, field);
    }

    #[test]
    fn a_wrong_window_is_named() {
        check(&json!({ "macd": { "fast": 26, "slow": 12 } }), "windows.macd.fast");
        check(&json!({ "rsi": { "length": 3 } }), "windows.rsi.length");
        check(&json!({ "rsi": { "period": 2.5 } }), "windows.rsi.period");
        check(&json!({ "sma": { "period": 1e9 } }), "windows.sma.period");
        check(&json!({ "tea": {} }), "windows.tea");
        check(&json!({ "rsi": { "period": 3 }, "RSI": {} }), "windows.RSI");
    }
}
