//! Numbers with a decimal point or a decimal comma, with and without thousands separators and
//! currency signs. A number that can be read in two ways is reported instead of guessed.

/// The character before the fraction of a number.
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

/// Finds out from the numbers of a table which decimal mark they use.
#[derive(Debug, Default)]
pub struct MarkEvidence {
    decided: Option<DecimalMark>,
    ambiguous: Option<String>,
}

impl MarkEvidence {
    /// Takes one number into account; ignores a text that is not a number.
    pub fn observe(&mut self, text: &str) {
        if self.decided.is_some() {
            return;
        }
        let number = without_currency(text);
        if !number
            .chars()
            .all(|c| c.is_ascii_digit() || is_thousands_space(c) || matches!(c, ',' | '.'))
        {
            return;
        }
        let (commas, points) = (number.matches(',').count(), number.matches('.').count());
        self.decided = match (commas, points) {
            (0, 0) => None,
            (1, 0) if is_surely_fraction(number, ',') => Some(DecimalMark::Comma),
            (0, 1) if is_surely_fraction(number, '.') => Some(DecimalMark::Point),
            (1, 0) => {
                self.ambiguous.get_or_insert_with(|| number.to_owned());
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

    /// Whether the numbers so far decide the mark; later numbers cannot change it.
    pub fn is_decided(&self) -> bool {
        self.decided.is_some()
    }

    /// The decimal mark; a point if no number has a mark. The error is the first number that can be
    /// read in two ways, such as `1,234`, when no other number decides.
    pub fn mark(self) -> Result<DecimalMark, String> {
        match (self.decided, self.ambiguous) {
            (Some(mark), _) => Ok(mark),
            (None, Some(number)) => Err(number),
            (None, None) => Ok(DecimalMark::Point),
        }
    }
}

/// Whether the one mark of a number cannot separate thousands: `1,5`, `0,125`, `12345,678`.
fn is_surely_fraction(number: &str, mark: char) -> bool {
    let Some((whole, fraction)) = number.split_once(mark) else { return false };
    fraction.len() != 3 || whole.starts_with('0') || whole.is_empty() || whole.len() > 3
}

/// The number with a decimal point and without thousands separators, currency sign or plus:
/// `1 290,50 ₽` is `1290.50`. `None` unless every group of thousands has three digits.
pub fn plain_number(text: &str, mark: DecimalMark) -> Option<String> {
    let text = text.trim();
    let (minus, text) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let number = without_currency(text);
    let (point, comma) = match mark {
        DecimalMark::Point => ('.', ','),
        DecimalMark::Comma => (',', '.'),
    };
    let (whole, fraction) = match number.split_once(point) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (number, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let mut groups = whole.split(|c| c == comma || is_thousands_space(c));
    let first = groups.next().filter(|it| digits(it))?;
    let mut joined = format!("{minus}{first}");
    for group in groups {
        if first.len() > 3 || group.len() != 3 || !digits(group) {
            return None;
        }
        joined.push_str(group);
    }
    match fraction {
        None => {}
        Some(fraction) if digits(fraction) => {
            joined.push('.');
            joined.push_str(fraction);
        }
        Some(_) => return None,
    }
    Some(joined)
}

/// The number without spaces, currency signs and plus signs around it.
fn without_currency(text: &str) -> &str {
    text.trim_matches(|c: char| matches!(c, '$' | '€' | '£' | '¥' | '₽' | '+') || c.is_whitespace())
}

/// Spaces and apostrophes that separate thousands.
fn is_thousands_space(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\'' | '\u{2019}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, point: Option<&str>, comma: Option<&str>) {
        assert_eq!(plain_number(text, DecimalMark::Point).as_deref(), point, "{text} with a point");
        assert_eq!(plain_number(text, DecimalMark::Comma).as_deref(), comma, "{text} with a comma");
    }

    #[test]
    fn separators_and_currency_signs_are_removed() {
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
            assert!(plain_number(text, DecimalMark::Point).is_none(), "{text}");
        }
    }

    #[track_caller]
    fn check_mark(numbers: &[&str], expected: Result<DecimalMark, &str>) {
        let mut evidence = MarkEvidence::default();
        numbers.iter().for_each(|it| evidence.observe(it));
        assert_eq!(evidence.mark(), expected.map_err(str::to_owned), "{numbers:?}");
    }

    #[test]
    fn the_mark_comes_from_the_numbers_or_is_unclear() {
        check_mark(&[], Ok(DecimalMark::Point));
        check_mark(&["1", "nan", "1.234"], Ok(DecimalMark::Point));
        check_mark(&["271,9"], Ok(DecimalMark::Comma));
        check_mark(&["1,234", "271,9"], Ok(DecimalMark::Comma));
        check_mark(&["1,234", "271.95"], Ok(DecimalMark::Point));
        check_mark(&["0,125"], Ok(DecimalMark::Comma));
        check_mark(&["1,234,567"], Ok(DecimalMark::Point));
        check_mark(&["1.234.567"], Ok(DecimalMark::Comma));
        check_mark(&["1.234,5"], Ok(DecimalMark::Comma));
        check_mark(&["1,234.5"], Ok(DecimalMark::Point));
        check_mark(&["1 290,00 ₽"], Ok(DecimalMark::Comma));
        check_mark(&["5", "1,234", "271,950"], Err("1,234"));
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
            let read = plain_number(&format!("{grouped},{cents:02} €"), DecimalMark::Comma);
            proptest::prop_assert_eq!(read, Some(format!("{whole}.{cents:02}")));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            plain_number(&text, DecimalMark::Comma);
            MarkEvidence::default().observe(&text);
        }
    }
}
