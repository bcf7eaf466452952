//! The quotes API of another server, over HTTP: the same paths and bodies that this one serves.

use std::time::Duration;

use async_trait::async_trait;
use fault::{Fault, Kind};
use market::{Delay, Freshness};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::answer::{
    BarRow, HealthCheck, HealthReply, HealthStatus, HistoryQuery, HistoryReply, LiveReply,
    MissingTicker, QuoteRow, VenueSources,
};
use crate::ports::{ApiContext, QuotesApi};

/// A page of 200 bars is well below this; anything longer is not an answer to our question.
const BODY_MAX: usize = 4 * 1024 * 1024;

pub struct RemoteApi {
    base: String,
    client: reqwest::Client,
}

impl RemoteApi {
    /// `base` is the address in front of `/v1`; the token, if any, goes with every request.
    pub fn new(base: &str, token: Option<&str>) -> Result<Self, Fault> {
        let mut headers = HeaderMap::new();
        if let Some(token) = token {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
                .map_err(|_| Fault::invalid("invalid_token", "the API token is not printable"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let client = http_client::builder("stoa")
            .default_headers(headers)
            .connect_timeout(Duration::from_secs(5))
            .build()
            .map_err(Fault::internal)?;
        Ok(Self { base: base.trim_end_matches('/').to_owned(), client })
    }

    async fn get<T: DeserializeOwned>(
        &self,
        cx: &ApiContext,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<(T, HeaderMap), Fault> {
        let left = cx.deadline.saturating_duration_since(Instant::now());
        let request = self
            .client
            .get(format!("{}{path}", self.base))
            .query(query)
            .header("x-request-id", &*cx.request_id)
            .timeout(left);
        let mut response = request.send().await.map_err(unreachable_api)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable_api)? {
            if body.len() + chunk.len() > BODY_MAX {
                return Err(malformed(path));
            }
            body.extend_from_slice(&chunk);
        }
        // A health probe says 503 with a body that is still an answer.
        if status.is_success() || (status.as_u16() == 503 && path == "/v1/health") {
            let value = serde_json::from_slice(&body).map_err(|_| malformed(path))?;
            return Ok((value, headers));
        }
        Err(refused(status.as_u16(), &body, &headers))
    }
}

fn unreachable_api(error: reqwest::Error) -> Fault {
    let kind = if error.is_timeout() { Kind::Timeout } else { Kind::Unavailable };
    Fault::new(kind, "upstream_unreachable", "the quotes API could not be reached")
        .caused_by(error.without_url())
}

fn malformed(path: &str) -> Fault {
    Fault::unavailable(
        "upstream_malformed",
        format!("the quotes API answered {path} with nonsense"),
    )
}

#[derive(Deserialize)]
struct ErrorBody {
    error: RemoteError,
}

#[derive(Deserialize)]
struct RemoteError {
    r#type: String,
    message: String,
    retry_after_s: Option<f64>,
}

/// The other server's error in our own terms; its message was written to be shown.
fn refused(status: u16, body: &[u8], headers: &HeaderMap) -> Fault {
    let told: Option<RemoteError> =
        serde_json::from_slice(body).ok().map(|body: ErrorBody| body.error);
    let kind = match (told.as_ref().map(|it| it.r#type.as_str()), status) {
        (Some("VALIDATION_ERROR"), _) | (None, 400 | 422) => Kind::Invalid,
        (Some("UNAUTHENTICATED"), _) | (None, 401) => Kind::Unauthenticated,
        (Some("FORBIDDEN"), _) | (None, 403) => Kind::Forbidden,
        (Some("NOT_FOUND"), _) | (None, 404) => Kind::NotFound,
        (Some("RATE_LIMITED"), _) | (None, 429) => Kind::RateLimited,
        (_, 504) => Kind::Timeout,
        _ => Kind::Unavailable,
    };
    let message = match &told {
        Some(told) => told.message.clone(),
        None => format!("the quotes API answered with status {status}"),
    };
    let header = headers.get(RETRY_AFTER).and_then(|it| it.to_str().ok()?.parse().ok());
    let wait = told.and_then(|it| it.retry_after_s).or(header);
    let fault = Fault::new(kind, "upstream_refused_request", message);
    match wait.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(wait) => fault.retry_after(wait),
        None => fault,
    }
}

#[derive(Deserialize)]
struct RemoteMissing {
    ticker: String,
    reason: String,
    retryable: bool,
}

impl From<RemoteMissing> for MissingTicker {
    fn from(it: RemoteMissing) -> Self {
        Self { ticker: it.ticker, reason: it.reason, retryable: it.retryable }
    }
}

#[derive(Deserialize)]
struct LiveBody {
    quotes: Vec<LiveRow>,
    #[serde(default)]
    missing: Vec<RemoteMissing>,
}

#[derive(Deserialize)]
struct LiveRow {
    ticker: String,
    price: String,
    currency: String,
    as_of: String,
    volume: Option<i64>,
}

#[derive(Deserialize)]
struct HistoryBody {
    items: Vec<HistoryRow>,
    total: u64,
    #[serde(default)]
    missing: Vec<RemoteMissing>,
}

#[derive(Deserialize)]
struct HistoryRow {
    ticker: String,
    timestamp: String,
    open: String,
    high: String,
    low: String,
    close: String,
    volume: Option<String>,
}

#[derive(Deserialize)]
struct HealthBody {
    status: String,
}

/// What the other server said of its answer's age, if it is one that says so.
fn freshness(headers: &HeaderMap) -> Option<Freshness> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let time = |name: &str| {
        let at: jiff::Timestamp = text(name)?.parse().ok()?;
        Some(clock::Millis(at.as_millisecond()))
    };
    Some(Freshness {
        source: text("x-stoa-source")?.to_owned(),
        as_of: time("x-stoa-as-of")?,
        received_at: time("x-stoa-received-at")?,
        delay: match text("x-stoa-delay")? {
            "delayed_15m" => Delay::Delayed15m,
            "eod" => Delay::EndOfDay,
            "static" => Delay::Static,
            _ => Delay::RealTime,
        },
        stale: text("x-stoa-stale") == Some("true"),
        fallback: text("x-stoa-fallback").map(str::to_owned),
    })
}

fn request_id(headers: &HeaderMap, cx: &ApiContext) -> std::sync::Arc<str> {
    match headers.get("x-request-id").and_then(|value| value.to_str().ok()) {
        Some(id) => id.into(),
        None => cx.request_id.clone(),
    }
}

#[async_trait]
impl QuotesApi for RemoteApi {
    async fn live(&self, cx: &ApiContext, tickers: &[String]) -> Result<LiveReply, Fault> {
        let query = [("tickers", tickers.join(","))];
        let (body, headers): (LiveBody, _) = self.get(cx, "/v1/quotes", &query).await?;
        let row = |it: LiveRow| QuoteRow {
            ticker: it.ticker,
            price: it.price,
            currency: it.currency,
            as_of: it.as_of,
            volume: it.volume,
        };
        Ok(LiveReply {
            quotes: body.quotes.into_iter().map(row).collect(),
            missing: body.missing.into_iter().map(MissingTicker::from).collect(),
            freshness: freshness(&headers),
            request_id: request_id(&headers, cx),
        })
    }

    async fn historical(
        &self,
        cx: &ApiContext,
        query: &HistoryQuery,
    ) -> Result<HistoryReply, Fault> {
        let parameters = [
            ("tickers", query.tickers.join(",")),
            ("from", query.from.to_string()),
            ("to", query.to.to_string()),
            ("interval", query.interval.to_string()),
            ("page", query.page.to_string()),
            ("page_size", query.page_size.to_string()),
        ];
        let (body, headers): (HistoryBody, _) =
            self.get(cx, "/v1/quotes/historical", &parameters).await?;
        let row = |it: HistoryRow| BarRow {
            ticker: it.ticker.into(),
            timestamp: it.timestamp,
            open: it.open,
            high: it.high,
            low: it.low,
            close: it.close,
            volume: it.volume,
        };
        let gaps = headers.get("x-stoa-gaps").and_then(|it| it.to_str().ok()?.parse().ok());
        Ok(HistoryReply {
            bars: body.items.into_iter().map(row).collect(),
            total: body.total,
            missing: body.missing.into_iter().map(MissingTicker::from).collect(),
            freshness: freshness(&headers),
            gaps,
            request_id: request_id(&headers, cx),
        })
    }

    /// An API that cannot be reached is down, which is an answer, not a failure.
    async fn health(&self, cx: &ApiContext) -> Result<HealthReply, Fault> {
        let answer: Result<(HealthBody, _), Fault> = self.get(cx, "/v1/health", &[]).await;
        let (status, detail, id) = match answer {
            Ok((body, headers)) => {
                let status = match body.status.as_str() {
                    "ok" => HealthStatus::Ok,
                    "degraded" => HealthStatus::Degraded,
                    _ => HealthStatus::Down,
                };
                (status, None, request_id(&headers, cx))
            }
            Err(fault) => {
                (HealthStatus::Down, Some(fault.message().to_owned()), cx.request_id.clone())
            }
        };
        let check = HealthCheck { name: "quotes API".to_owned(), status, detail };
        Ok(HealthReply::of(vec![check], VenueSources::new(), id))
    }
}
