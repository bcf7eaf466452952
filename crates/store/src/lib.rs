//! The database behind every service: SQLite in the data folder by default, PostgreSQL by URL.
//!
//! One SQL text serves both engines; `sqlx` stays inside this crate. What the tables mean is the
//! business of the crates that own them: each hands its [`Migrations`] and keeps its SQL.

mod blobs;
mod db;
mod error;
mod migrate;
mod open;
mod row;
mod sql;
mod tx;

pub use blobs::{BlobHash, BlobReader, BlobWriter, Blobs, DiskBlobs, StagedBlob, WithdrawnBlob};
pub use db::{Db, Engine};
pub use migrate::Migrations;
pub use open::StoreConfig;
pub use row::SqlRow;
pub use sql::{Sql, SqlValue, placeholders, sql, sql_built};
pub use tx::Tx;
