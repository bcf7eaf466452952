//! Uploaded files: receives their bytes as a stream, stores each content once under its hash, lists
//! the files a caller may see, and stores the text of their pages.
//!
//! Extraction happens elsewhere. A record exists only if its bytes are on the disk; bytes without a
//! record are removed at once or by the next [`Documents::sweep`].

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

pub use documents::{
    Documents, NewPendingUpload, PendingUpload, StoredFile, SweepReport, UploadLimits,
    UploadMetadata, UploadPiece,
};
pub use file::{ExtractionResult, FileFilter, FileRecord, FileStatus};
pub use name::clean_file_name;
pub use page::{
    PageBatch, PageChunk, PageRecord, PagesWritten, chunk_starts, count_words, storable,
};
pub use receive::{FileReceiver, ReceivedFile};
pub use schema::MIGRATIONS;
pub use sql::ChunkAddress;
