//! The tables, in one SQL text for both engines.

use store::Migrations;

/// A page is stored in rows of at most [`crate::page::CHUNK_BYTES`], so that a page of 100 MB is
/// never one value. The second index answers which contents an owner has and how many bytes.
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

/// Jobs whose results quote a file; deleting the file deletes the results.
const TRACES: &str = "
CREATE TABLE archive_traces (
    file_id TEXT NOT NULL,
    job_id TEXT NOT NULL,
    noted_at BIGINT NOT NULL,
    PRIMARY KEY (file_id, job_id)
);
";

/// Uploads that arrive in pieces or by a link, with the type of a column of bytes.
macro_rules! pending {
    ($bytes:literal) => {
        concat!(
            "
CREATE TABLE archive_pending_uploads (
    id TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    about TEXT NOT NULL,
    received BIGINT NOT NULL,
    file_id TEXT,
    expires_at BIGINT NOT NULL
);
CREATE INDEX archive_pending_uploads_owner ON archive_pending_uploads (owner);
CREATE INDEX archive_pending_uploads_expiry ON archive_pending_uploads (expires_at);
CREATE INDEX archive_pending_uploads_file ON archive_pending_uploads (file_id);
CREATE TABLE archive_upload_pieces (
    upload_id TEXT NOT NULL,
    position BIGINT NOT NULL,
    bytes ",
            $bytes,
            " NOT NULL,
    PRIMARY KEY (upload_id, position)
);
"
        )
    };
}

/// Apply before the first upload.
pub const MIGRATIONS: Migrations = Migrations {
    owner: "documents",
    sqlite: &[FILES, TRACES, pending!("BLOB")],
    postgres: &[FILES, TRACES, pending!("BYTEA")],
};
