//! The encoding of sealed chunks: at most 4,096 bars as one blob, with every decimal as it was
//! written.
//!
//! A blob is a checksum of four bytes, then version, count, times, prices and volumes. A time
//! column with a constant step is three numbers. Prices are encoded as differences, because those
//! are small: the open from the close before it, the close from the open, the high and the low from
//! the body. If the prices do not fit 64 bits at one scale, the four columns are encoded
//! separately. Each column has the scale that every number was written with.

use crate::columns::{ABSENT, BarColumns, DecimalColumn, Mantissas};
use crate::packing::{ByteReader, ByteWriter, Damaged};

const VERSION: u8 = 1;
/// How many bars a new chunk has.
pub(crate) const ROWS_PER_CHUNK: usize = 1024;
/// More rows than any chunk has; bounds the memory that decoding a damaged chunk allocates.
const ROWS_MAX: usize = 4 * ROWS_PER_CHUNK;

/// A chunk ready to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SealedChunk {
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) count: usize,
    /// The time between any two neighbours in milliseconds; 0 if the times between them differ.
    pub(crate) step: i64,
    pub(crate) data: Vec<u8>,
}

type WriteResult = Result<(), pco::errors::PcoError>;

/// Encodes rows, which must be sorted, at least one and at most [`ROWS_MAX`].
pub(crate) fn seal(
    columns: &BarColumns,
    rows: std::ops::Range<usize>,
) -> Result<SealedChunk, pco::errors::PcoError> {
    let times = &columns.times[rows.clone()];
    let (first, last) = (times.first().copied(), times.last().copied());
    let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
    let step = constant_step(times);
    let mut out = ByteWriter(vec![0; 4]);
    out.byte(VERSION);
    out.unsigned(times.len() as u64);
    out.signed(first);
    out.unsigned(step.unsigned_abs());
    if step == 0 {
        write_uneven_steps(&mut out, times)?;
    }
    write_prices(&mut out, columns, rows.clone())?;
    write_column(&mut out, &columns.volumes, rows)?;
    let mut data = out.0;
    let checksum = crc32fast::hash(&data[4..]);
    data[..4].copy_from_slice(&checksum.to_le_bytes());
    Ok(SealedChunk { first, last, count: times.len(), step, data })
}

/// Decodes the blob of a sealed chunk.
pub(crate) fn decode(data: &[u8]) -> Result<BarColumns, Damaged> {
    let (checksum, body) = data.split_first_chunk::<4>().ok_or(Damaged)?;
    if crc32fast::hash(body) != u32::from_le_bytes(*checksum) {
        return Err(Damaged);
    }
    let mut input = ByteReader(body);
    if input.byte()? != VERSION {
        return Err(Damaged);
    }
    let count = usize::try_from(input.unsigned()?).map_err(|_| Damaged)?;
    if count == 0 || count > ROWS_MAX {
        return Err(Damaged);
    }
    let times = read_times(&mut input, count)?;
    let prices = read_prices(&mut input, count)?;
    let volumes = read_column(&mut input, count)?;
    Ok(BarColumns { times, prices, volumes })
}

/// The time between any two neighbours, or 0 if the times between them differ.
fn constant_step(times: &[i64]) -> i64 {
    let mut pairs = times.windows(2).map(|pair| pair[1].checked_sub(pair[0]).unwrap_or(0));
    // A single bar gets the step 1: with 0 the index would have to decode the chunk.
    let step = pairs.next().unwrap_or(1);
    if pairs.all(|other| other == step) { step } else { 0 }
}

/// Writes the times between neighbours as multiples of their common divisor, which keeps the
/// numbers small.
fn write_uneven_steps(out: &mut ByteWriter, times: &[i64]) -> WriteResult {
    let steps: Vec<u64> =
        times.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]) as u64).collect();
    let unit = steps.iter().copied().fold(0, common_divisor).max(1);
    out.unsigned(unit);
    out.sequence(&steps.iter().map(|step| step / unit).collect::<Vec<u64>>())
}

fn common_divisor(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

fn read_times(input: &mut ByteReader<'_>, count: usize) -> Result<Vec<i64>, Damaged> {
    let first = input.signed()?;
    let step = i64::try_from(input.unsigned()?).map_err(|_| Damaged)?;
    let mut times = Vec::with_capacity(count);
    times.push(first);
    if step != 0 {
        let mut at = first;
        for _ in 1..count {
            at = at.wrapping_add(step);
            times.push(at);
        }
    } else {
        let unit = input.unsigned()?;
        let mut at = first;
        for units in input.sequence::<u64>(count - 1)? {
            at = at.wrapping_add(units.wrapping_mul(unit) as i64);
            times.push(at);
        }
    }
    // The index and the page look times up by binary search.
    if times.is_sorted_by(|left, right| left < right) { Ok(times) } else { Err(Damaged) }
}

/// How the four price columns of a chunk are encoded.
const PRICES_AS_DIFFERENCES: u8 = 1;
const PRICES_BY_COLUMN: u8 = 2;

fn write_prices(
    out: &mut ByteWriter,
    columns: &BarColumns,
    rows: std::ops::Range<usize>,
) -> WriteResult {
    let Some((scale, aligned)) = align_prices(columns, rows.clone()) else {
        out.byte(PRICES_BY_COLUMN);
        for column in &columns.prices {
            write_column(out, column, rows.clone())?;
        }
        return Ok(());
    };
    out.byte(PRICES_AS_DIFFERENCES);
    out.byte(scale);
    for column in &columns.prices {
        write_scales(out, &column.scales[rows.clone()])?;
    }
    let [opens, highs, lows, closes] = &aligned;
    let first_open = opens.first().copied().unwrap_or_default();
    out.signed(first_open);
    let mut differences: [Vec<i64>; 4] = std::array::from_fn(|_| Vec::with_capacity(opens.len()));
    let mut previous_close = first_open;
    for row in 0..opens.len() {
        let (open, close) = (opens[row], closes[row]);
        differences[0].push(open.wrapping_sub(previous_close));
        differences[1].push(highs[row].wrapping_sub(open.max(close)));
        differences[2].push(open.min(close).wrapping_sub(lows[row]));
        differences[3].push(close.wrapping_sub(open));
        previous_close = close;
    }
    differences.iter().try_for_each(|column| out.sequence(column))
}

fn read_prices(input: &mut ByteReader<'_>, count: usize) -> Result<[DecimalColumn; 4], Damaged> {
    match input.byte()? {
        PRICES_BY_COLUMN => Ok([
            read_column(input, count)?,
            read_column(input, count)?,
            read_column(input, count)?,
            read_column(input, count)?,
        ]),
        PRICES_AS_DIFFERENCES => read_price_differences(input, count),
        _ => Err(Damaged),
    }
}

fn read_price_differences(
    input: &mut ByteReader<'_>,
    count: usize,
) -> Result<[DecimalColumn; 4], Damaged> {
    let scale = input.byte()?;
    let mut scales: [Vec<u8>; 4] = Default::default();
    for column in &mut scales {
        *column = read_scales(input, count)?;
    }
    let mut previous_close = input.signed()?;
    // Differences first; the loop below replaces them by prices.
    let mut prices: [Vec<i64>; 4] = Default::default();
    for column in &mut prices {
        *column = input.sequence::<i64>(count)?;
    }
    let [opens, highs, lows, closes] = &mut prices;
    for (((open, high), low), close) in opens.iter_mut().zip(highs).zip(lows).zip(closes) {
        *open = previous_close.wrapping_add(*open);
        *close = open.wrapping_add(*close);
        *high = (*open).max(*close).wrapping_add(*high);
        *low = (*open).min(*close).wrapping_sub(*low);
        previous_close = *close;
    }
    let mut columns: [DecimalColumn; 4] = Default::default();
    for ((column, values), scales) in columns.iter_mut().zip(prices).zip(scales) {
        *column = restore(values, scales, scale)?;
    }
    Ok(columns)
}

/// How the mantissas of a column are encoded: none because every value is absent, at one scale,
/// each at its own scale, or as 128-bit numbers.
const MANTISSAS_ABSENT: u8 = 0;
const MANTISSAS_AT_ONE_SCALE: u8 = 1;
const MANTISSAS_AS_WRITTEN: u8 = 2;
const MANTISSAS_WIDE: u8 = 3;

fn write_column(
    out: &mut ByteWriter,
    column: &DecimalColumn,
    rows: std::ops::Range<usize>,
) -> WriteResult {
    let scales = &column.scales[rows.clone()];
    write_scales(out, scales)?;
    let values = match &column.mantissas {
        Mantissas::Narrow(values) => &values[rows],
        Mantissas::Wide(values) => {
            out.byte(MANTISSAS_WIDE);
            let high: Vec<i64> = values[rows.clone()].iter().map(|v| (v >> 64) as i64).collect();
            let low: Vec<u64> = values[rows].iter().map(|v| *v as u64).collect();
            out.sequence(&high)?;
            return out.sequence(&low);
        }
    };
    if scales.iter().all(|&scale| scale == ABSENT) {
        out.byte(MANTISSAS_ABSENT);
        return Ok(());
    }
    let common = common_scale(scales.iter());
    if let Some(aligned) = align(values, scales, common) {
        out.byte(MANTISSAS_AT_ONE_SCALE);
        out.byte(common);
        return out.sequence(&aligned);
    }
    out.byte(MANTISSAS_AS_WRITTEN);
    out.sequence(values)
}

fn read_column(input: &mut ByteReader<'_>, count: usize) -> Result<DecimalColumn, Damaged> {
    let scales = read_scales(input, count)?;
    match input.byte()? {
        MANTISSAS_ABSENT => {
            Ok(DecimalColumn { mantissas: Mantissas::Narrow(vec![0; count]), scales })
        }
        MANTISSAS_AT_ONE_SCALE => {
            let common = input.byte()?;
            let values = input.sequence::<i64>(count)?;
            restore(values, scales, common)
        }
        MANTISSAS_AS_WRITTEN => {
            let values = input.sequence::<i64>(count)?;
            Ok(DecimalColumn { mantissas: Mantissas::Narrow(values), scales })
        }
        MANTISSAS_WIDE => {
            let high = input.sequence::<i64>(count)?;
            let low = input.sequence::<u64>(count)?;
            let join = |(high, low): (i64, u64)| (i128::from(high) << 64) | i128::from(low);
            let values = high.into_iter().zip(low).map(join).collect();
            Ok(DecimalColumn { mantissas: Mantissas::Wide(values), scales })
        }
        _ => Err(Damaged),
    }
}

/// How the scales of a column are encoded.
const SCALES_EQUAL: u8 = 0;
const SCALES_MIXED: u8 = 1;

fn write_scales(out: &mut ByteWriter, scales: &[u8]) -> WriteResult {
    let first = scales.first().copied().unwrap_or_default();
    if scales.iter().all(|&scale| scale == first) {
        out.byte(SCALES_EQUAL);
        out.byte(first);
        return Ok(());
    }
    out.byte(SCALES_MIXED);
    out.sequence(&scales.iter().map(|&scale| u16::from(scale)).collect::<Vec<u16>>())
}

fn read_scales(input: &mut ByteReader<'_>, count: usize) -> Result<Vec<u8>, Damaged> {
    match input.byte()? {
        SCALES_EQUAL => Ok(vec![input.byte()?; count]),
        SCALES_MIXED => {
            let scales = input.sequence::<u16>(count)?;
            scales.into_iter().map(|scale| u8::try_from(scale).map_err(|_| Damaged)).collect()
        }
        _ => Err(Damaged),
    }
}

/// The largest scale of the values that are present.
fn common_scale<'a>(scales: impl Iterator<Item = &'a u8>) -> u8 {
    scales.copied().filter(|&scale| scale != ABSENT).max().unwrap_or(0)
}

/// All four price columns at one scale; `None` unless every number then fits 64 bits.
fn align_prices(columns: &BarColumns, rows: std::ops::Range<usize>) -> Option<(u8, [Vec<i64>; 4])> {
    let common =
        common_scale(columns.prices.iter().flat_map(|column| &column.scales[rows.clone()]));
    let mut aligned: [Vec<i64>; 4] = Default::default();
    for (into, column) in aligned.iter_mut().zip(&columns.prices) {
        let Mantissas::Narrow(values) = &column.mantissas else { return None };
        *into = align(&values[rows.clone()], &column.scales[rows.clone()], common)?;
    }
    Some((common, aligned))
}

/// The mantissas at the scale `common`; `None` unless all of them then fit 64 bits.
fn align(values: &[i64], scales: &[u8], common: u8) -> Option<Vec<i64>> {
    if scales.iter().all(|&scale| scale == common) {
        return Some(values.to_vec());
    }
    let rescale = |(&value, &scale): (&i64, &u8)| match scale {
        ABSENT => Some(0),
        scale => value.checked_mul(power_of_ten(common - scale)?),
    };
    values.iter().zip(scales).map(rescale).collect()
}

/// Undoes [`align`]: brings every mantissa from the scale `common` back to its own.
fn restore(mut values: Vec<i64>, scales: Vec<u8>, common: u8) -> Result<DecimalColumn, Damaged> {
    for (value, &scale) in values.iter_mut().zip(&scales) {
        if scale == ABSENT {
            *value = 0;
        } else if scale != common {
            let by = common.checked_sub(scale).and_then(power_of_ten).ok_or(Damaged)?;
            *value /= by;
        }
    }
    Ok(DecimalColumn { mantissas: Mantissas::Narrow(values), scales })
}

fn power_of_ten(exponent: u8) -> Option<i64> {
    10_i64.checked_pow(u32::from(exponent))
}

#[cfg(test)]
mod tests;
