//! Calls one tool of each exchange through the same layers as a client's call, and checks the token of
//! the environment.

use std::sync::Arc;

use contract::{Authenticator as _, Call, Credential};
use serde_json::{Value, json};

use super::Finding;
use crate::app::App;
use crate::commands::call::error_message;
use crate::config::Config;

const WHAT: &str = "tools";
const TOKEN: &str = "STOA_TOKEN";
const LINE_CHARS_MAX: usize = 120;

pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let app = match App::start(config).await {
        Ok(app) => app,
        Err(failure) => return vec![Finding::fail(WHAT, failure.to_string())],
    };
    let catalog = app.pipeline.catalog();
    let listed = catalog.list(&app.view).filter(|it| it.is_listed(&app.view)).count();
    let mut findings = vec![match listed {
        0 => Finding::fail(WHAT, "none is listed").fix("loosen services, tools or read_only"),
        listed => Finding::ok(WHAT, format!("{listed} listed")),
    }];
    // One call to each exchange, simulated or not.
    findings.extend(call(&app, "quotes.live", "BTCUSDT", &json!({ "tickers": ["BTCUSDT"] })).await);
    let snapshot = json!({ "ticker": "SBER" });
    findings.extend(call(&app, "get_security_snapshot", "SBER", &snapshot).await);
    findings.extend(token(&app, config).await);
    app.stop().await;
    findings
}

/// Calls a tool about a ticker; `None` if the tool is not served.
async fn call(app: &App, tool: &str, ticker: &str, args: &Value) -> Option<Finding> {
    let fields = args.as_object().cloned().unwrap_or_default();
    Some(match app.pipeline.call_by_name(tool, Call::new(fields)).await? {
        Ok(reply) => {
            let text = reply.text();
            let line = text.lines().find(|line| line.contains(ticker)).unwrap_or("a reply");
            let line: String = line.trim().chars().take(LINE_CHARS_MAX).collect();
            Finding::ok(WHAT, format!("{tool} says: {line}"))
        }
        Err(failure) => {
            Finding::fail(WHAT, format!("{tool} failed: {}", error_message(&failure.tool_error)))
                .fix(format!("run `stoa --log debug call {tool} '{args}'`"))
        }
    })
}

/// Whether the token in the environment is still valid.
async fn token(app: &App, config: &Config) -> Option<Finding> {
    let credential = Credential::Bearer(Arc::from(config.token.as_ref()?.reveal()));
    Some(match app.authenticator.verify(&credential).await {
        Ok(Credential::Verified(verified)) => {
            Finding::ok(TOKEN, format!("is valid, for {}", verified.caller.scopes.join(",")))
        }
        Ok(_) => Finding::ok(TOKEN, "is valid"),
        Err(fault) => Finding::fail(TOKEN, format!("is refused: {fault}"))
            .fix("mint a new one with `stoa token mint --scope read --ttl 1h`, or unset it"),
    })
}
