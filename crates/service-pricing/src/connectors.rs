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

/// A product and market whose prices a connector collects.
#[derive(Debug, Clone)]
pub(crate) struct CollectionRequest {
    pub(crate) sku: String,
    pub(crate) market: String,
    pub(crate) depth: u32,
    /// The product's row in the catalogue.
    pub(crate) product: Option<Product>,
    /// When the collection was requested; a repeated run after a crash has the same time.
    pub(crate) asked_at: Millis,
    /// Whether simulated ticks are stored as trial ticks, which no proposal uses.
    pub(crate) trial: bool,
}

/// The ticks and problems of one batch: a file, a page or a moment of the simulated market.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct CollectedBatch {
    pub(crate) ticks: Vec<Tick>,
    pub(crate) problems: Problems,
    /// The hash of the file's content and its name; a file is imported once, in one transaction.
    pub(crate) file: Option<(String, String)>,
}

/// What could not be used, and why; at most 20 are listed, the others are counted.
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
    /// It was checked now and works.
    Ready,
    /// It is not set up; the text says what is missing.
    Idle(String),
    /// It does not work.
    Broken(String),
    /// It was not checked; the result of the last collection holds.
    AsLastSeen,
}

#[async_trait]
pub(crate) trait Connector: Send + Sync {
    /// Its name in the contract's `connector`.
    fn name(&self) -> &'static str;
    /// Its type in `list_sources`: `mock`, `web_scraper` or `file`.
    fn kind(&self) -> &'static str;
    fn description(&self) -> &'static str;
    async fn status(&self) -> SourceStatus;
    /// The keys of the batches that a collection reads, in order: file names, addresses or times.
    async fn batch_keys(&self, request: &CollectionRequest) -> Result<Vec<String>, Fault>;
    /// Reads one batch. A fault ends the collection; a problem of this batch alone is part of it.
    async fn fetch_batch(
        &self,
        request: &CollectionRequest,
        batch_key: &str,
    ) -> Result<CollectedBatch, Fault>;
    /// Called after a batch is committed.
    async fn mark_stored(&self, _place: &str) {}
}

pub(crate) type Connectors = Vec<Arc<dyn Connector>>;
