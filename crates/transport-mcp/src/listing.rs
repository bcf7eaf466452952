//! The tools, resources and instructions that a server lists, built once from the catalog.

use std::collections::HashMap;
use std::sync::Arc;

use contract::{Catalog, Service, ToolRef, ToolRow, View, VisibleTool, host_safe};
use rmcp::model::{JsonObject, Resource, Tool};
use serde_json::Value;

use crate::resource_templates::ListedTemplate;

/// About 400 tokens; every conversation pays for the instructions.
const INSTRUCTIONS_BYTES_MAX: usize = 1_600;

pub(crate) struct ListedTool {
    pub(crate) tool_ref: ToolRef,
    /// Whether a call may become a task.
    pub(crate) followable: bool,
    pub(crate) tool: Tool,
}

pub(crate) struct ListedResource {
    service: Arc<str>,
    pub(crate) resource: Resource,
    pub(crate) text: &'static str,
}

pub(crate) struct Listing {
    pub(crate) tools: Vec<ListedTool>,
    pub(crate) resources: Vec<ListedResource>,
    pub(crate) templates: Vec<ListedTemplate>,
    pub(crate) instructions: String,
    /// Every name by which a tool of this view can be called.
    spellings: HashMap<String, usize>,
}

impl Listing {
    pub(crate) fn new(catalog: &Catalog, view: &View) -> Self {
        let listed: Vec<VisibleTool<'_>> = catalog.list(view).collect();
        let within = view.service.as_deref();
        let mut spellings = HashMap::new();
        for (at, it) in listed.iter().enumerate() {
            let own = &it.tool.spec.name;
            for spelling in [it.name.to_owned(), own.clone(), host_safe(own)] {
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
            tools: listed.iter().filter_map(|it| ListedTool::new(catalog, it, within)).collect(),
            resources: services.iter().flat_map(|service| resources(service)).collect(),
            templates: services
                .iter()
                .flat_map(|service| ListedTemplate::all_of(service))
                .collect(),
            instructions: instructions(&services),
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
        let mut tool = Tool::new_with_raw(
            listed.name.to_owned(),
            Some(spec.description.clone().into()),
            object(tool_ref.input().json()),
        )
        .with_title(spec.title.clone())
        .with_raw_output_schema(object(spec.output.json()));
        tool.annotations = serde_json::from_value(spec.annotations.clone()).ok();
        Some(Self { tool_ref, followable: spec.task.is_some(), tool })
    }

    /// Whether a view on top of the server's own shows this tool.
    pub(crate) fn shown_by(&self, view: &View) -> bool {
        view.shows(self.tool_ref.service(), self.tool_ref.row(), &self.tool.name)
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

/// The instructions of the services in catalog order; one that does not fit is left out.
fn instructions(services: &[&Service]) -> String {
    let mut text = String::new();
    for service in services {
        if text.len() + service.instructions.len() + 1 > INSTRUCTIONS_BYTES_MAX {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&service.instructions);
    }
    text
}
