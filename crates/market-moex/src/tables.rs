//! The exchange's tables: named blocks of columns and rows, read by name and never by position,
//! because columns come, go and change their case.
//!
//! ```json
//! {"candles": {"columns": ["open", "close", "high", "low", "value", "volume", "begin", "end"],
//!              "data": [[289.3, 289.6, 290.45, 287.63, 5716579901, 19791080,
//!                        "2024-02-15 00:00:00", "2024-02-15 23:59:59"]]}}
//! ```

use std::collections::HashMap;
use std::fmt;

use clock::parse_date;
use fault::Fault;
use jiff::civil::{Date, DateTime, Time};
use market::Decimal;
use serde::Deserialize;
use serde::de::{self, Deserializer};
use serde_json::value::RawValue;

use crate::number;

/// A value as it came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Number(Decimal),
    Text(String),
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        Ok(match raw.as_bytes().first() {
            Some(b'"') => Self::Text(serde_json::from_str(raw).map_err(de::Error::custom)?),
            Some(b'-' | b'0'..=b'9') => {
                Self::Number(number::parse(raw).ok_or_else(|| de::Error::custom("a number"))?)
            }
            Some(b't') => Self::Number(Decimal::from_parts(1, 0).unwrap_or(Decimal::ZERO)),
            Some(b'f') => Self::Number(Decimal::ZERO),
            // Nothing that is read here is ever nested.
            _ => Self::Null,
        })
    }
}

#[derive(Deserialize)]
struct RawTable {
    #[serde(default)]
    columns: Vec<String>,
    #[serde(default)]
    data: Vec<Vec<Cell>>,
    /// In place of columns and rows when the exchange could not fill them.
    error: Option<String>,
}

/// One block.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    /// Lower case, with their positions.
    columns: HashMap<String, usize>,
    rows: Vec<Vec<Cell>>,
}

/// All blocks of one answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tables(HashMap<String, Table>);

/// Why an answer is not one.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// Not the shape that answers have.
    Malformed(serde_json::Error),
    /// The exchange says, in an answer that looks well, that it failed.
    Failed(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => write!(f, "{error}"),
            Self::Failed(said) => f.write_str(said),
        }
    }
}

impl Tables {
    pub(crate) fn read(body: &[u8]) -> Result<Self, Unreadable> {
        let raw: HashMap<String, &RawValue> =
            serde_json::from_slice(body).map_err(Unreadable::Malformed)?;
        let mut tables = HashMap::with_capacity(raw.len());
        for (name, block) in raw {
            // What else may stand beside the blocks is none of ours.
            if !block.get().starts_with('{') {
                continue;
            }
            let block: RawTable =
                serde_json::from_str(block.get()).map_err(Unreadable::Malformed)?;
            if let Some(said) = block.error {
                return Err(Unreadable::Failed(said));
            }
            let names = block.columns.iter().map(|name| name.to_lowercase());
            let columns: HashMap<String, usize> = names.zip(0..).collect();
            let table = Table { columns, rows: block.data };
            if let Some(said) = table.said_error() {
                return Err(Unreadable::Failed(said));
            }
            tables.insert(name.to_lowercase(), table);
        }
        Ok(Self(tables))
    }

    /// A block that must be there; where it has rows, these columns must be as well.
    pub(crate) fn need(&self, name: &str, columns: &[&str]) -> Result<&Table, Fault> {
        let missing = |what: String| {
            let message = format!("the exchange's answer has no {what}");
            Fault::unavailable("upstream_malformed", message)
        };
        let table = self.0.get(name).ok_or_else(|| missing(format!("block {name}")))?;
        match columns.iter().find(|it| !table.columns.contains_key(**it)) {
            Some(column) if !table.rows.is_empty() => {
                Err(missing(format!("column {column} in block {name}")))
            }
            _ => Ok(table),
        }
    }

    /// A block that may be absent.
    pub(crate) fn first(&self, name: &str) -> Option<Row<'_>> {
        self.0.get(name)?.rows().next()
    }
}

impl Table {
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { table: self, cells })
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// How many of its rows another page has as well.
    pub(crate) fn shared_with(&self, other: &Self) -> usize {
        self.rows.iter().filter(|row| other.rows.contains(row)).count()
    }

    /// How many different rows it has.
    pub(crate) fn distinct(&self) -> usize {
        let before = |at: usize| self.rows.get(..at).unwrap_or_default();
        self.rows.iter().enumerate().filter(|(at, row)| !before(*at).contains(row)).count()
    }

    /// A lone column that is called an error.
    fn said_error(&self) -> Option<String> {
        if self.columns.len() != 1 || !self.columns.contains_key("error") {
            return None;
        }
        Some(self.rows().next()?.text("error")?.to_owned())
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    table: &'a Table,
    cells: &'a [Cell],
}

/// Names are given in lower case. What is absent, null or of another kind is `None`.
impl<'a> Row<'a> {
    fn cell(self, name: &str) -> Option<&'a Cell> {
        self.cells.get(*self.table.columns.get(name)?)
    }

    pub(crate) fn number(self, name: &str) -> Option<Decimal> {
        match self.cell(name)? {
            Cell::Number(value) => Some(*value),
            // Some clients' fixtures, and some columns, have numbers in quotes.
            Cell::Text(text) => number::parse(text.trim()),
            Cell::Null => None,
        }
    }

    /// Something stands there that is no number, where one is expected.
    pub(crate) fn is_garbled(self, name: &str) -> bool {
        matches!(self.cell(name), Some(Cell::Text(_))) && self.number(name).is_none()
    }

    pub(crate) fn price(self, name: &str, decimals: u8) -> Option<Decimal> {
        self.number(name).and_then(|value| number::round(value, decimals))
    }

    pub(crate) fn integer(self, name: &str) -> Option<i64> {
        self.number(name)?.round_to_integer()
    }

    pub(crate) fn count(self, name: &str) -> Option<u64> {
        u64::try_from(self.integer(name)?).ok()
    }

    /// Without blanks around it; `None` where nothing is left.
    pub(crate) fn text(self, name: &str) -> Option<&'a str> {
        match self.cell(name)? {
            Cell::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    pub(crate) fn owned(self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    pub(crate) fn date(self, name: &str) -> Option<Date> {
        parse_date(self.text(name)?.get(..10)?)
    }

    pub(crate) fn time(self, name: &str) -> Option<Time> {
        self.text(name)?.parse().ok()
    }

    /// `2024-02-15 18:09:06`, or a date alone, which is its midnight.
    pub(crate) fn datetime(self, name: &str) -> Option<DateTime> {
        let text = self.text(name)?;
        let date = parse_date(text.get(..10)?)?;
        match text.get(11..) {
            None => Some(date.to_datetime(Time::midnight())),
            Some(time) => Some(date.to_datetime(time.parse().ok()?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Tables {
        Tables::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn cells_are_found_by_name_in_any_case_and_order() {
        for columns in [r#"["LAST","SECID","TIME"]"#, r#"["Last","secid","Time"]"#] {
            let text = format!(
                r#"{{"marketdata":{{"metadata":{{"x":1}},"columns":{columns},
                "data":[[128.10,"ABC","23:49:58"],[null,"DEF",null],["7.5",4,true]]}}}}"#
            );
            let tables = read(&text);
            let rows: Vec<_> = tables.need("marketdata", &["last"]).unwrap().rows().collect();
            assert_eq!(rows[0].number("last").unwrap().to_string(), "128.10");
            assert_eq!((rows[0].text("secid"), rows[1].number("last")), (Some("ABC"), None));
            assert_eq!(rows[0].time("time"), Some(Time::constant(23, 49, 58, 0)));
            assert_eq!((rows[2].integer("last"), rows[2].text("secid")), (Some(8), None));
            assert_eq!((rows[2].count("time"), rows[0].number("gone")), (Some(1), None));
        }
    }

    #[test]
    fn times_and_dates_are_read_in_the_forms_that_come() {
        let tables = read(
            r#"{"t":{"columns":["a","b","c","d"],
            "data":[["2024-02-15 18:09:06","2024-02-15","0000-00-00","2024-02-15 25:00:00"]]}}"#,
        );
        let row = tables.first("t").unwrap();
        assert_eq!(row.datetime("a").unwrap().to_string(), "2024-02-15T18:09:06");
        assert_eq!(row.datetime("b").unwrap().to_string(), "2024-02-15T00:00:00");
        assert_eq!((row.date("c"), row.datetime("d")), (None, None));
        assert_eq!(row.date("a").unwrap().to_string(), "2024-02-15");
    }

    #[test]
    fn what_must_be_there_is_named_when_it_is_not() {
        let tables =
            read(r#"{"t":{"columns":["a"],"data":[[1]]},"empty":{"columns":[],"data":[]}}"#);
        assert!(tables.need("gone", &[]).unwrap_err().message().contains("block gone"));
        let fault = tables.need("t", &["a", "b"]).unwrap_err();
        assert_eq!(fault.code(), "upstream_malformed");
        assert!(fault.message().contains("column b in block t"), "{fault}");
        assert_eq!(tables.need("empty", &["a"]).unwrap().len(), 0);
    }

    #[test]
    fn errors_in_good_looking_answers_are_errors() {
        for text in [
            r#"{"history":{"error":"Error while acquiring data."}}"#,
            r#"{"history":{"columns":["error"],"data":[["Error while acquiring data."]]}}"#,
        ] {
            let unreadable = Tables::read(text.as_bytes()).unwrap_err();
            assert!(matches!(unreadable, Unreadable::Failed(said) if said.starts_with("Error")));
        }
        for text in ["[]", "{", "7", r#"{"t":{"columns":7}}"#, r#"{"t":{"data":[[1e99]]}}"#] {
            let unreadable = Tables::read(text.as_bytes()).unwrap_err();
            assert!(matches!(unreadable, Unreadable::Malformed(_)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(text in r#"[\[\]{}",:a-z0-9. -]{0,60}"#) {
            drop(Tables::read(format!(r#"{{"t":{text}}}"#).as_bytes()));
        }
    }
}
