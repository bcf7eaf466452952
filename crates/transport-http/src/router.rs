//! The routes of the contracts and of the operators' pages.

use std::sync::Arc;

use axum::Extension;
use contract::{Pipeline, RequestMeta, View};

use crate::mounted::{BodyHandling, EdgeRoute, MountedRoutes, ToolEndpoint};
use crate::stream::{self, StreamOptions};
use crate::system::SystemPages;
use crate::{asyncapi, docs, openapi, rest, system};

/// The routes of everything the view shows over HTTP, and of the operators' pages. `endpoints` are
/// where the other mounted protocols offer the tools, for `/docs`.
pub fn router(
    pipeline: &Arc<Pipeline>,
    view: &View,
    pages: SystemPages,
    streams: &StreamOptions,
    endpoints: &[ToolEndpoint],
) -> MountedRoutes {
    let view = &View { http: true, ..view.clone() };
    let documents = openapi::routes(pipeline, view, pages.version, streams.sse)
        .merge(asyncapi::routes(pipeline, view, pages.version, streams))
        .merge(docs::routes(pipeline, view, streams, endpoints))
        .fallback(|Extension(meta): Extension<RequestMeta>| async move { rest::not_found(&meta) });
    let router = rest::routes(pipeline, view)
        .merge(stream::routes(pipeline, view, streams))
        .merge(documents)
        .merge(system::routes(pages));
    declare_services(MountedRoutes::new(router), pipeline, view)
}

/// Declares the service of every path that the contracts bind, so that the edge words refusals in
/// its envelope and leaves uploads unread.
pub(crate) fn declare_services(
    mut mounted: MountedRoutes,
    pipeline: &Pipeline,
    view: &View,
) -> MountedRoutes {
    let catalog = pipeline.catalog();
    for listed in catalog.list(view) {
        for path in listed.tool.spec.http.iter().flat_map(|http| http.paths()) {
            mounted = mounted.declare(path, EdgeRoute::of_service(listed.service));
        }
    }
    for found in catalog.uploads(view) {
        let spec = &found.row().spec;
        let methods = spec.methods().iter().filter_map(|it| it.parse().ok());
        let body = BodyHandling::LeaveUnreadFor(methods.collect());
        let route = EdgeRoute { body, ..EdgeRoute::of_service(found.service()) };
        for path in spec.paths() {
            mounted = mounted.declare(path, route.clone());
        }
    }
    for found in catalog.downloads(view) {
        for path in found.row().spec.paths() {
            mounted = mounted.declare(path, EdgeRoute::of_service(found.service()));
        }
    }
    for found in catalog.streams(view) {
        let spec = &found.row().spec;
        for path in spec.sse.as_ref().map(|sse| &sse.path).into_iter().chain(&spec.ws) {
            mounted = mounted.declare(path.clone(), EdgeRoute::of_service(found.service()));
        }
    }
    mounted
}
