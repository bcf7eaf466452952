//! Uploads and deletes of the same content at the same time: a record never lacks its content, and
//! no content outlives its records.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use testkit::on_every_engine;
use tokio::task::JoinSet;

use super::{Fixture, receive, store, visibility};
use crate::{Documents, FileFilter, UploadLimits, UploadMetadata};

const TASKS: usize = 6;
const ROUNDS: usize = 8;

async fn round(documents: &Documents, db: &store::Db, owner: &str, content: &str) {
    let receipt = receive(documents, owner, "a.txt", content.as_bytes()).await.unwrap();
    let about = UploadMetadata::default();
    let kept = store(documents, db, owner, &about, vec![receipt]).await.unwrap();
    let file = &kept[0].file;
    // The content exists as long as its record does, whatever the other tasks do.
    let read = tokio::fs::read(documents.path(file).unwrap()).await.unwrap();
    assert_eq!(read, content.as_bytes());
    let mut tx = db.begin().await.unwrap();
    documents.delete(&mut tx, &file.id).await.unwrap();
    tx.commit().await.unwrap();
    documents.release(&file.hash).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_record_never_lacks_its_content() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let mut tasks = JoinSet::new();
        let running = Arc::new(AtomicU32::new(TASKS as u32));
        for task in 0..TASKS {
            let (db, running) = (db.clone(), running.clone());
            // Each task has its own `Documents`, so it shares no lock in memory with the others.
            let rules = UploadLimits { uploads_per_minute: 99, ..UploadLimits::default() };
            let folder = fixture.folder.path();
            let documents = Documents::new(db.clone(), folder, fixture.clock.clone(), rules);
            tasks.spawn(async move {
                let owner = format!("user:{task}");
                for number in 0..ROUNDS {
                    let content = format!("content {}", number % 2);
                    round(&documents, &db, &owner, &content).await;
                }
                running.fetch_sub(1, Ordering::SeqCst);
            });
        }
        while running.load(Ordering::SeqCst) > 0 {
            fixture.documents.sweep().await.unwrap();
            tokio::task::yield_now().await;
            if let Some(done) = tasks.try_join_next() {
                done.unwrap();
            }
        }
        tasks.join_all().await;
        assert!(fixture.on_disk().is_empty(), "{:?}", fixture.on_disk());
        let (visibility, filter) = (visibility("user:0", &[]), FileFilter::default());
        assert_eq!(fixture.documents.list(&visibility, &filter, 9, 0).await.unwrap().1, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_release_waits_for_an_upload_that_has_begun_to_keep() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let receipt = fixture.receive("user:1", "a.txt", b"hello").await.unwrap();
        let hash = receipt.hash();
        let mut tx = db.begin().await.unwrap();
        let about = UploadMetadata::default();
        let kept = fixture.documents.store(&mut tx, "user:1", &about, vec![receipt]).await.unwrap();
        let mut releases = JoinSet::new();
        for _ in 0..4 {
            let (documents, hash) = (fixture.documents.clone(), hash.clone());
            releases.spawn(async move { documents.release(&hash).await.unwrap() });
        }
        // A release that does not wait for the lock would remove the content within this time.
        let early = tokio::time::timeout(Duration::from_millis(300), releases.join_next()).await;
        assert!(early.is_err());
        tx.commit().await.unwrap();
        assert_eq!(releases.join_all().await, [false; 4]);
        assert_eq!(
            std::fs::read(fixture.documents.path(&kept[0].file).unwrap()).unwrap(),
            b"hello"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn batches_with_the_same_files_in_another_order_do_not_wait_for_each_other() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let mut tasks = JoinSet::new();
        for task in 0..TASKS {
            let (documents, db) = (fixture.documents.clone(), db.clone());
            tasks.spawn(async move {
                let owner = format!("user:{task}");
                let mut texts = ["one", "two", "three", "four"];
                texts.rotate_left(task % 4);
                let mut receipts = Vec::new();
                for text in texts {
                    let receipt = receive(&documents, &owner, "a.txt", text.as_bytes()).await;
                    receipts.push(receipt.unwrap());
                }
                store(&documents, &db, &owner, &UploadMetadata::default(), receipts)
                    .await
                    .unwrap()
                    .len()
            });
        }
        assert_eq!(tasks.join_all().await, [4; TASKS]);
        assert_eq!(fixture.on_disk().len(), 4);
    })
    .await;
}
