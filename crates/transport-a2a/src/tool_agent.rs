//! An agent that is a tool of a contract: a message becomes the tool's arguments, the call goes
//! through the pipeline, and the reply becomes an artifact.

use std::sync::Arc;

use contract::{
    AgentSpec, Call, CallFailure, Caller, Credential, Pipeline, Reply, RequestMeta, Scope, ToolRef,
};
use fault::Kind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::agent::{Agent, AgentRequest, AgentRun, PreparedRun};
use crate::error::{A2aError, ErrorReason};
use crate::stamp;
use crate::updater::{Change, TaskUpdater};
use crate::wire::{Artifact, Message, Part, Role, Task, TaskState};

pub(crate) const TEXT: &str = "text/plain";
pub(crate) const JSON: &str = "application/json";
/// The most characters of a conversation that are passed to the tool.
const EARLIER_CHARS_MAX: usize = 32 * 1024;

pub(crate) struct ToolAgent {
    pipeline: Arc<Pipeline>,
    service: Arc<str>,
    version: String,
    tool: ToolRef,
    /// Whether a call may be repeated by another process: the tool only reads, and its arguments
    /// hold no credential that would be stored with the run.
    repeatable: bool,
    spec: AgentSpec,
}

/// What another process needs to repeat a call. The credential is not stored: the call is repeated
/// for the caller that it named.
#[derive(Serialize, Deserialize)]
struct ResumableCall {
    args: Map<String, Value>,
    subject: String,
    scopes: Vec<String>,
    request_id: String,
    modes: OutputModes,
}

impl ToolAgent {
    /// The agent of a service, if it has one.
    pub(crate) fn of(pipeline: &Arc<Pipeline>, service: &str) -> Option<Self> {
        let service = pipeline.catalog().service(service)?;
        let spec = service.agent.clone()?;
        let tool = pipeline.catalog().find(Some(&service.name), &spec.tool)?.clone();
        Some(Self {
            pipeline: Arc::clone(pipeline),
            service: Arc::clone(&service.name),
            version: service.version.clone(),
            repeatable: tool.row().spec.read_only && service.access.credential_argument.is_none(),
            tool,
            spec,
        })
    }

    /// The run of a call; for `caller` where its credential was checked before.
    fn run(&self, mut call: Call, caller: Option<Caller>, modes: OutputModes) -> AgentRun {
        let (pipeline, tool) = (Arc::clone(&self.pipeline), self.tool.clone());
        Box::new(move |updater| {
            Box::pin(async move {
                updater.change(vec![Change::Status(TaskState::Working, None)]).await;
                call.cancel = updater.cancel();
                call.progress = updater.progress();
                let outcome = match caller {
                    Some(caller) => pipeline.call_for(&caller, &tool, call).await,
                    None => pipeline.call(&tool, call).await,
                };
                report(&updater, outcome, modes).await;
            })
        })
    }
}

fn call(args: Map<String, Value>, meta: RequestMeta) -> Call {
    Call { meta, transport: "a2a", ..Call::new(args) }
}

impl Agent for ToolAgent {
    fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn service(&self) -> &str {
        &self.service
    }

    fn scope(&self) -> Scope {
        self.tool.row().scope
    }

    fn uses_conversation(&self) -> bool {
        true
    }

    fn prepare(&self, request: &AgentRequest<'_>) -> Result<PreparedRun, A2aError> {
        let modes = OutputModes::of(request.output_modes)?;
        let args = arguments(request)?;
        // Checked here too, so that invalid arguments are refused before a task is made.
        self.tool.row().spec.input.accept(args.clone())?;
        let AgentRequest { caller, meta, .. } = request;
        // A narrowed credential cannot be stored, so its call cannot be repeated without it.
        let resumable = self.repeatable && caller.grant_limits.is_none();
        let resume = resumable.then(|| ResumableCall {
            args: args.clone(),
            subject: caller.subject.to_string(),
            scopes: caller.scopes.to_vec(),
            request_id: meta.request_id.to_string(),
            modes,
        });
        let call = call(args, (*meta).clone());
        Ok(PreparedRun {
            run: self.run(call, None, modes),
            resume: resume.and_then(|call| serde_json::to_string(&call).ok()),
        })
    }

    fn resume(&self, json: &str) -> Option<AgentRun> {
        let stored: ResumableCall = serde_json::from_str(json).ok()?;
        let caller = Caller::new(stored.subject, stored.scopes);
        let request_id = Arc::from(stored.request_id);
        let call = call(stored.args, RequestMeta::new(request_id, Credential::None));
        Some(self.run(call, Some(caller), stored.modes))
    }
}

async fn report(updater: &TaskUpdater, outcome: contract::CallOutcome, modes: OutputModes) {
    let changes = match outcome {
        Ok(reply) => vec![
            Change::Artifact {
                artifact: artifact(&*reply, modes),
                append: false,
                last_chunk: true,
            },
            Change::Status(TaskState::Completed, None),
        ],
        Err(failure) => vec![failed(&failure)],
    };
    updater.change(changes).await;
}

/// The parts of an answer that a client can read.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct OutputModes {
    text: bool,
    data: bool,
}

impl OutputModes {
    fn of(modes: &[String]) -> Result<Self, A2aError> {
        if modes.is_empty() {
            return Ok(Self { text: true, data: true });
        }
        let named = |mine: &str, family: &str| {
            modes.iter().map(|mode| bare(mode)).any(|it| it == mine || it == family || it == "*/*")
        };
        let shown = Self { text: named(TEXT, "text/*"), data: named(JSON, "application/*") };
        if !shown.text && !shown.data {
            let message = format!("answers are {TEXT} and {JSON}, and the client reads neither");
            return Err(A2aError::new(ErrorReason::ContentTypeNotSupported, message));
        }
        Ok(shown)
    }
}

/// A media type without its parameters.
fn bare(mode: &str) -> String {
    mode.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn artifact(reply: &dyn Reply, modes: OutputModes) -> Artifact {
    let result = reply.result();
    let mut parts = Vec::new();
    if modes.text {
        let own = result.pointer("/output/text").and_then(Value::as_str);
        parts.push(Part::text(own.map_or_else(|| reply.text(), str::to_owned)));
    }
    if modes.data {
        parts.push(Part::data(result));
    }
    let meta = reply.meta();
    Artifact {
        artifact_id: stamp::fresh_id(),
        name: Some("answer".to_owned()),
        description: None,
        parts,
        metadata: (!meta.is_empty()).then_some(meta),
    }
}

/// The end of a task whose call failed, with the contract's error object beside the message.
fn failed(failure: &CallFailure) -> Change {
    let state = match failure.kind {
        Kind::Cancelled => return Change::Status(TaskState::Canceled, None),
        Kind::Invalid | Kind::Unauthenticated | Kind::Forbidden | Kind::RateLimited => {
            TaskState::Rejected
        }
        _ => TaskState::Failed,
    };
    let text_of = message_in(&failure.tool_error, 3).unwrap_or_else(|| failure.code.to_owned());
    Change::Status(state, Some(vec![Part::text(text_of), Part::data(failure.tool_error.clone())]))
}

/// The first `message` in an error object, at any depth up to `depth`.
fn message_in(error: &Value, depth: usize) -> Option<String> {
    let object = error.as_object()?;
    if let Some(message) = object.get("message").and_then(Value::as_str) {
        return Some(message.to_owned());
    }
    let inside = depth.checked_sub(1)?;
    object.values().find_map(|value| message_in(value, inside))
}

/// The tool's arguments: an object that the client wrote for the tool, or the messages of the
/// conversation.
fn arguments(request: &AgentRequest<'_>) -> Result<Map<String, Value>, A2aError> {
    for (at, part) in request.message.parts.iter().enumerate() {
        supported(part)?;
        let Some(data) = &part.data else { continue };
        return match data {
            Value::Object(object) if object.contains_key("input") => Ok(object.clone()),
            _ => {
                let field = format!("message.parts[{at}].data");
                Err(A2aError::params(&field, "an object with `input`"))
            }
        };
    }
    let mut messages = earlier(request.earlier);
    messages.push(json!({ "role": "user", "content": text_of(&request.message.parts) }));
    let mut input = Map::new();
    input.insert("messages".to_owned(), Value::Array(messages));
    let metadata = request.message.metadata.as_ref().or(request.metadata);
    if let Some(metadata) = metadata {
        input.insert("metadata".to_owned(), Value::Object(metadata.clone()));
    }
    let mut args = Map::new();
    args.insert("input".to_owned(), Value::Object(input));
    Ok(args)
}

fn supported(part: &Part) -> Result<(), A2aError> {
    let kind = part.media_type.as_deref().map(bare).filter(|kind| !kind.is_empty());
    let fits = match kind.as_deref() {
        None => part.text.is_some() || part.data.is_some(),
        Some(JSON) => part.data.is_some() || part.text.is_some(),
        Some(kind) => part.text.is_some() && kind.starts_with("text/"),
    };
    match fits {
        true => Ok(()),
        false => Err(unsupported(kind.as_deref())),
    }
}

pub(crate) fn unsupported(kind: Option<&str>) -> A2aError {
    let shown: String = kind.unwrap_or("a file").chars().take(64).collect();
    let message = format!("{shown} is not read here; send {TEXT} or {JSON}");
    A2aError::new(ErrorReason::ContentTypeNotSupported, message)
}

fn text_of(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.text.as_deref()).collect();
    texts.join("\n\n")
}

/// The newest messages of the conversation, up to [`EARLIER_CHARS_MAX`].
fn earlier(tasks: &[Task]) -> Vec<Value> {
    let mut messages = Vec::new();
    for task in tasks {
        let params = task.history.iter().flatten();
        messages.extend(params.map(|message| (role(message), text_of(&message.parts))));
        for artifact in task.artifacts.iter().flatten() {
            messages.push(("assistant", text_of(&artifact.parts)));
        }
    }
    let mut left = EARLIER_CHARS_MAX;
    let fits = |(_, content): &(&str, String)| {
        let enough = left.checked_sub(content.len());
        left = enough.unwrap_or_default();
        enough.is_some()
    };
    let mut kept: Vec<_> = messages.into_iter().rev().take_while(fits).collect();
    kept.reverse();
    kept.retain(|(_, content)| !content.is_empty());
    kept.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

fn role(message: &Message) -> &'static str {
    match message.role {
        Role::User => "user",
        Role::Agent => "assistant",
    }
}
