//! The tables of the bar store on SQLite and PostgreSQL.

use store::Migrations;

/// Chunk ids are never used twice, so the cache may key decoded chunks by their id. The index
/// `bar_chunk_place` has every column but the blob, so reading the index of a series reads no blob.
const SQLITE: &str = "
CREATE TABLE bar_series (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    code TEXT NOT NULL,
    currency TEXT,
    version BIGINT NOT NULL DEFAULT 0,
    sealed_to BIGINT,
    hot_count BIGINT NOT NULL DEFAULT 0,
    hot_first BIGINT,
    hot_last BIGINT,
    hot_version BIGINT NOT NULL DEFAULT 0,
    received_at BIGINT
);
CREATE INDEX bar_series_source ON bar_series (source, code);
CREATE TABLE bar_chunk (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    series_id BIGINT NOT NULL REFERENCES bar_series (id),
    first_ts BIGINT NOT NULL,
    last_ts BIGINT NOT NULL,
    count BIGINT NOT NULL,
    step BIGINT NOT NULL,
    data BLOB NOT NULL
);
CREATE INDEX bar_chunk_place ON bar_chunk (series_id, first_ts, last_ts, count, step);
CREATE TABLE bar_hot (
    series_id BIGINT NOT NULL REFERENCES bar_series (id),
    ts BIGINT NOT NULL,
    open TEXT NOT NULL,
    high TEXT NOT NULL,
    low TEXT NOT NULL,
    close TEXT NOT NULL,
    volume TEXT,
    PRIMARY KEY (series_id, ts)
) WITHOUT ROWID;
CREATE TABLE bar_span (
    series_id BIGINT NOT NULL REFERENCES bar_series (id),
    from_ts BIGINT NOT NULL,
    to_ts BIGINT NOT NULL,
    PRIMARY KEY (series_id, from_ts)
) WITHOUT ROWID;
";

/// Chunks are compressed already, so PostgreSQL must not compress them again.
const POSTGRES: &str = "
CREATE TABLE bar_series (
    id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    key TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    code TEXT NOT NULL,
    currency TEXT,
    version BIGINT NOT NULL DEFAULT 0,
    sealed_to BIGINT,
    hot_count BIGINT NOT NULL DEFAULT 0,
    hot_first BIGINT,
    hot_last BIGINT,
    hot_version BIGINT NOT NULL DEFAULT 0,
    received_at BIGINT
);
CREATE INDEX bar_series_source ON bar_series (source, code);
CREATE TABLE bar_chunk (
    id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    series_id BIGINT NOT NULL REFERENCES bar_series (id),
    first_ts BIGINT NOT NULL,
    last_ts BIGINT NOT NULL,
    count BIGINT NOT NULL,
    step BIGINT NOT NULL,
    data BYTEA NOT NULL
);
ALTER TABLE bar_chunk ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX bar_chunk_place ON bar_chunk (series_id, first_ts, last_ts, count, step, id);
CREATE TABLE bar_hot (
    series_id BIGINT NOT NULL REFERENCES bar_series (id),
    ts BIGINT NOT NULL,
    open TEXT NOT NULL,
    high TEXT NOT NULL,
    low TEXT NOT NULL,
    close TEXT NOT NULL,
    volume TEXT,
    PRIMARY KEY (series_id, ts)
);
CREATE TABLE bar_span (
    series_id BIGINT NOT NULL REFERENCES bar_series (id),
    from_ts BIGINT NOT NULL,
    to_ts BIGINT NOT NULL,
    PRIMARY KEY (series_id, from_ts)
);
";

/// The caller applies them before it uses the store.
pub const MIGRATIONS: Migrations =
    Migrations { owner: "bars", sqlite: &[SQLITE], postgres: &[POSTGRES] };
