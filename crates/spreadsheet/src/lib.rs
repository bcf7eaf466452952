//! Text and numbers as spreadsheet programs write them: encodings, decimal commas, thousands
//! separators. Pure; what the columns of a table mean is not known here.

mod headings;
mod numbers;
mod text;

pub use headings::{listed, simplified};
pub use numbers::{DecimalMark, MarkEvidence, plain};
pub use text::{NotText, decode};
