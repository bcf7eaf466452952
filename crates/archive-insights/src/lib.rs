//! Insights: what was learnt from documents, kept with its sources and found again.
//!
//! Words are cut and folded here, in one way for both engines; the engines only intersect, count
//! and rank. An insight is written in its caller's transaction and is findable when that commits.
//! Who somebody is, and which cases they see, is told by a [`Visibility`].

mod add;
mod ask;
mod find;
mod index;
mod insight;
mod keywords;
mod pick;
mod plan;
mod remove;
mod schema;
mod scope;
mod snippet;
mod stem;
mod words;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use archive_accounts::Visibility;
pub use ask::{Ask, Found, PAGE_MAX, Sort};
use clock::{Clock, IdGenerator};
pub use insight::{Insight, InsightSource, NewInsight};
pub use schema::MIGRATIONS;
use store::Db;

/// A handle; cloning it is cheap.
#[derive(Clone)]
pub struct Insights(Arc<Inner>);

struct Inner {
    db: Db,
    clock: Arc<dyn Clock>,
    ids: IdGenerator,
}

impl Insights {
    /// The database must have been given [`MIGRATIONS`].
    pub fn new(db: Db, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner { db, clock, ids: IdGenerator::default() }))
    }
}
