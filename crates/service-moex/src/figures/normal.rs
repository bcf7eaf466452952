//! Quantiles of the normal distribution by Acklam's rational approximation, whose relative error is
//! about 1e-9.

const A: [f64; 6] = [
    -3.969_683_028_665_376e1,
    2.209_460_984_245_205e2,
    -2.759_285_104_469_687e2,
    1.383_577_518_672_69e2,
    -3.066_479_806_614_716e1,
    2.506_628_277_459_239,
];
const B: [f64; 5] = [
    -5.447_609_879_822_406e1,
    1.615_858_368_580_409e2,
    -1.556_989_798_598_866e2,
    6.680_131_188_771_972e1,
    -1.328_068_155_288_572e1,
];
const C: [f64; 6] = [
    -7.784_894_002_430_293e-3,
    -3.223_964_580_411_365e-1,
    -2.400_758_277_161_838,
    -2.549_732_539_343_734,
    4.374_664_141_464_968,
    2.938_163_982_698_783,
];
const D: [f64; 4] = [
    7.784_695_709_041_462e-3,
    3.224_671_290_700_398e-1,
    2.445_134_137_142_996,
    3.754_408_661_907_416,
];
const TAIL: f64 = 0.024_25;

/// The value that a standard normal variable stays below with this probability.
pub(crate) fn quantile(p: f64) -> f64 {
    if !(0.0 < p && p < 1.0) {
        return f64::NAN;
    }
    let polynomial = |coefficients: &[f64], x: f64| {
        coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
    };
    let tail = |p: f64| {
        let q = (-2.0 * p.ln()).sqrt();
        polynomial(&C, q) / (polynomial(&D, q) * q + 1.0)
    };
    if p < TAIL {
        return tail(p);
    }
    if p > 1.0 - TAIL {
        return -tail(1.0 - p);
    }
    let (q, r) = (p - 0.5, (p - 0.5).powi(2));
    polynomial(&A, r) * q / (polynomial(&B, r) * r + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_published_tables() {
        for (p, expected) in [
            (0.5, 0.0),
            (0.95, 1.644_853_627),
            (0.975, 1.959_963_985),
            (0.99, 2.326_347_874),
            (0.999, 3.090_232_306),
            (0.01, -2.326_347_874),
        ] {
            assert!((quantile(p) - expected).abs() < 1e-7, "{p}: {}", quantile(p));
        }
        assert!(quantile(0.0).is_nan() && quantile(1.0).is_nan());
    }
}
