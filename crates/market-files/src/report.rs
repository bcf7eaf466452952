//! What an import is asked to do about bad rows, and what it says afterwards.

use std::path::Path;

use fault::Fault;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    Csv,
    Parquet,
}

impl FileFormat {
    /// By the end of the file's name.
    pub fn of(path: &Path) -> Result<Self, Fault> {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        if ends(&[".csv", ".tsv", ".txt"]) {
            Ok(Self::Csv)
        } else if ends(&[".parquet", ".pq"]) {
            Ok(Self::Parquet)
        } else {
            let message = format!(
                "cannot tell the format of {} by its name, which must end with .csv, .tsv, .txt, \
                 .parquet or .pq; save a spreadsheet as CSV",
                path.display()
            );
            Err(Fault::invalid("unknown_format", message).problem("format", "csv or parquet"))
        }
    }
}

/// What to do about a row that is no bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BadRowPolicy {
    /// Import nothing after it. What came before it stays imported: importing the mended file again
    /// writes the same bars over themselves.
    #[default]
    Stop,
    /// Leave it out and count it.
    Skip,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowProblem {
    /// The line in a text file, the first being 1; the row in a Parquet file, the first being 1.
    pub line: u64,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// Rows looked at.
    pub read: u64,
    /// Rows kept. Of rows with the same ticker and time the last one counts, and each is counted
    /// here.
    pub imported: u64,
    /// Bad rows left out.
    pub skipped: u64,
    pub series: u64,
    /// The first few bad rows.
    pub problems: Vec<RowProblem>,
    /// The bad row the import stopped at; every row before it is imported.
    pub stopped_at: Option<u64>,
}

impl ImportReport {
    pub const PROBLEMS_MAX: usize = 20;
}
