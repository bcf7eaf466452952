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
use crate::bench::{Now, Tools};
use crate::card::Shop;
use crate::desk::{Desk, Limits};
use crate::live::Hub;
use crate::push::{Courier, Push};
use crate::seats::Seats;
use crate::store::TaskStore;
use crate::tool::ToolAgent;
use crate::{rest, rpc, stamp};

const SWEEP_EVERY: Duration = Duration::from_secs(10);
/// Old tasks are looked for once in so many sweeps.
const FORGET_EVERY: u32 = 360;
const CARD: &str = "/.well-known/agent-card.json";

/// What the agents need from whoever serves them.
#[derive(Clone)]
pub struct Options {
    /// What stands in front of every address: empty, or `/something`.
    pub prefix: String,
    /// Scheme and authority as clients reach this server; from each request where it is not set.
    pub public_url: Option<String>,
    /// Whether callers without a credential are let in, for the card to say.
    pub open: bool,
    /// Turns credentials into owners of tasks; the pipeline's own.
    pub authenticator: Arc<dyn Authenticator>,
    pub store: Arc<dyn TaskStore>,
    pub courier: Arc<dyn Courier>,
    /// The time in milliseconds since 1970.
    pub now: Arc<dyn Fn() -> i64 + Send + Sync>,
    pub limits: Limits,
    /// Where tasks run, so that a server that stops can wait for them.
    pub tasks: TaskTracker,
    pub stop: CancellationToken,
}

/// The agents of all services that the view shows. Requests must carry a [`contract::RequestMeta`].
pub fn router(pipeline: &Arc<Pipeline>, view: &View, options: Options) -> Result<Router, Fault> {
    let shown = pipeline.catalog().list(view).filter(|listed| {
        listed.service.agent.as_ref().is_some_and(|it| it.tool == listed.tool.spec.name)
    });
    let agents = shown
        .filter_map(|listed| ToolAgent::of(pipeline, &listed.service.name))
        .map(|agent| Box::new(agent) as Box<dyn Agent>);
    serve(agents.collect(), options)
}

pub(crate) fn serve(agents: Vec<Box<dyn Agent>>, options: Options) -> Result<Router, Fault> {
    let mut router = Router::new();
    if agents.is_empty() {
        return Ok(router);
    }
    let Options { courier, store, now, tasks, stop, .. } = &options;
    let push = Push::start(courier, store, now, tasks, stop);
    for (at, agent) in agents.into_iter().enumerate() {
        let desk = Arc::new(desk(agent, &options, &push, &options.now));
        let base = format!("{}{}", options.prefix, desk.agent.spec().path);
        options.tasks.spawn(sweep(Arc::clone(&desk)));
        // The usual place shows the first agent; each has its own card beneath its own address.
        if at == 0 {
            router = router.merge(card(&format!("{}{CARD}", options.prefix), &desk));
        }
        let endpoint = post(rpc::serve).with_state(Arc::clone(&desk));
        router = router
            .merge(card(&format!("{base}{CARD}"), &desk))
            .route(&base, endpoint.clone())
            // Some clients add a slash to the address they are given.
            .route(&format!("{base}/"), endpoint)
            .merge(rest::routes(&format!("{base}/rest"), &desk));
    }
    // The edge has read the body within its own bound.
    Ok(router.layer(DefaultBodyLimit::disable()))
}

fn card(path: &str, desk: &Arc<Desk>) -> Router {
    let page = |State(desk): State<Arc<Desk>>, headers: HeaderMap| async move {
        let page: Response = desk.shop.page(&*desk.agent, &headers);
        page
    };
    Router::new().route(path, get(page)).with_state(Arc::clone(desk))
}

fn desk(agent: Box<dyn Agent>, options: &Options, push: &Push, now: &Now) -> Desk {
    Desk {
        agent,
        authenticator: Arc::clone(&options.authenticator),
        shop: Shop {
            public_url: options.public_url.clone(),
            prefix: options.prefix.clone(),
            open: options.open,
        },
        limits: options.limits,
        courier: Arc::clone(&options.courier),
        tools: Tools {
            store: Arc::clone(&options.store),
            push: push.clone(),
            now: Arc::clone(now),
            runner: Arc::from(stamp::fresh_id()),
            stop: options.stop.clone(),
        },
        tasks: options.tasks.clone(),
        hub: Hub::default(),
        seats: Seats::default(),
    }
}

/// Looks now and then for what others left behind.
async fn sweep(desk: Arc<Desk>) {
    let mut round = 0_u32;
    loop {
        desk.sweep(round.is_multiple_of(FORGET_EVERY)).await;
        round = round.wrapping_add(1);
        tokio::select! {
            () = desk.tools.stop.cancelled() => return,
            () = tokio::time::sleep(SWEEP_EVERY) => {}
        }
    }
}
