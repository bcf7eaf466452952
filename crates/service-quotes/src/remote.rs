//! The quotes API of another server over HTTP, which has the same paths and bodies as this server's.

mod refusal;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::Clock;
use fault::{Fault, Kind};
use market::{Delay, Freshness};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::ports::{ApiContext, QuotesApi};
use crate::reply::{
    BarRow, HealthCheck, HealthReply, HealthStatus, HistoryQuery, HistoryReply, LiveReply,
    MissingTicker, QuoteRow, VenueSources,
};

/// The longest body that is read; a page of 200 bars is far shorter.
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The quotes API of another server.
pub struct RemoteApi {
    base: String,
    client: reqwest::Client,
    clock: Arc<dyn Clock>,
}

/// A response that was read to its end.
struct ApiResponse {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl RemoteApi {
    /// `base` is the address before `/v1`; the token, if any, is sent with every request.
    pub fn new(base: &str, token: Option<&str>, clock: Arc<dyn Clock>) -> Result<Self, Fault> {
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
        Ok(Self { base: base.trim_end_matches('/').to_owned(), client, clock })
    }

    /// The body of a successful response, with its status and headers.
    async fn get<T: DeserializeOwned>(
        &self,
        cx: &ApiContext,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<(T, u16, HeaderMap), Fault> {
        let ApiResponse { status, headers, body } = self.fetch(cx, path, query).await?;
        if !(200..300).contains(&status) {
            return Err(refusal::fault(status, &body, &headers, self.clock.now()));
        }
        let value = serde_json::from_slice(&body).map_err(|_| malformed(path))?;
        Ok((value, status, headers))
    }

    /// Any response of the API.
    async fn fetch(
        &self,
        cx: &ApiContext,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<ApiResponse, Fault> {
        let time_left = cx.deadline.saturating_duration_since(Instant::now());
        let request = self
            .client
            .get(format!("{}{path}", self.base))
            .query(query)
            .header("x-request-id", &*cx.request_id)
            .timeout(time_left);
        let mut response = request.send().await.map_err(unreachable_api)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable_api)? {
            if body.len() + chunk.len() > BODY_BYTES_MAX {
                return Err(malformed(path));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(ApiResponse { status, headers, body })
    }
}

fn unreachable_api(error: reqwest::Error) -> Fault {
    let kind = if error.is_timeout() { Kind::Timeout } else { Kind::Unavailable };
    let why = match error.is_timeout() {
        true => Some("the connection timed out"),
        false => http_client::connection_cause(&error),
    };
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let message =
        format!("the quotes API could not be reached{why}; ARCHE_API_URL has its address");
    Fault::new(kind, "upstream_unreachable", message).caused_by(error.without_url())
}

fn malformed(path: &str) -> Fault {
    Fault::unavailable(
        "upstream_malformed",
        format!("the body of the quotes API's response to {path} cannot be read"),
    )
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

/// The freshness in the headers of the response; `None` if the other server does not send it.
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

fn request_id(headers: &HeaderMap, cx: &ApiContext) -> Arc<str> {
    refusal::request_id(headers).map_or_else(|| Arc::clone(&cx.request_id), Arc::from)
}

/// The tickers in upper case, as the contract normalizes them, joined by commas.
fn upper_case(tickers: &[String]) -> String {
    let upper: Vec<String> = tickers.iter().map(|it| it.trim().to_uppercase()).collect();
    upper.join(",")
}

#[async_trait]
impl QuotesApi for RemoteApi {
    async fn live(&self, cx: &ApiContext, tickers: &[String]) -> Result<LiveReply, Fault> {
        let query = [("tickers", upper_case(tickers))];
        let (body, source_status, headers): (LiveBody, _, _) =
            self.get(cx, "/v1/quotes", &query).await?;
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
            source_status,
        })
    }

    async fn historical(
        &self,
        cx: &ApiContext,
        query: &HistoryQuery,
    ) -> Result<HistoryReply, Fault> {
        let parameters = [
            ("tickers", upper_case(&query.tickers)),
            ("from", query.from.to_string()),
            ("to", query.to.to_string()),
            ("interval", query.interval.to_string()),
            ("page", query.page.to_string()),
            ("page_size", query.page_size.to_string()),
        ];
        let (body, source_status, headers): (HistoryBody, _, _) =
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
            source_status,
        })
    }

    /// An API that fails or cannot be reached is reported as down, not as a fault.
    async fn health(&self, cx: &ApiContext) -> Result<HealthReply, Fault> {
        let name = "quotes API".to_owned();
        let response = match self.fetch(cx, "/v1/health", &[]).await {
            Ok(response) => response,
            Err(fault) => {
                let detail = Some(fault.message().to_owned());
                let check = HealthCheck { name, status: HealthStatus::Down, detail };
                let sources = VenueSources::new();
                return Ok(HealthReply::of(vec![check], sources, Arc::clone(&cx.request_id)));
            }
        };
        let ApiResponse { status: source_status, headers, body } = response;
        let health: Option<HealthBody> = serde_json::from_slice(&body).ok();
        let is_success = (200..300).contains(&source_status);
        let status = match health.as_ref().map(|body| body.status.as_str()) {
            Some("ok") if is_success => HealthStatus::Ok,
            Some("degraded") if is_success => HealthStatus::Degraded,
            _ => HealthStatus::Down,
        };
        let fault = || refusal::fault(source_status, &body, &headers, self.clock.now());
        let detail = (!is_success && health.is_none()).then(|| fault().message().to_owned());
        let source = headers.get("x-stoa-source").and_then(|value| value.to_str().ok());
        let sources = source.map(|source| (name.clone(), source.to_owned())).into_iter().collect();
        let check = HealthCheck { name, status, detail };
        let reply = HealthReply::of(vec![check], sources, request_id(&headers, cx));
        Ok(reply.with_source_status(source_status))
    }
}
