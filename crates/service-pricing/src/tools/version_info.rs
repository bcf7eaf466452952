//! `version_info`: version, build and commit of the service.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde_json::json;

use crate::service_info::HealthReporting;
use crate::tools::NoArgs;

pub(crate) async fn call<S: HealthReporting>(cx: Cx<S>, _: NoArgs) -> Result<JsonReply, Fault> {
    let service_info = cx.service.service_info();
    let json = json!({ "ok": true, "version": service_info.version, "build": service_info.build,
        "commit": service_info.commit });
    Ok(JsonReply::new(json, format!("{} {}", service_info.service, service_info.version)))
}
