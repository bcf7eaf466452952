//! The entry points of the fuzz targets: the readers of files of bars, over bytes in memory.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::atomic::AtomicU64;

use bytes::Bytes;
use clock::Millis;
use fault::Fault;
use market::Interval;
use tokio::sync::mpsc;

use crate::collect::{Collector, EarlyEnd, SeriesRows};
use crate::dialect::DialectOptions;
use crate::import::pack;
use crate::{BadRowPolicy, ImportReport, csv, parquet_rows};

/// Returns one piece per read, as a slow file does.
struct Pieces<'a>(VecDeque<&'a [u8]>);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(piece) = self.0.front_mut() {
            if !piece.is_empty() {
                return piece.read(buffer);
            }
            self.0.pop_front();
        }
        Ok(0)
    }
}

/// Reads a CSV file of one series, skips bad rows and packs the others as the store does.
pub fn read_csv(pieces: &[&[u8]], interval: Interval) -> Result<ImportReport, Fault> {
    let mut input = Pieces(pieces.iter().copied().collect());
    collect(interval, |rows, read| {
        csv::read(&mut input, Some("FUZZ"), DialectOptions::default(), rows, read)
    })
}

/// Reads a Parquet file of one series, skips bad rows and packs the others as the store does.
pub fn read_parquet(bytes: &[u8], interval: Interval) -> Result<ImportReport, Fault> {
    let file = Bytes::copy_from_slice(bytes);
    collect(interval, |rows, read| parquet_rows::read(file, Some("FUZZ"), rows, read))
}

/// Reads rows and packs the first batch.
fn collect(
    interval: Interval,
    read: impl FnOnce(&mut Collector, &AtomicU64) -> Result<Result<(), EarlyEnd>, Fault>,
) -> Result<ImportReport, Fault> {
    // A batch has 131,072 rows, so the input of a fuzz target is one batch at most.
    let (out, mut batches) = mpsc::channel::<Vec<SeriesRows>>(1);
    let mut rows = Collector::new(interval, BadRowPolicy::Skip, out);
    let ended = read(&mut rows, &AtomicU64::new(0))?;
    if let (Ok(()), Ok(batch)) = (ended, batches.try_recv()) {
        pack(batch, Millis(0), "USD")?;
    }
    Ok(rows.report)
}
