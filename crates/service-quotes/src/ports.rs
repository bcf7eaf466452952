//! The quotes API that the tools call, in this process or on another server.

use std::sync::Arc;

use async_trait::async_trait;
use contract::Progress;
use fault::Fault;
use tokio::time::Instant;

use crate::reply::{HealthReply, HistoryQuery, HistoryReply, LiveReply, VenueSources};

/// The request id, the deadline and the progress report of a request to the API.
#[derive(Debug, Clone)]
pub struct ApiContext {
    pub request_id: Arc<str>,
    pub deadline: Instant,
    pub progress: Progress,
}

/// A quotes API.
#[async_trait]
pub trait QuotesApi: Send + Sync {
    /// The latest quotes. Tickers that cannot be served are in `missing`; when none can, the call
    /// fails.
    async fn live(&self, cx: &ApiContext, tickers: &[String]) -> Result<LiveReply, Fault>;

    async fn historical(
        &self,
        cx: &ApiContext,
        query: &HistoryQuery,
    ) -> Result<HistoryReply, Fault>;

    async fn health(&self, cx: &ApiContext) -> Result<HealthReply, Fault>;

    /// Where the data of each venue come from; empty for an API on another server.
    fn sources(&self) -> VenueSources {
        VenueSources::default()
    }
}
