//! `ping_health`: the time of the server; it asks no dependency.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde_json::json;

use crate::service_info::HealthReporting;
use crate::tools::NoArgs;

pub(crate) async fn call<S: HealthReporting>(cx: Cx<S>, _: NoArgs) -> Result<JsonReply, Fault> {
    let timestamp = cx.service.service_info().now().to_rfc3339();
    let text = format!("{} answers at {timestamp}", cx.service.service_info().service);
    Ok(JsonReply::new(json!({ "ok": true, "timestamp": timestamp }), text))
}
