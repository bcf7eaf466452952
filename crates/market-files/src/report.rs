//! The format of a file, what an import does with bad rows, and the report of an import.

use std::path::Path;

use fault::Fault;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    Csv,
    Parquet,
}

impl FileFormat {
    /// The format that the end of the file's name stands for.
    pub fn of(path: &Path) -> Result<Self, Fault> {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let has_suffix = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
        if has_suffix(&[".csv", ".tsv", ".txt"]) {
            Ok(Self::Csv)
        } else if has_suffix(&[".parquet", ".pq"]) {
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

/// What an import does with a row that is not a valid bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BadRowPolicy {
    /// Stop. The rows before it stay imported; importing the corrected file writes the same bars again.
    #[default]
    Stop,
    /// Skip the row and count it.
    Skip,
}

/// Why a row is bad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowProblem {
    /// The line of a CSV file or the row of a Parquet file, counted from 1.
    pub line: u64,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// Rows read, good and bad.
    pub read: u64,
    /// Rows imported. Of rows with the same ticker and time the last one is stored, and all of them are
    /// counted here.
    pub imported: u64,
    /// Bad rows that were skipped.
    pub skipped: u64,
    /// How many series the imported rows belong to.
    pub series: u64,
    /// The first 20 bad rows.
    pub problems: Vec<RowProblem>,
    /// The bad row the import stopped at; every row before it is imported.
    pub stopped_at: Option<u64>,
}

impl ImportReport {
    pub const PROBLEMS_MAX: usize = 20;
}
