//! A receiver of webhooks that keeps what it was sent.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use parking_lot::Mutex;

use super::{ShopServer, scripted};

/// One request with the headers of Standard Webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    pub id: String,
    pub timestamp: String,
    pub signature: String,
    pub body: String,
}

/// A webhook at `/hook`; it stops when it is dropped.
pub struct WebhookReceiver {
    server: ShopServer,
    received: Arc<Mutex<Vec<Received>>>,
}

scripted!(WebhookReceiver);

impl WebhookReceiver {
    pub async fn start() -> Self {
        let received = Arc::<Mutex<Vec<Received>>>::default();
        let routes = Router::new().route("/hook", post(receive)).with_state(Arc::clone(&received));
        Self { server: ShopServer::start(routes).await, received }
    }

    /// What was accepted, in the order of its arrival.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().clone()
    }
}

async fn receive(
    State(received): State<Arc<Mutex<Vec<Received>>>>,
    headers: HeaderMap,
    body: String,
) {
    let header = |name: &str| {
        headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned()
    };
    received.lock().push(Received {
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp"),
        signature: header("webhook-signature"),
        body,
    });
}
