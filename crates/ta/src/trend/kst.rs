//! Know sure thing: 100 (R1 + 2 R2 + 3 R3 + 4 R4), where Ri is the plain mean over `window`i
//! candles of the rate of change over `roc`i; the signal is its plain mean over `signal` candles.

use crate::block::{Block, Delay, UpdateOf, WindowSum, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "kst",
    params: &[
        Param::period("roc1", 10),
        Param::period("roc2", 15),
        Param::period("roc3", 20),
        Param::period("roc4", 30),
        Param::period("window1", 10),
        Param::period("window2", 10),
        Param::period("window3", 10),
        Param::period("window4", 15),
        Param::period("signal", 9),
    ],
    outputs: &["kst", "kst_sig", "kst_diff"],
    memory: |_| Memory::Windowed,
    build: |v| {
        let rocs = [v.period(0), v.period(1), v.period(2), v.period(3)];
        let windows = [v.period(4), v.period(5), v.period(6), v.period(7)];
        Ok(erase(Kst::new(rocs, windows, v.period(8))?))
    },
};

/// Know sure thing.
#[derive(Clone, Debug)]
pub struct Kst {
    parts: [(Delay, WindowSum); 4],
    signal: WindowSum,
    warmup: usize,
}

impl Kst {
    /// Four rates of change, each with the window of its mean, and the window of the signal.
    pub fn new(rocs: [usize; 4], windows: [usize; 4], signal: usize) -> Result<Kst, Error> {
        for (name, roc) in ["roc1", "roc2", "roc3", "roc4"].into_iter().zip(rocs) {
            check_period(name, roc)?;
        }
        let names = ["window1", "window2", "window3", "window4"];
        for (name, window) in names.into_iter().zip(windows) {
            check_period(name, window)?;
        }
        check_period("signal", signal)?;
        let slowest = (0..4).map(|i| rocs[i] + windows[i] - 1).max().unwrap_or(0);
        let part = |i: usize| (Delay::new(rocs[i]), WindowSum::new(windows[i]));
        Ok(Kst {
            parts: [part(0), part(1), part(2), part(3)],
            signal: WindowSum::new(signal),
            warmup: slowest + signal - 1,
        })
    }
}

impl Indicator<3> for Kst {
    type Update = ([UpdateOf<WindowSum>; 4], UpdateOf<WindowSum>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 3], Self::Update) {
        let part = |(delay, sum): &(Delay, WindowSum)| {
            let (before, _) = delay.step(candle.c);
            sum.mean((candle.c - before) / before)
        };
        let [a, b, c, d] = &self.parts;
        let ((a, a_next), (b, b_next)) = (part(a), part(b));
        let ((c, c_next), (d, d_next)) = (part(c), part(d));
        let kst = 100.0 * (a + 2.0 * b + 3.0 * c + 4.0 * d);
        let (signal, signal_next) = self.signal.mean(kst);
        ([kst, signal, kst - signal], ([a_next, b_next, c_next, d_next], signal_next, candle.c))
    }

    #[inline(always)]
    fn commit(&mut self, (sums, signal, close): Self::Update) {
        for ((delay, sum), next) in self.parts.iter_mut().zip(sums) {
            delay.commit(close);
            sum.commit(next);
        }
        self.signal.commit(signal);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}
