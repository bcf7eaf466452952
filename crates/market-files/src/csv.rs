//! Reads CSV files of bars, one bar per line; the first line gives the separator and the columns.
//!
//! Hand-written instead of the `csv` crate because it parses large blocks in place and imports faster
//! than DuckDB. A quoted field may hold the separator but no line break.

use std::borrow::Cow;
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

use clock::Millis;
use fault::Fault;
use market::{Bar, Decimal};
use market_bars::SmallDecimal;
use memchr::{memchr, memchr_iter, memrchr};

use crate::collect::{Collector, End, check_bar, plainly_sound};
use crate::layout::Layout;
use crate::{moment, number};

/// The block size, and the longest line: a longer line is a bad row.
const BLOCK_BYTES: usize = 1 << 20;

/// Passes every row to the collector. The outer error is about the file, the inner one about an
/// early end.
pub(crate) fn read(
    input: &mut dyn Read,
    ticker: Option<&str>,
    rows: &mut Collector,
    bytes_read: &AtomicU64,
) -> Result<Result<(), End>, Fault> {
    let mut lines = Lines { ticker, rows, plan: None, number: 0, ends: Vec::new() };
    let mut block = vec![0; BLOCK_BYTES];
    let mut filled = 0;
    let mut overlong = false;
    loop {
        let read = match input.read(&mut block[filled..]) {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(Fault::unavailable("unreadable_file", "the file cannot be read on")
                    .caused_by(error));
            }
        };
        bytes_read.fetch_add(read as u64, Ordering::Relaxed);
        filled += read;
        let whole = match memrchr(b'\n', &block[..filled]) {
            _ if read == 0 => filled,
            Some(last) => last + 1,
            None if filled < block.len() => continue,
            None => 0,
        };
        let mut done = &block[..whole];
        if overlong && whole > 0 {
            // Skips the rest of a line that was too long.
            done = &done[memchr(b'\n', done).map_or(done.len(), |end| end + 1)..];
            overlong = false;
        }
        if let Err(stop) = lines.take_all(done) {
            return stop;
        }
        if whole == 0 && read > 0 {
            if !overlong && let Err(stop) = lines.too_long() {
                return stop;
            }
            overlong = true;
            filled = 0;
            continue;
        }
        if read == 0 {
            return lines.finish();
        }
        block.copy_within(whole..filled, 0);
        filled -= whole;
    }
}

type Outcome = Result<Result<(), End>, Fault>;

struct Plan {
    layout: Layout,
    separator: u8,
    width: usize,
    /// The series of every row, where the file names none.
    slot: Option<usize>,
}

struct Lines<'a> {
    ticker: Option<&'a str>,
    rows: &'a mut Collector,
    plan: Option<Plan>,
    number: u64,
    /// Where the fields of the current line end; kept to spare an allocation for every line.
    ends: Vec<usize>,
}

/// Why a line did not become a bar.
enum Reject {
    Bad(String),
    End(End),
}

impl From<End> for Reject {
    fn from(end: End) -> Self {
        Self::End(end)
    }
}

impl Lines<'_> {
    fn take_all(&mut self, text: &[u8]) -> Result<(), Outcome> {
        let mut at = 0;
        for end in memchr_iter(b'\n', text) {
            self.take(&text[at..end])?;
            at = end + 1;
        }
        if at < text.len() { self.take(&text[at..]) } else { Ok(()) }
    }

    fn take(&mut self, line: &[u8]) -> Result<(), Outcome> {
        self.number += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return Ok(());
        }
        let Some(plan) = self.plan.take() else {
            return self.take_first(line);
        };
        let outcome = self.row(&plan, line);
        self.plan = Some(plan);
        self.settle(outcome)
    }

    fn settle(&mut self, outcome: Result<(), Reject>) -> Result<(), Outcome> {
        match outcome {
            Ok(()) => Ok(()),
            Err(Reject::Bad(reason)) => {
                self.rows.bad(self.number, reason).map_err(|end| Ok(Err(end)))
            }
            Err(Reject::End(end)) => Err(Ok(Err(end))),
        }
    }

    fn too_long(&mut self) -> Result<(), Outcome> {
        self.number += 1;
        self.rows.report.read += 1;
        let reason = format!("the line is longer than {BLOCK_BYTES} bytes");
        self.settle(Err(Reject::Bad(reason)))
    }

    fn take_first(&mut self, line: &[u8]) -> Result<(), Outcome> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let separator = separator_of(line);
        let fields: Vec<String> = split(line, separator)
            .iter()
            .map(|field| String::from_utf8_lossy(field.trim_ascii()).into_owned())
            .collect();
        let bare = fields.first().is_some_and(|first| moment::parse(first.as_bytes()).is_some());
        let layout = match Layout::of_bare_rows(fields.len()) {
            Some(layout) if bare => layout,
            _ => Layout::of_headings(&fields).map_err(Err)?,
        };
        let slot = match (layout.ticker, self.ticker) {
            (Some(_), None) => None,
            (Some(at), Some(_)) => {
                let message = format!("the file names its tickers in column {:?}", fields[at]);
                return Err(Err(Fault::invalid("ticker_not_needed", message)
                    .problem("ticker", "left out for a file with a ticker column")));
            }
            (None, None) => {
                let message = "the file has no ticker column, so it must be said whose bars it has";
                return Err(Err(Fault::invalid("ticker_needed", message)
                    .problem("ticker", "a name for the bars of this file")));
            }
            (None, Some(ticker)) => Some(
                self.rows
                    .slot(ticker.as_bytes())
                    .map_err(|reason| Err(Fault::invalid("invalid_ticker", reason)))?,
            ),
        };
        let plan = Plan { width: layout.width(), layout, separator, slot };
        let outcome = if bare { self.row(&plan, line) } else { Ok(()) };
        self.plan = Some(plan);
        self.settle(outcome)
    }

    fn finish(&mut self) -> Outcome {
        if self.plan.is_none() {
            return Err(Fault::invalid("empty_file", "the file is empty"));
        }
        Ok(self.rows.finish())
    }

    fn row(&mut self, plan: &Plan, line: &[u8]) -> Result<(), Reject> {
        self.rows.report.read += 1;
        if memchr(b'"', line).is_some() {
            let fields = split(line, plan.separator);
            check_width(fields.len(), plan)?;
            return add(self.rows, plan, |at| fields[at].as_ref());
        }
        self.ends.clear();
        self.ends.extend(memchr_iter(plan.separator, line).take(plan.width));
        if self.ends.len() < plan.width {
            self.ends.push(line.len());
        }
        check_width(self.ends.len(), plan)?;
        let ends = &self.ends;
        add(self.rows, plan, |at| {
            let start = if at == 0 { 0 } else { ends[at - 1] + 1 };
            &line[start..ends[at]]
        })
    }
}

fn check_width(fields: usize, plan: &Plan) -> Result<(), Reject> {
    if fields >= plan.width {
        return Ok(());
    }
    Err(Reject::Bad(format!("the line has {fields} fields and needs {}", plan.width)))
}

#[inline]
fn add<'a>(
    rows: &mut Collector,
    plan: &Plan,
    field: impl Fn(usize) -> &'a [u8],
) -> Result<(), Reject> {
    let layout = &plan.layout;
    let time_text = field(layout.time);
    let time = moment::parse(time_text).or_else(|| moment::parse(time_text.trim_ascii()));
    let time = time.ok_or_else(|| Reject::Bad(format!("{} is no time", shown(time_text))))?;
    rows.check_time(time).map_err(Reject::Bad)?;
    let slot = match (plan.slot, layout.ticker) {
        (Some(slot), _) => slot,
        (None, Some(at)) => rows.slot(field(at).trim_ascii()).map_err(Reject::Bad)?,
        (None, None) => return Err(Reject::Bad("the row has no ticker".to_owned())),
    };
    let quick = layout.prices.map(|at| number::quick(field(at)));
    let volume = layout.volume.map(|at| number::quick(field(at)));
    if let [Some(open), Some(high), Some(low), Some(close)] = quick
        && volume != Some(None)
    {
        let (prices, volume): ([SmallDecimal; 4], _) = ([open, high, low, close], volume.flatten());
        if plainly_sound(&prices, volume) {
            return Ok(rows.add_narrow(slot, time, prices, volume)?);
        }
    }
    Ok(rows.add(slot, &careful_bar(layout, time, field)?)?)
}

/// The same by the long way, which can say what is wrong.
#[cold]
fn careful_bar<'a>(
    layout: &Layout,
    time: Millis,
    field: impl Fn(usize) -> &'a [u8],
) -> Result<Bar, Reject> {
    const NAMES: [&str; 4] = ["open", "high", "low", "close"];
    let read = |name: &str, text: &[u8]| {
        let text = text.trim_ascii();
        number::careful(text)
            .map_err(|error| Reject::Bad(format!("{name} {} is {error}", shown(text))))
    };
    let mut prices = [Decimal::ZERO; 4];
    for ((price, at), name) in prices.iter_mut().zip(layout.prices).zip(NAMES) {
        *price = read(name, field(at))?;
    }
    let volume = match layout.volume.map(|at| field(at).trim_ascii()) {
        Some(text) if !is_nothing(text) => Some(read("volume", text)?),
        _ => None,
    };
    let [open, high, low, close] = prices;
    let bar = Bar { open_time: time, open, high, low, close, volume };
    check_bar(&bar).map_err(Reject::Bad)?;
    Ok(bar)
}

/// How files say that there is no volume.
fn is_nothing(text: &[u8]) -> bool {
    let words: [&[u8]; 6] = [b"", b"null", b"none", b"nan", b"na", b"n/a"];
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// What a message may repeat of a field.
fn shown(field: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(field).chars().take(40).collect();
    format!("{text:?}")
}

fn separator_of(line: &[u8]) -> u8 {
    let count = |separator: u8| memchr_iter(separator, line).count();
    // The last of equals wins, and a comma is the likeliest.
    [b'\t', b';', b','].into_iter().max_by_key(|&separator| count(separator)).unwrap_or(b',')
}

/// Fields of a line that may be quoted; a doubled quote inside a quoted field is one quote.
fn split(line: &[u8], separator: u8) -> Vec<Cow<'_, [u8]>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let (field, after) = match rest.strip_prefix(b"\"") {
            Some(quoted) => unquote(quoted),
            None => {
                let end = memchr(separator, rest).unwrap_or(rest.len());
                (Cow::Borrowed(&rest[..end]), &rest[end..])
            }
        };
        fields.push(field);
        // What stands between a closing quote and the separator belongs to nothing.
        match memchr(separator, after) {
            Some(at) => rest = &after[at + 1..],
            None => return fields,
        }
    }
}

fn unquote(text: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    let mut field = Vec::new();
    let mut rest = text;
    loop {
        let Some(end) = memchr(b'"', rest) else {
            field.extend_from_slice(rest);
            return (Cow::Owned(field), &[]);
        };
        field.extend_from_slice(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix(b"\"") {
            Some(after) => {
                field.push(b'"');
                rest = after;
            }
            None => return (Cow::Owned(field), rest),
        }
    }
}
