//! The table that binds a contract's tools to handlers; neither side may have one the other lacks.

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
use crate::reply::Reply;
use crate::spec::{Contract, ResourceSpec, StreamSpec, ToolSpec};
use crate::stream::Subscription;
use crate::task::{JobQuery, JobReport};
use crate::transfer::{DownloadSpec, UploadSpec};
use crate::upload::Upload;

pub(crate) type HandlerFuture<T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>;
/// A handler behind a pointer; `T` is what it answers with.
pub(crate) type Handler<T> =
    Box<dyn Fn(CallContext, Map<String, Value>) -> HandlerFuture<T> + Send + Sync>;
pub(crate) type Receiver =
    Box<dyn Fn(CallContext, Upload) -> HandlerFuture<Box<dyn Reply>> + Send + Sync>;

/// A service's rows while they are being written down.
pub struct Tools<S> {
    service: Arc<S>,
    tools: Vec<Unbound<Handler<Box<dyn Reply>>>>,
    streams: Vec<Unbound<Handler<Subscription>>>,
    uploads: Vec<Unbound<Receiver>>,
    downloads: Vec<Unbound<Handler<Download>>>,
    followers: Vec<(&'static str, Handler<JobReport>)>,
}

type Unbound<H> = (&'static str, Scope, H);

impl<S: Send + Sync + 'static> Tools<S> {
    pub fn of(service: Arc<S>) -> Self {
        let (tools, streams) = (Vec::new(), Vec::new());
        let (uploads, downloads) = (Vec::new(), Vec::new());
        Self { service, tools, streams, uploads, downloads, followers: Vec::new() }
    }

    /// Adds a row. The boxing happens here, once, so that a handler is a plain `async fn`.
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

    /// Says how a call of a tool is followed once it has gone on as a job; every tool whose contract
    /// lets it become a task has such a handler.
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

    /// Adds an upload: its handler reads the parts of the form while they come.
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

    /// Adds a download: its handler says what is sent.
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

    /// Joins the rows with their contract; fails on a row that the contract does not have, and on
    /// what the contract has without a row.
    pub fn bind(
        self,
        contract: Contract,
        envelope: impl Envelope + 'static,
    ) -> Result<Service, ContractError> {
        let Contract { service, title, version, summary, instructions, documents, access, .. } =
            contract;
        let mut tools: Vec<ToolRow> =
            join(&service, contract.tools, self.tools, |spec| &spec.name)?
                .into_iter()
                .map(|(spec, scope, handler)| {
                    let limiter = ConcurrencyLimiter::new(spec.concurrency.unwrap_or_default());
                    ToolRow { spec, scope, handler, limiter, follow: None }
                })
                .collect();
        followed(&service, &mut tools, self.followers)?;
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
            errors: contract.errors,
            name: Arc::from(service),
            title,
            version,
            summary,
            access,
            instructions,
            documents,
            envelope: Box::new(envelope),
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
            // The schema has been checked, so a mismatch here is a contract our types missed.
            let args: A = serde_json::from_value(Value::Object(args)).map_err(Fault::internal)?;
            handler(cx.with_service(service), args).await.map(finish)
        })
    })
}

type Joined<P, H> = Vec<(P, Scope, H)>;

/// Each spec with its row. Neither side may have one the other lacks.
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

/// Gives each tool that may become a task its follower. Neither side may lack the other here either.
fn followed(
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
            Err(ContractError(format!("{service}: nobody follows the tasks of {name}")))
        }
        None => Ok(()),
    }
}

/// A contract with its handlers: everything a transport needs to serve it.
pub struct Service {
    pub name: Arc<str>,
    pub title: String,
    pub version: String,
    pub summary: String,
    pub access: AccessRules,
    pub body_bytes: Option<usize>,
    pub instructions: String,
    pub documents: Vec<crate::spec::ContractDocument>,
    pub errors: Arc<crate::spec::ErrorTable>,
    pub(crate) envelope: Box<dyn Envelope>,
    pub tools: Vec<ToolRow>,
    pub streams: Vec<StreamRow>,
    pub uploads: Vec<UploadRow>,
    pub downloads: Vec<DownloadRow>,
    pub resources: Vec<ResourceSpec>,
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
    pub spec: ToolSpec,
    pub scope: Scope,
    pub(crate) handler: Handler<Box<dyn Reply>>,
    pub(crate) limiter: ConcurrencyLimiter,
    pub(crate) follow: Option<Handler<JobReport>>,
}

impl ToolRow {
    /// Fails where a reply is not what the contract promises.
    pub(crate) fn validate_reply(&self, reply: &dyn Reply) -> Result<(), Fault> {
        self.spec.output.check(&reply.result()).map_err(|fault| {
            Fault::internal(format!("{} broke its own contract: {fault}", self.spec.name))
        })
    }
}

pub struct StreamRow {
    pub spec: Arc<StreamSpec>,
    pub scope: Scope,
    pub(crate) open: Handler<Subscription>,
}

pub struct UploadRow {
    pub spec: Arc<UploadSpec>,
    pub scope: Scope,
    pub(crate) receiver: Receiver,
    pub(crate) limiter: ConcurrencyLimiter,
}

pub struct DownloadRow {
    pub spec: DownloadSpec,
    pub scope: Scope,
    pub(crate) open: Handler<Download>,
}
