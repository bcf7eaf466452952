//! Fixtures that are data: the lists, and constant answers.

use std::collections::HashMap;

use rmcp::model::{
    ElicitRequestParams, GetPromptResult, InputRequest, JsonObject, Prompt, Resource,
    ResourceContents, ResultType, Tool,
};
use serde::Deserialize;
use serde_json::Value;

pub(super) struct Fixtures {
    pub(super) tools: Vec<Tool>,
    pub(super) answers: Answers,
}

#[derive(Deserialize)]
pub(super) struct Answers {
    /// Tools with a constant answer.
    results: HashMap<String, ConstantAnswer>,
    /// Tools that ask the user to fill in a form.
    forms: HashMap<String, ElicitRequestParams>,
    /// Questions to a client, by key.
    pub(super) questions: HashMap<String, InputRequest>,
    /// Tools and prompts that ask questions before they answer.
    scripts: HashMap<String, Script>,
    pub(super) prompts: Vec<Prompt>,
    /// The messages of prompts, with `{argument}` placeholders.
    prompt_messages: HashMap<String, Value>,
    pub(super) resources: Vec<Resource>,
    contents: HashMap<String, ResourceContents>,
}

#[derive(Deserialize)]
struct ConstantAnswer {
    content: Vec<Value>,
}

/// The questions of each round.
#[derive(Deserialize)]
pub(super) struct Script {
    pub(super) rounds: Vec<Vec<String>>,
    /// Whether the client carries the signed round number.
    #[serde(default)]
    pub(super) sealed: bool,
    /// Whether to ask only questions whose capability the client declared.
    #[serde(default)]
    pub(super) declared_only: bool,
}

impl Fixtures {
    pub(super) fn load() -> Result<Self, serde_json::Error> {
        Ok(Self {
            tools: serde_json::from_str(include_str!("tools.json"))?,
            answers: serde_json::from_str(include_str!("answers.json"))?,
        })
    }

    /// The content blocks of a tool with a constant answer.
    pub(super) fn content(&self, tool: &str) -> Option<Vec<Value>> {
        self.answers.results.get(tool).map(|result| result.content.clone())
    }

    /// The text of a prompt whose only message is a text.
    pub(super) fn prompt_text(&self, prompt: &str) -> Option<&str> {
        self.answers.prompt_messages.get(prompt)?.pointer("/messages/0/content/text")?.as_str()
    }

    pub(super) fn form(&self, tool: &str) -> Option<ElicitRequestParams> {
        self.answers.forms.get(tool).cloned()
    }

    pub(super) fn script(&self, name: &str) -> Option<&Script> {
        self.answers.scripts.get(name)
    }

    pub(super) fn question(&self, key: &str) -> Option<InputRequest> {
        self.answers.questions.get(key).cloned()
    }

    pub(super) fn prompt(&self, prompt: &str, arguments: &JsonObject) -> Option<GetPromptResult> {
        let mut messages = self.answers.prompt_messages.get(prompt)?.clone();
        fill(&mut messages, arguments);
        let mut result: GetPromptResult = serde_json::from_value(messages).ok()?;
        result.result_type = Some(ResultType::COMPLETE);
        Some(result)
    }

    pub(super) fn contents(&self, uri: &str) -> Option<ResourceContents> {
        self.answers.contents.get(uri).cloned()
    }
}

/// Replaces `{name}` in every text by the argument.
fn fill(value: &mut Value, arguments: &JsonObject) {
    match value {
        Value::String(text) => {
            for (name, argument) in arguments {
                let argument = argument.as_str().unwrap_or_default();
                *text = text.replace(&format!("{{{name}}}"), argument);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, arguments)),
        Value::Object(fields) => fields.values_mut().for_each(|field| fill(field, arguments)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_script_names_known_questions() {
        let fixtures = Fixtures::load().unwrap();
        for (name, script) in &fixtures.answers.scripts {
            for key in script.rounds.iter().flatten() {
                assert!(fixtures.question(key).is_some(), "{name} asks {key}");
            }
        }
    }

    #[test]
    fn arguments_replace_their_placeholders() {
        let fixtures = Fixtures::load().unwrap();
        let Value::Object(arguments) = json!({ "arg1": "one", "arg2": "two" }) else { panic!() };
        let prompt = fixtures.prompt("test_prompt_with_arguments", &arguments).unwrap();
        let prompt = serde_json::to_string(&prompt).unwrap();
        assert!(prompt.contains("arg1='one', arg2='two'"), "{prompt}");
    }
}
