//! The host form of a contract, from its `host.json`: how its tools are listed beside those of other
//! services, for MCP hosts and their models. The exact form stays at `/mcp/{service}`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::access::AccessRules;
use crate::catalog::host_safe;
use crate::files::{ContractError, file_text, read_json};
use crate::host_schema;
use crate::prompt::PromptSpec;
use crate::spec::ToolSpec;

/// What `host.json` says about a service.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// One or two sentences about the service, for the instructions of the whole server.
    pub instructions: String,
    /// The tools, by their contract's names. A tool that is not here is listed with its contract's
    /// description.
    #[serde(default)]
    pub(crate) tools: BTreeMap<String, HostTool>,
    /// Prompts that hosts offer to their users.
    #[serde(default)]
    pub prompts: Vec<PromptSpec>,
}

/// What `host.json` says about a tool.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostTool {
    /// The name beside the tools of other services, where the contract's own says too little there;
    /// `None` for the contract's own.
    pub(crate) name: Option<String>,
    /// What the tool does for its user, with units and formats; `None` for the contract's own.
    description: Option<String>,
    /// A JSON merge patch of the exact input's properties: shorter descriptions, and null for an
    /// argument that a model does not need. The server accepts the exact input all the same.
    arguments: Map<String, Value>,
    /// The same for the properties of the exact output; a result stays valid.
    output: Map<String, Value>,
    /// Whether the tool is listed only where its service or itself is asked for by name. It can
    /// always be called.
    pub on_request: bool,
    /// What the user is asked before a call, with `{argument}` for a text among the arguments; only
    /// where the client can show a question.
    pub confirm: Option<String>,
}

impl HostSpec {
    /// Loads `contracts/<service>/host.json`; a contract without the file has the default form.
    pub(crate) fn load(service: &str) -> Result<Self, ContractError> {
        let path = format!("{service}/host.json");
        if file_text(&path).is_none() {
            return Ok(Self::default());
        }
        read_json(&path)
    }

    /// Gives each tool what `host.json` says about it; fails if it names a tool or an argument that
    /// the contract lacks, or hides an argument that a caller must give.
    pub(crate) fn apply(
        &mut self,
        service: &str,
        tools: &mut [ToolSpec],
        access: &AccessRules,
    ) -> Result<(), ContractError> {
        for prompt in &self.prompts {
            prompt.check(service, tools)?;
        }
        for (name, host) in std::mem::take(&mut self.tools) {
            let fail = |what: String| ContractError(format!("{service}/host.json: {what}"));
            let tool = tools.iter_mut().find(|tool| tool.name == name);
            let tool = tool.ok_or_else(|| fail(format!("there is no tool {name}")))?;
            let exact = tool.input.json();
            for (argument, change) in &host.arguments {
                if exact["properties"].get(argument).is_none() {
                    return Err(fail(format!("{name} has no argument {argument}")));
                }
                let required = exact["required"].as_array().into_iter().flatten();
                let is_credential = access.credential_argument.as_ref() == Some(argument);
                if change.is_null()
                    && !is_credential
                    && required.into_iter().any(|it| it == argument)
                {
                    return Err(fail(format!("{name} hides its required {argument}")));
                }
            }
            let properties = &tool.output.json()["properties"];
            if let Some(field) = host.output.keys().find(|it| properties.get(*it).is_none()) {
                return Err(fail(format!("the result of {name} has no {field}")));
            }
            tool.host = host;
        }
        Ok(())
    }
}

impl ToolSpec {
    /// The name for MCP hosts, unless a tool of another service has the same.
    pub fn host_name(&self) -> String {
        self.host.name.clone().unwrap_or_else(|| host_safe(&self.name))
    }

    /// Every spelling of the name within the service.
    pub fn spellings(&self) -> [String; 3] {
        [self.name.clone(), host_safe(&self.name), self.host_name()]
    }

    /// The description for models of MCP hosts.
    pub fn host_description(&self) -> &str {
        self.host.description.as_deref().unwrap_or(&self.description)
    }

    /// The input schema for MCP hosts, without the argument that carries a credential.
    pub fn host_input(&self, access: &AccessRules) -> Map<String, Value> {
        let mut exact = self.input.json().clone();
        // Arguments that only callers of the whole server have are listed as well.
        let wide = self.input_for(false).json()["properties"].as_object();
        if let Some(all) = exact.get_mut("properties").and_then(Value::as_object_mut) {
            for (name, rule) in wide.into_iter().flatten() {
                all.entry(name.clone()).or_insert_with(|| rule.clone());
            }
        }
        if let Some(properties) = exact.get_mut("properties") {
            *properties =
                host_schema::patched(properties, &Value::Object(self.host.arguments.clone()));
            if let (Some(argument), Some(properties)) =
                (&access.credential_argument, properties.as_object_mut())
            {
                properties.shift_remove(argument);
            }
        }
        host_schema::input(&exact)
    }

    /// The output schema for MCP hosts.
    pub fn host_output(&self) -> Map<String, Value> {
        let mut exact = self.output.json().clone();
        if let Some(properties) = exact.get_mut("properties") {
            *properties =
                host_schema::patched(properties, &Value::Object(self.host.output.clone()));
        }
        host_schema::output(&exact)
    }
}
