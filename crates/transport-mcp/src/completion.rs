//! Completes the arguments of prompts and resource templates: with the values that the contract
//! enumerates, or that a tool lists.

use contract::Progress;
use rmcp::model::{
    CompleteRequestMethod, CompleteRequestParams, CompleteResult, CompletionInfo, JsonObject,
};
use rmcp::service::RequestContext as Cx;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use crate::answer;
use crate::context::narrowing;
use crate::server::McpServer;

/// The most characters of a typed value that a tool gets; no value is longer.
const PREFIX_MAX: usize = 40;

impl McpServer {
    pub(crate) async fn completed(
        &self,
        request: CompleteRequestParams,
        cx: Cx<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let listing = &self.state.listing;
        if listing.templates.is_empty() && listing.prompts.is_empty() {
            return Err(ErrorData::method_not_found::<CompleteRequestMethod>());
        }
        let argument = &request.argument;
        let values = match request.r#ref.as_prompt_name() {
            Some(prompt) => self.values_of_prompt(prompt, &request, &cx).await?,
            None => {
                let template = request.r#ref.as_resource_uri().unwrap_or_default();
                self.values_of_template(template, &request, &cx).await?
            }
        };
        matching_values(values, &argument.value)
    }

    async fn values_of_prompt(
        &self,
        prompt: &str,
        request: &CompleteRequestParams,
        cx: &Cx<RoleServer>,
    ) -> Result<Vec<String>, ErrorData> {
        let name = &request.argument.name;
        let by = narrowing(&cx.extensions);
        let listed = self.visible_prompts(by.as_ref()).find(|it| it.spec.name == prompt);
        let listed = listed.ok_or_else(|| {
            ErrorData::invalid_params("there is no such prompt; see prompts/list", None)
        })?;
        let argument = listed.spec.arguments.iter().find(|argument| argument.name == *name);
        let argument = argument.ok_or_else(|| {
            ErrorData::invalid_params(format!("the arguments are those of {prompt}"), None)
        })?;
        match &argument.complete {
            Some(source) => self.values_from_tool(&listed.service, source, request, cx).await,
            None => Ok(argument.values.clone()),
        }
    }

    async fn values_of_template(
        &self,
        template: &str,
        request: &CompleteRequestParams,
        cx: &Cx<RoleServer>,
    ) -> Result<Vec<String>, ErrorData> {
        let name = request.argument.name.as_str();
        let by = narrowing(&cx.extensions);
        let listed = self
            .visible_templates(by.as_ref())
            .find(|listed| listed.template.uri_template == template);
        let listed = listed.ok_or_else(|| {
            let message = "only arguments of prompts and resource templates can be completed";
            ErrorData::invalid_params(message, None)
        })?;
        let spec = listed.spec();
        if !spec.template.contains(&format!("{{{name}}}")) {
            let message = format!("the arguments are those of {template}");
            return Err(ErrorData::invalid_params(message, None));
        }
        match spec.complete.get(name) {
            Some(source) => {
                let service = &listed.tool.service().name;
                self.values_from_tool(service, source, request, cx).await
            }
            None => {
                let input = listed.tool.row().spec.input.json();
                Ok(texts(input["properties"][name].get("enum")))
            }
        }
    }

    /// The values that a tool lists, where `source` is `tool#/pointer`. The tool gets what was typed
    /// as `prefix`, and the other arguments that are known, as far as it takes them.
    async fn values_from_tool(
        &self,
        service: &str,
        source: &str,
        request: &CompleteRequestParams,
        cx: &Cx<RoleServer>,
    ) -> Result<Vec<String>, ErrorData> {
        let Some((tool, path)) = source.split_once('#') else { return Ok(Vec::new()) };
        let pipeline = &self.state.pipeline;
        let tool = pipeline.catalog().find(Some(service), tool);
        let tool =
            tool.ok_or_else(|| ErrorData::internal_error("a named tool has no row", None))?;
        let properties = &tool.input().json()["properties"];
        let call = self.call(known_arguments(request, properties), cx, Progress::default());
        let outcome = pipeline.call(tool, call).await;
        let of = request.r#ref.as_resource_uri().unwrap_or(source);
        let reply = outcome.map_err(|failure| answer::failed_resource(of, &failure))?;
        Ok(texts(reply.result().pointer(path)))
    }
}

/// What was typed as `prefix`, and the arguments that the client knows already, if the tool takes
/// them.
fn known_arguments(request: &CompleteRequestParams, properties: &Value) -> JsonObject {
    let known = request.context.iter().flat_map(|context| context.arguments.iter().flatten());
    let known = known.map(|(name, value)| (name.clone(), Value::from(value.as_str())));
    let typed: String = request.argument.value.chars().take(PREFIX_MAX).collect();
    let typed = ("prefix".to_owned(), Value::from(typed));
    let all = known.chain([typed]).filter(|(_, value)| value.as_str() != Some(""));
    all.filter(|(name, _)| properties.get(name).is_some()).collect()
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

/// The values that begin with the typed text, ignoring case; at most as many as the protocol allows.
fn matching_values(values: Vec<String>, typed: &str) -> Result<CompleteResult, ErrorData> {
    let typed = typed.to_lowercase();
    let mut found: Vec<String> =
        values.into_iter().filter(|value| value.to_lowercase().starts_with(&typed)).collect();
    let total = u32::try_from(found.len()).unwrap_or(u32::MAX);
    let more = found.len() > CompletionInfo::MAX_VALUES;
    found.truncate(CompletionInfo::MAX_VALUES);
    let found = CompletionInfo::with_pagination(found, Some(total), more);
    found.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
}
