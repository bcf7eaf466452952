//! The agent section of a contract: the tool behind it and its A2A agent card.

use serde::Deserialize;

use crate::files::ContractError;
use crate::spec::ToolSpec;

/// An agent: one tool of its contract, offered to other agents over A2A.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSpec {
    /// The tool behind the agent: it takes `{input: {messages, metadata}}` and returns `{output}`.
    pub tool: String,
    /// The name on the card.
    pub name: String,
    /// The description on the card.
    pub description: String,
    /// The skills on the card.
    pub skills: Vec<AgentSkill>,
    /// The path of its endpoints.
    pub path: String,
}

/// One skill of an agent card.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSkill {
    /// The id of the skill.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// The description for people and models.
    pub description: String,
    /// Keywords.
    pub tags: Vec<String>,
    /// Example requests.
    #[serde(default)]
    pub examples: Vec<String>,
}

impl AgentSpec {
    /// Fails if the tool, the path or the skills are missing or wrong.
    pub(crate) fn check(&self, service: &str, tools: &[ToolSpec]) -> Result<(), ContractError> {
        let wrong = |what: String| Err(ContractError(format!("{service}: the agent {what}")));
        if !tools.iter().any(|tool| tool.name == self.tool) {
            return wrong(format!("answers with {}, which is no tool", self.tool));
        }
        if !self.path.starts_with('/') || self.path.ends_with('/') {
            return wrong(format!("has the path {:?}, which is no address", self.path));
        }
        if self.skills.is_empty() {
            return wrong("has no skills".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::fixture;

    #[track_caller]
    fn check(tool: &str, path: &str, skills: usize, good: bool) {
        let skill = json!({ "id": "a", "name": "A", "description": "a", "tags": ["a"] });
        let spec: AgentSpec = serde_json::from_value(json!({
            "tool": tool, "name": "N", "description": "D", "path": path,
            "skills": vec![skill; skills],
        }))
        .unwrap();
        let tools = fixture::contract("s", &["ask"]).tools;
        assert_eq!(spec.check("s", &tools).is_ok(), good, "{tool} {path} {skills}");
    }

    #[test]
    fn an_agent_has_a_tool_an_address_and_a_skill() {
        check("ask", "/a2a", 1, true);
        check("tell", "/a2a", 1, false);
        check("ask", "a2a", 1, false);
        check("ask", "/a2a/", 1, false);
        check("ask", "/a2a", 0, false);
    }
}
