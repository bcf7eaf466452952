//! The optimizer's contract: proposals from the first to the last state, the merchant's policies,
//! and what is told about them.

mod asking;
mod lifecycle;
mod lists;
mod policy;
mod propose;
mod simulate;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use clock::{IdGenerator, Millis};
use contract::{Contract, ContractError, Scope, Service, Tools};
use store::Db;

use crate::envelope::PricingEnvelope;
use crate::service_info::{self, Dependency, HealthReporting, ServiceInfo};
use crate::storage::group_commit::GroupCommit;
use crate::storage::proposals::LIFE_MAX_MS;

/// What the optimizer is built from.
pub struct OptimizerParts {
    pub db: Db,
    pub service_info: ServiceInfo,
    /// How long a proposal stands; a week at most.
    pub proposal_life: Duration,
}

pub(crate) struct Optimizer {
    db: Db,
    service_info: ServiceInfo,
    life_ms: i64,
    ids: IdGenerator,
    group_commit: GroupCommit,
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
        let trouble = self.db.ping().await.err().map(|fault| fault.to_string());
        vec![Dependency { name: "database", trouble, vital: true }]
    }
}

/// The service with its tool table, ready for the catalogue.
pub fn optimizer(parts: OptimizerParts) -> Result<Service, ContractError> {
    let OptimizerParts { db, service_info, proposal_life } = parts;
    let life_ms = i64::try_from(proposal_life.as_millis()).unwrap_or(i64::MAX).min(LIFE_MAX_MS);
    let optimizer = Optimizer {
        db,
        service_info,
        life_ms,
        ids: IdGenerator::default(),
        group_commit: GroupCommit::default(),
    };
    Tools::of(Arc::new(optimizer))
        .tool("propose_price", Scope::Propose, propose::one)
        .tool("explain_proposal", Scope::Explain, lifecycle::explain)
        .tool("apply_proposal", Scope::Apply, lifecycle::apply)
        .tool("cancel_proposal", Scope::Apply, lifecycle::cancel)
        .tool("optimize_price", Scope::Propose, propose::legacy)
        .tool("revert_proposal", Scope::Apply, lifecycle::revert)
        .tool("list_proposals", Scope::Read, lists::proposals)
        .tool("propose_prices", Scope::Propose, propose::many)
        .tool("simulate_pricing", Scope::Propose, simulate::call)
        .tool("set_pricing_policy", Scope::Write, policy::set)
        .tool("get_pricing_policy", Scope::Read, policy::get)
        .tool("set_kill_switch", Scope::Admin, policy::kill_switch)
        .tool("list_price_changes", Scope::Read, lists::changes)
        .tool("auth_metrics", Scope::Admin, service_info::auth_metrics::<Optimizer>)
        .tool("ping_health", Scope::Open, service_info::ping::<Optimizer>)
        .tool("health_check", Scope::Open, service_info::health::<Optimizer>)
        .tool("version_info", Scope::Open, service_info::version::<Optimizer>)
        .bind(Contract::load("optimizer")?, PricingEnvelope)
}

#[cfg(test)]
mod tests;
