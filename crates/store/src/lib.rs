//! The database behind every service: SQLite in the data folder by default, PostgreSQL by URL.
//!
//! One SQL text serves both engines; no other crate uses `sqlx`. The crate that owns a table provides
//! its [`Migrations`] and holds its SQL.

#![warn(missing_docs)]

mod blobs;
mod db;
mod error;
mod future;
mod migrate;
mod open;
mod probe;
mod row;
mod sql;
mod tx;

pub use blobs::{BlobHash, BlobReader, BlobWriter, Blobs, DiskBlobs, StagedBlob, WithdrawnBlob};
pub use db::{Db, Engine};
pub use future::StoreFuture;
pub use migrate::Migrations;
pub use open::StoreConfig;
pub use probe::StoreProbe;
pub use row::SqlRow;
pub use sql::{Sql, SqlValue, placeholders, sql, sql_built};
pub use tx::Tx;
