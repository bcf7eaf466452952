//! Full-text search over the pages of documents, in the database of the pages and in the transactions
//! that write them.
//!
//! The index is our own, in tables that SQLite and PostgreSQL have alike, so both find and rank the
//! same. It is kept in segments, one or more for each file at first, which are merged later; see
//! `docs/decisions/0020-page-index.md`. A [`Visibility`] says which pages a caller may find.

mod codec;
mod dictionary;
mod evaluate;
mod facts;
mod index;
mod page_set;
mod postings;
mod query;
mod schema;
pub mod scope;
mod search;
mod segment;
mod snippet;
pub mod snippet_text;
mod sql;
mod tokens;
pub mod words;

#[cfg(test)]
mod tests;

pub use archive_accounts::Visibility;
pub use facts::{DayRange, FileFacts};
pub use index::{FileIndex, FileToIndex, PageToIndex, record_text};
pub use query::{QUERY_CHARS_MAX, TERMS_MAX};
pub use schema::MIGRATIONS;
pub use search::{Correction, PageHit, PageHits, PageQuery};
pub use snippet::{Highlight, Snippet};
use store::Db;

/// A handle; cloning it is cheap.
#[derive(Clone)]
pub struct Search {
    db: Db,
}

impl Search {
    /// The database must have been given [`MIGRATIONS`].
    pub fn new(db: Db) -> Self {
        Self { db }
    }
}
