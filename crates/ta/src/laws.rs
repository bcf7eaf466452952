//! Property tests that hold for every indicator, with any parameters and any candles.

use proptest::prelude::*;

use crate::golden::Owned;
use crate::{Arg, Candle, Candles, ParamKind, Spec, known};

/// Candles with moving prices, with constant prices, and with missing or absurd prices.
fn candles() -> impl Strategy<Value = Vec<Candle>> {
    let odd = prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(0.0), Just(-1.0), Just(1e308)];
    let gap = (proptest::array::uniform5(odd), 0..5usize);
    let one = prop_oneof![
        12 => (95.0..105.0, 0.0..3.0, 0.0..3.0, 95.0..105.0, 0.0..1e4)
            .prop_map(|(o, up, down, c, v): (f64, f64, f64, f64, f64)| {
                Some(Candle { t: 0, o, h: o.max(c) + up, l: o.min(c) - down, c, v })
            }),
        3 => (99.0..101.0).prop_map(|p| Some(Candle { t: 0, o: p, h: p, l: p, c: p, v: 0.0 })),
        6 => Just(None),
    ];
    let broken = proptest::option::weighted(0.3, gap);
    (proptest::collection::vec(one, 0..160), broken, 0..160usize).prop_map(|(rows, gap, at)| {
        let mut last = Candle { t: 0, o: 100.0, h: 100.0, l: 100.0, c: 100.0, v: 0.0 };
        let mut candles: Vec<Candle> = Vec::new();
        for (row, index) in rows.into_iter().zip(0..) {
            // `None` repeats the previous candle, which makes a flat stretch.
            last = Candle { t: index * 7_200_000, ..row.unwrap_or(last) };
            candles.push(last);
        }
        if let (Some((odd, field)), Some(candle)) = (gap, candles.get_mut(at)) {
            let fields =
                [&mut candle.o, &mut candle.h, &mut candle.l, &mut candle.c, &mut candle.v];
            fields.into_iter().skip(field).zip(odd).for_each(|(field, odd)| *field = odd);
        }
        candles
    })
}

/// An indicator with parameters that it accepts and periods of at least `shortest`.
fn spec(shortest: u32) -> impl Strategy<Value = Spec> {
    let names: Vec<&str> = known().collect();
    let seed = (shortest - 1..12, any::<bool>());
    (proptest::sample::select(names), proptest::collection::vec(seed, 9))
        .prop_map(|(name, seeds)| make(name, &seeds))
}

fn make(name: &str, seeds: &[(u32, bool)]) -> Spec {
    let defaults = Spec::parse(name, &[]).unwrap();
    let params = defaults.params().iter().zip(seeds);
    let args: Vec<_> = params
        .filter_map(|(param, &(number, other))| {
            let arg = match param.kind {
                ParamKind::Period(_) => Arg::Number(f64::from(number) + 1.0),
                ParamKind::Optional if other => Arg::Number(f64::from(number) + 1.0),
                ParamKind::Offset => Arg::Number(f64::from(number)),
                ParamKind::Optional => return None,
                ParamKind::Real(default) => Arg::Number(default * f64::from(number + 1)),
                ParamKind::Choice(words) => Arg::Text(words[usize::from(other)]),
            };
            Some((param.name, arg))
        })
        .collect();
    // Invalid parameters, such as fast above slow, fall back to the defaults.
    Spec::parse(name, &args).unwrap_or(defaults)
}

/// Whether two numbers computed from numbers of size `scale` are equal except for rounding.
fn close(a: f64, b: f64, scale: f64) -> bool {
    (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * scale.max(a.abs()).max(b.abs())
}

/// The largest value of each output, relative to which rounding is judged; at least 1e-3, because
/// prices near 100 leave that much rounding where they cancel out.
fn scales(columns: &[Vec<f64>]) -> Vec<f64> {
    let largest = |column: &Vec<f64>| column.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    columns.iter().map(largest).collect()
}

pub(crate) fn one_by_one(spec: &Spec, candles: &[Candle]) -> Vec<Vec<f64>> {
    let mut stream = spec.stream();
    let mut row = vec![0.0; spec.outputs().len()];
    let mut out = vec![Vec::new(); row.len()];
    for candle in candles {
        stream.update(candle, &mut row);
        out.iter_mut().zip(&row).for_each(|(column, value)| column.push(*value));
    }
    out
}

fn in_chunks(spec: &Spec, candles: &Candles<'_>, chunk: usize) -> Vec<Vec<f64>> {
    let mut stream = spec.stream();
    let mut out = vec![Vec::new(); spec.outputs().len()];
    let mut part = out.clone();
    for from in (0..candles.len()).step_by(chunk) {
        stream.extend(&candles.slice(from, from + chunk), &mut part);
        out.iter_mut().zip(&part).for_each(|(whole, part)| whole.extend(part));
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn batch_and_chunks_and_single_candles_agree(
        spec in spec(1),
        candles in candles(),
        repeat in 1..4usize,
        chunk in 1..400usize,
    ) {
        let candles: Vec<_> = candles.repeat(repeat);
        let owned = Owned::new(&candles);
        let single = one_by_one(&spec, &candles);
        let scales = scales(&single);
        for other in [spec.batch(&owned.candles()), in_chunks(&spec, &owned.candles(), chunk)] {
            for ((a, b), scale) in single.iter().zip(&other).zip(&scales) {
                prop_assert_eq!(a.len(), b.len());
                for (row, (a, b)) in a.iter().zip(b).enumerate() {
                    prop_assert!(close(*a, *b, *scale), "{} row {}: {} and {}", spec, row, a, b);
                }
            }
        }
    }

    #[test]
    fn selected_outputs_equal_those_of_a_full_run(
        spec in spec(1),
        candles in candles(),
        which in any::<[bool; 8]>(),
    ) {
        let owned = Owned::new(&candles.repeat(3));
        let keys = spec.outputs().iter().zip(which).filter(|(_, wanted)| *wanted);
        let keys: Vec<_> = keys.map(|(key, _)| *key).collect();
        let (all, some) = (spec.batch(&owned.candles()), spec.batch_only(&owned.candles(), &keys));
        for ((all, some), wanted) in all.iter().zip(&some).zip(which) {
            prop_assert_eq!(some.len(), if wanted { all.len() } else { 0 });
            prop_assert!(all.iter().zip(some).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }

    #[test]
    fn a_preview_equals_the_next_update_and_keeps_the_state(
        spec in spec(1),
        candles in candles(),
        forming in candles(),
    ) {
        let (mut watched, mut plain) = (spec.stream(), spec.stream());
        let width = spec.outputs().len();
        let (mut a, mut b, mut c) = (vec![0.0; width], vec![0.0; width], vec![0.0; width]);
        let mut forming = forming.iter().cycle();
        for candle in &candles {
            for other in forming.by_ref().take(2) {
                watched.preview(other, &mut c);
            }
            watched.preview(candle, &mut c);
            watched.update(candle, &mut a);
            plain.update(candle, &mut b);
            for ((a, b), c) in a.iter().zip(&b).zip(&c) {
                prop_assert_eq!(a.to_bits(), b.to_bits());
                prop_assert_eq!(a.to_bits(), c.to_bits());
            }
        }
        let mut fork = watched.fork();
        if let Some(candle) = candles.first() {
            fork.update(candle, &mut a);
            watched.update(candle, &mut b);
            prop_assert!(a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }

    #[test]
    fn values_are_finite_or_not_available(spec in spec(1), fields in proptest::collection::vec(
        (any::<i64>(), proptest::array::uniform5(any::<f64>())), 0..60,
    )) {
        let candles: Vec<_> = fields
            .into_iter()
            .map(|(t, [o, h, l, c, v])| Candle { t, o, h, l, c, v })
            .collect();
        let owned = Owned::new(&candles);
        for column in spec.batch(&owned.candles()).into_iter().chain(one_by_one(&spec, &candles)) {
            prop_assert!(column.iter().all(|value| value.is_nan() || value.is_finite()));
        }
    }

    #[test]
    fn leading_nan_values_equal_the_declared_warm_up(spec in spec(4), seed in 1..1000u32) {
        // Every candle moves and trades, and no window is too short, so only warm-up values are
        // missing.
        let candles: Vec<_> = (0..160u32).map(|i| {
            let wave = f64::from((i * 7919 + seed) % 101) / 10.0 + f64::from(i) / 50.0;
            let c = 100.0 + wave;
            let v = 10.0 + wave;
            Candle { t: i64::from(i), o: c, h: c + 1.0 + wave / 9.0, l: c - 1.5, c, v }
        }).collect();
        let columns = one_by_one(&spec, &candles);
        // Each of these two outputs has values only in its own trend.
        let lasting = columns.iter().zip(spec.outputs());
        let lasting = lasting.filter(|(_, key)| !matches!(**key, "psar_up" | "psar_down"));
        let leading = lasting.map(|(column, _)| column.iter().take_while(|x| x.is_nan()).count());
        prop_assert_eq!(leading.max().unwrap(), spec.warmup(), "{}", spec);
    }
}

/// The series is longer than a batch step of the oscillators, so that all their code paths run.
#[test]
fn batch_equals_single_candles_on_long_series_with_odd_values() {
    let odd = [100.0, f64::NAN, f64::INFINITY, 0.0, -1e4, 1e308];
    let places = [1023, 1024, 2046, 2047, 2500, 4999];
    for (odd, at) in odd.into_iter().flat_map(|odd| places.map(|at| (odd, at))) {
        let candles: Vec<_> = (0..5000_u32)
            .map(|i| {
                let c = if i == at { odd } else { 100.0 + f64::from(i * 7919 % 1013) / 50.0 };
                Candle { t: i64::from(i), o: c, h: c, l: c, c, v: c }
            })
            .collect();
        for (name, fast, slow, signal) in
            [("macd", 12, 26, 9), ("ppo", 12, 26, 9), ("pvo", 1, 2, 1), ("macd", 2, 300, 40)]
        {
            let number = |period: u32| Arg::Number(f64::from(period));
            let args = [("fast", number(fast)), ("slow", number(slow)), ("signal", number(signal))];
            let spec = Spec::parse(name, &args).unwrap();
            let (single, batch) =
                (one_by_one(&spec, &candles), spec.batch(&Owned::new(&candles).candles()));
            for (single, batch) in single.iter().zip(&batch) {
                assert_eq!(single.len(), batch.len());
                // The effect of a large number decays slowly, so the scale does too.
                let mut scale = 1e-3_f64;
                for (row, (a, b)) in single.iter().zip(batch).enumerate() {
                    scale = (scale * 0.999).max(a.abs()).max(1e-3);
                    assert!(close(*a, *b, scale), "{spec}, {odd} at {at}, row {row}: {a}, {b}");
                }
            }
        }
    }
}

/// Long windows, and enough candles that every code path of the batch forms runs many times: a
/// random walk with flat stretches, stretches without volume, and two candles with missing fields.
#[test]
fn batch_equals_single_candles_for_long_windows_and_any_chunks() {
    let candles = walk(5000);
    let owned = Owned::new(&candles);
    for spec in known().flat_map(|name| [1, 64, 300].into_iter().flat_map(|n| wide(name, n))) {
        let single = one_by_one(&spec, &candles);
        let scales = scales(&single);
        for chunk in [5000, 777] {
            let other = in_chunks(&spec, &owned.candles(), chunk);
            for ((a, b), scale) in single.iter().zip(&other).zip(&scales) {
                assert_eq!(a.len(), b.len());
                for (row, (a, b)) in a.iter().zip(b).enumerate() {
                    assert!(close(*a, *b, *scale), "{spec} by {chunk}, row {row}: {a}, {b}");
                }
            }
        }
    }
}

fn walk(len: u32) -> Vec<Candle> {
    let (mut dice, mut last) = (7_u64, 100.0_f64);
    let mut roll = move || {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (dice >> 33) as f64 / f64::from(u32::MAX >> 1)
    };
    let one = |i: u32| {
        let (t, still) = (i64::from(i) * 3_600_000, i % 900 > 880 || (2000..2400).contains(&i));
        let (o, v) = (last, if i % 700 > 650 { 0.0 } else { 1.0 + 1e3 * roll() });
        if still {
            return Candle { t, o, h: o, l: o, c: o, v };
        }
        last = 50.0 + (o - 50.0) * 0.999 + roll() - 0.5;
        let mut candle =
            Candle { t, o, h: o.max(last) + roll(), l: o.min(last) - roll(), c: last, v };
        match i {
            1500 => candle.c = f64::NAN,
            3100 => (candle.h, candle.v) = (f64::INFINITY, f64::NAN),
            _ => {}
        }
        candle
    };
    (0..len).map(one).collect()
}

/// Specs of an indicator with windows of about this length, in both parities and with every choice.
fn wide(name: &str, period: i32) -> Vec<Spec> {
    let params = Spec::parse(name, &[]).unwrap().params();
    // A period of 1 may be refused; if the windows must differ, each is longer or shorter than the
    // one before.
    let tries = [(period, 0), (period + 1, 0), (period, 1), (period + 9, -1)];
    let numbers = |from: i32, step: i32, optional: bool| {
        let all = params.iter().zip(0..);
        all.filter(move |(param, _)| match param.kind {
            ParamKind::Period(_) => true,
            ParamKind::Optional | ParamKind::Offset => optional,
            _ => false,
        })
        .map(move |(param, at)| (param.name, Arg::Number(f64::from(from + step * at))))
        .collect::<Vec<_>>()
    };
    let found = tries
        .into_iter()
        .find(|(from, step)| Spec::parse(name, &numbers(*from, *step, true)).is_ok());
    let (from, step) = found.unwrap();
    let choices = params.iter().filter_map(|param| match param.kind {
        ParamKind::Choice(words) => Some((param.name, Arg::Text(words[1]))),
        _ => None,
    });
    let choices: Vec<_> = choices.collect();
    let mut specs = Vec::new();
    for optional in [false, true] {
        let numbers = numbers(from, step, optional);
        specs.extend(Spec::parse(name, &numbers));
        // Each non-default choice alone, and all of them together.
        for other in choices.chunks(1).chain([choices.as_slice()]) {
            specs.extend(Spec::parse(name, &[numbers.as_slice(), other].concat()));
        }
    }
    specs.dedup();
    specs
}

/// After thousands of constant candles an average decays to nothing, in both forms alike.
#[test]
fn a_decayed_average_gives_nan() {
    let mut candles = walk(300);
    let c = candles[299].c;
    let still = |t: i64| Candle { t: t * 3_600_000, o: c, h: c, l: c, c, v: 0.0 };
    candles.extend((300..5000).map(still));
    let owned = Owned::new(&candles);
    let number = Arg::Number;
    for spec in [
        Spec::parse("massIndex", &[]),
        Spec::parse("tsi", &[("slow", number(2.0)), ("fast", number(4.0))]),
        Spec::parse("tsi", &[("slow", number(4.0)), ("fast", number(2.0))]),
    ] {
        let spec = spec.unwrap();
        let (single, batch) = (one_by_one(&spec, &candles), spec.batch(&owned.candles()));
        for (row, (a, b)) in single[0].iter().zip(&batch[0]).enumerate() {
            assert!(close(*a, *b, 1.0), "{spec} row {row}: {a} and {b}");
        }
        assert!(single[0][4999].is_nan(), "{spec}");
    }
}

/// Among ordinary numbers there are some so large that the distance between two of them overflows.
#[test]
fn overflowing_values_give_nan() {
    let far = [1.7e308, -1.7e308, 1.2e308];
    for (fast, slow, signal) in [(2, 3, 2), (2, 3, 4), (3, 9, 5), (12, 26, 9)] {
        let candles: Vec<_> = (0..4096_usize)
            .map(|i| {
                let c = if (2000..2300).contains(&i) { far[i % 3] } else { 100.0 + (i % 7) as f64 };
                Candle { t: i as i64, o: c, h: c, l: c, c, v: c }
            })
            .collect();
        let number = |period: u32| Arg::Number(f64::from(period));
        let args = [("fast", number(fast)), ("slow", number(slow)), ("signal", number(signal))];
        for name in ["macd", "ppo", "pvo"] {
            let spec = Spec::parse(name, &args).unwrap();
            for column in spec.batch(&Owned::new(&candles).candles()) {
                assert!(!column.iter().any(|value| value.is_infinite()), "{spec}");
                assert!(column[4000..].iter().all(|value| value.is_finite()), "{spec}");
            }
        }
    }
}

/// One extreme candle has no effect once it has left every window, at whatever index of a batch
/// chunk that happens. In a second candle the close is extreme, too.
#[test]
fn an_outlier_has_no_effect_after_it_left_every_window() {
    let names = "vortex cmf awesome massIndex kama cci dpo sma wma mfi ultimate bollinger stoch";
    for at in 300..300 + 128 {
        let mut candles = walk(700);
        candles[at].h = 1e15;
        let far = &mut candles[at + 200];
        (far.h, far.l, far.c) = (1e15, 1e15, 1e15);
        let owned = Owned::new(&candles);
        for spec in names.split(' ').map(|name| Spec::parse(name, &[]).unwrap()) {
            let (single, batch) = (one_by_one(&spec, &candles), spec.batch(&owned.candles()));
            for (a, b) in single.iter().zip(&batch) {
                for (row, (a, b)) in a.iter().zip(b).enumerate() {
                    assert!(close(*a, *b, 1.0), "{spec}, {at}, row {row}: {a} and {b}");
                }
            }
        }
    }
}

/// Sets one period at a time to its shortest value; a window too short to move is refused.
#[test]
fn the_shortest_windows_have_values_or_are_refused() {
    let candles: Vec<_> = (0..300_u32)
        .map(|i| {
            let wave = f64::from((i * 7919) % 101) / 10.0 + f64::from(i) / 50.0;
            let (c, v) = (100.0 + wave, 10.0 + wave);
            Candle { t: i64::from(i), o: c, h: c + 1.0 + wave / 9.0, l: c - 1.5, c, v }
        })
        .collect();
    let mut wrong = Vec::new();
    for name in known() {
        let params = Spec::parse(name, &[]).unwrap().params();
        for param in params.iter().filter(|it| matches!(it.kind, ParamKind::Period(_))) {
            let Ok(spec) = Spec::parse(name, &[(param.name, Arg::Number(1.0))]) else { continue };
            let columns = one_by_one(&spec, &candles);
            let lasting = columns.iter().zip(spec.outputs());
            let lasting = lasting.filter(|(_, key)| !matches!(**key, "psar_up" | "psar_down"));
            let leading =
                lasting.map(|(column, _)| column.iter().take_while(|x| x.is_nan()).count());
            let leading = leading.max().unwrap();
            if leading != spec.warmup() {
                wrong.push(format!("{spec}: {leading} where {} is said", spec.warmup()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn invalid_requests_name_the_wrong_value() {
    let number = Arg::Number;
    check(
        "rsi",
        &[("period", number(0.0))],
        "period must be a whole number from 1 to 10000, not 0",
    );
    check(
        "rsi",
        &[("period", number(2.5))],
        "period must be a whole number from 1 to 10000, not 2.5",
    );
    check(
        "rsi",
        &[("period", number(f64::NAN))],
        "period must be a whole number from 1 to 10000, not NaN",
    );
    check("rsi", &[("period", Arg::Text("x"))], "period must be a number, not \"x\"");
    check(
        "rsi",
        &[("length", number(3.0))],
        "rsi has no parameter \"length\"; known: period, parity",
    );
    check("adl", &[("n", number(3.0))], "adl takes no parameters, not \"n\"");
    check("macd", &[("fast", number(26.0))], "fast must be below slow, but 26 is not below 26");
    check("bollinger", &[("stdev", number(f64::NAN))], "stdev must be a number above 0, not NaN");
    check("bollinger", &[("stdev", number(-1.0))], "stdev must be a number above 0, not -1");
    check(
        "vwap",
        &[("session", Arg::Text("week"))],
        "session must be one of day, continuous, not \"week\"",
    );
    check("psar", &[("step", number(0.5))], "step must not be above max_step");
    check(
        "keltner",
        &[("parity", Arg::Text("talib"))],
        "bands must be atr with parity talib: TA-Lib has no others",
    );
    check(
        "donchian",
        &[("offset", number(-1.0))],
        "offset must be a whole number from 0 to 10000, not -1",
    );
    for (name, window) in [("stochRsi", "rsi"), ("cci", "period"), ("stc", "cycle")] {
        let message = format!("{window} must be at least 2: one value has no range");
        check(name, &[(window, number(1.0))], &message);
    }
    let unknown = Spec::parse("magic", &[]).unwrap_err().to_string();
    assert!(unknown.starts_with("unknown indicator \"magic\"; known: macd, rsi, atr"), "{unknown}");
}

#[track_caller]
fn check(name: &str, args: &[(&str, Arg<'_>)], message: &str) {
    assert_eq!(Spec::parse(name, args).unwrap_err().to_string(), message);
}

#[test]
fn names_are_found_in_any_spelling() {
    for name in ["stochRsi", "stochrsi", "stoch_rsi", "STOCH-RSI"] {
        assert_eq!(Spec::parse(name, &[]).unwrap().name(), "stochRsi");
    }
    let short = Spec::parse("stoch", &[("d", Arg::Number(5.0))]).unwrap();
    assert_eq!((short.to_string().as_str(), short.warmup()), ("stoch(k=14,d=5)", 17));
}
