//! The one way through the house. Every call of every transport takes these steps in this order:
//!
//! identify the tool → credential → rate limit → input schema → scope → handler, under a deadline
//! and a cancel signal → output schema → the contract's envelope if it failed → the meter.
//!
//! Nothing here knows a service, and no service repeats a step.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use fault::{Fault, Kind};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::call::{Call, Caller, Credential, Cx, Scope};
use crate::catalog::Catalog;
use crate::envelope::{Failure, FailureContext};
use crate::reply::Reply;
use crate::table::{Service, ToolRow};

/// Turns a credential into a caller; the server implements it over `auth`.
#[async_trait]
pub trait Gate: Send + Sync {
    async fn admit(&self, credential: &Credential, service: &str) -> Result<Caller, Fault>;

    /// Told of every scope that was asked for, for those who count.
    fn decided(&self, _service: &str, _scope: Scope, _denied: Option<&Fault>) {}
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
}

pub struct Pipeline {
    catalog: Catalog,
    gate: Arc<dyn Gate>,
    meter: Arc<dyn Meter>,
    /// How long any call may take.
    patience: Duration,
    /// Whether replies are held against their schema: always in tests and debug builds.
    check_replies: bool,
}

pub type Outcome = Result<Box<dyn Reply>, Failure>;

impl Pipeline {
    pub fn new(
        catalog: Catalog,
        gate: Arc<dyn Gate>,
        meter: Arc<dyn Meter>,
        patience: Duration,
    ) -> Self {
        Self { catalog, gate, meter, patience, check_replies: cfg!(debug_assertions) }
    }

    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Carries one call through. `None` when there is no such tool, which is the transport's to
    /// say in its own protocol.
    pub async fn call(&self, call: Call) -> Option<Outcome> {
        let (service, tool) = self.catalog.find(call.service.as_deref(), &call.tool)?;
        let started = Instant::now();
        let transport = call.transport;
        let request_id = Arc::clone(&call.request_id);
        // Envelopes may repeat the request, so its arguments are kept where they are small.
        let mut asked = Map::new();
        let result = self.steps(service, tool, call, started, &mut asked).await;
        self.meter.record(&CallRecord {
            service: &service.name,
            tool: &tool.spec.name,
            transport,
            failed: result.as_ref().err().map(Fault::code),
            elapsed: started.elapsed(),
        });
        Some(result.map_err(|fault| fail(service, tool, &fault, &request_id, &asked)))
    }

    async fn steps(
        &self,
        service: &Service,
        tool: &ToolRow,
        call: Call,
        started: Instant,
        asked: &mut Map<String, Value>,
    ) -> Result<Box<dyn Reply>, Fault> {
        let caller = self.gate.admit(&call.credential, &service.name).await?;
        if let Some(wait) = call.refused_for {
            return Err(rate_limited(wait));
        }
        if service.envelope.repeats_request() {
            asked.clone_from(&call.args);
        }
        let args = tool.spec.input.accept(call.args)?;
        self.authorise(service, tool, &caller)?;
        let deadline = started + self.patience;
        let cx = Cx {
            service: Arc::new(()),
            caller,
            request_id: call.request_id,
            deadline,
            cancel: call.cancel.clone(),
            progress: call.progress,
        };
        // The handler first: one that answers at once needs neither a timer nor a waiter.
        let reply = tokio::select! {
            biased;
            reply = tokio::time::timeout_at(deadline, (tool.handler)(cx, args)) => {
                reply.map_err(|_| too_slow(self.patience))??
            }
            () = call.cancel.cancelled() => return Err(cancelled()),
        };
        if self.check_replies {
            tool.spec.output.check(&reply.result()).map_err(|fault| {
                Fault::internal(format!("{} broke its own contract: {fault}", tool.spec.name))
            })?;
        }
        Ok(reply)
    }

    fn authorise(&self, service: &Service, tool: &ToolRow, caller: &Caller) -> Result<(), Fault> {
        let denied = (!caller.may(tool.scope)).then(|| scope_missing(tool));
        self.gate.decided(&service.name, tool.scope, denied.as_ref());
        denied.map_or(Ok(()), Err)
    }

    /// A refusal that happens before a tool is reached (a body too large, a path that does not
    /// decode), in the words of the service that was addressed.
    pub fn refuse(&self, service: &str, fault: &Fault, request_id: &str) -> Option<Failure> {
        let service = self.catalog.service(service)?;
        Some(envelop(service, fault, request_id, &Map::new()))
    }
}

fn rate_limited(wait: Duration) -> Fault {
    let message = "too many requests; wait before the next one";
    Fault::new(Kind::RateLimited, "rate_limited", message).retry_after(wait)
}

fn scope_missing(tool: &ToolRow) -> Fault {
    let (name, scope) = (&tool.spec.name, tool.scope.word());
    let message = format!("{name} needs the scope {scope:?}, which this credential does not have");
    Fault::new(Kind::Forbidden, "scope_missing", message)
}

fn cancelled() -> Fault {
    Fault::new(Kind::Cancelled, "cancelled", "the caller cancelled the request")
}

fn too_slow(patience: Duration) -> Fault {
    let message = format!("no answer within {} s", patience.as_secs_f32());
    Fault::new(Kind::Timeout, "deadline", message).retry_after(Duration::from_secs(1))
}

/// The only place where a failed call is logged: with its cause, which is never sent.
fn fail(
    service: &Service,
    tool: &ToolRow,
    fault: &Fault,
    request_id: &str,
    asked: &Map<String, Value>,
) -> Failure {
    let cause = std::error::Error::source(fault).map(ToString::to_string);
    let tool = tool.spec.name.as_str();
    match fault.kind() {
        Kind::Internal => {
            tracing::error!(request_id, tool, code = fault.code(), cause, "{fault}");
        }
        Kind::Unavailable | Kind::Timeout => {
            tracing::warn!(request_id, tool, code = fault.code(), cause, "{fault}");
        }
        _ => tracing::debug!(request_id, tool, code = fault.code(), cause, "{fault}"),
    }
    envelop(service, fault, request_id, asked)
}

fn envelop(
    service: &Service,
    fault: &Fault,
    request_id: &str,
    asked: &Map<String, Value>,
) -> Failure {
    let row = service.errors.row(fault);
    let cx = FailureContext { request_id, args: asked, row };
    let failure = Failure {
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
