//! Stores insights with their sources and searches them.
//!
//! `archive-search` splits and stems the words, so SQLite and PostgreSQL find the same; the engines
//! only intersect, count and rank. An insight is written in the transaction of the caller and can be
//! found after the commit. A [`Visibility`] says which insights a caller may see.

mod add;
mod by_ids;
mod correct;
mod index;
mod insight;
mod keywords;
mod query;
mod reindex;
mod remove;
mod schema;
mod scope;
mod search;
mod snippet;
mod statement;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use archive_accounts::Visibility;
use clock::{Clock, IdGenerator};
pub use correct::InsightChange;
pub use insight::{Correction, Insight, InsightSource, NewInsight};
pub use query::{InsightQuery, RESULTS_MAX, SearchResults, SortKey};
pub use schema::MIGRATIONS;
use store::Db;

/// A handle; cloning it is cheap.
#[derive(Clone)]
pub struct Insights(Arc<InsightsInner>);

struct InsightsInner {
    db: Db,
    clock: Arc<dyn Clock>,
    ids: IdGenerator,
}

impl Insights {
    /// The database must have been given [`MIGRATIONS`].
    pub fn new(db: Db, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(InsightsInner { db, clock, ids: IdGenerator::default() }))
    }
}
