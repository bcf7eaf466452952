//! `health_check`: the state of the service and of each of its dependencies.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde_json::{Map, Value, json};

use crate::service_info::HealthReporting;
use crate::tools::NoArgs;

pub(crate) async fn call<S: HealthReporting>(cx: Cx<S>, _: NoArgs) -> Result<JsonReply, Fault> {
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
    for (name, state) in dependencies.iter().filter(|(_, it)| *it != "ok") {
        text.push_str(&format!("\n{name}: {}", state.as_str().unwrap_or_default()));
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
