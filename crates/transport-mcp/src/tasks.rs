//! Calls as tasks, for clients of the newer protocol that declare the extension: a call that goes on
//! as a job is answered with a handle, and the job itself is what the handle is looked up in.
//!
//! Nothing is kept here. A task's id names its tool and its job, so it outlives this process, and
//! whoever asks for it is let through as a caller of that tool.

use std::sync::Arc;

use contract::{CallFailure, Credential, JobQuery, Progress, TaskPhase, ToolRow};
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

/// Longer than any id that was given out.
const ID_BYTES_MAX: usize = 256;

/// The id of a task: `archive.arkiver_process_file.<job>`. A service's name and a job's have no dot.
fn id_of(tool: &ListedTool, job: &str) -> String {
    format!("{}.{}.{job}", tool.service, tool.own_name)
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

/// Whether the request is of the newer protocol. Some clients declare the extension in an older
/// session too, and then cannot read a task.
fn is_modern(cx: &Cx<RoleServer>) -> bool {
    cx.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// A call that may become a task, and who made it.
pub(crate) struct Followable<'a> {
    tool: &'a ListedTool,
    credential: Option<Credential>,
}

impl McpServer {
    /// Whether this call may be answered with a task. One that shows its credential among its
    /// arguments may not: there is no place for it when the task is asked for.
    pub(crate) fn followable<'a>(
        &self,
        tool: &'a ListedTool,
        args: Option<&JsonObject>,
        credential: Option<&Credential>,
        cx: &Cx<RoleServer>,
    ) -> Option<Followable<'a>> {
        let catalog = self.state.pipeline.catalog();
        let (service, row) = catalog.find(Some(&tool.service), &tool.own_name)?;
        row.spec.task?;
        let able = || cx.client_capabilities().is_some_and(|it| it.supports_tasks());
        let among = |name: &String| args.is_some_and(|args| args.contains_key(name));
        let told = service.access.credential_argument.as_ref().is_some_and(among);
        (!told && is_modern(cx) && able())
            .then(|| Followable { tool, credential: credential.cloned() })
    }

    /// The handle of a call that goes on as `job`; its end, where that has come already. Nothing
    /// where the job is not the caller's own to follow: the tool's plain answer will do.
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
                let output = self.row(tool).map(|row| &row.spec.output);
                Some(answer::of(end, output).map(CallToolResponse::from))
            }
            TaskPhase::Cancelled => None,
        }
    }

    /// `tasks/get`, `tasks/update` and `tasks/cancel`, which differ in whether the job is to cancel.
    /// No task of ours asks for input, so an update has nothing to change.
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
                match answer::of(end, self.row(tool).map(|row| &row.spec.output)) {
                    Ok(result) => TaskPayload::Completed { result: object(&result) },
                    Err(error) => TaskPayload::Failed { error: object(&error) },
                }
            }
        };
        Ok(DetailedTask::new(task, payload))
    }

    /// The tool and the job of a task, where the caller is shown that tool at all.
    fn find<'a>(&self, id: &'a str, cx: &Cx<RoleServer>) -> Option<(&ListedTool, &'a str)> {
        let (service, name, job) = parts(id)?;
        let named = |it: &&ListedTool| &*it.service == service && it.own_name == name;
        let tool = self.state.listing.tools.iter().find(named)?;
        let catalog = self.state.pipeline.catalog();
        let by = narrowing(&cx.extensions);
        let visible = by.is_none_or(|view| tool.shown_by(catalog, &view));
        visible.then_some((tool, job))
    }

    fn row(&self, tool: &ListedTool) -> Option<&ToolRow> {
        let found = self.state.pipeline.catalog().find(Some(&tool.service), &tool.own_name);
        found.map(|(_, row)| row)
    }

    /// `Err(None)` where the tool's calls never become tasks.
    async fn ask(
        &self,
        tool: &ListedTool,
        ask: JobQuery,
        credential: Option<Credential>,
        cx: &Cx<RoleServer>,
    ) -> Result<contract::TaskReport, Option<CallFailure>> {
        let (name, service) = (tool.own_name.clone(), Some(Arc::clone(&tool.service)));
        let mut call = self.call(name, service, JsonObject::new(), cx, Progress::default());
        if let Some(credential) = credential {
            call.credential = credential;
        }
        match self.state.pipeline.task(call, ask).await {
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
