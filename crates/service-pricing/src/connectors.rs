//! The sources of ticks. A connector fetches ticks in batches and reports its status. It stores
//! nothing itself, so that the ticks are stored together with the job.

pub(crate) mod file;
pub(crate) mod http;
pub(crate) mod mock;

use std::sync::Arc;

use async_trait::async_trait;
use clock::Millis;
use fault::Fault;

use crate::storage::products::Product;
use crate::storage::ticks::Tick;

/// The most problems that one collection lists; further ones are only counted.
pub(crate) const PROBLEMS_MAX: usize = 20;

/// What is to be collected.
#[derive(Debug, Clone)]
pub(crate) struct CollectionRequest {
    pub(crate) sku: String,
    pub(crate) market: String,
    pub(crate) depth: u32,
    /// As the catalogue knows it.
    pub(crate) product: Option<Product>,
    /// When it was asked for: the same again after a crash.
    pub(crate) asked_at: Millis,
    /// Whether simulated ticks are kept apart from the book of the product.
    pub(crate) trial: bool,
}

/// What was found in one place.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct CollectedBatch {
    pub(crate) ticks: Vec<Tick>,
    pub(crate) problems: Problems,
    /// The file it was found in, by the hash of its content: to be taken in once, whole.
    pub(crate) file: Option<(String, String)>,
}

/// What could not be used, and why; bounded.
#[derive(Debug, Default, PartialEq, Clone)]
pub(crate) struct Problems {
    pub(crate) listed: Vec<String>,
    pub(crate) count: usize,
}

impl Problems {
    pub(crate) fn add(&mut self, problem: impl Into<String>) {
        self.count += 1;
        if self.listed.len() < PROBLEMS_MAX {
            self.listed.push(problem.into());
        }
    }

    pub(crate) fn join(&mut self, more: Self) {
        let room = PROBLEMS_MAX.saturating_sub(self.listed.len());
        self.listed.extend(more.listed.into_iter().take(room));
        self.count += more.count;
    }
}

/// The status of a source, as far as it is known without a request.
#[derive(Debug, PartialEq)]
pub(crate) enum SourceStatus {
    /// It works; looked at now.
    Ready,
    /// Nothing is set up for it; says what is missing.
    Idle(String),
    /// It does not work.
    Broken(String),
    /// What the last collection found is all that is known.
    AsLastSeen,
}

#[async_trait]
pub(crate) trait Connector: Send + Sync {
    /// As the contract's `connector` names it.
    fn name(&self) -> &'static str;
    /// What it brings: `mock`, `web_scraper` or `file`.
    fn kind(&self) -> &'static str;
    fn description(&self) -> &'static str;
    async fn standing(&self) -> SourceStatus;
    /// The places to look in, in order.
    async fn places(&self, request: &CollectionRequest) -> Result<Vec<String>, Fault>;
    /// What is found in one of them. A fault ends the collection; what is wrong with one place
    /// alone is a problem of its batch.
    async fn fetch_batch(
        &self,
        request: &CollectionRequest,
        place: &str,
    ) -> Result<CollectedBatch, Fault>;
    /// Called after the batch of a place is committed.
    async fn mark_stored(&self, _place: &str) {}
}

pub(crate) type Connectors = Vec<Arc<dyn Connector>>;
