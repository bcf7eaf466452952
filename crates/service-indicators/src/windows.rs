//! Parses the `windows` argument into indicators; `ta` checks names and parameters.
//!
//! A name may carry a label (`sma:50`), so a request can contain one indicator several times. The
//! keys of its series carry the same label.

use std::borrow::Borrow;
use std::ops::Deref;
use std::sync::Arc;

use fault::Fault;
use serde_json::{Map, Value};
use ta::{Arg, Spec};

/// Maximum length of a label in bytes.
const LABEL_MAX: usize = 32;

/// One requested indicator.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    spec: Spec,
    /// The keys of its series in the reply, in the order of its outputs.
    keys: Vec<Arc<str>>,
}

impl Window {
    fn new(spec: Spec, label: Option<&str>) -> Self {
        let key = |output: &&str| match label {
            Some(label) => Arc::from(format!("{output}:{label}")),
            None => Arc::from(*output),
        };
        Self { keys: spec.outputs().iter().map(key).collect(), spec }
    }

    pub(crate) fn keys(&self) -> &[Arc<str>] {
        &self.keys
    }

    /// Two windows with equal identities compute the same values under the same keys.
    pub(crate) fn identity(&self) -> String {
        format!("{}={}", self.keys.first().map_or("", |key| key), self.spec)
    }
}

impl Deref for Window {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        &self.spec
    }
}

impl Borrow<Spec> for Window {
    fn borrow(&self) -> &Spec {
        &self.spec
    }
}

impl From<Spec> for Window {
    fn from(spec: Spec) -> Self {
        Self::new(spec, None)
    }
}

/// The requested indicators, in the order of the request.
/// `at` is the name of the argument that contains them.
pub(crate) fn parse(at: &str, windows: &Map<String, Value>) -> Result<Vec<Window>, Fault> {
    let mut all: Vec<Window> = Vec::with_capacity(windows.len());
    for (name, settings) in windows {
        let window = parse_window(at, name, settings)?;
        // Names are case-insensitive, so a second `RSI` would overwrite the series of `rsi`.
        if all.iter().any(|it| it.keys == window.keys) {
            return Err(duplicate(at, name, window.name()));
        }
        all.push(window);
    }
    Ok(all)
}

fn duplicate(at: &str, name: &str, indicator: &str) -> Fault {
    let field = format!("{at}.{name}");
    let message =
        format!("{field}: {indicator} is there twice; give one a label, as {indicator}:slow");
    Fault::invalid("invalid_window", message).problem(field, "each indicator once, or with a label")
}

fn parse_window(at: &str, name: &str, settings: &Value) -> Result<Window, Fault> {
    let refuse = |parameter: Option<&str>, expected: String| {
        let field = match parameter {
            Some(parameter) => format!("{at}.{name}.{parameter}"),
            None => format!("{at}.{name}"),
        };
        let message = format!("{field}: {expected}");
        Fault::invalid("invalid_window", message).problem(field, expected)
    };
    let (indicator, label) = match name.split_once(':') {
        Some((indicator, label)) => (indicator, Some(label)),
        None => (name, None),
    };
    if label.is_some_and(|label| !is_label(label)) {
        let expected = format!(
            "a label is 1 to {LABEL_MAX} letters, digits or any of . _ - behind the colon, as sma:50"
        );
        return Err(refuse(None, expected));
    }
    let settings = settings.as_object();
    // The schema admits only numbers and strings here.
    let mut args: Vec<(&str, Arg<'_>)> = Vec::new();
    for (key, value) in settings.into_iter().flatten() {
        match value {
            Value::String(text) => args.push((key, Arg::Text(text))),
            other => args.extend(other.as_f64().map(|number| (key.as_str(), Arg::Number(number)))),
        }
    }
    let read = |args: &[(&str, Arg<'_>)]| {
        Spec::parse(indicator, args).map_err(|error| refuse(error.name(), error.to_string()))
    };
    // A numeric label is also the period: `sma:50` averages 50 candles.
    let Some(period) = label.and_then(|label| period_of(indicator, label)) else {
        return Ok(Window::new(read(&args)?, label));
    };
    // `ta` takes the last of two periods, in any spelling. Parsing with the label's period first
    // and then last detects a request whose `period` contradicts its label.
    args.insert(0, ("period", Arg::Number(period)));
    let given = read(&args)?;
    args.rotate_left(1);
    let spec = read(&args)?;
    if spec != given {
        return Err(refuse(Some("period"), format!("{name} has a period of {period}")));
    }
    Ok(Window::new(spec, label))
}

fn is_label(text: &str) -> bool {
    let allowed = |it: u8| it.is_ascii_alphanumeric() || b"._-".contains(&it);
    (1..=LABEL_MAX).contains(&text.len()) && text.bytes().all(allowed)
}

/// The period in a numeric label, if the indicator has a `period` parameter.
fn period_of(indicator: &str, label: &str) -> Option<f64> {
    let period: u32 = label.parse().ok()?;
    let plain = Spec::parse(indicator, &[]).ok()?;
    plain.params().iter().any(|it| it.name == "period").then(|| f64::from(period))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use serde_json::json;
    use ta::ParamKind;

    fn rule() -> Value {
        let file = |path| contract::file_text(path).unwrap().parse::<Value>().unwrap();
        let (mut rule, schemas) =
            (file("indicators/windows.json"), file("indicators/schemas.json"));
        let shown = schemas.pointer("/compute/input/properties/windows/description");
        rule["description"] = shown.unwrap().clone();
        rule
    }

    #[test]
    fn the_contract_names_every_indicator() {
        let rule = rule();
        let further = rule["description"].as_str().unwrap();
        for name in ta::known() {
            let listed =
                further.contains(&format!(" {name}")) || rule["properties"][name].is_object();
            assert!(listed, "{name} is not in the contract");
        }
    }

    #[test]
    fn the_engine_accepts_every_parameter_of_the_contract() {
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
    fn the_contract_documents_every_parameter_and_series() {
        for (name, window) in rule()["properties"].as_object().unwrap() {
            let (spec, documented) = (Spec::parse(name, &[]).unwrap(), &window["properties"]);
            for param in spec.params() {
                assert!(documented[param.name].is_object(), "{name}.{} is not told", param.name);
                let default = documented[param.name]["default"].as_f64();
                let given = default.map(|number| (param.name, Arg::Number(number)));
                let given = Spec::parse(name, given.as_slice()).unwrap();
                assert_eq!(given, spec, "the default of {name}.{}", param.name);
            }
            let keys = window["description"].as_str().unwrap();
            assert!(spec.outputs().iter().all(|key| keys.contains(key)), "the series of {name}");
        }
    }

    /// The manual's table row of an indicator, without the last cell about TA-Lib parity.
    fn manual_row(spec: &Spec) -> String {
        let others = spec.params().iter().filter(|param| param.name != "parity");
        let params = others.map(|param| match param.kind {
            ParamKind::Period(default) => format!("{} {default}", param.name),
            ParamKind::Real(default) => format!("{} {default}", param.name),
            ParamKind::Offset => format!("{} 0", param.name),
            ParamKind::Optional => format!("{} (none)", param.name),
            ParamKind::Choice(words) => format!("{} {}", param.name, words.join(" or ")),
        });
        let params = params.collect::<Vec<_>>().join(", ");
        let keys = spec.outputs().iter().map(|key| format!("`{key}`")).collect::<Vec<_>>();
        format!("| {} | {params} | {} | {} |", spec.name(), keys.join(", "), spec.warmup())
    }

    #[test]
    fn the_manual_lists_every_indicator_correctly() {
        let manual = include_str!("../../../docs/indicators.md");
        let mut missing = Vec::new();
        for name in ta::known() {
            let spec = Spec::parse(name, &[]).unwrap();
            let row = manual_row(&spec);
            // The last cell says what parity changes; it is empty for an indicator without parity.
            let rest = manual.lines().find_map(|line| line.strip_prefix(&row));
            let other = spec.params().iter().any(|param| param.name == "parity");
            match rest.map(|rest| rest.trim_matches([' ', '|']).is_empty()) {
                Some(empty) if empty != other => {}
                Some(_) => {
                    missing.push(format!("{row} parity told where there is none, or not told"))
                }
                None => missing.push(row),
            }
        }
        assert!(missing.is_empty(), "not in the manual:\n{}", missing.join("\n"));
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
    fn check_parsed(windows: Value, expected: &[(&str, &[&str])]) {
        let windows = parse("windows", windows.as_object().unwrap()).unwrap();
        let found: Vec<(String, Vec<&str>)> = windows
            .iter()
            .map(|it| (it.to_string(), it.keys().iter().map(|key| &**key).collect()))
            .collect();
        let expected: Vec<(String, Vec<&str>)> =
            expected.iter().map(|(spec, keys)| ((*spec).to_owned(), keys.to_vec())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn labels_allow_an_indicator_more_than_once() {
        let plain = ("sma(period=12)", ["sma"].as_slice());
        check_parsed(json!({ "sma": {} }), &[plain]);
        check_parsed(
            json!({ "sma": {}, "sma:50": {}, "SMA:long": { "period": 200 } }),
            &[plain, ("sma(period=50)", &["sma:50"]), ("sma(period=200)", &["sma:long"])],
        );
        check_parsed(
            json!({ "rsi:7": { "period": 7 } }),
            &[(
                &Spec::parse("rsi", &[("period", Arg::Number(7.0))]).unwrap().to_string(),
                &["rsi:7"],
            )],
        );
        check_parsed(
            json!({ "obv:1": {} }),
            &[(&Spec::parse("obv", &[]).unwrap().to_string(), &["obv:1"])],
        );
        let macd = parse("windows", json!({ "macd:a": {} }).as_object().unwrap()).unwrap();
        assert_eq!(macd[0].keys(), ["macd:a", "signal:a", "hist:a"].map(Arc::from));
    }

    /// The error for a duplicate indicator proposes a label; that label is valid with any period.
    #[test]
    fn the_proposed_label_is_accepted() {
        let windows = json!({ "rsi": {}, "RSI": { "period": 7 } });
        let fault = parse("windows", windows.as_object().unwrap()).unwrap_err();
        let proposed = fault.message().rsplit(' ').next().unwrap().to_owned();
        check_parsed(
            json!({ "rsi": {}, proposed.clone(): { "period": 7 } }),
            &[("rsi(period=14,parity=ta)", &["rsi"]), ("rsi(period=7,parity=ta)", &[&proposed])],
        );
    }

    #[track_caller]
    fn check(windows: &Value, field: &str) {
        let fault = parse("windows", windows.as_object().unwrap()).unwrap_err();
        assert_eq!(fault.problems()[0].field, field);
    }

    #[test]
    fn a_fault_names_the_wrong_window() {
        check(&json!({ "macd": { "fast": 26, "slow": 12 } }), "windows.macd.fast");
        check(&json!({ "rsi": { "length": 3 } }), "windows.rsi.length");
        check(&json!({ "rsi": { "period": 2.5 } }), "windows.rsi.period");
        check(&json!({ "sma": { "period": 1e9 } }), "windows.sma.period");
        check(&json!({ "tea": {} }), "windows.tea");
        check(&json!({ "rsi": { "period": 3 }, "RSI": {} }), "windows.RSI");
        check(&json!({ "rsi:a": {}, "RSI:a": {} }), "windows.RSI:a");
        check(&json!({ "sma:": {} }), "windows.sma:");
        check(&json!({ "sma:a b": {} }), "windows.sma:a b");
        check(&json!({ "sma:0": {} }), "windows.sma:0.period");
        check(&json!({ "sma:50": { "period": 20 } }), "windows.sma:50.period");
        check(&json!({ "sma:50": { "Period": 20 } }), "windows.sma:50.period");
        check(&json!({ "sma:50": { "period": "long" } }), "windows.sma:50.period");
        check(&json!({ "tea:50": {} }), "windows.tea:50");
    }
}
