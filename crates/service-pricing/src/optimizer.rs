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

use crate::books::proposals::LIFE_MAX_MS;
use crate::books::scribe::Scribe;
use crate::envelope::Words;
use crate::house::{self, Dependency, House, Housed};

/// What the optimizer is built from.
pub struct OptimizerParts {
    pub db: Db,
    pub house: House,
    /// How long a proposal stands; a week at most.
    pub proposal_life: Duration,
}

pub(crate) struct Optimizer {
    db: Db,
    house: House,
    life_ms: i64,
    ids: IdGenerator,
    scribe: Scribe,
}

impl Optimizer {
    fn now(&self) -> Millis {
        self.house.now()
    }
}

impl Housed for Optimizer {
    fn house(&self) -> &House {
        &self.house
    }

    async fn dependencies(&self) -> Vec<Dependency> {
        let trouble = self.db.ping().await.err().map(|fault| fault.to_string());
        vec![Dependency { name: "database", trouble, vital: true }]
    }
}

/// The service with its tool table, ready for the catalogue.
pub fn optimizer(parts: OptimizerParts) -> Result<Service, ContractError> {
    let OptimizerParts { db, house, proposal_life } = parts;
    let life_ms = i64::try_from(proposal_life.as_millis()).unwrap_or(i64::MAX).min(LIFE_MAX_MS);
    let optimizer =
        Optimizer { db, house, life_ms, ids: IdGenerator::default(), scribe: Scribe::default() };
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
        .tool("auth_metrics", Scope::Admin, house::auth_metrics::<Optimizer>)
        .tool("ping_health", Scope::Open, house::ping::<Optimizer>)
        .tool("health_check", Scope::Open, house::health::<Optimizer>)
        .tool("version_info", Scope::Open, house::version::<Optimizer>)
        .bind(Contract::load("optimizer")?, Words)
}

#[cfg(test)]
mod tests;
