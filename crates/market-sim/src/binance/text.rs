//! Formats numbers like Binance: decimals as strings with eight places.

/// Binance's places after the point, whatever the tick is.
const PLACES: u32 = 8;

pub(crate) fn push_i64(text: &mut String, value: i64) {
    if value < 0 {
        text.push('-');
    }
    push_digits(text, u128::from(value.unsigned_abs()), 0);
}

/// `"0.00349600"`, quotes included. Places beyond the eighth are cut.
pub(crate) fn push_scaled(text: &mut String, value: i128, scale: u32) {
    text.push('"');
    if value < 0 {
        text.push('-');
    }
    let magnitude = value.unsigned_abs();
    let at_eight = if scale <= PLACES {
        magnitude.saturating_mul(10_u128.pow(PLACES - scale))
    } else {
        magnitude / 10_u128.pow(scale - PLACES)
    };
    push_digits(text, at_eight, PLACES as usize);
    text.push('"');
}

/// Digits with a point before the last `places` of them; there is always one in front of it.
fn push_digits(text: &mut String, value: u128, places: usize) {
    let mut digits = [b'0'; 48];
    let mut at = digits.len();
    let mut written = 0;
    // Nearly every number fits a machine word, which divides much faster.
    let mut wide = value;
    let mut rest = loop {
        if let Ok(small) = u64::try_from(wide) {
            break small;
        }
        at -= 1;
        digits[at] = b'0' + (wide % 10) as u8;
        wide /= 10;
        written += 1;
        if written == places {
            at -= 1;
            digits[at] = b'.';
        }
    };
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        written += 1;
        if rest == 0 && written > places {
            break;
        }
        if written == places {
            at -= 1;
            digits[at] = b'.';
        }
    }
    text.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}

pub(crate) fn scaled(value: i128, scale: u32) -> String {
    let mut text = String::new();
    push_scaled(&mut text, value, scale);
    text.trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: i128, scale: u32, expected: &str) {
        assert_eq!(scaled(value, scale), expected);
    }

    #[test]
    fn decimals_have_eight_places() {
        check(0, 2, "0.00000000");
        check(9_640_012, 2, "96400.12000000");
        check(1_140, 8, "0.00001140");
        check(-5, 0, "-5.00000000");
        check(123_456_789_012, 10, "12.34567890");
        check(12_345_678_901_234_567_890_123, 8, "123456789012345.67890123");
        check(1, 8, "0.00000001");
    }

    #[test]
    fn integers_have_no_point() {
        for value in [0, 7, -7, 10, 1_616_025_600_000, i64::MAX, i64::MIN] {
            let mut text = String::new();
            push_i64(&mut text, value);
            assert_eq!(text, value.to_string());
        }
    }
}
