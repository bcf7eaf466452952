//! The tables. Segments and their blocks are inserted and deleted; only the facts of a segment and
//! of a listed file are updated.

use store::Migrations;

/// `search_file` lists the segments that have pages of a file. `search_home` records which owner
/// has files in which scope. `docs` of a block has its terms with their pages and counts.
macro_rules! tables {
    ($number:literal, $blob:literal, $term:literal) => {
        concat!(
            "
CREATE TABLE search_segment (
    id ",
            $number,
            " PRIMARY KEY,
    scope BIGINT NOT NULL,
    weight BIGINT NOT NULL,
    files ",
            $blob,
            " NOT NULL
);
CREATE INDEX search_segment_scope ON search_segment (scope, id, weight);
CREATE TABLE search_dictionary (
    segment ",
            $number,
            " PRIMARY KEY,
    terms ",
            $blob,
            " NOT NULL
);
CREATE TABLE search_block (
    segment BIGINT NOT NULL,
    first ",
            $term,
            " NOT NULL,
    docs ",
            $blob,
            " NOT NULL,
    positions ",
            $blob,
            " NOT NULL,
    PRIMARY KEY (segment, first)
);
CREATE TABLE search_file (
    file_id TEXT NOT NULL,
    segment BIGINT NOT NULL,
    PRIMARY KEY (file_id, segment)
);
CREATE INDEX search_file_segment ON search_file (segment);
CREATE TABLE search_home (
    owner BIGINT NOT NULL,
    scope BIGINT NOT NULL,
    PRIMARY KEY (owner, scope)
);
"
        )
    };
}

const SQLITE_NUMBERS: &str = "
CREATE TABLE search_next (next BIGINT NOT NULL);
INSERT INTO search_next (next) VALUES (1);
";

/// The blobs are compact, so PostgreSQL need not try to compress them.
const POSTGRES_NUMBERS: &str = "
CREATE SEQUENCE search_next;
ALTER TABLE search_segment ALTER COLUMN files SET STORAGE EXTERNAL;
ALTER TABLE search_dictionary ALTER COLUMN terms SET STORAGE EXTERNAL;
ALTER TABLE search_block ALTER COLUMN docs SET STORAGE EXTERNAL;
ALTER TABLE search_block ALTER COLUMN positions SET STORAGE EXTERNAL;
";

/// `facts` of a segment is empty, and `has_facts` of a file false, until the facts of files of an
/// earlier version are added.
macro_rules! facts {
    ($blob:literal) => {
        concat!(
            "
ALTER TABLE search_segment ADD COLUMN facts ",
            $blob,
            ";
ALTER TABLE search_file ADD COLUMN has_facts BOOLEAN NOT NULL DEFAULT FALSE;
"
        )
    };
}

/// Apply before the first use.
pub const MIGRATIONS: Migrations = Migrations {
    owner: "search",
    sqlite: &[
        tables!("INTEGER", "BLOB", "TEXT"),
        SQLITE_NUMBERS,
        facts!("BLOB NOT NULL DEFAULT x''"),
    ],
    postgres: &[
        tables!("BIGINT", "BYTEA", "TEXT COLLATE \"C\""),
        POSTGRES_NUMBERS,
        facts!("BYTEA NOT NULL DEFAULT ''"),
    ],
};
