//! The agent for the protocol's conformance suite: the prefix of a message's id selects what it does.
//! Only a hidden flag of the binary serves it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use contract::{AgentSkill, AgentSpec, Scope};
use fault::Fault;
use serde_json::json;
use tokio::time::sleep;

use crate::agent::{Agent, AgentRequest, AgentRun, PreparedRun};
use crate::error::A2aError;
use crate::memory_store::MemoryTaskStore;
use crate::router::{A2aOptions, serve};
use crate::tool_agent::unsupported;
use crate::updater::{Change, TaskUpdater};
use crate::wire::{Artifact, Message, Part, TaskState};

/// Twice as long as the suite waits for a stream.
const LONG: Duration = Duration::from_secs(4);

/// The fixture agent at `{prefix}/a2a`, its card at `{prefix}/.well-known/agent-card.json`.
pub(crate) fn router(options: A2aOptions) -> Result<Router, Fault> {
    let store = Arc::new(MemoryTaskStore::default());
    serve(vec![Box::new(ConformanceAgent::new())], A2aOptions { store, ..options })
}

struct ConformanceAgent(AgentSpec);

impl ConformanceAgent {
    fn new() -> Self {
        let skill = AgentSkill {
            id: "conformance".to_owned(),
            name: "Conformance".to_owned(),
            description: "Does what the conformance suite of the protocol asks for.".to_owned(),
            tags: vec!["test".to_owned()],
            examples: Vec::new(),
        };
        Self(AgentSpec {
            tool: String::new(),
            name: "Stoa conformance fixture".to_owned(),
            description: "An agent for the conformance suite; it knows nothing.".to_owned(),
            skills: vec![skill],
            path: "/a2a".to_owned(),
        })
    }
}

impl Agent for ConformanceAgent {
    fn spec(&self) -> &AgentSpec {
        &self.0
    }

    fn version(&self) -> &str {
        "1.0.0"
    }

    fn service(&self) -> &str {
        "conformance"
    }

    fn scope(&self) -> Scope {
        Scope::Read
    }

    fn uses_conversation(&self) -> bool {
        false
    }

    fn direct_reply(&self, message: &Message) -> Option<Vec<Part>> {
        let direct = message.message_id.starts_with("tck-message-response");
        direct.then(|| vec![Part::text("Direct message response")])
    }

    fn prepare(&self, request: &AgentRequest<'_>) -> Result<PreparedRun, A2aError> {
        for part in &request.message.parts {
            if part.raw.is_some() || part.url.is_some() {
                return Err(unsupported(part.media_type.as_deref()));
            }
        }
        let id = request.message.message_id.clone();
        let run: AgentRun =
            Box::new(move |updater| Box::pin(async move { act(&updater, &id).await }));
        Ok(PreparedRun { run, resume: None })
    }
}

/// A longer prefix is tested before a shorter one that it contains.
async fn act(updater: &TaskUpdater, id: &str) {
    let is = |prefix: &str| id.starts_with(prefix);
    if is("tck-input-required") {
        updater.change(vec![Change::Status(TaskState::InputRequired, None)]).await;
    } else if is("tck-reject-task") {
        end(updater, TaskState::Rejected, "rejected").await;
    } else if is("tck-artifact-file-url") {
        complete(updater, Some(file_url())).await;
    } else if is("tck-artifact-file") {
        complete(updater, Some(file())).await;
    } else if is("tck-artifact-data") {
        complete(updater, Some(Part::data(json!({ "key": "value", "count": 42 })))).await;
    } else if is("tck-artifact-text") {
        complete(updater, Some(Part::text("Generated text content"))).await;
    } else if is("tck-stream-artifact-chunked") {
        chunks(updater).await;
    } else if is("tck-stream-artifact-file") {
        stream(updater, file()).await;
    } else if is("tck-stream-artifact-text") {
        stream(updater, Part::text("Streamed text content")).await;
    } else if is("tck-stream-ordering-001") {
        stream(updater, Part::text("Ordered output")).await;
    } else if is("tck-stream-001") {
        stream(updater, Part::text("Stream hello from TCK")).await;
    } else if is("tck-stream-002") {
        complete(updater, None).await;
    } else if is("tck-stream-003") {
        stream(updater, Part::text("Stream task lifecycle")).await;
    } else if is("test-resubscribe-message-id") {
        updater.change(vec![Change::Status(TaskState::Working, None)]).await;
        for step in 1..=4 {
            sleep(LONG / 4).await;
            updater.progress().report(f64::from(step), Some(4.0), "still working");
        }
        complete(updater, None).await;
    } else {
        end(updater, TaskState::Completed, "Hello from TCK").await;
    }
}

async fn end(updater: &TaskUpdater, state: TaskState, text_of: &str) {
    updater.change(vec![Change::Status(state, Some(vec![Part::text(text_of)]))]).await;
}

async fn complete(updater: &TaskUpdater, part: Option<Part>) {
    let artifact = part.map(|part| Change::Artifact {
        artifact: artifact(part),
        append: false,
        last_chunk: true,
    });
    let done = Change::Status(TaskState::Completed, None);
    updater.change(artifact.into_iter().chain([done]).collect()).await;
}

async fn stream(updater: &TaskUpdater, part: Part) {
    updater.change(vec![Change::Status(TaskState::Working, None)]).await;
    complete(updater, Some(part)).await;
}

async fn chunks(updater: &TaskUpdater) {
    updater.change(vec![Change::Status(TaskState::Working, None)]).await;
    let first = artifact(Part::text("chunk-1 "));
    let second = Artifact { parts: vec![Part::text("chunk-2")], ..first.clone() };
    let chunk = |artifact, append| Change::Artifact { artifact, append, last_chunk: append };
    updater.change(vec![chunk(first, false)]).await;
    updater.change(vec![chunk(second, true)]).await;
    complete(updater, None).await;
}

fn artifact(part: Part) -> Artifact {
    Artifact {
        artifact_id: crate::stamp::fresh_id(),
        name: None,
        description: None,
        parts: vec![part],
        metadata: None,
    }
}

fn named(part: Part) -> Part {
    Part {
        filename: Some("output.txt".to_owned()),
        media_type: Some("text/plain".to_owned()),
        ..part
    }
}

fn file() -> Part {
    named(Part { raw: Some("b3V0cHV0".to_owned()), ..Part::default() })
}

fn file_url() -> Part {
    named(Part { url: Some("https://example.com/output.txt".to_owned()), ..Part::default() })
}
