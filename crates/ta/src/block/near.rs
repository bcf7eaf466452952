//! Mean and standard deviation of the windows that end in a short block, from sums that go on from
//! one window to the next. Says whether they can be relied on; what to do where they cannot is
//! decided elsewhere.

use super::slide::NEAR;
use crate::indicator::finite;

/// How many windows are made at a time: so few that memory takes one block while the next is made.
pub(super) const BLOCK: usize = 64;

/// How many sums run beside one another.
const LANES: usize = 4;

/// What enters and what leaves: the change of the sum of distances to the anchor, and of the sum
/// of their squares.
type Changes = [[f64; BLOCK + LANES]; 2];

/// What `show` makes of mean and deviation of the `before.len()` numbers that end at each of `xs`,
/// given the numbers before them. False where the values may be wrong: something is missing, too
/// large, or so far from the rest that its rounding is not small. `show` gives its largest values
/// for the largest mean and deviation.
#[inline(always)]
pub(super) fn near<const M: usize>(
    before: &[f64],
    xs: &[f64; BLOCK],
    out: [&mut [f64]; M],
    show: impl Fn(f64, f64) -> [f64; M],
) -> bool {
    let period = before.len();
    let mut changes = [[0.0; BLOCK + LANES]; 2];
    let anchor = xs[BLOCK / 2];
    if !(1..=NEAR).contains(&period) {
        return false;
    }
    let head = period.min(BLOCK);
    enter(&xs[..head], before, anchor, LANES, &mut changes);
    enter(&xs[head..], xs, anchor, LANES + head, &mut changes);
    let share = 1.0 / period as f64;
    let [first, second] = around(before, anchor);
    let (mut first, mut second) = ([first; LANES], [second; LANES]);
    let (mut least, mut most) = ([f64::INFINITY; LANES], [0.0; LANES]);
    let mut last = [0.0; LANES];
    let mut out = out.map(|row| row.as_chunks_mut::<LANES>().0.iter_mut());
    let [firsts, seconds] = changes.each_ref().map(|row| row[1..].windows(2 * LANES - 1));
    for (a, b) in firsts.step_by(LANES).zip(seconds.step_by(LANES)) {
        let mut values = [[0.0; LANES]; M];
        for j in 0..LANES {
            // Each lane goes on from what it was four windows ago.
            first[j] += (a[j] + a[j + 1]) + (a[j + 2] + a[j + 3]);
            second[j] += (b[j] + b[j + 1]) + (b[j + 2] + b[j + 3]);
            let (distance, square) = (first[j] * share, second[j] * share);
            let variance = square - distance * distance;
            least[j] = if variance < least[j] { variance } else { least[j] };
            most[j] = if square > most[j] { square } else { most[j] };
            last[j] = variance;
            let shown = show(anchor + distance, variance.sqrt());
            (0..M).for_each(|m| values[m][j] = shown[m]);
        }
        for (slots, values) in out.iter_mut().zip(values) {
            if let Some(slots) = slots.next() {
                *slots = values;
            }
        }
    }
    // What was missing or infinite stays in the sums. Rounding is as small as the largest sum.
    let most = most.iter().copied().fold(0.0, f64::max);
    let largest = show(anchor.abs() + most.sqrt(), most.sqrt());
    finite(last.iter().sum())
        && largest.into_iter().all(finite)
        && least.iter().all(|least| *least > most * 1e-4)
}

/// The changes where each of `entering` comes and each of `leaving` goes.
#[inline(always)]
fn enter(entering: &[f64], leaving: &[f64], anchor: f64, at: usize, changes: &mut Changes) {
    let [first, second] = changes.each_mut().map(|row| &mut row[at..at + entering.len()]);
    let slots = first.iter_mut().zip(second);
    for ((first, second), (new, old)) in slots.zip(entering.iter().zip(leaving)) {
        *first = new - old;
        *second = (new - old) * ((new - anchor) + (old - anchor));
    }
}

/// The sum of distances to the anchor and of their squares.
#[inline(always)]
fn around(window: &[f64], anchor: f64) -> [f64; 2] {
    let (four, rest) = window.as_chunks::<LANES>();
    let (mut first, mut second) = ([0.0; LANES], [0.0; LANES]);
    for xs in four {
        for j in 0..LANES {
            let distance = xs[j] - anchor;
            first[j] += distance;
            second[j] += distance * distance;
        }
    }
    for x in rest {
        let distance = x - anchor;
        first[0] += distance;
        second[0] += distance * distance;
    }
    [first, second].map(|sums| (sums[0] + sums[1]) + (sums[2] + sums[3]))
}
