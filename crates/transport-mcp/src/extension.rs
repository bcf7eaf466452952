//! What a server offers beside its catalog: answers that talk to the client while a call runs, or that
//! no contract can describe. Only the fixtures of the conformance suite are one.

use futures_util::future::BoxFuture;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, DetailedTask, GetPromptRequestParams,
    GetPromptResponse, InputResponses, Prompt, Resource, ResourceContents, ServerCapabilities,
};
use rmcp::service::{RequestContext as Cx, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};

type Answer<T> = Result<T, ErrorData>;

/// Answers beside those of the catalog; `None` leaves a request to the catalog.
pub(crate) trait Extension: Send + Sync {
    /// Adds the capabilities of the extension.
    fn declare(&self, capabilities: &mut ServerCapabilities);

    /// Answers a call of a listed tool.
    fn call<'a>(
        &'a self,
        request: &'a CallToolRequestParams,
        cx: &'a Cx<RoleServer>,
    ) -> BoxFuture<'a, Option<Answer<CallToolResponse>>>;

    fn resources(&self) -> Vec<Resource>;

    fn contents(&self, uri: &str) -> Option<ResourceContents>;

    fn prompts(&self) -> Vec<Prompt>;

    fn prompt(&self, request: &GetPromptRequestParams) -> Option<Answer<GetPromptResponse>>;

    /// Holds an open `subscriptions/listen` until it is cancelled.
    fn listen<'a>(&'a self, cx: &'a SubscriptionContext) -> BoxFuture<'a, ()>;

    fn task(&self, id: &str) -> Option<Answer<DetailedTask>>;

    fn update_task(&self, id: &str, responses: InputResponses) -> Option<Answer<()>>;

    fn cancel_task(&self, id: &str) -> Option<Answer<()>>;
}
