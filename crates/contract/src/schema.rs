//! A JSON Schema, whose errors name the field and what was expected there. It is compiled when the
//! first value is checked.

use std::sync::OnceLock;

use fault::Fault;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use serde_json::{Map, Value};

use crate::files::ContractError;
use crate::time_fields::TimeField;

/// How many problems of one input are reported.
const PROBLEMS_MAX: usize = 8;

/// A JSON Schema.
#[derive(Debug)]
pub struct Schema {
    json: Value,
    /// What values are checked against, where `json` lists a wider form of it.
    exact: Option<Value>,
    /// Compiled at the first check, because a server has about 300 schemas and most processes call a
    /// few tools.
    validator: OnceLock<Result<jsonschema::Validator, ContractError>>,
    /// Top-level properties that have a default, filled in before a handler sees the arguments.
    defaults: Vec<(String, Value)>,
    /// Top-level properties that are integers. JSON Schema calls `1.0` one; Rust does not.
    integers: Vec<String>,
    /// Arguments that are read in every form of a time; the validator sees the contract's form.
    times: Vec<TimeField>,
}

impl Schema {
    /// A schema that is compiled when the first value is checked; if it does not compile, every check
    /// fails. Formats such as `date` are validated.
    pub fn new(json: Value) -> Self {
        let properties = || json["properties"].as_object().into_iter().flatten();
        let defaults = properties()
            .filter_map(|(name, rule)| Some((name.clone(), rule.get("default")?.clone())))
            .collect();
        let integers = properties()
            .filter(|(_, rule)| rule["type"] == "integer")
            .map(|(name, _)| name.clone())
            .collect();
        let (exact, validator, times) = (None, OnceLock::new(), Vec::new());
        Self { json, exact, validator, defaults, integers, times }
    }

    /// A schema that is compiled now; fails if it does not compile.
    pub fn compile(json: Value) -> Result<Self, ContractError> {
        let schema = Self::new(json);
        match schema.validator() {
            Ok(_) => Ok(schema),
            Err(error) => Err(error.clone()),
        }
    }

    /// The validator, which the first caller compiles.
    pub(crate) fn validator(&self) -> Result<&jsonschema::Validator, &ContractError> {
        let compiled = self.validator.get_or_init(|| {
            jsonschema::options()
                .should_validate_formats(true)
                .build(self.exact.as_ref().unwrap_or(&self.json))
                .map_err(|e| ContractError(format!("a schema does not compile: {e}")))
        });
        compiled.as_ref()
    }

    #[cfg(test)]
    pub(crate) fn is_compiled(&self) -> bool {
        self.validator.get().is_some()
    }

    /// The same schema with further properties.
    pub(crate) fn with_properties(&self, more: &Value) -> Result<Self, ContractError> {
        let mut json = self.json.clone();
        let (Some(all), Some(more)) = (json["properties"].as_object_mut(), more.as_object()) else {
            return Err(ContractError("further properties are not an object".to_owned()));
        };
        all.extend(more.clone());
        Ok(Self::new(json))
    }

    /// The same schema with these arguments listed and read in every form of a time.
    pub(crate) fn with_times(&self, names: &[String]) -> Result<Self, ContractError> {
        let of = |name: &String| TimeField::of(name, &self.json);
        let times = names.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let mut schema = Self::new(self.json.clone());
        for field in &times {
            field.widen(&mut schema.json);
        }
        Ok(Self { times, exact: Some(self.json.clone()), ..schema })
    }

    /// The schema itself.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Fails if a value does not match; the fault names each field and what was expected there.
    pub fn check(&self, value: &Value) -> Result<(), Fault> {
        let validator = self.validator().map_err(|error| Fault::internal(error.clone()))?;
        if validator.is_valid(value) {
            return Ok(());
        }
        let mut problems: Vec<(String, String)> = Vec::new();
        for error in validator.iter_errors(value).take(PROBLEMS_MAX) {
            problems.extend(describe(&error));
        }
        let phrases: Vec<String> = problems
            .iter()
            .map(|(field, expected)| match field.as_str() {
                "" => format!("expected {expected}"),
                _ => format!("{field}: expected {expected}"),
            })
            .collect();
        let fault =
            Fault::invalid("invalid_input", format!("invalid input: {}", phrases.join("; ")));
        Err(problems
            .into_iter()
            .fold(fault, |fault, (field, expected)| fault.problem(field, expected)))
    }

    /// The names of the arguments that the caller left out and that have a default.
    pub(crate) fn left_out(&self, args: &Map<String, Value>) -> Vec<String> {
        let left_out = self.defaults.iter().filter(|(name, _)| !args.contains_key(name));
        left_out.map(|(name, _)| name.clone()).collect()
    }

    /// Validates arguments, adds the schema's defaults and converts `1.0` to `1` in integer fields.
    pub fn accept(&self, mut args: Map<String, Value>) -> Result<Map<String, Value>, Fault> {
        for field in &self.times {
            field.convert(&mut args)?;
        }
        let value = Value::Object(args);
        self.check(&value)?;
        let Value::Object(mut args) = value else { return Ok(Map::new()) };
        for (name, default) in &self.defaults {
            if !args.contains_key(name) {
                args.insert(name.clone(), default.clone());
            }
        }
        for name in &self.integers {
            if let Some(value) = args.get_mut(name).filter(|value| value.is_f64()) {
                *value = whole(value.as_f64().unwrap_or_default());
            }
        }
        Ok(args)
    }
}

/// A whole float as an integer. The cast saturates: a page number above `u64::MAX` becomes that.
fn whole(value: f64) -> Value {
    if value < 0.0 { Value::from(value as i64) } else { Value::from(value as u64) }
}

/// The field, and the phrase that completes "expected …". Values are never repeated, because they
/// may be secrets or megabytes long.
fn describe(error: &jsonschema::ValidationError<'_>) -> Vec<(String, String)> {
    let at = dotted(error.instance_path());
    let below = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    let phrase = match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            return vec![(below(name), "a value: the field is required".to_owned())];
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let nothing = |name: &String| {
                let shown: String = name.chars().take(64).collect();
                (below(&shown), "no such field".to_owned())
            };
            return unexpected.iter().take(PROBLEMS_MAX).map(nothing).collect();
        }
        ValidationErrorKind::Type { kind: TypeKind::Single(kind) } => a_type(&kind.to_string()),
        ValidationErrorKind::Type { kind: TypeKind::Multiple(kinds) } => {
            let kinds: Vec<String> = kinds.iter().map(|kind| a_type(&kind.to_string())).collect();
            kinds.join(" or ")
        }
        ValidationErrorKind::MinItems { limit } => format!("at least {limit} items"),
        ValidationErrorKind::MaxItems { limit } => format!("at most {limit} items"),
        ValidationErrorKind::MaxProperties { limit } => format!("at most {limit} entries"),
        ValidationErrorKind::MinLength { limit } => format!("at least {limit} characters"),
        ValidationErrorKind::MaxLength { limit } => format!("at most {limit} characters"),
        ValidationErrorKind::Minimum { limit } => format!("at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("at most {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        ValidationErrorKind::Enum { options } => format!("one of {options}"),
        ValidationErrorKind::Constant { expected_value } => format!("{expected_value}"),
        ValidationErrorKind::Format { format } if format == "date" => {
            "a date as YYYY-MM-DD".to_owned()
        }
        ValidationErrorKind::Format { format } => format!("a valid {format}"),
        ValidationErrorKind::Pattern { pattern } => format!("a text matching {pattern}"),
        ValidationErrorKind::UniqueItems => "no repeated items".to_owned(),
        other => format!("what the contract's {} allows", other.keyword()),
    };
    vec![(at, phrase)]
}

fn a_type(name: &str) -> String {
    match name {
        "array" | "object" | "integer" => format!("an {name}"),
        "null" => "null".to_owned(),
        other => format!("a {other}"),
    }
}

fn dotted(location: &Location) -> String {
    let mut path = String::new();
    for segment in location {
        match segment {
            LocationSegment::Index(index) => path.push_str(&format!("[{index}]")),
            LocationSegment::Property(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.extend(name.chars().take(64));
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        Schema::compile(json!({
            "type": "object", "required": ["tickers"], "additionalProperties": false,
            "properties": {
                "tickers": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 2 },
                "from": { "type": "string", "format": "date" },
                "interval": { "enum": ["1d", "1m"] },
                "volume": { "type": ["integer", "null"] },
                "page": { "type": "integer", "minimum": 1, "default": 1 }
            }
        }))
        .unwrap()
    }

    #[track_caller]
    fn check(args: Value, field: &str, expected: &str) {
        let Value::Object(args) = args else { panic!("arguments are an object") };
        let fault = schema().accept(args).unwrap_err();
        let problem = &fault.problems()[0];
        assert_eq!((problem.field.as_str(), problem.expected.as_str()), (field, expected));
    }

    #[test]
    fn every_problem_names_its_field_and_what_was_expected() {
        check(json!({}), "tickers", "a value: the field is required");
        check(json!({"tickers": "A"}), "tickers", "an array");
        check(json!({"tickers": ["A", 5]}), "tickers[1]", "a string");
        check(json!({"tickers": []}), "tickers", "at least 1 items");
        check(json!({"tickers": ["A", "B", "C"]}), "tickers", "at most 2 items");
        check(json!({"tickers": ["A"], "from": "tomorrow"}), "from", "a date as YYYY-MM-DD");
        check(json!({"tickers": ["A"], "interval": "2d"}), "interval", r#"one of ["1d","1m"]"#);
        check(json!({"tickers": ["A"], "page": 0}), "page", "at least 1");
        check(json!({"tickers": ["A"], "volume": "x"}), "volume", "null or an integer");
        check(json!({"tickers": ["A"], "limit": 5}), "limit", "no such field");
    }

    #[test]
    fn an_integer_may_be_written_as_a_float() {
        for (written, read) in [(json!(3.0), json!(3)), (json!(1e300), json!(u64::MAX))] {
            let Value::Object(args) = json!({"tickers": ["A"], "page": written}) else {
                unreachable!()
            };
            assert_eq!(schema().accept(args).unwrap()["page"], read);
        }
    }

    #[test]
    fn defaults_come_from_the_contract() {
        let Value::Object(args) = json!({"tickers": ["A"]}) else { unreachable!() };
        assert_eq!(schema().left_out(&args), ["page"]);
        let accepted = schema().accept(args).unwrap();
        assert_eq!(accepted["page"], 1);
        assert!(schema().left_out(&accepted).is_empty());
    }
}
