//! What may stand in the arguments of a resource family, for people who type them: the values that
//! the contract enumerates, or that a tool lists.

use contract::{Catalog, Progress, ResourceSpec, Service};
use rmcp::model::{
    CompleteRequestMethod, CompleteRequestParams, CompleteResult, CompletionInfo, JsonObject,
};
use rmcp::service::RequestContext as Cx;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use crate::answer;
use crate::context::narrowing;
use crate::server::McpServer;

impl McpServer {
    pub(crate) async fn completed(
        &self,
        request: CompleteRequestParams,
        cx: Cx<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        if self.state.listing.templates.is_empty() {
            return Err(ErrorData::method_not_found::<CompleteRequestMethod>());
        }
        let by = narrowing(&cx.extensions);
        let template = request.r#ref.as_resource_uri().unwrap_or_default();
        let family = self
            .visible_templates(by.as_ref())
            .find(|family| family.template.uri_template == template);
        let catalog = self.state.pipeline.catalog();
        let (service, spec) = family.and_then(|family| family.spec(catalog)).ok_or_else(|| {
            let message = "only the arguments of resource templates can be completed";
            ErrorData::invalid_params(message, None)
        })?;
        let argument = &request.argument;
        if !spec.template.contains(&format!("{{{}}}", argument.name)) {
            let message = format!("the arguments are those of {template}");
            return Err(ErrorData::invalid_params(message, None));
        }
        let values = match enumerated(catalog, service, spec, &argument.name) {
            Some(values) => values,
            None => self.tabled(service, spec, &argument.name, &cx).await?,
        };
        offered(values, &argument.value)
    }

    /// The values that a tool lists; none where the contract names no such tool.
    async fn tabled(
        &self,
        service: &Service,
        spec: &ResourceSpec,
        name: &str,
        cx: &Cx<RoleServer>,
    ) -> Result<Vec<String>, ErrorData> {
        let place = spec.complete.get(name).and_then(|place| place.split_once('#'));
        let Some((tool, path)) = place else { return Ok(Vec::new()) };
        let pipeline = &self.state.pipeline;
        let tool = pipeline.catalog().find(Some(&service.name), tool);
        let tool =
            tool.ok_or_else(|| ErrorData::internal_error("a named tool has no row", None))?;
        let call = self.call(JsonObject::new(), cx, Progress::default());
        let outcome = pipeline.call(tool, call).await;
        let reply = outcome.map_err(|failure| answer::failed_resource(&spec.template, &failure))?;
        Ok(texts(reply.result().pointer(path)))
    }
}

fn enumerated(
    catalog: &Catalog,
    service: &Service,
    spec: &ResourceSpec,
    name: &str,
) -> Option<Vec<String>> {
    let tool = catalog.find(Some(&service.name), &spec.read)?.row();
    let values = tool.spec.input.json()["properties"][name].get("enum");
    values.map(|values| texts(Some(values)))
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

/// Those that begin as typed, in either case, in their own order; as many as the protocol allows.
fn offered(values: Vec<String>, typed: &str) -> Result<CompleteResult, ErrorData> {
    let typed = typed.to_lowercase();
    let mut found: Vec<String> =
        values.into_iter().filter(|value| value.to_lowercase().starts_with(&typed)).collect();
    let total = u32::try_from(found.len()).unwrap_or(u32::MAX);
    let more = found.len() > CompletionInfo::MAX_VALUES;
    found.truncate(CompletionInfo::MAX_VALUES);
    let found = CompletionInfo::with_pagination(found, Some(total), more);
    found.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
}
