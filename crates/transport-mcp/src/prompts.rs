//! Prompts of the contracts: listed, filled in, and their arguments completed.

use std::sync::Arc;

use contract::{PromptSpec, Service, View};
use rmcp::model::{
    GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    ListPromptsRequestMethod, ListPromptsResult, PaginatedRequestParams, Prompt, PromptArgument,
    PromptMessage, Role,
};
use rmcp::service::RequestContext as Cx;
use rmcp::{ErrorData, RoleServer};

use crate::context::narrowing;
use crate::cursor;
use crate::server::{LIST_TTL_MS, McpServer, scope};

/// The longest argument of a prompt, in bytes.
const ARGUMENT_BYTES_MAX: usize = 4_096;

pub(crate) struct ListedPrompt {
    pub(crate) service: Arc<str>,
    pub(crate) spec: PromptSpec,
    prompt: Prompt,
}

impl ListedPrompt {
    pub(crate) fn all_of(service: &Service) -> Vec<Self> {
        let listed = |spec: &PromptSpec| {
            let arguments = spec.arguments.iter().map(|argument| {
                PromptArgument::new(argument.name.clone())
                    .with_description(argument.description.clone())
                    .with_required(argument.default.is_none())
            });
            let description = Some(spec.description.clone());
            let prompt = Prompt::new(spec.name.clone(), description, Some(arguments.collect()))
                .with_title(spec.title.clone());
            Self { service: Arc::clone(&service.name), spec: spec.clone(), prompt }
        };
        service.host.prompts.iter().map(listed).collect()
    }
}

impl McpServer {
    /// The prompts of the services that a request's view shows.
    pub(crate) fn visible_prompts<'a>(
        &'a self,
        by: Option<&'a View>,
    ) -> impl Iterator<Item = &'a ListedPrompt> {
        let all = self.state.listing.prompts.iter();
        all.filter(move |it| self.visible_tools(by).any(|tool| *tool.service() == it.service))
    }

    pub(crate) fn prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: &Cx<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        if self.state.listing.prompts.is_empty() {
            return Err(ErrorData::method_not_found::<ListPromptsRequestMethod>());
        }
        let by = narrowing(&cx.extensions);
        let mut shown: Vec<Prompt> =
            self.visible_prompts(by.as_ref()).map(|it| it.prompt.clone()).collect();
        shown.extend(self.state.extension.iter().flat_map(|extension| extension.prompts()));
        let size = self.state.options.page_size;
        let asked = request.and_then(|request| request.cursor);
        let start = cursor::start("prompts", asked.as_deref(), shown.len())?;
        let page = shown.iter().skip(start).take(size).cloned().collect();
        let mut result = ListPromptsResult::with_all_items(page);
        result.next_cursor = cursor::next("prompts", start, size, shown.len());
        result.ttl_ms = Some(LIST_TTL_MS);
        result.cache_scope = Some(scope(by.is_some()));
        Ok(result)
    }

    pub(crate) fn prompt(
        &self,
        request: GetPromptRequestParams,
        cx: &Cx<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if self.state.listing.prompts.is_empty() {
            return Err(ErrorData::method_not_found::<GetPromptRequestMethod>());
        }
        let extension = self.state.extension.as_ref();
        if let Some(answer) = extension.and_then(|extension| extension.prompt(&request)) {
            return answer;
        }
        let by = narrowing(&cx.extensions);
        let found = self.visible_prompts(by.as_ref()).find(|it| it.spec.name == request.name);
        let Some(listed) = found else {
            let shown: String = request.name.chars().take(64).collect();
            let message = format!("there is no prompt {shown:?}; see prompts/list");
            return Err(ErrorData::invalid_params(message, None));
        };
        let given = request.arguments.unwrap_or_default();
        let too_long = |value: &serde_json::Value| value.to_string().len() > ARGUMENT_BYTES_MAX;
        if let Some((name, _)) = given.iter().find(|(_, value)| too_long(value)) {
            let name: String = name.chars().take(64).collect();
            let message = format!("{name} is longer than {ARGUMENT_BYTES_MAX} bytes");
            return Err(ErrorData::invalid_params(message, None));
        }
        let text = listed.spec.fill(&given).map_err(|missing| {
            ErrorData::invalid_params(format!("the argument {missing} is required"), None)
        })?;
        let message = PromptMessage::new_text(Role::User, text);
        let result = GetPromptResult::new(vec![message]);
        Ok(result.with_description(listed.spec.description.clone()).into())
    }
}
