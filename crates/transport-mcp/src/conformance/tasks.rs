//! Fixtures that become tasks, which a client polls, cancels or gives input to.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    CreateTaskResult, InputRequest,
};
use rmcp::service::RequestContext as Cx;
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use super::fixtures::Fixtures;
use super::input_rounds::InputRounds;
use super::messages;

/// The work of a task tool.
enum FixtureJob {
    Greet {
        name: String,
    },
    Compute {
        seconds: f64,
        label: String,
    },
    Fail,
    Break,
    /// Waits for the answer to each question.
    Ask {
        questions: Vec<(String, InputRequest)>,
    },
    Repeat {
        received: String,
    },
}

pub(super) fn is_task_tool(name: &str) -> bool {
    matches!(
        name,
        "greet"
            | "slow_compute"
            | "failing_job"
            | "protocol_error_job"
            | "confirm_delete"
            | "multi_input"
            | "test_tool_with_task"
    )
}

impl FixtureJob {
    fn read(request: &CallToolRequestParams, fixtures: &Fixtures) -> Self {
        let argument = |name: &str| request.arguments.as_ref().and_then(|it| it.get(name));
        let text =
            |name: &str| argument(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let ask = |keys: &[&str]| {
            let question = |key: &&str| Some(((*key).to_owned(), fixtures.question(key)?));
            Self::Ask { questions: keys.iter().filter_map(question).collect() }
        };
        match &*request.name {
            "greet" => Self::Greet { name: text("name") },
            "slow_compute" => {
                let seconds = argument("seconds").and_then(Value::as_f64).unwrap_or(1.0);
                Self::Compute { seconds: seconds.clamp(0.0, 300.0), label: text("label") }
            }
            "failing_job" => Self::Fail,
            "confirm_delete" => ask(&["confirm"]),
            "multi_input" => ask(&["value_a", "value_b"]),
            "test_tool_with_task" => {
                let received = serde_json::to_string(&request.input_responses).unwrap_or_default();
                Self::Repeat { received }
            }
            _ => Self::Break,
        }
    }

    /// Whether it can only run as a task.
    fn needs_task(&self) -> bool {
        matches!(self, Self::Fail | Self::Ask { .. } | Self::Repeat { .. })
    }

    async fn run(self) -> Result<CallToolResult, ErrorData> {
        match self {
            Self::Greet { name } => Ok(messages::text(format!("Hello, {name}!"))),
            Self::Compute { seconds, label } => {
                tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
                Ok(messages::text(format!("{label} took {seconds} s")))
            }
            Self::Fail => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Ok(CallToolResult::error(vec![ContentBlock::text("The job failed, as it should.")]))
            }
            Self::Break => Err(ErrorData::internal_error("the job broke, as it should", None)),
            Self::Ask { .. } => Err(ErrorData::internal_error("only a task can ask", None)),
            Self::Repeat { received } => Ok(messages::text(received)),
        }
    }

    async fn run_as_task(self, cx: TaskContext) -> Result<CallToolResult, TaskExit> {
        if let Self::Ask { questions } = self {
            let asked = questions.into_iter().map(|(key, it)| cx.request_input(key, it));
            let answers = futures_util::future::try_join_all(asked).await?;
            return Ok(messages::text(format!("heard {}", Value::from(answers))));
        }
        tokio::select! {
            () = cx.cancelled() => Err(TaskExit::Cancelled),
            result = self.run() => result.map_err(TaskExit::Error),
        }
    }
}

pub(super) async fn call(
    tasks: &TaskManager,
    fixtures: &Fixtures,
    rounds: &InputRounds,
    request: CallToolRequestParams,
    cx: &Cx<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let job = FixtureJob::read(&request, fixtures);
    // Some clients declare the extension in the older protocol and then cannot read a task.
    let modern = cx.protocol_version().is_some_and(|version| !version.has_initialize());
    let able = modern && cx.client_capabilities().is_some_and(|it| it.supports_tasks());
    if job.needs_task() && !able {
        let needed = ClientCapabilities::builder().enable_tasks().build();
        return Err(ErrorData::missing_required_client_capability(needed));
    }
    if let Some(script) = fixtures.script(&request.name) {
        let declared = cx.client_capabilities().unwrap_or_default();
        let (state, responses) = (&request.request_state, &request.input_responses);
        if let Some(more) = rounds.next(fixtures, script, state, responses, &declared)? {
            return Ok(more.into());
        }
    }
    if !able || matches!(job, FixtureJob::Greet { .. }) {
        return job.run().await.map(CallToolResponse::from);
    }
    let task = tasks.spawn(TaskOptions::default(), |cx| Box::pin(job.run_as_task(cx)));
    Ok(CreateTaskResult::new(task).into())
}
