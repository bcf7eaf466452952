//! Reads CSV files of bars, one bar per line. The headings decide the separator and the columns,
//! the first block how numbers and dates are written.
//!
//! Hand-written instead of the `csv` crate because it parses large blocks in place and imports
//! faster than DuckDB. A quoted field may contain the separator but no line break.

use std::borrow::Cow;
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

use clock::Millis;
use fault::Fault;
use market::{Bar, Decimal, DecimalError};
use market_bars::SmallDecimal;
use memchr::{memchr, memchr_iter, memrchr};

use crate::collect::{Collector, EarlyEnd, check_bar, is_surely_valid};
use crate::dialect::{Dialect, DialectOptions};
use crate::layout::Layout;
use crate::{instant, local_time, number};

/// The block size, and the longest line: a longer line is a bad row.
const BLOCK_BYTES: usize = 1 << 20;
/// Lines before the headings: `sep=;` of a spreadsheet, or the title of an exchange's table.
const TITLES_MAX: usize = 4;

/// Passes every row to the collector. The outer error says that the file cannot be read, the inner
/// one why reading ended early.
pub(crate) fn read(
    input: &mut dyn Read,
    ticker: Option<&str>,
    dialect_options: DialectOptions,
    rows: &mut Collector,
    bytes_read: &AtomicU64,
) -> Result<Result<(), EarlyEnd>, Fault> {
    let mut lines = LineReader {
        ticker,
        dialect_options,
        rows,
        format: None,
        line_number: 0,
        field_ends: Vec::new(),
        table_ended: false,
    };
    let mut block = vec![0; BLOCK_BYTES];
    let mut filled = 0;
    let mut overlong = false;
    loop {
        let read = match input.read(&mut block[filled..]) {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(Fault::unavailable(
                    "unreadable_file",
                    "the rest of the file cannot be read",
                )
                .caused_by(error));
            }
        };
        bytes_read.fetch_add(read as u64, Ordering::Relaxed);
        filled += read;
        // Fills the first block before it is examined, so that the sizes of the reads do not
        // matter.
        if lines.format.is_none() && read > 0 && filled < block.len() {
            continue;
        }
        let complete = match memrchr(b'\n', &block[..filled]) {
            _ if read == 0 => filled,
            Some(last) => last + 1,
            None if filled < block.len() => continue,
            None => 0,
        };
        let mut lines_text = &block[..complete];
        if overlong && complete > 0 {
            // Skips the rest of a line that was too long.
            let line_end = memchr(b'\n', lines_text).map_or(lines_text.len(), |end| end + 1);
            lines_text = &lines_text[line_end..];
            overlong = false;
        }
        if let Err(stop) = lines.read_lines(lines_text) {
            return stop;
        }
        if complete == 0 && read > 0 {
            if !overlong && let Err(stop) = lines.reject_long_line() {
                return stop;
            }
            overlong = true;
            filled = 0;
            continue;
        }
        if read == 0 {
            return lines.finish();
        }
        block.copy_within(complete..filled, 0);
        filled -= complete;
    }
}

/// The result of [`read`]; in an `Err` it ends the reading.
type ReadOutcome = Result<Result<(), EarlyEnd>, Fault>;

/// How the rows of a file are written.
struct TableFormat {
    layout: Layout,
    separator: u8,
    /// How many fields a row must have.
    width: usize,
    dialect: Dialect,
    decimal_mark: u8,
    /// Whether each time is one field with a Unix time or ISO 8601.
    unix_or_iso_times: bool,
    /// The series of every row, if `--ticker` names it.
    series: Option<usize>,
    /// Whether a title precedes the headings; a line of one field then begins another table.
    has_title: bool,
}

/// Reads lines as rows of the table that the first lines describe.
struct LineReader<'a> {
    ticker: Option<&'a str>,
    dialect_options: DialectOptions,
    rows: &'a mut Collector,
    /// `None` before the headings.
    format: Option<TableFormat>,
    line_number: u64,
    /// Where the fields of the current line end; reused to avoid an allocation for every line.
    field_ends: Vec<usize>,
    /// Another table has begun; its lines are ignored.
    table_ended: bool,
}

/// Why a line did not become a bar.
enum Reject {
    Bad(String),
    EarlyEnd(EarlyEnd),
    /// The line belongs to another table of the file.
    OtherTable,
}

impl From<EarlyEnd> for Reject {
    fn from(end: EarlyEnd) -> Self {
        Self::EarlyEnd(end)
    }
}

impl LineReader<'_> {
    fn read_lines(&mut self, text: &[u8]) -> Result<(), ReadOutcome> {
        let text = if self.format.is_none() { self.read_preamble(text)? } else { text };
        let mut at = 0;
        for end in memchr_iter(b'\n', text) {
            self.read_line(&text[at..end])?;
            at = end + 1;
        }
        if at < text.len() { self.read_line(&text[at..]) } else { Ok(()) }
    }

    fn read_line(&mut self, line: &[u8]) -> Result<(), ReadOutcome> {
        self.line_number += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return Ok(());
        }
        let Some(format) = self.format.take_if(|_| !self.table_ended) else {
            return Ok(());
        };
        let result = self.add_row(&format, line);
        self.format = Some(format);
        self.handle_reject(result)
    }

    /// Reports a bad row, or ends the reading or the table.
    fn handle_reject(&mut self, result: Result<(), Reject>) -> Result<(), ReadOutcome> {
        match result {
            Ok(()) => Ok(()),
            Err(Reject::Bad(reason)) => {
                self.rows.reject_row(self.line_number, reason).map_err(|end| Ok(Err(end)))
            }
            Err(Reject::EarlyEnd(end)) => Err(Ok(Err(end))),
            Err(Reject::OtherTable) => {
                self.rows.report.read -= 1;
                self.table_ended = true;
                Ok(())
            }
        }
    }

    fn reject_long_line(&mut self) -> Result<(), ReadOutcome> {
        self.line_number += 1;
        self.rows.report.read += 1;
        let reason = format!("the line is longer than {BLOCK_BYTES} bytes");
        self.handle_reject(Err(Reject::Bad(reason)))
    }

    /// Reads the lines before the rows (titles, `sep=`, headings) and returns the text from the
    /// first row on.
    fn read_preamble<'t>(&mut self, text: &'t [u8]) -> Result<&'t [u8], ReadOutcome> {
        let mut rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        if rest.starts_with(b"\xff\xfe") || rest.starts_with(b"\xfe\xff") {
            let message = "the file is UTF-16; save it as CSV in UTF-8";
            return Err(Err(Fault::invalid("not_utf8", message)));
        }
        let (mut declared_separator, mut titles) = (None, 0);
        while !rest.is_empty() {
            let (line, after) = split_line(rest);
            let line = line.trim_ascii_end();
            let has_fields = declared_separator.is_some()
                || line.iter().any(|it| matches!(it, b',' | b';' | b'\t'));
            match line.strip_prefix(b"sep=") {
                Some(&[separator]) => declared_separator = Some(separator),
                _ if line.is_empty() => {}
                _ if !has_fields && titles < TITLES_MAX && !after.is_empty() => titles += 1,
                _ => return self.read_headings(rest, declared_separator, titles > 0),
            }
            self.line_number += 1;
            rest = after;
        }
        Ok(rest)
    }

    /// Reads the first line of a table, which has the headings or, in a file without them, a bar.
    fn read_headings<'t>(
        &mut self,
        text: &'t [u8],
        declared_separator: Option<u8>,
        has_title: bool,
    ) -> Result<&'t [u8], ReadOutcome> {
        let (line, after) = split_line(text);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let separator = declared_separator.unwrap_or_else(|| guess_separator(line));
        let decoded = spreadsheet::decode(line).unwrap_or_else(|_| String::from_utf8_lossy(line));
        let fields: Vec<String> = split_fields(decoded.as_bytes(), separator)
            .iter()
            .map(|field| String::from_utf8_lossy(field.trim_ascii()).into_owned())
            .collect();
        let is_time = |text: &str| {
            instant::parse(text.as_bytes()).is_some() || local_time::is_date(text.as_bytes())
        };
        let first_line_is_bar = fields.first().is_some_and(|first| is_time(first));
        let mut layout = match Layout::without_headings(fields.len()) {
            Some(layout) if first_line_is_bar => layout,
            _ => Layout::of_headings(&fields).map_err(Err)?,
        };
        let rows = if first_line_is_bar { text } else { after };
        let sample = || rows.split(|byte| *byte == b'\n').map(|line| split_fields(line, separator));
        layout.time_of_day = layout.time_of_day.filter(|&clock| {
            let first = sample().find(|row| row.len() >= layout.width());
            let is_time_of_day =
                first.map(|row| local_time::time_of_day(row[clock].trim_ascii()).is_some());
            // A column `time` beside a `date` may also have the date and the time of day.
            layout.time = if is_time_of_day == Some(false) { clock } else { layout.time };
            is_time_of_day != Some(false)
        });
        let numbers_may_have_commas = separator != b',' || memchr(b'"', rows).is_some();
        let dialect = Dialect::of(self.dialect_options, &layout, numbers_may_have_commas, sample())
            .map_err(Err)?;
        self.format = Some(TableFormat {
            width: layout.width(),
            separator,
            dialect,
            decimal_mark: dialect.mark.byte(),
            unix_or_iso_times: dialect.order.is_none() && layout.time_of_day.is_none(),
            series: self.rows.series_of_file(layout.ticker.is_some(), self.ticker).map_err(Err)?,
            has_title,
            layout,
        });
        self.line_number += u64::from(!first_line_is_bar);
        Ok(rows)
    }

    fn finish(&mut self) -> ReadOutcome {
        if self.format.is_none() {
            return Err(Fault::invalid("empty_file", "the file is empty"));
        }
        Ok(self.rows.finish())
    }

    fn add_row(&mut self, format: &TableFormat, line: &[u8]) -> Result<(), Reject> {
        self.rows.report.read += 1;
        if memchr(b'"', line).is_some() {
            let fields = split_fields(line, format.separator);
            check_width(fields.len(), format)?;
            return add_bar(self.rows, format, |at| fields[at].as_ref());
        }
        self.field_ends.clear();
        self.field_ends.extend(memchr_iter(format.separator, line).take(format.width));
        if self.field_ends.len() < format.width {
            self.field_ends.push(line.len());
        }
        check_width(self.field_ends.len(), format)?;
        let ends = &self.field_ends;
        add_bar(self.rows, format, |at| {
            let start = if at == 0 { 0 } else { ends[at - 1] + 1 };
            &line[start..ends[at]]
        })
    }
}

fn check_width(fields: usize, format: &TableFormat) -> Result<(), Reject> {
    if fields >= format.width {
        return Ok(());
    }
    if format.has_title && fields == 1 {
        return Err(Reject::OtherTable);
    }
    Err(Reject::Bad(format!("the line has {fields} fields and needs {}", format.width)))
}

#[inline]
fn add_bar<'a>(
    rows: &mut Collector,
    format: &TableFormat,
    field: impl Fn(usize) -> &'a [u8],
) -> Result<(), Reject> {
    let layout = &format.layout;
    let time_text = field(layout.time);
    let time = match format.unix_or_iso_times {
        true => instant::parse(time_text).or_else(|| instant::parse(time_text.trim_ascii())),
        false => spreadsheet_time(format, time_text, layout.time_of_day.map(&field)),
    };
    let time = time.ok_or_else(|| invalid_time(time_text, layout.time_of_day.map(&field)))?;
    rows.check_time(time).map_err(Reject::Bad)?;
    let series = match (format.series, layout.ticker) {
        (Some(series), None) => series,
        (Some(series), Some(at)) => {
            rows.check_single_name(field(at).trim_ascii()).map_err(Reject::Bad)?;
            series
        }
        (None, Some(at)) => rows.series_index(field(at).trim_ascii()).map_err(Reject::Bad)?,
        (None, None) => return Err(Reject::Bad("the row has no ticker".to_owned())),
    };
    let prices = layout.prices.map(|at| number::parse_short(field(at), format.decimal_mark));
    let volume = layout.volume.map(|at| number::parse_short(field(at), format.decimal_mark));
    if let [Some(open), Some(high), Some(low), Some(close)] = prices
        && volume != Some(None)
    {
        let (prices, volume): ([SmallDecimal; 4], _) = ([open, high, low, close], volume.flatten());
        if is_surely_valid(&prices, volume) {
            return Ok(rows.add_small(series, time, prices, volume)?);
        }
    }
    Ok(rows.add(series, &parse_any_bar(format, time, field)?)?)
}

/// A time as spreadsheets write it: a local date, or a date with the time of day in another column.
fn spreadsheet_time(format: &TableFormat, text: &[u8], clock: Option<&[u8]>) -> Option<Millis> {
    let text = text.trim_ascii();
    let local = format.dialect.order.and_then(|order| local_time::parse(text, order));
    let time = local.or_else(|| instant::parse(text))?;
    match clock {
        None => Some(time),
        Some(clock) => Some(Millis(time.0 + local_time::time_of_day(clock.trim_ascii())?)),
    }
}

#[cold]
fn invalid_time(text: &[u8], clock: Option<&[u8]>) -> Reject {
    Reject::Bad(match clock {
        None => format!("{} is not a time", quoted(text)),
        Some(clock) => format!("{} with {} is not a time", quoted(text), quoted(clock)),
    })
}

/// Parses a bar whose numbers [`number::parse_short`] does not read, or says what is wrong with it.
#[cold]
fn parse_any_bar<'a>(
    format: &TableFormat,
    time: Millis,
    field: impl Fn(usize) -> &'a [u8],
) -> Result<Bar, Reject> {
    const NAMES: [&str; 4] = ["open", "high", "low", "close"];
    let (layout, mark) = (&format.layout, format.dialect.mark);
    let bad = |name: &str, text: &[u8], error: DecimalError| {
        Reject::Bad(format!("{name} {} is {error}", quoted(text)))
    };
    let mut prices = [Decimal::ZERO; 4];
    for ((price, at), name) in prices.iter_mut().zip(layout.prices).zip(NAMES) {
        let text = field(at).trim_ascii();
        *price = number::parse_localized(text, mark).map_err(|error| bad(name, text, error))?;
    }
    let volume = match layout.volume.map(|at| field(at).trim_ascii()) {
        Some(text) if !is_absent(text) => {
            Some(number::parse_volume(text, mark).map_err(|error| bad("volume", text, error))?)
        }
        _ => None,
    };
    let [open, high, low, close] = prices;
    let bar = Bar { open_time: time, open, high, low, close, volume };
    check_bar(&bar).map_err(Reject::Bad)?;
    Ok(bar)
}

/// Whether a field says that there is no volume.
fn is_absent(text: &[u8]) -> bool {
    let words: [&[u8]; 7] = [b"", b"-", b"null", b"none", b"nan", b"na", b"n/a"];
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The first 40 characters of a field in quotes, for a message.
fn quoted(field: &[u8]) -> String {
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

/// The separator that the line has most often.
fn guess_separator(line: &[u8]) -> u8 {
    let count = |separator: u8| memchr_iter(separator, line).count();
    // Of equal counts the last one wins: with as many semicolons or tabs, commas belong to numbers.
    [b',', b';', b'\t'].into_iter().max_by_key(|&separator| count(separator)).unwrap_or(b',')
}

/// Fields of a line that may be quoted; a doubled quote inside a quoted field is one quote.
fn split_fields(line: &[u8], separator: u8) -> Vec<Cow<'_, [u8]>> {
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
        // Ignores text between a closing quote and the separator.
        match memchr(separator, after) {
            Some(at) => rest = &after[at + 1..],
            None => return fields,
        }
    }
}

/// The field after its opening quote, and the text after its closing quote.
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
