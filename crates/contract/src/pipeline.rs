//! The one way through the house. Every call of every transport takes these steps in this order:
//!
//! identify the tool → credential → rate limit → input schema → scope → a turn at the tool →
//! handler, under a deadline and a cancel signal → output schema → the contract's envelope if it
//! failed → the meter.
//!
//! Where a contract carries the credential among its arguments, the scope is asked for before the
//! input is looked at.
//!
//! Nothing here knows a service, and no service repeats a step.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use fault::{Fault, Kind};
use serde_json::{Map, Value};
use tokio::sync::SemaphorePermit;
use tokio::time::Instant;

use crate::call::{Call, Caller, Credential, Cx, Scope};
use crate::catalog::Catalog;
use crate::concurrency::{Concurrency, ConcurrencyLimiter};
use crate::credential_monitor::{self, CredentialMonitor, CredentialWatch};
use crate::envelope::{CallFailure, FailureContext};
use crate::reply::Reply;
use crate::schema::Schema;
use crate::spec::TIMEOUT;
use crate::stream::{CutOffCounter, Subscription};
use crate::stream_metrics::StreamMetrics;
use crate::table::{Answer, Service, ToolRow};

mod task;
mod transfer;

/// ConcurrencyLimiter a credential into a caller; the server implements it over `auth`.
#[async_trait]
pub trait Authenticator: Send + Sync {
    async fn authenticate(&self, credential: &Credential, service: &str) -> Result<Caller, Fault>;

    /// The same for a call that needs this scope, so that a refusal can say which.
    async fn authenticate_for(
        &self,
        credential: &Credential,
        service: &str,
        _scope: Scope,
    ) -> Result<Caller, Fault> {
        self.authenticate(credential, service).await
    }

    /// Who shows this credential, where nothing depends on it: what is wrong with it is nobody's
    /// concern, and is not counted.
    async fn identify(&self, credential: &Credential, service: &str) -> Option<Caller> {
        self.authenticate(credential, service).await.ok()
    }

    /// Whether the callers of a service may show their credential in the call itself, so that the
    /// edge must let them come that far.
    fn accepts_in_call_credentials(&self, _service: &str) -> bool {
        false
    }

    /// How long a credential that is execute now can be good at most, where that is known.
    fn expires_in(&self, _credential: &Credential) -> Option<Duration> {
        None
    }

    /// Told of every scope that was asked for, for those who count.
    fn on_authorization(&self, _service: &str, _scope: Scope, _denied: Option<&Fault>) {}
}

/// What one call came to, for the metrics.
#[derive(Debug)]
pub struct CallRecord<'a> {
    pub service: &'a str,
    pub tool: &'a str,
    pub transport: &'static str,
    /// `None` for success, else the fault's code.
    pub failed: Option<&'static str>,
    pub elapsed: Duration,
}

pub trait Meter: Send + Sync {
    fn record(&self, record: &CallRecord<'_>);

    /// Told of every subscription; what it returns is dropped when the subscription ends.
    fn stream_opened(
        &self,
        _service: &str,
        _stream: &str,
        _transport: &str,
    ) -> Box<dyn Send + Sync> {
        Box::new(())
    }

    /// Told when a stream is ended before its reader wanted it to be: its credential is good no
    /// more, or it does not read.
    fn stream_cut_off(&self, _service: &str, _code: &'static str) {}

    /// Told of every call that has to wait for its turn; what it returns is dropped when it no
    /// longer does.
    fn call_queued(&self, _service: &str, _tool: &str) -> Box<dyn Send + Sync> {
        Box::new(())
    }
}

/// A call that may take this long has its credential looked at again meanwhile.
const LONG: Duration = Duration::from_mins(1);

pub struct Pipeline {
    catalog: Catalog,
    authenticator: Arc<dyn Authenticator>,
    meter: Arc<dyn Meter>,
    /// Those who have something open, and whether they still may.
    monitor: Arc<CredentialMonitor>,
    /// How long a call may take, unless its contract or its caller says otherwise.
    timeout: Duration,
    /// Whether replies are held against their schema: always in tests and debug builds.
    check_replies: bool,
}

pub type CallOutcome = Result<Box<dyn Reply>, CallFailure>;
pub type StreamOutcome = Result<Subscription, CallFailure>;

/// How a subscription came: as a JSON object, or as a query that was made into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamInput {
    Json,
    Query,
}

/// What a call is about to do, be it of a tool, a stream, an upload or a download.
struct Operation<'a> {
    service: &'a Service,
    name: &'a str,
    scope: Scope,
    /// Absent for uploads, whose form comes while the handler works.
    input: Option<&'a Schema>,
    timeout: Duration,
    /// Absent for streams, which only begin here.
    limiter: Option<&'a ConcurrencyLimiter>,
    /// The caller, if it is known already.
    known: Option<&'a Caller>,
}

impl Pipeline {
    pub fn new(
        catalog: Catalog,
        authenticator: Arc<dyn Authenticator>,
        meter: Arc<dyn Meter>,
        timeout: Duration,
    ) -> Self {
        let monitor = CredentialMonitor::new(
            Arc::clone(&authenticator),
            Arc::clone(&meter),
            credential_monitor::RECHECK_INTERVAL,
        );
        Self {
            catalog,
            authenticator,
            meter,
            monitor,
            timeout,
            check_replies: cfg!(debug_assertions),
        }
    }

    /// How often the credentials of what is open are looked at again.
    #[must_use]
    pub fn with_recheck_interval(mut self, every: Duration) -> Self {
        self.monitor =
            CredentialMonitor::new(Arc::clone(&self.authenticator), Arc::clone(&self.meter), every);
        self
    }

    /// How many calls of a tool run at once and wait, where its contract has no number of its own.
    #[must_use]
    pub fn with_default_concurrency(mut self, usual: Concurrency) -> Self {
        self.catalog.limit(usual);
        self
    }

    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Carries one call through. `None` when there is no such tool, which is the transport's to
    /// say in its own protocol.
    pub async fn call(&self, call: Call) -> Option<CallOutcome> {
        self.dispatch(None, call).await
    }

    /// The same for a caller whose credential was looked at before: for the calls that a handler
    /// makes on behalf of its own caller. Scopes are asked for as ever.
    pub async fn call_for(&self, caller: &Caller, call: Call) -> Option<CallOutcome> {
        self.dispatch(Some(caller), call).await
    }

    async fn dispatch(&self, known: Option<&Caller>, call: Call) -> Option<CallOutcome> {
        let (service, tool) = self.catalog.find(call.service.as_deref(), &call.tool)?;
        let started = Instant::now();
        let transport = call.transport;
        let request_id = Arc::clone(&call.request_id);
        let spec = &tool.spec;
        let operation = Operation {
            service,
            name: &spec.name,
            scope: tool.scope,
            input: Some(spec.input_for(call.service.is_some())),
            timeout: spec.timeout.unwrap_or(self.timeout),
            limiter: Some(&tool.limiter),
            known,
        };
        // Envelopes may repeat the request, so its arguments are kept where they are small.
        let mut asked = Map::new();
        let result = self.steps(&operation, tool, call, started, &mut asked).await;
        self.record(&operation, transport, started, result.as_ref().err());
        Some(result.map_err(|fault| fail(&operation, &fault, &request_id, &asked)))
    }

    /// Opens a subscription to a stream of a service; `call.tool` is the stream's name. The steps
    /// are those of a call, and the deadline is that of its beginning.
    pub async fn open(&self, call: Call, input: StreamInput) -> Option<StreamOutcome> {
        let service = call.service.clone()?;
        let (service, stream) = self.catalog.stream(&service, &call.tool)?;
        let (started, transport) = (Instant::now(), call.transport);
        let request_id = Arc::clone(&call.request_id);
        let credential = call.credential.clone();
        let spec = &stream.spec;
        let schema = match (input, &spec.sse) {
            (StreamInput::Query, Some(sse)) => &sse.query,
            _ => &spec.input,
        };
        let operation = Operation {
            service,
            name: &spec.name,
            scope: stream.scope,
            input: Some(schema),
            timeout: self.timeout,
            limiter: None,
            known: None,
        };
        let mut asked = Map::new();
        let result = self.execute(&operation, call, started, &mut asked, &stream.open).await;
        self.record(&operation, transport, started, result.as_ref().err());
        Some(match result {
            Ok(opened) => {
                let open = self.meter.stream_opened(&service.name, &spec.name, transport);
                let checked = self.check_replies.then(|| Arc::clone(spec));
                let watch = self.monitor.watch(&credential, &service.name, stream.scope);
                let cut_off = CutOffCounter {
                    meter: Arc::clone(&self.meter),
                    service: Arc::clone(&service.name),
                };
                Ok(opened.monitored(open, checked, watch, cut_off))
            }
            Err(fault) => Err(fail(&operation, &fault, &request_id, &asked)),
        })
    }

    fn record(
        &self,
        operation: &Operation<'_>,
        transport: &'static str,
        started: Instant,
        failed: Option<&Fault>,
    ) {
        self.meter.record(&CallRecord {
            service: &operation.service.name,
            tool: operation.name,
            transport,
            failed: failed.map(Fault::code),
            elapsed: started.elapsed(),
        });
    }

    async fn steps(
        &self,
        operation: &Operation<'_>,
        tool: &ToolRow,
        call: Call,
        started: Instant,
        asked: &mut Map<String, Value>,
    ) -> Result<Box<dyn Reply>, Fault> {
        let reply = self.execute(operation, call, started, asked, &tool.handler).await?;
        if self.check_replies {
            tool.validate_reply(&*reply)?;
        }
        Ok(reply)
    }

    /// Everything up to the handler's answer.
    async fn execute<T>(
        &self,
        operation: &Operation<'_>,
        mut call: Call,
        started: Instant,
        asked: &mut Map<String, Value>,
        handler: impl FnOnce(Cx<()>, Map<String, Value>) -> Answer<T> + Send,
    ) -> Result<T, Fault> {
        let rules = &operation.service.access;
        if let Some(given) = rules.take_credential(&mut call.args) {
            call.credential = given;
        }
        let caller = self.caller(operation, &call.credential).await?;
        if let Some(wait) = call.retry_after_rate {
            return Err(rate_limited(wait));
        }
        if operation.service.envelope.repeats_request() {
            asked.clone_from(&call.args);
        }
        if rules.credential_argument.is_some() {
            self.authorise(operation, &caller)?;
        }
        let mut args = operation.input.map_or(Ok(Map::new()), |input| input.accept(call.args))?;
        rules.remove_placeholder(&mut args);
        if rules.credential_argument.is_none() {
            self.authorise(operation, &caller)?;
        }
        let timeout = requested_timeout(operation, &args).unwrap_or(operation.timeout);
        let deadline = started + timeout;
        let cancel = call.cancel.clone();
        // A call that may go on for long is a stream in all but name.
        let long = timeout >= LONG && operation.limiter.is_some() && operation.known.is_none();
        let watch = match long {
            true => self.monitor.watch(&call.credential, &operation.service.name, operation.scope),
            false => None,
        };
        let cx = Cx {
            service: Arc::new(()),
            caller,
            request_id: call.request_id,
            deadline,
            cancel: call.cancel,
            progress: call.progress,
            stream_metrics: StreamMetrics {
                meter: Arc::clone(&self.meter),
                service: Arc::clone(&operation.service.name),
                transport: call.transport,
            },
        };
        let work = async {
            let _permit = self.acquire_permit(operation).await?;
            handler(cx, args).await
        };
        // The handler first: one that answers at once needs neither a timer nor a waiter.
        tokio::select! {
            biased;
            reply = tokio::time::timeout_at(deadline, work) => {
                reply.map_err(|_| too_slow(timeout))?
            }
            () = cancel.cancelled() => Err(cancelled()),
            fault = revoked(watch.as_deref()) => Err(fault),
        }
    }

    async fn caller(
        &self,
        operation: &Operation<'_>,
        credential: &Credential,
    ) -> Result<Caller, Fault> {
        let name = &operation.service.name;
        if let Some(known) = operation.known {
            return Ok(known.clone());
        }
        if operation.scope != Scope::Open {
            return self.authenticator.authenticate_for(credential, name, operation.scope).await;
        }
        let known = match credential {
            Credential::Bearer(_) if operation.service.access.identifies_callers => {
                self.authenticator.identify(credential, name).await
            }
            _ => None,
        };
        Ok(known.unwrap_or_else(Caller::anonymous))
    }

    /// Waits for a permit of the tool, within the caller's deadline.
    async fn acquire_permit<'a>(
        &self,
        operation: &Operation<'a>,
    ) -> Result<Option<SemaphorePermit<'a>>, Fault> {
        let Some(limiter) = operation.limiter else { return Ok(None) };
        if let Some(permit) = limiter.try_acquire() {
            return Ok(Some(permit));
        }
        let slot = limiter.enqueue(operation.name)?;
        let _shown = self.meter.call_queued(&operation.service.name, operation.name);
        slot.acquire().await.map(Some)
    }

    fn authorise(&self, operation: &Operation<'_>, caller: &Caller) -> Result<(), Fault> {
        if operation.scope == Scope::Open {
            return Ok(());
        }
        let denied = (!caller.may(operation.scope)).then(|| scope_missing(operation));
        self.authenticator.on_authorization(
            &operation.service.name,
            operation.scope,
            denied.as_ref(),
        );
        denied.map_or(Ok(()), Err)
    }

    /// Whether a tool needs no credential.
    pub fn is_for_anybody(&self, service: Option<&str>, tool: &str) -> bool {
        self.catalog.find(service, tool).is_some_and(|(_, row)| row.scope == Scope::Open)
    }

    /// Counts a stream that was cut off by its transport.
    pub fn record_cut_off(&self, service: &str, code: &'static str) {
        tracing::info!(service, code, "a stream was cut off");
        self.meter.stream_cut_off(service, code);
    }

    /// A refusal that happens before a tool is reached (a body too large, a path that does not
    /// decode), in the words of the service that was addressed.
    pub fn failure_for(
        &self,
        service: &str,
        fault: &Fault,
        request_id: &str,
    ) -> Option<CallFailure> {
        let service = self.catalog.service(service)?;
        Some(envelop(service, "", fault, request_id, &Map::new()))
    }
}

/// How long the caller itself gives the call, where the contract lets it say so. The schema has
/// checked it.
fn requested_timeout(operation: &Operation<'_>, args: &Map<String, Value>) -> Option<Duration> {
    let asked = args.get(TIMEOUT)?.as_u64()?;
    let promised = operation.input?.json()["properties"][TIMEOUT].is_object();
    promised.then(|| Duration::from_millis(asked))
}

fn rate_limited(wait: Duration) -> Fault {
    let message = "too many requests; wait before the next one";
    Fault::new(Kind::RateLimited, "rate_limited", message).retry_after(wait)
}

fn scope_missing(operation: &Operation<'_>) -> Fault {
    let (name, scope) = (operation.name, operation.scope.as_str());
    let message = format!("{name} needs the scope {scope:?}, which this credential does not have");
    Fault::new(Kind::Forbidden, "scope_missing", message)
}

/// Waits until the credential is revoked; for ever if none is watched.
async fn revoked(watch: Option<&CredentialWatch>) -> Fault {
    if let Some(watch) = watch {
        watch.revoked().await;
        if let Some(fault) = watch.revocation() {
            return fault;
        }
    }
    std::future::pending().await
}

fn cancelled() -> Fault {
    Fault::new(Kind::Cancelled, "cancelled", "the caller cancelled the request")
}

fn too_slow(timeout: Duration) -> Fault {
    let message = format!("no answer within {} s", timeout.as_secs_f32());
    Fault::new(Kind::Timeout, "deadline", message).retry_after(Duration::from_secs(1))
}

/// The only place where a failed call is logged: with its cause, which is never sent.
fn fail(
    operation: &Operation<'_>,
    fault: &Fault,
    request_id: &str,
    asked: &Map<String, Value>,
) -> CallFailure {
    let cause = std::error::Error::source(fault).map(ToString::to_string);
    let tool = operation.name;
    match fault.kind() {
        Kind::Internal => {
            tracing::error!(request_id, tool, code = fault.code(), cause, "{fault}");
        }
        Kind::Unavailable | Kind::Timeout => {
            tracing::warn!(request_id, tool, code = fault.code(), cause, "{fault}");
        }
        _ => tracing::debug!(request_id, tool, code = fault.code(), cause, "{fault}"),
    }
    envelop(operation.service, operation.name, fault, request_id, asked)
}

fn envelop(
    service: &Service,
    tool: &str,
    fault: &Fault,
    request_id: &str,
    asked: &Map<String, Value>,
) -> CallFailure {
    let row = service.errors.row(fault);
    let cx = FailureContext { tool, request_id, args: asked, row };
    let failure = CallFailure {
        kind: fault.kind(),
        code: fault.code(),
        http_status: row.http_status,
        retry_after: fault.retry_wait(),
        tool_error: service.envelope.tool_error(fault, &cx),
        http_body: service.envelope.http_body(fault, &cx),
    };
    debug_assert!(service.errors.envelope.check(&failure.tool_error).is_ok());
    debug_assert!(service.errors.http_envelope.check(&failure.http_body).is_ok());
    failure
}
