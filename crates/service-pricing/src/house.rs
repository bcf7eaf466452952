//! The tools that both contracts share: health, version, and the counters of their doors.

use std::future::Future;
use std::sync::Arc;

use clock::{Clock, Millis};
use contract::Cx;
use fault::Fault;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::said::Said;

/// What these tools report on. The doors stand in the server, so their counters come as a function.
pub struct House {
    /// As the contract's counters name it: `data-collector` or `price-optimizer`.
    pub service: &'static str,
    pub version: String,
    pub build: Option<String>,
    pub commit: Option<String>,
    pub clock: Arc<dyn Clock>,
    pub started: Millis,
    pub counters: Box<dyn Fn() -> Value + Send + Sync>,
}

impl House {
    pub(crate) fn now(&self) -> Millis {
        self.clock.now()
    }
}

/// A service that stands in the house and knows what it depends on.
pub(crate) trait Housed: Send + Sync + 'static {
    fn house(&self) -> &House;

    /// Each thing this service cannot do without, or can do less without, and how it is now.
    fn dependencies(&self) -> impl Future<Output = Vec<Dependency>> + Send;
}

pub(crate) struct Dependency {
    pub(crate) name: &'static str,
    /// What is wrong with it, if anything.
    pub(crate) trouble: Option<String>,
    /// Whether nothing works without it.
    pub(crate) vital: bool,
}

#[derive(Deserialize)]
pub(crate) struct Nothing {}

pub(crate) async fn ping<S: Housed>(cx: Cx<S>, _: Nothing) -> Result<Said, Fault> {
    let timestamp = cx.service.house().now().to_rfc3339();
    let text = format!("{} answers at {timestamp}", cx.service.house().service);
    Ok(Said::new(json!({ "ok": true, "timestamp": timestamp }), text))
}

pub(crate) async fn health<S: Housed>(cx: Cx<S>, _: Nothing) -> Result<Said, Fault> {
    let house = cx.service.house();
    let found = cx.service.dependencies().await;
    let down = |vital| found.iter().any(|it| it.trouble.is_some() && it.vital == vital);
    let status = match (down(true), down(false)) {
        (true, _) => "unhealthy",
        (false, true) => "degraded",
        (false, false) => "healthy",
    };
    let dependencies: Map<String, Value> = found
        .into_iter()
        .map(|it| (it.name.to_owned(), Value::from(it.trouble.unwrap_or_else(|| "ok".to_owned()))))
        .collect();
    let uptime = (house.now().0 - house.started.0) as f64 / 1000.0;
    let text = format!("{} {}: {status}", house.service, house.version);
    let json = json!({
        "ok": status != "unhealthy",
        "status": status,
        "version": house.version,
        "uptime_seconds": uptime.max(0.0),
        "dependencies": dependencies,
    });
    Ok(Said::new(json, text))
}

pub(crate) async fn version<S: Housed>(cx: Cx<S>, _: Nothing) -> Result<Said, Fault> {
    let house = cx.service.house();
    let json = json!({ "ok": true, "version": house.version, "build": house.build,
        "commit": house.commit });
    Ok(Said::new(json, format!("{} {}", house.service, house.version)))
}

pub(crate) async fn auth_metrics<S: Housed>(cx: Cx<S>, _: Nothing) -> Result<Said, Fault> {
    let house = cx.service.house();
    let metrics = (house.counters)();
    let text = format!("Access to {}: {metrics}", house.service);
    let result = json!({ "service": house.service, "metrics": metrics,
        "timestamp": house.now().to_rfc3339() });
    Ok(Said::new(json!({ "ok": true, "result": result }), text))
}
