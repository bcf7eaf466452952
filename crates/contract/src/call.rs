//! A call on its way in: the caller, its credential and rights, and the context a handler gets.

use std::net::IpAddr;
use std::sync::Arc;

use fault::Fault;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::stream_metrics::StreamMetrics;

/// The right a caller needs before a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// No right is needed. The credential is ignored unless the contract identifies callers; see
    /// [`crate::AccessRules::identifies_callers`].
    Open,
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Collecting prices of competitors.
    Collect,
    /// Importing prices.
    Import,
    /// Proposing prices.
    Propose,
    /// Reading why a price was proposed.
    Explain,
    /// Applying proposed prices.
    Apply,
    /// Administration.
    Admin,
}

impl Scope {
    /// The scope as tokens and contracts spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Write => "write",
            Self::Collect => "collect",
            Self::Import => "import",
            Self::Propose => "propose",
            Self::Explain => "explain",
            Self::Apply => "apply",
            Self::Admin => "admin",
        }
    }
}

/// What a client presented to prove who it is. `Debug` does not print the token.
#[derive(Clone, Default)]
pub enum Credential {
    /// Nothing.
    #[default]
    None,
    /// A bearer token that was not verified yet.
    Bearer(Arc<str>),
    /// A token that was verified earlier in the same request; see [`crate::Authenticator::verify`].
    Verified(VerifiedToken),
}

/// A token that was verified earlier in the same request.
#[derive(Clone)]
pub struct VerifiedToken {
    /// The token itself, which an open stream re-validates.
    pub token: Arc<str>,
    /// The caller with all limits of the token, before those of a service are applied.
    pub caller: Caller,
}

impl Credential {
    /// The token, verified or not; `None` for an anonymous client.
    pub fn token(&self) -> Option<&Arc<str>> {
        match self {
            Self::None => None,
            Self::Bearer(token) | Self::Verified(VerifiedToken { token, .. }) => Some(token),
        }
    }

    /// The credential as it was presented, for use after its request has ended.
    #[must_use]
    pub fn unverified(&self) -> Self {
        self.token().map_or(Self::None, |token| Self::Bearer(Arc::clone(token)))
    }
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Bearer(_) => "Bearer(..)",
            Self::Verified(_) => "Verified(..)",
        })
    }
}

/// Who calls, once the credential was verified.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The name of the caller; owners of tasks and streams are compared by it.
    pub subject: Arc<str>,
    /// The scopes of the credential.
    pub scopes: Arc<[String]>,
    /// What the credential restricts beyond scopes; `None` if it restricts nothing.
    pub grant_limits: Option<Arc<dyn GrantLimits>>,
}

/// What a narrowed token restricts beyond scopes. Its faults name what is out of reach.
pub trait GrantLimits: std::fmt::Debug + Send + Sync {
    /// Fails if the token does not cover this SKU.
    fn require_sku(&self, sku: &str) -> Result<(), Fault>;

    /// Fails if the token does not cover this market.
    fn require_market(&self, market: &str) -> Result<(), Fault>;

    /// The prefixes of the SKUs that the token covers, for queries over many SKUs; `None` if it
    /// covers all.
    fn sku_prefixes(&self) -> Option<&[String]> {
        None
    }

    /// Whether the token is valid for this service.
    fn allows_service(&self, _service: &str) -> bool {
        true
    }

    /// Whether the token is limited to SKUs or markets.
    fn restricts_goods(&self) -> bool {
        true
    }
}

impl Caller {
    /// A caller whose credential restricts nothing beyond its scopes.
    pub fn new(subject: impl Into<Arc<str>>, scopes: impl Into<Arc<[String]>>) -> Self {
        Self { subject: subject.into(), scopes: scopes.into(), grant_limits: None }
    }

    /// The caller of a tool that needs no credential.
    pub fn anonymous() -> Self {
        Self::new("anonymous", [])
    }

    /// Whether the caller has this scope.
    pub fn may(&self, scope: Scope) -> bool {
        scope == Scope::Open || self.scopes.iter().any(|held| held == scope.as_str())
    }

    /// Fails if the credential does not cover this SKU.
    pub fn require_sku(&self, sku: &str) -> Result<(), Fault> {
        self.grant_limits.as_ref().map_or(Ok(()), |limits| limits.require_sku(sku))
    }

    /// The prefixes of the SKUs that the credential covers; `None` if it covers all.
    pub fn sku_prefixes(&self) -> Option<&[String]> {
        self.grant_limits.as_deref().and_then(GrantLimits::sku_prefixes)
    }

    /// Fails if the credential does not cover this market.
    pub fn require_market(&self, market: &str) -> Result<(), Fault> {
        self.grant_limits.as_ref().map_or(Ok(()), |limits| limits.require_market(market))
    }
}

/// Where a long call reports its progress. Reports may be dropped; nothing depends on them.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<ProgressSink>>);

type ProgressSink = dyn Fn(f64, Option<f64>, &str) + Send + Sync;

impl Progress {
    /// Sends reports to this function: work done, total work if known, message.
    pub fn to(sink: impl Fn(f64, Option<f64>, &str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(sink)))
    }

    /// Reports work done, total work if known, and a message.
    pub fn report(&self, done: f64, total: Option<f64>, message: &str) {
        if let Some(sink) = &self.0 {
            sink(done, total, message);
        }
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Progress(..)" } else { "Progress" })
    }
}

/// What a transport knows about a request before the call is decoded. The HTTP edge puts it into
/// the request's extensions, where every protocol on top finds it.
#[derive(Debug, Clone)]
pub struct RequestMeta {
    /// The id under which the request is logged and answered.
    pub request_id: Arc<str>,
    /// What the client presented.
    pub credential: Credential,
    /// The address of the client; `None` for a call from this machine's own process or over stdio.
    pub client: Option<IpAddr>,
    /// Whether the caller is the user who started this process, over stdio or on the command line.
    /// Such a caller may name files of this machine.
    pub is_local: bool,
}

impl RequestMeta {
    /// A request without a client address, of a caller who did not start this process.
    pub fn new(request_id: Arc<str>, credential: Credential) -> Self {
        Self { request_id, credential, client: None, is_local: false }
    }
}

/// The decoded part of a call: everything but which tool, stream or file it is for.
#[derive(Debug)]
pub struct Call {
    /// The arguments as they came.
    pub args: Map<String, Value>,
    /// The request that carried the call.
    pub meta: RequestMeta,
    /// The label of the transport in the metrics: `http`, `sse`, `ws`, `mcp`, `stdio`, `a2a`,
    /// `agent` or `local`.
    pub transport: &'static str,
    /// Cancelled when the client gives up.
    pub cancel: CancellationToken,
    /// Where the handler reports progress.
    pub progress: Progress,
}

impl Call {
    /// A call from this process itself, without a credential.
    pub fn new(args: Map<String, Value>) -> Self {
        let meta = RequestMeta::new(Arc::from("local"), Credential::None);
        Self {
            args,
            meta,
            transport: "local",
            cancel: CancellationToken::new(),
            progress: Progress::default(),
        }
    }
}

/// What a handler gets beside its arguments. Owned, so that a plain `async fn` is a handler.
#[derive(Debug)]
pub struct Cx<S> {
    /// The service the handler belongs to.
    pub service: Arc<S>,
    /// Who calls.
    pub caller: Caller,
    /// The id of the request, for logs and envelopes.
    pub request_id: Arc<str>,
    /// The address of the client, for limits per client; `None` if it is not known.
    pub client: Option<IpAddr>,
    /// Whether the caller is the user who started this process; see [`RequestMeta::is_local`].
    pub is_local: bool,
    /// When the pipeline stops waiting for the handler.
    pub deadline: Instant,
    /// Cancelled when the client gives up.
    pub cancel: CancellationToken,
    /// Where the handler reports progress.
    pub progress: Progress,
    /// Counts the streams that the handler opens itself.
    pub stream_metrics: StreamMetrics,
    /// The arguments that the caller left out and that the schema's defaults filled in.
    pub left_out: Vec<String>,
}

impl<S> Cx<S> {
    /// Whether the caller gave this argument; `false` if the handler sees the schema's default.
    pub fn is_given(&self, argument: &str) -> bool {
        !self.left_out.iter().any(|name| name == argument)
    }
}

/// A [`Cx`] before its service is known: the pipeline builds it, the tool's row adds the service.
pub(crate) struct CallContext {
    pub(crate) caller: Caller,
    pub(crate) request_id: Arc<str>,
    pub(crate) client: Option<IpAddr>,
    pub(crate) is_local: bool,
    pub(crate) deadline: Instant,
    pub(crate) cancel: CancellationToken,
    pub(crate) progress: Progress,
    pub(crate) stream_metrics: StreamMetrics,
    pub(crate) left_out: Vec<String>,
}

impl CallContext {
    pub(crate) fn with_service<S>(self, service: Arc<S>) -> Cx<S> {
        Cx {
            service,
            caller: self.caller,
            request_id: self.request_id,
            client: self.client,
            is_local: self.is_local,
            deadline: self.deadline,
            cancel: self.cancel,
            progress: self.progress,
            stream_metrics: self.stream_metrics,
            left_out: self.left_out,
        }
    }
}
