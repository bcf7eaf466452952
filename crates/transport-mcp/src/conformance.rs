//! The fixtures of the MCP conformance suite, behind the same endpoint checks as the real tools. Only
//! built with the feature `conformance` and served by a hidden flag; no real tool is beside them.
#![allow(deprecated, reason = "the suite still exercises what newer clients have left behind")]

mod fixtures;
mod input_rounds;
mod messages;
mod tasks;

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities,
    CompleteRequestParams, CompleteResult, CompletionInfo, GetPromptRequestParams,
    GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, RequestId,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext as Cx, SubscriptionContext, SubscriptionSink};
use rmcp::task_manager::TaskManager;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::answer::{unknown_resource, unknown_tool};
use crate::http::{HttpOptions, endpoint};
use fixtures::Fixtures;
use input_rounds::InputRounds;

/// The fixtures at `/mcp`, behind the checks of the real endpoint.
pub(crate) fn router(options: &HttpOptions) -> Result<Router, serde_json::Error> {
    let server = ConformanceServer(Arc::new(ConformanceState {
        fixtures: Fixtures::load()?,
        rounds: InputRounds::new(),
        listeners: Mutex::default(),
        tasks: TaskManager::new(),
    }));
    Ok(Router::new().route("/mcp", endpoint(move || server.clone(), options)))
}

#[derive(Clone)]
struct ConformanceServer(Arc<ConformanceState>);

struct ConformanceState {
    fixtures: Fixtures,
    rounds: InputRounds,
    /// Open `subscriptions/listen` requests, by request id and a counter.
    listeners: Mutex<HashMap<(RequestId, u64), SubscriptionSink>>,
    tasks: TaskManager,
}

enum ListChange {
    Tools,
    Prompts,
}

impl ConformanceServer {
    fn listeners(
        &self,
    ) -> parking_lot::MutexGuard<'_, HashMap<(RequestId, u64), SubscriptionSink>> {
        self.0.listeners.lock()
    }

    async fn announce(&self, change: ListChange) -> CallToolResponse {
        let sinks: Vec<SubscriptionSink> = self.listeners().values().cloned().collect();
        for sink in sinks {
            let sent = match change {
                ListChange::Tools => sink.notify_tool_list_changed().await,
                ListChange::Prompts => sink.notify_prompt_list_changed().await,
            };
            if let Err(error) = sent {
                tracing::debug!(%error, "a list change could not be sent");
            }
        }
        messages::text("The change was announced.").into()
    }
}

impl ServerHandler for ConformanceServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_tasks()
            .build();
        let version = env!("CARGO_PKG_VERSION");
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("stoa-conformance", version))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Cx<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.fixtures.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.fixtures.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: Cx<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let fixtures = &self.0.fixtures;
        if let Some(result) = fixtures.result(&request.name) {
            return Ok(result.into());
        }
        if tasks::is_task_tool(&request.name) {
            return tasks::call(&self.0.tasks, fixtures, &self.0.rounds, request, &cx).await;
        }
        if let Some(form) = fixtures.form(&request.name) {
            return messages::elicit(form, &request, &cx).await;
        }
        if let Some(script) = fixtures.script(&request.name) {
            return self.0.rounds.call(fixtures, script, &request, &cx);
        }
        match &*request.name {
            "test_tool_with_logging" | "test_logging_tool" => messages::log(&cx).await,
            "test_tool_with_progress" => messages::progress(&cx).await,
            "test_reconnection" => messages::pause().await,
            "test_sampling" => messages::sample(&request, &cx).await,
            "test_missing_capability" => messages::needs_sampling(&cx),
            "test_trigger_tool_change" => Ok(self.announce(ListChange::Tools).await),
            "test_trigger_prompt_change" => Ok(self.announce(ListChange::Prompts).await),
            name => Err(unknown_tool(name, std::iter::empty())),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Cx<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.0.fixtures.answers.prompts.clone()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Cx<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let fixtures = &self.0.fixtures;
        if let Some(script) = fixtures.script(&request.name) {
            let (state, responses) = (&request.request_state, &request.input_responses);
            let asked = ClientCapabilities::default();
            if let Some(more) = self.0.rounds.next(fixtures, script, state, responses, &asked)? {
                return Ok(more.into());
            }
        }
        let arguments = request.arguments.unwrap_or_default();
        let prompt = fixtures.prompt(&request.name, &arguments);
        let prompt = prompt.ok_or_else(|| ErrorData::invalid_params("unknown prompt", None))?;
        Ok(prompt.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Cx<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.0.fixtures.answers.resources.clone()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Cx<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = self.0.fixtures.answers.templates.clone();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Cx<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = self.0.fixtures.contents(&request.uri);
        let contents = contents.ok_or_else(|| unknown_resource(&request.uri))?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: Cx<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let found = CompletionInfo::new(vec!["paris".to_owned(), "park".to_owned()]);
        let found = found.map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(found))
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(asked.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        // Two clients may use the same request id, so a counter is part of the key.
        static OPENED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = OPENED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let key = (cx.sink().id().clone(), number);
        self.listeners().insert(key.clone(), cx.sink().clone());
        cx.cancelled().await;
        self.listeners().remove(&key);
        Ok(())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: Cx<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: Cx<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: Cx<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: Cx<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.0.tasks.get_task(&request.task_id)?))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: Cx<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: Cx<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.tasks.cancel_task(&request.task_id)
    }
}
