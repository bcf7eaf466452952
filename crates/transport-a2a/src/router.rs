//! All addresses of the agents, over the desks behind them.

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
use crate::handler::{RequestHandler, TaskLimits};
use crate::limiter::TaskLimiter;
use crate::live_tasks::LiveTasks;
use crate::push::{PushSender, PushWaker};
use crate::store::TaskStore;
use crate::tool_agent::ToolAgent;
use crate::updater::{Now, TaskContext};
use crate::{rest, rpc, stamp};

const SWEEP_INTERVAL: Duration = Duration::from_secs(10);
/// Old tasks are looked for once in so many sweeps.
const FORGET_EVERY: u32 = 360;
const CARD: &str = "/.well-known/agent-card.json";

/// What the agents need from whoever serves them.
#[derive(Clone)]
pub struct A2aOptions {
    /// What stands in front of every address: empty, or `/something`.
    pub prefix: String,
    /// Scheme and authority as clients reach this server; from each request where it is not set.
    pub public_url: Option<String>,
    /// Whether callers without a credential are let in, for the card to say.
    pub open: bool,
    /// Turns credentials into owners of tasks; the pipeline's own.
    pub authenticator: Arc<dyn Authenticator>,
    pub store: Arc<dyn TaskStore>,
    pub push_sender: Arc<dyn PushSender>,
    /// The time in milliseconds since 1970.
    pub now: Arc<dyn Fn() -> i64 + Send + Sync>,
    pub limits: TaskLimits,
    /// Where tasks run, so that a server that stops can wait for them.
    pub tasks: TaskTracker,
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
    for (at, agent) in agents.into_iter().enumerate() {
        let handler = Arc::new(handler(agent, &options, &push, &options.now));
        let base = format!("{}{}", options.prefix, handler.agent.spec().path);
        options.tasks.spawn(sweep(Arc::clone(&handler)));
        // The usual place shows the first agent; each has its own card beneath its own address.
        if at == 0 {
            router = router.merge(card(&format!("{}{CARD}", options.prefix), &handler));
        }
        let endpoint = post(rpc::serve).with_state(Arc::clone(&handler));
        router = router
            .merge(card(&format!("{base}{CARD}"), &handler))
            .route(&base, endpoint.clone())
            // Some clients add a slash to the address they are given.
            .route(&format!("{base}/"), endpoint)
            .merge(rest::routes(&format!("{base}/rest"), &handler));
    }
    // The edge has read the body within its own bound.
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
        tools: TaskContext {
            store: Arc::clone(&options.store),
            push: push.clone(),
            now: Arc::clone(now),
            runner: Arc::from(stamp::fresh_id()),
            stop: options.stop.clone(),
        },
        tasks: options.tasks.clone(),
        live_tasks: LiveTasks::default(),
        limiter: TaskLimiter::default(),
    }
}

/// Looks now and then for what others left behind.
async fn sweep(handler: Arc<RequestHandler>) {
    let mut round = 0_u32;
    loop {
        handler.sweep(round.is_multiple_of(FORGET_EVERY)).await;
        round = round.wrapping_add(1);
        tokio::select! {
            () = handler.tools.stop.cancelled() => return,
            () = tokio::time::sleep(SWEEP_INTERVAL) => {}
        }
    }
}
