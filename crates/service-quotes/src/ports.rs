//! The quotes API as the tools see it, wherever it runs.

use std::sync::Arc;

use async_trait::async_trait;
use contract::Progress;
use fault::Fault;
use tokio::time::Instant;

use crate::answer::{Health, History, HistoryQuery, Live};

/// What travels with every request to the API.
#[derive(Debug, Clone)]
pub struct ApiCx {
    pub request_id: Arc<str>,
    pub deadline: Instant,
    pub progress: Progress,
}

#[async_trait]
pub trait QuotesApi: Send + Sync {
    /// The latest quotes. Tickers that cannot be served are in `missing`; when none can, the call
    /// fails.
    async fn live(&self, cx: &ApiCx, tickers: &[String]) -> Result<Live, Fault>;

    async fn historical(&self, cx: &ApiCx, query: &HistoryQuery) -> Result<History, Fault>;

    async fn health(&self, cx: &ApiCx) -> Result<Health, Fault>;
}
