//! The agent that a contract may have: which tool answers for it, and how it presents itself.

use serde::Deserialize;

use crate::files::ContractError;
use crate::spec::ToolSpec;

/// An agent is one tool of its contract, seen by other agents.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSpec {
    /// The tool that answers: it takes `{input: {messages, metadata}}` and gives `{output}`.
    pub tool: String,
    pub name: String,
    pub description: String,
    pub skills: Vec<AgentSkill>,
    /// The address of its protocol endpoints.
    pub path: String,
}

/// One thing that an agent can be asked to do.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSkill {
    pub id: String,
    pub name: String,
    pub description: String,
    pub tags: Vec<String>,
    #[serde(default)]
    pub examples: Vec<String>,
}

impl AgentSpec {
    /// Fails where the agent could not be served as it is written.
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
