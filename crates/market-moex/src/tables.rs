//! ISS tables: named blocks of columns and rows. Columns are read by name, never by position, because
//! the exchange adds, removes and re-cases them.
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

/// One value of a table.
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
            // No column that is read here has nested values.
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
    /// Present instead of columns and rows when the exchange failed to read its data.
    error: Option<String>,
}

/// One block of a response.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    /// Positions of the columns by lower-case name.
    columns: HashMap<String, usize>,
    rows: Vec<Vec<Cell>>,
}

/// All blocks of one response.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tables(HashMap<String, Table>);

/// Why a response has no tables.
#[derive(Debug)]
pub(crate) enum IssError {
    /// It is not JSON of the expected shape.
    Malformed(serde_json::Error),
    /// The exchange reports an error with status 200.
    Failed(String),
}

impl fmt::Display for IssError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => write!(f, "{error}"),
            Self::Failed(message) => f.write_str(message),
        }
    }
}

impl Tables {
    pub(crate) fn read(body: &[u8]) -> Result<Self, IssError> {
        let raw: HashMap<String, &RawValue> =
            serde_json::from_slice(body).map_err(IssError::Malformed)?;
        let mut tables = HashMap::with_capacity(raw.len());
        for (name, block) in raw {
            // Other values beside the blocks are ignored.
            if !block.get().starts_with('{') {
                continue;
            }
            let block: RawTable = serde_json::from_str(block.get()).map_err(IssError::Malformed)?;
            if let Some(message) = block.error {
                return Err(IssError::Failed(message));
            }
            let names = block.columns.iter().map(|name| name.to_lowercase());
            let columns: HashMap<String, usize> = names.zip(0..).collect();
            let table = Table { columns, rows: block.data };
            if let Some(message) = table.error_text() {
                return Err(IssError::Failed(message));
            }
            tables.insert(name.to_lowercase(), table);
        }
        Ok(Self(tables))
    }

    /// A required block; if it has rows, these columns are required, too.
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

    /// The first row of an optional block.
    pub(crate) fn first(&self, name: &str) -> Option<Row<'_>> {
        self.0.get(name)?.rows().next()
    }
}

/// Parses a response body and reads every cell as every type; the number of cells that have a
/// column, `None` when the body has no tables.
pub(crate) fn read_every_cell(body: &[u8]) -> Option<usize> {
    let Tables(tables) = Tables::read(body).ok()?;
    let mut cells = 0;
    for table in tables.values() {
        for (row, name) in
            table.rows().flat_map(|row| table.columns.keys().map(move |it| (row, it)))
        {
            let _ = (row.price(name, 2), row.count(name), row.is_garbled(name));
            let _ = (row.date(name), row.time(name), row.datetime(name));
            cells += usize::from(row.cell(name).is_some());
        }
        let _ = (table.distinct(), table.shared_with(table));
    }
    Some(cells)
}

impl Table {
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { table: self, cells })
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// How many of its rows are also on another page.
    pub(crate) fn shared_with(&self, other: &Self) -> usize {
        self.rows.iter().filter(|row| other.rows.contains(row)).count()
    }

    /// The number of distinct rows.
    pub(crate) fn distinct(&self) -> usize {
        let before = |at: usize| self.rows.get(..at).unwrap_or_default();
        self.rows.iter().enumerate().filter(|(at, row)| !before(*at).contains(row)).count()
    }

    /// The text of a table whose only column is `error`.
    fn error_text(&self) -> Option<String> {
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

/// Column names are in lower case. A value that is absent, null or of another type is `None`.
impl<'a> Row<'a> {
    fn cell(self, name: &str) -> Option<&'a Cell> {
        self.cells.get(*self.table.columns.get(name)?)
    }

    pub(crate) fn number(self, name: &str) -> Option<Decimal> {
        match self.cell(name)? {
            Cell::Number(value) => Some(*value),
            // Some columns have numbers in quotes.
            Cell::Text(text) => number::parse(text.trim()),
            Cell::Null => None,
        }
    }

    /// Whether the value is a text that is not a number.
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

    /// The trimmed text; `None` when it is empty.
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

    /// `2024-02-15 18:09:06`, or a date alone, which means its midnight.
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
    fn dates_and_times_are_read_in_the_exchanges_forms() {
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
    fn a_missing_block_or_column_is_named_in_the_fault() {
        let tables =
            read(r#"{"t":{"columns":["a"],"data":[[1]]},"empty":{"columns":[],"data":[]}}"#);
        assert!(tables.need("gone", &[]).unwrap_err().message().contains("block gone"));
        let fault = tables.need("t", &["a", "b"]).unwrap_err();
        assert_eq!(fault.code(), "upstream_malformed");
        assert!(fault.message().contains("column b in block t"), "{fault}");
        assert_eq!(tables.need("empty", &["a"]).unwrap().len(), 0);
    }

    #[test]
    fn errors_with_status_200_are_recognized() {
        for text in [
            r#"{"history":{"error":"Error while acquiring data."}}"#,
            r#"{"history":{"columns":["error"],"data":[["Error while acquiring data."]]}}"#,
        ] {
            let error = Tables::read(text.as_bytes()).unwrap_err();
            assert!(matches!(error, IssError::Failed(message) if message.starts_with("Error")));
        }
        for text in ["[]", "{", "7", r#"{"t":{"columns":7}}"#, r#"{"t":{"data":[[1e99]]}}"#] {
            let error = Tables::read(text.as_bytes()).unwrap_err();
            assert!(matches!(error, IssError::Malformed(_)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in r#"[\[\]{}",:a-z0-9. -]{0,60}"#) {
            let _ = read_every_cell(format!(r#"{{"t":{text}}}"#).as_bytes());
        }
    }
}
