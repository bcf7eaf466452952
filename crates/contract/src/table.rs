//! Binds a contract's tools to handlers. Start-up fails if either side has one that the other lacks.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use fault::Fault;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::access::AccessRules;
use crate::agent::AgentSpec;
use crate::call::{CallContext, Cx, Scope};
use crate::concurrency::{Concurrency, ConcurrencyLimiter};
use crate::download::Download;
use crate::envelope::Envelope;
use crate::files::ContractError;
use crate::host::HostSpec;
use crate::reply::Reply;
use crate::spec::{Contract, ResourceSpec, StreamSpec, ToolSpec};
use crate::stream::Subscription;
use crate::task::{JobQuery, JobReport};
use crate::transfer::{DownloadSpec, UploadSpec};
use crate::upload::Upload;

pub(crate) type HandlerFuture<T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>;
/// A type-erased handler; `T` is what it returns.
pub(crate) type Handler<T> =
    Box<dyn Fn(CallContext, Map<String, Value>) -> HandlerFuture<T> + Send + Sync>;
pub(crate) type Receiver =
    Box<dyn Fn(CallContext, Upload) -> HandlerFuture<Box<dyn Reply>> + Send + Sync>;

/// The handlers of a service, before they are bound to its contract.
pub struct Tools<S> {
    service: Arc<S>,
    tools: Vec<Unbound<Handler<Box<dyn Reply>>>>,
    streams: Vec<Unbound<Handler<Subscription>>>,
    uploads: Vec<Unbound<Receiver>>,
    downloads: Vec<Unbound<Handler<Download>>>,
    followers: Vec<(&'static str, Handler<JobReport>)>,
    source: Option<Arc<str>>,
}

type Unbound<H> = (&'static str, Scope, H);

impl<S: Send + Sync + 'static> Tools<S> {
    /// No handlers yet; each handler gets `service` in its [`Cx`].
    pub fn of(service: Arc<S>) -> Self {
        let (tools, streams) = (Vec::new(), Vec::new());
        let (uploads, downloads) = (Vec::new(), Vec::new());
        let (followers, source) = (Vec::new(), None);
        Self { service, tools, streams, uploads, downloads, followers, source }
    }

    /// Says where the data of the service come from; its errors name each source once.
    #[must_use]
    pub fn sources<'a>(self, sources: impl IntoIterator<Item = &'a str>) -> Self {
        let distinct: BTreeSet<&str> = sources.into_iter().collect();
        let joined = distinct.into_iter().collect::<Vec<_>>().join(", ");
        Self { source: (!joined.is_empty()).then(|| Arc::from(joined)), ..self }
    }

    /// Adds a tool. Boxing happens here, so that a handler is a plain `async fn`.
    #[must_use]
    pub fn tool<A, R, F, Fut>(mut self, name: &'static str, scope: Scope, handler: F) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        R: Reply + 'static,
        F: Fn(Cx<S>, A) -> Fut + Send + Sync + Clone + 'static,
        Fut: Future<Output = Result<R, Fault>> + Send + 'static,
    {
        let boxed = |reply| Box::new(reply) as Box<dyn Reply>;
        self.tools.push((name, scope, erased(&self.service, handler, boxed)));
        self
    }

    /// Adds the follower of a tool: the handler that reports the job behind a call. Every tool with
    /// a task section in its contract needs one.
    #[must_use]
    pub fn follow<F, Fut>(mut self, tool: &'static str, handler: F) -> Self
    where
        F: Fn(Cx<S>, JobQuery) -> Fut + Send + Sync + Clone + 'static,
        Fut: Future<Output = Result<JobReport, Fault>> + Send + 'static,
    {
        self.followers.push((tool, erased(&self.service, handler, |followed| followed)));
        self
    }

    /// Adds a stream: its handler opens a subscription.
    #[must_use]
    pub fn stream<A, F, Fut>(mut self, name: &'static str, scope: Scope, open: F) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        F: Fn(Cx<S>, A) -> Fut + Send + Sync + Clone + 'static,
        Fut: Future<Output = Result<Subscription, Fault>> + Send + 'static,
    {
        self.streams.push((name, scope, erased(&self.service, open, |opened| opened)));
        self
    }

    /// Adds an upload: its handler reads the parts of the form as they arrive.
    #[must_use]
    pub fn upload<R, F, Fut>(mut self, name: &'static str, scope: Scope, handler: F) -> Self
    where
        R: Reply + 'static,
        F: Fn(Cx<S>, Upload) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, Fault>> + Send + 'static,
    {
        let service = Arc::clone(&self.service);
        let receiver: Receiver = Box::new(move |cx, upload| {
            let answer = handler(cx.with_service(Arc::clone(&service)), upload);
            Box::pin(async move { answer.await.map(|reply| Box::new(reply) as Box<dyn Reply>) })
        });
        self.uploads.push((name, scope, receiver));
        self
    }

    /// Adds a download: its handler opens the file.
    #[must_use]
    pub fn download<A, F, Fut>(mut self, name: &'static str, scope: Scope, open: F) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        F: Fn(Cx<S>, A) -> Fut + Send + Sync + Clone + 'static,
        Fut: Future<Output = Result<Download, Fault>> + Send + 'static,
    {
        self.downloads.push((name, scope, erased(&self.service, open, |opened| opened)));
        self
    }

    /// Binds the handlers to their contract; fails if either side has one that the other lacks.
    pub fn bind(
        self,
        contract: Contract,
        envelope: impl Envelope + 'static,
    ) -> Result<Service, ContractError> {
        let Contract { service, title, version, summary, instructions, .. } = contract;
        let (documents, access, host) = (contract.documents, contract.access, contract.host);
        let mut tools: Vec<ToolRow> =
            join(&service, contract.tools, self.tools, |spec| &spec.name)?
                .into_iter()
                .map(|(spec, scope, handler)| {
                    let limiter = ConcurrencyLimiter::new(spec.concurrency.unwrap_or_default());
                    ToolRow { spec, scope, handler, limiter, follow: None }
                })
                .collect();
        bind_followers(&service, &mut tools, self.followers)?;
        let streams = join(&service, contract.streams, self.streams, |spec| &spec.name)?
            .into_iter()
            .map(|(spec, scope, open)| StreamRow { spec: Arc::new(spec), scope, open });
        let uploads = join(&service, contract.uploads, self.uploads, |spec| &spec.name)?
            .into_iter()
            .map(|(spec, scope, receiver)| {
                let limiter = ConcurrencyLimiter::new(spec.concurrency.unwrap_or_default());
                UploadRow { spec: Arc::new(spec), scope, receiver, limiter }
            });
        let downloads = join(&service, contract.downloads, self.downloads, |spec| &spec.name)?
            .into_iter()
            .map(|(spec, scope, open)| DownloadRow { spec, scope, open });
        Ok(Service {
            tools,
            streams: streams.collect(),
            uploads: uploads.collect(),
            downloads: downloads.collect(),
            resources: contract.resources,
            agent: contract.agent,
            body_bytes: contract.body_bytes,
            body_scope: contract.body_scope,
            errors: contract.errors,
            name: Arc::from(service),
            title,
            version,
            summary,
            access,
            instructions,
            host,
            documents,
            envelope: Box::new(envelope),
            source: self.source,
        })
    }
}

fn erased<S, A, R, T, F, Fut>(
    service: &Arc<S>,
    handler: F,
    finish: impl Fn(R) -> T + Send + Sync + Copy + 'static,
) -> Handler<T>
where
    S: Send + Sync + 'static,
    A: DeserializeOwned + Send + 'static,
    F: Fn(Cx<S>, A) -> Fut + Send + Sync + Clone + 'static,
    Fut: Future<Output = Result<R, Fault>> + Send + 'static,
{
    let service = Arc::clone(service);
    Box::new(move |cx, args| {
        let (service, handler) = (Arc::clone(&service), handler.clone());
        Box::pin(async move {
            // The arguments match the schema, so a mismatch means that our types differ from it.
            let args: A = serde_json::from_value(Value::Object(args)).map_err(Fault::internal)?;
            handler(cx.with_service(service), args).await.map(finish)
        })
    })
}

type Joined<P, H> = Vec<(P, Scope, H)>;

/// Pairs each spec with its handler; fails if either side has one that the other lacks.
fn join<P, H>(
    service: &str,
    specs: Vec<P>,
    mut rows: Vec<Unbound<H>>,
    name: impl Fn(&P) -> &str,
) -> Result<Joined<P, H>, ContractError> {
    let mut joined = Vec::new();
    for spec in specs {
        let asked = name(&spec);
        let at = rows.iter().position(|(it, ..)| *it == asked).ok_or_else(|| {
            ContractError(format!("{service}: no handler for the contract's {asked}"))
        })?;
        let (_, scope, handler) = rows.swap_remove(at);
        joined.push((spec, scope, handler));
    }
    match rows.first() {
        Some((name, ..)) => Err(ContractError(format!("{service}: {name} is not in the contract"))),
        None => Ok(joined),
    }
}

/// Gives each tool with a task section its follower; fails if either side lacks the other.
fn bind_followers(
    service: &str,
    tools: &mut [ToolRow],
    followers: Vec<(&'static str, Handler<JobReport>)>,
) -> Result<(), ContractError> {
    for (name, follower) in followers {
        let row = tools.iter_mut().find(|row| row.spec.name == name && row.spec.task.is_some());
        let row = row.ok_or_else(|| {
            ContractError(format!("{service}: {name} is no task in the contract"))
        })?;
        row.follow = Some(follower);
    }
    match tools.iter().find(|row| row.spec.task.is_some() && row.follow.is_none()) {
        Some(row) => {
            let name = &row.spec.name;
            Err(ContractError(format!("{service}: no follower for the tasks of {name}")))
        }
        None => Ok(()),
    }
}

/// A contract with its handlers.
pub struct Service {
    /// The name of the service.
    pub name: Arc<str>,
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
    /// The MCP instructions.
    pub instructions: String,
    /// How the service is listed beside others, for MCP hosts.
    pub host: HostSpec,
    /// Files that are served unchanged.
    pub documents: Vec<crate::spec::ContractDocument>,
    /// How faults are reported.
    pub errors: Arc<crate::errors::ErrorTable>,
    pub(crate) envelope: Box<dyn Envelope>,
    /// Where the data of the service come from, such as `file, simulated`.
    pub source: Option<Arc<str>>,
    /// The tools, in contract order.
    pub tools: Vec<ToolRow>,
    /// The streams.
    pub streams: Vec<StreamRow>,
    /// The uploads.
    pub uploads: Vec<UploadRow>,
    /// The downloads.
    pub downloads: Vec<DownloadRow>,
    /// The templates of MCP resources.
    pub resources: Vec<ResourceSpec>,
    /// The agent for other agents, if there is one.
    pub agent: Option<AgentSpec>,
}

impl Service {
    /// Sets how many calls of each tool and upload run at once and queue, unless the contract says
    /// so itself.
    #[must_use]
    pub fn with_default_concurrency(mut self, default: Concurrency) -> Self {
        for tool in &mut self.tools {
            tool.limiter = ConcurrencyLimiter::new(tool.spec.concurrency.unwrap_or(default));
        }
        for upload in &mut self.uploads {
            upload.limiter = ConcurrencyLimiter::new(upload.spec.concurrency.unwrap_or(default));
        }
        self
    }
}

/// A tool with its handler.
pub struct ToolRow {
    /// The contract's part.
    pub spec: ToolSpec,
    /// The scope that a caller needs.
    pub scope: Scope,
    pub(crate) handler: Handler<Box<dyn Reply>>,
    pub(crate) limiter: ConcurrencyLimiter,
    pub(crate) follow: Option<Handler<JobReport>>,
}

impl ToolRow {
    /// Fails if a reply does not match the output schema.
    pub(crate) fn validate_reply(&self, reply: &dyn Reply) -> Result<(), Fault> {
        self.spec.output.check(&reply.result()).map_err(|fault| {
            Fault::internal(format!("{} broke its own contract: {fault}", self.spec.name))
        })
    }
}

/// A stream with its handler.
pub struct StreamRow {
    /// The contract's part.
    pub spec: Arc<StreamSpec>,
    /// The scope that a caller needs.
    pub scope: Scope,
    pub(crate) open: Handler<Subscription>,
}

/// An upload with its handler.
pub struct UploadRow {
    /// The contract's part.
    pub spec: Arc<UploadSpec>,
    /// The scope that a caller needs.
    pub scope: Scope,
    pub(crate) receiver: Receiver,
    pub(crate) limiter: ConcurrencyLimiter,
}

/// A download with its handler.
pub struct DownloadRow {
    /// The contract's part.
    pub spec: DownloadSpec,
    /// The scope that a caller needs.
    pub scope: Scope,
    pub(crate) open: Handler<Download>,
}
