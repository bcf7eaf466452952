//! The one handler: every method of the protocol that we serve, over any view of the catalogue.

use std::sync::Arc;

use contract::{Call, Credential, Pipeline, Progress, View};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskMethod, CancelTaskParams,
    CompleteRequestParams, CompleteResult, GetTaskMethod, GetTaskParams, GetTaskResult,
    Implementation, InitializeRequestParams, InitializeResult, JsonObject,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
    TASKS_EXTENSION_ID, Tool, UnsubscribeRequestParams, UpdateTaskMethod, UpdateTaskParams,
};
use rmcp::service::{RequestContext as Cx, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;

use crate::context::{arrival, narrowing, retry_after_rate, session_over, take_meta_credential};
use crate::listing::{ListedTool, Listing};
use crate::subscriptions::SessionSubscriptions;
use crate::{answer, cursor, progress};

/// Lists change only with a new release, so a client may keep them for a while.
pub(crate) const LIST_TTL_MS: u64 = 300_000;

/// What differs between the places a server stands.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The version in the server's own description.
    pub version: String,
    /// `mcp` or `stdio`, for the metrics.
    pub transport: &'static str,
    /// Who is asking where the transport has no headers.
    pub credential: Credential,
    /// Items on one page of a list.
    pub page_size: usize,
}

impl ServerOptions {
    pub fn http(version: impl Into<String>) -> Self {
        Self {
            version: version.into(),
            transport: "mcp",
            credential: Credential::None,
            page_size: 50,
        }
    }

    pub fn stdio(version: impl Into<String>, credential: Credential) -> Self {
        Self { transport: "stdio", credential, ..Self::http(version) }
    }
}

/// A view of the catalogue as an MCP server. Cheap to clone: every stateless request gets one.
#[derive(Clone)]
pub struct McpServer {
    pub(crate) state: Arc<ServerState>,
    /// What the session behind this server watches; shared by its clones.
    pub(crate) subscriptions: Arc<SessionSubscriptions>,
}

/// What every session of one server shares.
pub(crate) struct ServerState {
    pub(crate) pipeline: Arc<Pipeline>,
    view: View,
    pub(crate) options: ServerOptions,
    pub(crate) listing: Listing,
    info: ServerConfig,
}

impl McpServer {
    pub fn new(pipeline: Arc<Pipeline>, view: View, options: ServerOptions) -> Self {
        let listing = Listing::new(pipeline.catalog(), &view);
        let mut capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().build();
        if !listing.templates.is_empty() {
            capabilities.completions = Some(JsonObject::new());
        }
        if let Some(resources) = &mut capabilities.resources {
            let watchable = listing.templates.iter().any(|template| template.watchable);
            resources.subscribe = watchable.then_some(true);
        }
        if listing.tools.iter().any(|tool| tool.followable) {
            let ours = capabilities.extensions.get_or_insert_default();
            ours.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        let stoa = Implementation::new("stoa", options.version.clone()).with_title("Stoa");
        let mut info = ServerConfig::new(capabilities).with_server_info(stoa);
        info.instructions =
            (!listing.instructions.is_empty()).then(|| listing.instructions.clone());
        let state = Arc::new(ServerState { pipeline, view, options, listing, info });
        Self {
            state,
            subscriptions: Arc::new(SessionSubscriptions::new(&CancellationToken::new())),
        }
    }

    /// The same server for one more session, which watches nothing yet and ends with `until`.
    pub(crate) fn for_session(&self, until: &CancellationToken) -> Self {
        Self {
            state: Arc::clone(&self.state),
            subscriptions: Arc::new(SessionSubscriptions::new(until)),
        }
    }

    /// The listed tools that a request's headers leave visible.
    pub(crate) fn visible_tools<'a>(
        &'a self,
        by: Option<&'a View>,
    ) -> impl Iterator<Item = &'a ListedTool> {
        let catalog = self.state.pipeline.catalog();
        let tools = self.state.listing.tools.iter();
        tools.filter(move |tool| by.is_none_or(|view| tool.shown_by(catalog, view)))
    }

    pub(crate) fn call(
        &self,
        tool: String,
        service: Option<Arc<str>>,
        args: JsonObject,
        cx: &Cx<RoleServer>,
        to: Progress,
    ) -> Call {
        let arrival = arrival(&cx.extensions, &self.state.options.credential);
        Call {
            tool,
            service,
            args,
            credential: arrival.credential,
            transport: self.state.options.transport,
            request_id: arrival.request_id,
            retry_after_rate: arrival.retry_after_rate,
            cancel: cx.ct.child_token(),
            progress: to,
        }
    }
}

/// Lists and documents have no contract of their own to refuse in, so the protocol's error says it.
pub(crate) fn admit(cx: &Cx<RoleServer>) -> Result<(), ErrorData> {
    retry_after_rate(&cx.extensions).map_or(Ok(()), |wait| Err(answer::rate_limited(wait)))
}

/// What headers narrowed is for the asking client alone.
pub(crate) fn scope(narrowed: bool) -> CacheScope {
    if narrowed { CacheScope::Private } else { CacheScope::Public }
}

#[allow(deprecated, reason = "the older protocol still subscribes in its own way")]
impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        self.state.info.clone()
    }

    // The older protocol had tasks of another kind, so ours are not shown to its clients.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        cx: Cx<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        cx.peer.set_peer_info(request.clone());
        let mut info = self.negotiate_initialize(&request)?;
        info.capabilities.extensions = None;
        Ok(info)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: Cx<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        admit(&cx)?;
        let by = narrowing(&cx.extensions);
        let tools: Vec<&ListedTool> = self.visible_tools(by.as_ref()).collect();
        let size = self.state.options.page_size;
        let asked = request.and_then(|request| request.cursor);
        let start = cursor::start("tools", asked.as_deref(), tools.len())?;
        let page = tools.iter().skip(start).take(size).map(|it| it.tool.clone()).collect();
        let mut result = ListToolsResult::with_all_items(page);
        result.next_cursor = cursor::next("tools", start, size, tools.len());
        result.ttl_ms = Some(LIST_TTL_MS);
        result.cache_scope = Some(scope(by.is_some()));
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.state.listing.find(name).map(|listed| listed.tool.clone())
    }

    // Boxed, because the library copies a request's future several times on its way to a task, and
    // the state of a call is large.
    fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: Cx<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + Send + '_ {
        Box::pin(self.carry(request, cx))
    }

    fn get_task(
        &self,
        request: GetTaskParams,
        cx: Cx<RoleServer>,
    ) -> impl Future<Output = Result<GetTaskResult, ErrorData>> + Send + '_ {
        Box::pin(async move {
            let told = self.followed::<GetTaskMethod>(&request.task_id, false, cx).await?;
            Ok(GetTaskResult::new(told))
        })
    }

    fn update_task(
        &self,
        request: UpdateTaskParams,
        cx: Cx<RoleServer>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send + '_ {
        Box::pin(async move {
            self.followed::<UpdateTaskMethod>(&request.task_id, false, cx).await.map(drop)
        })
    }

    fn cancel_task(
        &self,
        request: CancelTaskParams,
        cx: Cx<RoleServer>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send + '_ {
        Box::pin(async move {
            self.followed::<CancelTaskMethod>(&request.task_id, true, cx).await.map(drop)
        })
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: Cx<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        admit(&cx)?;
        self.resources(request, &cx)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: Cx<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        admit(&cx)?;
        self.templates(request, &cx)
    }

    fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: Cx<RoleServer>,
    ) -> impl Future<Output = Result<ReadResourceResponse, ErrorData>> + Send + '_ {
        Box::pin(self.read(request, cx))
    }

    fn subscribe(
        &self,
        request: SubscribeRequestParams,
        cx: Cx<RoleServer>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send + '_ {
        Box::pin(self.subscribe_to(request.uri, cx))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: Cx<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.unsubscribe_from(&request.uri)
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.accepted_filter(asked)
    }

    fn listen(
        &self,
        cx: SubscriptionContext,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send + '_ {
        Box::pin(self.listen_to(cx))
    }

    // The library answers with an empty list although the capability is not declared.
    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Cx<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    fn complete(
        &self,
        request: CompleteRequestParams,
        cx: Cx<RoleServer>,
    ) -> impl Future<Output = Result<CompleteResult, ErrorData>> + Send + '_ {
        Box::pin(self.completed(request, cx))
    }
}

impl McpServer {
    async fn carry(
        &self,
        request: CallToolRequestParams,
        mut cx: Cx<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let in_call = take_meta_credential(&mut cx.meta);
        let by = narrowing(&cx.extensions);
        let catalog = self.state.pipeline.catalog();
        let visible = |it: &&ListedTool| by.as_ref().is_none_or(|view| it.shown_by(catalog, view));
        let Some(listed) = self.state.listing.find(&request.name).filter(visible) else {
            return Err(self.unknown(&request.name, by.as_ref()));
        };
        let follow = self.followable(listed, request.arguments.as_ref(), in_call.as_ref(), &cx);
        let called = catalog.find(self.state.view.service.as_deref(), &request.name);
        let output = called.map(|(_, tool)| &tool.spec.output);
        let call = |to: Progress| {
            let args = request.arguments.unwrap_or_default();
            let service = self.state.view.service.clone();
            let mut call = self.call(request.name.into_owned(), service, args, &cx, to);
            // What the call itself says goes before what came with its connection.
            if let Some(in_call) = in_call {
                call.credential = in_call;
            }
            self.state.pipeline.call(call)
        };
        let outcome = async {
            match cx.meta.get_progress_token() {
                None => call(Progress::default()).await,
                Some(token) => progress::forwarded(&cx.peer, token, call).await,
            }
        };
        let outcome = tokio::select! {
            biased;
            outcome = outcome => outcome,
            () = session_over(&cx.extensions) => return Err(answer::cancelled()),
        };
        let outcome =
            outcome.ok_or_else(|| ErrorData::internal_error("a listed tool has no row", None))?;
        if let (Some(follow), Ok(reply)) = (follow, &outcome)
            && let Some(job) = reply.job()
            && let Some(answer) = self.handle(follow, job, &cx).await
        {
            return answer;
        }
        answer::of(outcome, output).map(CallToolResponse::from)
    }

    fn unknown(&self, name: &str, by: Option<&View>) -> ErrorData {
        let near: Vec<&str> = self.state.listing.near(name).collect();
        let visible =
            self.visible_tools(by).map(|it| &*it.tool.name).filter(|it| near.contains(it));
        answer::unknown_tool(name, visible)
    }
}
