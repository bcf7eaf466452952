//! Sealed chunks: up to a few thousand bars as one small blob, exact to the letter.
//!
//! Four bytes of checksum, then: version, count, times, prices, volumes. A time column with a
//! constant step is three numbers. Prices are kept as differences from their neighbours (the open
//! from the close before, the close from the open, the high and the low from the body), because
//! those are small; numbers too long for that are kept apart, and each column remembers the scale
//! that every number was written with.

use crate::columns::{ABSENT, BarColumns, DecimalColumn, Mantissas};
use crate::packing::{ByteReader, Damaged, Writer};

const VERSION: u8 = 1;
/// The size chunks are cut to.
pub(crate) const ROWS: usize = 1024;
/// More than any chunk holds; a bound on what a damaged one can make us allocate.
const ROWS_MAX: usize = 4 * ROWS;

/// A chunk ready to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sealed {
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) count: usize,
    /// The distance between any two neighbours in milliseconds; 0 where distances differ.
    pub(crate) step: i64,
    pub(crate) data: Vec<u8>,
}

type Packed = Result<(), pco::errors::PcoError>;

/// Rows must be settled, at least one and at most [`ROWS_MAX`].
pub(crate) fn seal(
    columns: &BarColumns,
    rows: std::ops::Range<usize>,
) -> Result<Sealed, pco::errors::PcoError> {
    let times = &columns.times[rows.clone()];
    let (first, last) = (times.first().copied(), times.last().copied());
    let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
    let step = constant_step(times);
    let mut out = Writer(vec![0; 4]);
    out.byte(VERSION);
    out.unsigned(times.len() as u64);
    out.signed(first);
    out.unsigned(step.unsigned_abs());
    if step == 0 {
        write_gaps(&mut out, times)?;
    }
    write_prices(&mut out, columns, rows.clone())?;
    write_column(&mut out, &columns.volumes, rows)?;
    let mut data = out.0;
    let checksum = crc32fast::hash(&data[4..]);
    data[..4].copy_from_slice(&checksum.to_le_bytes());
    Ok(Sealed { first, last, count: times.len(), step, data })
}

pub(crate) fn open(data: &[u8]) -> Result<BarColumns, Damaged> {
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

fn constant_step(times: &[i64]) -> i64 {
    let mut pairs = times.windows(2).map(|pair| pair[1].checked_sub(pair[0]).unwrap_or(0));
    // A single bar has every step; one that is not 0 spares its decoding.
    let step = pairs.next().unwrap_or(1);
    if pairs.all(|other| other == step) { step } else { 0 }
}

/// Distances as multiples of their common divisor, so that a missing minute costs what a missing
/// day does.
fn write_gaps(out: &mut Writer, times: &[i64]) -> Packed {
    let gaps: Vec<u64> =
        times.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]) as u64).collect();
    let unit = gaps.iter().copied().fold(0, common_divisor).max(1);
    out.unsigned(unit);
    out.sequence(&gaps.iter().map(|gap| gap / unit).collect::<Vec<u64>>())
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
        for gap in input.sequence::<u64>(count - 1)? {
            at = at.wrapping_add(gap.wrapping_mul(unit) as i64);
            times.push(at);
        }
    }
    // Everything else relies on the order.
    if times.is_sorted_by(|left, right| left < right) { Ok(times) } else { Err(Damaged) }
}

const RELATED: u8 = 1;
const APART: u8 = 2;

fn write_prices(out: &mut Writer, columns: &BarColumns, rows: std::ops::Range<usize>) -> Packed {
    let Some((scale, aligned)) = align_together(columns, rows.clone()) else {
        out.byte(APART);
        for column in &columns.prices {
            write_column(out, column, rows.clone())?;
        }
        return Ok(());
    };
    out.byte(RELATED);
    out.byte(scale);
    for column in &columns.prices {
        write_scales(out, &column.scales[rows.clone()])?;
    }
    let [opens, highs, lows, closes] = &aligned;
    let base = opens.first().copied().unwrap_or_default();
    out.signed(base);
    let mut parts: [Vec<i64>; 4] = std::array::from_fn(|_| Vec::with_capacity(opens.len()));
    let mut before = base;
    for row in 0..opens.len() {
        let (open, close) = (opens[row], closes[row]);
        parts[0].push(open.wrapping_sub(before));
        parts[1].push(highs[row].wrapping_sub(open.max(close)));
        parts[2].push(open.min(close).wrapping_sub(lows[row]));
        parts[3].push(close.wrapping_sub(open));
        before = close;
    }
    parts.iter().try_for_each(|part| out.sequence(part))
}

fn read_prices(input: &mut ByteReader<'_>, count: usize) -> Result<[DecimalColumn; 4], Damaged> {
    match input.byte()? {
        APART => Ok([
            read_column(input, count)?,
            read_column(input, count)?,
            read_column(input, count)?,
            read_column(input, count)?,
        ]),
        RELATED => read_related(input, count),
        _ => Err(Damaged),
    }
}

fn read_related(input: &mut ByteReader<'_>, count: usize) -> Result<[DecimalColumn; 4], Damaged> {
    let scale = input.byte()?;
    let mut scales: [Vec<u8>; 4] = Default::default();
    for column in &mut scales {
        *column = read_scales(input, count)?;
    }
    let mut before = input.signed()?;
    let mut parts: [Vec<i64>; 4] = Default::default();
    for part in &mut parts {
        *part = input.sequence::<i64>(count)?;
    }
    let [opens, highs, lows, closes] = &mut parts;
    for (((open, high), low), close) in opens.iter_mut().zip(highs).zip(lows).zip(closes) {
        *open = before.wrapping_add(*open);
        *close = open.wrapping_add(*close);
        *high = (*open).max(*close).wrapping_add(*high);
        *low = (*open).min(*close).wrapping_sub(*low);
        before = *close;
    }
    let mut columns: [DecimalColumn; 4] = Default::default();
    for ((column, values), scales) in columns.iter_mut().zip(parts).zip(scales) {
        *column = restore(values, scales, scale)?;
    }
    Ok(columns)
}

const NOTHING: u8 = 0;
const ALIGNED: u8 = 1;
const RAW: u8 = 2;
const WIDE: u8 = 3;

fn write_column(out: &mut Writer, column: &DecimalColumn, rows: std::ops::Range<usize>) -> Packed {
    let scales = &column.scales[rows.clone()];
    write_scales(out, scales)?;
    let values = match &column.mantissas {
        Mantissas::Narrow(values) => &values[rows],
        Mantissas::Wide(values) => {
            out.byte(WIDE);
            let high: Vec<i64> = values[rows.clone()].iter().map(|v| (v >> 64) as i64).collect();
            let low: Vec<u64> = values[rows].iter().map(|v| *v as u64).collect();
            out.sequence(&high)?;
            return out.sequence(&low);
        }
    };
    if scales.iter().all(|&scale| scale == ABSENT) {
        out.byte(NOTHING);
        return Ok(());
    }
    let common = common_scale(scales.iter());
    if let Some(aligned) = align(values, scales, common) {
        out.byte(ALIGNED);
        out.byte(common);
        return out.sequence(&aligned);
    }
    out.byte(RAW);
    out.sequence(values)
}

fn read_column(input: &mut ByteReader<'_>, count: usize) -> Result<DecimalColumn, Damaged> {
    let scales = read_scales(input, count)?;
    match input.byte()? {
        NOTHING => Ok(DecimalColumn { mantissas: Mantissas::Narrow(vec![0; count]), scales }),
        ALIGNED => {
            let common = input.byte()?;
            let values = input.sequence::<i64>(count)?;
            restore(values, scales, common)
        }
        RAW => {
            let values = input.sequence::<i64>(count)?;
            Ok(DecimalColumn { mantissas: Mantissas::Narrow(values), scales })
        }
        WIDE => {
            let high = input.sequence::<i64>(count)?;
            let low = input.sequence::<u64>(count)?;
            let join = |(high, low): (i64, u64)| (i128::from(high) << 64) | i128::from(low);
            let values = high.into_iter().zip(low).map(join).collect();
            Ok(DecimalColumn { mantissas: Mantissas::Wide(values), scales })
        }
        _ => Err(Damaged),
    }
}

const UNIFORM: u8 = 0;
const MIXED: u8 = 1;

fn write_scales(out: &mut Writer, scales: &[u8]) -> Packed {
    let first = scales.first().copied().unwrap_or_default();
    if scales.iter().all(|&scale| scale == first) {
        out.byte(UNIFORM);
        out.byte(first);
        return Ok(());
    }
    out.byte(MIXED);
    out.sequence(&scales.iter().map(|&scale| u16::from(scale)).collect::<Vec<u16>>())
}

fn read_scales(input: &mut ByteReader<'_>, count: usize) -> Result<Vec<u8>, Damaged> {
    match input.byte()? {
        UNIFORM => Ok(vec![input.byte()?; count]),
        MIXED => {
            let scales = input.sequence::<u16>(count)?;
            scales.into_iter().map(|scale| u8::try_from(scale).map_err(|_| Damaged)).collect()
        }
        _ => Err(Damaged),
    }
}

fn common_scale<'a>(scales: impl Iterator<Item = &'a u8>) -> u8 {
    scales.copied().filter(|&scale| scale != ABSENT).max().unwrap_or(0)
}

/// All four price columns at one scale, where every number then still fits 64 bits.
fn align_together(
    columns: &BarColumns,
    rows: std::ops::Range<usize>,
) -> Option<(u8, [Vec<i64>; 4])> {
    let common =
        common_scale(columns.prices.iter().flat_map(|column| &column.scales[rows.clone()]));
    let mut aligned: [Vec<i64>; 4] = Default::default();
    for (into, column) in aligned.iter_mut().zip(&columns.prices) {
        let Mantissas::Narrow(values) = &column.mantissas else { return None };
        *into = align(&values[rows.clone()], &column.scales[rows.clone()], common)?;
    }
    Some((common, aligned))
}

fn align(values: &[i64], scales: &[u8], common: u8) -> Option<Vec<i64>> {
    if scales.iter().all(|&scale| scale == common) {
        return Some(values.to_vec());
    }
    let lift = |(&value, &scale): (&i64, &u8)| match scale {
        ABSENT => Some(0),
        scale => value.checked_mul(power(common - scale)?),
    };
    values.iter().zip(scales).map(lift).collect()
}

fn restore(mut values: Vec<i64>, scales: Vec<u8>, common: u8) -> Result<DecimalColumn, Damaged> {
    for (value, &scale) in values.iter_mut().zip(&scales) {
        if scale == ABSENT {
            *value = 0;
        } else if scale != common {
            let by = common.checked_sub(scale).and_then(power).ok_or(Damaged)?;
            *value /= by;
        }
    }
    Ok(DecimalColumn { mantissas: Mantissas::Narrow(values), scales })
}

fn power(exponent: u8) -> Option<i64> {
    10_i64.checked_pow(u32::from(exponent))
}

#[cfg(test)]
mod tests;
