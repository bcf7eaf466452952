//! Decimals as files write them. [`parse_short`] reads nearly all of them in one pass; the other
//! functions read every other spelling, also with an exponent, without rounding.

use market::{Decimal, DecimalError};
use market_bars::SmallDecimal;
use spreadsheet::{DecimalMark, plain_number};

/// A decimal of at most 18 characters without a plus sign or an exponent; `None` for others, which
/// [`parse_localized`] reads.
#[inline]
pub(crate) fn parse_short(text: &[u8], mark: u8) -> Option<SmallDecimal> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut mantissa = 0_i64;
    let mut point = None;
    for (at, &byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            mantissa = mantissa * 10 + i64::from(digit);
        } else if byte == mark && point.is_none() && at > 0 {
            point = Some(at);
        } else {
            return None;
        }
    }
    let scale = match point {
        None => 0,
        Some(at) if at + 1 == digits.len() => return None,
        Some(at) => digits.len() - at - 1,
    };
    Some(SmallDecimal { mantissa: if negative { -mantissa } else { mantissa }, scale: scale as u8 })
}

/// Any spelling of a decimal that spreadsheets and data frames produce: `+1.5`, `.5`, `5.`,
/// `1.5e-05`.
pub(crate) fn parse_any(text: &[u8]) -> Result<Decimal, DecimalError> {
    let plain = Decimal::parse_bytes(text);
    if plain != Err(DecimalError::Malformed) {
        return plain;
    }
    let text = std::str::from_utf8(text).map_err(|_| DecimalError::Malformed)?;
    let (number, exponent) = match text.split_once(['e', 'E']) {
        None => (text, 0),
        Some((number, exponent)) => {
            (number, exponent.parse::<i32>().map_err(|_| DecimalError::Malformed)?)
        }
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole = if matches!(whole, "" | "-" | "+") && !fraction.is_empty() {
        format!("{whole}0")
    } else {
        whole.to_owned()
    };
    let joined = if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") };
    shift_point(joined.parse()?, exponent)
}

/// Any decimal of a table with this decimal mark, also with thousands separators or a currency sign.
pub(crate) fn parse_localized(text: &[u8], mark: DecimalMark) -> Result<Decimal, DecimalError> {
    if mark == DecimalMark::Point {
        let read = parse_any(text);
        if read != Err(DecimalError::Malformed) {
            return read;
        }
    }
    let text = spreadsheet::decode(text).map_err(|_| DecimalError::Malformed)?;
    match plain_number(&text, mark) {
        Some(number) => parse_any(number.as_bytes()),
        // A number with an exponent has no thousands separators: `1,5E-05`.
        None if text.contains(['e', 'E']) && !text.contains('.') => {
            parse_any(text.replace(',', ".").as_bytes())
        }
        None => Err(DecimalError::Malformed),
    }
}

/// A volume, which some tables write in thousands, millions or billions: `36.55M`.
pub(crate) fn parse_volume(text: &[u8], mark: DecimalMark) -> Result<Decimal, DecimalError> {
    let (number, exponent) = match text {
        [number @ .., b'K' | b'k'] => (number, 3),
        [number @ .., b'M' | b'm'] => (number, 6),
        [number @ .., b'B' | b'b'] => (number, 9),
        _ => (text, 0),
    };
    let value = parse_localized(number, mark)?;
    if exponent == 0 { Ok(value) } else { shift_point(value, exponent) }
}

/// Multiplies by a power of ten. Changes the scale, and the mantissa only if the scale would be
/// negative.
fn shift_point(value: Decimal, exponent: i32) -> Result<Decimal, DecimalError> {
    let scale = i32::from(value.scale()).checked_sub(exponent).ok_or(DecimalError::TooLong)?;
    let parts = if scale >= 0 {
        u8::try_from(scale).ok().and_then(|scale| Decimal::from_parts(value.mantissa(), scale))
    } else {
        10_i128
            .checked_pow(scale.unsigned_abs())
            .and_then(|by| value.mantissa().checked_mul(by))
            .and_then(|mantissa| Decimal::from_parts(mantissa, 0))
    };
    parts.ok_or(DecimalError::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, value: &str) {
        assert_eq!(parse_any(text.as_bytes()).unwrap().to_string(), value, "{text}");
        if let Some(SmallDecimal { mantissa, scale }) = parse_short(text.as_bytes(), b'.') {
            let short = Decimal::from_parts(i128::from(mantissa), scale).unwrap();
            assert_eq!(short.to_string(), value, "{text}");
        }
    }

    #[test]
    fn every_spelling_is_parsed_exactly() {
        check("1.50", "1.50");
        check("-0.05", "-0.05");
        check("+7", "7");
        check(".5", "0.5");
        check("-.5", "-0.5");
        check("5.", "5");
        check("1.5e-05", "0.000015");
        check("2E3", "2000");
        check("1.25e1", "12.5");
        check("123456789012345678901234567.89", "123456789012345678901234567.89");
        check("0.30000000000000004", "0.30000000000000004");
    }

    #[test]
    fn decimal_commas_and_thousands_separators_are_parsed() {
        let read =
            |text: &str, mark| parse_localized(text.as_bytes(), mark).map(|it| it.to_string());
        let (point, comma) = (DecimalMark::Point, DecimalMark::Comma);
        assert_eq!(read("1,234.50", point).as_deref(), Ok("1234.50"));
        assert_eq!(read("1.5e-05", point).as_deref(), Ok("0.000015"));
        assert_eq!(read("271,9", comma).as_deref(), Ok("271.9"));
        assert_eq!(read("1.234", comma).as_deref(), Ok("1234"));
        assert_eq!(read("1,5E-05", comma).as_deref(), Ok("0.000015"));
        assert_eq!(parse_localized(b"1\xa0290,5", comma).unwrap().to_string(), "1290.5");
        assert!(read("1,5", point).is_err() && read("1.5", comma).is_err());
        assert_eq!(parse_volume(b"36.55M", point).unwrap().to_string(), "36550000");
        assert_eq!(parse_volume(b"1,5K", comma).unwrap().to_string(), "1500");
        assert_eq!(parse_short(b"271,9", b','), Some(SmallDecimal { mantissa: 2719, scale: 1 }));
        assert_eq!(parse_short(b"271.9", b','), None);
    }

    #[test]
    fn texts_that_are_not_numbers_are_refused() {
        for text in [
            "",
            "-",
            ".",
            "1e",
            "e5",
            "1,5",
            "NaN",
            "1.2.3",
            "--1",
            "1e99",
            "1e-99",
            "1e99999999999",
            "0x10",
            "1 ",
        ] {
            assert!(parse_any(text.as_bytes()).is_err(), "{text}");
            assert_eq!(parse_short(text.as_bytes(), b'.'), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn parse_short_agrees_with_decimal(text in "-?[0-9]{1,11}(\\.[0-9]{1,6})?") {
            let SmallDecimal { mantissa, scale } = parse_short(text.as_bytes(), b'.').unwrap();
            let expected: Decimal = text.parse().unwrap();
            proptest::prop_assert_eq!((i128::from(mantissa), scale), (expected.mantissa(), expected.scale()));
        }
    }
}
