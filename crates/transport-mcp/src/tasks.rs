//! Tasks, for clients of the 2026 protocol that declare the extension: a call that continues as a job
//! is answered with a task handle, and requests for the task report the state of the job.
//!
//! This module keeps no state. A task's id names its tool and its job, so it outlives this process,
//! and a request for the task is authorized like a call of that tool.

use contract::{CallFailure, Credential, JobQuery, Progress, TaskPhase};
use rmcp::model::{
    CallToolResponse, ConstString, CreateTaskResult, DetailedTask, JsonObject, Task, TaskPayload,
    TaskStatus,
};
use rmcp::service::RequestContext as Cx;
use rmcp::{ErrorData, RoleServer};
use serde::Serialize;
use serde_json::Value;

use crate::answer;
use crate::context::{narrowing, take_meta_credential};
use crate::listing::ListedTool;
use crate::server::McpServer;

/// The longest task id that is looked up, in bytes.
const ID_BYTES_MAX: usize = 256;

/// The id of a task: `archive.arkiver_process_file.<job>`. Service names and job ids have no dot.
fn id_of(tool: &ListedTool, job: &str) -> String {
    format!("{}.{}.{job}", tool.service(), tool.tool_ref.row().spec.name)
}

/// Service, tool and job.
fn parts(id: &str) -> Option<(&str, &str, &str)> {
    if id.len() > ID_BYTES_MAX {
        return None;
    }
    let (service, rest) = id.split_once('.')?;
    let (tool, job) = rest.rsplit_once('.')?;
    Some((service, tool, job))
}

/// Whether the request is of the 2026 protocol. Some clients declare the extension in a session of
/// the 2025 protocol too, and then cannot parse a task.
pub(crate) fn is_modern(cx: &Cx<RoleServer>) -> bool {
    cx.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// A call that may become a task, with the credential it carried.
pub(crate) struct Followable<'a> {
    tool: &'a ListedTool,
    credential: Option<Credential>,
}

impl McpServer {
    /// Whether this call may be answered with a task. A call with its credential in an argument may
    /// not, because requests for a task have no such argument.
    pub(crate) fn followable<'a>(
        &self,
        tool: &'a ListedTool,
        args: Option<&JsonObject>,
        credential: Option<&Credential>,
        cx: &Cx<RoleServer>,
    ) -> Option<Followable<'a>> {
        tool.tool_ref.row().spec.task?;
        let able = || cx.client_capabilities().is_some_and(|it| it.supports_tasks());
        let is_given = |name: &String| args.is_some_and(|args| args.contains_key(name));
        let access = &tool.tool_ref.service().access;
        let has_credential = access.credential_argument.as_ref().is_some_and(is_given);
        (!has_credential && is_modern(cx) && able())
            .then(|| Followable { tool, credential: credential.cloned() })
    }

    /// The task handle of a call that continues as `job`, or its result if the job has ended. `None`
    /// if the caller may not follow the job; then the tool's plain reply is sent.
    pub(crate) async fn handle(
        &self,
        call: Followable<'_>,
        job: &str,
        cx: &Cx<RoleServer>,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        let Followable { tool, credential } = call;
        let ask = JobQuery { job: job.to_owned(), cancel: false };
        let told = self.ask(tool, ask, credential, cx).await.ok()?;
        match told.phase {
            TaskPhase::Working => {
                let task = task(id_of(tool, job), &told, TaskStatus::Working);
                Some(Ok(CreateTaskResult::new(task).into()))
            }
            TaskPhase::Ended(end) => {
                let answer = self.result(end, &tool.tool_ref, self.text_form(), cx).await;
                Some(answer.map(CallToolResponse::from))
            }
            TaskPhase::Cancelled => None,
        }
    }

    /// Answers `tasks/get`, `tasks/update` and `tasks/cancel`; only the last cancels the job. No task
    /// of ours asks for input, so an update changes nothing.
    pub(crate) async fn followed<M: ConstString>(
        &self,
        id: &str,
        cancel: bool,
        mut cx: Cx<RoleServer>,
    ) -> Result<DetailedTask, ErrorData> {
        if !is_modern(&cx) {
            return Err(ErrorData::method_not_found::<M>());
        }
        let credential = take_meta_credential(&mut cx.meta);
        let (tool, job) = self.find(id, &cx).ok_or_else(|| answer::unknown_task(id))?;
        let ask = JobQuery { job: job.to_owned(), cancel };
        let told = self.ask(tool, ask, credential, &cx).await;
        let told = told.map_err(|failure| answer::failed_task(id, failure.as_ref()))?;
        let task = task(id.to_owned(), &told, TaskStatus::Working);
        let payload = match told.phase {
            TaskPhase::Working => TaskPayload::Working,
            TaskPhase::Cancelled => TaskPayload::Cancelled,
            TaskPhase::Ended(end) => {
                match self.result(end, &tool.tool_ref, self.text_form(), &cx).await {
                    Ok(result) => TaskPayload::Completed { result: object(&result) },
                    Err(error) => TaskPayload::Failed { error: object(&error) },
                }
            }
        };
        Ok(DetailedTask::new(task, payload))
    }

    /// The tool and the job of a task, if the request's view shows the tool.
    fn find<'a>(&self, id: &'a str, cx: &Cx<RoleServer>) -> Option<(&ListedTool, &'a str)> {
        let (service, name, job) = parts(id)?;
        let tool_ref = self.state.pipeline.catalog().find(Some(service), name)?;
        let is_exact = tool_ref.row().spec.name == name;
        let tool = self.state.listing.tools.iter().find(|it| it.tool_ref == *tool_ref)?;
        let by = narrowing(&cx.extensions);
        let visible = is_exact && by.is_none_or(|view| tool.shown_by(&view));
        visible.then_some((tool, job))
    }

    /// Asks for the state of a job; `Err(None)` if calls of the tool never become tasks.
    async fn ask(
        &self,
        tool: &ListedTool,
        ask: JobQuery,
        credential: Option<Credential>,
        cx: &Cx<RoleServer>,
    ) -> Result<contract::TaskReport, Option<CallFailure>> {
        let mut call = self.call(JsonObject::new(), cx, Progress::default());
        self.choose_credential(&mut call, &tool.tool_ref, credential);
        match self.state.pipeline.task(&tool.tool_ref, call, ask).await {
            Some(told) => told.map_err(Some),
            None => Err(None),
        }
    }
}

fn task(id: String, told: &contract::TaskReport, status: TaskStatus) -> Task {
    Task::new(id, status, told.created_at.clone(), told.changed_at.clone())
        .with_status_message(told.note.clone())
        .with_ttl_ms(told.spec.ttl_s.saturating_mul(1000))
        .with_poll_interval_ms(told.spec.poll_ms)
}

fn object(it: &impl Serialize) -> JsonObject {
    match serde_json::to_value(it) {
        Ok(Value::Object(object)) => object,
        _ => JsonObject::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(id: &str, expected: Option<(&str, &str, &str)>) {
        assert_eq!(parts(id), expected, "{id}");
    }

    #[test]
    fn an_id_names_its_service_tool_and_job() {
        check("archive.read_it.0192-7", Some(("archive", "read_it", "0192-7")));
        check("quotes.quotes.live.0192", Some(("quotes", "quotes.live", "0192")));
        check("archive.0192", None);
        check("0192", None);
        check("", None);
        check(&format!("a.b.{}", "c".repeat(300)), None);
    }
}
