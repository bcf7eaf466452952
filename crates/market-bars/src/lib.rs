//! The bar store: closed bars of any number of series, exact to the letter, about five bytes each,
//! with any page of any span found at once. It knows nothing of venues.
//!
//! Sealed column chunks in one table, the growing tail of each series in another, and the spans
//! that are known completely in a third; the same layout on SQLite and PostgreSQL.

mod append;
mod cache;
mod chunk;
mod columns;
mod coverage;
mod history;
mod index;
mod packing;
mod page;
mod schema;
mod sql;

use std::collections::HashMap;

use async_trait::async_trait;
use clock::{Millis, TimeRange};
use fault::Fault;
use market::{ArchivePage, BarArchive, BarBatch, BarSeries, PageRequest};
use store::Db;

pub use append::PackedBatch;
use cache::Cache;
pub use columns::{BarColumns, SmallDecimal};
pub use history::{BarHistory, FillOptions};
pub use schema::MIGRATIONS;

/// More codes than a suggestion could be chosen from.
const CODES_MAX: i64 = 20_000;

pub struct BarStore {
    db: Db,
    cache: Cache,
}

impl BarStore {
    /// The database must have been given [`MIGRATIONS`].
    pub fn new(db: Db) -> Self {
        Self { db, cache: Cache::new() }
    }

    /// Writes all or nothing, in the order given.
    pub async fn append_packed(&self, batches: &[PackedBatch]) -> Result<(), Fault> {
        // Writers that lock series in the same order cannot wait for each other in a circle.
        let mut order: Vec<&PackedBatch> = batches.iter().collect();
        order.sort_by(|left, right| left.series.cmp(&right.series));
        let mut tx = self.db.begin().await?;
        for batch in order {
            append::write(&mut tx, batch).await?;
        }
        tx.commit().await
    }

    /// What the prices of a series are counted in, if it was said when they were written.
    pub async fn currency(&self, series: &BarSeries) -> Result<Option<String>, Fault> {
        match self.db.fetch_optional(sql::currency(series)).await? {
            Some(row) => row.text_or_null(0),
            None => Ok(None),
        }
    }

    /// The codes kept for a source, each with what its prices are counted in.
    pub async fn currencies(
        &self,
        source: &str,
        otherwise: &str,
    ) -> Result<HashMap<String, String>, Fault> {
        let rows = self.db.fetch_all(sql::currencies(source, otherwise, CODES_MAX)).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
    }
}

#[async_trait]
impl BarArchive for BarStore {
    async fn missing(&self, series: &BarSeries, span: TimeRange) -> Result<Vec<TimeRange>, Fault> {
        let mut tx = self.db.snapshot().await?;
        let known = match sql::heads(&mut tx, std::slice::from_ref(series)).await?[..] {
            [Some(head)] => sql::spans(&mut tx, head.id, span).await?,
            _ => Vec::new(),
        };
        Ok(coverage::gaps(span, &known))
    }

    async fn append(&self, series: &BarSeries, batch: &BarBatch) -> Result<(), Fault> {
        let columns = BarColumns::from_bars(&batch.bars);
        let packed = PackedBatch::new(series.clone(), columns, batch.covered, batch.received_at)?;
        self.append_packed(std::slice::from_ref(&packed)).await
    }

    async fn page(&self, request: &PageRequest<'_>) -> Result<ArchivePage, Fault> {
        let mut tx = self.db.snapshot().await?;
        page::read(&mut tx, &self.cache, request).await
    }

    async fn received_at(&self, series: &[BarSeries]) -> Result<Vec<Option<Millis>>, Fault> {
        let mut tx = self.db.snapshot().await?;
        let heads = sql::heads(&mut tx, series).await?;
        Ok(heads.iter().map(|head| head.and_then(|head| head.received_at).map(Millis)).collect())
    }

    async fn codes(&self, source: &str) -> Result<Vec<String>, Fault> {
        let rows = self.db.fetch_all(sql::codes(source, CODES_MAX)).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }
}
