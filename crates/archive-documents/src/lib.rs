//! Files that people sent: taken in as a stream, kept once by their content, listed by who may see
//! them, with the text of their pages.
//!
//! What a file says is read elsewhere. A record exists only when its bytes are on the disk under
//! their hash; bytes without a record go away, at once or at the next [`Documents::sweep`].

mod documents;
mod file;
mod kind;
mod name;
mod outline;
mod page;
mod quota;
mod receive;
mod schema;
mod sql;

#[cfg(test)]
mod tests;

pub use documents::{Documents, StoredFile, SweepReport, UploadLimits, UploadMetadata};
pub use file::{ExtractionResult, FileFilter, FileRecord, FileStatus};
pub use name::clean_file_name;
pub use page::{PageBatch, PageChunk, PageRecord, PagesWritten, count_words};
pub use receive::{FileReceiver, ReceivedFile};
pub use schema::MIGRATIONS;
