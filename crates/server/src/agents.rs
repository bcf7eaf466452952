//! The agents of the contracts, served to other agents: their tasks in the store, their webhooks
//! over HTTP.

use std::sync::Arc;

use axum::Router;
use clock::{Clock as _, SystemClock};
use transport_a2a::{A2aOptions, HttpPushSender, MemoryTaskStore, TaskLimits, TaskStore};

use crate::a2a_tasks::SqlTaskStore;
use crate::app::App;
use crate::config::Config;
use crate::exit::CommandError;

pub(crate) fn routes(app: &App, config: &Config) -> Result<Router, CommandError> {
    let store = Arc::new(SqlTaskStore(app.db.clone()));
    let options = options(app, config, store, "", config.private_webhooks)?;
    Ok(transport_a2a::router(&app.pipeline, &app.view, options)?)
}

/// The agent of the protocol's conformance suite, whose webhooks are on the same machine.
pub(crate) fn fixtures(app: &App, config: &Config) -> Result<Router, CommandError> {
    let store = Arc::new(MemoryTaskStore::default());
    let options = options(app, config, store, "/conformance", true)?;
    Ok(transport_a2a::conformance::router(options)?)
}

fn options(
    app: &App,
    config: &Config,
    store: Arc<dyn TaskStore>,
    prefix: &str,
    private: bool,
) -> Result<A2aOptions, CommandError> {
    Ok(A2aOptions {
        prefix: prefix.to_owned(),
        public_url: config.public_url.clone(),
        open: config.is_open(),
        authenticator: Arc::clone(&app.authenticator) as _,
        store,
        push_sender: Arc::new(HttpPushSender::new(private)?),
        now: Arc::new(|| SystemClock.now().0),
        limits: TaskLimits::default(),
        tasks: app.tasks.clone(),
        stop: app.stop.clone(),
    })
}
