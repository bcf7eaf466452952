//! The WebSocket endpoint: checks the upgrade request (origin, credential, limits) and starts a
//! session. The streams come from the contracts.

pub(crate) mod codec;
mod message;
mod message_handler;
mod message_rate;
mod session;
mod subscriptions;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use axum::{Extension, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use contract::{Credential, Pipeline, RequestMeta, Service, StreamRef, View};
use fault::{Fault, Kind};
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto::upgrade::downcast;
use sha1::{Digest as _, Sha1};
use tokio::net::TcpStream;

use self::message_handler::MessageHandler;
use self::session::Session;
use crate::connection_slots::ConnectionSlot;
use crate::edge::AllowedOrigins;
use crate::origin;
use crate::rest;
use crate::socket_handoff::WriteTimeout;
use crate::stream::limiter::StreamLimiter;

/// Our subprotocol; a client need not ask for it.
const PROTOCOL: &str = "stoa.v1";
/// Prefix of a subprotocol that carries a token: a browser cannot set an `Authorization` header.
const BEARER: &str = "bearer.";
/// The length of 16 bytes in base64.
const KEY_LENGTH: usize = 24;
const ACCEPT_SALT: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Limits and timeouts of one connection.
#[derive(Debug, Clone, Copy)]
pub struct WsLimits {
    pub subscriptions_max: usize,
    pub messages_per_second: u32,
    pub messages_burst: u32,
    pub message_bytes_max: usize,
    /// How many bytes are gathered for one write.
    pub write_bytes: usize,
    /// A client that was silent for this long gets a ping.
    pub ping_every: Duration,
    /// A client that was silent for this long is disconnected.
    pub silence_max: Duration,
    /// A client that read nothing for this long is disconnected.
    pub stall_max: Duration,
    /// How long to wait for the client's close frame after ours.
    pub close_timeout: Duration,
}

impl Default for WsLimits {
    fn default() -> Self {
        Self {
            subscriptions_max: 64,
            messages_per_second: 10,
            messages_burst: 40,
            message_bytes_max: 64 * 1024,
            write_bytes: 64 * 1024,
            ping_every: Duration::from_secs(30),
            silence_max: Duration::from_secs(90),
            stall_max: Duration::from_secs(30),
            close_timeout: Duration::from_secs(2),
        }
    }
}

/// The streams that share a path.
pub(crate) struct WsAddress {
    /// The service whose error envelope is used where no stream is named.
    service: Arc<Service>,
    streams: Vec<StreamRef>,
}

struct WsRoute {
    pipeline: Arc<Pipeline>,
    address: Arc<WsAddress>,
    limits: WsLimits,
    limiter: Arc<StreamLimiter>,
}

pub(crate) fn routes(
    pipeline: &Arc<Pipeline>,
    view: &View,
    limits: WsLimits,
    limiter: &Arc<StreamLimiter>,
) -> Router {
    let mut router = Router::new();
    for (path, address) in addresses(pipeline, view) {
        let (pipeline, address) = (Arc::clone(pipeline), Arc::new(address));
        let route = WsRoute { pipeline, address, limits, limiter: Arc::clone(limiter) };
        router = router.route(&path, any(upgrade_request).with_state(Arc::new(route)));
    }
    router
}

fn addresses(pipeline: &Pipeline, view: &View) -> BTreeMap<String, WsAddress> {
    let mut addresses = BTreeMap::new();
    for stream in pipeline.catalog().streams(view) {
        let Some(path) = &stream.row().spec.ws else { continue };
        let address = addresses.entry(path.clone()).or_insert_with(|| WsAddress {
            service: Arc::clone(stream.service()),
            streams: Vec::new(),
        });
        address.streams.push(stream.clone());
    }
    addresses
}

async fn upgrade_request(
    State(route): State<Arc<WsRoute>>,
    Extension(arrival): Extension<RequestMeta>,
    mut request: Request,
) -> Response {
    let listed = request.extensions().get::<Arc<AllowedOrigins>>();
    let listed = listed.map_or(&[][..], |origins| &origins.0);
    if !origin::allowed(request.headers(), request.uri().authority(), listed) {
        let message = "pages of that origin may not connect here";
        let fault = Fault::new(Kind::Forbidden, "origin_refused", message);
        return refused(&route, &fault, &arrival);
    }
    let (accept, slot, upgrade) = match handshake(&mut request) {
        Ok(parts) => parts,
        Err(refused) => return refused.response(&route, &arrival),
    };
    let (has_subprotocol, credential) = protocols(request.headers(), &arrival.credential);
    let admitted = route.pipeline.admit_connection(&credential, &route.address.service).await;
    let credential = match admitted {
        Ok(credential) => credential,
        Err(fault) => return refused(&route, &fault, &arrival),
    };
    let stream_slot = match route.limiter.acquire(arrival.client) {
        Ok(stream_slot) => stream_slot,
        Err(fault) => return refused(&route, &fault, &arrival),
    };
    let handler = MessageHandler {
        pipeline: Arc::clone(&route.pipeline),
        address: Arc::clone(&route.address),
        credential,
        request_id: arrival.request_id,
        client: arrival.client,
    };
    let limits = route.limits;
    let tasks = slot.tasks.clone();
    tasks.spawn(async move {
        if let Some((io, early)) = upgraded(upgrade).await {
            Session::new(io, early, handler, limits, slot.stop.clone()).await;
        }
        drop((stream_slot, slot));
    });
    switching(&accept, has_subprotocol)
}

/// Checks the upgrade request; the error says what is missing.
fn handshake(
    request: &mut Request,
) -> Result<(HeaderValue, Arc<ConnectionSlot>, OnUpgrade), RefusedHandshake> {
    use RefusedHandshake::{BadKey, UpgradeRequired, WrongMethod};
    let headers = request.headers();
    let lists = |name: HeaderName, word: &str| {
        let texts = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
        texts.flat_map(|text| text.split(',')).any(|it| it.trim().eq_ignore_ascii_case(word))
    };
    if request.method() != Method::GET {
        return Err(WrongMethod);
    }
    if request.version() != Version::HTTP_11 {
        let message = "this address takes a WebSocket, which begins with GET over HTTP/1.1";
        return Err(UpgradeRequired(message));
    }
    if !lists(CONNECTION, "upgrade") || !lists(UPGRADE, "websocket") {
        return Err(UpgradeRequired("this address takes a WebSocket; ask for the upgrade"));
    }
    if !lists(SEC_WEBSOCKET_VERSION, "13") {
        let message = "this address speaks version 13 of the WebSocket protocol";
        return Err(UpgradeRequired(message));
    }
    let accept = accept(headers).ok_or(BadKey)?;
    let slot = request.extensions().get::<Arc<ConnectionSlot>>().cloned();
    let upgrade = request.extensions_mut().remove::<OnUpgrade>();
    let (Some(slot), Some(upgrade)) = (slot, upgrade) else {
        return Err(UpgradeRequired("this connection cannot be upgraded"));
    };
    Ok((accept, slot, upgrade))
}

/// Why a request does not begin a WebSocket (RFC 6455, section 4.2).
enum RefusedHandshake {
    /// 405.
    WrongMethod,
    /// 426 with the version of the protocol; the text says what to ask for.
    UpgradeRequired(&'static str),
    /// 400: the `Sec-WebSocket-Key` is missing, there twice, or not 16 bytes in base64.
    BadKey,
}

impl RefusedHandshake {
    fn response(self, route: &WsRoute, arrival: &RequestMeta) -> Response {
        match self {
            Self::WrongMethod => {
                rest::wrong_method(&route.address.service, arrival, &[Method::GET])
            }
            Self::UpgradeRequired(message) => upgrade_required(route, arrival, message),
            Self::BadKey => {
                let expected = "one key of 16 bytes in base64";
                let message = format!("sec-websocket-key: expected {expected}");
                let fault = Fault::invalid("websocket_key", message);
                refused(route, &fault.problem("sec-websocket-key", expected), arrival)
            }
        }
    }
}

/// The `Sec-WebSocket-Accept` of the request's only key (RFC 6455, section 4.2.2).
fn accept(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut keys = headers.get_all(SEC_WEBSOCKET_KEY).into_iter();
    let key = keys.next().filter(|key| key.len() == KEY_LENGTH && is_key(key.as_bytes()))?;
    if keys.next().is_some() {
        return None;
    }
    let mut hash = Sha1::new();
    hash.update(key.as_bytes());
    hash.update(ACCEPT_SALT);
    HeaderValue::from_str(&STANDARD.encode(hash.finalize())).ok()
}

/// Whether the text is 16 bytes in base64. The four bits that a key leaves over may be anything.
fn is_key(text: &[u8]) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    text.strip_suffix(b"==").is_some_and(|digits| digits.iter().all(is_digit))
}

/// Whether the client asked for our subprotocol, and its credential: the header's, or else the token
/// in a `bearer.` subprotocol. That token is never echoed, so proxies do not log it with responses.
fn protocols(headers: &HeaderMap, known: &Credential) -> (bool, Credential) {
    let mut credential = known.clone();
    let mut has_subprotocol = false;
    let lists = headers.get_all(SEC_WEBSOCKET_PROTOCOL).into_iter();
    for name in lists.filter_map(|list| list.to_str().ok()).flat_map(|list| list.split(',')) {
        let name = name.trim();
        has_subprotocol |= name == PROTOCOL;
        let token = name.strip_prefix(BEARER).filter(|token| !token.is_empty());
        if let (Credential::None, Some(token)) = (&credential, token) {
            credential = Credential::Bearer(Arc::from(token));
        }
    }
    (has_subprotocol, credential)
}

/// The raw socket and the bytes that were read after the upgrade request.
async fn upgraded(upgrade: OnUpgrade) -> Option<(TcpStream, Bytes)> {
    let upgraded = upgrade.await.ok()?;
    let parts = downcast::<TokioIo<WriteTimeout<TcpStream>>>(upgraded).ok()?;
    // Copied, because the original keeps the whole request buffer alive.
    Some((parts.io.into_inner().into_inner()?, Bytes::copy_from_slice(&parts.read_buf)))
}

fn switching(accept: &HeaderValue, has_subprotocol: bool) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept.clone());
    if has_subprotocol {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    }
    response
}

fn upgrade_required(route: &WsRoute, arrival: &RequestMeta, message: &str) -> Response {
    let mut response = refused(route, &Fault::invalid("upgrade_required", message), arrival);
    *response.status_mut() = StatusCode::UPGRADE_REQUIRED;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    response
}

fn refused(route: &WsRoute, fault: &Fault, arrival: &RequestMeta) -> Response {
    rest::refuse(&route.address.service, fault, arrival)
}
