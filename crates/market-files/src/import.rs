//! An import as a whole: one thread reads, others pack, and the store is written in loads, so that
//! memory stays bounded whatever the size of the file.

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

use crate::collect::{Collector, End, Load};
use crate::dialect::Said;
use crate::local_time::DateOrder;
use crate::report::{BadRowPolicy, FileFormat, ImportReport};
use crate::{csv, parquet_rows};

#[derive(Debug, Clone)]
pub struct ImportOptions {
    pub format: FileFormat,
    /// Whose bars the file has; without it the ticker column says so.
    pub ticker: Option<String>,
    pub interval: Interval,
    pub on_bad: BadRowPolicy,
    /// What comes first in a date such as 03/04/2024; without it the file must show it.
    pub dates: Option<DateOrder>,
    /// The decimal mark; without it the file must show it.
    pub decimal: Option<DecimalMark>,
    /// What the prices are counted in.
    pub currency: String,
    /// When the file was handed over.
    pub received_at: Millis,
}

/// How far an import has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportProgress {
    pub rows_written: u64,
    pub bytes_read: u64,
    pub bytes_total: u64,
}

/// Loads that may be packed at the same time; the machine's cores share them.
const PACKING_MAX: usize = 3;

/// How many rows, and what the store takes them as.
pub(crate) type Packed = Result<(u64, Vec<PackedBatch>), Fault>;

/// Reads a file of bars into the store. Doing it twice is the same as doing it once. A bad row with
/// [`BadRowPolicy::Stop`] is no fault: the report says where the import stopped and that everything
/// before it is in.
pub async fn import_bars(
    store: &BarStore,
    path: &Path,
    options: &ImportOptions,
    progress: impl Fn(ImportProgress) + Send,
) -> Result<ImportReport, Fault> {
    let bytes_total = std::fs::metadata(path).map_err(|error| unreadable(path, error))?.len();
    let bytes_read = Arc::new(AtomicU64::new(0));
    let (out, mut loads) = mpsc::channel::<Vec<Load>>(1);
    let reader = {
        let (path, options, bytes) = (path.to_owned(), options.clone(), Arc::clone(&bytes_read));
        spawn_blocking(move || read(&path, &options, out, &bytes))
    };
    let mut packing: VecDeque<JoinHandle<Packed>> = VecDeque::new();
    let mut rows_written = 0;
    loop {
        while packing.len() < PACKING_MAX
            && let Some(load) = loads.recv().await
        {
            let (received_at, currency) = (options.received_at, options.currency.clone());
            packing.push_back(spawn_blocking(move || pack(load, received_at, &currency)));
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
    out: mpsc::Sender<Vec<Load>>,
    bytes_read: &AtomicU64,
) -> Result<ImportReport, Fault> {
    let mut file = File::open(path).map_err(|error| unreadable(path, error))?;
    let mut rows = Collector::new(options.interval, options.on_bad, out);
    let ticker = options.ticker.as_deref();
    let said = Said { dates: options.dates, decimal: options.decimal };
    let ended = match options.format {
        FileFormat::Csv => csv::read(&mut file, ticker, said, &mut rows, bytes_read)?,
        FileFormat::Parquet => parquet_rows::read(file, ticker, &mut rows, bytes_read)?,
    };
    // What came before a bad row is kept. An abandoned import has no receiver for them.
    if ended == Err(End::BadRow) && rows.finish() == Err(End::Abandoned) {
        return Err(Fault::new(fault::Kind::Cancelled, "cancelled", "the import was given up"));
    }
    Ok(rows.report)
}

pub(crate) fn pack(loads: Vec<Load>, received_at: Millis, currency: &str) -> Packed {
    let rows = loads.iter().map(|load| load.columns.len() as u64).sum();
    let pack = |load: Load| {
        let batch = PackedBatch::new(load.series, load.columns, load.covered, received_at)?;
        Ok(batch.with_currency(currency))
    };
    Ok((rows, loads.into_iter().map(pack).collect::<Result<_, Fault>>()?))
}

fn unreadable(path: &Path, error: std::io::Error) -> Fault {
    let message = format!("cannot read {}: {}", path.display(), error.kind());
    let fault = match error.kind() {
        std::io::ErrorKind::NotFound => Fault::not_found("no_such_file", message),
        _ => Fault::unavailable("unreadable_file", message),
    };
    fault.caused_by(error)
}
