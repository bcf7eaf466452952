//! Notices of a command on stderr beside its logs: plain lines for a person, or one JSON object per line
//! if the logs are JSON, so that a log parser can read all of stderr.

use std::io::Write as _;

use clock::{Clock as _, SystemClock};
use serde_json::{Map, Value, json};
use telemetry::LogFormat;

/// Writes the notices of one command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notices {
    json: bool,
}

impl Notices {
    pub(crate) fn new(format: LogFormat) -> Self {
        Self { json: format.is_json() }
    }

    pub(crate) fn info(self, text: &str) {
        self.write("INFO", text, text, &[]);
    }

    pub(crate) fn warn(self, text: &str) {
        self.write("WARN", &format!("warning: {text}"), text, &[]);
    }

    /// A title and named values: a table for a person, fields in JSON.
    pub(crate) fn table(self, title: &str, rows: &[(&str, String)]) {
        let mut plain = title.to_owned();
        for (name, value) in rows {
            plain.push_str(&format!("\n  {name:<8} {value}"));
        }
        self.write("INFO", &plain, title, rows);
    }

    /// Writes in one call, so that a log line of another thread cannot split the text.
    fn write(self, level: &str, plain: &str, message: &str, rows: &[(&str, String)]) {
        let line = match self.json {
            true => json_line(level, message, rows),
            false if rows.is_empty() => format!("stoa: {plain}\n"),
            false => format!("{plain}\n"),
        };
        // A closed stderr has no reader.
        _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// The fields of a log line, as `telemetry` writes them.
fn json_line(level: &str, message: &str, rows: &[(&str, String)]) -> String {
    let mut line = Map::new();
    line.insert("timestamp".to_owned(), json!(SystemClock.now().to_rfc3339()));
    line.insert("level".to_owned(), json!(level));
    line.insert("message".to_owned(), json!(message));
    line.extend(rows.iter().map(|(name, value)| (name.to_lowercase(), json!(value))));
    line.insert("target".to_owned(), json!("stoa"));
    format!("{}\n", Value::Object(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_one_json_object_with_its_rows_as_fields() {
        let rows = [("MCP", "http://127.0.0.1:1/mcp".to_owned()), ("data", "a\nb".to_owned())];
        let line = json_line("INFO", "it is serving", &rows);
        assert_eq!(line.lines().count(), 1);
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["mcp"], "http://127.0.0.1:1/mcp");
        assert_eq!(line["data"], "a\nb");
        assert_eq!((&line["level"], &line["message"]), (&json!("INFO"), &json!("it is serving")));
    }
}
