//! Collects the routes of each path. Tools, uploads and downloads may share a path with different
//! methods; any other method is refused with the list of allowed ones.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;

use axum::routing::MethodRouter;
use axum::{Extension, Router};
use contract::{RequestMeta, Service};
use http::Method;

use crate::rest;

#[derive(Default)]
pub(crate) struct PathRoutes {
    paths: BTreeMap<String, PathRoute>,
}

struct PathRoute {
    service: Arc<Service>,
    methods: Vec<Method>,
    router: MethodRouter,
}

impl PathRoutes {
    /// Adds the handler of a method at these paths. The catalog has already rejected conflicts.
    pub(crate) fn add<'a>(
        &mut self,
        service: &Arc<Service>,
        method: &Method,
        paths: impl Iterator<Item = &'a str>,
        router: &MethodRouter,
    ) {
        for path in paths {
            let route = self.paths.entry(path.to_owned()).or_insert_with(|| PathRoute {
                service: Arc::clone(service),
                methods: Vec::new(),
                router: MethodRouter::new(),
            });
            route.methods.push(method.clone());
            // The router answers HEAD with the handler of GET.
            route.methods.extend((method == Method::GET).then_some(Method::HEAD));
            route.router = std::mem::take(&mut route.router).merge(router.clone());
        }
    }

    pub(crate) fn routes(self) -> Router {
        let mut routes = Router::new();
        for (path, PathRoute { service, methods, router }) in self.paths {
            let fallback = move |Extension(arrival): Extension<RequestMeta>| {
                ready(rest::wrong_method(&service, &arrival, &methods))
            };
            routes = routes.route(&path, router.fallback(fallback));
        }
        routes
    }
}
