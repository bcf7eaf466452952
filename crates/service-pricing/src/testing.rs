//! Servers on loopback that speak the APIs of Shopify and WooCommerce as far as prices go, and a
//! receiver of webhooks, for tests. A test makes each of them fail the next requests, stop and
//! start again.
#![expect(clippy::expect_used, reason = "this module is only ever part of a test")]

mod graphql;
mod receiver;
mod shopify;
mod woocommerce;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, HeaderName};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::middleware::{self, Next};
use axum::{Router, response};
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

pub use receiver::{Received, WebhookReceiver};
pub use shopify::TestShopify;
pub use woocommerce::TestWooCommerce;

/// How a server treats one request instead of answering it as usual.
#[derive(Debug, Clone)]
pub enum Treatment {
    /// Answers with this status, header and body, and does nothing.
    Answer { status: u16, header: Option<(&'static str, String)>, body: String },
    /// Answers as usual after this time.
    Slow(Duration),
    /// Does what is asked and never answers.
    Hang,
    /// As usual; keeps the place of a request between others.
    Usual,
}

impl Treatment {
    pub fn answer(status: u16, body: &str) -> Self {
        Self::Answer { status, header: None, body: body.to_owned() }
    }

    pub fn with_header(status: u16, name: &'static str, value: &str) -> Self {
        Self::Answer { status, header: Some((name, value.to_owned())), body: String::new() }
    }
}

/// The treatments of the next requests, in order, and how many requests came.
#[derive(Default)]
struct Script {
    next: Mutex<VecDeque<Treatment>>,
    requests: Mutex<usize>,
}

/// A server that keeps its port over restarts.
struct ShopServer {
    address: SocketAddr,
    routes: Router,
    script: Arc<Script>,
    running: JoinSet<()>,
}

impl ShopServer {
    async fn start(routes: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("the address of a listener");
        let script = Arc::<Script>::default();
        let routes =
            routes.layer(middleware::from_fn_with_state(Arc::clone(&script), treat_request));
        let mut server = Self { address, routes, script, running: JoinSet::new() };
        server.serve(listener);
        server
    }

    fn serve(&mut self, listener: TcpListener) {
        let routes = self.routes.clone();
        self.running.spawn(async move { axum::serve(listener, routes).await.expect("it serves") });
    }

    async fn stop(&mut self) {
        self.running.shutdown().await;
    }

    async fn restart(&mut self) {
        self.stop().await;
        let listener = TcpListener::bind(self.address).await.expect("the port is free again");
        self.serve(listener);
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Closes every connection after its answer, so that a stopped server is not reached over an old one.
async fn treat_request(
    State(script): State<Arc<Script>>,
    request: Request,
    next: Next,
) -> response::Response {
    *script.requests.lock() += 1;
    let treatment = script.next.lock().pop_front();
    let mut response = match treatment {
        Some(Treatment::Answer { status, header, body }) => {
            let mut response = Response::new(Body::from(body));
            *response.status_mut() = StatusCode::from_u16(status).expect("a status");
            if let Some((name, value)) = header {
                let value = HeaderValue::from_str(&value).expect("a header");
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
            response
        }
        Some(Treatment::Slow(wait)) => {
            tokio::time::sleep(wait).await;
            next.run(request).await
        }
        Some(Treatment::Hang) => {
            drop(next.run(request).await);
            std::future::pending().await
        }
        Some(Treatment::Usual) | None => next.run(request).await,
    };
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The methods that every test server has.
macro_rules! scripted {
    ($server:ty) => {
        impl $server {
            pub fn url(&self) -> String {
                self.server.url()
            }

            /// Treats the next requests so, after those that were named before.
            pub fn treat_next(
                &self,
                treatments: impl IntoIterator<Item = crate::testing::Treatment>,
            ) {
                self.server.script.next.lock().extend(treatments);
            }

            /// How many requests came, answered or not.
            pub fn requests(&self) -> usize {
                *self.server.script.requests.lock()
            }

            /// Refuses connections until `restart`.
            pub async fn stop(&mut self) {
                self.server.stop().await;
            }

            pub async fn restart(&mut self) {
                self.server.restart().await;
            }
        }
    };
}
pub(crate) use scripted;
