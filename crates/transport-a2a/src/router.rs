//! The routes of all agents, and the background tasks that serve them.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::Response;
use axum::routing::{get, post};
use contract::{Authenticator, Pipeline, View};
use fault::Fault;
use http::HeaderMap;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agent::Agent;
use crate::card::CardBuilder;
use crate::handler::{PreparedRuns, RequestHandler, RunDispatcher, TaskLimits};
use crate::limiter::TaskLimiter;
use crate::live_tasks::LiveTasks;
use crate::push::{PushSender, PushWaker};
use crate::store::TaskStore;
use crate::tool_agent::ToolAgent;
use crate::updater::{Now, TaskContext};
use crate::{rest, rpc};

const SWEEP_INTERVAL: Duration = Duration::from_secs(10);
/// Old tasks are deleted in one of this many sweeps.
const DELETE_EVERY: u32 = 360;
const CARD: &str = "/.well-known/agent-card.json";
/// Where clients of A2A 0.2 look for the card.
const OLD_CARD: &str = "/.well-known/agent.json";

/// What the server provides for its agents.
#[derive(Clone)]
pub struct A2aOptions {
    /// The prefix of every path: empty, or `/something`.
    pub prefix: String,
    /// Scheme and authority as clients reach this server; from each request where it is not set.
    pub public_url: Option<String>,
    /// Whether callers need no credential; the card says so.
    pub open: bool,
    /// Turns credentials into owners of tasks; the same as the pipeline's.
    pub authenticator: Arc<dyn Authenticator>,
    /// Stores and queues tasks.
    pub store: Arc<dyn TaskStore>,
    /// Delivers notifications to webhooks.
    pub push_sender: Arc<dyn PushSender>,
    /// The time in milliseconds since 1970.
    pub now: Arc<dyn Fn() -> i64 + Send + Sync>,
    pub limits: TaskLimits,
    /// Runs the background tasks, so that a stopping server can wait for them.
    pub tasks: TaskTracker,
    /// Cancelled when the server stops.
    pub stop: CancellationToken,
}

/// The agents of all services that the view shows. Requests must carry a [`contract::RequestMeta`].
pub fn router(pipeline: &Arc<Pipeline>, view: &View, options: A2aOptions) -> Result<Router, Fault> {
    let shown = pipeline.catalog().list(view).filter(|listed| {
        listed.service.agent.as_ref().is_some_and(|it| it.tool == listed.tool.spec.name)
    });
    let agents = shown
        .filter_map(|listed| ToolAgent::of(pipeline, &listed.service.name))
        .map(|agent| Box::new(agent) as Box<dyn Agent>);
    serve(agents.collect(), options)
}

pub(crate) fn serve(agents: Vec<Box<dyn Agent>>, options: A2aOptions) -> Result<Router, Fault> {
    let mut router = Router::new();
    if agents.is_empty() {
        return Ok(router);
    }
    let A2aOptions { push_sender, store, now, tasks, stop, .. } = &options;
    let push = PushWaker::start(push_sender, store, now, tasks, stop);
    let handler = |agent| Arc::new(handler(agent, &options, &push, &options.now));
    let handlers: Vec<Arc<RequestHandler>> = agents.into_iter().map(handler).collect();
    options.tasks.spawn(run_tasks(handlers.clone(), options.clone()));
    for (at, handler) in handlers.into_iter().enumerate() {
        let base = format!("{}{}", options.prefix, handler.agent.spec().path);
        options.tasks.spawn(sweep(Arc::clone(&handler)));
        // The well-known address shows the first agent; every agent has a card below its own path.
        if at == 0 {
            for path in [CARD, OLD_CARD] {
                router = router.merge(card(&format!("{}{path}", options.prefix), &handler));
            }
        }
        let endpoint = post(rpc::serve).with_state(Arc::clone(&handler));
        router = router
            .merge(card(&format!("{base}{CARD}"), &handler))
            .route(&base, endpoint.clone())
            // Some clients add a slash to the address.
            .route(&format!("{base}/"), endpoint)
            .merge(rest::routes(&format!("{base}/rest"), &handler));
    }
    // The edge has already limited and read the body.
    Ok(router.layer(DefaultBodyLimit::disable()))
}

fn card(path: &str, handler: &Arc<RequestHandler>) -> Router {
    let page = |State(handler): State<Arc<RequestHandler>>, headers: HeaderMap| async move {
        let page: Response = handler.card.page(&*handler.agent, &headers);
        page
    };
    Router::new().route(path, get(page)).with_state(Arc::clone(handler))
}

fn handler(
    agent: Box<dyn Agent>,
    options: &A2aOptions,
    push: &PushWaker,
    now: &Now,
) -> RequestHandler {
    RequestHandler {
        agent,
        authenticator: Arc::clone(&options.authenticator),
        card: CardBuilder {
            public_url: options.public_url.clone(),
            prefix: options.prefix.clone(),
            open: options.open,
        },
        limits: options.limits,
        push_sender: Arc::clone(&options.push_sender),
        context: TaskContext {
            store: Arc::clone(&options.store),
            push: push.clone(),
            now: Arc::clone(now),
            stop: options.stop.clone(),
        },
        tasks: options.tasks.clone(),
        live_tasks: LiveTasks::default(),
        limiter: TaskLimiter::new(&options.limits),
        prepared: PreparedRuns::default(),
    }
}

/// Runs queued tasks until the server stops. Senders are limited per agent, so the queue has room
/// for all of them at once.
async fn run_tasks(handlers: Vec<Arc<RequestHandler>>, options: A2aOptions) {
    let agents: Vec<String> = handlers.iter().map(|it| it.name().to_owned()).collect();
    let concurrency = options.limits.running_all_max.saturating_mul(agents.len());
    let runner = Arc::new(RunDispatcher(handlers));
    options.store.run_tasks(&agents, runner, concurrency, options.stop.clone()).await;
}

/// Fails lost tasks every 10 s and deletes old ones every hour.
async fn sweep(handler: Arc<RequestHandler>) {
    let mut round = 0_u32;
    loop {
        handler.sweep(round.is_multiple_of(DELETE_EVERY)).await;
        round = round.wrapping_add(1);
        tokio::select! {
            () = handler.context.stop.cancelled() => return,
            () = tokio::time::sleep(SWEEP_INTERVAL) => {}
        }
    }
}
