//! Money without floats: amounts, rates, currencies, the grid of prices and their endings.
//!
//! An amount counts millionths, a rate billionths; both are exact, and every rounding names its
//! direction. Estimates (demand, elasticity) are floats and are in other modules.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Millionths in one unit of the currency.
const MICROS: i64 = 1_000_000;
/// Billionths in a ratio of one.
const NANOS: i64 = 1_000_000_000;

/// Money, exact to a millionth, with an absolute value below 10¹².
///
/// In JSON an amount of at most fifteen digits is a number, because it is read back exactly; a
/// longer one is a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Amount(i64);

/// A share or a ratio, exact to a billionth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(i64);

/// The text is not a number, or the number is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnAmount;

impl Amount {
    pub const ZERO: Self = Self(0);
    /// The first amount that is too large.
    pub const LIMIT: Self = Self(1_000_000_000_000 * MICROS);

    /// `None` at or beyond [`Amount::LIMIT`].
    pub const fn from_micros(micros: i64) -> Option<Self> {
        if micros < Self::LIMIT.0 && micros > -Self::LIMIT.0 { Some(Self(micros)) } else { None }
    }

    pub(crate) fn from_wide(micros: i128) -> Option<Self> {
        i64::try_from(micros).ok().and_then(Self::from_micros)
    }

    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The shortest decimal of the float, rounded to a millionth, halves away from zero.
    pub fn from_f64(value: f64) -> Option<Self> {
        (value.is_finite() && value.abs() < 1e12)
            .then(|| scaled(&format!("{value}"), 6))
            .flatten()
            .and_then(Self::from_micros)
    }

    /// For estimates only.
    pub fn to_f64(self) -> f64 {
        if self.0.unsigned_abs() < 1 << 53 {
            self.0 as f64 / MICROS as f64
        } else {
            self.to_string().parse().unwrap_or(f64::NAN)
        }
    }

    pub const fn is_positive(self) -> bool {
        self.0 > 0
    }

    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).and_then(Self::from_micros)
    }

    /// A difference of amounts is at most twice the bound, so it is always exact.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }

    /// The text with its sign, also a plus, for effects.
    pub fn signed(self) -> String {
        if self.0 < 0 { self.to_string() } else { format!("+{self}") }
    }
}

impl Rate {
    pub const ZERO: Self = Self(0);
    pub const ONE: Self = Self(NANOS);
    /// The largest ratio; larger ones are refused.
    const LIMIT: i64 = 1_000_000 * NANOS;

    pub const fn from_billionths(billionths: i64) -> Option<Self> {
        if billionths.unsigned_abs() <= Self::LIMIT as u64 { Some(Self(billionths)) } else { None }
    }

    /// A ratio from whole percent, for constants.
    pub const fn percent(percent: i32) -> Self {
        Self(percent as i64 * (NANOS / 100))
    }

    /// Rounded to a billionth.
    pub fn from_f64(value: f64) -> Option<Self> {
        (value.is_finite() && value.abs() <= 1e6)
            .then(|| scaled(&format!("{value}"), 9))
            .flatten()
            .and_then(Self::from_billionths)
    }

    pub const fn billionths(self) -> i64 {
        self.0
    }

    pub fn to_f64(self) -> f64 {
        self.0 as f64 / NANOS as f64
    }

    /// As a percentage with at most two decimals, for sentences.
    pub fn as_percent(self) -> String {
        percent(self.to_f64())
    }
}

/// A share as a percentage with at most two decimals.
pub(crate) fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let text = if text == "-0" { "0" } else { text };
    format!("{text}%")
}

/// A number for sentences: at most three decimals, without trailing zeros.
pub fn figure(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Reads `[-+]?digits[.digits]` as an integer of `places` decimals, halves away from zero.
fn scaled(text: &str, places: usize) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || (digits.contains('.') && fraction.is_empty()) {
        return None;
    }
    if !plain(whole) || !plain(fraction) {
        return None;
    }
    let used_digits = &fraction.as_bytes()[..fraction.len().min(places)];
    let mut value: i64 = 0;
    for byte in whole.bytes().chain(used_digits.iter().copied()) {
        value = value.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
    }
    value = value.checked_mul(10_i64.pow((places - used_digits.len()) as u32))?;
    if fraction.as_bytes().get(places).is_some_and(|byte| *byte >= b'5') {
        value = value.checked_add(1)?;
    }
    Some(if negative { -value } else { value })
}

fn write_scaled(f: &mut fmt::Formatter<'_>, value: i64, unit: i64, places: usize) -> fmt::Result {
    let sign = if value < 0 { "-" } else { "" };
    let (value, unit) = (value.unsigned_abs(), unit as u64);
    let fraction = format!("{:0places$}", value % unit);
    let fraction = fraction.trim_end_matches('0');
    // Money is shown without decimals or with at least two.
    match fraction.len() {
        0 => write!(f, "{sign}{}", value / unit),
        1 => write!(f, "{sign}{}.{fraction}0", value / unit),
        _ => write!(f, "{sign}{}.{fraction}", value / unit),
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, MICROS, 6)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, NANOS, 9)
    }
}

impl FromStr for Amount {
    type Err = NotAnAmount;

    /// A plain decimal, with or without a sign; digits beyond the millionth are rounded.
    fn from_str(text: &str) -> Result<Self, NotAnAmount> {
        scaled(text, 6).and_then(Self::from_micros).ok_or(NotAnAmount)
    }
}

impl FromStr for Rate {
    type Err = NotAnAmount;

    fn from_str(text: &str) -> Result<Self, NotAnAmount> {
        scaled(text, 9).and_then(Self::from_billionths).ok_or(NotAnAmount)
    }
}

impl fmt::Display for NotAnAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a number that can be kept exactly")
    }
}

impl std::error::Error for NotAnAmount {}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = self.to_f64();
        let short = self.0.unsigned_abs() < 1_000_000_000_000_000;
        // Readers may differ in the last bit of a float, which does not change fifteen digits.
        if short || (self.0 % 1_000 == 0 && Self::from_f64(number) == Some(*self)) {
            serializer.serialize_f64(number)
        } else {
            serializer.collect_str(self)
        }
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

/// Reads numbers and numbers in quotes: clients with exact decimals quote them.
struct DecimalVisitor<T>(fn(f64) -> Option<T>, fn(&str) -> Option<T>);

impl<T> Visitor<'_> for DecimalVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a decimal number")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<T, E> {
        self.0(value).ok_or_else(|| E::custom("the number is too large"))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<T, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<T, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<T, E> {
        self.1(value).ok_or_else(|| E::custom("not a decimal number that can be kept"))
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DecimalVisitor(Self::from_f64, |text| text.parse().ok()))
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DecimalVisitor(Self::from_f64, |text| text.parse().ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, micros: i64, written: &str) {
        let amount: Amount = text.parse().unwrap();
        assert_eq!((amount.micros(), amount.to_string().as_str()), (micros, written), "{text}");
    }

    #[test]
    fn amounts_are_read_to_the_millionth() {
        check("19.99", 19_990_000, "19.99");
        check("-0.5", -500_000, "-0.50");
        check("7", 7_000_000, "7");
        check("0.1234565", 123_457, "0.123457");
        check("999999999999.999999", 999_999_999_999_999_999, "999999999999.999999");
        for text in ["", "-", ".", ".5", "5.", "1e5", "NaN", "1.2.3", " 1", "٣", "1000000000000"] {
            assert_eq!(text.parse::<Amount>(), Err(NotAnAmount), "{text}");
        }
    }

    #[test]
    fn figures_in_sentences_have_at_most_three_decimals() {
        for (value, text) in [
            (0.20847727272727276, "0.208"),
            (0.189, "0.189"),
            (0.5, "0.5"),
            (100.0, "100"),
            (-0.0001, "0"),
            (1234.5678, "1234.568"),
        ] {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn floats_keep_their_decimal_digits() {
        assert_eq!(Amount::from_f64(0.1 + 0.2), "0.3".parse().ok());
        for value in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e12, -1e300] {
            assert_eq!(Amount::from_f64(value), None, "{value}");
        }
        assert_eq!(Amount::from_f64(5e-324), Some(Amount::ZERO));
    }

    proptest! {
        #[test]
        fn json_keeps_fifteen_digits(millis in -999_999_999_999_999_i64..999_999_999_999_999) {
            let amount = Amount::from_micros(millis * 1_000).unwrap();
            let json = serde_json::to_string(&amount).unwrap();
            prop_assert_eq!(serde_json::from_str::<Amount>(&json).unwrap(), amount);
            let quoted = format!("\"{amount}\"");
            prop_assert_eq!(serde_json::from_str::<Amount>(&quoted).unwrap(), amount);
        }

        #[test]
        fn json_keeps_every_amount(micros in -999_999_999_999_999_999_i64..999_999_999_999_999_999) {
            let amount = Amount::from_micros(micros).unwrap();
            let json = serde_json::to_string(&amount).unwrap();
            prop_assert_eq!(serde_json::from_str::<Amount>(&json).unwrap(), amount);
        }

        #[test]
        fn any_float_is_an_amount_or_refused(value in any::<f64>()) {
            if let Some(amount) = Amount::from_f64(value) {
                prop_assert!((amount.to_f64() - value).abs() <= 1e-6 + value.abs() * 1e-15);
            }
            let _rate = Rate::from_f64(value);
        }
    }
}
