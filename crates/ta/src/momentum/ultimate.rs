//! Ultimate oscillator: the mean of three ratios of buying pressure to true range, over `short`,
//! `middle` and `long` candles, weighing 4, 2 and 1 unless given, times 100. Buying pressure is the
//! close less the lower of the low and the close before.

use crate::block::doubling::CHUNK;
use crate::block::{RatioBuffers, Ratios, RatiosUpdate, check_period, check_positive};
use crate::candle::true_range;
use crate::indicator::{erase, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "ultimate",
    params: &[
        Param::period("short", 7),
        Param::period("middle", 14),
        Param::period("long", 28),
        Param::real("weight1", 4.0),
        Param::real("weight2", 2.0),
        Param::real("weight3", 1.0),
    ],
    outputs: &["uo"],
    memory: |_| Memory::Windowed,
    build: |v| {
        let periods = [v.period(0), v.period(1), v.period(2)];
        Ok(erase(Ultimate::new(periods, [v.real(3), v.real(4), v.real(5)])?))
    },
};

/// Ultimate oscillator.
#[derive(Clone, Debug)]
pub struct Ultimate {
    /// Buying pressure over true range.
    ratios: Ratios<3>,
    /// The weights, normalized to 100 in total.
    weights: [f64; 3],
    close: f64,
    warmup: usize,
}

impl Ultimate {
    /// Windows of the three periods, with their weights.
    pub fn new([short, middle, long]: [usize; 3], weights: [f64; 3]) -> Result<Ultimate, Error> {
        check_period("short", short)?;
        check_period("middle", middle)?;
        check_period("long", long)?;
        for (name, weight) in ["weight1", "weight2", "weight3"].into_iter().zip(weights) {
            check_positive(name, weight)?;
        }
        let all: f64 = weights.iter().sum();
        Ok(Ultimate {
            weights: weights.map(|weight| weight / all * 100.0),
            ratios: Ratios::new([short, middle, long]),
            close: f64::NAN,
            warmup: short.max(middle).max(long),
        })
    }
}

/// A NaN previous close makes the pressure NaN.
#[inline(always)]
fn pressure(low: f64, close: f64, before: f64) -> f64 {
    close - if low < before { low } else { before }
}

#[inline(always)]
fn mean(weights: [f64; 3], ratios: [f64; 3]) -> f64 {
    weights[0] * ratios[0] + weights[1] * ratios[1] + weights[2] * ratios[2]
}

impl Indicator<1> for Ultimate {
    type Update = (RatiosUpdate<3>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let pressure = pressure(candle.l, candle.c, self.close);
        let (ratios, next) = self.ratios.step(pressure, candle.true_range(self.close));
        ([mean(self.weights, ratios)], (next, candle.c))
    }

    #[inline(always)]
    fn commit(&mut self, (ratios, close): Self::Update) {
        self.ratios.commit(ratios);
        self.close = close;
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let (mut buffers, weights) = (RatioBuffers::new(), self.weights);
        let mut before = [0.0; CHUNK + 1];
        let (mut pressures, mut ranges) = ([0.0; CHUNK], [0.0; CHUNK]);
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let n = part.len();
            before[0] = self.close;
            before[1..=n].copy_from_slice(part.closes());
            self.close = before[n];
            let (pressures, ranges) = (&mut pressures[..n], &mut ranges[..n]);
            let (h, l, c) = (&part.highs()[..n], &part.lows()[..n], &part.closes()[..n]);
            let before = &before[..n];
            for index in 0..n {
                let (h, l, c, before) = (h[index], l[index], c[index], before[index]);
                pressures[index] = pressure(l, c, before);
                ranges[index] = true_range(h, l, before);
            }
            let [out] = out.next(n);
            let show = |ratios| finite_or_nan(mean(weights, ratios));
            self.ratios.scan((pressures, ranges), out, &mut buffers, show);
        }
    }
}
