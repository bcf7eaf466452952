//! Reads CSV files of bars, one bar per line; the headings give the separator and the columns, and
//! the first block shows how numbers and dates are written.
//!
//! Hand-written instead of the `csv` crate because it parses large blocks in place and imports faster
//! than DuckDB. A quoted field may hold the separator but no line break.

use std::borrow::Cow;
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

use clock::Millis;
use fault::Fault;
use market::{Bar, Decimal, DecimalError};
use market_bars::SmallDecimal;
use memchr::{memchr, memchr_iter, memrchr};

use crate::collect::{Collector, End, check_bar, plainly_sound};
use crate::dialect::{Dialect, Said};
use crate::layout::Layout;
use crate::{local_time, moment, number};

/// The block size, and the longest line: a longer line is a bad row.
const BLOCK_BYTES: usize = 1 << 20;
/// Lines before the headings: `sep=;` of a spreadsheet, or the title of an exchange's table.
const TITLES_MAX: usize = 4;

/// Passes every row to the collector. The outer error is about the file, the inner one about an
/// early end.
pub(crate) fn read(
    input: &mut dyn Read,
    ticker: Option<&str>,
    said: Said,
    rows: &mut Collector,
    bytes_read: &AtomicU64,
) -> Result<Result<(), End>, Fault> {
    let mut lines =
        Lines { ticker, said, rows, plan: None, number: 0, ends: Vec::new(), table_ended: false };
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
        // The first block is read whole, so that a file shows the same however it arrives.
        if lines.plan.is_none() && read > 0 && filled < block.len() {
            continue;
        }
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
    dialect: Dialect,
    mark: u8,
    /// Whether each time is one field with a Unix time or ISO 8601.
    plain_times: bool,
    /// The series of every row, where `--ticker` names it.
    slot: Option<usize>,
    /// A title stood above the headings, so a line of one field begins another table.
    titled: bool,
}

struct Lines<'a> {
    ticker: Option<&'a str>,
    said: Said,
    rows: &'a mut Collector,
    plan: Option<Plan>,
    number: u64,
    /// Where the fields of the current line end; kept to spare an allocation for every line.
    ends: Vec<usize>,
    table_ended: bool,
}

/// Why a line did not become a bar.
enum Reject {
    Bad(String),
    End(End),
    /// The line belongs to another table of the file.
    OtherTable,
}

impl From<End> for Reject {
    fn from(end: End) -> Self {
        Self::End(end)
    }
}

impl Lines<'_> {
    fn take_all(&mut self, text: &[u8]) -> Result<(), Outcome> {
        let text = if self.plan.is_none() { self.take_head(text)? } else { text };
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
        let Some(plan) = self.plan.take_if(|_| !self.table_ended) else {
            return Ok(());
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
            Err(Reject::OtherTable) => {
                self.rows.report.read -= 1;
                self.table_ended = true;
                Ok(())
            }
        }
    }

    fn too_long(&mut self) -> Result<(), Outcome> {
        self.number += 1;
        self.rows.report.read += 1;
        let reason = format!("the line is longer than {BLOCK_BYTES} bytes");
        self.settle(Err(Reject::Bad(reason)))
    }

    /// Reads what stands above the rows and returns the text from the first row on.
    fn take_head<'t>(&mut self, text: &'t [u8]) -> Result<&'t [u8], Outcome> {
        let mut rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        if rest.starts_with(b"\xff\xfe") || rest.starts_with(b"\xfe\xff") {
            let message = "the file is UTF-16; save it as CSV in UTF-8";
            return Err(Err(Fault::invalid("not_utf8", message)));
        }
        let (mut told, mut titles) = (None, 0);
        while !rest.is_empty() {
            let (line, after) = split_line(rest);
            let line = line.trim_ascii_end();
            let fields = told.is_some() || line.iter().any(|it| matches!(it, b',' | b';' | b'\t'));
            match line.strip_prefix(b"sep=") {
                Some(&[separator]) => told = Some(separator),
                _ if line.is_empty() => {}
                _ if !fields && titles < TITLES_MAX && !after.is_empty() => titles += 1,
                _ => return self.take_headings(rest, told, titles > 0),
            }
            self.number += 1;
            rest = after;
        }
        Ok(rest)
    }

    /// Takes the first line of a table, which has its headings or already a bar.
    fn take_headings<'t>(
        &mut self,
        text: &'t [u8],
        told: Option<u8>,
        titled: bool,
    ) -> Result<&'t [u8], Outcome> {
        let (line, after) = split_line(text);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let separator = told.unwrap_or_else(|| separator_of(line));
        let decoded = spreadsheet::decode(line).unwrap_or_else(|_| String::from_utf8_lossy(line));
        let fields: Vec<String> = split(decoded.as_bytes(), separator)
            .iter()
            .map(|field| String::from_utf8_lossy(field.trim_ascii()).into_owned())
            .collect();
        let is_time = |text: &str| {
            moment::parse(text.as_bytes()).is_some() || local_time::is_date(text.as_bytes())
        };
        let bare = fields.first().is_some_and(|first| is_time(first));
        let mut layout = match Layout::of_bare_rows(fields.len()) {
            Some(layout) if bare => layout,
            _ => Layout::of_headings(&fields).map_err(Err)?,
        };
        let rows = if bare { text } else { after };
        let sample = || rows.split(|byte| *byte == b'\n').map(|line| split(line, separator));
        layout.clock = layout.clock.filter(|&clock| {
            let first = sample().find(|row| row.len() >= layout.width());
            let of_day =
                first.map(|row| local_time::time_of_day(row[clock].trim_ascii()).is_some());
            // A column `time` beside a `date` may also have the whole time.
            layout.time = if of_day == Some(false) { clock } else { layout.time };
            of_day != Some(false)
        });
        let commas = separator != b',' || memchr(b'"', rows).is_some();
        let dialect = Dialect::of(self.said, &layout, commas, sample()).map_err(Err)?;
        self.plan = Some(Plan {
            width: layout.width(),
            separator,
            dialect,
            mark: dialect.mark.byte(),
            plain_times: dialect.order.is_none() && layout.clock.is_none(),
            slot: self.rows.series_of_file(layout.ticker.is_some(), self.ticker).map_err(Err)?,
            titled,
            layout,
        });
        self.number += u64::from(!bare);
        Ok(rows)
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
    if plan.titled && fields == 1 {
        return Err(Reject::OtherTable);
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
    let time = match plan.plain_times {
        true => moment::parse(time_text).or_else(|| moment::parse(time_text.trim_ascii())),
        false => written_time(plan, time_text, layout.clock.map(&field)),
    };
    let time = time.ok_or_else(|| no_time(time_text, layout.clock.map(&field)))?;
    rows.check_time(time).map_err(Reject::Bad)?;
    let slot = match (plan.slot, layout.ticker) {
        (Some(slot), None) => slot,
        (Some(slot), Some(at)) => {
            rows.check_only_name(field(at).trim_ascii()).map_err(Reject::Bad)?;
            slot
        }
        (None, Some(at)) => rows.slot(field(at).trim_ascii()).map_err(Reject::Bad)?,
        (None, None) => return Err(Reject::Bad("the row has no ticker".to_owned())),
    };
    let quick = layout.prices.map(|at| number::quick(field(at), plan.mark));
    let volume = layout.volume.map(|at| number::quick(field(at), plan.mark));
    if let [Some(open), Some(high), Some(low), Some(close)] = quick
        && volume != Some(None)
    {
        let (prices, volume): ([SmallDecimal; 4], _) = ([open, high, low, close], volume.flatten());
        if plainly_sound(&prices, volume) {
            return Ok(rows.add_narrow(slot, time, prices, volume)?);
        }
    }
    Ok(rows.add(slot, &careful_bar(plan, time, field)?)?)
}

/// A time that is no single plain field: a date of a spreadsheet, or a date beside a time of day.
fn written_time(plan: &Plan, text: &[u8], clock: Option<&[u8]>) -> Option<Millis> {
    let text = text.trim_ascii();
    let local = plan.dialect.order.and_then(|order| local_time::parse(text, order));
    let time = local.or_else(|| moment::parse(text))?;
    match clock {
        None => Some(time),
        Some(clock) => Some(Millis(time.0 + local_time::time_of_day(clock.trim_ascii())?)),
    }
}

#[cold]
fn no_time(text: &[u8], clock: Option<&[u8]>) -> Reject {
    Reject::Bad(match clock {
        None => format!("{} is no time", shown(text)),
        Some(clock) => format!("{} with {} is no time", shown(text), shown(clock)),
    })
}

/// The same by the long way, which can say what is wrong.
#[cold]
fn careful_bar<'a>(
    plan: &Plan,
    time: Millis,
    field: impl Fn(usize) -> &'a [u8],
) -> Result<Bar, Reject> {
    const NAMES: [&str; 4] = ["open", "high", "low", "close"];
    let (layout, mark) = (&plan.layout, plan.dialect.mark);
    let bad = |name: &str, text: &[u8], error: DecimalError| {
        Reject::Bad(format!("{name} {} is {error}", shown(text)))
    };
    let mut prices = [Decimal::ZERO; 4];
    for ((price, at), name) in prices.iter_mut().zip(layout.prices).zip(NAMES) {
        let text = field(at).trim_ascii();
        *price = number::localized(text, mark).map_err(|error| bad(name, text, error))?;
    }
    let volume = match layout.volume.map(|at| field(at).trim_ascii()) {
        Some(text) if !is_nothing(text) => {
            Some(number::volume(text, mark).map_err(|error| bad("volume", text, error))?)
        }
        _ => None,
    };
    let [open, high, low, close] = prices;
    let bar = Bar { open_time: time, open, high, low, close, volume };
    check_bar(&bar).map_err(Reject::Bad)?;
    Ok(bar)
}

/// How files say that there is no volume.
fn is_nothing(text: &[u8]) -> bool {
    let words: [&[u8]; 7] = [b"", b"-", b"null", b"none", b"nan", b"na", b"n/a"];
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// What a message may repeat of a field.
fn shown(field: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(field).chars().take(40).collect();
    format!("{text:?}")
}

/// The first line without its line break, and what follows it.
fn split_line(text: &[u8]) -> (&[u8], &[u8]) {
    match memchr(b'\n', text) {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, &[]),
    }
}

fn separator_of(line: &[u8]) -> u8 {
    let count = |separator: u8| memchr_iter(separator, line).count();
    // The last of equals wins: beside as many semicolons or tabs a comma belongs to the numbers.
    [b',', b';', b'\t'].into_iter().max_by_key(|&separator| count(separator)).unwrap_or(b',')
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
