//! Tables as ISS writes them: named blocks of columns and rows, plain or extended, with or without
//! metadata. The endpoints decide which rows they have.

use std::fmt::Write;

use super::query::Query;

/// A value in a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    /// A decimal in millionths, written without needless zeros: 110, 294.5.
    Micros(i128),
    /// A decimal in millionths, written with exactly two places, as sums of money are: 6405.50.
    Money(i128),
    /// A binary fraction with its rounding error, as candles have it: 69.67999999999999.
    Float(f64),
    Text(String),
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn maybe(micros: Option<i64>) -> Self {
        micros.map_or(Self::Null, Self::price)
    }

    pub(crate) fn price(micros: i64) -> Self {
        Self::Micros(i128::from(micros))
    }

    /// A number rounded to `places` decimals.
    pub(crate) fn rounded(value: f64, places: u32) -> Self {
        let unit = 10_f64.powi(places.cast_signed());
        let whole = (value * unit).round() as i128;
        Self::Micros(whole * 10_i128.pow(6 - places.min(6)))
    }

    fn write(&self, text: &mut String) {
        // Writing to a string does not fail.
        let written = match self {
            Self::Null => write!(text, "null"),
            Self::Int(value) => write!(text, "{value}"),
            Self::Micros(micros) => {
                text.push_str(&decimal(*micros));
                Ok(())
            }
            Self::Money(micros) => {
                let hundredths = (micros + if *micros < 0 { -5_000 } else { 5_000 }) / 10_000;
                let sign = if hundredths < 0 { "-" } else { "" };
                let size = hundredths.unsigned_abs();
                write!(text, "{sign}{}.{:02}", size / 100, size % 100)
            }
            Self::Float(value) => write!(text, "{value}"),
            Self::Text(value) => write!(text, "{}", serde_json::Value::from(value.as_str())),
        };
        debug_assert!(written.is_ok());
    }
}

/// Millionths as a decimal without needless zeros.
fn decimal(micros: i128) -> String {
    let size = micros.unsigned_abs();
    let sign = if micros < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:06}", size / 1_000_000, size % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

/// The type of a column, for the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Int,
    Long,
    Double,
    Date,
    Time,
    DateTime,
    /// With its size in bytes.
    Text(u32),
}

impl Type {
    fn describe(self) -> String {
        match self {
            Self::Int => r#"{"type": "int32"}"#.to_owned(),
            Self::Long => r#"{"type": "int64"}"#.to_owned(),
            Self::Double => r#"{"type": "double"}"#.to_owned(),
            Self::Date => r#"{"type": "date", "bytes": 10, "max_size": 0}"#.to_owned(),
            Self::Time => r#"{"type": "time", "bytes": 10, "max_size": 0}"#.to_owned(),
            Self::DateTime => r#"{"type": "datetime", "bytes": 19, "max_size": 0}"#.to_owned(),
            Self::Text(bytes) => {
                format!(r#"{{"type": "string", "bytes": {bytes}, "max_size": 0}}"#)
            }
        }
    }
}

pub(crate) type Column = (&'static str, Type);

/// A named table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub(crate) name: &'static str,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Block {
    pub(crate) fn new(name: &'static str, columns: &[Column], rows: Vec<Vec<Cell>>) -> Self {
        debug_assert!(rows.iter().all(|row| row.len() == columns.len()), "{name}");
        Self { name, columns: columns.to_vec(), rows }
    }

    /// Keeps the requested columns in the requested order; unknown ones are ignored.
    fn choose(&mut self, names: &str) {
        let at: Vec<usize> = names
            .split(',')
            .filter_map(|name| {
                let name = name.trim();
                self.columns.iter().position(|(column, _)| column.eq_ignore_ascii_case(name))
            })
            .collect();
        self.columns = at.iter().map(|&at| self.columns[at]).collect();
        for row in &mut self.rows {
            *row = at.iter().map(|&at| row[at].clone()).collect();
        }
    }

    fn write_plain(&self, text: &mut String, meta: bool, data: bool) {
        text.push_str(&format!("\"{}\": {{", self.name));
        if meta {
            text.push_str("\n\t\"metadata\": {\n");
            for (at, (name, kind)) in self.columns.iter().enumerate() {
                let comma = if at + 1 < self.columns.len() { "," } else { "" };
                text.push_str(&format!("\t\t\"{name}\": {}{comma}\n", kind.describe()));
            }
            text.push_str("\t},");
        }
        let names: Vec<String> =
            self.columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        text.push_str(&format!("\n\t\"columns\": [{}], \n\t\"data\": [\n", names.join(", ")));
        let rows = if data { self.rows.as_slice() } else { &[] };
        for (at, row) in rows.iter().enumerate() {
            text.push_str("\t\t[");
            for (at, cell) in row.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                cell.write(text);
            }
            text.push_str(if at + 1 < rows.len() { "],\n" } else { "]\n" });
        }
        text.push_str("\t]\n}");
    }

    fn write_extended(&self, text: &mut String, data: bool) {
        text.push_str(&format!("\"{}\": [", self.name));
        let rows = if data { self.rows.as_slice() } else { &[] };
        for (at, row) in rows.iter().enumerate() {
            text.push_str(if at > 0 { ",\n\t{" } else { "\n\t{" });
            for (at, ((name, _), cell)) in self.columns.iter().zip(row).enumerate() {
                text.push_str(if at > 0 { ", \"" } else { "\"" });
                text.push_str(name);
                text.push_str("\": ");
                cell.write(text);
            }
            text.push('}');
        }
        text.push(']');
    }
}

/// Writes the blocks in the format of the query.
pub(crate) fn render(mut blocks: Vec<Block>, query: &Query) -> String {
    if let Some(only) = query.get("iss.only") {
        let selected: Vec<&str> = only.split(',').map(str::trim).collect();
        blocks.retain(|block| selected.iter().any(|name| name.eq_ignore_ascii_case(block.name)));
    }
    for block in &mut blocks {
        let columns = query.get(&format!("{}.columns", block.name));
        if let Some(columns) = columns.filter(|columns| !columns.is_empty()) {
            block.choose(columns);
        }
    }
    let off = |name: &str| query.get(name).is_some_and(|value| value == "off" || value == "0");
    let (meta, data) = (!off("iss.meta"), !off("iss.data"));
    let extended = query.get("iss.json") == Some("extended");
    let mut text = String::with_capacity(
        256 + blocks.iter().map(|block| block.rows.len()).sum::<usize>() * 120,
    );
    text.push_str(if extended {
        "[\n{\"charsetinfo\": {\"name\": \"utf-8\"}},\n{\n"
    } else {
        "{\n"
    });
    for (at, block) in blocks.iter().enumerate() {
        text.push_str(if at > 0 { ",\n" } else { "" });
        if extended {
            block.write_extended(&mut text, data);
        } else {
            block.write_plain(&mut text, meta, data);
        }
    }
    text.push_str(if extended { "}\n]\n" } else { "}\n" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(cell: Cell) -> String {
        let mut text = String::new();
        cell.write(&mut text);
        text
    }

    #[test]
    fn numbers_have_the_iss_format() {
        for (cell, text) in [
            (Cell::price(110_000_000), "110"),
            (Cell::price(294_500_000), "294.5"),
            (Cell::price(24_500), "0.0245"),
            (Cell::price(-340_000), "-0.34"),
            (Cell::Micros(0), "0"),
            (Cell::Money(6_405_500_000), "6405.50"),
            (Cell::Money(0), "0.00"),
            (Cell::Float(6_968.0 * 0.01), "69.68"),
            (Cell::Float(110.0), "110"),
            (Cell::rounded(-0.614, 2), "-0.61"),
            (Cell::text("\"Газпром\" ао"), "\"\\\"Газпром\\\" ао\""),
            (Cell::Null, "null"),
        ] {
            assert_eq!(written(cell.clone()), text, "{cell:?}");
        }
    }

    fn answer(query: &[(&str, &str)]) -> serde_json::Value {
        let columns = [("SECID", Type::Text(36)), ("LAST", Type::Double)];
        let rows = vec![vec![Cell::text("SBER"), Cell::price(1_500_000)]];
        let blocks = vec![Block::new("a", &columns, rows.clone()), Block::new("b", &columns, rows)];
        let query = query.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        serde_json::from_str(&render(blocks, &Query::new(query))).unwrap()
    }

    #[test]
    fn a_query_selects_format_blocks_and_columns() {
        let plain = answer(&[]);
        assert_eq!(plain["a"]["metadata"]["LAST"]["type"], "double");
        assert_eq!(plain["b"]["data"][0][1], 1.5);
        let chosen =
            answer(&[("iss.meta", "off"), ("iss.only", "b"), ("b.columns", "LAST,NOPE,SECID")]);
        let expected =
            serde_json::json!({"b": {"columns": ["LAST", "SECID"], "data": [[1.5, "SBER"]]}});
        assert_eq!(chosen, expected);
        let extended = answer(&[("iss.json", "extended"), ("iss.only", "a")]);
        let expected = serde_json::json!([
            {"charsetinfo": {"name": "utf-8"}}, {"a": [{"SECID": "SBER", "LAST": 1.5}]}
        ]);
        assert_eq!(extended, expected);
        assert_eq!(answer(&[("iss.data", "off")])["a"]["data"], serde_json::json!([]));
    }
}
