//! Exact decimals: a scaled integer that prints exactly as it was written.
//!
//! `1.50` and `1.5` are equal but keep their own spelling. There is no arithmetic: quotes and bars
//! only carry numbers, and the crate that owns a rule computes with money.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A signed integer with a decimal point `scale` digits from the right.
#[derive(Debug, Clone, Copy)]
pub struct Decimal {
    mantissa: i128,
    scale: u8,
}

/// Why a text is not a [`Decimal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalError {
    /// Empty, or something other than an optional sign, digits and one point.
    Malformed,
    /// More than [`Decimal::DIGITS_MAX`] digits.
    TooLong,
}

impl Decimal {
    /// The most digits of a decimal. Thirty fit an `i128`, and no venue writes more.
    pub const DIGITS_MAX: usize = 30;

    /// Zero without decimals.
    pub const ZERO: Self = Self { mantissa: 0, scale: 0 };

    /// A decimal from its parts; `None` for more than [`Self::DIGITS_MAX`] digits.
    pub fn from_parts(mantissa: i128, scale: u8) -> Option<Self> {
        let limit = 10_i128.pow(Self::DIGITS_MAX as u32);
        (mantissa.abs() < limit && usize::from(scale) <= Self::DIGITS_MAX)
            .then_some(Self { mantissa, scale })
    }

    /// The digits as an integer, without the point.
    pub const fn mantissa(self) -> i128 {
        self.mantissa
    }

    /// The number of digits after the point.
    pub const fn scale(self) -> u8 {
        self.scale
    }

    /// Whether the value is zero.
    pub const fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// Whether the value is below zero.
    pub const fn is_negative(self) -> bool {
        self.mantissa < 0
    }

    /// Parses `[-+]?digits[.digits]`. An exponent is refused: venues do not write one, and a float
    /// printed with one has lost its decimals. `.5` and `5.` are refused because they could not be
    /// printed as they were written.
    pub fn parse_bytes(text: &[u8]) -> Result<Self, DecimalError> {
        let (negative, digits) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let mut mantissa: i128 = 0;
        let mut whole: usize = 0;
        let mut fraction: usize = 0;
        let mut point = false;
        if digits.len() > Self::DIGITS_MAX + 1 {
            let shape = digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
            return Err(if shape { DecimalError::TooLong } else { DecimalError::Malformed });
        }
        for &byte in digits {
            match byte {
                b'0'..=b'9' => {
                    mantissa = mantissa * 10 + i128::from(byte - b'0');
                    if point { fraction += 1 } else { whole += 1 }
                }
                b'.' if !point => point = true,
                _ => return Err(DecimalError::Malformed),
            }
        }
        if whole == 0 || (point && fraction == 0) {
            return Err(DecimalError::Malformed);
        }
        if whole + fraction > Self::DIGITS_MAX {
            return Err(DecimalError::TooLong);
        }
        let mantissa = if negative { -mantissa } else { mantissa };
        Ok(Self { mantissa, scale: fraction as u8 })
    }

    /// The nearest whole number, halves away from zero; `None` beyond `i64`.
    pub fn round_to_integer(self) -> Option<i64> {
        // Most mantissas fit 64 bits, and dividing 128 bits is slow.
        if let (Ok(mantissa), true) = (i64::try_from(self.mantissa), self.scale <= 17) {
            let unit = 10_i64.pow(u32::from(self.scale));
            let (whole, rest) = (mantissa / unit, mantissa % unit);
            return Some(
                whole + i64::from(rest >= unit - unit / 2) - i64::from(-rest >= unit - unit / 2),
            );
        }
        let unit = 10_i128.pow(u32::from(self.scale));
        let half = if self.mantissa < 0 { -unit / 2 } else { unit / 2 };
        i64::try_from((self.mantissa + half) / unit).ok()
    }

    /// The nearest float, for indicators and other estimates; never for money.
    pub fn to_f64(self) -> f64 {
        self.mantissa as f64 / 10_f64.powi(i32::from(self.scale))
    }

    /// Both mantissas at a common scale. Saturating keeps the order: it happens only when one side
    /// is larger by more orders of magnitude than a decimal has digits.
    fn aligned(self, other: Self) -> (i128, i128) {
        let lift = |value: Self, by: u8| value.mantissa.saturating_mul(10_i128.pow(u32::from(by)));
        let scale = self.scale.max(other.scale);
        (lift(self, scale - self.scale), lift(other, scale - other.scale))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = self.aligned(*other);
        left.cmp(&right)
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    fn from_str(text: &str) -> Result<Self, DecimalError> {
        Self::parse_bytes(text.as_bytes())
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Written from the right into a buffer that holds any decimal with its sign and point.
        // This is a hot path: every price of every reply is formatted here.
        let mut buffer = [b'0'; Self::DIGITS_MAX + 4];
        let mut at = buffer.len();
        let mut written: u8 = 0;
        let mut rest = self.mantissa.unsigned_abs();
        loop {
            if written == self.scale && self.scale > 0 {
                at -= 1;
                buffer[at] = b'.';
            }
            at -= 1;
            // Dividing 128 bits is slow, and few values need them.
            let digit = match u64::try_from(rest) {
                Ok(narrow) => {
                    rest = u128::from(narrow / 10);
                    narrow % 10
                }
                Err(_) => {
                    let digit = rest % 10;
                    rest /= 10;
                    digit as u64
                }
            };
            buffer[at] = b'0' + digit as u8;
            written += 1;
            if rest == 0 && written > self.scale {
                break;
            }
        }
        if self.mantissa < 0 {
            at -= 1;
            buffer[at] = b'-';
        }
        f.write_str(std::str::from_utf8(&buffer[at..]).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Display for DecimalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "not a decimal number",
            Self::TooLong => "more digits than can be kept exactly",
        })
    }
}

impl std::error::Error for DecimalError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_refused(text: &str, error: DecimalError) {
        assert_eq!(text.parse::<Decimal>().map_err(|e| e as u8).err(), Some(error as u8), "{text}");
    }

    #[test]
    fn malformed_and_overlong_texts_are_refused() {
        for text in ["", "-", "+", ".", ".5", "5.", "1e5", "NaN", "1.2.3", " 1", "1 ", "0x1", "٣"]
        {
            check_refused(text, DecimalError::Malformed);
        }
        check_refused(&"9".repeat(31), DecimalError::TooLong);
        check_refused(&"9".repeat(4000), DecimalError::TooLong);
    }

    #[test]
    fn the_spelling_is_kept_and_the_value_is_compared() {
        let (short, long): (Decimal, Decimal) = ("1.5".parse().unwrap(), "1.500".parse().unwrap());
        assert_eq!(short, long);
        assert_eq!((short.to_string(), long.to_string()), ("1.5".to_owned(), "1.500".to_owned()));
        assert!("-0.5".parse::<Decimal>().unwrap() < "0.00000001".parse().unwrap());
        assert_eq!("-0.05".parse::<Decimal>().unwrap().to_string(), "-0.05");
    }

    #[test]
    fn rounding_goes_to_the_nearest_whole_number() {
        for (text, whole) in [("2.4", 2), ("2.5", 3), ("-2.5", -3), ("7", 7), ("0.49999999", 0)] {
            assert_eq!(text.parse::<Decimal>().unwrap().round_to_integer(), Some(whole), "{text}");
        }
        assert_eq!("99999999999999999999".parse::<Decimal>().unwrap().round_to_integer(), None);
    }

    proptest! {
        #[test]
        fn printing_undoes_parsing(text in "-?(0|[1-9][0-9]{0,18})(\\.[0-9]{1,10})?") {
            let value: Decimal = text.parse().unwrap();
            // Minus zero has no spelling of its own in a scaled integer.
            prop_assume!(!(value.is_zero() && text.starts_with('-')));
            prop_assert_eq!(value.to_string(), text);
        }

        #[test]
        fn any_bytes_parse_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(value) = Decimal::parse_bytes(&bytes) {
                prop_assert_eq!(value.to_string().parse::<Decimal>().unwrap(), value);
            }
        }
    }
}
