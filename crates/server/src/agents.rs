//! The agents of the contracts, served to other agents: their tasks in the store, their webhooks
//! over HTTP.

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use clock::{Clock as _, SystemClock};
use fault::Fault;
use http::{HeaderName, StatusCode};
use transport_a2a::{A2aOptions, HttpPushSender, TaskLimits};
use transport_a2a_store::SqlTaskStore;
use transport_http::{EdgeRoute, MountedRoutes, Refusal, RefusalForm};

use crate::app::App;
use crate::config::Config;
use crate::exit::CommandError;

pub(crate) fn routes(app: &App, config: &Config) -> Result<MountedRoutes, CommandError> {
    let options = options(app, config, "", config.private_webhooks)?;
    let router = transport_a2a::router(&app.pipeline, &app.view, options)?;
    let services = app.pipeline.catalog().services().iter();
    let paths = services.filter_map(|service| service.agent.as_ref()).map(|agent| &agent.path);
    let headers = ["a2a-version", "a2a-extensions"].map(HeaderName::from_static);
    let mounted = MountedRoutes::new(router).allow_headers(headers);
    Ok(paths.fold(mounted, |mounted, path| {
        let [rpc, rest] = [transport_a2a::rpc_refused, transport_a2a::rest_refused].map(edge_route);
        mounted
            .declare(path.clone(), rpc.clone())
            .declare(format!("{path}/"), rpc)
            .declare_prefix(format!("{path}/rest/"), rest)
    }))
}

/// A path whose refusals at the edge have this form.
fn edge_route(respond: fn(StatusCode, &Fault) -> Response) -> EdgeRoute {
    let respond = move |refusal: &Refusal, _: &str| respond(refusal.status, &refusal.fault);
    EdgeRoute { refusals: RefusalForm::Custom(Arc::new(respond)), ..EdgeRoute::default() }
}

/// The agent of the A2A conformance suite, whose webhooks are on the same machine; `None` in a build
/// without the feature `conformance`.
pub(crate) fn fixtures(app: &App, config: &Config) -> Result<Option<Router>, CommandError> {
    let options = options(app, config, "/conformance", true)?;
    Ok(transport_a2a::conformance_agent(options)?)
}

fn options(
    app: &App,
    config: &Config,
    prefix: &str,
    private: bool,
) -> Result<A2aOptions, CommandError> {
    Ok(A2aOptions {
        prefix: prefix.to_owned(),
        public_url: config.public_url.clone(),
        open: config.is_open(),
        authenticator: Arc::clone(&app.authenticator) as _,
        store: Arc::new(SqlTaskStore::new(app.db.clone(), app.jobs.clone())),
        push_sender: Arc::new(HttpPushSender::new(private)?),
        now: Arc::new(|| SystemClock.now().0),
        limits: TaskLimits::default(),
        tasks: app.tasks.clone(),
        stop: app.stop.clone(),
    })
}
