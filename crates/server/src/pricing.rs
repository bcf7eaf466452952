//! The pricing services in this server: their dependencies, and the authentication counters under the
//! contract's names.

use std::sync::Arc;
use std::time::Duration;

use auth::{AccessCounters, AuthMetrics};
use contract::Service;
use serde_json::{Value, json};
use service_pricing::{CollectorParts, OptimizerParts, ServiceInfo};
use store::Db;

use crate::app::{Parts, VERSION, commit};
use crate::exit::CommandError;
use crate::meters::Meters;

/// How long a proposal can be applied.
const PROPOSAL_LIFE: Duration = Duration::from_hours(24);

pub(crate) fn collector(
    parts: &Parts<'_>,
    db: &Db,
    counters: &AccessCounters,
) -> Result<Service, CommandError> {
    Ok(service_pricing::collector(CollectorParts {
        db: db.clone(),
        jobs: parts.jobs.clone(),
        service_info: service_info(parts, "data-collector", counters.of("collector")),
        data: parts.config.data.clone(),
        seed: parts.config.sim_seed,
        private_addresses: parts.config.private_sources,
        meter: Some(Arc::new(Meters(Arc::clone(&parts.metrics)))),
        tasks: parts.tasks.clone(),
        stop: parts.stop.clone(),
    })?)
}

pub(crate) fn optimizer(
    parts: &Parts<'_>,
    db: &Db,
    counters: &AccessCounters,
) -> Result<Service, CommandError> {
    Ok(service_pricing::optimizer(OptimizerParts {
        db: db.clone(),
        service_info: service_info(parts, "price-optimizer", counters.of("optimizer")),
        proposal_life: PROPOSAL_LIFE,
        jobs: parts.jobs.clone(),
        push_targets: parts.config.price_push.targets()?,
        job_meter: Some(Arc::new(Meters(Arc::clone(&parts.metrics)))),
        push_meter: Some(Arc::new(Meters(Arc::clone(&parts.metrics)))),
        tasks: parts.tasks.clone(),
        stop: parts.stop.clone(),
    })?)
}

fn service_info(
    parts: &Parts<'_>,
    service: &'static str,
    counters: Arc<AuthMetrics>,
) -> ServiceInfo {
    let known = |word: &str| (word != "unknown").then(|| word.to_owned());
    ServiceInfo {
        service,
        version: VERSION.to_owned(),
        build: Some(if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned()),
        commit: known(commit()),
        clock: Arc::clone(&parts.clock),
        started: parts.clock.now(),
        counters: Box::new(move || counters_json(&counters)),
    }
}

/// The counters under the names of the contract.
fn counters_json(counters: &AuthMetrics) -> Value {
    let snapshot = counters.snapshot();
    let failed = |code: &str| snapshot.failures.get(code).copied().unwrap_or_default();
    let granted = snapshot.scopes.iter().map(|(scope, count)| ((*scope).to_owned(), count.granted));
    let denied = snapshot.scopes.iter().map(|(scope, count)| ((*scope).to_owned(), count.denied));
    json!({
        "tokens_created": snapshot.tokens_minted,
        "tokens_verified": snapshot.ok,
        "auth_failures": snapshot.checks - snapshot.ok,
        "missing_tokens": failed("token_missing"),
        "invalid_tokens": failed("token_malformed") + failed("token_signature"),
        "expired_tokens": failed("token_expired"),
        "revoked_tokens": failed("token_revoked"),
        "scope_denials": failed("scope_missing"),
        "scope_requests": granted.collect::<std::collections::BTreeMap<_, _>>(),
        "scope_refusals": denied.collect::<std::collections::BTreeMap<_, _>>(),
    })
}
