//! A model at a loopback port. It answers each request from its script, in the API of the request,
//! and records the requests.

use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use futures_util::{StreamExt, future, stream};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::{ScriptedResponse, wire_format};
use crate::{Api, ModelConfig};

/// Bytes in one piece of a stream: few and odd, so that characters are split between pieces.
const PIECE_BYTES: usize = 61;

/// A request that came in.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    pub path: &'static str,
    pub headers: HeaderMap,
    pub body: Value,
}

#[derive(Debug, Default)]
struct ScriptState {
    script: Mutex<VecDeque<ScriptedResponse>>,
    received: Mutex<Vec<ReceivedRequest>>,
}

/// It stops when it is dropped.
#[derive(Debug)]
pub struct LoopbackProvider {
    address: SocketAddr,
    state: Arc<ScriptState>,
    _server: JoinSet<io::Result<()>>,
}

impl LoopbackProvider {
    pub async fn start(script: impl IntoIterator<Item = ScriptedResponse>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(ScriptState {
            script: Mutex::new(script.into_iter().collect()),
            ..ScriptState::default()
        });
        let routes = Router::new()
            .route("/v1/chat/completions", post(openai))
            .route("/v1/messages", post(anthropic))
            .route("/v1/models", get(models))
            .with_state(Arc::clone(&state));
        let mut server = JoinSet::new();
        server.spawn(async move { axum::serve(listener, routes).await });
        Ok(Self { address, state, _server: server })
    }

    /// The base URL, as `LLM_BASE_URL` would contain it.
    pub fn base_url(&self, api: Api) -> String {
        match api {
            Api::OpenAi => format!("http://{}/v1", self.address),
            Api::Anthropic => format!("http://{}", self.address),
        }
    }

    pub fn config(&self, api: Api) -> ModelConfig {
        ModelConfig::new(api, self.base_url(api), "loopback")
    }

    /// Adds to the end of the script.
    pub fn push(&self, turn: ScriptedResponse) {
        lock(&self.state.script).push_back(turn);
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        lock(&self.state.received).clone()
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock()
}

/// Lists the model of [`LoopbackProvider::config`] and another one; accepts any key except a bad
/// one.
async fn models(headers: HeaderMap) -> Response {
    let bad = |name| headers.get(name).is_some_and(|it| it.as_bytes().ends_with(b"bad-key"));
    if bad("authorization") || bad("x-api-key") {
        let body = wire_format::error(Api::OpenAi, "invalid_api_key", "no such key").to_string();
        return send(401, "application/json", None, Body::from(body));
    }
    let list = r#"{"object":"list","data":[{"id":"loopback"},{"id":"another"}]}"#;
    send(200, "application/json", None, Body::from(list))
}

async fn openai(
    State(state): State<Arc<ScriptState>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    answer(&state, Api::OpenAi, "/v1/chat/completions", headers, &body).await
}

async fn anthropic(
    State(state): State<Arc<ScriptState>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    answer(&state, Api::Anthropic, "/v1/messages", headers, &body).await
}

async fn answer(
    state: &ScriptState,
    api: Api,
    path: &'static str,
    headers: HeaderMap,
    body: &[u8],
) -> Response {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let streamed = body["stream"] == true;
    lock(&state.received).push(ReceivedRequest { path, headers, body });
    let turn = lock(&state.script).pop_front();
    let good = |reply| {
        if streamed {
            ("text/event-stream; charset=utf-8", wire_format::stream(api, reply).into_bytes())
        } else {
            ("application/json", wire_format::whole(api, reply).to_string().into_bytes())
        }
    };
    match turn.unwrap_or_else(|| ScriptedResponse::error(400, "script_is_over")) {
        ScriptedResponse::Reply(reply) => {
            let (kind, bytes) = good(&reply);
            send(200, kind, None, pieces(bytes, stream::empty()))
        }
        ScriptedResponse::Fail { status, code, message, retry_after } => {
            let body = wire_format::error(api, &code, &message).to_string();
            send(status, "application/json", retry_after.as_deref(), Body::from(body))
        }
        ScriptedResponse::Raw { status, content_type, body } => {
            send(status, &content_type, None, pieces(body, stream::empty()))
        }
        ScriptedResponse::Silent => future::pending().await,
        ScriptedResponse::Stall(reply, at) => {
            let (kind, mut bytes) = good(&reply);
            bytes.truncate(at);
            send(200, kind, None, pieces(bytes, stream::pending()))
        }
        ScriptedResponse::Cut(reply, at) => {
            let (kind, mut bytes) = good(&reply);
            bytes.truncate(at);
            let broken = stream::once(async {
                // Lets the written bytes reach the socket first.
                tokio::task::yield_now().await;
                Err(io::Error::from(io::ErrorKind::ConnectionReset))
            });
            send(200, kind, None, pieces(bytes, broken))
        }
    }
}

type Piece = io::Result<Vec<u8>>;

fn pieces(bytes: Vec<u8>, end: impl stream::Stream<Item = Piece> + Send + 'static) -> Body {
    let pieces: Vec<Piece> = bytes.chunks(PIECE_BYTES).map(|it| Ok(it.to_vec())).collect();
    Body::from_stream(stream::iter(pieces).chain(end))
}

fn send(status: u16, content_type: &str, retry_after: Option<&str>, body: Body) -> Response {
    let mut response = Response::builder().status(status).header("content-type", content_type);
    if let Some(wait) = retry_after {
        response = response.header("retry-after", wait);
    }
    response.body(body).unwrap_or_else(|_| {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    })
}
