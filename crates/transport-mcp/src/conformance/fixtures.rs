//! The fixtures that are only data: what is listed, and what is answered without a thought.

use std::collections::HashMap;

use rmcp::model::{
    CallToolResult, ElicitRequestParams, GetPromptResult, InputRequest, JsonObject, Prompt,
    Resource, ResourceContents, ResourceTemplate, ResultType, Tool,
};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) struct Fixtures {
    pub(super) tools: Vec<Tool>,
    pub(super) answers: Answers,
}

#[derive(Deserialize)]
pub(super) struct Answers {
    /// Tools that always answer the same.
    results: HashMap<String, CallToolResult>,
    /// Tools that put a form before the client's user.
    forms: HashMap<String, ElicitRequestParams>,
    /// What can be asked of a client, by key.
    pub(super) questions: HashMap<String, InputRequest>,
    /// Tools and prompts that ask before they answer.
    scripts: HashMap<String, Script>,
    pub(super) prompts: Vec<Prompt>,
    /// Prompts as they are said, with `{argument}` where an argument goes.
    said: HashMap<String, Value>,
    pub(super) resources: Vec<Resource>,
    pub(super) templates: Vec<ResourceTemplate>,
    contents: HashMap<String, ResourceContents>,
}

/// What is asked, round by round.
#[derive(Deserialize)]
pub(super) struct Script {
    pub(super) rounds: Vec<Vec<String>>,
    /// Whether the round travels with the client, under a seal.
    #[serde(default)]
    pub(super) sealed: bool,
    /// Whether only what the client declared is asked of it.
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

    pub(super) fn result(&self, tool: &str) -> Option<CallToolResult> {
        let mut result = self.answers.results.get(tool)?.clone();
        result.result_type = Some(ResultType::COMPLETE);
        Some(result)
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

    pub(super) fn said(&self, prompt: &str, arguments: &JsonObject) -> Option<GetPromptResult> {
        let mut said = self.answers.said.get(prompt)?.clone();
        fill(&mut said, arguments);
        let mut said: GetPromptResult = serde_json::from_value(said).ok()?;
        said.result_type = Some(ResultType::COMPLETE);
        Some(said)
    }

    pub(super) fn contents(&self, uri: &str) -> Option<ResourceContents> {
        if let Some(id) =
            uri.strip_prefix("test://template/").and_then(|it| it.strip_suffix("/data"))
        {
            let data =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            let contents = ResourceContents::text(data.to_string(), uri);
            return Some(contents.with_mime_type("application/json"));
        }
        self.answers.contents.get(uri).cloned()
    }
}

/// Puts arguments into every text that names them.
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

    #[test]
    fn every_key_of_a_script_is_a_question() {
        let fixtures = Fixtures::load().unwrap();
        for (name, script) in &fixtures.answers.scripts {
            for key in script.rounds.iter().flatten() {
                assert!(fixtures.question(key).is_some(), "{name} asks {key}");
            }
        }
    }

    #[test]
    fn arguments_go_where_they_are_named() {
        let fixtures = Fixtures::load().unwrap();
        let Value::Object(arguments) = json!({ "arg1": "one", "arg2": "two" }) else { panic!() };
        let said = fixtures.said("test_prompt_with_arguments", &arguments).unwrap();
        let said = serde_json::to_string(&said).unwrap();
        assert!(said.contains("arg1='one', arg2='two'"), "{said}");
    }
}
