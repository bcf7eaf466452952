//! How many earlier candles an indicator needs so that its first value equals the value computed
//! from any longer history. `candles` fetches them.

use std::borrow::Borrow;

use clock::{DAY_MS, Millis, TimeRange};
use market::Interval;
use ta::{Memory, Spec};

/// Upper bound of the candles fetched ahead to settle a decaying average.
const AHEAD_MAX: usize = 20_000;
/// Upper bound of all candles fetched ahead: one day of one-second candles.
const LEAD_MAX: usize = 86_400;
/// Lower bound for a decaying average: short periods are cheap to settle.
const AHEAD_MIN: usize = 500;
/// After this many warm-ups, an older candle weighs less than 1e-9 of a decaying average.
const SETTLED_WARMUPS: usize = 25;

/// Whether the level of an indicator depends on where its history starts.
pub(crate) fn is_cumulative(spec: &Spec) -> bool {
    spec.memory() == Memory::Cumulative
}

/// Start of accumulation for cumulative indicators: the last-but-one multiple of `candles`
/// intervals since the epoch, so every subscriber in the same block gets the same level.
pub(crate) fn base(interval: Interval, now: Millis, candles: u64) -> Millis {
    let step = interval.fixed_ms().unwrap_or(31 * DAY_MS);
    let block = step.saturating_mul(i64::try_from(candles).unwrap_or(i64::MAX)).max(1);
    Millis((now.0.saturating_sub(block).div_euclid(block)).max(0) * block)
}

/// How many candles before the one that opens at `first` settle all of `specs`.
pub(crate) fn candles_before<S: Borrow<Spec>>(
    specs: &[S],
    interval: Interval,
    first: Millis,
) -> usize {
    specs.iter().map(|spec| lead(spec.borrow(), interval, first)).max().unwrap_or(0)
}

/// How many candles before the one that opens at `first` settle `spec`.
pub(crate) fn lead(spec: &Spec, interval: Interval, first: Millis) -> usize {
    let warmup = spec.warmup();
    let ahead = match spec.memory() {
        Memory::Session => since_midnight(interval, first),
        Memory::Cumulative => warmup,
        // A rolling VWAP starts exactly `warmup` candles ahead: one more would change the last
        // digits of its running sums.
        Memory::Windowed if spec.name() == "vwap" => warmup,
        // Some indicators compare each candle of the window with the candle before it.
        Memory::Windowed => warmup + 1,
        Memory::Decaying => warmup.saturating_mul(SETTLED_WARMUPS).clamp(AHEAD_MIN, AHEAD_MAX),
    };
    ahead.max(warmup).min(LEAD_MAX)
}

/// Candles between the last 00:00 UTC, where a session starts, and `first`.
fn since_midnight(interval: Interval, first: Millis) -> usize {
    let midnight = Millis(first.0.div_euclid(DAY_MS) * DAY_MS);
    let candles = interval.count_in(TimeRange::new(midnight, first));
    usize::try_from(candles).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ta::{Arg, Candles};

    const MINUTE: i64 = 60_000;
    /// Number of candles compared at the end of a long history.
    const SHOWN: usize = 50;

    /// A pseudo-random price walk that starts at midnight UTC and has no flat candle.
    struct Walk {
        t: Vec<i64>,
        prices: [Vec<f64>; 4],
        v: Vec<f64>,
    }

    impl Walk {
        fn new(len: usize) -> Self {
            let mut walk = Self { t: Vec::new(), prices: Default::default(), v: Vec::new() };
            let (mut seed, mut close) = (7_u64, 100.0);
            let mut random = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 33) as f64 / f64::from(u32::MAX >> 1)
            };
            for at in 0..len {
                let open: f64 = close;
                close = 50.0 + (open - 50.0) * 0.999 + random() - 0.5;
                let (high, low) = (open.max(close) + random(), open.min(close) - random());
                walk.t.push(20_000 * DAY_MS + at as i64 * MINUTE);
                for (column, price) in walk.prices.iter_mut().zip([open, high, low, close]) {
                    column.push(price);
                }
                walk.v.push(1.0 + random());
            }
            walk
        }

        fn candles(&self) -> Candles<'_> {
            let [o, h, l, c] = &self.prices;
            Candles::new(&self.t, o, h, l, c, &self.v).unwrap()
        }
    }

    #[track_caller]
    fn check(walk: &Walk, spec: &Spec) {
        let len = walk.t.len();
        let ahead =
            candles_before(std::slice::from_ref(spec), Interval::M1, Millis(walk.t[len - SHOWN]));
        let long = spec.batch(&walk.candles());
        let warm = spec.batch(&walk.candles().slice(len - SHOWN - ahead, len));
        for ((key, long), warm) in spec.outputs().iter().zip(&long).zip(&warm) {
            for at in 0..SHOWN {
                let (long, warm) = (long[len - SHOWN + at], warm[ahead + at]);
                if spec.memory() != Memory::Cumulative {
                    let near = (long - warm).abs() <= 1e-9 * long.abs().max(1e-3);
                    assert!(near || long.is_nan(), "{spec} {key}[{at}]: {warm} is not {long}");
                }
                // Only one side of the parabolic stop has a value at a time.
                assert_eq!(warm.is_nan(), long.is_nan(), "{spec} {key}[{at}]");
                assert!(warm.is_finite() || spec.name() == "psar", "{spec} {key}[{at}]");
            }
        }
    }

    #[test]
    fn a_warmed_window_equals_the_end_of_a_long_one() {
        let walk = Walk::new(2 * AHEAD_MAX + SHOWN);
        for name in ta::known() {
            check(&walk, &Spec::parse(name, &[]).unwrap());
            // Also with TA-Lib parity where the indicator has it; Keltner has it only with ATR
            // bands.
            let parity_args = [("parity", Arg::Text("talib")), ("bands", Arg::Text("atr"))];
            for parity_args in [&parity_args[..1], &parity_args] {
                Spec::parse(name, parity_args).iter().for_each(|spec| check(&walk, spec));
            }
        }
        for (name, args) in [
            ("rsi", vec![("period", Arg::Number(200.0))]),
            ("rsi", vec![("period", Arg::Number(200.0)), ("parity", Arg::Text("talib"))]),
            ("macd", vec![("slow", Arg::Number(600.0))]),
            ("bollinger", vec![("period", Arg::Number(1_000.0))]),
            ("keltner", vec![("bands", Arg::Text("atr"))]),
            ("vwap", vec![("period", Arg::Number(30.0))]),
            ("donchian", vec![("offset", Arg::Number(300.0))]),
            ("ichimoku", vec![("spans", Arg::Text("ahead"))]),
            ("stoch", vec![("d", Arg::Number(40.0)), ("smooth", Arg::Number(30.0))]),
        ] {
            check(&walk, &Spec::parse(name, &args).unwrap());
        }
    }

    #[test]
    fn cumulative_indicators_start_at_a_block_boundary() {
        let block = 5_000 * MINUTE;
        for (now, expected) in [(3, 2), (7, 6), (0, 0), (1, 0)] {
            for within in [0, 1, block - 1] {
                let now = Millis(now * block + within);
                assert_eq!(base(Interval::M1, now, 5_000), Millis((expected) * block), "{now}");
            }
        }
        assert_eq!(base(Interval::Month, Millis(20_000 * DAY_MS), 5_000), Millis(0));
        for (name, args, cumulative) in [
            ("obv", vec![], true),
            ("vwap", vec![("session", Arg::Text("continuous"))], true),
            ("vwap", vec![], false),
            ("rsi", vec![], false),
        ] {
            assert_eq!(is_cumulative(&Spec::parse(name, &args).unwrap()), cumulative, "{name}");
        }
    }

    #[test]
    fn history_ahead_is_bounded() {
        let long = Spec::parse("ema", &[("period", Arg::Number(5_000.0))]).unwrap();
        let obv = Spec::parse("obv", &[]).unwrap();
        let vwap = Spec::parse("vwap", &[]).unwrap();
        let noon = Millis(20_000 * DAY_MS + DAY_MS / 2);
        assert_eq!(candles_before(&[long, obv.clone()], Interval::M1, noon), AHEAD_MAX);
        assert_eq!(candles_before(&[obv], Interval::M1, noon), 0);
        assert_eq!(candles_before(std::slice::from_ref(&vwap), Interval::M1, noon), 720);
        assert_eq!(candles_before(&[vwap], Interval::D1, noon), 1);
        assert_eq!(candles_before::<Spec>(&[], Interval::M1, noon), 0);
        let longest = Spec::parse("sma", &[("period", Arg::Number(10_000.0))]).unwrap();
        assert!(candles_before(&[longest], Interval::M1, noon) <= LEAD_MAX);
    }
}
