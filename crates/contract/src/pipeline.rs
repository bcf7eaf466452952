//! The steps every call of every transport takes, in this order:
//!
//! credential → input schema → scope → concurrency limit → handler, under a deadline and a cancel
//! signal → output schema → the contract's envelope if it failed → metrics.
//!
//! A transport resolves the tool before the pipeline starts, and the HTTP edge has refused clients
//! over their rate. A contract that carries the credential among its arguments has the scope
//! checked before the input schema.

use std::sync::Arc;
use std::time::Duration;

use fault::{Fault, Kind};
use serde_json::{Map, Value};
use tokio::sync::SemaphorePermit;
use tokio::time::Instant;

use crate::authenticator::Authenticator;
use crate::call::{Call, CallContext, Caller, Credential, Scope};
use crate::catalog::{Catalog, ToolRef};
use crate::concurrency::ConcurrencyLimiter;
use crate::cpu_pool::CpuPool;
use crate::credential_monitor::{self, ConnectionCredential, CredentialMonitor, CredentialWatch};
use crate::envelope::CallFailure;
use crate::meter::{CallRecord, Meter};
use crate::reply::Reply;
use crate::row_ref::StreamRef;
use crate::schema::Schema;
use crate::spec::TIMEOUT;
use crate::stream::{CutOffCounter, Subscription};
use crate::stream_metrics::StreamMetrics;
use crate::table::{HandlerFuture, Service};

mod task;
mod transfer;

/// A call with at least this timeout has its credential re-validated while it runs.
const LONG_CALL: Duration = Duration::from_mins(1);

/// Runs calls through the catalog's tools; see the module's documentation for the steps.
pub struct Pipeline {
    catalog: Catalog,
    authenticator: Arc<dyn Authenticator>,
    meter: Arc<dyn Meter>,
    credentials: Arc<CredentialMonitor>,
    /// Where large replies are written.
    pool: Arc<CpuPool>,
    /// How long a call may take, unless its contract or its caller says otherwise.
    timeout: Duration,
    /// Whether replies and events are validated against their schema: in tests and debug builds.
    validate_replies: bool,
}

/// What a call of a tool or an upload ends with.
pub type CallOutcome = Result<Box<dyn Reply>, CallFailure>;
/// What opening a stream ends with.
pub type StreamOutcome = Result<Subscription, CallFailure>;

/// How a transport received the arguments of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamInput {
    /// As a JSON object.
    Json,
    /// As a query string, decoded into a JSON object.
    Query,
}

/// What a call is about to do: call a tool, open a stream, or transfer a file.
struct Operation<'a> {
    service: &'a Service,
    name: &'a str,
    scope: Scope,
    /// `None` for uploads, whose form arrives while the handler runs.
    input: Option<&'a Schema>,
    timeout: Duration,
    /// `None` for streams and downloads, which only start here.
    limiter: Option<&'a ConcurrencyLimiter>,
    /// The caller, if the call is made on behalf of one that was authenticated before.
    caller: Option<&'a Caller>,
}

impl Pipeline {
    /// A pipeline whose calls take at most `timeout` unless their contract says otherwise.
    pub fn new(
        catalog: Catalog,
        authenticator: Arc<dyn Authenticator>,
        meter: Arc<dyn Meter>,
        timeout: Duration,
    ) -> Self {
        let credentials = CredentialMonitor::new(
            Arc::clone(&authenticator),
            Arc::clone(&meter),
            credential_monitor::RECHECK_INTERVAL,
        );
        let (pool, validate_replies) = (Arc::clone(CpuPool::shared()), cfg!(debug_assertions));
        Self { catalog, authenticator, meter, credentials, pool, timeout, validate_replies }
    }

    /// Writes large replies in this pool instead of the one of the process.
    #[must_use]
    pub fn with_pool(mut self, pool: Arc<CpuPool>) -> Self {
        self.pool = pool;
        self
    }

    /// Sets how often the credentials of open streams and long calls are re-validated.
    #[must_use]
    pub fn with_recheck_interval(mut self, every: Duration) -> Self {
        self.credentials =
            CredentialMonitor::new(Arc::clone(&self.authenticator), Arc::clone(&self.meter), every);
        self
    }

    /// The services and tools of this pipeline.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Authenticates the callers of this pipeline.
    pub fn authenticator(&self) -> &Arc<dyn Authenticator> {
        &self.authenticator
    }

    /// Verifies the credential of a connection that makes several calls of a service, such as a
    /// WebSocket; fails if a caller with this credential may not read there. The calls do not
    /// verify it again until it is revoked or expires.
    pub async fn admit_connection(
        &self,
        credential: &Credential,
        service: &Service,
    ) -> Result<ConnectionCredential, Fault> {
        // A credential that is not valid is left to `authenticate`, which lets it pass where anyone
        // may read, and words the refusal elsewhere.
        let verified = self.authenticator.verify(credential).await;
        let credential = verified.unwrap_or_else(|_| credential.clone());
        self.authenticator.authenticate(&credential, &service.name).await?;
        Ok(self.connection_credential(credential, &service.name))
    }

    /// Watches a credential that outlives its request, so that it is verified again only after it
    /// was revoked or has expired.
    pub fn connection_credential(
        &self,
        credential: Credential,
        service: &Arc<str>,
    ) -> ConnectionCredential {
        self.credentials.of_connection(credential, service)
    }

    /// Calls a tool.
    pub async fn call(&self, tool: &ToolRef, call: Call) -> CallOutcome {
        self.dispatch(None, tool, call).await
    }

    /// Calls a tool by name on the whole server; `None` if there is no such tool.
    pub async fn call_by_name(&self, name: &str, call: Call) -> Option<CallOutcome> {
        Some(self.call(self.catalog.find(None, name)?, call).await)
    }

    /// Calls a tool on behalf of a caller that was authenticated before, as handlers do that call
    /// other tools. The caller's scopes are checked as for any call.
    pub async fn call_for(&self, caller: &Caller, tool: &ToolRef, call: Call) -> CallOutcome {
        self.dispatch(Some(caller), tool, call).await
    }

    async fn dispatch(&self, caller: Option<&Caller>, tool: &ToolRef, call: Call) -> CallOutcome {
        let started = Instant::now();
        let transport = call.transport;
        let request_id = Arc::clone(&call.meta.request_id);
        let row = tool.row();
        let operation = Operation {
            service: tool.service(),
            name: &row.spec.name,
            scope: row.scope,
            input: Some(tool.input()),
            timeout: row.spec.timeout.unwrap_or(self.timeout),
            limiter: Some(&row.limiter),
            caller,
        };
        let mut repeated = Map::new();
        let reply = self.execute(&operation, call, started, &mut repeated, &row.handler).await;
        let reply = match reply {
            Ok(reply) if self.validate_replies => self.validate(tool, reply).await,
            reply => reply,
        };
        self.record(&operation, transport, started, reply.as_ref().err());
        reply.map_err(|fault| fail(&operation, &fault, &request_id, &repeated))
    }

    /// Fails if a reply does not match the output schema of its tool.
    async fn validate(
        &self,
        tool: &ToolRef,
        reply: Box<dyn Reply>,
    ) -> Result<Box<dyn Reply>, Fault> {
        let (tool, values) = (tool.clone(), reply.values());
        let work = move || tool.row().validate_reply(&*reply).map(|()| reply);
        self.pool.write(values, work).await?
    }

    /// Writes a reply in a transport's form, one of 20,000 values or more in the CPU pool. Fails
    /// with `overloaded` if the pool is full.
    pub async fn write<T: Send + 'static>(
        &self,
        reply: Box<dyn Reply>,
        form: impl FnOnce(&dyn Reply) -> T + Send + 'static,
    ) -> Result<T, Fault> {
        self.pool.write(reply.values(), move || form(&*reply)).await.inspect_err(|fault| {
            tracing::warn!(code = fault.code(), "a reply was not written: {fault}");
        })
    }

    /// Opens a subscription to a stream. The steps are those of a call, and the deadline covers the
    /// opening alone.
    pub async fn open(&self, stream: &StreamRef, call: Call, input: StreamInput) -> StreamOutcome {
        let (service, row) = (stream.service(), stream.row());
        let (started, transport) = (Instant::now(), call.transport);
        let meta = call.meta.clone();
        let spec = &row.spec;
        let schema = match (input, &spec.sse) {
            (StreamInput::Query, Some(sse)) => &sse.query,
            _ => &spec.input,
        };
        let operation = Operation {
            service,
            name: &spec.name,
            scope: row.scope,
            input: Some(schema),
            timeout: self.timeout,
            limiter: None,
            caller: None,
        };
        let mut repeated = Map::new();
        let result = self.execute(&operation, call, started, &mut repeated, &row.open).await;
        self.record(&operation, transport, started, result.as_ref().err());
        let subscription =
            result.map_err(|fault| fail(&operation, &fault, &meta.request_id, &repeated))?;
        let open = self.meter.stream_opened(&service.name, &spec.name, transport);
        let validated = self.validate_replies.then(|| Arc::clone(spec));
        let watch = self.credentials.watch(&meta.credential, &service.name, row.scope);
        let (meter, service) = (Arc::clone(&self.meter), Arc::clone(&service.name));
        let cut_off = CutOffCounter { meter, service };
        Ok(subscription.monitored(open, validated, watch, cut_off))
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

    /// Every step up to the handler's reply. `repeated` receives the arguments if the contract's
    /// envelope repeats them.
    async fn execute<T>(
        &self,
        operation: &Operation<'_>,
        mut call: Call,
        started: Instant,
        repeated: &mut Map<String, Value>,
        handler: impl FnOnce(CallContext, Map<String, Value>) -> HandlerFuture<T> + Send,
    ) -> Result<T, Fault> {
        let rules = &operation.service.access;
        if let Some(credential) = rules.take_credential(&mut call.args) {
            call.meta.credential = credential;
        }
        let caller = self.caller(operation, &call.meta.credential).await?;
        if operation.service.envelope.repeats_request() {
            repeated.clone_from(&call.args);
        }
        if rules.credential_argument.is_some() {
            self.authorize(operation, &caller)?;
        }
        let left_out = operation.input.map(|input| input.left_out(&call.args)).unwrap_or_default();
        let mut args = operation.input.map_or(Ok(Map::new()), |input| input.accept(call.args))?;
        rules.remove_placeholder(&mut args);
        if rules.credential_argument.is_none() {
            self.authorize(operation, &caller)?;
        }
        let timeout = requested_timeout(operation, &args).unwrap_or(operation.timeout);
        let deadline = started + timeout;
        let cancel = call.cancel.clone();
        let is_long =
            timeout >= LONG_CALL && operation.limiter.is_some() && operation.caller.is_none();
        let watch = match is_long {
            true => {
                let credential = &call.meta.credential;
                self.credentials.watch(credential, &operation.service.name, operation.scope)
            }
            false => None,
        };
        let cx = CallContext {
            caller,
            request_id: call.meta.request_id,
            client: call.meta.client,
            is_local: call.meta.is_local,
            deadline,
            cancel: call.cancel,
            progress: call.progress,
            stream_metrics: StreamMetrics {
                meter: Arc::clone(&self.meter),
                service: Arc::clone(&operation.service.name),
                transport: call.transport,
            },
            left_out,
        };
        let reply = async {
            let _permit = self.acquire_permit(operation).await?;
            handler(cx, args).await
        };
        // The handler is polled first: one that answers at once needs no timer.
        tokio::select! {
            biased;
            reply = tokio::time::timeout_at(deadline, reply) => {
                reply.map_err(|_| deadline_exceeded(timeout))?
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
        if let Some(caller) = operation.caller {
            return Ok(caller.clone());
        }
        let service = &operation.service.name;
        if operation.scope != Scope::Open {
            return self.authenticator.authenticate_for(credential, service, operation.scope).await;
        }
        let identifies = operation.service.access.identifies_callers;
        let known = match credential.token().filter(|_| identifies) {
            Some(_) => self.authenticator.identify(credential, service).await,
            None => None,
        };
        Ok(known.unwrap_or_else(Caller::anonymous))
    }

    /// Waits for a permit of the tool, within the call's deadline.
    async fn acquire_permit<'a>(
        &self,
        operation: &Operation<'a>,
    ) -> Result<Option<SemaphorePermit<'a>>, Fault> {
        let Some(limiter) = operation.limiter else { return Ok(None) };
        if let Some(permit) = limiter.try_acquire() {
            return Ok(Some(permit));
        }
        let slot = limiter.enqueue(operation.name)?;
        let _queued = self.meter.call_queued(&operation.service.name, operation.name);
        slot.acquire().await.map(Some)
    }

    fn authorize(&self, operation: &Operation<'_>, caller: &Caller) -> Result<(), Fault> {
        if operation.scope == Scope::Open {
            return Ok(());
        }
        let denied = (!caller.may(operation.scope)).then(|| scope_missing(operation));
        let service = &operation.service.name;
        self.authenticator.on_authorization(service, operation.scope, denied.as_ref());
        denied.map_or(Ok(()), Err)
    }

    /// Counts a stream that its transport cut off.
    pub fn record_cut_off(&self, service: &str, code: &'static str) {
        tracing::info!(service, code, "a stream was cut off");
        self.meter.stream_cut_off(service, code);
    }
}

/// The timeout that the caller asked for, if the contract has such an argument. The schema has
/// bounded it.
fn requested_timeout(operation: &Operation<'_>, args: &Map<String, Value>) -> Option<Duration> {
    let requested = args.get(TIMEOUT)?.as_u64()?;
    let is_declared = operation.input?.json()["properties"][TIMEOUT].is_object();
    is_declared.then(|| Duration::from_millis(requested))
}

fn scope_missing(operation: &Operation<'_>) -> Fault {
    let (name, scope) = (operation.name, operation.scope.as_str());
    let message = format!(
        "{name} needs the scope {scope:?}, which this credential does not have; mint one with \
         `stoa token mint --scope {scope}`"
    );
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

fn deadline_exceeded(timeout: Duration) -> Fault {
    let message = format!("no answer within {} s", timeout.as_secs_f32());
    Fault::new(Kind::Timeout, "deadline", message).retry_after(Duration::from_secs(1))
}

/// Logs a failed call with its private cause, which is never sent, and builds its envelope.
fn fail(
    operation: &Operation<'_>,
    fault: &Fault,
    request_id: &str,
    args: &Map<String, Value>,
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
    operation.service.tool_failure(operation.name, fault, request_id, args)
}
