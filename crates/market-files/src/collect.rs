//! Rows on their way from a reader to the store: sorted into series, checked, and handed on in
//! loads of bounded size.

use std::collections::HashMap;

use clock::{Millis, TimeRange};
use fault::Fault;
use market::{Bar, BarSeries, Interval, Ticker, Venue};
use market_bars::{BarColumns, SmallDecimal};
use tokio::sync::mpsc;

use crate::SOURCE;
use crate::report::{BadRowPolicy, ImportReport, RowProblem};

/// Rows held before a load is handed on: about 7 MB, and enough to fill chunks of fifty series.
const LOAD_ROWS: usize = 131_072;
/// The chunk size of the store; whole chunks are worth waiting for.
const CHUNK_ROWS: usize = 1024;
/// A bound on what a file of nonsense can make us remember.
const SERIES_MAX: usize = 100_000;

/// Rows of one series.
pub(crate) struct Load {
    pub(crate) series: BarSeries,
    pub(crate) columns: BarColumns,
    pub(crate) covered: TimeRange,
}

struct Slot {
    series: BarSeries,
    columns: BarColumns,
    first: Millis,
    last: Millis,
}

/// Why reading ends before the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// A bad row, and the order to stop at one.
    BadRow,
    /// The receiver of the rows is gone.
    Abandoned,
}

pub(crate) struct Collector {
    interval: Interval,
    /// The interval's length, where it has one and bars are counted from the epoch; it makes the
    /// check of every row's time a single division.
    step: Option<i64>,
    on_bad: BadRowPolicy,
    slots: Vec<Slot>,
    /// Spellings that were met, `sber` beside `SBER`.
    by_name: HashMap<Vec<u8>, usize>,
    by_code: HashMap<String, usize>,
    /// The name the last row had, since rows of one series mostly come together.
    recent: (Vec<u8>, usize),
    /// The name that the rows have in the file, where `--ticker` gives them another.
    only_name: Vec<u8>,
    held: usize,
    out: mpsc::Sender<Vec<Load>>,
    pub(crate) report: ImportReport,
}

impl Collector {
    pub(crate) fn new(
        interval: Interval,
        on_bad: BadRowPolicy,
        out: mpsc::Sender<Vec<Load>>,
    ) -> Self {
        Self {
            interval,
            step: interval.fixed_ms().filter(|_| interval != Interval::W1),
            on_bad,
            slots: Vec::new(),
            by_name: HashMap::new(),
            by_code: HashMap::new(),
            recent: (Vec::new(), usize::MAX),
            only_name: Vec::new(),
            held: 0,
            out,
            report: ImportReport::default(),
        }
    }

    /// The slot of a ticker as the file spells it.
    #[inline]
    pub(crate) fn slot(&mut self, name: &[u8]) -> Result<usize, String> {
        if self.recent.0 == name && self.recent.1 != usize::MAX {
            return Ok(self.recent.1);
        }
        let slot = match self.by_name.get(name) {
            Some(&slot) => slot,
            None => self.new_slot(name)?,
        };
        self.recent.0.clear();
        self.recent.0.extend_from_slice(name);
        self.recent.1 = slot;
        Ok(slot)
    }

    fn new_slot(&mut self, name: &[u8]) -> Result<usize, String> {
        if self.by_name.len() >= SERIES_MAX {
            return Err(format!("more than {SERIES_MAX} tickers in one file"));
        }
        let text = std::str::from_utf8(name).map_err(|_| "the ticker is not UTF-8".to_owned())?;
        let symbol = file_symbol(text).map_err(|fault| fault.message().to_owned())?;
        let slot = match self.by_code.get(&symbol.code) {
            Some(&slot) => slot,
            None => {
                let (columns, interval) = (BarColumns::default(), self.interval);
                let (first, last) = (Millis(i64::MAX), Millis(i64::MIN));
                self.by_code.insert(symbol.code.clone(), self.slots.len());
                let series = BarSeries { source: SOURCE.to_owned(), symbol, interval };
                self.slots.push(Slot { series, columns, first, last });
                self.slots.len() - 1
            }
        };
        self.by_name.insert(name.to_vec(), slot);
        Ok(slot)
    }

    /// The series of all rows, where `--ticker` names it; the rows name theirs otherwise.
    pub(crate) fn series_of_file(
        &mut self,
        has_tickers: bool,
        ticker: Option<&str>,
    ) -> Result<Option<usize>, Fault> {
        match ticker {
            Some(ticker) => {
                let slot = self.slot(ticker.as_bytes());
                slot.map(Some).map_err(|reason| Fault::invalid("invalid_ticker", reason))
            }
            None if has_tickers => Ok(None),
            None => {
                let message = "the file has no ticker column; name its series with --ticker NAME";
                Err(Fault::invalid("ticker_needed", message)
                    .problem("ticker", "a name for the bars of this file"))
            }
        }
    }

    /// Refuses a second ticker in a file whose rows are all given one name.
    #[inline]
    pub(crate) fn check_only_name(&mut self, name: &[u8]) -> Result<(), String> {
        if self.only_name == name {
            return Ok(());
        }
        if self.only_name.is_empty() {
            self.only_name.extend_from_slice(name);
            return Ok(());
        }
        let shown =
            |name: &[u8]| -> String { String::from_utf8_lossy(name).chars().take(40).collect() };
        Err(format!(
            "the file has bars of {:?} and of {:?}, and --ticker names one series; leave it out",
            shown(&self.only_name),
            shown(name)
        ))
    }

    /// Whether a bar of this interval can open then.
    #[inline]
    pub(crate) fn check_time(&self, time: Millis) -> Result<(), String> {
        let opens = match self.step {
            Some(step) => time.0 % step == 0,
            None => self.interval.open_of(time) == time,
        };
        if opens { Ok(()) } else { Err(format!("{time} does not open a {} bar", self.interval)) }
    }

    #[inline]
    pub(crate) fn add_narrow(
        &mut self,
        slot: usize,
        time: Millis,
        prices: [SmallDecimal; 4],
        volume: Option<SmallDecimal>,
    ) -> Result<(), End> {
        let slot = &mut self.slots[slot];
        slot.columns.push_small(time, prices, volume);
        slot.first = slot.first.min(time);
        slot.last = slot.last.max(time);
        self.added()
    }

    pub(crate) fn add(&mut self, slot: usize, bar: &Bar) -> Result<(), End> {
        let slot = &mut self.slots[slot];
        slot.columns.push(bar);
        slot.first = slot.first.min(bar.open_time);
        slot.last = slot.last.max(bar.open_time);
        self.added()
    }

    #[inline]
    fn added(&mut self) -> Result<(), End> {
        self.report.imported += 1;
        self.held += 1;
        if self.held >= LOAD_ROWS { self.hand_on() } else { Ok(()) }
    }

    pub(crate) fn bad(&mut self, line: u64, reason: String) -> Result<(), End> {
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
                Err(End::BadRow)
            }
        }
    }

    /// Whole chunks first; everything where little would be gained by waiting.
    fn hand_on(&mut self) -> Result<(), End> {
        let rest: usize = self.slots.iter().map(|slot| slot.columns.len() % CHUNK_ROWS).sum();
        let unit = if rest > LOAD_ROWS / 2 { 1 } else { CHUNK_ROWS };
        self.hand_on_in(unit)
    }

    /// Everything that is left, at the end of the file.
    pub(crate) fn finish(&mut self) -> Result<(), End> {
        self.report.series =
            self.slots.iter().filter(|slot| slot.first <= slot.last).count() as u64;
        self.hand_on_in(1)
    }

    fn hand_on_in(&mut self, unit: usize) -> Result<(), End> {
        let mut load = Vec::new();
        for slot in &mut self.slots {
            let take = slot.columns.len() / unit * unit;
            if take == 0 {
                continue;
            }
            let rest = slot.columns.slice(take..slot.columns.len());
            let mut columns = std::mem::replace(&mut slot.columns, rest);
            columns.truncate(take);
            self.held -= take;
            let covered = TimeRange::new(slot.first, self.interval.next_open(slot.last));
            load.push(Load { series: slot.series.clone(), columns, covered });
        }
        if load.is_empty() {
            return Ok(());
        }
        self.out.blocking_send(load).map_err(|_| End::Abandoned)
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

/// What must hold between the numbers of a bar.
pub(crate) fn check_bar(bar: &Bar) -> Result<(), String> {
    if bar.high < bar.low {
        return Err(format!("high {} is below low {}", bar.high, bar.low));
    }
    match bar.volume {
        Some(volume) if volume.is_negative() => Err(format!("volume {volume} is negative")),
        _ => Ok(()),
    }
}

/// Whether a glance shows that [`check_bar`] would not complain; otherwise it is asked.
#[inline]
pub(crate) fn plainly_sound(prices: &[SmallDecimal; 4], volume: Option<SmallDecimal>) -> bool {
    let [_, high, low, _] = prices;
    high.scale == low.scale
        && high.mantissa >= low.mantissa
        && volume.is_none_or(|volume| volume.mantissa >= 0)
}
