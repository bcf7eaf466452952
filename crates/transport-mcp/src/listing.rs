//! The tools, resources and instructions that a server lists, built once from the catalog.

use std::collections::HashMap;
use std::sync::Arc;

use contract::{Catalog, Service, ToolRef, ToolRow, View, VisibleTool, host_safe};
use rmcp::model::{JsonObject, Resource, Tool};
use serde_json::Value;

use crate::prompts::ListedPrompt;
use crate::resource_templates::ListedTemplate;

pub(crate) struct ListedTool {
    pub(crate) tool_ref: ToolRef,
    /// Whether a call may become a task.
    pub(crate) followable: bool,
    /// Whether the tool is listed only where it is asked for.
    on_request: bool,
    pub(crate) tool: Tool,
}

pub(crate) struct ListedResource {
    service: Arc<str>,
    pub(crate) resource: Resource,
    pub(crate) text: &'static str,
}

pub(crate) struct Listing {
    /// Whether names, texts and schemas are the contract's own: at the endpoint of one service.
    pub(crate) is_exact: bool,
    pub(crate) tools: Vec<ListedTool>,
    pub(crate) resources: Vec<ListedResource>,
    pub(crate) templates: Vec<ListedTemplate>,
    pub(crate) prompts: Vec<ListedPrompt>,
    pub(crate) instructions: String,
    /// Every name by which a tool of this view can be called.
    spellings: HashMap<String, usize>,
}

impl Listing {
    /// What a view of the catalog lists. `notice` is what a model must know of the whole server.
    pub(crate) fn new(catalog: &Catalog, view: &View, notice: &str) -> Self {
        let listed: Vec<VisibleTool<'_>> = catalog.list(view).collect();
        let within = view.service.as_deref();
        let mut spellings = HashMap::new();
        for (at, it) in listed.iter().enumerate() {
            for spelling in it.tool.spec.spellings().into_iter().chain([it.name.to_owned()]) {
                // Two services may share a name, so only a name that the catalog resolves to this
                // row counts.
                if catalog.find(within, &spelling).is_some_and(|found| same(found.row(), it.tool)) {
                    spellings.insert(spelling, at);
                }
            }
        }
        let shown =
            |service: &&Arc<Service>| listed.iter().any(|it| it.service.name == service.name);
        let services: Vec<&Service> =
            catalog.services().iter().filter(shown).map(|service| &**service).collect();
        Self {
            is_exact: within.is_some(),
            tools: listed.iter().filter_map(|it| ListedTool::new(catalog, it, within)).collect(),
            resources: services.iter().flat_map(|service| resources(service)).collect(),
            templates: services
                .iter()
                .flat_map(|service| ListedTemplate::all_of(catalog, service))
                .collect(),
            prompts: services.iter().flat_map(|service| ListedPrompt::all_of(service)).collect(),
            instructions: instructions(&services, within.is_some(), notice),
            spellings,
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&ListedTool> {
        self.tools.get(*self.spellings.get(name)?)
    }

    /// Up to five tool names with the same first word, for the error about an unknown tool.
    pub(crate) fn near<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let asked = host_safe(name).to_ascii_lowercase();
        let first_word = asked.split('_').next().unwrap_or_default().to_owned();
        let names = self.tools.iter().map(|it| &*it.tool.name);
        names
            .filter(move |it| !first_word.is_empty() && it.starts_with(first_word.as_str()))
            .take(5)
    }
}

impl ListedTool {
    /// A name finds its own row in the catalog that listed it, so none is left out.
    fn new(catalog: &Catalog, listed: &VisibleTool<'_>, within: Option<&str>) -> Option<Self> {
        let tool_ref = catalog.find(within, listed.name)?.clone();
        let spec = &listed.tool.spec;
        let (description, input, output) = match within {
            Some(_) => {
                let input = object(tool_ref.input().json());
                (spec.description.as_str(), input, object(spec.output.json()))
            }
            None => {
                let input = spec.host_input(&listed.service.access);
                (spec.host_description(), Arc::new(input), Arc::new(spec.host_output()))
            }
        };
        let description = Some(description.to_owned().into());
        let mut tool = Tool::new_with_raw(listed.name.to_owned(), description, input)
            .with_title(spec.title.clone())
            .with_raw_output_schema(output);
        tool.annotations = serde_json::from_value(spec.annotations.clone()).ok();
        let (followable, on_request) = (spec.task.is_some(), spec.host.on_request);
        Some(Self { tool_ref, followable, on_request, tool })
    }

    /// Whether a view on top of the server's own shows this tool.
    pub(crate) fn shown_by(&self, view: &View) -> bool {
        view.shows(self.tool_ref.service(), self.tool_ref.row(), &self.tool.name)
    }

    /// Whether a view asks for this tool or its service by name, or the tool is always listed.
    pub(crate) fn is_listed_by(&self, view: &View) -> bool {
        let (service, row) = (self.tool_ref.service(), self.tool_ref.row());
        !self.on_request || view.asks_for(service, row, &self.tool.name)
    }

    pub(crate) fn service(&self) -> &Arc<str> {
        &self.tool_ref.service().name
    }
}

impl ListedResource {
    /// Whether a visible tool belongs to the same service.
    pub(crate) fn shown_beside<'a>(&self, mut tools: impl Iterator<Item = &'a ListedTool>) -> bool {
        tools.any(|tool| *tool.service() == self.service)
    }
}

fn same(a: &ToolRow, b: &ToolRow) -> bool {
    std::ptr::eq(a, b)
}

/// The schema with the property order of the contract.
fn object(json: &Value) -> Arc<JsonObject> {
    Arc::new(json.as_object().cloned().unwrap_or_default())
}

fn resources(service: &Service) -> Vec<ListedResource> {
    let name = &service.name;
    let of = |uri: String, label: String, title: String, text: &'static str| ListedResource {
        service: Arc::clone(name),
        resource: Resource::new(uri, label)
            .with_description(format!("{title}. {}", service.summary))
            .with_title(title)
            .with_mime_type("application/json")
            .with_size(u64::try_from(text.len()).unwrap_or(u64::MAX)),
        text,
    };
    let contract = contract::file_text(&format!("{name}/contract.json")).map(|text| {
        let title = format!("{}: contract {}", service.title, service.version);
        of(format!("stoa://{name}/contract"), format!("{name}-contract"), title, text)
    });
    let documents = service.documents.iter().map(|document| {
        let last = document.uri.rsplit('/').next().unwrap_or_default();
        let label = format!("{name}-{last}");
        of(document.uri.clone(), label, document.title.clone(), document.text)
    });
    contract.into_iter().chain(documents).collect()
}

/// The instructions of one service, or a line for each of several, and the notice first. A contract
/// bounds its line, so that all of them are under 400 tokens.
fn instructions(services: &[&Service], is_exact: bool, notice: &str) -> String {
    let line = |service: &&Service| match is_exact || service.host.instructions.is_empty() {
        true => service.instructions.clone(),
        false => service.host.instructions.clone(),
    };
    let notice = (!notice.is_empty()).then(|| notice.to_owned());
    let lines: Vec<String> = notice.into_iter().chain(services.iter().map(line)).collect();
    lines.join("\n")
}
