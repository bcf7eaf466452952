//! The `Indicator` trait, and `Stream`, its object-safe form for callers that choose by name.

use std::array;
use std::mem::{needs_drop, take};

use crate::simd::with_widest_simd;
use crate::{Candle, Candles};

/// An incremental indicator with `N` outputs.
///
/// The formula is written once, in [`step`](Indicator::step), which reads the state and returns the
/// state change; [`commit`](Indicator::commit) writes it. So a preview cannot change the state, and
/// the batch form computes the same formula.
pub trait Indicator<const N: usize>: Clone {
    /// The state change that one candle computes.
    type Update;

    /// Computes the values at `candle` and the state change, without changing `self`.
    fn step(&self, candle: &Candle) -> ([f64; N], Self::Update);

    /// Writes the state change that [`step`](Indicator::step) computed.
    fn commit(&mut self, next: Self::Update);

    /// How many candles pass before the slowest output has a value.
    fn warmup(&self) -> usize;

    /// Takes a closed candle and returns its values.
    #[inline(always)]
    fn update(&mut self, candle: &Candle) -> [f64; N] {
        let (values, next) = self.step(candle);
        self.commit(next);
        values.map(finite_or_nan)
    }

    /// The values a forming candle would give if it closed now.
    #[inline]
    fn preview(&self, candle: &Candle) -> [f64; N] {
        self.step(candle).0.map(finite_or_nan)
    }

    /// Whether the type overrides [`run_batch`](Indicator::run_batch).
    const HAS_BATCH: bool = false;

    /// Takes many closed candles and writes one value per candle into each output. Stops at the
    /// shortest of the candles and the outputs.
    #[inline(always)]
    fn extend(&mut self, candles: &Candles<'_>, out: [&mut [f64]; N]) {
        if Self::HAS_BATCH {
            let len = shortest(candles, &out);
            return self.run_batch(&candles.slice(0, len), &mut Slices(out));
        }
        if needs_drop::<Self>() {
            return each(self, candles, out);
        }
        // A state without heap buffers is cheap to copy, and the compiler keeps a local copy in
        // registers.
        let mut state = self.clone();
        each(&mut state, candles, out);
        *self = state;
    }

    /// Like [`extend`](Indicator::extend), into a sink that grows by 2,048 values at a time: the
    /// new slots are in cache, and are filled while the previous ones are written to memory.
    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<N>) {
        let mut buffer = [[0.0; BUFFER]; N];
        for from in (0..candles.len()).step_by(BUFFER) {
            let part = candles.slice(from, from + BUFFER);
            self.extend(&part, buffer.each_mut().map(|column| column.as_mut_slice()));
            out.append(buffer.each_ref().map(|column| &column[..part.len()]));
        }
    }
}

/// Outputs that an indicator fills from front to back.
pub trait OutputSink<const N: usize> {
    /// The next `len` slots of each output, with undefined contents; empty slices when fewer are
    /// left.
    fn next(&mut self, len: usize) -> [&mut [f64]; N];

    /// Appends the next values of each output; all slices have the same length.
    #[inline(always)]
    fn append(&mut self, values: [&[f64]; N]) {
        let len = values.iter().map(|column| column.len()).min().unwrap_or(0);
        for (slots, values) in self.next(len).into_iter().zip(values) {
            slots.iter_mut().zip(values).for_each(|(slot, value)| *slot = *value);
        }
    }

    /// The output vectors, when they can grow, so that the caller appends the same number of values
    /// to each. A wanted output has capacity for all values, the others for 2,048.
    #[inline(always)]
    fn columns(&mut self) -> Option<[&mut Vec<f64>; N]> {
        None
    }

    /// Whether the caller wants this output.
    #[inline(always)]
    fn wants(&self, _output: usize) -> bool {
        true
    }
}

pub(crate) struct Slices<'a, const N: usize>(pub(crate) [&'a mut [f64]; N]);

impl<const N: usize> OutputSink<N> for Slices<'_, N> {
    #[inline(always)]
    fn next(&mut self, len: usize) -> [&mut [f64]; N] {
        self.0.each_mut().map(|rest| {
            let (now, later) = take(rest).split_at_mut_checked(len).unwrap_or_default();
            *rest = later;
            now
        })
    }
}

struct Columns<'a, const N: usize> {
    columns: &'a mut [Vec<f64>; N],
    /// Which outputs the caller wants. The others reuse the same slots, which stay in cache.
    wanted: [bool; N],
}

impl<const N: usize> OutputSink<N> for Columns<'_, N> {
    #[inline(always)]
    fn next(&mut self, len: usize) -> [&mut [f64]; N] {
        // A loop of its own, because the compiler inlines the closure of `map` only when it is
        // short.
        for (column, wanted) in self.columns.iter_mut().zip(self.wanted) {
            let to = if wanted { column.len() + len } else { len };
            // Slots of an unwanted output are reused without clearing.
            column.truncate(to);
            while column.len() < to {
                column.resize((column.len() + PIECE).min(to), 0.0);
            }
        }
        self.columns.each_mut().map(|column| {
            let from = column.len().saturating_sub(len);
            &mut column[from..]
        })
    }

    /// Copies wanted values once, without filling the slots with zeros first, and skips the others.
    #[inline(always)]
    fn append(&mut self, values: [&[f64]; N]) {
        let kept = self.columns.iter_mut().zip(self.wanted).zip(values);
        for ((column, _), values) in kept.filter(|((_, wanted), _)| *wanted) {
            for piece in values.chunks(PIECE) {
                column.extend_from_slice(piece);
            }
        }
    }

    #[inline(always)]
    fn columns(&mut self) -> Option<[&mut Vec<f64>; N]> {
        for (column, _) in self.columns.iter_mut().zip(self.wanted).filter(|(_, wanted)| !wanted) {
            column.clear();
            column.reserve(BUFFER);
        }
        Some(self.columns.each_mut())
    }

    #[inline(always)]
    fn wants(&self, output: usize) -> bool {
        self.wanted.get(output).is_some_and(|wanted| *wanted)
    }
}

#[inline(always)]
fn each<I: Indicator<N>, const N: usize>(
    state: &mut I,
    candles: &Candles<'_>,
    out: [&mut [f64]; N],
) {
    let len = shortest(candles, &out);
    let mut columns = out.map(|whole| whole[..len].iter_mut());
    for candle in candles.slice(0, len).iter() {
        let values = state.update(&candle);
        for (column, value) in columns.iter_mut().zip(values) {
            if let Some(slot) = column.next() {
                *slot = value;
            }
        }
    }
}

/// Maps the infinities, which come from divisions by 0, to NaN: infinity times 0 is NaN, which
/// needs no comparison.
#[inline(always)]
pub(crate) fn finite_or_nan(value: f64) -> f64 {
    value + value * 0.0
}

/// Like `f64::is_finite`, but one multiplication instead of a bit test.
#[inline(always)]
pub(crate) fn finite(value: f64) -> bool {
    value * 0.0 == 0.0
}

/// Denominator guard: below 1e-290 an EMA has decayed into denormals, so the ratio is NaN.
#[inline(always)]
pub(crate) fn safe_divisor(average: f64) -> f64 {
    if average.abs() < 1e-290 { f64::NAN } else { average }
}

/// 1 when `by` is above 1e-11 of `line`, 0 when it is not, NaN when `by` is not finite. The margin
/// absorbs rounding: the running mean of a constant price can differ from the price, most after a
/// price thousands of times as high.
#[inline(always)]
pub(crate) fn exceeds(by: f64, line: f64) -> f64 {
    let flag = if by > 1e-11 * line.abs() { 1.0 } else { 0.0 };
    flag + by * 0.0
}

pub(crate) fn shortest<const N: usize>(candles: &Candles<'_>, out: &[&mut [f64]; N]) -> usize {
    out.iter().map(|column| column.len()).min().unwrap_or(0).min(candles.len())
}

/// An indicator chosen at run time. Outputs are in the order of [`crate::Spec::outputs`]; extra
/// slots of `out` are not written.
pub trait Stream: Send + Sync {
    /// Takes a closed candle and writes its values into `out`.
    fn update(&mut self, candle: &Candle, out: &mut [f64]);

    /// Writes the values that a forming candle would give into `out`, without changing `self`.
    fn preview(&self, candle: &Candle, out: &mut [f64]);

    /// Takes many closed candles; each output is cleared and gets one value per candle.
    fn extend(&mut self, candles: &Candles<'_>, out: &mut [Vec<f64>]) {
        self.extend_only(candles, &|_| true, out);
    }

    /// Like `extend`, but computes only the outputs whose index is `wanted`; the others are left
    /// empty.
    fn extend_only(
        &mut self,
        candles: &Candles<'_>,
        wanted: &dyn Fn(usize) -> bool,
        out: &mut [Vec<f64>],
    );

    /// How many candles pass before the slowest output has a value.
    fn warmup(&self) -> usize;

    /// An independent copy with the same state.
    fn fork(&self) -> Box<dyn Stream>;
}

/// Candles per batch step.
const BUFFER: usize = 2048;

/// Values copied at a time, 1 kB. From 2 kB on glibc copies with `rep movsb`, which is ten times as
/// slow when source and destination have the same low address bits.
const PIECE: usize = 128;

struct Erased<I, const N: usize>(I);

pub(crate) fn erase<I, const N: usize>(indicator: I) -> Box<dyn Stream>
where
    I: Indicator<N> + Send + Sync + 'static,
{
    Box::new(Erased::<I, N>(indicator))
}

impl<I: Indicator<N> + Send + Sync + 'static, const N: usize> Stream for Erased<I, N> {
    fn update(&mut self, candle: &Candle, out: &mut [f64]) {
        let values = self.0.update(candle);
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn preview(&self, candle: &Candle, out: &mut [f64]) {
        let values = self.0.preview(candle);
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn extend_only(
        &mut self,
        candles: &Candles<'_>,
        wanted: &dyn Fn(usize) -> bool,
        out: &mut [Vec<f64>],
    ) {
        let Some(columns) = out.first_chunk_mut::<N>() else {
            let mut all = [const { Vec::new() }; N];
            self.extend_only(candles, wanted, &mut all);
            return out.iter_mut().zip(all).for_each(|(column, values)| *column = values);
        };
        let wanted: [bool; N] = array::from_fn(wanted);
        for (column, wanted) in columns.iter_mut().zip(wanted) {
            column.clear();
            if wanted {
                column.reserve_exact(candles.len());
            }
        }
        let mut sink = Columns { columns, wanted };
        with_widest_simd(
            #[inline(always)]
            || self.0.run_batch(candles, &mut sink),
        );
        let all = sink.columns.iter_mut().zip(wanted);
        all.filter(|(_, wanted)| !wanted).for_each(|(column, _)| column.clear());
        out.iter_mut().skip(N).for_each(Vec::clear);
    }

    fn warmup(&self) -> usize {
        self.0.warmup()
    }

    fn fork(&self) -> Box<dyn Stream> {
        Box::new(Erased::<I, N>(self.0.clone()))
    }
}
