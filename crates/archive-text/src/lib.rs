//! The page and the text positions that the archive's crates hand to each other.
//!
//! A [`TextSpan`] counts bytes, because rules slice text. A [`Passage`] counts characters, because
//! that is what is stored and what clients see. [`passages`] is the only conversion between them.

#![warn(missing_docs)]

mod joined;
mod page;
mod passage;

pub use joined::JoinedPages;
pub use page::{Page, PageText, TextSpan};
pub use passage::{Passage, passages};
