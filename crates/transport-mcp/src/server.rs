//! The handler of every protocol method that we serve, over a view of the catalog.
#![allow(deprecated, reason = "the older protocol still logs and subscribes in its own way")]

use parking_lot::Mutex;
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use contract::{Call, CallOutcome, Credential, Pipeline, Progress, Reply, ToolRef, View};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskMethod,
    CancelTaskParams, CompleteRequestParams, CompleteResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetTaskMethod, GetTaskParams, GetTaskResult, Implementation,
    InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
    PaginatedRequestParams, PromptsCapability, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, TASKS_EXTENSION_ID, Tool, UnsubscribeRequestParams,
    UpdateTaskMethod, UpdateTaskParams,
};
use rmcp::service::{RequestContext as Cx, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;

use crate::answer::{TextForm, TextOptions};
use crate::context::{narrowing, request_meta, session_over, take_meta_credential};
use crate::extension::Extension;
use crate::listing::{ListedTool, Listing};
use crate::session_login::{SessionLogin, is_in_session};
use crate::subscriptions::SessionSubscriptions;
use crate::{answer, cursor, progress};

/// How long a client may cache lists, which change only with a release: 5 minutes.
pub(crate) const LIST_TTL_MS: u64 = 300_000;

/// What differs between MCP over HTTP and over stdio.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The version in the server's own description.
    pub version: String,
    /// The label in the metrics: `mcp` or `stdio`.
    pub transport: &'static str,
    /// The credential of a transport without headers.
    pub credential: Credential,
    /// Whether every call is of the user who started this process; see `RequestMeta::is_local`.
    pub is_local: bool,
    /// Items on one page of a list.
    pub page_size: usize,
    /// What a model must know of the whole server, such as that its markets are simulated.
    pub notice: String,
}

impl ServerOptions {
    pub fn http(version: impl Into<String>) -> Self {
        Self {
            version: version.into(),
            transport: "mcp",
            credential: Credential::None,
            is_local: false,
            page_size: 50,
            notice: String::new(),
        }
    }

    pub fn stdio(version: impl Into<String>, credential: Credential) -> Self {
        Self { transport: "stdio", credential, is_local: true, ..Self::http(version) }
    }
}

/// A view of the catalog as an MCP server. Cheap to clone: every stateless request gets one.
#[derive(Clone)]
pub struct McpServer {
    pub(crate) state: Arc<ServerState>,
    /// The resources that the session behind this server watches; shared by its clones.
    pub(crate) subscriptions: Arc<SessionSubscriptions>,
    /// The token that the session behind this server logged in with; shared by its clones.
    login: Arc<SessionLogin>,
    /// The log messages that the session behind this server wants; shared by its clones.
    pub(crate) log_level: Arc<Mutex<Option<LoggingLevel>>>,
}

/// The state that all sessions of one server share.
pub(crate) struct ServerState {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) options: ServerOptions,
    pub(crate) listing: Listing,
    /// What the server was asked to list.
    view: View,
    pub(crate) extension: Option<Arc<dyn Extension>>,
    info: ServerConfig,
}

impl McpServer {
    pub fn new(pipeline: Arc<Pipeline>, view: View, options: ServerOptions) -> Self {
        Self::with_extension(pipeline, view, options, None)
    }

    pub(crate) fn with_extension(
        pipeline: Arc<Pipeline>,
        view: View,
        options: ServerOptions,
        extension: Option<Arc<dyn Extension>>,
    ) -> Self {
        let listing = Listing::new(pipeline.catalog(), &view, &options.notice);
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_logging()
            .build();
        if !listing.prompts.is_empty() {
            capabilities.prompts = Some(PromptsCapability::default());
        }
        if !listing.templates.is_empty() || !listing.prompts.is_empty() {
            capabilities.completions = Some(JsonObject::new());
        }
        if let Some(resources) = &mut capabilities.resources {
            let subscribable = listing.templates.iter().any(|template| template.stream.is_some());
            resources.subscribe = subscribable.then_some(true);
        }
        if listing.tools.iter().any(|tool| tool.followable) {
            let ours = capabilities.extensions.get_or_insert_default();
            ours.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        if let Some(extension) = &extension {
            extension.declare(&mut capabilities);
        }
        let stoa = Implementation::new("stoa", options.version.clone()).with_title("Stoa");
        let mut info = ServerConfig::new(capabilities).with_server_info(stoa);
        info.instructions =
            (!listing.instructions.is_empty()).then(|| listing.instructions.clone());
        let state = Arc::new(ServerState { pipeline, options, listing, view, extension, info });
        Self {
            state,
            subscriptions: Arc::new(SessionSubscriptions::new(&CancellationToken::new())),
            login: Arc::default(),
            log_level: Arc::default(),
        }
    }

    /// The server of a new session, which ends when `until` is cancelled.
    pub(crate) fn for_session(&self, until: &CancellationToken) -> Self {
        Self {
            state: Arc::clone(&self.state),
            subscriptions: Arc::new(SessionSubscriptions::new(until)),
            login: Arc::default(),
            log_level: Arc::default(),
        }
    }

    /// The listed tools that a request's view leaves visible.
    pub(crate) fn visible_tools<'a>(
        &'a self,
        by: Option<&'a View>,
    ) -> impl Iterator<Item = &'a ListedTool> {
        let tools = self.state.listing.tools.iter();
        tools.filter(move |tool| by.is_none_or(|view| tool.shown_by(view)))
    }

    /// Whether `tools/list` has a visible tool: operator tools are there where they are asked for.
    fn lists(&self, tool: &ListedTool, by: Option<&View>) -> bool {
        tool.is_listed_by(&self.state.view) || by.is_some_and(|view| tool.is_listed_by(view))
    }

    /// A call in a request's context.
    pub(crate) fn call(&self, args: JsonObject, cx: &Cx<RoleServer>, progress: Progress) -> Call {
        let options = &self.state.options;
        let mut meta = request_meta(&cx.extensions, &options.credential);
        meta.is_local = options.is_local;
        Call { args, meta, transport: options.transport, cancel: cx.ct.child_token(), progress }
    }

    /// Replaces the credential of the request by the one in the call, or else by that of the login
    /// in this session.
    pub(crate) fn choose_credential(
        &self,
        call: &mut Call,
        tool: &ToolRef,
        in_call: Option<Credential>,
    ) {
        let of_session = || self.login.credential(&tool.service().name, call.meta.client);
        if let Some(credential) = in_call.or_else(of_session) {
            call.meta.credential = credential;
        }
    }

    /// Keeps or ends the login of this session if the tool changed it, and tells the model.
    fn apply_login(
        &self,
        reply: &dyn Reply,
        tool: &ToolRef,
        cx: &Cx<RoleServer>,
    ) -> Option<String> {
        let change = reply.login()?;
        let client = request_meta(&cx.extensions, &Credential::None).client;
        self.login.apply(change, &tool.service().name, client, is_in_session(cx))
    }
}

/// A request for 2025-03-26, which makes batches of messages mandatory, as one for the version before
/// it: we take single messages only, and every client of 2025-03-26 knows 2024-11-05.
fn without_batches(mut request: InitializeRequestParams) -> InitializeRequestParams {
    if request.protocol_version == ProtocolVersion::V_2025_03_26 {
        request.protocol_version = ProtocolVersion::V_2024_11_05;
    }
    request
}

/// A list that headers narrowed may be cached by its client alone.
pub(crate) fn scope(narrowed: bool) -> CacheScope {
    if narrowed { CacheScope::Private } else { CacheScope::Public }
}

/// The protocol versions that are offered: all that the library knows but 2025-03-26.
static OFFERED_VERSIONS: LazyLock<Vec<ProtocolVersion>> = LazyLock::new(|| {
    let known = ProtocolVersion::KNOWN_VERSIONS.iter();
    known.filter(|it| **it != ProtocolVersion::V_2025_03_26).cloned().collect()
});

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        self.state.info.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&OFFERED_VERSIONS)
    }

    // Protocol 2025 has tasks of another kind, so its clients are not offered ours.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        cx: Cx<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        cx.peer.set_peer_info(request.clone());
        crate::sessions::SessionCalls::attach(self, &cx);
        let mut info = self.negotiate_initialize(&without_batches(request))?;
        info.capabilities.extensions = None;
        Ok(info)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: Cx<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let by = narrowing(&cx.extensions);
        let visible = self.visible_tools(by.as_ref());
        let tools: Vec<&ListedTool> = visible.filter(|it| self.lists(it, by.as_ref())).collect();
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
        Box::pin(self.run_tool(request, cx))
    }

    fn get_task(
        &self,
        request: GetTaskParams,
        cx: Cx<RoleServer>,
    ) -> impl Future<Output = Result<GetTaskResult, ErrorData>> + Send + '_ {
        Box::pin(async move {
            let extension = self.state.extension.as_ref();
            if let Some(task) = extension.and_then(|it| it.task(&request.task_id)) {
                return task.map(GetTaskResult::new);
            }
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
            let (id, responses) = (&request.task_id, request.input_responses);
            let extension = self.state.extension.as_ref();
            if let Some(done) = extension.and_then(|it| it.update_task(id, responses)) {
                return done;
            }
            self.followed::<UpdateTaskMethod>(&request.task_id, false, cx).await.map(drop)
        })
    }

    fn cancel_task(
        &self,
        request: CancelTaskParams,
        cx: Cx<RoleServer>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send + '_ {
        Box::pin(async move {
            let extension = self.state.extension.as_ref();
            if let Some(done) = extension.and_then(|it| it.cancel_task(&request.task_id)) {
                return done;
            }
            self.followed::<CancelTaskMethod>(&request.task_id, true, cx).await.map(drop)
        })
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: Cx<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.resources(request, &cx)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: Cx<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
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

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: Cx<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.prompts(request, &cx)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        cx: Cx<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.prompt(request, &cx)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        cx: Cx<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.set_log_level(&request, &cx)
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
    async fn run_tool(
        &self,
        request: CallToolRequestParams,
        mut cx: Cx<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let credential = take_meta_credential(&mut cx.meta);
        let by = narrowing(&cx.extensions);
        let visible = |it: &&ListedTool| by.as_ref().is_none_or(|view| it.shown_by(view));
        let Some(listed) = self.state.listing.find(&request.name).filter(visible) else {
            return Err(self.unknown(&request.name, by.as_ref()));
        };
        if let Some(extension) = &self.state.extension
            && let Some(answer) = extension.call(&request, &cx).await
        {
            return answer;
        }
        if let Some(answer) = self.unconfirmed(listed, &request, &cx).await {
            return answer;
        }
        let follow = self.followable(listed, request.arguments.as_ref(), credential.as_ref(), &cx);
        let tool = &listed.tool_ref;
        let input = tool.row().spec.input.json();
        let credential_argument = tool.service().access.credential_argument.as_deref();
        let args = request.arguments.as_ref();
        let smaller_call =
            answer::smaller_call(&listed.tool.name, input, args, credential_argument);
        let call = |progress: Progress| {
            let mut call = self.call(request.arguments.unwrap_or_default(), &cx, progress);
            self.choose_credential(&mut call, tool, credential);
            self.state.pipeline.call(tool, call)
        };
        let outcome = async {
            match cx.meta.get_progress_token() {
                None => call(Progress::default()).await,
                Some(token) => progress::forward_while(&cx.peer, token, call).await,
            }
        };
        let started = Instant::now();
        let outcome = tokio::select! {
            biased;
            outcome = outcome => outcome,
            () = session_over(&cx.extensions) => return Err(answer::cancelled()),
        };
        self.log_call(&listed.tool.name, &outcome, started.elapsed(), &cx).await;
        if let (Some(follow), Ok(reply)) = (follow, &outcome)
            && let Some(job) = reply.job()
            && let Some(answer) = self.handle(follow, job, &cx).await
        {
            return answer;
        }
        let said = outcome.as_ref().ok().and_then(|reply| self.apply_login(&**reply, tool, &cx));
        let keeps_login = said.is_some() && is_in_session(&cx);
        let options = TextOptions { form: self.text_form(), smaller_call, keeps_login };
        let mut answer = self.result(outcome, tool, options, &cx).await?;
        answer.content.extend(said.map(ContentBlock::text));
        Ok(CallToolResponse::from(answer))
    }

    /// The result of a call or of a task that has ended; a large reply is written in the CPU pool.
    pub(crate) async fn result(
        &self,
        outcome: CallOutcome,
        tool: &ToolRef,
        options: impl Into<TextOptions>,
        cx: &Cx<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let (pipeline, options) = (&self.state.pipeline, options.into());
        let outcome = match outcome {
            Err(failure) => Err(failure),
            Ok(reply) => match pipeline.write(reply, move |it| answer::success(it, &options)).await
            {
                Ok(result) => Ok(result),
                Err(fault) => {
                    let meta = request_meta(&cx.extensions, &self.state.options.credential);
                    Err(tool.service().failure(&fault, &meta.request_id))
                }
            },
        };
        answer::of(outcome, &tool.row().spec.output)
    }

    pub(crate) fn text_form(&self) -> TextForm {
        if self.state.listing.is_exact { TextForm::Exact } else { TextForm::Compact }
    }

    fn unknown(&self, name: &str, by: Option<&View>) -> ErrorData {
        let near: Vec<&str> = self.state.listing.near(name).collect();
        let visible =
            self.visible_tools(by).map(|it| &*it.tool.name).filter(|it| near.contains(it));
        answer::unknown_tool(name, visible)
    }
}
