//! The table that binds a contract's tools to handlers; neither side may have one the other lacks.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use fault::Fault;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::call::{Cx, Scope};
use crate::envelope::Envelope;
use crate::files::ContractError;
use crate::reply::Reply;
use crate::spec::{Contract, ToolSpec};

type Answer = Pin<Box<dyn Future<Output = Result<Box<dyn Reply>, Fault>> + Send>>;
type Handler = Box<dyn Fn(Cx<()>, Map<String, Value>) -> Answer + Send + Sync>;

/// A service's rows while they are being written down.
pub struct Tools<S> {
    service: Arc<S>,
    rows: Vec<(&'static str, Scope, Handler)>,
}

impl<S: Send + Sync + 'static> Tools<S> {
    pub fn of(service: Arc<S>) -> Self {
        Self { service, rows: Vec::new() }
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
        let service = Arc::clone(&self.service);
        let boxed: Handler = Box::new(move |cx, args| {
            let (service, handler) = (Arc::clone(&service), handler.clone());
            Box::pin(async move {
                // The schema has been checked, so a mismatch here is a contract our types missed.
                let args: A =
                    serde_json::from_value(Value::Object(args)).map_err(Fault::internal)?;
                let cx = Cx {
                    service,
                    caller: cx.caller,
                    request_id: cx.request_id,
                    deadline: cx.deadline,
                    cancel: cx.cancel,
                    progress: cx.progress,
                };
                let reply = handler(cx, args).await?;
                Ok(Box::new(reply) as Box<dyn Reply>)
            })
        });
        self.rows.push((name, scope, boxed));
        self
    }

    /// Joins the rows with their contract; fails on a row without a tool or a tool without a row.
    pub fn bind(
        self,
        contract: Contract,
        envelope: impl Envelope + 'static,
    ) -> Result<Service, ContractError> {
        let Contract { service, title, version, summary, instructions, documents, tools, errors } =
            contract;
        let mut rows = self.rows;
        let mut bound = Vec::new();
        for spec in tools {
            let at = rows.iter().position(|(name, ..)| *name == spec.name).ok_or_else(|| {
                ContractError(format!("{service}: no handler for the contract's {}", spec.name))
            })?;
            let (_, scope, handler) = rows.swap_remove(at);
            bound.push(ToolRow { spec, scope, handler });
        }
        if let Some((name, ..)) = rows.first() {
            return Err(ContractError(format!("{service}: {name} is not in the contract")));
        }
        Ok(Service {
            name: Arc::from(service),
            title,
            version,
            summary,
            instructions,
            documents,
            errors,
            envelope: Box::new(envelope),
            tools: bound,
        })
    }
}

/// A contract with its handlers: everything a transport needs to serve it.
pub struct Service {
    pub name: Arc<str>,
    pub title: String,
    pub version: String,
    pub summary: String,
    pub instructions: String,
    pub documents: Vec<crate::spec::Document>,
    pub errors: crate::spec::ErrorTable,
    pub(crate) envelope: Box<dyn Envelope>,
    pub tools: Vec<ToolRow>,
}

pub struct ToolRow {
    pub spec: ToolSpec,
    pub scope: Scope,
    pub(crate) handler: Handler,
}
