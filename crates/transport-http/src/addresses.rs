//! What answers at each address. Tools, uploads and downloads may share one where their methods
//! differ, and a method that none of them takes is refused with the list of those that are.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;

use axum::routing::MethodRouter;
use axum::{Extension, Router};
use contract::{Pipeline, RequestMeta};
use http::Method;

use crate::rest;

pub(crate) struct Addresses {
    pipeline: Arc<Pipeline>,
    at: BTreeMap<String, Address>,
}

struct Address {
    service: Arc<str>,
    takes: Vec<Method>,
    router: MethodRouter,
}

impl Addresses {
    pub(crate) fn new(pipeline: &Arc<Pipeline>) -> Self {
        Self { pipeline: Arc::clone(pipeline), at: BTreeMap::new() }
    }

    /// Adds what answers to a method at these paths. The catalogue has seen to it that nothing
    /// else does.
    pub(crate) fn add<'a>(
        &mut self,
        service: &Arc<str>,
        method: &Method,
        paths: impl Iterator<Item = &'a str>,
        router: &MethodRouter,
    ) {
        for path in paths {
            let address = self.at.entry(path.to_owned()).or_insert_with(|| Address {
                service: Arc::clone(service),
                takes: Vec::new(),
                router: MethodRouter::new(),
            });
            address.takes.push(method.clone());
            address.router = std::mem::take(&mut address.router).merge(router.clone());
        }
    }

    pub(crate) fn routes(self) -> Router {
        let mut routes = Router::new();
        for (path, Address { service, takes, router }) in self.at {
            let pipeline = Arc::clone(&self.pipeline);
            let fallback = move |Extension(arrival): Extension<RequestMeta>| {
                ready(rest::wrong_method(&pipeline, &service, &arrival, &takes))
            };
            routes = routes.route(&path, router.fallback(fallback));
        }
        routes
    }
}
