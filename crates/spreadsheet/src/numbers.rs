//! Numbers with a decimal point or a decimal comma, with and without thousands separators and
//! currency signs. A number that can be read in two ways is reported instead of guessed.

/// Which character stands before the fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DecimalMark {
    #[default]
    Point,
    Comma,
}

impl DecimalMark {
    pub fn byte(self) -> u8 {
        match self {
            Self::Point => b'.',
            Self::Comma => b',',
        }
    }
}

/// What the numbers of a table show about their decimal mark.
#[derive(Debug, Default)]
pub struct MarkEvidence {
    shown: Option<DecimalMark>,
    unclear: Option<String>,
}

impl MarkEvidence {
    /// Takes one number into account; a text that is no number shows nothing.
    pub fn look(&mut self, text: &str) {
        if self.shown.is_some() {
            return;
        }
        let number = bare(text);
        if !number.chars().all(|c| c.is_ascii_digit() || is_gap(c) || matches!(c, ',' | '.')) {
            return;
        }
        let (commas, points) = (number.matches(',').count(), number.matches('.').count());
        self.shown = match (commas, points) {
            (0, 0) => None,
            (1, 0) if fraction_is_sure(number, ',') => Some(DecimalMark::Comma),
            (0, 1) if fraction_is_sure(number, '.') => Some(DecimalMark::Point),
            (1, 0) => {
                self.unclear.get_or_insert_with(|| number.to_owned());
                None
            }
            // One point before three digits is a decimal point unless another number has a comma.
            (0, 1) => None,
            (_, 0) => Some(DecimalMark::Point),
            (0, _) => Some(DecimalMark::Comma),
            _ if number.rfind(',') > number.rfind('.') => Some(DecimalMark::Comma),
            _ => Some(DecimalMark::Point),
        };
    }

    /// Whether another number could change the answer.
    pub fn is_settled(&self) -> bool {
        self.shown.is_some()
    }

    /// The mark; the error is a number that can be read in two ways where none shows the mark.
    pub fn mark(self) -> Result<DecimalMark, String> {
        match (self.shown, self.unclear) {
            (Some(mark), _) => Ok(mark),
            (None, Some(number)) => Err(number),
            (None, None) => Ok(DecimalMark::Point),
        }
    }
}

/// Whether the one mark of a number cannot separate thousands: `1,5`, `0,125`, `12345,678`.
fn fraction_is_sure(number: &str, mark: char) -> bool {
    let Some((whole, fraction)) = number.split_once(mark) else { return false };
    fraction.len() != 3 || whole.starts_with('0') || whole.is_empty() || whole.len() > 3
}

/// The number with a decimal point and without thousands separators, currency sign or plus:
/// `1 290,50 ₽` is `1290.50`. A group of thousands has three digits, else there is no number.
pub fn plain(text: &str, mark: DecimalMark) -> Option<String> {
    let text = text.trim();
    let (minus, text) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let number = bare(text);
    let (point, comma) = match mark {
        DecimalMark::Point => ('.', ','),
        DecimalMark::Comma => (',', '.'),
    };
    let (whole, fraction) = match number.split_once(point) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (number, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let mut groups = whole.split(|c| c == comma || is_gap(c));
    let first = groups.next().filter(|it| digits(it))?;
    let mut plain = format!("{minus}{first}");
    for group in groups {
        if first.len() > 3 || group.len() != 3 || !digits(group) {
            return None;
        }
        plain.push_str(group);
    }
    match fraction {
        None => {}
        Some(fraction) if digits(fraction) => {
            plain.push('.');
            plain.push_str(fraction);
        }
        Some(_) => return None,
    }
    Some(plain)
}

/// The number without spaces, signs of currencies and a plus around it.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| matches!(c, '$' | '€' | '£' | '¥' | '₽' | '+') || c.is_whitespace())
}

/// What separates thousands besides commas and points.
fn is_gap(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\'' | '\u{2019}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, point: Option<&str>, comma: Option<&str>) {
        assert_eq!(plain(text, DecimalMark::Point).as_deref(), point, "{text} with a point");
        assert_eq!(plain(text, DecimalMark::Comma).as_deref(), comma, "{text} with a comma");
    }

    #[test]
    fn numbers_lose_what_is_no_number() {
        check("12", Some("12"), Some("12"));
        check("271,9", None, Some("271.9"));
        check("271.9", Some("271.9"), None);
        check("1,234", Some("1234"), Some("1.234"));
        check("1,234,567.89", Some("1234567.89"), None);
        check("1.234.567,89", None, Some("1234567.89"));
        check("1 290,00 ₽", None, Some("1290.00"));
        check("1\u{a0}290\u{202f}000", Some("1290000"), Some("1290000"));
        check("$12.90", Some("12.90"), None);
        check("-1'000.5", Some("-1000.5"), None);
        check("+7", Some("7"), Some("7"));
        for text in
            ["", "-", "$", "1,23,456", "12,3456", "1 23", "1..2", ",5", "5,", "x", "1234 567"]
        {
            assert!(plain(text, DecimalMark::Point).is_none(), "{text}");
        }
    }

    #[track_caller]
    fn shows(numbers: &[&str], expected: Result<DecimalMark, &str>) {
        let mut evidence = MarkEvidence::default();
        numbers.iter().for_each(|it| evidence.look(it));
        assert_eq!(evidence.mark(), expected.map_err(str::to_owned), "{numbers:?}");
    }

    #[test]
    fn the_mark_is_shown_by_the_numbers_or_asked_for() {
        shows(&[], Ok(DecimalMark::Point));
        shows(&["1", "nan", "1.234"], Ok(DecimalMark::Point));
        shows(&["271,9"], Ok(DecimalMark::Comma));
        shows(&["1,234", "271,9"], Ok(DecimalMark::Comma));
        shows(&["1,234", "271.95"], Ok(DecimalMark::Point));
        shows(&["0,125"], Ok(DecimalMark::Comma));
        shows(&["1,234,567"], Ok(DecimalMark::Point));
        shows(&["1.234.567"], Ok(DecimalMark::Comma));
        shows(&["1.234,5"], Ok(DecimalMark::Comma));
        shows(&["1,234.5"], Ok(DecimalMark::Point));
        shows(&["1 290,00 ₽"], Ok(DecimalMark::Comma));
        shows(&["5", "1,234", "271,950"], Err("1,234"));
    }

    proptest::proptest! {
        #[test]
        fn a_written_number_is_read_back(whole in 0_u64..10_000_000, cents in 0_u32..100) {
            let digits = whole.to_string();
            let mut grouped = String::new();
            for (at, digit) in digits.chars().enumerate() {
                if at > 0 && (digits.len() - at).is_multiple_of(3) {
                    grouped.push('.');
                }
                grouped.push(digit);
            }
            let read = plain(&format!("{grouped},{cents:02} €"), DecimalMark::Comma);
            proptest::prop_assert_eq!(read, Some(format!("{whole}.{cents:02}")));
        }

        #[test]
        fn no_text_is_too_strange(text in ".{0,40}") {
            plain(&text, DecimalMark::Comma);
            MarkEvidence::default().look(&text);
        }
    }
}
