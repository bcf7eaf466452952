//! Collects the rows of a reader by series, checks them, and sends them to the store in batches of
//! bounded size.

use std::collections::HashMap;

use clock::{Millis, TimeRange};
use fault::Fault;
use market::{Bar, BarSeries, Interval, Ticker, Venue};
use market_bars::{BarColumns, SmallDecimal};
use tokio::sync::mpsc;

use crate::SOURCE;
use crate::report::{BadRowPolicy, ImportReport, RowProblem};

/// How many rows are buffered before a batch is sent: about 7 MB, or 128 chunks of the store.
const BATCH_ROWS: usize = 131_072;
/// How many bars a chunk of the store has.
const CHUNK_ROWS: usize = 1024;
/// The most tickers of one file; bounds the memory that a malformed file can take.
const SERIES_MAX: usize = 100_000;

/// Rows of one series, and the time range that the file has of it so far.
pub(crate) struct SeriesRows {
    pub(crate) series: BarSeries,
    pub(crate) columns: BarColumns,
    pub(crate) covered: TimeRange,
}

/// The rows of one series that were not sent yet, and its first and last time in the file.
struct SeriesBuffer {
    series: BarSeries,
    columns: BarColumns,
    first: Millis,
    last: Millis,
}

/// Why reading ends before the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EarlyEnd {
    /// A bad row, with [`BadRowPolicy::Stop`].
    BadRow,
    /// The receiver of the rows was dropped.
    Abandoned,
}

/// Collects rows by series.
pub(crate) struct Collector {
    interval: Interval,
    /// The length of the interval if its bars open at multiples of it since the epoch; one division
    /// then checks a row's time.
    step: Option<i64>,
    on_bad: BadRowPolicy,
    buffers: Vec<SeriesBuffer>,
    /// Series by ticker as the file spells it: `sber` and `SBER` are one series.
    by_name: HashMap<Vec<u8>, usize>,
    by_code: HashMap<String, usize>,
    /// Ticker and series of the last row, because rows of one series mostly come together.
    last_row: (Vec<u8>, usize),
    /// The ticker that the rows have in the file, if `--ticker` replaces it.
    single_name: Vec<u8>,
    buffered_rows: usize,
    out: mpsc::Sender<Vec<SeriesRows>>,
    pub(crate) report: ImportReport,
}

impl Collector {
    pub(crate) fn new(
        interval: Interval,
        on_bad: BadRowPolicy,
        out: mpsc::Sender<Vec<SeriesRows>>,
    ) -> Self {
        Self {
            interval,
            step: interval.fixed_ms().filter(|_| interval != Interval::W1),
            on_bad,
            buffers: Vec::new(),
            by_name: HashMap::new(),
            by_code: HashMap::new(),
            last_row: (Vec::new(), usize::MAX),
            single_name: Vec::new(),
            buffered_rows: 0,
            out,
            report: ImportReport::default(),
        }
    }

    /// The index of the series with this ticker, in the spelling of the file.
    #[inline]
    pub(crate) fn series_index(&mut self, name: &[u8]) -> Result<usize, String> {
        if self.last_row.0 == name && self.last_row.1 != usize::MAX {
            return Ok(self.last_row.1);
        }
        let index = match self.by_name.get(name) {
            Some(&index) => index,
            None => self.add_series(name)?,
        };
        self.last_row.0.clear();
        self.last_row.0.extend_from_slice(name);
        self.last_row.1 = index;
        Ok(index)
    }

    fn add_series(&mut self, name: &[u8]) -> Result<usize, String> {
        if self.by_name.len() >= SERIES_MAX {
            return Err(format!("more than {SERIES_MAX} tickers in one file"));
        }
        let text = std::str::from_utf8(name).map_err(|_| "the ticker is not UTF-8".to_owned())?;
        let symbol = file_symbol(text).map_err(|fault| fault.message().to_owned())?;
        let index = match self.by_code.get(&symbol.code) {
            Some(&index) => index,
            None => {
                let (columns, interval) = (BarColumns::default(), self.interval);
                let (first, last) = (Millis(i64::MAX), Millis(i64::MIN));
                self.by_code.insert(symbol.code.clone(), self.buffers.len());
                let series = BarSeries { source: SOURCE.to_owned(), symbol, interval };
                self.buffers.push(SeriesBuffer { series, columns, first, last });
                self.buffers.len() - 1
            }
        };
        self.by_name.insert(name.to_vec(), index);
        Ok(index)
    }

    /// The series of all rows if `--ticker` names it; `None` if each row has its own ticker.
    pub(crate) fn series_of_file(
        &mut self,
        has_tickers: bool,
        ticker: Option<&str>,
    ) -> Result<Option<usize>, Fault> {
        match ticker {
            Some(ticker) => {
                let series = self.series_index(ticker.as_bytes());
                series.map(Some).map_err(|reason| Fault::invalid("invalid_ticker", reason))
            }
            None if has_tickers => Ok(None),
            None => {
                let message = "the file has no ticker column; name its series with --ticker NAME";
                Err(Fault::invalid("ticker_needed", message)
                    .problem("ticker", "a name for the bars of this file"))
            }
        }
    }

    /// Refuses a second ticker in a file whose ticker `--ticker` replaces.
    #[inline]
    pub(crate) fn check_single_name(&mut self, name: &[u8]) -> Result<(), String> {
        if self.single_name == name {
            return Ok(());
        }
        if self.single_name.is_empty() {
            self.single_name.extend_from_slice(name);
            return Ok(());
        }
        let excerpt =
            |name: &[u8]| -> String { String::from_utf8_lossy(name).chars().take(40).collect() };
        Err(format!(
            "the file has bars of {:?} and of {:?}, and --ticker names one series; leave it out",
            excerpt(&self.single_name),
            excerpt(name)
        ))
    }

    /// Refuses a time at which no bar of the interval opens.
    #[inline]
    pub(crate) fn check_time(&self, time: Millis) -> Result<(), String> {
        let opens = match self.step {
            Some(step) => time.0 % step == 0,
            None => self.interval.open_of(time) == time,
        };
        if opens { Ok(()) } else { Err(format!("{time} does not open a {} bar", self.interval)) }
    }

    /// Like `add`, for numbers of at most 18 digits.
    #[inline]
    pub(crate) fn add_small(
        &mut self,
        series: usize,
        time: Millis,
        prices: [SmallDecimal; 4],
        volume: Option<SmallDecimal>,
    ) -> Result<(), EarlyEnd> {
        let buffer = &mut self.buffers[series];
        buffer.columns.push_small(time, prices, volume);
        buffer.first = buffer.first.min(time);
        buffer.last = buffer.last.max(time);
        self.count_row()
    }

    pub(crate) fn add(&mut self, series: usize, bar: &Bar) -> Result<(), EarlyEnd> {
        let buffer = &mut self.buffers[series];
        buffer.columns.push(bar);
        buffer.first = buffer.first.min(bar.open_time);
        buffer.last = buffer.last.max(bar.open_time);
        self.count_row()
    }

    #[inline]
    fn count_row(&mut self) -> Result<(), EarlyEnd> {
        self.report.imported += 1;
        self.buffered_rows += 1;
        if self.buffered_rows >= BATCH_ROWS { self.send_batch() } else { Ok(()) }
    }

    /// Reports a bad row.
    pub(crate) fn reject_row(&mut self, line: u64, reason: String) -> Result<(), EarlyEnd> {
        if self.report.problems.len() < ImportReport::PROBLEMS_MAX {
            self.report.problems.push(RowProblem { line, reason });
        }
        match self.on_bad {
            BadRowPolicy::Skip => {
                self.report.skipped += 1;
                Ok(())
            }
            BadRowPolicy::Stop => {
                self.report.stopped_at = Some(line);
                Err(EarlyEnd::BadRow)
            }
        }
    }

    /// Sends whole chunks of rows; all rows if more than half of them are in incomplete chunks.
    fn send_batch(&mut self) -> Result<(), EarlyEnd> {
        let rest: usize = self.buffers.iter().map(|buffer| buffer.columns.len() % CHUNK_ROWS).sum();
        let unit = if rest > BATCH_ROWS / 2 { 1 } else { CHUNK_ROWS };
        self.send_multiples_of(unit)
    }

    /// Sends the remaining rows at the end of the file.
    pub(crate) fn finish(&mut self) -> Result<(), EarlyEnd> {
        self.report.series =
            self.buffers.iter().filter(|buffer| buffer.first <= buffer.last).count() as u64;
        self.send_multiples_of(1)
    }

    /// Sends of each series the largest multiple of `unit` rows.
    fn send_multiples_of(&mut self, unit: usize) -> Result<(), EarlyEnd> {
        let mut batches = Vec::new();
        for buffer in &mut self.buffers {
            let take = buffer.columns.len() / unit * unit;
            if take == 0 {
                continue;
            }
            let rest = buffer.columns.slice(take..buffer.columns.len());
            let mut columns = std::mem::replace(&mut buffer.columns, rest);
            columns.truncate(take);
            self.buffered_rows -= take;
            let covered = TimeRange::new(buffer.first, self.interval.next_open(buffer.last));
            batches.push(SeriesRows { series: buffer.series.clone(), columns, covered });
        }
        if batches.is_empty() {
            return Ok(());
        }
        self.out.blocking_send(batches).map_err(|_| EarlyEnd::Abandoned)
    }
}

/// The symbol of an imported series; a prefix other than `FILE:` is refused.
pub(crate) fn file_symbol(text: &str) -> Result<market::Symbol, Fault> {
    let symbol = Ticker::parse(text, Venue::File)?.symbol;
    if symbol.venue == Venue::File {
        return Ok(symbol);
    }
    let message = format!("ticker {text:?} names a venue; imported bars belong to FILE");
    Err(Fault::invalid("invalid_ticker", message).problem("ticker", "a name without a venue"))
}

/// Refuses a bar whose high is below its low or whose volume is negative.
pub(crate) fn check_bar(bar: &Bar) -> Result<(), String> {
    if bar.high < bar.low {
        return Err(format!("high {} is below low {}", bar.high, bar.low));
    }
    match bar.volume {
        Some(volume) if volume.is_negative() => Err(format!("volume {volume} is negative")),
        _ => Ok(()),
    }
}

/// A quick check: whether [`check_bar`] surely accepts the bar. If not, the caller asks `check_bar`.
#[inline]
pub(crate) fn is_surely_valid(prices: &[SmallDecimal; 4], volume: Option<SmallDecimal>) -> bool {
    let [_, high, low, _] = prices;
    high.scale == low.scale
        && high.mantissa >= low.mantissa
        && volume.is_none_or(|volume| volume.mantissa >= 0)
}
