//! The location of the database, and how it is opened.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use fault::Fault;
use sqlx::Connection as _;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

use crate::db::Db;
use crate::error::fault;

/// Long enough for another process's bulk import to finish a transaction.
const BUSY_WAIT: Duration = Duration::from_secs(15);
const ACQUIRE_WAIT: Duration = Duration::from_secs(20);
const CONNECT_WAIT: Duration = Duration::from_secs(10);
const SQLITE_READERS: u32 = 8;
const POSTGRES_CONNECTIONS: u32 = 16;

/// The location of the database.
#[derive(Clone)]
pub struct StoreConfig {
    /// The data folder; created with access for its owner only where it is missing.
    pub data_dir: PathBuf,
    /// `postgres://…`; `None` is SQLite in the data folder.
    pub url: Option<String>,
}

impl StoreConfig {
    /// SQLite in this folder.
    pub fn sqlite(data_dir: impl Into<PathBuf>) -> Self {
        Self { data_dir: data_dir.into(), url: None }
    }
}

/// Without the URL, which may hold a password.
impl fmt::Debug for StoreConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url.as_ref().map(|_| "set");
        f.debug_struct("StoreConfig").field("data_dir", &self.data_dir).field("url", &url).finish()
    }
}

impl Db {
    /// Opens the database, and creates the data folder where it is missing.
    pub async fn open(config: &StoreConfig) -> Result<Self, Fault> {
        make_data_dir(&config.data_dir)?;
        match &config.url {
            Some(url) => open_postgres(url).await,
            None => open_sqlite(&config.data_dir.join("stoa.db")).await,
        }
    }
}

/// `synchronous=FULL`: a commit is on the disk before it is acknowledged, so it survives a power cut.
/// `NORMAL` would survive only `kill -9`. It costs a few milliseconds per commit, so bulk writers use
/// one transaction.
async fn open_sqlite(file: &Path) -> Result<Db, Fault> {
    make_private_file(file)?;
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_WAIT)
        .foreign_keys(true)
        .pragma("journal_size_limit", "67108864")
        // Deleted data is overwritten, because a copy of the file would still show it.
        .pragma("secure_delete", "ON")
        .pragma("cache_size", "-16384")
        .pragma("temp_store", "MEMORY");
    // A file connection needs no test before each use.
    let pool = || {
        let options = SqlitePoolOptions::new().acquire_timeout(ACQUIRE_WAIT);
        options.idle_timeout(None).test_before_acquire(false)
    };
    // SQLite allows one writer; with a pool of one connection the others queue in order instead of
    // polling the file's lock.
    let writer = pool().max_connections(1).connect_with(options.clone()).await;
    let writer = writer.map_err(|error| open_failed(error, &file.display().to_string()))?;
    let reader = pool().max_connections(SQLITE_READERS).connect_lazy_with(options);
    Ok(Db::from_sqlite(writer, reader))
}

async fn open_postgres(url: &str) -> Result<Db, Fault> {
    let refuse = || {
        Fault::invalid("invalid_database_url", "DATABASE_URL is not a PostgreSQL address")
            .problem("DATABASE_URL", "postgres://user:password@host:port/database")
    };
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        return Err(refuse());
    }
    // The parser's error is dropped, because it may quote the password in the address.
    let options = PgConnectOptions::from_str(url).map_err(|_| refuse())?;
    let place = format!("{}:{}", options.get_host(), options.get_port());
    // The pool would retry a server that refuses connections; at start-up a wrong address is more
    // likely than a slow server, so the first connection must succeed.
    let first = tokio::time::timeout(CONNECT_WAIT, PgConnection::connect_with(&options)).await;
    let first = first.unwrap_or(Err(sqlx::Error::PoolTimedOut));
    let first = first.map_err(|error| open_failed(error, &format!("PostgreSQL at {place}")))?;
    first.close().await.map_err(fault)?;
    let pool = PgPoolOptions::new()
        .max_connections(POSTGRES_CONNECTIONS)
        .acquire_timeout(ACQUIRE_WAIT)
        .connect_lazy_with(options);
    Ok(Db::from_postgres(pool))
}

/// The reason is shown, because this happens at start-up in front of the operator.
fn open_failed(error: sqlx::Error, place: &str) -> Fault {
    let reason = match &error {
        sqlx::Error::Database(database) => database.message().to_owned(),
        sqlx::Error::Io(io) => io.kind().to_string(),
        sqlx::Error::PoolTimedOut => "no answer in time".to_owned(),
        _ => return fault(error).while_doing(&format!("opening {place}")),
    };
    Fault::unavailable("store_unavailable", format!("cannot open {place}: {reason}"))
        .caused_by(error)
}

fn make_data_dir(dir: &Path) -> Result<(), Fault> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(|error| refuse_path("make the data folder", dir, error))
}

/// Creates the file with mode 600 before SQLite opens it; the write-ahead log takes the same mode.
fn make_private_file(file: &Path) -> Result<(), Fault> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map_err(|error| refuse_path("open the database", file, error)).map(drop)
}

fn refuse_path(doing: &str, path: &Path, error: std::io::Error) -> Fault {
    let reason = error.kind();
    Fault::unavailable("store_unavailable", format!("cannot {doing} {}: {reason}", path.display()))
        .caused_by(error)
}
