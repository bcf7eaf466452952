//! The store on both engines: statements, transactions, migrations, blobs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use fault::Kind;
use store::{Blobs as _, Db, DiskBlobs, Migrations, StoreConfig, placeholders, sql, sql_built};
use testkit::{TempFolder, on_every_engine};

const SQLITE: [&str; 2] = [
    "CREATE TABLE t_item (id BIGINT PRIMARY KEY, name TEXT, data BLOB, ok BOOLEAN, x DOUBLE PRECISION)",
    "ALTER TABLE t_item ADD COLUMN note TEXT; CREATE INDEX t_item_name ON t_item (name)",
];
const POSTGRES: [&str; 2] = [
    "CREATE TABLE t_item (id BIGINT PRIMARY KEY, name TEXT, data BYTEA, ok BOOLEAN, x DOUBLE PRECISION)",
    SQLITE[1],
];
const ITEMS: Migrations = Migrations { owner: "t", sqlite: &SQLITE, postgres: &POSTGRES };

async fn count(db: &Db) -> u64 {
    let rows = db.fetch_all(sql("SELECT COUNT(*) FROM t_item")).await.unwrap();
    rows[0].count(0).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_text_serves_both_engines() {
    on_every_engine(async |db| {
        db.migrate(&[ITEMS]).await.unwrap();
        db.ping().await.unwrap();
        let insert = "INSERT INTO t_item (id, name, data, ok, x) VALUES ($1, $2, $3, $4, $5)";
        let full = sql(insert).bind(1_i64).bind("a").bind(vec![0_u8, 255]).bind(true).bind(0.5);
        assert_eq!(db.execute(full.clone()).await.unwrap(), 1);
        let nulls = sql(insert).bind(2_i64).bind(None::<&str>).bind(None::<Vec<u8>>);
        db.execute(nulls.bind(None::<bool>).bind(None::<f64>)).await.unwrap();
        let select = format!(
            "SELECT id, name, data, ok, x FROM t_item WHERE id IN ({}) ORDER BY id",
            placeholders(1, 2)
        );
        let rows = db.fetch_all(sql_built(select).bind_all([1_i64, 2])).await.unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].int(0).unwrap(), rows[0].text(1).unwrap()), (1, "a".to_owned()));
        assert_eq!((rows[0].bytes(2).unwrap(), rows[0].flag(3).unwrap()), (vec![0, 255], true));
        assert!((rows[0].real(4).unwrap() - 0.5).abs() < f64::EPSILON);
        assert_eq!(rows[1].text_or_null(1).unwrap(), None);
        assert_eq!(rows[1].bytes_or_null(2).unwrap(), None);
        assert!(rows[1].int(1).is_err());

        let again = db.execute(full).await.unwrap_err();
        assert_eq!((again.kind(), again.code()), (Kind::Conflict, "already_exists"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_is_all_or_nothing_and_a_snapshot_stands_still() {
    on_every_engine(async |db| {
        db.migrate(&[ITEMS]).await.unwrap();
        let insert = |id: i64| sql("INSERT INTO t_item (id) VALUES ($1)").bind(id);
        let mut tx = db.begin().await.unwrap();
        tx.execute(insert(1)).await.unwrap();
        drop(tx);
        assert_eq!(count(db).await, 0);

        let mut before = db.snapshot().await.unwrap();
        let look = || sql("SELECT COUNT(*) FROM t_item");
        assert_eq!(before.fetch_all(look()).await.unwrap()[0].count(0).unwrap(), 0);
        let mut tx = db.begin().await.unwrap();
        tx.execute(insert(1)).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(before.fetch_all(look()).await.unwrap()[0].count(0).unwrap(), 0);
        assert_eq!(count(db).await, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn migrations_are_applied_once_however_many_start_together() {
    on_every_engine(async |db| {
        let (one, two, three) =
            tokio::join!(db.migrate(&[ITEMS]), db.migrate(&[ITEMS]), db.migrate(&[ITEMS]));
        for outcome in [one, two, three] {
            outcome.unwrap();
        }
        let rows = db
            .fetch_all(sql("SELECT version FROM store_migration ORDER BY version"))
            .await
            .unwrap();
        assert_eq!(rows.iter().map(|row| row.int(0).unwrap()).collect::<Vec<_>>(), [1, 2]);

        const CHANGED: [&str; 1] = ["CREATE TABLE t_item (id BIGINT)"];
        let changed = Migrations { owner: "t", sqlite: &CHANGED, postgres: &CHANGED };
        assert_eq!(db.migrate(&[changed]).await.unwrap_err().code(), "store_changed");
        let older = Migrations { owner: "t", sqlite: &SQLITE[..1], postgres: &POSTGRES[..1] };
        let refused = db.migrate(&[older]).await.unwrap_err();
        assert_eq!(refused.code(), "store_newer");
        assert!(refused.message().contains("upgrade Stoa"), "{refused}");

        const BROKEN: [&str; 1] =
            ["CREATE TABLE b_one (id BIGINT); CREATE TABLE b_one (id BIGINT)"];
        let broken = Migrations { owner: "b", sqlite: &BROKEN, postgres: &BROKEN };
        assert!(db.migrate(&[broken]).await.is_err());
        assert!(
            db.fetch_all(sql("SELECT id FROM b_one")).await.is_err(),
            "half a migration stayed"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_that_fails_leaves_nothing_of_the_others() {
    on_every_engine(async |db| {
        const BROKEN: [&str; 1] = ["CREATE TABLE t_item (id BIGINT)"];
        let broken = Migrations { owner: "b", sqlite: &BROKEN, postgres: &BROKEN };
        assert!(db.migrate(&[ITEMS, broken]).await.is_err());
        assert!(db.fetch_all(sql("SELECT id FROM t_item")).await.is_err());
        db.migrate(&[ITEMS]).await.unwrap();
        assert_eq!(count(db).await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migrated_database_is_opened_beside_a_writer() {
    let folder = TempFolder::new();
    let config = StoreConfig::sqlite(folder.path());
    let first = Db::open(&config).await.unwrap();
    first.migrate(&[ITEMS]).await.unwrap();
    let writing = first.begin().await.unwrap();
    let second = Db::open(&config).await.unwrap();
    second.migrate(&[ITEMS]).await.unwrap();
    assert_eq!(count(&second).await, 0);
    drop(writing);
}

#[tokio::test]
async fn a_password_reaches_neither_errors_nor_logs() {
    let folder = TempFolder::new();
    for url in [
        "postgres://user:hunter2@127.0.0.1:1/db",
        "postgres://user:hunter2@[bad",
        "mysql://hunter2@x/",
    ] {
        let config = StoreConfig { data_dir: folder.path().to_owned(), url: Some(url.to_owned()) };
        assert!(!format!("{config:?}").contains("hunter2"));
        let fault = Db::open(&config).await.err().unwrap();
        assert!(!format!("{fault:?}").contains("hunter2"), "{fault:?}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn the_data_folder_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempFolder::new();
    let data = folder.path().join("deep").join("data");
    let db = Db::open(&StoreConfig::sqlite(&data)).await.unwrap();
    db.migrate(&[ITEMS]).await.unwrap();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("stoa.db")), 0o600);
    assert_eq!(mode(&data.join("stoa.db-wal")), 0o600);
}

#[tokio::test]
async fn blobs_are_named_by_their_content() {
    let folder = TempFolder::new();
    let blobs = Arc::new(DiskBlobs::new(folder.path()));
    let put = async |mut bytes: &[u8]| blobs.put(std::pin::pin!(&mut bytes), 10).await;
    let (hash, length) = put(b"hello").await.unwrap();
    assert_eq!(length, 5);
    assert_eq!(
        hash.to_string(),
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    );
    assert_eq!(put(b"hello").await.unwrap().0, hash);
    assert_eq!(hash.to_string().parse::<store::BlobHash>().unwrap(), hash);
    assert_eq!(blobs.get(hash).await.unwrap(), b"hello");
    assert_eq!(put(b"hello world").await.unwrap_err().code(), "blob_too_large");
    let left: Vec<_> = std::fs::read_dir(folder.path().join("incoming")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    blobs.delete(hash).await.unwrap();
    blobs.delete(hash).await.unwrap();
    assert!(!blobs.exists(hash).await.unwrap());
    assert_eq!(blobs.get(hash).await.unwrap_err().kind(), Kind::NotFound);
    assert!("../../etc/passwd".parse::<store::BlobHash>().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_deleted_is_in_no_file_of_the_database() {
    let folder = TempFolder::new();
    let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
    db.migrate(&[ITEMS]).await.unwrap();
    let insert = sql("INSERT INTO t_item (id, name, note) VALUES ($1, $2, $2)");
    // One that fits into a page, and one that needs many.
    for (id, times) in [(1_i64, 1), (2, 10_000)] {
        db.execute(insert.clone().bind(id).bind("hush-hush".repeat(times))).await.unwrap();
    }
    let is_there = || {
        std::fs::read_dir(folder.path()).unwrap().any(|entry| {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            bytes.windows(9).any(|window| window == b"hush-hush")
        })
    };
    assert!(is_there());
    db.execute(sql("DELETE FROM t_item")).await.unwrap();
    db.truncate_wal().await.unwrap();
    assert!(!is_there());
}

/// A damaged database is neither a bug of ours nor one that a retry can help.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_was_overwritten_is_reported_as_damaged() {
    let folder = TempFolder::new();
    let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
    db.migrate(&[ITEMS]).await.unwrap();
    assert_eq!(count(&db).await, 0);
    for name in ["stoa.db", "stoa.db-wal", "stoa.db-shm"] {
        // Not truncated first: this process has mapped one of them into its memory.
        let file = std::fs::OpenOptions::new().write(true).open(folder.path().join(name));
        std::io::Write::write_all(&mut file.unwrap(), &[0x5a; 65_536]).unwrap();
    }
    let read = db.fetch_all(sql("SELECT COUNT(*) FROM t_item")).await.err().unwrap();
    let written = db.execute(sql("DELETE FROM t_item")).await.unwrap_err();
    for fault in [read, written] {
        assert_eq!((fault.kind(), fault.code()), (Kind::Internal, "store_damaged"), "{fault:?}");
        assert!(!fault.message().contains("not a database"), "{}", fault.message());
    }
    db.close().await;
}
