//! One storage suite, run on both engines.

use store::{Db, StoreConfig};

use crate::folder::TempFolder;
use crate::postgres;

/// Runs a test against a new SQLite database and a new PostgreSQL database. Where there is no
/// PostgreSQL the test runs on SQLite alone and says so; see [`postgres::database`].
pub async fn on_every_engine(test: impl AsyncFn(&Db)) {
    let folder = TempFolder::new();
    let db = Db::open(&StoreConfig::sqlite(folder.path())).await.expect("SQLite opens");
    test(&db).await;
    db.close().await;
    if let Some(url) = postgres::database() {
        let config = StoreConfig { data_dir: folder.path().to_owned(), url: Some(url) };
        let db = Db::open(&config).await.expect("PostgreSQL opens");
        test(&db).await;
        db.close().await;
    }
}
