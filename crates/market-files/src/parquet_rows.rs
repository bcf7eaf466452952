//! Reads Parquet files of bars row by row, and only the columns of a bar.
//!
//! A float becomes the shortest decimal that has the same float value (`0.1`); decimals and
//! integers stay as they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clock::{DAY_MS, Millis};
use fault::Fault;
use market::{Bar, Decimal};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use parquet::schema::types::Type;

use crate::collect::{Collector, EarlyEnd, check_bar};
use crate::layout::Layout;
use crate::{instant, number};

/// Passes every row to the collector; rows are numbered from 1.
pub(crate) fn read(
    file: impl ChunkReader + 'static,
    ticker: Option<&str>,
    rows: &mut Collector,
    bytes_read: &AtomicU64,
) -> Result<Result<(), EarlyEnd>, Fault> {
    let bytes_total = file.len();
    let reader = SerializedFileReader::new(file).map_err(unreadable)?;
    let metadata = reader.metadata().file_metadata();
    let rows_total = u64::try_from(metadata.num_rows()).unwrap_or(0).max(1);
    let (projection, layout) = choose_columns(metadata.schema())?;
    let series = rows.series_of_file(layout.ticker.is_some(), ticker)?;
    let iterator = reader.get_row_iter(Some(projection)).map_err(unreadable)?;
    for (row, number) in iterator.zip(1_u64..) {
        let row = row.map_err(unreadable)?;
        rows.report.read += 1;
        let outcome = match read_bar(rows, &layout, series, &row) {
            Ok((series, bar)) => rows.add(series, &bar),
            Err(reason) => rows.reject_row(number, reason),
        };
        if let Err(end) = outcome {
            return Ok(Err(end));
        }
        if number.is_multiple_of(4096) {
            let share = u128::from(bytes_total) * u128::from(number) / u128::from(rows_total);
            bytes_read.store(u64::try_from(share).unwrap_or(bytes_total), Ordering::Relaxed);
        }
    }
    bytes_read.store(bytes_total, Ordering::Relaxed);
    Ok(rows.finish())
}

/// The columns to read, and the position of each part of a bar among them.
fn choose_columns(schema: &Type) -> Result<(Type, Layout), Fault> {
    let fields = schema.get_fields();
    let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
    let whole = layout_of(&names)?;
    let places = [whole.ticker, Some(whole.time), whole.volume];
    let mut wanted: Vec<usize> = places.into_iter().flatten().chain(whole.prices).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let chosen = wanted.iter().map(|&at| Arc::clone(&fields[at])).collect();
    let projection =
        Type::group_type_builder(schema.name()).with_fields(chosen).build().map_err(unreadable)?;
    let names: Vec<&str> = wanted.iter().map(|&at| names[at]).collect();
    Ok((projection, layout_of(&names)?))
}

/// If a Parquet file has the columns `date` and `time`, `time` has the date and the time of day.
fn layout_of(names: &[&str]) -> Result<Layout, Fault> {
    let layout = Layout::of_headings(names)?;
    Ok(Layout { time: layout.time_of_day.unwrap_or(layout.time), time_of_day: None, ..layout })
}

/// The series and the bar of a row, or why the row is bad.
fn read_bar(
    rows: &mut Collector,
    layout: &Layout,
    series: Option<usize>,
    row: &Row,
) -> Result<(usize, Bar), String> {
    let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
    let field = |at: usize| fields.get(at).copied().unwrap_or(&Field::Null);
    let time_field = field(layout.time);
    let open_time = read_time(time_field).ok_or_else(|| format!("{time_field} is not a time"))?;
    rows.check_time(open_time)?;
    let name = match layout.ticker.map(field) {
        None => None,
        Some(Field::Str(name)) => Some(name.trim().as_bytes()),
        Some(Field::Bytes(name)) => Some(name.data().trim_ascii()),
        Some(other) => return Err(format!("{other} is not a ticker")),
    };
    let series = match (series, name) {
        (Some(series), None) => series,
        (Some(series), Some(name)) => rows.check_single_name(name).map(|()| series)?,
        (None, Some(name)) => rows.series_index(name)?,
        (None, None) => return Err("the row has no ticker".to_owned()),
    };
    let price = |name: &str, at: usize| {
        read_decimal(field(at))?.ok_or_else(|| format!("{name} has no value"))
    };
    let bar = Bar {
        open_time,
        open: price("open", layout.prices[0])?,
        high: price("high", layout.prices[1])?,
        low: price("low", layout.prices[2])?,
        close: price("close", layout.prices[3])?,
        volume: layout.volume.map_or(Ok(None), |at| read_decimal(field(at)))?,
    };
    check_bar(&bar)?;
    Ok((series, bar))
}

fn read_time(field: &Field) -> Option<Millis> {
    match field {
        Field::TimestampMillis(ms) => Some(Millis(*ms)),
        Field::TimestampMicros(us) => Some(Millis(us.div_euclid(1000))),
        Field::Date(days) => Some(Millis(i64::from(*days) * DAY_MS)),
        Field::Int(value) => Some(instant::from_unix(i64::from(*value))),
        Field::UInt(value) => Some(instant::from_unix(i64::from(*value))),
        // The library returns times in nanoseconds as integers.
        Field::Long(value) => Some(instant::from_unix(*value)),
        Field::ULong(value) => i64::try_from(*value).ok().map(instant::from_unix),
        Field::Double(value) => instant::parse(value.to_string().as_bytes()),
        Field::Str(text) => instant::parse(text.trim().as_bytes()),
        _ => None,
    }
}

/// The number of a field; `None` for a null and for NaN, which data frames write for a null.
fn read_decimal(field: &Field) -> Result<Option<Decimal>, String> {
    let integer = |value: i64| Decimal::from_parts(i128::from(value), 0);
    let parse = |text: String| {
        number::parse_any(text.as_bytes()).map(Some).map_err(|error| format!("{text} is {error}"))
    };
    let value = match field {
        Field::Null => return Ok(None),
        Field::Float(value) if value.is_nan() => return Ok(None),
        Field::Double(value) if value.is_nan() => return Ok(None),
        Field::Float(value) => return parse(value.to_string()),
        Field::Double(value) => return parse(value.to_string()),
        Field::Str(text) => return parse(text.trim().to_owned()),
        Field::Byte(value) => integer(i64::from(*value)),
        Field::Short(value) => integer(i64::from(*value)),
        Field::Int(value) => integer(i64::from(*value)),
        Field::Long(value) => integer(*value),
        Field::UByte(value) => integer(i64::from(*value)),
        Field::UShort(value) => integer(i64::from(*value)),
        Field::UInt(value) => integer(i64::from(*value)),
        Field::ULong(value) => Decimal::from_parts(i128::from(*value), 0),
        Field::Decimal(value) => {
            let scale = u8::try_from(value.scale()).ok();
            let parts = from_big_endian(value.data()).zip(scale);
            parts.and_then(|(mantissa, scale)| Decimal::from_parts(mantissa, scale))
        }
        _ => None,
    };
    value.map(Some).ok_or_else(|| format!("{field} is not a decimal number that can be stored"))
}

/// A big-endian two's complement number of any length; `None` if it does not fit 128 bits.
fn from_big_endian(bytes: &[u8]) -> Option<i128> {
    let negative = bytes.first().is_some_and(|first| *first >= 0x80);
    let filler = if negative { 0xff } else { 0 };
    let spare = bytes.len().saturating_sub(16);
    if bytes[..spare].iter().any(|byte| *byte != filler) {
        return None;
    }
    let mut whole = [filler; 16];
    let kept = &bytes[spare..];
    whole[16 - kept.len()..].copy_from_slice(kept);
    let value = i128::from_be_bytes(whole);
    ((value < 0) == negative).then_some(value)
}

fn unreadable(error: ParquetError) -> Fault {
    Fault::invalid("unreadable_file", "the file cannot be read as Parquet").caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_endian_numbers_keep_their_sign() {
        assert_eq!(from_big_endian(&[]), Some(0));
        assert_eq!(from_big_endian(&[0xff]), Some(-1));
        assert_eq!(from_big_endian(&[0, 0xff]), Some(255));
        assert_eq!(from_big_endian(&[0xff; 20]), Some(-1));
        assert_eq!(from_big_endian(&[1; 17]), None);
        assert_eq!(from_big_endian(&[0x80; 17]), None);
    }

    #[test]
    fn a_float_becomes_its_shortest_decimal() {
        let text = |field: Field| read_decimal(&field).unwrap().map(|value| value.to_string());
        assert_eq!(text(Field::Double(0.1)).as_deref(), Some("0.1"));
        assert_eq!(text(Field::Float(1.1)).as_deref(), Some("1.1"));
        assert_eq!(text(Field::Double(1e-7)).as_deref(), Some("0.0000001"));
        assert_eq!(text(Field::Double(f64::NAN)), None);
        assert_eq!(text(Field::Null), None);
        assert!(read_decimal(&Field::Double(f64::INFINITY)).is_err());
        assert!(read_decimal(&Field::Bool(true)).is_err());
    }
}
