//! Prompts: texts with arguments that a host offers to its user, from a contract's `host.json`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::files::ContractError;
use crate::spec::ToolSpec;

/// A prompt of a contract.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptSpec {
    /// The name of the prompt.
    pub name: String,
    /// The title for people.
    pub title: String,
    /// What the prompt is for.
    pub description: String,
    /// The arguments that its user fills in.
    #[serde(default)]
    pub arguments: Vec<PromptArgumentSpec>,
    /// The text, with `{name}` for each argument.
    text: String,
}

/// An argument of a prompt.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptArgumentSpec {
    /// The name of the argument.
    pub name: String,
    /// What to fill in.
    pub description: String,
    /// What stands for an argument that is left out; `None` if it is required.
    pub default: Option<String>,
    /// The values that are offered.
    #[serde(default)]
    pub values: Vec<String>,
    /// The tool that lists the values, with the JSON pointer of them in its result, such as
    /// `list_symbols#/symbols`.
    pub complete: Option<String>,
}

impl PromptSpec {
    /// Fails if the text has another placeholder than its arguments, or a tool does not exist.
    pub(crate) fn check(&self, service: &str, tools: &[ToolSpec]) -> Result<(), ContractError> {
        let fail = |what: String| ContractError(format!("{service}: prompt {}: {what}", self.name));
        for rest in self.text.split('{').skip(1) {
            let name = rest.split('}').next().unwrap_or_default();
            if !self.arguments.iter().any(|argument| argument.name == name) {
                return Err(fail(format!("there is no argument {name}")));
            }
        }
        for argument in &self.arguments {
            let lister = argument.complete.as_deref().map(|at| at.split('#').next());
            if let Some(Some(tool)) =
                lister.filter(|tool| !tools.iter().any(|it| Some(it.name.as_str()) == *tool))
            {
                return Err(fail(format!("there is no tool {tool}")));
            }
        }
        Ok(())
    }

    /// The text with its arguments; `Err` is the name of a required argument that is missing.
    pub fn fill(&self, given: &Map<String, Value>) -> Result<String, &str> {
        let mut text = String::with_capacity(self.text.len());
        let mut parts = self.text.split('{');
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let (name, after) = part.split_once('}').unwrap_or((part, ""));
            text.push_str(&self.value(name, given)?);
            text.push_str(after);
        }
        // A required argument must be given even if the text does not have it.
        for argument in &self.arguments {
            self.value(&argument.name, given)?;
        }
        Ok(text)
    }

    fn value(&self, name: &str, given: &Map<String, Value>) -> Result<String, &str> {
        let argument = self.arguments.iter().find(|argument| argument.name == name);
        let Some(argument) = argument else { return Ok(String::new()) };
        match given.get(name) {
            Some(Value::String(value)) if !value.trim().is_empty() => Ok(value.clone()),
            Some(value) if !value.is_string() && !value.is_null() => Ok(value.to_string()),
            _ => argument.default.clone().ok_or(argument.name.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn prompt() -> PromptSpec {
        serde_json::from_value(json!({ "name": "p", "title": "P", "description": "d",
            "arguments": [{ "name": "a", "description": "" },
                { "name": "b", "description": "", "default": "two" }],
            "text": "one {a}, {b}; {a}." }))
        .unwrap()
    }

    #[track_caller]
    fn check(given: Value, expected: Result<&str, &str>) {
        let Value::Object(given) = given else { panic!("arguments are an object") };
        assert_eq!(prompt().fill(&given), expected.map(str::to_owned));
    }

    #[test]
    fn arguments_replace_their_placeholders_once() {
        check(json!({ "a": "x" }), Ok("one x, two; x."));
        check(json!({ "a": "{b}", "b": "y" }), Ok("one {b}, y; {b}."));
        check(json!({ "a": 5 }), Ok("one 5, two; 5."));
        check(json!({ "b": "y" }), Err("a"));
        check(json!({ "a": " " }), Err("a"));
    }

    #[test]
    fn a_placeholder_needs_its_argument() {
        let mut prompt = prompt();
        assert!(prompt.check("s", &[]).is_ok());
        prompt.arguments[0].complete = Some("list#/names".to_owned());
        assert!(prompt.check("s", &[]).is_err());
        prompt.arguments.remove(0);
        assert!(prompt.check("s", &[]).is_err());
    }
}
