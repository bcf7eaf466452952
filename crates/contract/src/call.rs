//! A call on its way in: who asks for what, and what a handler is given.

use std::sync::Arc;
use std::time::Duration;

use fault::Fault;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::stream_metrics::StreamMetrics;

/// What a caller must be allowed to do before a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Nothing: anybody may, and no credential is looked at unless the contract recognises callers.
    Open,
    Read,
    Write,
    Collect,
    Import,
    Propose,
    Explain,
    Apply,
    Admin,
}

impl Scope {
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

/// What came with the request to prove who is asking. Never printed.
#[derive(Clone, Default)]
pub enum Credential {
    #[default]
    None,
    Bearer(Arc<str>),
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Bearer(_) => "Bearer(..)",
        })
    }
}

/// Who is asking, once the credential has been looked at.
#[derive(Debug, Clone)]
pub struct Caller {
    pub subject: Arc<str>,
    pub scopes: Arc<[String]>,
    /// Absent where the credential reaches everything.
    pub grant_limits: Option<Arc<dyn GrantLimits>>,
}

/// How far a credential reaches, for the contracts that have goods and markets. Refusals say what
/// lies outside.
pub trait GrantLimits: std::fmt::Debug + Send + Sync {
    fn require_sku(&self, sku: &str) -> Result<(), Fault>;
    fn require_market(&self, market: &str) -> Result<(), Fault>;

    /// What the SKUs within grant_limits begin with, for those who look through many; `None` where every
    /// SKU is within grant_limits.
    fn sku_prefixes(&self) -> Option<&[String]> {
        None
    }
}

impl Caller {
    /// A caller whose scopes are not limited any further.
    pub fn new(subject: impl Into<Arc<str>>, scopes: impl Into<Arc<[String]>>) -> Self {
        Self { subject: subject.into(), scopes: scopes.into(), grant_limits: None }
    }

    /// Who asks where nobody has to say.
    pub fn anonymous() -> Self {
        Self::new("anonymous", [])
    }

    pub fn may(&self, scope: Scope) -> bool {
        scope == Scope::Open || self.scopes.iter().any(|held| held == scope.as_str())
    }

    /// Fails where the credential does not grant_limits this SKU.
    pub fn require_sku(&self, sku: &str) -> Result<(), Fault> {
        self.grant_limits.as_ref().map_or(Ok(()), |limits| limits.require_sku(sku))
    }

    /// What the SKUs within grant_limits begin with; `None` where every SKU is.
    pub fn sku_prefixes(&self) -> Option<&[String]> {
        self.grant_limits.as_deref().and_then(GrantLimits::sku_prefixes)
    }

    /// Fails where the credential does not grant_limits this market.
    pub fn require_market(&self, market: &str) -> Result<(), Fault> {
        self.grant_limits.as_ref().map_or(Ok(()), |limits| limits.require_market(market))
    }
}

/// Where a long call reports how far it is. Reports may be dropped; nothing depends on them.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<ProgressSink>>);

type ProgressSink = dyn Fn(f64, Option<f64>, &str) + Send + Sync;

impl Progress {
    pub fn to(sink: impl Fn(f64, Option<f64>, &str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(sink)))
    }

    pub fn report(&self, done: f64, total: Option<f64>, message: &str) {
        if let Some(sink) = &self.0 {
            sink(done, total, message);
        }
    }

    /// Whether anybody asked to hear: what costs something to say need not be said to nobody.
    pub fn is_requested(&self) -> bool {
        self.0.is_some()
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Progress(..)" } else { "Progress" })
    }
}

/// What the edge of a transport learnt about a request before anything decoded it. HTTP puts it
/// into the request's extensions, where every protocol on top finds it.
#[derive(Debug, Clone)]
pub struct RequestMeta {
    pub request_id: Arc<str>,
    /// Set when the client has used up its rate; says when to come back.
    pub retry_after_rate: Option<Duration>,
    pub credential: Credential,
}

/// A call as a transport decoded it.
#[derive(Debug)]
pub struct Call {
    /// The tool's name in any spelling; see [`crate::Catalog::find`].
    pub tool: String,
    /// The service the caller addressed, where the transport's path names one.
    pub service: Option<Arc<str>>,
    pub args: Map<String, Value>,
    pub credential: Credential,
    /// `http`, `mcp` or `stdio`, for the metrics.
    pub transport: &'static str,
    pub request_id: Arc<str>,
    /// Set when the client has used up its rate; says when to come back.
    pub retry_after_rate: Option<Duration>,
    pub cancel: CancellationToken,
    pub progress: Progress,
}

impl Call {
    /// A call with nothing but a name and arguments, from this process itself.
    pub fn new(tool: impl Into<String>, args: Map<String, Value>) -> Self {
        Self {
            tool: tool.into(),
            service: None,
            args,
            credential: Credential::None,
            transport: "local",
            request_id: Arc::from("local"),
            retry_after_rate: None,
            cancel: CancellationToken::new(),
            progress: Progress::default(),
        }
    }
}

/// What a handler is given beside its arguments. Owned, so that a plain `async fn` is a handler.
#[derive(Debug)]
pub struct Cx<S> {
    pub service: Arc<S>,
    pub caller: Caller,
    pub request_id: Arc<str>,
    /// When the answer stops being of use.
    pub deadline: Instant,
    pub cancel: CancellationToken,
    pub progress: Progress,
    /// For those who follow a stream while they work.
    pub stream_metrics: StreamMetrics,
}

impl Cx<()> {
    /// The same for the handlers of a service.
    pub(crate) fn of<S>(self, service: Arc<S>) -> Cx<S> {
        let Self { caller, request_id, deadline, cancel, progress, stream_metrics, .. } = self;
        Cx { service, caller, request_id, deadline, cancel, progress, stream_metrics }
    }
}
