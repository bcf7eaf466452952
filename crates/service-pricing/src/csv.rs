//! Tables as spreadsheets write them: commas or semicolons, quotes where needed, a first line of
//! names. What the columns mean is not known here.

use std::collections::HashMap;

/// More columns than a table of ours has use for.
const COLUMNS_MAX: usize = 200;

/// The lines of a table, each as its fields by name; lines are counted as an editor counts them.
pub(crate) struct Table<'a> {
    names: Vec<String>,
    rest: Lines<'a>,
}

/// A line that cannot be read, and why.
#[derive(Debug, PartialEq)]
pub(crate) struct BadLine {
    pub(crate) line: usize,
    pub(crate) why: String,
}

/// One line: where it began, and what it says under each name. Empty fields are left out.
#[derive(Debug, PartialEq)]
pub(crate) struct CsvRow {
    pub(crate) line: usize,
    pub(crate) fields: HashMap<String, String>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Self, BadLine> {
        let text = text.trim_start_matches('\u{feff}');
        let head = text.lines().next().unwrap_or_default();
        let count = |it: char| head.matches(it).count();
        let comma = [',', ';', '\t'].into_iter().rev().max_by_key(|it| count(*it)).unwrap_or(',');
        let mut rest = Lines { text, comma, line: 1 };
        let Some((_, names)) = rest.next().transpose()? else {
            return Err(BadLine { line: 1, why: "the file is empty".to_owned() });
        };
        let names: Vec<String> = names.iter().map(|it| it.trim().to_lowercase()).collect();
        if names.len() > COLUMNS_MAX {
            return Err(BadLine { line: 1, why: format!("more than {COLUMNS_MAX} columns") });
        }
        Ok(Self { names, rest })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }
}

impl Iterator for Table<'_> {
    type Item = Result<CsvRow, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (line, fields) = match self.rest.next()? {
                Ok(read) => read,
                Err(bad) => return Some(Err(bad)),
            };
            if fields.iter().all(|it| it.trim().is_empty()) {
                continue;
            }
            if fields.len() > self.names.len() {
                let why = format!("{} fields under {} names", fields.len(), self.names.len());
                return Some(Err(BadLine { line, why }));
            }
            let named =
                self.names.iter().cloned().zip(fields.into_iter().map(|it| it.trim().to_owned()));
            let fields = named.filter(|(_, value)| !value.is_empty()).collect();
            return Some(Ok(CsvRow { line, fields }));
        }
    }
}

struct Lines<'a> {
    text: &'a str,
    comma: char,
    line: usize,
}

impl Iterator for Lines<'_> {
    type Item = Result<(usize, Vec<String>), BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.text.is_empty() {
            return None;
        }
        let began = self.line;
        let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
        let mut letters = self.text.char_indices().peekable();
        let mut end = self.text.len();
        while let Some((at, letter)) = letters.next() {
            if letter == '\n' {
                self.line += 1;
            }
            match letter {
                '"' if quoted && letters.peek().is_some_and(|(_, next)| *next == '"') => {
                    field.push('"');
                    letters.next();
                }
                '"' if quoted || field.trim().is_empty() => quoted = !quoted,
                '\n' if !quoted => {
                    end = at + 1;
                    break;
                }
                '\r' if !quoted => {}
                _ if letter == self.comma && !quoted => fields.push(std::mem::take(&mut field)),
                _ => field.push(letter),
            }
        }
        self.text = &self.text[end..];
        if quoted {
            let why = "a quote that is never closed".to_owned();
            return Some(Err(BadLine { line: began, why }));
        }
        fields.push(field);
        Some(Ok((began, fields)))
    }
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
    }

    #[test]
    fn what_cannot_be_read_is_told_by_its_line() {
        assert!(Table::new("").is_err());
        let bad = |text: &str| Table::new(text).unwrap().find_map(Result::err).unwrap().line;
        assert_eq!(bad("a,b\n1,2\n1,2,3\n"), 3);
        assert_eq!(bad("a,b\n1,2\n\"1,2\n3,4\n"), 3);
    }
}
