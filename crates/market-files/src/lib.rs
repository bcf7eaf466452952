//! Bars from files: CSV and Parquet into the bar store, and the `FILE:` venue that serves them.
//!
//! Nothing is guessed about the numbers: a decimal is kept as it is written, and a row that cannot
//! be is reported with its line.

mod collect;
mod csv;
mod dialect;
#[doc(hidden)]
pub mod fuzzing;
mod import;
mod layout;
mod local_time;
mod moment;
mod number;
mod parquet_rows;
mod report;
mod venue;

pub use import::{ImportOptions, ImportProgress, import_bars};
pub use local_time::DateOrder;
pub use report::{BadRowPolicy, FileFormat, ImportReport, RowProblem};
pub use spreadsheet::DecimalMark;
pub use venue::FileVenue;

/// The name imported bars are kept under.
pub const SOURCE: &str = "file";
