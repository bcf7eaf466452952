//! Checks arguments that a schema cannot check: tickers, boards, and the order of dates.

use clock::parse_date;
use fault::Fault;
use jiff::civil::Date;

/// The most days of one request for daily candles.
pub(crate) const DAYS_MAX_DAILY: i64 = 3_660;
/// The most days of one request for hourly candles.
pub(crate) const DAYS_MAX_HOURLY: i64 = 730;

/// Parses a ticker with or without the prefix of the venue: `SBER`, `MOEX:SBER`.
pub(crate) fn ticker(field: &str, text: &str) -> Result<String, Fault> {
    let text = text.trim();
    let prefixed = text.split_once(':').filter(|(venue, _)| venue.eq_ignore_ascii_case("MOEX"));
    plain_code(prefixed.map_or(text, |(_, code)| code)).ok_or_else(|| {
        let expected = "letters of the Latin alphabet and digits, such as SBER";
        let message = format!("{field}: expected {expected}; search_securities finds a ticker");
        Fault::invalid("invalid_ticker", message).problem(field, expected)
    })
}

pub(crate) fn board(field: &str, text: &str) -> Result<String, Fault> {
    plain_code(text).ok_or_else(|| {
        let expected = "a board of the exchange, such as TQBR";
        let message = format!("{field}: expected {expected}");
        Fault::invalid("invalid_board", message).problem(field, expected)
    })
}

/// The trimmed text in upper case; `None` unless it has only Latin letters, digits, `-` and `_`.
fn plain_code(text: &str) -> Option<String> {
    let code = text.trim().to_uppercase();
    let is_allowed =
        |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    (!code.is_empty() && code.chars().all(is_allowed)).then_some(code)
}

pub(crate) fn date(field: &str, text: &str) -> Result<Date, Fault> {
    parse_date(text).ok_or_else(|| {
        let expected = "a date as YYYY-MM-DD";
        let message = format!("{field}: expected {expected}");
        Fault::invalid("invalid_date", message).problem(field, expected)
    })
}

/// Parses two dates and checks their order and distance.
pub(crate) fn period(from: &str, to: &str, days_max: i64) -> Result<(Date, Date), Fault> {
    let (from, to) = (date("from_date", from)?, date("to_date", to)?);
    if to < from {
        let message = format!("to_date: expected a date not before from_date ({to} is)");
        return Err(Fault::invalid("reversed_dates", message)
            .problem("to_date", format!("a date not before {from}")));
    }
    let days = day_count(from, to);
    if days > days_max {
        let message = format!("the period has {days} days; one request has at most {days_max}");
        return Err(Fault::invalid("range_too_long", message)
            .problem("from_date", format!("at most {days_max} days before to_date")));
    }
    Ok((from, to))
}

/// The number of days from one date to the other, both included.
pub(crate) fn day_count(from: Date, to: Date) -> i64 {
    i64::from((to - from).get_days()) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_ticker(text: &str, expected: Option<&str>) {
        assert_eq!(ticker("ticker", text).ok().as_deref(), expected, "{text}");
    }

    #[test]
    fn tickers_are_trimmed_and_upper_cased_or_refused() {
        check_ticker(" sber ", Some("SBER"));
        check_ticker("RU000A0JX0J2", Some("RU000A0JX0J2"));
        check_ticker("MOEX:SBER", Some("SBER"));
        check_ticker(" moex:sber", Some("SBER"));
        for bad in ["MOEX:", "BINANCE:BTCUSDT", "MOEX:MOEX:SBER", ":SBER"] {
            check_ticker(bad, None);
        }
        for bad in ["", "  ", "СБЕР", "SB ER", "../x", "SBER?", "a/b"] {
            check_ticker(bad, None);
            assert_eq!(board("board", bad).unwrap_err().code(), "invalid_board", "{bad}");
        }
        assert_eq!(board("board", " tqbr").unwrap(), "TQBR");
    }

    #[track_caller]
    fn check_period(from: &str, to: &str, expected: Result<i64, &str>) {
        let found = period(from, to, 730).map(|(from, to)| day_count(from, to));
        assert_eq!(found.as_ref().map_err(Fault::code).copied(), expected, "{from} {to}");
    }

    #[test]
    fn periods_are_ordered_and_bounded() {
        check_period("2024-01-01", "2024-01-01", Ok(1));
        check_period("2024-01-01", "2024-12-31", Ok(366));
        check_period("2024-01-01", "2025-12-30", Ok(730));
        check_period("2024-01-01", "2025-12-31", Err("range_too_long"));
        check_period("2024-01-02", "2024-01-01", Err("reversed_dates"));
        check_period("2024-02-30", "2024-03-01", Err("invalid_date"));
    }
}
