//! Bars from files: CSV and Parquet into the bar store, and the `FILE:` venue that serves them.
//!
//! A decimal is stored as the file writes it. A row whose numbers cannot be stored exactly is
//! reported with its line, never rounded.

mod collect;
mod csv;
mod dialect;
#[doc(hidden)]
pub mod fuzzing;
mod import;
mod instant;
mod layout;
mod local_time;
mod number;
mod parquet_rows;
mod report;
mod venue;

pub use import::{ImportOptions, ImportProgress, import_bars};
pub use local_time::DateOrder;
pub use report::{BadRowPolicy, FileFormat, ImportReport, RowProblem};
pub use spreadsheet::DecimalMark;
pub use venue::FileVenue;

/// The source name of imported bars.
pub const SOURCE: &str = "file";
