//! A service's contract as read from its files: tools, documents, and the table of errors.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fault::{Fault, Kind};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::access::AccessRules;
use crate::address;
use crate::agent::AgentSpec;
use crate::concurrency::Concurrency;
use crate::files::{ContractError, file_text, follow, json};
use crate::schema::Schema;
use crate::task::TaskSpec;
use crate::transfer::{DownloadFile, DownloadSpec, UploadFile, UploadSpec};

#[derive(Debug)]
pub struct Contract {
    pub service: String,
    pub title: String,
    pub version: String,
    pub summary: String,
    pub access: AccessRules,
    /// How large a request to this service alone may be, where it needs more than is usual.
    pub body_bytes: Option<usize>,
    /// What a model is told about this service before its first call.
    pub instructions: String,
    pub documents: Vec<ContractDocument>,
    pub tools: Vec<ToolSpec>,
    pub streams: Vec<StreamSpec>,
    pub uploads: Vec<UploadSpec>,
    pub downloads: Vec<DownloadSpec>,
    pub resources: Vec<ResourceSpec>,
    pub agent: Option<AgentSpec>,
    pub errors: Arc<ErrorTable>,
}

/// A file of the contract that is served as it is.
#[derive(Debug)]
pub struct ContractDocument {
    pub uri: String,
    pub title: String,
    pub text: &'static str,
    /// Where it is also served over plain HTTP.
    pub http: Option<String>,
}

#[derive(Debug)]
pub struct ToolSpec {
    pub name: String,
    pub title: String,
    pub description: String,
    pub input: Schema,
    /// The input where a header may dispatch the credential; absent where it makes no difference.
    pub relaxed: Option<Schema>,
    pub output: Schema,
    /// The MCP hints, as listed.
    pub annotations: Value,
    pub read_only: bool,
    pub http: Option<HttpBinding>,
    /// Part of the HTTP API alone: not listed to models, which have a better tool for the job.
    pub http_only: bool,
    /// How long a call may take, where it is not what is usual in the house. A caller may ask for
    /// another time with an argument [`TIMEOUT`], where the input has one.
    pub timeout: Option<Duration>,
    /// How many calls at once, where it is not what is usual in the house.
    pub concurrency: Option<Concurrency>,
    /// Set where a call may go on as a task.
    pub task: Option<TaskSpec>,
}

/// The argument with which a caller says how many milliseconds a call may take.
pub(crate) const TIMEOUT: &str = "timeoutMs";

/// How a tool is reached over plain HTTP: its arguments are the query (of a `GET` or `DELETE`) or
/// the body (of a `POST` or `PUT`), and whatever of them stands in the path; its reply is the body.
#[derive(Debug)]
pub struct HttpBinding {
    pub method: String,
    /// With `{name}` where an argument stands.
    pub path: String,
    /// Further paths of the same tool, with the same arguments.
    pub also: Vec<String>,
    pub body: Schema,
    /// Whether 206 is a possible answer.
    pub partial: bool,
}

/// An answer that goes on: its subscription, its events, and where it is reached.
#[derive(Debug)]
pub struct StreamSpec {
    pub name: String,
    pub title: String,
    pub description: String,
    /// What a subscriber says, where it can say it in JSON.
    pub input: Schema,
    /// What every event looks like.
    pub event: Schema,
    /// The field of the input that takes the resume point of an event; see [`crate::StreamEvent`].
    pub resume: String,
    pub sse: Option<SseBinding>,
    /// The address of the WebSocket on which it can be subscribed to; streams share addresses.
    pub ws: Option<String>,
}

/// A stream as server-sent events; the query is the subscription.
#[derive(Debug)]
pub struct SseBinding {
    pub path: String,
    pub query: Schema,
}

/// A family of resources: read through a tool, and watched through a stream.
#[derive(Debug)]
pub struct ResourceSpec {
    /// A URI with `{name}` where an argument of both stands.
    pub template: String,
    pub name: String,
    pub title: String,
    pub description: String,
    /// The tool that reads it.
    pub read: String,
    /// The stream whose resumable events say that it changed.
    pub watch: Option<String>,
    /// Arguments whose values a tool can list, each with that tool and the place of the texts in
    /// its result: `list_symbols#/symbols`. Those with an `enum` need no tool.
    pub complete: BTreeMap<String, String>,
}

/// How a fault is spelled by this contract.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorRow {
    /// The contract's word.
    pub r#type: String,
    pub http_status: u16,
    pub retryable: bool,
}

#[derive(Debug)]
pub struct ErrorTable {
    kinds: BTreeMap<String, ErrorRow>,
    codes: BTreeMap<String, ErrorRow>,
    /// What a failed tool call must look like.
    pub envelope: Schema,
    /// What a failed HTTP request must look like.
    pub http_envelope: Schema,
}

impl ErrorTable {
    /// A table that spells every kind as itself, with any envelope that fits the schema.
    #[cfg(test)]
    pub(crate) fn of_kinds(envelope: Value) -> Result<Self, ContractError> {
        let row = |kind: &Kind| {
            let word = kind.word().to_owned();
            let row = ErrorRow { r#type: word.clone(), http_status: 500, retryable: false };
            (word, row)
        };
        Ok(Self {
            kinds: Kind::ALL.iter().map(row).collect(),
            codes: BTreeMap::new(),
            envelope: Schema::compile(envelope.clone())?,
            http_envelope: Schema::compile(envelope)?,
        })
    }

    /// The row of the fault's own code, else of its kind. Every kind has one; see [`Contract::load`].
    pub fn row(&self, fault: &Fault) -> &ErrorRow {
        static LAST_RESORT: std::sync::LazyLock<ErrorRow> = std::sync::LazyLock::new(|| ErrorRow {
            r#type: "INTERNAL_ERROR".to_owned(),
            http_status: 500,
            retryable: false,
        });
        self.codes
            .get(fault.code())
            .or_else(|| self.kinds.get(fault.kind().word()))
            .unwrap_or(&LAST_RESORT)
    }
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorsFile {
    envelope: String,
    http_envelope: String,
    kinds: BTreeMap<String, ErrorRow>,
    codes: BTreeMap<String, ErrorRow>,
}

impl Contract {
    /// Reads `contracts/<service>/contract.json` and everything it refers to.
    pub fn load(service: &str) -> Result<Self, ContractError> {
        let path = format!("{service}/contract.json");
        let file: ContractFile = read(&path)?;
        if file.service != service {
            return Err(ContractError(format!("contracts/{path} calls itself {}", file.service)));
        }
        let tools = file.tools.into_iter().map(|tool| tool.load(service, &file.access));
        let streams = file.streams.into_iter().map(|stream| stream.load(service));
        let uploads = file.uploads.into_iter().map(|upload| upload.load(service));
        let downloads = file.downloads.into_iter().map(|download| download.load(service));
        let documents = file.documents.into_iter().map(|document| document.load(service));
        let contract = Self {
            tools: tools.collect::<Result<_, _>>()?,
            streams: streams.collect::<Result<_, _>>()?,
            uploads: uploads.collect::<Result<_, _>>()?,
            downloads: downloads.collect::<Result<_, _>>()?,
            resources: file.resources.into_iter().map(ResourceFile::load).collect(),
            documents: documents.collect::<Result<_, _>>()?,
            agent: file.agent,
            errors: Arc::new(load_errors(service)?),
            access: file.access,
            body_bytes: file.body_bytes,
            service: file.service,
            title: file.title,
            version: file.version,
            summary: file.summary,
            instructions: file.instructions,
        };
        contract.whole()
    }

    /// Fails where a resource or the agent refers to what the contract does not have.
    pub(crate) fn whole(self) -> Result<Self, ContractError> {
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

    pub fn tool(&self, name: &str) -> Result<&ToolSpec, ContractError> {
        let found = self.tools.iter().find(|tool| tool.name == name);
        found.ok_or_else(|| ContractError(format!("{} has no tool {name}", self.service)))
    }
}

fn read<T: serde::de::DeserializeOwned>(path: &str) -> Result<T, ContractError> {
    serde_json::from_value(json(path)?).map_err(|e| ContractError(format!("contracts/{path}: {e}")))
}

fn load_errors(service: &str) -> Result<ErrorTable, ContractError> {
    let path = format!("{service}/errors.json");
    let file: ErrorsFile = read(&path)?;
    if let Some(kind) = Kind::ALL.iter().find(|kind| !file.kinds.contains_key(kind.word())) {
        return Err(ContractError(format!("contracts/{path} has no row for {}", kind.word())));
    }
    Ok(ErrorTable {
        envelope: Schema::compile(follow(service, &file.envelope)?)?,
        http_envelope: Schema::compile(follow(service, &file.http_envelope)?)?,
        kinds: file.kinds,
        codes: file.codes,
    })
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
    fn load(self, service: &str, access: &AccessRules) -> Result<ToolSpec, ContractError> {
        // A description may stand in the document that the service publishes, so that it is
        // written once.
        let description = match self.description.contains(".json#/") {
            true => follow(service, &self.description)?.as_str().unwrap_or_default().to_owned(),
            false => self.description,
        };
        let input = Schema::compile(follow(service, &self.input)?)?;
        let http = self.http.map(|http| http.load(service, &input)).transpose()?;
        Ok(ToolSpec {
            relaxed: access.without_required_credential(&input)?,
            input,
            output: Schema::compile(follow(service, &self.output)?)?,
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
        })
    }
}

impl ToolSpec {
    /// The input as it is listed and checked: to the letter where the service was addressed alone.
    pub fn input_for(&self, alone: bool) -> &Schema {
        self.relaxed.as_ref().filter(|_| !alone).unwrap_or(&self.input)
    }
}

impl HttpFile {
    fn load(self, service: &str, input: &Schema) -> Result<HttpBinding, ContractError> {
        if !matches!(&*self.method, "GET" | "POST" | "PUT" | "DELETE") {
            let (method, path) = (&self.method, &self.path);
            return Err(ContractError(format!("{path} cannot be reached with {method}")));
        }
        address::check(&self.path, &self.also, input)?;
        let body = Schema::compile(follow(service, &self.body)?)?;
        let Self { method, path, also, partial, .. } = self;
        Ok(HttpBinding { method, path, also, body, partial })
    }
}

impl HttpBinding {
    /// Every path of the tool, the first one first.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        address::all(&self.path, &self.also)
    }

    /// Whether the arguments that are not in the path are in the body.
    pub fn has_body(&self) -> bool {
        matches!(&*self.method, "POST" | "PUT")
    }
}

impl StreamFile {
    fn load(self, service: &str) -> Result<StreamSpec, ContractError> {
        let schema = |at: &str| Schema::compile(follow(service, at)?);
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

impl ResourceSpec {
    /// The arguments that a URI of this family carries.
    pub fn arguments(&self, uri: &str) -> Option<Map<String, Value>> {
        let mut args = Map::new();
        let (mut rule, mut rest) = (self.template.as_str(), uri);
        while let Some((before, after)) = rule.split_once('{') {
            rest = rest.strip_prefix(before)?;
            let (name, tail) = after.split_once('}')?;
            let stop = tail.chars().next().map_or(Some(rest.len()), |stop| rest.find(stop))?;
            let (value, left) = rest.split_at_checked(stop)?;
            if value.is_empty() {
                return None;
            }
            args.insert(name.to_owned(), Value::from(value));
            (rule, rest) = (tail, left);
        }
        (rule == rest).then_some(args)
    }
}
