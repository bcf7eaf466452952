//! The optimizer's contract: the life of a proposal, the merchant's policies, the kill switch, the
//! pushes to shops and the audit log.

mod lifecycle;
mod paging;
mod pricing_input;
mod proposing;
mod push_wire;
mod tools;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use clock::{IdGenerator, Millis};
use contract::{Contract, ContractError, Scope, Service, Tools};
use jobs::{JobMeter, Jobs};
use store::{Db, StoreProbe};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::envelope::PricingEnvelope;
use crate::push::{self, Outbox, PushMeter, PushParts, PushTargets, PushTiming};
use crate::service_info::{Dependency, HealthReporting, ServiceInfo};
use crate::storage::proposal_writer::ProposalWriter;
use crate::storage::proposals::LIFE_MAX_MS;
use crate::tools::{auth_metrics, health_check, ping_health, version_info};

/// What the optimizer is built from.
pub struct OptimizerParts {
    pub db: Db,
    pub service_info: ServiceInfo,
    /// How long a proposal can be applied; at most 7 days.
    pub proposal_life: Duration,
    /// The queue that pushes and webhooks go through; the database has its migrations.
    pub jobs: Jobs,
    /// The shops and the webhook that prices are pushed to.
    pub push_targets: PushTargets,
    pub job_meter: Option<Arc<dyn JobMeter>>,
    pub push_meter: Option<Arc<dyn PushMeter>>,
    pub tasks: TaskTracker,
    pub stop: CancellationToken,
}

pub(crate) struct Optimizer {
    db: Db,
    service_info: ServiceInfo,
    life_ms: i64,
    ids: IdGenerator,
    proposal_writer: ProposalWriter,
    outbox: Arc<Outbox>,
    probe: StoreProbe,
}

impl Optimizer {
    fn now(&self) -> Millis {
        self.service_info.now()
    }
}

impl HealthReporting for Optimizer {
    fn service_info(&self) -> &ServiceInfo {
        &self.service_info
    }

    async fn dependencies(&self) -> Vec<Dependency> {
        let trouble = self.probe.trouble().await;
        let mut found = vec![Dependency { name: "database", trouble, vital: true }];
        found.extend(push_wire::dependencies(self).await);
        found
    }
}

/// The service with its tool table, and a worker for its pushes on the given tracker.
pub fn optimizer(parts: OptimizerParts) -> Result<Service, ContractError> {
    bind(parts, PushTiming::default())
}

fn bind(parts: OptimizerParts, timing: PushTiming) -> Result<Service, ContractError> {
    let OptimizerParts { db, service_info, proposal_life, .. } = parts;
    let push_parts = PushParts {
        db: db.clone(),
        jobs: parts.jobs,
        clock: Arc::clone(&service_info.clock),
        job_meter: parts.job_meter,
        meter: parts.push_meter,
        tasks: parts.tasks,
        stop: parts.stop,
        timing,
    };
    let outbox = push::start(parts.push_targets, push_parts);
    let life_ms = i64::try_from(proposal_life.as_millis()).unwrap_or(i64::MAX).min(LIFE_MAX_MS);
    let optimizer = Optimizer {
        probe: StoreProbe::new(db.clone(), "optimizer"),
        db,
        service_info,
        life_ms,
        ids: IdGenerator::default(),
        proposal_writer: ProposalWriter::default(),
        outbox,
    };
    Tools::of(Arc::new(optimizer))
        .tool("propose_price", Scope::Propose, tools::propose_price::call)
        .tool("explain_proposal", Scope::Explain, tools::explain_proposal::call)
        .tool("apply_proposal", Scope::Apply, tools::apply_proposal::call)
        .tool("cancel_proposal", Scope::Apply, tools::cancel_proposal::call)
        .tool("optimize_price", Scope::Propose, tools::optimize_price::call)
        .tool("revert_proposal", Scope::Apply, tools::revert_proposal::call)
        .tool("list_proposals", Scope::Read, tools::list_proposals::call)
        .tool("propose_prices", Scope::Propose, tools::propose_prices::call)
        .tool("simulate_pricing", Scope::Propose, tools::simulate_pricing::call)
        .tool("set_pricing_policy", Scope::Write, tools::set_pricing_policy::call)
        .tool("get_pricing_policy", Scope::Read, tools::get_pricing_policy::call)
        .tool("set_kill_switch", Scope::Admin, tools::set_kill_switch::call)
        .tool("list_price_changes", Scope::Read, tools::list_price_changes::call)
        .tool("list_price_pushes", Scope::Read, tools::list_price_pushes::call)
        .tool("retry_price_push", Scope::Apply, tools::retry_price_push::call)
        .tool("auth_metrics", Scope::Admin, auth_metrics::call::<Optimizer>)
        .tool("ping_health", Scope::Open, ping_health::call::<Optimizer>)
        .tool("health_check", Scope::Open, health_check::call::<Optimizer>)
        .tool("version_info", Scope::Open, version_info::call::<Optimizer>)
        .download("price_feed", Scope::Read, tools::price_feed::call)
        .bind(Contract::load("optimizer")?, PricingEnvelope)
}

#[cfg(test)]
mod tests;
