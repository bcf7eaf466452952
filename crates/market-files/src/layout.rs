//! Finds the column of each part of a bar by its heading.

use fault::Fault;
use spreadsheet::{list_headings, normalize_heading};

/// The column of each part of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) ticker: Option<usize>,
    /// The time, or the date if `time_of_day` has the time of day.
    pub(crate) time: usize,
    pub(crate) time_of_day: Option<usize>,
    /// Open, high, low, close.
    pub(crate) prices: [usize; 4],
    pub(crate) volume: Option<usize>,
}

const TICKER: &[&str] = &["ticker", "symbol", "code", "secid", "instrument", "тикер"];
const INSTANT: &[&str] = &["timestamp", "opentime", "datetime", "ts", "begin", "датаивремя"];
const DATE: &[&str] = &["date", "tradedate", "day", "дата"];
const TIME_OF_DAY: &[&str] = &["time", "tradetime", "время"];
const UNIX: &[&str] = &["unix"];
const OPEN: &[&str] = &["open", "o", "openprice", "открытие", "откр"];
const HIGH: &[&str] = &["high", "h", "highprice", "max", "максимум", "макс"];
const LOW: &[&str] = &["low", "l", "lowprice", "min", "минимум", "мин"];
const CLOSE: &[&str] =
    &["close", "c", "closeprice", "closelast", "last", "price", "закрытие", "закр", "цена"];
const VOLUME: &[&str] = &["volume", "vol", "v", "объем", "объём"];

impl Layout {
    /// Finds the columns by their headings, which may have any case, spaces, underscores and
    /// brackets.
    pub(crate) fn of_headings<T: AsRef<str>>(headings: &[T]) -> Result<Self, Fault> {
        let normalized: Vec<String> =
            headings.iter().map(|heading| normalize_heading(heading.as_ref())).collect();
        let find = |names: &[&str]| {
            names.iter().find_map(|name| normalized.iter().position(|heading| heading == name))
        };
        let (date, time_of_day) = (find(DATE), find(TIME_OF_DAY));
        let (time, time_of_day) = match (find(INSTANT), date, time_of_day) {
            (Some(instant), _, _) => (Some(instant), None),
            (None, Some(date), time_of_day) => (Some(date), time_of_day),
            (None, None, time_of_day) => (time_of_day.or_else(|| find(UNIX)), None),
        };
        let found = [time, find(OPEN), find(HIGH), find(LOW), find(CLOSE)];
        let [Some(time), Some(open), Some(high), Some(low), Some(close)] = found else {
            let headings = list_headings(headings.iter().map(AsRef::as_ref));
            return Err(missing(&found.map(|it| it.is_some()), &headings));
        };
        let prices = [open, high, low, close];
        Ok(Self { ticker: find(TICKER), time, time_of_day, prices, volume: find(VOLUME) })
    }

    /// The columns of files without headings, as exchanges publish them: time, open, high, low,
    /// close, volume.
    pub(crate) fn without_headings(columns: usize) -> Option<Self> {
        (columns >= 5).then_some(Self {
            ticker: None,
            time: 0,
            time_of_day: None,
            prices: [1, 2, 3, 4],
            volume: (columns > 5).then_some(5),
        })
    }

    /// How many columns a row must have.
    pub(crate) fn width(&self) -> usize {
        let columns = [self.ticker, self.volume, Some(self.time), self.time_of_day];
        columns.into_iter().flatten().chain(self.prices).max().unwrap_or(0) + 1
    }
}

/// The fault names the missing parts, the headings of the file, and every accepted name.
fn missing(found: &[bool; 5], headings: &str) -> Fault {
    let time = [INSTANT, DATE, TIME_OF_DAY, UNIX].concat();
    let parts: [(&str, &[&str]); 5] =
        [("time", &time), ("open", OPEN), ("high", HIGH), ("low", LOW), ("close", CLOSE)];
    let lacking: Vec<_> =
        parts.iter().zip(found).filter(|(_, found)| !**found).map(|(part, _)| part).collect();
    let names: Vec<&str> = lacking.iter().map(|(name, _)| *name).collect();
    let accepted: Vec<String> = lacking
        .iter()
        .map(|(name, names)| format!("the {name} may be named {}", names.join(", ")))
        .collect();
    let message = format!(
        "the file has no column for {} (its columns are: {headings}); {}; ticker and volume are \
         optional ({}; {})",
        names.join(", "),
        accepted.join("; "),
        TICKER.join(", "),
        VOLUME.join(", "),
    );
    let fault = Fault::invalid("missing_column", message);
    lacking.iter().fold(fault, |fault, (name, names)| {
        fault.problem(*name, format!("a column named one of {}", names.join(", ")))
    })
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
    fn many_spellings_of_headings_are_accepted() {
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
        check(
            "BOARDID,TRADEDATE,SECID,OPEN,LOW,HIGH,CLOSE,VOLUME",
            Some((Some(2), 1, [3, 5, 4, 6], Some(7))),
        );
        check("Дата,Цена,Откр.,Макс.,Мин.,Объём,Изм. %", Some((None, 0, [2, 3, 4, 1], Some(5))));
        check("Date,Close/Last,Volume,Open,High,Low", Some((None, 0, [3, 4, 5, 1], Some(2))));
        check("unix,date,symbol,open,high,low,close", Some((Some(2), 1, [3, 4, 5, 6], None)));
        check("time,open,high,low", None);
        check("open,high,low,close", None);
    }

    #[test]
    fn a_time_of_day_may_have_its_own_column() {
        let clock = |headings: &str| {
            let headings: Vec<&str> = headings.split(',').collect();
            Layout::of_headings(&headings).map(|it| (it.time, it.time_of_day)).unwrap()
        };
        assert_eq!(clock("<TICKER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>"), (1, Some(2)));
        assert_eq!(clock("timestamp,date,time,open,high,low,close"), (0, None));
        assert_eq!(clock("time,open,high,low,close"), (0, None));
    }

    #[test]
    fn the_fault_names_the_accepted_headings() {
        let fault = Layout::of_headings(&["day", "open", "high"]).unwrap_err();
        let message = fault.message();
        for part in [
            "no column for low, close",
            "its columns are: day, open, high",
            "low may be named low, l, lowprice",
            "ticker, symbol",
        ] {
            assert!(message.contains(part), "{message}");
        }
    }
}
