//! The tables, one text for both engines.

use store::Migrations;

/// A page is rows of at most [`crate::page::CHUNK_BYTES`] bytes, so that a text of a hundred megabytes,
/// which may be one page, is never one value. The second index answers both what an owner has by
/// content and how many bytes that is.
const FILES: &str = "
CREATE TABLE archive_files (
    id TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    case_id TEXT,
    name TEXT NOT NULL,
    size BIGINT NOT NULL,
    mime TEXT NOT NULL,
    hash TEXT NOT NULL,
    tags TEXT NOT NULL,
    description TEXT,
    uploaded_at BIGINT NOT NULL,
    status TEXT NOT NULL,
    job_id TEXT,
    error TEXT,
    page_count BIGINT,
    word_count BIGINT,
    problems TEXT NOT NULL
);
CREATE INDEX archive_files_owner ON archive_files (owner, id);
CREATE INDEX archive_files_content ON archive_files (owner, hash, size);
CREATE INDEX archive_files_case ON archive_files (case_id, id);
CREATE INDEX archive_files_hash ON archive_files (hash);
CREATE TABLE archive_pages (
    file_id TEXT NOT NULL,
    page BIGINT NOT NULL,
    piece BIGINT NOT NULL,
    part TEXT NOT NULL,
    part_page BIGINT NOT NULL,
    ocr_confidence DOUBLE PRECISION,
    text TEXT NOT NULL,
    PRIMARY KEY (file_id, page, piece)
);
CREATE TABLE archive_uploads (
    owner TEXT NOT NULL,
    sent_at BIGINT NOT NULL
);
CREATE INDEX archive_uploads_owner ON archive_uploads (owner, sent_at);
";

/// Which jobs repeat words of a file in what they store, so that they can go with it.
const TRACES: &str = "
CREATE TABLE archive_traces (
    file_id TEXT NOT NULL,
    job_id TEXT NOT NULL,
    noted_at BIGINT NOT NULL,
    PRIMARY KEY (file_id, job_id)
);
";

/// To be applied before anything is taken in.
pub const MIGRATIONS: Migrations =
    Migrations { owner: "documents", sqlite: &[FILES, TRACES], postgres: &[FILES, TRACES] };
