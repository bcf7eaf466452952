//! Imports a file: one thread reads rows, up to three pack them, and the store is written batch by
//! batch, so that memory stays bounded for files of any size.

use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clock::Millis;
use fault::Fault;
use market::Interval;
use market_bars::{BarStore, PackedBatch};
use spreadsheet::DecimalMark;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::collect::{Collector, EarlyEnd, SeriesRows};
use crate::dialect::DialectOptions;
use crate::local_time::DateOrder;
use crate::report::{BadRowPolicy, FileFormat, ImportReport};
use crate::{csv, parquet_rows};

#[derive(Debug, Clone)]
pub struct ImportOptions {
    pub format: FileFormat,
    /// The ticker of all bars; without it the file's ticker column is used.
    pub ticker: Option<String>,
    pub interval: Interval,
    pub on_bad: BadRowPolicy,
    /// What comes first in a date such as 03/04/2024; without it, it is found out from the file.
    pub dates: Option<DateOrder>,
    /// The decimal mark; without it, it is found out from the file.
    pub decimal: Option<DecimalMark>,
    /// The currency of the prices.
    pub currency: String,
    /// When the import began.
    pub received_at: Millis,
}

/// The progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportProgress {
    pub rows_written: u64,
    pub bytes_read: u64,
    pub bytes_total: u64,
}

/// How many batches are packed at the same time.
const PACKING_MAX: usize = 3;

/// The number of rows, and the rows as the store takes them.
pub(crate) type Packed = Result<(u64, Vec<PackedBatch>), Fault>;

/// Imports a file of bars into the store. Importing a file twice stores the same bars. A bad row with
/// [`BadRowPolicy::Stop`] is not a fault: the report names the row at which the import stopped, and all
/// rows before it are imported.
pub async fn import_bars(
    store: &BarStore,
    path: &Path,
    options: &ImportOptions,
    progress: impl Fn(ImportProgress) + Send,
) -> Result<ImportReport, Fault> {
    let bytes_total = std::fs::metadata(path).map_err(|error| unreadable(path, error))?.len();
    let bytes_read = Arc::new(AtomicU64::new(0));
    let (out, mut batches) = mpsc::channel::<Vec<SeriesRows>>(1);
    let reader = {
        let (path, options, bytes) = (path.to_owned(), options.clone(), Arc::clone(&bytes_read));
        spawn_blocking(move || read(&path, &options, out, &bytes))
    };
    let mut packing: VecDeque<JoinHandle<Packed>> = VecDeque::new();
    let mut rows_written = 0;
    loop {
        while packing.len() < PACKING_MAX
            && let Some(batch) = batches.recv().await
        {
            let (received_at, currency) = (options.received_at, options.currency.clone());
            packing.push_back(spawn_blocking(move || pack(batch, received_at, &currency)));
        }
        let Some(next) = packing.pop_front() else { break };
        let (rows, batches) = next.await.map_err(Fault::internal)??;
        store.append_packed(&batches).await?;
        rows_written += rows;
        let bytes_read = bytes_read.load(Ordering::Relaxed).min(bytes_total);
        progress(ImportProgress { rows_written, bytes_read, bytes_total });
    }
    reader.await.map_err(Fault::internal)?
}

fn read(
    path: &PathBuf,
    options: &ImportOptions,
    out: mpsc::Sender<Vec<SeriesRows>>,
    bytes_read: &AtomicU64,
) -> Result<ImportReport, Fault> {
    let mut file = File::open(path).map_err(|error| unreadable(path, error))?;
    let mut rows = Collector::new(options.interval, options.on_bad, out);
    let ticker = options.ticker.as_deref();
    let dialect_options = DialectOptions { dates: options.dates, decimal: options.decimal };
    let ended = match options.format {
        FileFormat::Csv => csv::read(&mut file, ticker, dialect_options, &mut rows, bytes_read)?,
        FileFormat::Parquet => parquet_rows::read(file, ticker, &mut rows, bytes_read)?,
    };
    // Sends the rows before a bad row. If the import was cancelled, they have no receiver.
    if ended == Err(EarlyEnd::BadRow) && rows.finish() == Err(EarlyEnd::Abandoned) {
        return Err(Fault::new(fault::Kind::Cancelled, "cancelled", "the import was cancelled"));
    }
    Ok(rows.report)
}

pub(crate) fn pack(batches: Vec<SeriesRows>, received_at: Millis, currency: &str) -> Packed {
    let rows = batches.iter().map(|batch| batch.columns.len() as u64).sum();
    let pack = |rows: SeriesRows| {
        let batch = PackedBatch::new(rows.series, rows.columns, rows.covered, received_at)?;
        Ok(batch.with_currency(currency))
    };
    Ok((rows, batches.into_iter().map(pack).collect::<Result<_, Fault>>()?))
}

fn unreadable(path: &Path, error: std::io::Error) -> Fault {
    let message = format!("cannot read {}: {}", path.display(), error.kind());
    let fault = match error.kind() {
        std::io::ErrorKind::NotFound => Fault::not_found("no_such_file", message),
        _ => Fault::unavailable("unreadable_file", message),
    };
    fault.caused_by(error)
}
