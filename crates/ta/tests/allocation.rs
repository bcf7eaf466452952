//! Once an indicator is warm, a candle allocates nothing, closed or forming. In a program of its
//! own, because all of it counts.

use allocation_counter::measure;
use ta::{Arg, Candle, ParamKind, Spec, known};

/// Prices that move, stand still, and are missing.
fn candle(i: u32) -> Candle {
    let wave = f64::from(i * 7919 % 101) / 10.0;
    let c = if i % 200 > 170 { 100.0 } else { 100.0 + wave };
    let range = if i % 200 > 180 { 0.0 } else { 1.0 };
    let missing = i % 130 == 129;
    let h = if missing { f64::NAN } else { c + range };
    Candle { t: i64::from(i) * 3_600_000, o: c, h, l: c - range, c, v: wave }
}

/// The indicator as it comes, and with each of its parameters set to something else.
fn forms(plain: Spec) -> Vec<Spec> {
    let others = plain.params().iter().filter_map(|param| {
        let arg = match param.kind {
            ParamKind::Choice(words) => Arg::Text(words[1]),
            ParamKind::Optional | ParamKind::Offset => Arg::Number(5.0),
            ParamKind::Period(_) | ParamKind::Real(_) => return None,
        };
        Some((param.name, arg))
    });
    let others: Vec<_> = others.collect();
    let alone = others.chunks(1).chain([others.as_slice()]);
    // Some choices need another beside them and are refused alone.
    let other = alone.filter_map(|args| Spec::parse(plain.name(), args).ok()).collect::<Vec<_>>();
    [vec![plain], other].concat()
}

#[test]
fn a_warm_indicator_allocates_nothing() {
    assert_eq!(measure(|| drop(std::hint::black_box(vec![1]))).count_total, 1);
    for spec in known().flat_map(|name| forms(Spec::parse(name, &[]).unwrap())) {
        let (mut stream, mut row) = (spec.stream(), [0.0; 8]);
        let warm = u32::try_from(spec.warmup()).unwrap() + 2;
        (0..warm).for_each(|i| stream.update(&candle(i), &mut row));
        let counted = measure(|| {
            for i in warm..warm + 600 {
                stream.preview(&candle(i + 1), &mut row);
                stream.update(&candle(i), &mut row);
            }
        });
        assert_eq!(counted.count_total, 0, "{spec}");
    }
}
