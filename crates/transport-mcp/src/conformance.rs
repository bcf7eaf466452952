//! The fixtures of the MCP conformance suite, as a service of the same server type as the real tools.
//! Only built with the feature `conformance` and served by a hidden flag; no real tool is beside them.
//!
//! Fixtures that a contract can describe take the path of every call. Those that talk to their
//! client, and contents that no contract has, are an extension of the server.
#![allow(deprecated, reason = "the suite still exercises what newer clients have left behind")]

mod fixtures;
mod input_rounds;
mod messages;
mod service;
mod tasks;

use parking_lot::Mutex;
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use contract::View;
use futures_util::future::BoxFuture;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, DetailedTask,
    GetPromptRequestParams, GetPromptResponse, InputResponses, JsonObject, Prompt,
    PromptsCapability, RequestId, Resource, ResourceContents, ServerCapabilities,
    TASKS_EXTENSION_ID,
};
use rmcp::service::{RequestContext as Cx, SubscriptionContext, SubscriptionSink};
use rmcp::task_manager::TaskManager;
use rmcp::{ErrorData, RoleServer};

use crate::extension::Extension;
use crate::http::{HttpOptions, router_with};
use crate::server::ServerOptions;
use fixtures::Fixtures;
use input_rounds::InputRounds;

/// The fixtures at `/mcp`, behind the checks of the real endpoint.
pub(crate) fn router(options: &HttpOptions) -> Result<Router, Box<dyn Error + Send + Sync>> {
    let fixtures = Arc::new(Fixtures::load()?);
    let pipeline = Arc::new(service::pipeline(&fixtures)?);
    let extension = Arc::new(ConformanceExtension {
        fixtures,
        rounds: InputRounds::new(),
        listeners: Mutex::default(),
        opened: AtomicU64::new(0),
        tasks: TaskManager::new(),
    });
    let view = View::of_service(&Arc::from(service::NAME));
    let server = ServerOptions::http(env!("CARGO_PKG_VERSION"));
    Ok(router_with(&pipeline, &view, &server, options, Some(extension)).into_router())
}

struct ConformanceExtension {
    fixtures: Arc<Fixtures>,
    rounds: InputRounds,
    /// Open `subscriptions/listen` requests, by request id and a counter.
    listeners: Mutex<HashMap<(RequestId, u64), SubscriptionSink>>,
    opened: AtomicU64,
    tasks: TaskManager,
}

enum ListChange {
    Tools,
    Prompts,
}

impl ConformanceExtension {
    async fn announce(&self, change: ListChange) -> CallToolResponse {
        let sinks: Vec<SubscriptionSink> = self.listeners.lock().values().cloned().collect();
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

    async fn answer(
        &self,
        request: &CallToolRequestParams,
        cx: &Cx<RoleServer>,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        let fixtures = &self.fixtures;
        if tasks::is_task_tool(&request.name) {
            let request = request.clone();
            return Some(tasks::call(&self.tasks, fixtures, &self.rounds, request, cx).await);
        }
        if let Some(form) = fixtures.form(&request.name) {
            return Some(messages::elicit(form, request, cx).await);
        }
        if let Some(script) = fixtures.script(&request.name) {
            return Some(self.rounds.call(fixtures, script, request, cx));
        }
        Some(match &*request.name {
            "test_tool_with_logging" | "test_logging_tool" => messages::log(cx).await,
            "test_sampling" => messages::sample(request, cx).await,
            "test_missing_capability" => messages::needs_sampling(cx),
            "test_trigger_tool_change" => Ok(self.announce(ListChange::Tools).await),
            "test_trigger_prompt_change" => Ok(self.announce(ListChange::Prompts).await),
            _ => return None,
        })
    }
}

impl Extension for ConformanceExtension {
    fn declare(&self, capabilities: &mut ServerCapabilities) {
        if let Some(tools) = &mut capabilities.tools {
            tools.list_changed = Some(true);
        }
        if let Some(resources) = &mut capabilities.resources {
            resources.subscribe = Some(true);
            resources.list_changed = Some(true);
        }
        let prompts = capabilities.prompts.get_or_insert_with(PromptsCapability::default);
        prompts.list_changed = Some(true);
        let extensions = capabilities.extensions.get_or_insert_default();
        extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
    }

    fn call<'a>(
        &'a self,
        request: &'a CallToolRequestParams,
        cx: &'a Cx<RoleServer>,
    ) -> BoxFuture<'a, Option<Result<CallToolResponse, ErrorData>>> {
        Box::pin(self.answer(request, cx))
    }

    fn resources(&self) -> Vec<Resource> {
        self.fixtures.answers.resources.clone()
    }

    fn contents(&self, uri: &str) -> Option<ResourceContents> {
        self.fixtures.contents(uri)
    }

    fn prompts(&self) -> Vec<Prompt> {
        let all = self.fixtures.answers.prompts.iter();
        all.filter(|prompt| !service::is_text_prompt(&prompt.name)).cloned().collect()
    }

    fn prompt(
        &self,
        request: &GetPromptRequestParams,
    ) -> Option<Result<GetPromptResponse, ErrorData>> {
        if service::is_text_prompt(&request.name) {
            return None;
        }
        if let Some(script) = self.fixtures.script(&request.name) {
            let (state, responses) = (&request.request_state, &request.input_responses);
            let asked = ClientCapabilities::default();
            match self.rounds.next(&self.fixtures, script, state, responses, &asked) {
                Ok(None) => {}
                Ok(Some(more)) => return Some(Ok(more.into())),
                Err(error) => return Some(Err(error)),
            }
        }
        let arguments = request.arguments.clone().unwrap_or_default();
        self.fixtures.prompt(&request.name, &arguments).map(|prompt| Ok(prompt.into()))
    }

    fn listen<'a>(&'a self, cx: &'a SubscriptionContext) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            // Two clients may use the same request id, so a counter is part of the key.
            let number = self.opened.fetch_add(1, Ordering::Relaxed);
            let key = (cx.sink().id().clone(), number);
            self.listeners.lock().insert(key.clone(), cx.sink().clone());
            cx.cancelled().await;
            self.listeners.lock().remove(&key);
        })
    }

    fn task(&self, id: &str) -> Option<Result<DetailedTask, ErrorData>> {
        Some(self.tasks.get_task(id))
    }

    fn update_task(&self, id: &str, responses: InputResponses) -> Option<Result<(), ErrorData>> {
        Some(self.tasks.update_task(id, responses))
    }

    fn cancel_task(&self, id: &str) -> Option<Result<(), ErrorData>> {
        Some(self.tasks.cancel_task(id))
    }
}
