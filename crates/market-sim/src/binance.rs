//! The server side of Binance's spot protocols: routes, limits and faults of REST requests; WebSocket is
//! in `streams`. Prices come from `price_tree`; the endpoints select and format them.

mod damage;
mod errors;
mod exchange_info;
mod klines;
mod limits;
mod params;
mod streams;
mod text;
mod ticker;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::get;
use clock::Millis;

pub(crate) use self::limits::Limits;
pub use self::streams::StreamRules;
pub(crate) use self::streams::Streams;

use self::damage::RowFault;
use self::errors::ApiError;
use self::params::Params;
use crate::faults::{FaultKind, InjectedFault};
use crate::keyed_rng::{KeyedRng, key};
use crate::sim::Shared;

/// The REST endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    Ping,
    Time,
    ExchangeInfo,
    Klines,
    TickerDay,
    TickerPrice,
}

impl Endpoint {
    pub const ALL: [Self; 6] = [
        Self::Ping,
        Self::Time,
        Self::ExchangeInfo,
        Self::Klines,
        Self::TickerDay,
        Self::TickerPrice,
    ];

    pub const fn path(self) -> &'static str {
        match self {
            Self::Ping => "/api/v3/ping",
            Self::Time => "/api/v3/time",
            Self::ExchangeInfo => "/api/v3/exchangeInfo",
            Self::Klines => "/api/v3/klines",
            Self::TickerDay => "/api/v3/ticker/24hr",
            Self::TickerPrice => "/api/v3/ticker/price",
        }
    }

    fn weight(self, params: &Params) -> u32 {
        let symbols = || params.symbols().ok().flatten().map_or(1, |symbols| symbols.len());
        match self {
            Self::Ping | Self::Time => 1,
            Self::ExchangeInfo => 20,
            Self::Klines => 2,
            Self::TickerDay if params.has("symbol") => 2,
            Self::TickerDay if params.has("symbols") => match symbols() {
                0..=20 => 2,
                21..=100 => 40,
                _ => 80,
            },
            Self::TickerDay => 80,
            Self::TickerPrice => {
                if params.has("symbol") {
                    2
                } else {
                    4
                }
            }
        }
    }
}

pub(crate) fn router() -> Router<Arc<Shared>> {
    let requests = Endpoint::ALL.into_iter().fold(Router::new(), |router, endpoint| {
        let handle = move |State(shared): State<Arc<Shared>>,
                           Query(query): Query<Vec<(String, String)>>| async move {
            serve(&shared, endpoint, Params::new(query)).await
        };
        router.route(endpoint.path(), get(handle))
    });
    requests.merge(streams::router())
}

/// A response before faults change it.
struct Answer {
    status: StatusCode,
    body: String,
    content_type: &'static str,
    retry_after_s: Option<u64>,
}

impl Answer {
    fn json(body: String) -> Self {
        let content_type = "application/json;charset=UTF-8";
        Self { status: StatusCode::OK, body, content_type, retry_after_s: None }
    }

    fn error(error: &ApiError) -> Self {
        Self { status: error.status, ..Self::json(error.body()) }
    }

    fn page(status: StatusCode, title: &str) -> Self {
        let body = format!(
            "<!DOCTYPE html>\n<html><head><title>{title}</title></head>\n\
             <body><h1>{title}</h1><hr>Request blocked.</body></html>\n"
        );
        Self { status, body, content_type: "text/html", retry_after_s: None }
    }
}

async fn serve(shared: &Shared, endpoint: Endpoint, params: Params) -> Response {
    let now = shared.clock.now();
    let request = shared.count(endpoint);
    let fault = shared.faults.strike(endpoint.path());
    let (used, charged) = shared.limits.charge(now, endpoint.weight(&params));
    let stage = Stage { shared, endpoint, now };
    let answer = match (stage.refusal(fault.as_ref()), charged) {
        (Some(answer), _) => answer,
        (None, Err(refusal)) => {
            Answer { retry_after_s: Some(refusal.retry_after_s), ..Answer::error(&refusal.error) }
        }
        (None, Ok(())) => stage.answer(&params, fault.as_ref()),
    };
    match fault.as_ref().map(|fault| (fault.kind, fault.delay_ms)) {
        Some((FaultKind::Slow, delay)) => {
            tokio::time::sleep(Duration::from_millis(delay.unwrap_or_default())).await;
        }
        // Ends when the client or the server closes the connection.
        Some((FaultKind::Stall, _)) => std::future::pending().await,
        _ => {}
    }
    let mut response = respond(answer, fault.map(|fault| fault.kind));
    let id = uuid(shared.seed, request);
    let headers = response.headers_mut();
    for (name, value) in [
        ("x-mbx-used-weight", used.to_string()),
        ("x-mbx-used-weight-1m", used.to_string()),
        ("x-mbx-uuid", id),
        ("server", "nginx".to_owned()),
        ("cache-control", "no-cache, no-store, must-revalidate".to_owned()),
    ] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    response
}

/// One request after it was counted and charged.
struct Stage<'a> {
    shared: &'a Shared,
    endpoint: Endpoint,
    now: Millis,
}

impl Stage<'_> {
    /// The response that a fault puts in place of the real one.
    fn refusal(&self, fault: Option<&InjectedFault>) -> Option<Answer> {
        let fault = fault?;
        let wait = fault.retry_after_s;
        Some(match fault.kind {
            FaultKind::Status429 => {
                let error = ApiError::over_weight(self.shared.limits.limit());
                Answer { retry_after_s: wait, ..Answer::error(&error) }
            }
            FaultKind::Status418 => {
                let until = self.now.0 + wait.unwrap_or(120) as i64 * 1_000;
                Answer { retry_after_s: wait, ..Answer::error(&ApiError::banned(until)) }
            }
            FaultKind::Status451 => Answer::error(&ApiError::geo_blocked()),
            FaultKind::Status403 => {
                Answer::page(StatusCode::FORBIDDEN, "ERROR: The request could not be satisfied")
            }
            FaultKind::Status500 => Answer::error(&ApiError::failed()),
            FaultKind::Status503 => Answer::error(&ApiError::overloaded()),
            FaultKind::Html => Answer::page(StatusCode::OK, "Scheduled maintenance"),
            _ => return None,
        })
    }

    fn answer(&self, params: &Params, fault: Option<&InjectedFault>) -> Answer {
        let Shared { instruments, seed, .. } = self.shared;
        let (now, seed) = (self.now, *seed);
        let body = match self.endpoint {
            Endpoint::Ping => params.all_read().map(|()| "{}".to_owned()),
            Endpoint::Time => params.all_read().map(|()| format!("{{\"serverTime\":{}}}", now.0)),
            Endpoint::ExchangeInfo => {
                exchange_info::answer(instruments, now, self.shared.limits.limit(), params)
            }
            Endpoint::Klines => {
                let damage = fault.and_then(RowFault::of);
                klines::answer(instruments, seed, now, params, damage)
            }
            Endpoint::TickerDay => ticker::day(instruments, seed, now, params),
            Endpoint::TickerPrice => ticker::price(instruments, seed, now, params),
        };
        body.map_or_else(|error| Answer::error(&error), Answer::json)
    }
}

/// Marks a response that must not be sent: the connection is closed in its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DropConnection;

fn respond(answer: Answer, fault: Option<FaultKind>) -> Response {
    let length = answer.body.len();
    let truncated = fault == Some(FaultKind::Truncated);
    let body = if truncated { cut_in_half(answer.body) } else { Body::from(answer.body) };
    let mut response = Response::new(body);
    *response.status_mut() = answer.status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    if let Some(seconds) = answer.retry_after_s {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if truncated {
        headers.insert(axum::http::header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    if fault == Some(FaultKind::Drop) {
        response.extensions_mut().insert(DropConnection);
    }
    response
}

/// Sends the first half and then breaks the connection.
pub(crate) fn cut_in_half(body: String) -> Body {
    let mut half = body.into_bytes();
    half.truncate(half.len() / 2);
    let chunks = futures_util::stream::unfold(Some(Some(half)), |next| async move {
        match next? {
            Some(half) => Some((Ok(half), Some(None))),
            None => {
                // Lets the first half reach the client before the error.
                tokio::task::yield_now().await;
                Some((Err(io::Error::from(io::ErrorKind::ConnectionReset)), None))
            }
        }
    });
    Body::from_stream(chunks)
}

/// A request id in UUID form, derived from the seed and the number of the request.
fn uuid(seed: u64, request: u64) -> String {
    let mut rng = KeyedRng::new(key(&[seed, request]));
    let (high, low) = (rng.next_u64(), rng.next_u64());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        0x8000 | ((low >> 48) & 0x3fff),
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
#[path = "binance/tests.rs"]
mod tests;
