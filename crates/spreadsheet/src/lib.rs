//! Text and numbers as spreadsheet programs write them: encodings, decimal commas, thousands
//! separators. Pure functions; the callers decide what the columns of a table mean.

mod headings;
mod numbers;
mod text;

pub use headings::{list_headings, normalize_heading};
pub use numbers::{DecimalMark, MarkEvidence, plain_number};
pub use text::{NotText, decode};
