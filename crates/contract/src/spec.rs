//! A service's contract as read from its files: tools, streams, uploads, documents.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::access::AccessRules;
use crate::address;
use crate::agent::AgentSpec;
use crate::call::Scope;
use crate::concurrency::Concurrency;
use crate::errors::ErrorTable;
use crate::files::{ContractError, ServiceFiles, file_text, json, read_json};
use crate::host::{HostSpec, HostTool};
use crate::schema::Schema;
use crate::task::TaskSpec;
use crate::transfer::{DownloadFile, DownloadSpec, UploadFile, UploadSpec};

/// A service's contract, before handlers are bound to it.
#[derive(Debug)]
pub struct Contract {
    /// The name of the service and of its folder.
    pub service: String,
    /// The title for people.
    pub title: String,
    /// The version of the contract.
    pub version: String,
    /// One sentence about the service.
    pub summary: String,
    /// How callers prove who they are.
    pub access: AccessRules,
    /// The largest MCP request to this service alone, if it needs more than the server's limit.
    pub body_bytes: Option<usize>,
    /// The scope that a caller needs for a request over the server's limit.
    pub body_scope: Option<Scope>,
    /// The MCP instructions: what a model should know before its first call.
    pub instructions: String,
    /// How the service is listed beside others, for MCP hosts.
    pub host: HostSpec,
    /// Files that are served unchanged.
    pub documents: Vec<ContractDocument>,
    /// The tools.
    pub tools: Vec<ToolSpec>,
    /// The streams.
    pub streams: Vec<StreamSpec>,
    /// The uploads.
    pub uploads: Vec<UploadSpec>,
    /// The downloads.
    pub downloads: Vec<DownloadSpec>,
    /// The templates of MCP resources.
    pub resources: Vec<ResourceSpec>,
    /// The agent for other agents, if there is one.
    pub agent: Option<AgentSpec>,
    /// How faults are reported.
    pub errors: Arc<ErrorTable>,
}

/// A file of the contract that is served unchanged, as an MCP resource.
#[derive(Debug)]
pub struct ContractDocument {
    /// The URI of the MCP resource.
    pub uri: String,
    /// The title for people.
    pub title: String,
    /// The text of the file.
    pub text: &'static str,
    /// The path at which plain HTTP serves it too.
    pub http: Option<String>,
}

/// One tool of a contract.
#[derive(Debug)]
pub struct ToolSpec {
    /// The contract's name of the tool.
    pub name: String,
    /// The title for people.
    pub title: String,
    /// The description for models.
    pub description: String,
    /// The schema of the arguments.
    pub input: Schema,
    /// The input schema for callers of the whole server: without a required credential argument,
    /// which a header may carry, with times in every form, and with the arguments that the contract
    /// has only there; `None` if it equals `input`.
    pub relaxed: Option<Schema>,
    /// The schema of the result.
    pub output: Schema,
    /// The MCP annotations, as listed.
    pub annotations: Value,
    /// Whether calls change nothing.
    pub read_only: bool,
    /// How plain HTTP calls the tool; `None` if it cannot.
    pub http: Option<HttpBinding>,
    /// Whether only the HTTP API has this tool. Models have a better one for the same job.
    pub http_only: bool,
    /// How long a call may take; `None` for the pipeline's default. A caller may ask for another
    /// timeout with the argument [`TIMEOUT`], if the input schema has it.
    pub timeout: Option<Duration>,
    /// How many calls run at once; `None` for the server's default.
    pub concurrency: Option<Concurrency>,
    /// Set if a call may become a task.
    pub task: Option<TaskSpec>,
    /// How the tool is listed beside those of other services, for MCP hosts.
    pub host: HostTool,
}

/// The argument with a call's timeout in milliseconds.
pub(crate) const TIMEOUT: &str = "timeoutMs";

/// How a tool is called over plain HTTP. Arguments come from the path, and from the query (`GET`,
/// `DELETE`) or the body (`POST`, `PUT`); the reply is the response's body.
#[derive(Debug)]
pub struct HttpBinding {
    /// `GET`, `POST`, `PUT` or `DELETE`.
    pub method: String,
    /// The path, with `{name}` for each argument in it.
    pub path: String,
    /// Further paths of the same tool, with the same arguments.
    pub also: Vec<String>,
    /// The schema of the response's body.
    pub body: Schema,
    /// Whether 206 is a possible status.
    pub partial: bool,
}

/// One stream of a contract: its subscription, its events and its paths.
#[derive(Debug)]
pub struct StreamSpec {
    /// The name of the stream.
    pub name: String,
    /// The title for people.
    pub title: String,
    /// The description for people.
    pub description: String,
    /// The schema of a subscription in JSON.
    pub input: Schema,
    /// The schema of every event.
    pub event: Schema,
    /// The field of the input that takes an event's resume point; see [`crate::StreamEvent`].
    pub resume: String,
    /// How it is served as server-sent events; `None` if it is not.
    pub sse: Option<SseBinding>,
    /// The path of the WebSocket that serves it; several streams may share one.
    pub ws: Option<String>,
}

/// A stream as server-sent events; the query string is the subscription.
#[derive(Debug)]
pub struct SseBinding {
    /// The path.
    pub path: String,
    /// The schema of the query.
    pub query: Schema,
}

/// A template of MCP resources: a tool reads them, a stream reports their changes.
#[derive(Debug)]
pub struct ResourceSpec {
    /// The URI, with `{name}` for each argument of the tool and the stream.
    pub template: String,
    /// The name of the template.
    pub name: String,
    /// The title for people.
    pub title: String,
    /// The description for models.
    pub description: String,
    /// The tool that reads a resource.
    pub read: String,
    /// The stream whose events with a resume point mean that the resource changed.
    pub watch: Option<String>,
    /// Arguments whose values a tool lists, each with the tool and the JSON pointer of the values
    /// in its result, such as `list_symbols#/symbols`. An argument with an `enum` needs no tool.
    pub complete: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContractFile {
    service: String,
    title: String,
    version: String,
    summary: String,
    instructions: String,
    #[serde(default)]
    documents: Vec<DocumentFile>,
    tools: Vec<ToolFile>,
    #[serde(default)]
    streams: Vec<StreamFile>,
    #[serde(default)]
    uploads: Vec<UploadFile>,
    #[serde(default)]
    downloads: Vec<DownloadFile>,
    #[serde(default)]
    resources: Vec<ResourceFile>,
    agent: Option<AgentSpec>,
    #[serde(default)]
    access: AccessRules,
    body_bytes: Option<usize>,
    body_scope: Option<Scope>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamFile {
    name: String,
    title: String,
    description: String,
    input: String,
    event: String,
    resume: String,
    sse: Option<SseFile>,
    ws: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SseFile {
    path: String,
    query: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResourceFile {
    template: String,
    name: String,
    title: String,
    description: String,
    read: String,
    watch: Option<String>,
    #[serde(default)]
    complete: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentFile {
    uri: String,
    file: String,
    title: String,
    http: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFile {
    name: String,
    title: String,
    description: String,
    input: String,
    output: String,
    annotations: Value,
    http: Option<HttpFile>,
    #[serde(default)]
    http_only: bool,
    timeout_s: Option<u32>,
    concurrency: Option<Concurrency>,
    task: Option<TaskSpec>,
    /// Arguments that are times, such as `start` or `filters.dateRange.start`; a caller of the
    /// whole server may write them in every form.
    #[serde(default)]
    times: Vec<String>,
    /// The properties of further arguments that only callers of the whole server have.
    more: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpFile {
    method: String,
    path: String,
    #[serde(default)]
    also: Vec<String>,
    body: String,
    #[serde(default)]
    partial: bool,
}

impl Contract {
    /// Loads `contracts/<service>/contract.json` and the files it refers to.
    pub fn load(service: &str) -> Result<Self, ContractError> {
        let path = format!("{service}/contract.json");
        let file: ContractFile = read_json(&path)?;
        if file.service != service {
            return Err(ContractError(format!("contracts/{path} calls itself {}", file.service)));
        }
        let files = ServiceFiles::of(service);
        let tools = file.tools.into_iter().map(|tool| tool.load(&files, &file.access));
        let mut tools: Vec<ToolSpec> = tools.collect::<Result<_, _>>()?;
        let mut host = HostSpec::load(service)?;
        host.apply(service, &mut tools, &file.access)?;
        let streams = file.streams.into_iter().map(|stream| stream.load(&files));
        let uploads = file.uploads.into_iter().map(|upload| upload.load(&files));
        let downloads = file.downloads.into_iter().map(|download| download.load(&files));
        let documents = file.documents.into_iter().map(|document| document.load(service));
        let contract = Self {
            tools,
            host,
            streams: streams.collect::<Result<_, _>>()?,
            uploads: uploads.collect::<Result<_, _>>()?,
            downloads: downloads.collect::<Result<_, _>>()?,
            resources: file.resources.into_iter().map(ResourceFile::load).collect(),
            documents: documents.collect::<Result<_, _>>()?,
            agent: file.agent,
            errors: Arc::new(ErrorTable::load(&files)?),
            access: file.access,
            body_bytes: file.body_bytes,
            body_scope: file.body_scope,
            service: file.service,
            title: file.title,
            version: file.version,
            summary: file.summary,
            instructions: file.instructions,
        };
        contract.check_references()
    }

    /// Fails if a resource or the agent refers to a tool or stream that the contract lacks.
    pub(crate) fn check_references(self) -> Result<Self, ContractError> {
        if let Some(agent) = &self.agent {
            agent.check(&self.service, &self.tools)?;
        }
        for resource in &self.resources {
            let listers = resource
                .complete
                .values()
                .map(|at| at.split_once('#').map_or("", |(tool, _)| tool));
            for tool in listers.chain([resource.read.as_str()]) {
                self.tool(tool)?;
            }
            let streamed = |name: &String| self.streams.iter().any(|it| it.name == *name);
            if let Some(name) = resource.watch.as_ref().filter(|name| !streamed(name)) {
                return Err(ContractError(format!("{} has no stream {name}", self.service)));
            }
        }
        Ok(self)
    }

    /// Another file of the same contract.
    pub fn json(&self, file: &str) -> Result<Value, ContractError> {
        json(&format!("{}/{file}", self.service))
    }

    /// A tool by its name.
    pub fn tool(&self, name: &str) -> Result<&ToolSpec, ContractError> {
        let found = self.tools.iter().find(|tool| tool.name == name);
        found.ok_or_else(|| ContractError(format!("{} has no tool {name}", self.service)))
    }
}

impl DocumentFile {
    fn load(self, service: &str) -> Result<ContractDocument, ContractError> {
        let path = format!("{service}/{}", self.file);
        let text = file_text(&path)
            .ok_or_else(|| ContractError(format!("contracts/{path} is missing")))?;
        Ok(ContractDocument { uri: self.uri, title: self.title, http: self.http, text })
    }
}

impl ToolFile {
    fn load(
        self,
        files: &ServiceFiles<'_>,
        access: &AccessRules,
    ) -> Result<ToolSpec, ContractError> {
        // A description may refer to the document that the service publishes.
        let description = match self.description.contains(".json#/") {
            true => files.resolve(&self.description)?.as_str().unwrap_or_default().to_owned(),
            false => self.description,
        };
        let input = Schema::new(files.resolve(&self.input)?);
        let http = self.http.map(|http| http.load(files, &input)).transpose()?;
        let relaxed = access.without_required_credential(&input);
        let relaxed = match &self.more {
            None => relaxed,
            Some(more) => {
                let more = files.resolve(more)?;
                Some(relaxed.as_ref().unwrap_or(&input).with_properties(&more)?)
            }
        };
        let relaxed = match self.times.is_empty() {
            true => relaxed,
            false => Some(relaxed.as_ref().unwrap_or(&input).with_times(&self.times)?),
        };
        Ok(ToolSpec {
            relaxed,
            input,
            output: Schema::new(files.resolve(&self.output)?),
            read_only: self.annotations["readOnlyHint"] == Value::Bool(true),
            annotations: self.annotations,
            name: self.name,
            title: self.title,
            description,
            http,
            http_only: self.http_only,
            timeout: self.timeout_s.map(|seconds| Duration::from_secs(seconds.into())),
            concurrency: self.concurrency,
            task: self.task,
            host: HostTool::default(),
        })
    }
}

impl ToolSpec {
    /// The input schema as it is listed and checked: the contract's own if the caller addressed
    /// the service alone.
    pub fn input_for(&self, alone: bool) -> &Schema {
        self.relaxed.as_ref().filter(|_| !alone).unwrap_or(&self.input)
    }
}

impl HttpFile {
    fn load(self, files: &ServiceFiles<'_>, input: &Schema) -> Result<HttpBinding, ContractError> {
        if !matches!(&*self.method, "GET" | "POST" | "PUT" | "DELETE") {
            let (method, path) = (&self.method, &self.path);
            return Err(ContractError(format!("{path} cannot be reached with {method}")));
        }
        address::check(&self.path, &self.also, input)?;
        let body = Schema::new(files.resolve(&self.body)?);
        let Self { method, path, also, partial, .. } = self;
        Ok(HttpBinding { method, path, also, body, partial })
    }
}

impl HttpBinding {
    /// Every path of the tool, the main one first.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        address::all_paths(&self.path, &self.also)
    }

    /// Whether the arguments come from the body, not the query.
    pub fn has_body(&self) -> bool {
        matches!(&*self.method, "POST" | "PUT")
    }
}

impl StreamFile {
    fn load(self, files: &ServiceFiles<'_>) -> Result<StreamSpec, ContractError> {
        let schema = |at: &str| files.resolve(at).map(Schema::new);
        let sse = match self.sse {
            Some(sse) => Some(SseBinding { path: sse.path, query: schema(&sse.query)? }),
            None => None,
        };
        Ok(StreamSpec {
            input: schema(&self.input)?,
            event: schema(&self.event)?,
            name: self.name,
            title: self.title,
            description: self.description,
            resume: self.resume,
            sse,
            ws: self.ws,
        })
    }
}

impl ResourceFile {
    fn load(self) -> ResourceSpec {
        ResourceSpec {
            template: self.template,
            name: self.name,
            title: self.title,
            description: self.description,
            read: self.read,
            watch: self.watch,
            complete: self.complete,
        }
    }
}
