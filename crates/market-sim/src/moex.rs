//! The server side of the Moscow exchange's ISS: routes and the common parts of responses. Only JSON, only
//! shares and indices of the stock engine, and only what needs no subscription.

mod analytics;
mod basket;
mod blocks;
mod calendar;
mod candles;
mod damage;
mod history;
mod indices;
mod limits;
mod listing;
mod marketdata;
mod prices;
mod query;
mod reference;
mod routes;
mod search;
mod tape;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query as UrlQuery, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::get;

pub(crate) use self::limits::Limits;

use self::blocks::Block;
use self::calendar::Wall;
use self::listing::{Listing, Security};
use self::query::Query;
use self::tape::Tape;
use crate::binance::{DropConnection, cut_in_half};
use crate::faults::{FaultKind, InjectedFault};
use crate::keyed_rng::{KeyedRng, key, key_of};
use crate::sim::Shared;

/// The state of ISS between requests.
#[derive(Debug)]
pub(crate) struct Moex {
    listing: Listing,
    counts: candles::Counts,
    pub(crate) limits: Limits,
}

impl Moex {
    pub(crate) fn new(requests_per_minute: u32) -> Self {
        let (listing, counts) = (Listing::new(), candles::Counts::default());
        Self { listing, counts, limits: Limits::new(requests_per_minute) }
    }
}

/// ISS at the time of one request.
struct Iss<'a> {
    seed: u64,
    listing: &'a Listing,
    counts: &'a candles::Counts,
    now: Wall,
}

impl<'a> Iss<'a> {
    /// The delay of share prices without a subscription. Indices have none.
    const DELAY_MS: i64 = 15 * 60_000;

    fn until(&self, security: Security<'_>) -> Wall {
        match security {
            Security::Share(_) => self.now.minus_ms(Self::DELAY_MS),
            Security::Index(_) => self.now,
        }
    }

    fn tape(&self, security: Security<'a>) -> Tape<'a> {
        Tape::new(self.seed, security, self.listing, self.until(security))
    }
}

/// Modes of trading. Only the first of the three for shares has trades here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Board {
    Tqbr,
    Smal,
    Speq,
    Sndx,
    Rtsi,
}

impl Board {
    const ALL: [Self; 5] = [Self::Tqbr, Self::Smal, Self::Speq, Self::Sndx, Self::Rtsi];

    const fn id(self) -> &'static str {
        match self {
            Self::Tqbr => "TQBR",
            Self::Smal => "SMAL",
            Self::Speq => "SPEQ",
            Self::Sndx => "SNDX",
            Self::Rtsi => "RTSI",
        }
    }

    const fn market(self) -> &'static str {
        match self {
            Self::Tqbr | Self::Smal | Self::Speq => "shares",
            Self::Sndx | Self::Rtsi => "index",
        }
    }

    const fn number(self) -> i64 {
        match self {
            Self::Tqbr => 129,
            Self::Smal => 110,
            Self::Speq => 428,
            Self::Sndx => 102,
            Self::Rtsi => 103,
        }
    }

    const fn group(self) -> i64 {
        match self {
            Self::Tqbr => 57,
            Self::Smal => 21,
            Self::Speq => 265,
            Self::Sndx | Self::Rtsi => 9,
        }
    }

    const fn title(self, english: bool) -> &'static str {
        match (self, english) {
            (Self::Tqbr, false) => "Т+: Акции и ДР - безадрес.",
            (Self::Tqbr, true) => "T+: Stocks, DRs",
            (Self::Smal, false) => "Т+: Неполные лоты (акции) - безадрес.",
            (Self::Smal, true) => "T+: Odd lots (stocks)",
            (Self::Speq, false) => "Поставка по СК (акции)",
            (Self::Speq, true) => "Settlement of stocks",
            (Self::Sndx, false) => "Индексы фондового рынка",
            (Self::Sndx, true) => "Stock indices",
            (Self::Rtsi, false) => "Индексы РТС",
            (Self::Rtsi, true) => "RTS indices",
        }
    }
}

/// Why a response has no blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// Unknown path.
    Unknown,
    /// Only for subscribers: a page to sign in on.
    SignIn,
    /// Only for subscribers: refused.
    Closed,
    /// The block of this name holds an error row.
    Row(&'static str),
}

pub(crate) fn router() -> Router<Arc<Shared>> {
    let handle = |State(shared): State<Arc<Shared>>,
                  Path(path): Path<String>,
                  UrlQuery(query): UrlQuery<Vec<(String, String)>>| async move {
        serve(&shared, &path, Query::new(query)).await
    };
    Router::new().route("/iss/{*path}", get(handle))
}

/// A response before faults change it.
struct Answer {
    status: StatusCode,
    body: String,
    html: bool,
    retry_after_s: Option<u64>,
}

impl Answer {
    fn json(body: String) -> Self {
        Self { status: StatusCode::OK, body, html: false, retry_after_s: None }
    }

    fn page(status: StatusCode, title: &str) -> Self {
        let body = format!(
            "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
             <body><h1>{title}</h1></body></html>\n"
        );
        Self { status, body, html: true, retry_after_s: None }
    }
}

async fn serve(shared: &Shared, path: &str, query: Query) -> Response {
    let moment = shared.clock.now();
    let request = shared.moex.limits.count();
    let fault = shared.faults.strike_page(&format!("/iss/{path}"), query.start() > 0);
    let refused = shared.moex.limits.charge(moment).err();
    let answer = match (refusal(fault.as_ref()), refused) {
        (Some(answer), _) => answer,
        (None, Some(seconds)) => {
            let page = Answer::page(StatusCode::TOO_MANY_REQUESTS, "Too many requests");
            Answer { retry_after_s: Some(seconds), ..page }
        }
        (None, None) => {
            let Moex { listing, counts, .. } = &shared.moex;
            let iss = Iss { seed: shared.seed, listing, counts, now: Wall::of(moment) };
            answer(&iss, path, &query, fault.as_ref())
        }
    };
    match fault.as_ref().map(|fault| (fault.kind, fault.delay_ms)) {
        Some((FaultKind::Slow, delay)) => {
            tokio::time::sleep(Duration::from_millis(delay.unwrap_or_default())).await;
        }
        // Ends when the client or the server closes the connection.
        Some((FaultKind::Stall, _)) => std::future::pending().await,
        _ => {}
    }
    let id = KeyedRng::new(key(&[shared.seed, key_of("iss"), request]));
    respond(answer, fault.map(|fault| fault.kind), id)
}

/// The response that a fault puts in place of the real one.
fn refusal(fault: Option<&InjectedFault>) -> Option<Answer> {
    let fault = fault?;
    let page = |code: u16, title: &str| {
        Answer::page(StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_GATEWAY), title)
    };
    Some(match fault.kind {
        FaultKind::Status429 => {
            let page = page(429, "Too many requests");
            Answer { retry_after_s: fault.retry_after_s, ..page }
        }
        FaultKind::Status418 => {
            Answer { retry_after_s: fault.retry_after_s, ..page(418, "Blocked") }
        }
        FaultKind::Status451 => page(451, "Unavailable for legal reasons"),
        FaultKind::Status403 => page(403, "Access denied"),
        FaultKind::Status500 => page(500, "Internal server error"),
        FaultKind::Status503 => page(503, "Service unavailable"),
        FaultKind::Html => page(200, "Технические работы"),
        _ => return None,
    })
}

const PAST_ALL_ROWS: usize = 1_000_000_000;

fn answer(iss: &Iss<'_>, path: &str, query: &Query, fault: Option<&InjectedFault>) -> Answer {
    let kind = fault.map(|fault| fault.kind);
    let requested = match kind {
        // The fault returns another page than the requested one.
        Some(FaultKind::RepeatedPage) => &query.starting_at(0),
        Some(FaultKind::MissingPage) => &query.starting_at(PAST_ALL_ROWS),
        _ => query,
    };
    let blocks: Result<Vec<Block>, Failure> = routes::answer(iss, path, requested);
    match blocks {
        Ok(mut blocks) => {
            if let Some(kind) = kind {
                damage::apply(kind, &mut blocks);
            }
            Answer::json(blocks::render(blocks, query))
        }
        Err(Failure::Row(name)) => {
            Answer::json(blocks::render(vec![damage::error_block(name)], query))
        }
        Err(Failure::Unknown) => Answer::page(StatusCode::NOT_FOUND, "404 Not Found"),
        Err(Failure::SignIn) => Answer::page(StatusCode::OK, "Вход для подписчиков"),
        Err(Failure::Closed) => Answer::page(StatusCode::FORBIDDEN, "403 Forbidden"),
    }
}

fn respond(answer: Answer, fault: Option<FaultKind>, mut id: KeyedRng) -> Response {
    let length = answer.body.len();
    let truncated = fault == Some(FaultKind::Truncated);
    let body = if truncated { cut_in_half(answer.body) } else { Body::from(answer.body) };
    let mut response = Response::new(body);
    *response.status_mut() = answer.status;
    let headers = response.headers_mut();
    let kind =
        if answer.html { "text/html; charset=utf-8" } else { "application/json; charset=utf-8" };
    for (name, value) in [
        ("cache-control", "max-age=5"),
        ("x-micexcachetime", "5"),
        ("x-micexpassport-marker", "denied"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(id) = HeaderValue::from_str(&format!("{:016x}{:016x}", id.next_u64(), id.next_u64()))
    {
        headers.insert("x-request-id", id);
    }
    if let Some(seconds) = answer.retry_after_s {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if truncated {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    if fault == Some(FaultKind::Drop) {
        response.extensions_mut().insert(DropConnection);
    }
    response
}

#[cfg(test)]
mod tests;
