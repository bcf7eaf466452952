//! The incremental forms, one candle at a time.

use std::hint::black_box;

use peer_ta::Next;
use ta_lib::{Core, MAType};
use wickra::Indicator;
use yata::core::{IndicatorConfig, IndicatorInstance};

use crate::{Clock, Data};

pub(crate) fn all(d: &Data, t: &Clock<'_>) {
    for one in [ta, ta_lib, wickra, kand, yata] {
        one(d, t);
    }
}

fn ta(d: &Data, t: &Clock<'_>) {
    use peer_ta::indicators::*;
    let mut macd = MovingAverageConvergenceDivergence::new(12, 26, 9).unwrap();
    t.time("ta", "macd", || d.c.iter().for_each(|x| _ = black_box(macd.next(*x))));
    t.time("ta", "macd", || d.c.iter().for_each(|x| each(macd.next(*x))));
    let mut rsi = RelativeStrengthIndex::new(14).unwrap();
    t.time("ta", "rsi", || d.c.iter().for_each(|x| _ = black_box(rsi.next(*x))));
    let mut atr = AverageTrueRange::new(14).unwrap();
    t.time("ta", "atr", || d.items.iter().for_each(|x| _ = black_box(atr.next(x))));
    let mut stoch = SlowStochastic::new(14, 3).unwrap();
    t.time("ta", "stoch", || d.items.iter().for_each(|x| _ = black_box(stoch.next(x))));
    let mut ppo = PercentagePriceOscillator::new(12, 26, 9).unwrap();
    t.time("ta", "ppo", || d.c.iter().for_each(|x| _ = black_box(ppo.next(*x))));
    t.time("ta", "ppo", || d.c.iter().for_each(|x| each(ppo.next(*x))));
    let mut pvo = PercentagePriceOscillator::new(12, 26, 9).unwrap();
    t.time("ta", "pvo", || d.v.iter().for_each(|x| _ = black_box(pvo.next(*x))));
    t.time("ta", "pvo", || d.v.iter().for_each(|x| each(pvo.next(*x))));
}

/// The numbers of an answer one by one, which can be quicker to put away than all at once. The other
/// crates are too far behind here for it to matter.
#[inline(always)]
fn each(answer: impl Into<(f64, f64, f64)>) {
    let (line, signal, histogram) = answer.into();
    black_box(line);
    black_box(signal);
    black_box(histogram);
}

fn ta_lib(d: &Data, t: &Clock<'_>) {
    let rows = d.c.len();
    let core = Core::new();
    let first = 100;
    let (h, l, c, v) = (&d.h[..first], &d.l[..first], &d.c[..first], &d.v[..first]);
    let rest = || first..rows;
    let mut macd = core.macd_open(c, 12, 26, 9).unwrap().0;
    t.time("ta-lib", "macd", || rest().for_each(|i| _ = black_box(macd.update(d.c[i]))));
    let mut rsi = core.rsi_open(c, 14).unwrap().0;
    t.time("ta-lib", "rsi", || rest().for_each(|i| _ = black_box(rsi.update(d.c[i]))));
    let mut atr = core.atr_open(h, l, c, 14).unwrap().0;
    t.time("ta-lib", "atr", || {
        rest().for_each(|i| _ = black_box(atr.update(d.h[i], d.l[i], d.c[i])));
    });
    let mut stoch = core.stoch_open(h, l, c, 14, 1, MAType::SMA, 3, MAType::SMA).unwrap().0;
    t.time("ta-lib", "stoch", || {
        rest().for_each(|i| _ = black_box(stoch.update(d.h[i], d.l[i], d.c[i])));
    });
    let mut vwap = core.vwap_open(h, l, c, v).unwrap().0;
    t.time("ta-lib", "vwap", || {
        rest().for_each(|i| _ = black_box(vwap.update(d.h[i], d.l[i], d.c[i], d.v[i])));
    });
    let mut ppo = core.ppo_open(c, 12, 26, MAType::EMA).unwrap().0;
    t.time("ta-lib", "ppo", || rest().for_each(|i| _ = black_box(ppo.update(d.c[i]))));
    let mut pvo = core.ppo_open(v, 12, 26, MAType::EMA).unwrap().0;
    t.time("ta-lib", "pvo", || rest().for_each(|i| _ = black_box(pvo.update(d.v[i]))));
}

fn wickra(d: &Data, t: &Clock<'_>) {
    let mut macd = wickra::MacdIndicator::new(12, 26, 9).unwrap();
    t.time("wickra", "macd", || d.c.iter().for_each(|x| _ = black_box(macd.update(*x))));
    let mut rsi = wickra::Rsi::new(14).unwrap();
    t.time("wickra", "rsi", || d.c.iter().for_each(|x| _ = black_box(rsi.update(*x))));
    let mut atr = wickra::Atr::new(14).unwrap();
    t.time("wickra", "atr", || d.candles.iter().for_each(|x| _ = black_box(atr.update(*x))));
    let mut stoch = wickra::Stochastic::new(14, 3).unwrap();
    t.time("wickra", "stoch", || d.candles.iter().for_each(|x| _ = black_box(stoch.update(*x))));
    let mut vwap = wickra::Vwap::new();
    t.time("wickra", "vwap", || d.candles.iter().for_each(|x| _ = black_box(vwap.update(*x))));
    let mut day = wickra::SessionVwap::new(0);
    t.time("wickra", "vwap, session=day", || {
        d.candles.iter().for_each(|x| _ = black_box(day.update(*x)));
    });
    let mut ppo = wickra::Ppo::new(12, 26).unwrap();
    t.time("wickra", "ppo", || d.c.iter().for_each(|x| _ = black_box(ppo.update(*x))));
    let mut pvo = wickra::Ppo::new(12, 26).unwrap();
    t.time("wickra", "pvo", || d.v.iter().for_each(|x| _ = black_box(pvo.update(*x))));
}

fn kand(d: &Data, t: &Clock<'_>) {
    use kand::ohlcv::{atr, macd, rsi, vwap};
    let rows = d.c.len();
    // Averages in the place of the first values: only the steps are timed.
    let (mut fast, mut slow, mut signal) = (d.c[0], d.c[0], 0.0);
    t.time("kand", "macd", || {
        for x in &d.c {
            // The caller keeps both averages, so it has to work them out as well.
            let (line, next, hist) = macd::macd_inc(*x, fast, slow, signal, 12, 26, 9).unwrap();
            fast += (x - fast) * 2.0 / 13.0;
            slow += (x - slow) * 2.0 / 27.0;
            signal = next;
            black_box((line, next, hist));
        }
    });
    let (mut before, mut gain, mut loss) = (d.c[0], 0.1, 0.1);
    t.time("kand", "rsi", || {
        for x in &d.c {
            let value;
            (value, gain, loss) = rsi::rsi_inc(*x, before, gain, loss, 14).unwrap();
            before = *x;
            black_box(value);
        }
    });
    let (mut close, mut range) = (d.c[0], 1.0);
    t.time("kand", "atr", || {
        for i in 0..rows {
            range = atr::atr_inc(d.h[i], d.l[i], close, range, 14).unwrap();
            close = d.c[i];
            black_box(range);
        }
    });
    let (mut traded, mut volume) = (0.0, 0.0);
    t.time("kand", "vwap", || {
        for i in 0..rows {
            let value;
            (traded, volume, value) =
                vwap::vwap_inc(d.h[i], d.l[i], d.c[i], d.v[i], traded, volume).unwrap();
            black_box(value);
        }
    });
}

fn yata(d: &Data, t: &Clock<'_>) {
    use yata::core::Method;
    use yata::indicators::{MACD, RSI, StochasticOscillator};
    use yata::methods::{RMA, TR};
    let first = &d.yata[0];
    let mut macd = MACD::default().init(first).unwrap();
    t.time("yata", "macd", || d.yata.iter().for_each(|x| _ = black_box(macd.next(x))));
    let mut rsi = RSI::default().init(first).unwrap();
    t.time("yata", "rsi", || d.yata.iter().for_each(|x| _ = black_box(rsi.next(x))));
    // There is no average true range by name, but both of its parts.
    let (mut tr, mut rma) = (TR::new(first).unwrap(), RMA::new(14, &0.0).unwrap());
    t.time("yata", "atr", || {
        d.yata.iter().for_each(|x| _ = black_box(rma.next(&tr.next(x))));
    });
    let mut stoch = StochasticOscillator::default().init(first).unwrap();
    t.time("yata", "stoch", || d.yata.iter().for_each(|x| _ = black_box(stoch.next(x))));
}
