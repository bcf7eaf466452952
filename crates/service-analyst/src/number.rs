//! Formats numbers and dates for readers, in Russian and in English.

use jiff::civil::Date;
use text::months;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Russian,
    English,
}

impl Language {
    pub const fn code(self) -> &'static str {
        match self {
            Self::Russian => "ru",
            Self::English => "en",
        }
    }

    /// Returns the text in this language.
    pub(crate) fn pick<'a>(self, russian: &'a str, english: &'a str) -> &'a str {
        match self {
            Self::Russian => russian,
            Self::English => english,
        }
    }
}

/// «15 марта 2024», "15 March 2024".
pub(crate) fn date(date: Date, language: Language) -> String {
    let name = match language {
        Language::Russian => months::russian,
        Language::English => months::english,
    };
    let month = u8::try_from(date.month()).ok().and_then(name).unwrap_or_default();
    format!("{} {month} {}", date.day(), date.year())
}

/// Returns the five written forms of a date, the complete forms first.
pub(crate) fn date_forms(it: Date, language: Language) -> [String; 5] {
    let dotted = format!("{:02}.{:02}.{}", it.day(), it.month(), it.year());
    let whole = date(it, language);
    let year = it.year().to_string();
    let short = whole.trim_end_matches(&year).trim_end().to_owned();
    [whole, dotted, it.to_string(), short, year]
}

/// Formats a number with `digits` digits after the decimal point, grouped thousands and the minus
/// sign U+2212.
pub(crate) fn number(value: f64, digits: usize, language: Language) -> String {
    let text = format!("{:.digits$}", value.abs());
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let (group, point) = match language {
        Language::Russian => ('\u{a0}', ','),
        Language::English => (',', '.'),
    };
    let mut shown = String::new();
    let negative = value < 0.0 && text.chars().any(|it| it.is_ascii_digit() && it != '0');
    if negative {
        shown.push('−');
    }
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            shown.push(group);
        }
        shown.push(digit);
    }
    if !part.is_empty() {
        shown.push(point);
        shown.push_str(part);
    }
    shown
}

/// Returns how many digits after the point a price needs: two to six.
pub(crate) fn price_digits(value: f64) -> usize {
    let text = format!("{value:.6}");
    let after = text.trim_end_matches('0').split_once('.').map_or(0, |(_, after)| after.len());
    after.clamp(2, 6)
}

/// Scales a large number down and returns it with the word for its scale.
pub(crate) fn scaled(value: f64, language: Language) -> (f64, &'static str) {
    let scales = [(1e12, "трлн", "tn"), (1e9, "млрд", "bn"), (1e6, "млн", "m")];
    let found = scales.iter().find(|(scale, ..)| value.abs() >= *scale);
    found.map_or((value, ""), |(scale, ru, en)| (value / scale, language.pick(ru, en)))
}

/// Returns the sign of a currency.
pub(crate) fn currency(code: &str) -> &str {
    match code {
        "RUB" | "SUR" => "₽",
        "USD" => "$",
        "EUR" => "€",
        "CNY" => "¥",
        other => other,
    }
}

/// Returns the word form that agrees with a number: 1 день, 2 дня, 5 дней.
pub(crate) fn agree<'a>(count: u64, one: &'a str, few: &'a str, many: &'a str) -> &'a str {
    match (count % 100, count % 10) {
        (11..=14, _) => many,
        (_, 1) => one,
        (_, 2..=4) => few,
        _ => many,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_conventions_of_the_language() {
        use Language::{English, Russian};
        assert_eq!(number(1_234_567.891, 2, Russian), "1\u{a0}234\u{a0}567,89");
        assert_eq!(number(-0.5, 2, Russian), "−0,50");
        assert_eq!(number(-0.001, 2, Russian), "0,00");
        assert_eq!(number(1_234.5, 1, English), "1,234.5");
        assert_eq!(number(999.0, 0, English), "999");
        assert_eq!(price_digits(271.5), 2);
        assert_eq!(price_digits(0.07144), 5);
        assert_eq!(price_digits(2_386.589_600_000_1), 4);
        assert_eq!(date(jiff::civil::date(2024, 3, 5), Russian), "5 марта 2024");
    }

    #[track_caller]
    fn check(count: u64, expected: &str) {
        assert_eq!(agree(count, "день", "дня", "дней"), expected, "{count}");
    }

    #[test]
    fn words_agree_with_numbers() {
        for (count, word) in [(1, "день"), (2, "дня"), (5, "дней"), (11, "дней"), (12, "дней")]
        {
            check(count, word);
        }
        for (count, word) in [(21, "день"), (22, "дня"), (25, "дней"), (111, "дней"), (0, "дней")]
        {
            check(count, word);
        }
    }
}
