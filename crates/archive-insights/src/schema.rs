//! The tables. The columns that queries filter and sort by are in a table of their own, so that
//! scanning many insights reads little.

use store::Migrations;

/// `insight` holds only numbers (ids are hashed, see `scope`); its first index covers all columns in
/// the order of a case, so that lists and counts read only the index. `insight_home` records which
/// owner has written into which scope.
macro_rules! tables {
    ($number:literal) => {
        concat!(
            "
CREATE TABLE insight (
    seq ",
            $number,
            " PRIMARY KEY,
    scope BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    confidence DOUBLE PRECISION NOT NULL,
    owner BIGINT NOT NULL,
    file BIGINT NOT NULL,
    model BIGINT NOT NULL,
    category BIGINT NOT NULL,
    made BOOLEAN NOT NULL
);
CREATE INDEX insight_scope ON insight
    (scope, created_at, seq, confidence, owner, file, model, category);
CREATE INDEX insight_file ON insight (file, created_at, seq, scope, owner);
CREATE TABLE insight_body (
    seq ",
            $number,
            " PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    confidence DOUBLE PRECISION NOT NULL,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    rest TEXT NOT NULL
);
CREATE TABLE insight_home (
    owner BIGINT NOT NULL,
    scope BIGINT NOT NULL,
    PRIMARY KEY (owner, scope)
);
"
        )
    };
}

/// A contentless index; its tokenizer only splits at spaces.
const SQLITE_INDEX: &str = "
CREATE VIRTUAL TABLE insight_text USING fts5(
    title, content, keys,
    content='', contentless_delete=1, tokenize='ascii'
);
CREATE TABLE insight_next (next BIGINT NOT NULL);
INSERT INTO insight_next (next) VALUES (1);
";

const POSTGRES_INDEX: &str = "
CREATE TABLE insight_text (
    seq BIGINT NOT NULL PRIMARY KEY,
    words TSVECTOR NOT NULL
);
CREATE INDEX insight_text_words ON insight_text USING gin (words);
CREATE SEQUENCE insight_next;
";

/// Insights up to this number were indexed by an earlier version, with other words.
const REINDEX: &str = "
CREATE TABLE insight_reindex (seq BIGINT NOT NULL);
INSERT INTO insight_reindex (seq) SELECT COALESCE(MAX(seq), 0) FROM insight;
";

/// Apply before the first use.
pub const MIGRATIONS: Migrations = Migrations {
    owner: "insights",
    sqlite: &[tables!("INTEGER"), SQLITE_INDEX, REINDEX],
    postgres: &[tables!("BIGINT"), POSTGRES_INDEX, REINDEX],
};
