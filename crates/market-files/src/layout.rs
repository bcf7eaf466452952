//! Which column of a file is what, told by its heading.

use fault::Fault;

/// The place of each part of a bar among the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) ticker: Option<usize>,
    pub(crate) time: usize,
    /// Open, high, low, close.
    pub(crate) prices: [usize; 4],
    pub(crate) volume: Option<usize>,
}

const TICKER: &[&str] = &["ticker", "symbol", "code", "secid", "instrument"];
const TIME: &[&str] = &["timestamp", "opentime", "datetime", "ts", "time", "date", "begin", "unix"];
const OPEN: &[&str] = &["open", "o", "openprice"];
const HIGH: &[&str] = &["high", "h", "highprice"];
const LOW: &[&str] = &["low", "l", "lowprice"];
const CLOSE: &[&str] = &["close", "c", "closeprice"];
const VOLUME: &[&str] = &["volume", "vol", "v"];

impl Layout {
    /// Headings in any case, with or without spaces, underscores and brackets.
    pub(crate) fn of_headings<T: AsRef<str>>(headings: &[T]) -> Result<Self, Fault> {
        let plain: Vec<String> =
            headings.iter().map(|heading| simplify(heading.as_ref())).collect();
        let find = |names: &[&str]| {
            names.iter().find_map(|name| plain.iter().position(|heading| heading == name))
        };
        let need = |names: &[&str]| {
            find(names).ok_or_else(|| {
                let message = format!("the file has no column named {:?}", names[0]);
                Fault::invalid("missing_column", message)
                    .problem(names[0], format!("a column named one of {}", names.join(", ")))
            })
        };
        Ok(Self {
            ticker: find(TICKER),
            time: need(TIME)?,
            prices: [need(OPEN)?, need(HIGH)?, need(LOW)?, need(CLOSE)?],
            volume: find(VOLUME),
        })
    }

    /// Files without headings, as exchanges publish them: time, open, high, low, close, volume.
    pub(crate) fn of_bare_rows(columns: usize) -> Option<Self> {
        (columns >= 5).then_some(Self {
            ticker: None,
            time: 0,
            prices: [1, 2, 3, 4],
            volume: (columns > 5).then_some(5),
        })
    }

    /// How many columns a row must have.
    pub(crate) fn width(&self) -> usize {
        let places = [self.ticker, self.volume, Some(self.time)];
        places.into_iter().flatten().chain(self.prices).max().unwrap_or(0) + 1
    }
}

fn simplify(heading: &str) -> String {
    heading.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticker, time, prices, volume.
    type Places = (Option<usize>, usize, [usize; 4], Option<usize>);

    #[track_caller]
    fn check(headings: &str, expected: Option<Places>) {
        let headings: Vec<&str> = headings.split(',').collect();
        let found = Layout::of_headings(&headings).ok();
        let found = found.map(|it| (it.ticker, it.time, it.prices, it.volume));
        assert_eq!(found, expected, "{headings:?}");
    }

    #[test]
    fn headings_are_known_in_many_spellings() {
        check(
            "ticker,timestamp,open,high,low,close,volume",
            Some((Some(0), 1, [2, 3, 4, 5], Some(6))),
        );
        check("Date,Open,High,Low,Close,Adj Close,Volume", Some((None, 0, [1, 2, 3, 4], Some(6))));
        check("v,c,l,h,o,ts", Some((None, 5, [4, 3, 2, 1], Some(0))));
        check(
            "<TICKER>,<PER>,Open Time,<OPEN>,<HIGH>,<LOW>,<CLOSE>",
            Some((Some(0), 2, [3, 4, 5, 6], None)),
        );
        check("open_time,open,high,low,close_time,close", Some((None, 0, [1, 2, 3, 5], None)));
        check("time,open,high,low", None);
        check("open,high,low,close", None);
    }
}
