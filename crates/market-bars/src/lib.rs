//! The bar store: closed bars of any number of series in about five bytes each, with every decimal
//! as the venue wrote it. It finds any page of any time range with a few lookups and knows no
//! venue.
//!
//! One table has sealed chunks of columns, one the newest (hot) bars of each series, and one the
//! time ranges that are known completely; the tables are the same on SQLite and PostgreSQL.

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
use store::{Db, StoreProbe};

pub use append::PackedBatch;
use cache::Cache;
pub use columns::{BarColumns, SmallDecimal};
pub use history::{BarHistory, FillOptions};
pub use schema::MIGRATIONS;

/// The most codes that are read for suggestions.
const CODES_MAX: i64 = 20_000;

/// The bar archive in a database.
pub struct BarStore {
    db: Db,
    cache: Cache,
    probe: StoreProbe,
}

impl BarStore {
    /// The caller has applied [`MIGRATIONS`] to the database.
    pub fn new(db: Db) -> Self {
        Self { probe: StoreProbe::new(db.clone(), "bars"), db, cache: Cache::new() }
    }

    /// Writes all batches in one transaction; batches of one series are written in the order given.
    pub async fn append_packed(&self, batches: &[PackedBatch]) -> Result<(), Fault> {
        // Every writer locks series in the same order, so two writers cannot deadlock.
        let mut order: Vec<&PackedBatch> = batches.iter().collect();
        order.sort_by(|left, right| left.series.cmp(&right.series));
        let mut tx = self.db.begin().await?;
        for batch in order {
            append::write(&mut tx, batch).await?;
        }
        tx.commit().await
    }

    /// The currency of a series' prices, if the bars were written with one.
    pub async fn currency(&self, series: &BarSeries) -> Result<Option<String>, Fault> {
        match self.db.fetch_optional(sql::currency(series)).await? {
            Some(row) => row.text_or_null(0),
            None => Ok(None),
        }
    }

    /// The codes of a source, each with the currency of its prices; `default_currency` for series
    /// that were written without one.
    pub async fn currencies(
        &self,
        source: &str,
        default_currency: &str,
    ) -> Result<HashMap<String, String>, Fault> {
        let rows = self.db.fetch_all(sql::currencies(source, default_currency, CODES_MAX)).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
    }
}

#[async_trait]
impl BarArchive for BarStore {
    async fn missing(&self, series: &BarSeries, range: TimeRange) -> Result<Vec<TimeRange>, Fault> {
        let mut tx = self.db.snapshot().await?;
        let known = match sql::series_states(&mut tx, std::slice::from_ref(series)).await?[..] {
            [Some(state)] => sql::known_ranges(&mut tx, state.id, range).await?,
            _ => Vec::new(),
        };
        Ok(coverage::gaps(range, &known))
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
        let series_states = sql::series_states(&mut tx, series).await?;
        Ok(series_states
            .iter()
            .map(|state| state.and_then(|state| state.received_at).map(Millis))
            .collect())
    }

    async fn codes(&self, source: &str) -> Result<Vec<String>, Fault> {
        let rows = self.db.fetch_all(sql::codes(source, CODES_MAX)).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    async fn check(&self) -> Result<(), Fault> {
        self.codes("").await?;
        match self.probe.trouble().await {
            Some(trouble) => Err(Fault::unavailable("store_unavailable", trouble)),
            None => Ok(()),
        }
    }
}
