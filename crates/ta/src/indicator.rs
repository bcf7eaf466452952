//! What every indicator can do, and the same behind a pointer for callers that choose by name.

use std::array;
use std::mem::{needs_drop, take};

use crate::simd::with_widest_simd;
use crate::{Candle, Candles};

/// An incremental indicator with `N` outputs.
///
/// The formula is written once, in [`step`](Indicator::step), which reads the state and says what
/// the state would become; [`commit`](Indicator::commit) writes it. Hence a preview cannot change
/// anything, and the batch form cannot drift from the incremental one.
pub trait Indicator<const N: usize>: Clone {
    /// What one candle changes.
    type Update;

    /// Computes the values at `candle` and the state change, without changing `self`.
    fn step(&self, candle: &Candle) -> ([f64; N], Self::Update);

    /// Writes the state change that [`step`](Indicator::step) computed.
    fn commit(&mut self, next: Self::Update);

    /// How many candles pass before the slowest output appears.
    fn warmup(&self) -> usize;

    /// Takes a closed candle and gives the values at it.
    #[inline(always)]
    fn update(&mut self, candle: &Candle) -> [f64; N] {
        let (values, next) = self.step(candle);
        self.commit(next);
        values.map(finite_or_nan)
    }

    /// The values a forming candle would give if it closed as it stands.
    #[inline]
    fn preview(&self, candle: &Candle) -> [f64; N] {
        self.step(candle).0.map(finite_or_nan)
    }

    /// Whether the batch form is written in [`run_batch`](Indicator::run_batch).
    const HAS_BATCH: bool = false;

    /// Takes many closed candles, writing one value per candle into each output. Stops at the
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
        // A state without windows is copied for nothing, and the copy can live in registers.
        let mut state = self.clone();
        each(&mut state, candles, out);
        *self = state;
    }

    /// The same into outputs that give room bit by bit: what was just made room for is in cache,
    /// and is filled while memory is busy with what was filled before.
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

/// Outputs that are filled from their beginning to their end.
pub trait OutputSink<const N: usize> {
    /// The next `len` slots of each, whatever is in them; none where fewer are left.
    fn next(&mut self, len: usize) -> [&mut [f64]; N];

    /// Takes the next values of each, as many of one as of another.
    #[inline(always)]
    fn append(&mut self, values: [&[f64]; N]) {
        let len = values.iter().map(|column| column.len()).min().unwrap_or(0);
        for (slots, values) in self.next(len).into_iter().zip(values) {
            slots.iter_mut().zip(values).for_each(|(slot, value)| *slot = *value);
        }
    }

    /// The outputs themselves, where they grow, to append the same number of values to each. Those
    /// that are kept have room for all, the others for 2,048.
    #[inline(always)]
    fn columns(&mut self) -> Option<[&mut Vec<f64>; N]> {
        None
    }

    /// Whether what is written into an output is kept.
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
    /// Which are kept. The others give the same room again and again, which stays in cache.
    wanted: [bool; N],
}

impl<const N: usize> OutputSink<N> for Columns<'_, N> {
    #[inline(always)]
    fn next(&mut self, len: usize) -> [&mut [f64]; N] {
        // Aligned16 from one another, because what is mapped must be short to be inlined.
        for (column, wanted) in self.columns.iter_mut().zip(self.wanted) {
            let to = if wanted { column.len() + len } else { len };
            // What is not wanted need not be filled again.
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

    /// Without making room first: what is kept is written once, the rest not at all.
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

/// Infinities come from divisions by nothing; they are no more a value than `NaN` is. What is
/// not finite times zero is `NaN`, which needs no comparison.
#[inline(always)]
pub(crate) fn finite_or_nan(value: f64) -> f64 {
    value + value * 0.0
}

/// Cheaper than looking at the bits, as the standard library does.
#[inline(always)]
pub(crate) fn finite(value: f64) -> bool {
    value * 0.0 == 0.0
}

/// An average by which is divided. Where nothing has moved for thousands of candles, so little is left
/// of it that its digits are gone, and nothing is known of what it is a part of.
#[inline(always)]
pub(crate) fn safe_divisor(average: f64) -> f64 {
    if average.abs() < 1e-290 { f64::NAN } else { average }
}

/// 1 where something is past a line by more than rounding, 0 where it is not, and `NaN` where it
/// is not known. Of a price that stands still, the mean differs by as much as that, most where the
/// price was thousands of times as high before.
#[inline(always)]
pub(crate) fn exceeds(by: f64, line: f64) -> f64 {
    let flag = if by > 1e-11 * line.abs() { 1.0 } else { 0.0 };
    flag + by * 0.0
}

pub(crate) fn shortest<const N: usize>(candles: &Candles<'_>, out: &[&mut [f64]; N]) -> usize {
    out.iter().map(|column| column.len()).min().unwrap_or(0).min(candles.len())
}

/// An indicator chosen at run time. Outputs are in the order of [`crate::Spec::outputs`]; slots
/// beyond them are left as they were.
pub trait Stream: Send + Sync {
    /// Takes a closed candle and writes its values into `out`.
    fn update(&mut self, candle: &Candle, out: &mut [f64]);

    /// Writes the values that a forming candle would give into `out`, without changing `self`.
    fn preview(&self, candle: &Candle, out: &mut [f64]);

    /// Takes many closed candles; each output is cleared and gets one value per candle.
    fn extend(&mut self, candles: &Candles<'_>, out: &mut [Vec<f64>]) {
        self.extend_only(candles, &|_| true, out);
    }

    /// The same for the outputs at the places that are wanted; the others are left empty.
    fn extend_only(
        &mut self,
        candles: &Candles<'_>,
        wanted: &dyn Fn(usize) -> bool,
        out: &mut [Vec<f64>],
    );

    /// How many candles pass before the slowest output has a value.
    fn warmup(&self) -> usize;

    /// A copy that goes its own way from here.
    fn fork(&self) -> Box<dyn Stream>;
}

/// Candles taken at a time.
const BUFFER: usize = 2048;

/// Values moved at a time. From 2 kB on the C library uses a single instruction, which takes ten
/// times as long where both addresses end alike.
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
