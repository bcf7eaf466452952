//! The four tools that the collector and the optimizer share, in one file because each is a few lines:
//! `ping_health`, `health_check`, `version_info` and `auth_metrics`.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::service_info::HealthReporting;

#[derive(Deserialize)]
pub(crate) struct NoArgs {}

pub(crate) async fn ping<S: HealthReporting>(cx: Cx<S>, _: NoArgs) -> Result<JsonReply, Fault> {
    let timestamp = cx.service.service_info().now().to_rfc3339();
    let text = format!("{} answers at {timestamp}", cx.service.service_info().service);
    Ok(JsonReply::new(json!({ "ok": true, "timestamp": timestamp }), text))
}

pub(crate) async fn health<S: HealthReporting>(cx: Cx<S>, _: NoArgs) -> Result<JsonReply, Fault> {
    let service_info = cx.service.service_info();
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
    let uptime = (service_info.now().0 - service_info.started.0) as f64 / 1000.0;
    let mut text = format!("{} {}: {status}", service_info.service, service_info.version);
    for (name, standing) in dependencies.iter().filter(|(_, it)| *it != "ok") {
        text.push_str(&format!("\n{name}: {}", standing.as_str().unwrap_or_default()));
    }
    let json = json!({
        "ok": status != "unhealthy",
        "status": status,
        "version": service_info.version,
        "uptime_seconds": uptime.max(0.0),
        "dependencies": dependencies,
    });
    Ok(JsonReply::new(json, text))
}

pub(crate) async fn version<S: HealthReporting>(cx: Cx<S>, _: NoArgs) -> Result<JsonReply, Fault> {
    let service_info = cx.service.service_info();
    let json = json!({ "ok": true, "version": service_info.version, "build": service_info.build,
        "commit": service_info.commit });
    Ok(JsonReply::new(json, format!("{} {}", service_info.service, service_info.version)))
}

pub(crate) async fn auth_metrics<S: HealthReporting>(
    cx: Cx<S>,
    _: NoArgs,
) -> Result<JsonReply, Fault> {
    let service_info = cx.service.service_info();
    let metrics = (service_info.counters)();
    let text = format!("Access to {}: {metrics}", service_info.service);
    let result = json!({ "service": service_info.service, "metrics": metrics,
        "timestamp": service_info.now().to_rfc3339() });
    Ok(JsonReply::new(json!({ "ok": true, "result": result }), text))
}
