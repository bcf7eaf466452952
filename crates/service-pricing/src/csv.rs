//! Reads tables as spreadsheets write them: commas, semicolons or tabs, quotes where needed, a
//! first line of names. It does not know what the columns mean.

use std::collections::HashMap;
use std::io::{Chain, Read as _};

use csv::{ReaderBuilder, StringRecord, Terminator};

/// The most columns of a table.
const COLUMNS_MAX: usize = 200;
/// One more line after the text. A quote that is never closed takes this line into its field, and
/// that is how it is found: the `csv` crate ends an open field at the end of the input silently.
const LAST_LINE: &str = "\n.";

/// The rows of a table, each as its fields by name; lines are counted as an editor counts them.
pub(crate) struct Table<'a> {
    names: Vec<String>,
    headings: Vec<String>,
    records: Records<'a>,
}

/// A line that cannot be read, and why.
#[derive(Debug, PartialEq)]
pub(crate) struct BadLine {
    pub(crate) line: usize,
    pub(crate) why: String,
}

impl BadLine {
    fn new(line: usize, why: impl Into<String>) -> Self {
        Self { line, why: why.into() }
    }
}

/// One row: the line on which it begins, and its fields by name without the empty ones.
#[derive(Debug, PartialEq)]
pub(crate) struct CsvRow {
    pub(crate) line: usize,
    pub(crate) fields: HashMap<String, String>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Self, BadLine> {
        let text = text.trim_start_matches('\u{feff}');
        let head = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let count = |it: &char| head.matches(*it).count();
        let comma = [',', ';', '\t'].into_iter().rev().max_by_key(count).unwrap_or(',');
        let mut records = Records::new(text, comma);
        let Some((line, names)) = records.next().transpose()? else {
            return Err(BadLine::new(1, "the file is empty"));
        };
        if names.len() > COLUMNS_MAX {
            return Err(BadLine::new(line, format!("more than {COLUMNS_MAX} columns")));
        }
        let headings: Vec<String> = names.iter().map(|it| it.trim().to_owned()).collect();
        let names = headings.iter().map(|it| it.to_lowercase()).collect();
        Ok(Self { names, headings, records })
    }

    /// The names as the file spells them.
    pub(crate) fn headings(&self) -> &[String] {
        &self.headings
    }
}

impl Iterator for Table<'_> {
    type Item = Result<CsvRow, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        let (line, record) = match self.records.next()? {
            Ok(read) => read,
            Err(bad) => return Some(Err(bad)),
        };
        if record.len() > self.names.len() {
            let why = format!("{} fields under {} names", record.len(), self.names.len());
            return Some(Err(BadLine::new(line, why)));
        }
        let named = self.names.iter().zip(record.iter().map(str::trim));
        let given = named.filter(|(_, value)| !value.is_empty());
        let fields = given.map(|(name, value)| (name.clone(), value.to_owned())).collect();
        Some(Ok(CsvRow { line, fields }))
    }
}

/// The records of a text that are not blank, each with the line it begins on.
struct Records<'a> {
    text: &'a str,
    reader: csv::Reader<Chain<&'a [u8], &'static [u8]>>,
    /// How much of the text is counted into `line`.
    counted: usize,
    line: usize,
}

impl<'a> Records<'a> {
    fn new(text: &'a str, comma: char) -> Self {
        let mut format = ReaderBuilder::new();
        // A carriage return before the end of a line is trimmed with the field.
        format.has_headers(false).flexible(true).terminator(Terminator::Any(b'\n'));
        format.delimiter(u8::try_from(comma).unwrap_or(b','));
        let reader = format.from_reader(text.as_bytes().chain(LAST_LINE.as_bytes()));
        Self { text, reader, counted: 0, line: 1 }
    }

    /// The line of the record that begins at this byte or after the empty lines that follow it.
    fn line_at(&mut self, begin: usize) -> usize {
        let rest = self.text.get(begin..).unwrap_or_default();
        let begin = begin + (rest.len() - rest.trim_start_matches('\n').len());
        let skipped = self.text.get(self.counted..begin).unwrap_or_default();
        self.line += skipped.matches('\n').count();
        self.counted = begin;
        self.line
    }
}

impl Iterator for Records<'_> {
    type Item = Result<(usize, StringRecord), BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let begin = self.reader.position().byte() as usize;
            let mut record = StringRecord::new();
            let read = self.reader.read_record(&mut record);
            let line = self.line_at(begin);
            if self.counted >= self.text.len() {
                return None;
            }
            if let Err(error) = read {
                return Some(Err(BadLine::new(line, error.to_string())));
            }
            // The line break of `LAST_LINE` ends the last record, and nothing may go beyond it.
            if self.reader.position().byte() as usize > self.text.len() + 1 {
                return Some(Err(BadLine::new(line, "a quote that is never closed")));
            }
            if let Some(field) = record.iter().find(|it| is_quoted_after_space(it)) {
                let why = format!("a space before the quote of {}; remove it", field.trim());
                return Some(Err(BadLine::new(line, why)));
            }
            if record.iter().any(|it| !it.trim().is_empty()) {
                return Some(Ok((line, record)));
            }
        }
    }
}

/// Whether a field is ` "…`: after a blank the quote is an ordinary character, not the beginning of
/// a quoted field.
fn is_quoted_after_space(field: &str) -> bool {
    field.starts_with([' ', '\t']) && field.trim_start().starts_with('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, lines: &[(usize, &[(&str, &str)])]) {
        let read: Vec<CsvRow> = Table::new(text).unwrap().map(Result::unwrap).collect();
        let wanted: Vec<CsvRow> = lines
            .iter()
            .map(|(line, fields)| CsvRow {
                line: *line,
                fields: fields.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
            })
            .collect();
        assert_eq!(read, wanted, "{text:?}");
    }

    #[test]
    fn tables_are_read_as_spreadsheets_write_them() {
        check("sku,price\nA,1\n", &[(2, &[("sku", "A"), ("price", "1")])]);
        check("\u{feff}SKU; Price\r\nA;1,5\r\n", &[(2, &[("sku", "A"), ("price", "1,5")])]);
        check("sku\tname\nA\tB C", &[(2, &[("sku", "A"), ("name", "B C")])]);
        check(
            "a,b\n\n\"x, \"\"y\"\"\nz\",\n9,8",
            &[(3, &[("a", "x, \"y\"\nz")]), (5, &[("a", "9"), ("b", "8")])],
        );
        check("a,b\n1", &[(2, &[("a", "1")])]);
        check("a,b\r\n\r\n1,\r\n\n\n", &[(3, &[("a", "1")])]);
        check("a,b\n\"1\",2 \"x\"\n", &[(2, &[("a", "1"), ("b", "2 \"x\"")])]);
        check("a,b\n,\n", &[]);
    }

    #[test]
    fn an_unreadable_line_is_reported_by_its_number() {
        let head = |text: &str| Table::new(text).err().map(|bad| (bad.line, bad.why));
        assert_eq!(head(""), Some((1, "the file is empty".to_owned())));
        assert_eq!(head("\"a,b\n1"), Some((1, "a quote that is never closed".to_owned())));
        assert_eq!(head(&"a,".repeat(200)), Some((1, "more than 200 columns".to_owned())));
        let bad = |text: &str| Table::new(text).unwrap().find_map(Result::err).unwrap();
        let told = |line, why: &str| BadLine { line, why: why.to_owned() };
        assert_eq!(bad("a,b\n1,2\n1,2,3\n"), told(3, "3 fields under 2 names"));
        assert_eq!(bad("a,b\n1,2\n\"1,2\n3,4\n"), told(3, "a quote that is never closed"));
        assert_eq!(bad("a,b\n1,2\n\n3,\""), told(4, "a quote that is never closed"));
        assert_eq!(bad("a,b\n\"1\n\",2\n\n1,2,3"), told(5, "3 fields under 2 names"));
        let space = "a space before the quote of \"x\"; remove it";
        assert_eq!(bad("a,b\n1, \"x\"\n"), told(2, space));
    }
}
