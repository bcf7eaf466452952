//! Exact decimals from the exchange's JSON numbers: integers, decimals with float rounding errors,
//! and exponents. No price passes through a float.

use std::cmp::Ordering;

use market::Decimal;

/// Parses a JSON number; `None` when it has more digits than a [`Decimal`] holds.
pub(crate) fn parse(text: &str) -> Option<Decimal> {
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        None => return text.parse().ok(),
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
    };
    let value: Decimal = digits.parse().ok()?;
    let scale = i32::from(value.scale()).checked_sub(exponent)?;
    if scale >= 0 {
        return Decimal::from_parts(value.mantissa(), u8::try_from(scale).ok()?);
    }
    let lift = 10_i128.checked_pow(scale.unsigned_abs())?;
    Decimal::from_parts(value.mantissa().checked_mul(lift)?, 0)
}

/// Rounds to exactly `decimals` digits after the point, halves away from zero.
pub(crate) fn round(value: Decimal, decimals: u8) -> Option<Decimal> {
    let mantissa = match value.scale().cmp(&decimals) {
        Ordering::Equal => value.mantissa(),
        Ordering::Less => {
            let lift = 10_i128.checked_pow(u32::from(decimals - value.scale()))?;
            value.mantissa().checked_mul(lift)?
        }
        Ordering::Greater => {
            let unit = 10_i128.checked_pow(u32::from(value.scale() - decimals))?;
            divide(value.mantissa(), unit)?
        }
    };
    Decimal::from_parts(mantissa, decimals)
}

/// Rounds to at most `decimals_max` digits after the point and removes trailing zeros.
pub(crate) fn trim(value: Decimal, decimals_max: u8) -> Option<Decimal> {
    let value = if value.scale() > decimals_max { round(value, decimals_max)? } else { value };
    let (mut mantissa, mut scale) = (value.mantissa(), value.scale());
    while scale > 0 && mantissa % 10 == 0 {
        mantissa /= 10;
        scale -= 1;
    }
    Decimal::from_parts(mantissa, scale)
}

pub(crate) fn sum(left: Decimal, right: Decimal) -> Option<Decimal> {
    let scale = left.scale().max(right.scale());
    let (left, right) = (round(left, scale)?, round(right, scale)?);
    Decimal::from_parts(left.mantissa().checked_add(right.mantissa())?, scale)
}

/// `now` less `then`.
pub(crate) fn change(now: Decimal, then: Decimal) -> Option<Decimal> {
    sum(now, Decimal::from_parts(-then.mantissa(), then.scale())?)
}

/// The change from `then` to `now` in percent of `then`, to two digits; `None` when `then` is zero.
pub(crate) fn change_pct(now: Decimal, then: Decimal) -> Option<Decimal> {
    let scale = now.scale().max(then.scale());
    let (now, then) = (round(now, scale)?.mantissa(), round(then, scale)?.mantissa());
    let hundredths = now.checked_sub(then)?.checked_mul(10_000)?;
    Decimal::from_parts(divide(hundredths, then)?, 2)
}

/// `value * numerator / denominator`, with four more digits after the point.
pub(crate) fn scaled(value: Decimal, numerator: u64, denominator: u64) -> Option<Decimal> {
    let lifted = value.mantissa().checked_mul(i128::from(numerator))?.checked_mul(10_000)?;
    Decimal::from_parts(divide(lifted, i128::from(denominator))?, value.scale().checked_add(4)?)
}

/// Integer division rounded to the nearest, halves away from zero.
fn divide(value: i128, by: i128) -> Option<i128> {
    if by == 0 {
        return None;
    }
    let (value, by) = if by < 0 { (value.checked_neg()?, by.checked_neg()?) } else { (value, by) };
    let half = if value < 0 { -(by / 2) } else { by / 2 };
    Some(value.checked_add(half)? / by)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn d(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[track_caller]
    fn shown(value: Option<Decimal>) -> String {
        value.map_or_else(|| "none".to_owned(), |value| value.to_string())
    }

    #[test]
    fn json_numbers_are_read_exactly() {
        for (text, value) in [
            ("110", "110"),
            ("69.67999999999999", "69.67999999999999"),
            ("6405.50", "6405.50"),
            ("-0.13", "-0.13"),
            ("1e-05", "0.00001"),
            ("1.5E3", "1500"),
            ("1.25e+1", "12.5"),
            ("2e40", "none"),
            ("1e-99", "none"),
            ("1e999999999999", "none"),
            ("e5", "none"),
            ("", "none"),
        ] {
            assert_eq!(shown(parse(text)), value, "{text}");
        }
    }

    #[test]
    fn rounding_removes_float_errors() {
        for (text, decimals, rounded) in [
            ("69.67999999999999", 2, "69.68"),
            ("110", 2, "110.00"),
            ("0.005", 2, "0.01"),
            ("-0.005", 2, "-0.01"),
            ("0.0049999", 2, "0.00"),
            ("166850.0", 0, "166850"),
            ("0.123456", 6, "0.123456"),
        ] {
            assert_eq!(shown(round(d(text), decimals)), rounded, "{text}");
        }
        assert_eq!(shown(round(d(&"9".repeat(29)), 9)), "none");
        assert_eq!(shown(trim(d("5716579901.300000001"), 2)), "5716579901.3");
        assert_eq!(shown(trim(d("100.00"), 2)), "100");
    }

    #[test]
    fn changes_are_relative_to_the_earlier_value() {
        for (now, then, by, pct) in [
            ("289.83", "289.06", "0.77", "0.27"),
            ("128.11", "124", "4.11", "3.31"),
            ("1", "3", "-2", "-66.67"),
            ("5", "0", "5", "none"),
        ] {
            assert_eq!(shown(change(d(now), d(then))), by);
            assert_eq!(shown(change_pct(d(now), d(then))), pct, "{now} {then}");
        }
        assert_eq!(shown(scaled(d("166850"), 1, 100)), "1668.5000");
        assert_eq!(shown(scaled(d("1"), 1, 0)), "none");
    }

    proptest! {
        #[test]
        fn rounding_moves_by_half_a_unit_at_most(units in -10_i64.pow(15)..10_i64.pow(15), scale in 0_u8..10, to in 0_u8..10) {
            let value = Decimal::from_parts(i128::from(units), scale).unwrap();
            let rounded = round(value, to).unwrap();
            prop_assert_eq!(rounded.scale(), to);
            let moved = change(rounded, value).unwrap();
            let twice = Decimal::from_parts(2 * moved.mantissa().abs(), moved.scale()).unwrap();
            prop_assert!(twice <= Decimal::from_parts(1, to).unwrap());
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in "[-+.eE0-9]{0,40}") {
            let _ = parse(&text).and_then(|value| round(value, 4));
        }
    }
}
