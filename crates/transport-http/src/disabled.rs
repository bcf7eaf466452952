//! Refuses the paths of a contract that this server is configured not to serve, with the error
//! envelope of the service they belong to.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use axum::routing::any;
use axum::{Extension, Router};
use contract::{HttpBinding, Pipeline, RequestMeta, Service, View};
use fault::Fault;

use crate::mounted::{EdgeRoute, MountedRoutes};
use crate::rest;

/// One refusing route per path; `paths` maps a path to its service.
pub(crate) fn routes(paths: BTreeMap<String, Arc<Service>>) -> Router {
    let mut router = Router::new();
    for (path, service) in paths {
        router = router.route(&path, any(refuse).with_state(service));
    }
    router
}

/// Refusing routes for every path of the view, for a server whose contracts are not served over plain
/// HTTP. The operators' pages are left out, because they stay enabled.
pub fn disabled_routes(pipeline: &Arc<Pipeline>, view: &View) -> MountedRoutes {
    let view = &View { http: true, ..view.clone() };
    let mut paths = BTreeMap::new();
    for listed in pipeline.catalog().list(view) {
        for path in listed.tool.spec.http.iter().flat_map(HttpBinding::paths) {
            paths.insert(path.to_owned(), Arc::clone(listed.service));
        }
    }
    for found in pipeline.catalog().uploads(view) {
        let bound = |path: &str| (path.to_owned(), Arc::clone(found.service()));
        paths.extend(found.row().spec.paths().map(bound));
    }
    for found in pipeline.catalog().downloads(view) {
        let bound = |path: &str| (path.to_owned(), Arc::clone(found.service()));
        paths.extend(found.row().spec.paths().map(bound));
    }
    for found in pipeline.catalog().streams(view) {
        let spec = &found.row().spec;
        for path in spec.sse.as_ref().map(|sse| &sse.path).into_iter().chain(&spec.ws) {
            paths.insert(path.clone(), Arc::clone(found.service()));
        }
    }
    for page in crate::system::PATHS {
        paths.remove(page);
    }
    let declared = paths.clone();
    let mounted = MountedRoutes::new(routes(paths));
    declared.into_iter().fold(mounted, |mounted, (path, service)| {
        mounted.declare(path, EdgeRoute::of_service(&service))
    })
}

async fn refuse(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<RequestMeta>,
) -> Response {
    let fault = Fault::not_found("switched_off", "this address is switched off on this server");
    rest::refuse(&service, &fault, &arrival)
}
