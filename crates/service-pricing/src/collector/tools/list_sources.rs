//! `list_sources`: the connectors and the status of each.

use contract::Cx;
use fault::Fault;
use serde_json::{Value, json};

use crate::collector::Collector;
use crate::connectors::SourceStatus;
use crate::storage::sources;
use crate::storage::ticks::MOCK;
use crate::tools::NoArgs;
use contract::JsonReply;

pub(crate) async fn call(cx: Cx<Collector>, _: NoArgs) -> Result<JsonReply, Fault> {
    let checks = sources::checks(&cx.service.db).await?;
    let mut listed = Vec::new();
    let mut lines = Vec::new();
    for connector in cx.service.connectors.iter() {
        let last = checks.get(connector.name());
        let now = cx.service.now();
        let (status, note, at) = match connector.status().await {
            SourceStatus::Ready => ("active", None, Some(now)),
            SourceStatus::Idle(why) => ("inactive", Some(why), Some(now)),
            SourceStatus::Broken(why) => ("error", Some(why), Some(now)),
            SourceStatus::AsLastSeen => match last {
                Some(check) if check.trouble.is_some() => {
                    ("error", check.trouble.clone(), Some(check.at))
                }
                Some(check) => ("active", None, Some(check.at)),
                None => ("active", Some("never asked yet".to_owned()), None),
            },
        };
        lines.push(format!("{} ({}): {status}", connector.name(), connector.kind()));
        let mut source = json!({ "name": connector.name(), "type": contract_type(connector.kind()),
            "kind": connector.kind(), "simulated": connector.kind() == MOCK, "status": status, "description": connector.description(), "note": note,
            "last_collection": last.map(|it| it.at.to_rfc3339()) });
        if let Some(at) = at {
            source["last_check"] = Value::from(at.to_rfc3339());
        }
        listed.push(source);
    }
    let json = json!({ "ok": true, "count": listed.len(), "sources": listed });
    Ok(JsonReply::new(json, lines.join("\n")))
}

/// The contract's `type` has one word for invented prices and one for observed prices.
fn contract_type(kind: &str) -> &'static str {
    if kind == MOCK { MOCK } else { "web_scraper" }
}
