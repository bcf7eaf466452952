//! Refuses the paths of a contract that this server is configured not to serve, with the error
//! envelope of the service they belong to.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use axum::routing::any;
use axum::{Extension, Router};
use contract::{HttpBinding, Pipeline, RequestMeta, View};
use fault::Fault;

use crate::mounted::{EdgeRoute, MountedRoutes};
use crate::rest;

struct DisabledRoute {
    pipeline: Arc<Pipeline>,
    service: Arc<str>,
}

/// One refusing route per path; `paths` maps a path to its service.
pub(crate) fn routes(pipeline: &Arc<Pipeline>, paths: BTreeMap<String, Arc<str>>) -> Router {
    let mut router = Router::new();
    for (path, service) in paths {
        let disabled = DisabledRoute { pipeline: Arc::clone(pipeline), service };
        router = router.route(&path, any(refuse).with_state(Arc::new(disabled)));
    }
    router
}

/// Refusing routes for every path of the view, for a server that serves MCP alone. The operators'
/// pages are left out, because they stay enabled.
pub fn disabled_routes(pipeline: &Arc<Pipeline>, view: &View) -> MountedRoutes {
    let view = &View { http: true, ..view.clone() };
    let mut paths = BTreeMap::new();
    for listed in pipeline.catalog().list(view) {
        for path in listed.tool.spec.http.iter().flat_map(HttpBinding::paths) {
            paths.insert(path.to_owned(), Arc::clone(&listed.service.name));
        }
    }
    for (service, row) in pipeline.catalog().uploads(view) {
        paths.extend(row.spec.paths().map(|path| (path.to_owned(), Arc::clone(&service.name))));
    }
    for (service, row) in pipeline.catalog().downloads(view) {
        paths.extend(row.spec.paths().map(|path| (path.to_owned(), Arc::clone(&service.name))));
    }
    for (service, row) in pipeline.catalog().streams(view) {
        let sse = row.spec.sse.as_ref().map(|sse| &sse.path);
        for path in sse.into_iter().chain(&row.spec.ws) {
            paths.insert(path.clone(), Arc::clone(&service.name));
        }
    }
    for page in crate::system::PATHS {
        paths.remove(page);
    }
    let declared = paths.clone();
    let mounted = MountedRoutes::new(routes(pipeline, paths));
    declared.into_iter().fold(mounted, |mounted, (path, service)| {
        mounted.declare(path, EdgeRoute::of_service(&service))
    })
}

async fn refuse(
    State(disabled): State<Arc<DisabledRoute>>,
    Extension(arrival): Extension<RequestMeta>,
) -> Response {
    let fault = Fault::not_found("switched_off", "this address is switched off on this server");
    rest::refuse(&disabled.pipeline, &disabled.service, &fault, &arrival)
}
