//! The whole way once: a tool call through every part a client's call would pass.

use std::sync::Arc;

use contract::{Call, Credential, Gate as _};
use serde_json::{Value, json};

use super::Finding;
use crate::app::App;
use crate::config::Config;

const WHAT: &str = "tools";
const TOKEN: &str = "STOA_TOKEN";
/// Every provider has it.
const TICKER: &str = "BTCUSDT";

pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let app = match App::start(config, true).await {
        Ok(app) => app,
        Err(failure) => return vec![Finding::fail(WHAT, failure.to_string())],
    };
    let listed = app.pipeline.catalog().list(&app.view).count();
    let mut findings = vec![match listed {
        0 => Finding::fail(WHAT, "none is listed").fix("loosen services, tools or read_only"),
        listed => call(&app, listed).await,
    }];
    findings.extend(token(&app, config).await);
    app.stop().await;
    findings
}

async fn call(app: &App, listed: usize) -> Finding {
    let args = match json!({ "tickers": [TICKER] }) {
        Value::Object(args) => args,
        _ => serde_json::Map::new(),
    };
    match app.pipeline.call(Call::new("quotes.live", args)).await {
        None => Finding::ok(WHAT, format!("{listed} listed")),
        Some(Ok(reply)) => {
            let said = reply.text();
            let said = said.lines().find(|line| line.contains(TICKER)).unwrap_or("an answer");
            Finding::ok(WHAT, format!("{listed} listed; quotes.live says: {}", said.trim()))
        }
        Some(Err(failure)) => {
            Finding::fail(WHAT, format!("quotes.live failed: {}", message(&failure.tool_error)))
                .fix("run `stoa --log debug call quotes.live '{\"tickers\":[\"BTCUSDT\"]}'`")
        }
    }
}

/// The sentence in a failed call's envelope, wherever the contract puts it.
fn message(error: &Value) -> String {
    let found = error.get("message").or_else(|| error.get("error")?.get("message"));
    found.and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned)
}

/// Whether the token in the environment still opens anything.
async fn token(app: &App, config: &Config) -> Option<Finding> {
    let credential = Credential::Bearer(Arc::from(config.token.as_ref()?.reveal()));
    let service = app.pipeline.catalog().services().first()?;
    Some(match app.gate.admit(&credential, &service.name).await {
        Ok(caller) => Finding::ok(TOKEN, format!("holds, for {}", caller.scopes.join(","))),
        Err(fault) => Finding::fail(TOKEN, format!("is refused: {fault}"))
            .fix("mint a new one with `stoa token mint --scope read --ttl 1h`, or unset it"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_is_told_in_its_own_words() {
        for (error, expected) in [
            (json!({ "type": "X", "message": "no" }), "no"),
            (json!({ "error": { "message": "no" } }), "no"),
            (json!({ "error": "no" }), "{\"error\":\"no\"}"),
        ] {
            assert_eq!(message(&error), expected);
        }
    }
}
