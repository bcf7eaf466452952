//! What a process that is killed leaves behind, and what a sweep makes of it.

use std::pin::Pin;
use std::task::Poll;

use testkit::on_every_engine;

use super::Fixture;
use crate::{SweepReport, UploadMetadata};

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_removes_the_files_of_dead_processes_and_no_others() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let kept = fixture.upload("user:1", "a.txt", "kept").await;
        // A process was killed while it received a file: no process has locked it in `incoming/`.
        let incoming = fixture.folder.path().join("files/incoming");
        std::fs::write(incoming.join("1-7"), "half a fi").unwrap();
        // A process was killed after it renamed the file and before it committed the record.
        let receipt = fixture.receive("user:1", "b.txt", b"renamed").await.unwrap();
        let mut tx = db.begin().await.unwrap();
        let about = UploadMetadata::default();
        fixture.documents.store(&mut tx, "user:1", &about, vec![receipt]).await.unwrap();
        drop(tx);
        // A process was killed after a delete was committed and before the content was removed.
        let deleted = fixture.upload("user:1", "c.txt", "deleted").await;
        let mut tx = db.begin().await.unwrap();
        fixture.documents.delete(&mut tx, &deleted.id).await.unwrap();
        tx.commit().await.unwrap();
        // Two files of live writers: one is being received, one is complete without a record.
        let mut receiver = fixture.documents.begin("user:1", "d.txt").await.unwrap();
        receiver.write(b"still ").await.unwrap();
        let waiting = fixture.receive("user:1", "e.txt", b"waiting").await.unwrap();
        // A file that the store did not write stays.
        let stranger = fixture.folder.path().join("files").join(&kept.hash[..2]).join("README");
        std::fs::write(&stranger, "?").unwrap();

        assert_eq!(fixture.on_disk().len(), 7);
        let swept = fixture.documents.sweep().await.unwrap();
        assert_eq!(swept, SweepReport { temporary: 1, blobs: 2 });
        assert_eq!(fixture.documents.sweep().await.unwrap(), SweepReport::default());
        receiver.write(b"here").await.unwrap();
        let receiver = receiver.finish().await.unwrap();
        let files = fixture.store("user:1", &about, vec![receiver, waiting]).await;
        let mut paths = vec![fixture.documents.path(&kept).unwrap(), stranger];
        paths.extend(files.iter().map(|it| fixture.documents.path(&it.file).unwrap()));
        paths.sort();
        assert_eq!(fixture.on_disk(), paths);
    })
    .await;
}

/// Polls a call once; true if it is not finished.
async fn is_cut_off<T>(mut call: Pin<&mut impl Future<Output = T>>) -> bool {
    std::future::poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_pending())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_at_any_step_leaves_nothing() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let large = vec![b'a'; 3_000_000];
        drop(fixture.documents.begin("user:1", "a.txt").await.unwrap());
        let mut receiver = fixture.documents.begin("user:1", "a.txt").await.unwrap();
        receiver.write(&large).await.unwrap();
        assert_eq!(fixture.on_disk().len(), 1);
        drop(receiver);
        assert!(fixture.on_disk().is_empty());
        // A write is dropped in the middle.
        let mut receiver = fixture.documents.begin("user:1", "a.txt").await.unwrap();
        let mut write = Box::pin(receiver.write(&large));
        let cut_off = is_cut_off(write.as_mut()).await;
        drop(write);
        // Bytes of the dropped write may be lost, so the file cannot be finished.
        assert_eq!(receiver.finish().await.is_err(), cut_off);
        assert!(fixture.on_disk().is_empty());
        drop(fixture.receive("user:1", "a.txt", &large).await.unwrap());
        assert!(fixture.on_disk().is_empty());
    })
    .await;
}
