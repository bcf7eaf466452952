//! The fixtures that a contract can describe, as a service behind the pipeline: constant answers, a
//! failure, progress, prompts of text, and a resource that a tool reads.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use contract::{
    Authenticator, CallRecord, Caller, Catalog, Contract, ContractError, Credential, Cx, Envelope,
    FailureContext, HostSpec, HostTool, Meter, Pipeline, PromptSpec, Reply, ResourceSpec, Schema,
    Scope, ToolSpec, Tools,
};
use fault::Fault;
use serde_json::{Map, Value, json};

use super::fixtures::Fixtures;

pub(super) const NAME: &str = "conformance";

/// The tool that reads `test://template/{id}/data`.
const TEMPLATE: &str = "template_data";

/// The suite checks that progress arrives before the tool ends.
const STEP: Duration = Duration::from_millis(50);

/// The prompts whose answer is one text; the others are answered by the extension.
pub(super) fn is_text_prompt(name: &str) -> bool {
    matches!(name, "test_simple_prompt" | "test_prompt_with_arguments")
}

pub(super) fn pipeline(fixtures: &Arc<Fixtures>) -> Result<Pipeline, ContractError> {
    let mut tools = Tools::of(Arc::clone(fixtures)).tool(TEMPLATE, Scope::Read, template_data);
    for tool in &fixtures.tools {
        // The table wants names that live as long as the process; there are forty.
        let name: &'static str = Box::leak(tool.name.to_string().into_boxed_str());
        tools = tools.tool(name, Scope::Read, move |cx, _: Map<String, Value>| call(name, cx));
    }
    let service = tools.bind(contract(fixtures)?, FixtureEnvelope)?;
    let catalog = Catalog::new(vec![service])?;
    let (open, meter) = (Arc::new(OpenAuthenticator), Arc::new(NoMeter));
    Ok(Pipeline::new(catalog, open, meter, Duration::from_secs(30)))
}

/// A contract with the error table of another one, since a table can only be read from files.
fn contract(fixtures: &Fixtures) -> Result<Contract, ContractError> {
    let mut tools = vec![spec(TEMPLATE, "Data by its id.", json!({ "type": "object" }), true)?];
    for tool in &fixtures.tools {
        let input = Value::Object((*tool.input_schema).clone());
        let description = tool.description.as_deref().unwrap_or_default();
        tools.push(spec(&tool.name, description, input, false)?);
    }
    let other = Contract::load("quotes")?;
    let mut host = HostSpec::default();
    host.prompts = prompts(fixtures);
    Ok(Contract {
        service: NAME.to_owned(),
        title: "Fixtures of the conformance suite".to_owned(),
        version: "1.0.0".to_owned(),
        summary: "Fixtures of the conformance suite.".to_owned(),
        instructions: "Fixtures of the conformance suite.".to_owned(),
        host,
        documents: Vec::new(),
        resources: vec![ResourceSpec {
            template: "test://template/{id}/data".to_owned(),
            name: "template".to_owned(),
            title: "Data".to_owned(),
            description: "Data by its id.".to_owned(),
            read: TEMPLATE.to_owned(),
            watch: None,
            complete: Default::default(),
        }],
        tools,
        ..other
    })
}

fn spec(
    name: &str,
    description: &str,
    input: Value,
    http_only: bool,
) -> Result<ToolSpec, ContractError> {
    Ok(ToolSpec {
        name: name.to_owned(),
        title: name.to_owned(),
        description: description.to_owned(),
        input: Schema::compile(input)?,
        relaxed: None,
        output: Schema::compile(json!({ "type": "object" }))?,
        annotations: json!({ "readOnlyHint": true }),
        read_only: true,
        http: None,
        http_only,
        timeout: None,
        concurrency: None,
        task: None,
        host: HostTool::default(),
    })
}

fn prompts(fixtures: &Fixtures) -> Vec<PromptSpec> {
    let text = fixtures.answers.prompts.iter().filter(|prompt| is_text_prompt(&prompt.name));
    let spec = |prompt: &rmcp::model::Prompt| {
        let arguments = prompt.arguments.iter().flatten().map(|argument| {
            json!({ "name": argument.name, "description": argument.description,
                "values": ["paris", "park", "rome"] })
        });
        let arguments: Vec<Value> = arguments.collect();
        let text = fixtures.prompt_text(&prompt.name)?;
        let spec = json!({ "name": prompt.name, "title": prompt.name,
            "description": prompt.description, "arguments": arguments, "text": text });
        serde_json::from_value(spec).ok()
    };
    text.filter_map(spec).collect()
}

async fn call(name: &'static str, cx: Cx<Fixtures>) -> Result<FixtureReply, Fault> {
    match name {
        "test_error_handling" => {
            let message = "this tool intentionally returns an error for testing";
            return Err(Fault::invalid("intended", message));
        }
        "test_tool_with_progress" => {
            for done in [0.0, 50.0, 100.0] {
                cx.progress.report(done, Some(100.0), "");
                tokio::time::sleep(STEP).await;
            }
        }
        "test_reconnection" => tokio::time::sleep(STEP * 2).await,
        _ => {}
    }
    let content = cx
        .service
        .content(name)
        .unwrap_or_else(|| vec![json!({ "type": "text", "text": "The work is done." })]);
    Ok(FixtureReply { json: json!({}), content: Some(content) })
}

async fn template_data(_: Cx<Fixtures>, args: Map<String, Value>) -> Result<FixtureReply, Fault> {
    let id = args.get("id").and_then(Value::as_str).unwrap_or_default();
    let json = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
    Ok(FixtureReply { json, content: None })
}

struct FixtureReply {
    json: Value,
    content: Option<Vec<Value>>,
}

impl Reply for FixtureReply {
    fn result(&self) -> Value {
        self.json.clone()
    }

    fn text(&self) -> String {
        self.json.to_string()
    }

    fn content(&self) -> Option<Vec<Value>> {
        self.content.clone()
    }
}

struct FixtureEnvelope;

impl Envelope for FixtureEnvelope {
    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        json!({ "type": cx.row.r#type, "message": fault.message(), "retryable": cx.row.retryable,
            "trace_id": cx.request_id })
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        json!({ "error": self.tool_error(fault, cx) })
    }
}

/// Lets every caller read.
struct OpenAuthenticator;

#[async_trait]
impl Authenticator for OpenAuthenticator {
    async fn authenticate(&self, _: &Credential, _: &str) -> Result<Caller, Fault> {
        Ok(Caller::new(NAME, ["read".to_owned()]))
    }
}

struct NoMeter;

impl Meter for NoMeter {
    fn record(&self, _: &CallRecord<'_>) {}
}
