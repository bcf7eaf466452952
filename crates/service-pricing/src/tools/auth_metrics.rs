//! `auth_metrics`: the counters of access to the service.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde_json::json;

use crate::service_info::HealthReporting;
use crate::tools::NoArgs;

pub(crate) async fn call<S: HealthReporting>(cx: Cx<S>, _: NoArgs) -> Result<JsonReply, Fault> {
    let service_info = cx.service.service_info();
    let metrics = (service_info.counters)();
    let text = format!("Access to {}: {metrics}", service_info.service);
    let result = json!({ "service": service_info.service, "metrics": metrics,
        "timestamp": service_info.now().to_rfc3339() });
    Ok(JsonReply::new(json!({ "ok": true, "result": result }), text))
}
