//! Tests for every block with a window, at every width: `scan` gives what `step` gives.

use super::doubling::{CHUNK, WindowBuffers};
use super::moments::BLOCK;
use crate::indicator::Slices;

use super::{
    Block, Deviation, ExtremeAge, Highest, Lowest, Ratios, StdDev, WeightedMean, WindowSum,
};

/// Numbers that move, stay constant for longer than most windows, and are sometimes missing.
fn numbers() -> Vec<f64> {
    let mut state = 7_u64;
    (0..1600)
        .map(|index| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let wave = 100.0 + (state >> 40) as f64 / 1e6;
            match index {
                700..900 => 101.3,
                1000 => f64::NAN,
                1100 => 1e300,
                _ => wave,
            }
        })
        .collect()
}

#[track_caller]
fn check(name: &str, period: usize, steps: &[f64], scan: &[f64]) {
    let near = |a: f64, b: f64| {
        (!a.is_finite() && !b.is_finite()) || (a - b).abs() <= 1e-11 * a.abs().max(b.abs()).max(1.0)
    };
    for (row, (a, b)) in steps.iter().zip(scan).enumerate() {
        assert!(near(*a, *b), "{name} over {period}, row {row}: {a} by steps, {b} by scan");
    }
    assert_eq!(steps.len(), scan.len());
}

/// A chunk length that no period divides.
const ODD: usize = CHUNK - 5;

fn chunks(xs: &[f64], mut scan: impl FnMut(&[f64], &mut [f64])) -> Vec<f64> {
    let mut out = vec![0.0; xs.len()];
    xs.chunks(ODD).zip(out.chunks_mut(ODD)).for_each(|(xs, out)| scan(xs, out));
    out
}

fn steps<B: Block>(xs: &[f64], mut block: B) -> Vec<f64> {
    xs.iter().map(|x| block.push(*x)).collect()
}

#[test]
fn scan_equals_step() {
    let xs = numbers();
    for period in [1, 2, 3, 4, 5, 7, 9, 14, 20, 21, 26, 31, 63, 64, 100, 127, 128, 129, 300] {
        let (mut one, mut two) = (WindowBuffers::<1>::new(), WindowBuffers::<2>::new());
        let mut block = WindowSum::new(period);
        let means = chunks(&xs, |xs, out| block.scan_means(xs, out, &mut one));
        let sums: Vec<_> = means.iter().map(|mean| mean * period as f64).collect();
        check("sum", period, &steps(&xs, WindowSum::new(period)), &sums);
        let mut block = Highest::new(period);
        let scan = chunks(&xs, |xs, out| block.scan(xs, out, &mut one));
        check("highest", period, &steps(&xs, Highest::new(period)), &scan);
        let mut block = Lowest::new(period);
        let scan = chunks(&xs, |xs, out| block.scan(xs, out, &mut one));
        check("lowest", period, &steps(&xs, Lowest::new(period)), &scan);
        let mut block = WeightedMean::new(period);
        let scan = chunks(&xs, |xs, out| block.scan(xs, out, &mut two));
        check("weighted", period, &steps(&xs, WeightedMean::new(period)), &scan);
        let mut block = ExtremeAge::<true>::new(period);
        let scan = chunks(&xs, |xs, out| block.scan(xs, out, &mut two));
        check("age of highest", period, &steps(&xs, ExtremeAge::<true>::new(period)), &scan);
        let mut block = ExtremeAge::<false>::new(period);
        let scan = chunks(&xs, |xs, out| block.scan(xs, out, &mut two));
        check("age of lowest", period, &steps(&xs, ExtremeAge::<false>::new(period)), &scan);
    }
}

#[test]
fn scan_equals_step_for_pairs_of_outputs() {
    let xs = numbers();
    for period in [1, 2, 3, 5, 14, 20, 28, 100, 128, 129] {
        let (mut one, mut two) = (WindowBuffers::<1>::new(), WindowBuffers::<2>::new());
        let (mut plain, mut block) = (StdDev::new(period), StdDev::new(period));
        let by_steps = |x: &f64| {
            let ((_, deviation), next) = plain.step(*x);
            plain.commit(next);
            deviation
        };
        let by_steps: Vec<_> = xs.iter().map(by_steps).collect();
        let scan = chunks(&xs, |xs, out| {
            block.scan(xs, [out], &mut two, |_, deviation| [deviation]);
        });
        check("deviation", period, &by_steps, &scan);
        let mut block = StdDev::new(period);
        let mut batch = vec![0.0; xs.len()];
        for (xs, out) in xs.chunks(600).zip(batch.chunks_mut(600)) {
            block.run_batch(xs, &mut Slices([out]), |_, deviation| [deviation]);
        }
        check("deviation in blocks", period, &by_steps, &batch);
        let (mut plain, mut block) = (Deviation::new(period), Deviation::new(period));
        let by_steps = |x: &f64| {
            let ((_, deviation), next) = plain.step(*x);
            plain.commit(next);
            deviation
        };
        let by_steps: Vec<_> = xs.iter().map(by_steps).collect();
        let (mut means, mut deviations) = ([0.0; CHUNK], [0.0; CHUNK]);
        let scan = chunks(&xs, |xs, out| {
            block.scan(xs, &mut means, &mut deviations, &mut one);
            out.copy_from_slice(&deviations[..xs.len()]);
        });
        check("mean deviation", period, &by_steps, &scan);
    }
}

#[test]
fn ratios_equal_for_any_order_of_windows() {
    let xs = numbers();
    for periods in [[7, 14, 28], [28, 14, 7], [3, 3, 4], [1, 2, 5], [100, 128, 2], [5, 129, 10]] {
        let (mut plain, mut block) = (Ratios::new(periods), Ratios::new(periods));
        let mut buffers = super::RatioBuffers::new();
        let by_steps = |x: &f64| {
            let (ratios, next) = plain.step(*x, x * 2.0 + 1.0);
            plain.commit(next);
            ratios.iter().sum()
        };
        let by_steps: Vec<_> = xs.iter().map(by_steps).collect();
        let scan = chunks(&xs, |xs, out| {
            let below: Vec<_> = xs.iter().map(|x| x * 2.0 + 1.0).collect();
            block.scan((xs, &below), out, &mut buffers, |ratios| ratios.iter().sum());
        });
        check("ratios", periods[0], &by_steps, &scan);
    }
}

#[test]
fn a_constant_series_has_a_deviation_of_exactly_zero() {
    let xs = [0.1 + 0.2; 3 * CHUNK];
    for period in 1..=130 {
        let (mut block, mut buffers) = (StdDev::new(period), WindowBuffers::<2>::new());
        let (mut means, mut deviations) = (vec![0.0; xs.len()], vec![0.0; xs.len()]);
        let outputs = means.chunks_mut(CHUNK).zip(deviations.chunks_mut(CHUNK));
        for (xs, (means, deviations)) in xs.chunks(CHUNK).zip(outputs) {
            block.scan(xs, [means, deviations], &mut buffers, |mean, deviation| [mean, deviation]);
        }
        for (mean, deviation) in means.iter().zip(&deviations).skip(period - 1) {
            assert_eq!((*mean, *deviation), (xs[0], 0.0), "over {period}");
        }
    }
}

#[test]
fn a_large_number_that_left_the_window_leaves_no_rounding() {
    let mut near: Vec<_> = numbers().iter().take(700).map(|x| 100.0 + x / 1e5).collect();
    (near[200], near[333], near[450]) = (1e6, -1e9, 1e3);
    let cases = [2, 3, 5, 14, 20, 28, 100].into_iter().flat_map(|period| {
        // The outlier leaves exactly where a block starts.
        let mut apart = numbers()[..700].to_vec();
        apart[5 * BLOCK - period] = 1e6;
        [(period, near.clone()), (period, apart)]
    });
    for (period, xs) in cases {
        let mut batch = vec![0.0; xs.len()];
        let sink = &mut Slices([&mut batch[..]]);
        StdDev::new(period).run_batch(&xs, sink, |_, deviation| [deviation]);
        for (row, window) in xs.windows(period).enumerate() {
            let mean = window.iter().sum::<f64>() / period as f64;
            let squares: f64 = window.iter().map(|x| (x - mean) * (x - mean)).sum();
            let (ours, plain) = (batch[row + period - 1], (squares / period as f64).sqrt());
            assert!((ours - plain).abs() <= 1e-9 * plain, "over {period}: {ours} and {plain}");
        }
    }
}

/// A number that left the window long ago leaves no rounding, although no single step was large.
#[test]
fn falling_numbers_keep_their_precision() {
    let stages = [1e7, 2e4, 50.0, 0.1];
    let wave = |at: usize| 1.0 + (at * at % 17) as f64 / 19.0;
    let xs: Vec<f64> =
        stages.iter().flat_map(|scale| (0..40).map(move |at| scale * wave(at))).collect();
    for period in [2, 3, 14, 30] {
        let weights = (period * (period + 1) / 2) as f64;
        let sums = steps(&xs, WindowSum::new(period));
        let means = steps(&xs, WeightedMean::new(period));
        for (row, window) in xs.windows(period).enumerate() {
            let sum: f64 = window.iter().sum();
            let mean = window.iter().zip(1..).map(|(x, weight)| x * f64::from(weight)).sum::<f64>();
            for (found, exact) in
                [(sums[row + period - 1], sum), (means[row + period - 1], mean / weights)]
            {
                let near = (found - exact).abs() <= 1e-10 * exact;
                assert!(near, "over {period}, row {row}: {found} is not {exact}");
            }
        }
    }
}

/// The same for distances to a mean, which are small relative to the numbers.
#[test]
fn mean_deviation_keeps_its_precision_when_numbers_fall() {
    let wave = |at: usize| 1.0 + (at * at % 17) as f64 / 19e3;
    let xs: Vec<_> = (0..200).map(|at| wave(at) * if at < 60 { 100.0 } else { 0.1 }).collect();
    for period in [2, 3, 14, 28] {
        let mut block = Deviation::new(period);
        for (row, x) in xs.iter().enumerate() {
            let ((mean, deviation), next) = block.step(*x);
            block.commit(next);
            let Some(from) = (row + 1).checked_sub(period).filter(|from| *from >= 60) else {
                continue;
            };
            let (window, share) = (&xs[from..=row], 1.0 / period as f64);
            let offset = window.iter().map(|other| other - x).sum::<f64>() * share;
            let apart = |other: &f64| (other - x - offset).abs();
            let exact = window.iter().map(apart).sum::<f64>() * share;
            for (found, exact) in [(deviation, exact), (x - mean, -offset)] {
                let near = (found - exact).abs() <= 1e-10 * deviation;
                assert!(near, "over {period}, row {row}: {found} is not {exact}");
            }
        }
    }
}

#[test]
fn mean_deviation_returns_when_the_missing_number_leaves_the_window() {
    let mut block = Deviation::new(3);
    let mut push = |x: f64| {
        let ((_, deviation), next) = block.step(x);
        block.commit(next);
        deviation
    };
    let found = [1.0, f64::NAN, 2.0, 3.0, 4.0, 5.0].map(&mut push);
    assert!(found[..4].iter().all(|deviation| deviation.is_nan()), "{found:?}");
    assert!(found[4..].iter().all(|deviation| (deviation * 3.0 - 2.0).abs() < 1e-12), "{found:?}");
}
