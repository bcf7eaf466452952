//! Taking files in: what a record says, what counts against whom, and what a refusal leaves.

use std::time::Duration;

use clock::Clock as _;
use fault::Kind;
use testkit::on_every_engine;
use tokio::io::AsyncReadExt as _;

use super::{Fixture, store};
use crate::{Documents, FileRecord, FileStatus, UploadLimits, UploadMetadata};

const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

#[tokio::test(flavor = "multi_thread")]
async fn a_record_says_what_was_sent_and_the_content_comes_back() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let long: String = (0..100_000).map(|line| format!("line {line}\n")).collect();
        let small = fixture.receive("user:1", "C:\\docs\\hello.txt", b"hello").await.unwrap();
        let large = fixture.receive("user:1", "long.md", long.as_bytes()).await.unwrap();
        let about = UploadMetadata {
            case_id: Some("case-1".to_owned()),
            tags: vec!["a".to_owned(), "quoted \"б\"".to_owned()],
            description: Some("first\0 batch".to_owned()),
        };
        let kept = fixture.store("user:1", &about, vec![small, large]).await;
        let expected = FileRecord {
            id: kept[0].file.id.clone(),
            owner: "user:1".to_owned(),
            case_id: Some("case-1".to_owned()),
            name: "hello.txt".to_owned(),
            size: 5,
            mime: "text/plain".to_owned(),
            hash: HELLO.to_owned(),
            tags: about.tags.clone(),
            description: Some("first\u{fffd} batch".to_owned()),
            uploaded_at: fixture.clock.now(),
            status: FileStatus::Uploaded,
            job_id: None,
            error: None,
            page_count: None,
            word_count: None,
            problems: Vec::new(),
        };
        assert_eq!(kept[0].file, expected);
        assert_eq!(fixture.documents.find(&expected.id).await.unwrap(), expected);
        let file = &kept[1].file;
        let mut read = String::new();
        fixture.documents.open(file).await.unwrap().read_to_string(&mut read).await.unwrap();
        assert!(read == long && file.size == long.len() as u64);
        assert_eq!(std::fs::read(fixture.documents.path(file).unwrap()).unwrap(), long.as_bytes());
        assert_eq!(fixture.on_disk().len(), 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_content_is_on_the_disk_once_and_goes_with_its_last_record() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let first = fixture.receive("user:1", "a.txt", b"hello").await.unwrap();
        let again = fixture.receive("user:1", "b.txt", b"hello").await.unwrap();
        let mine = fixture.store("user:1", &UploadMetadata::default(), vec![first, again]).await;
        let theirs = fixture.receive("user:2", "c.txt", b"hello").await.unwrap();
        let theirs = fixture.store("user:2", &UploadMetadata::default(), vec![theirs]).await;
        // The second file of the batch equals the first. user:2 does not learn that user:1 has the
        // same content.
        let before = [&mine[0], &mine[1], &theirs[0]].map(|it| it.stored_before);
        assert_eq!(before, [false, true, false]);
        let third = fixture.receive("user:1", "d.txt", b"hello").await.unwrap();
        assert!(
            fixture.store("user:1", &UploadMetadata::default(), vec![third]).await[0].stored_before
        );
        assert_eq!(fixture.on_disk().len(), 1);
        fixture.delete(&mine[0].file.id).await;
        fixture.delete(&mine[1].file.id).await;
        assert!(!fixture.documents.release(HELLO).await.unwrap());
        assert_eq!(fixture.on_disk().len(), 1);
        fixture.delete(&theirs[0].file.id).await;
        let last = fixture.documents.find(&mine[1].file.id).await.unwrap_err();
        assert_eq!((last.kind(), last.code()), (Kind::NotFound, "file_not_found"));
        let visibility = super::visibility("user:1", &[]);
        let (left, _) =
            fixture.documents.list(&visibility, &Default::default(), 9, 0).await.unwrap();
        assert_eq!(left.len(), 1);
        // The folder is missing after a restore from a backup without empty folders.
        std::fs::remove_dir(fixture.folder.path().join("files/incoming")).unwrap();
        fixture.delete(&left[0].id).await;
        assert!(fixture.on_disk().is_empty());
        assert_eq!(fixture.documents.open(&left[0]).await.unwrap_err().code(), "file_not_found");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_is_not_committed_leaves_no_record() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let receipt = fixture.receive("user:1", "a.txt", b"hello").await.unwrap();
        let hash = receipt.hash();
        let mut tx = db.begin().await.unwrap();
        let about = UploadMetadata::default();
        let kept = fixture.documents.store(&mut tx, "user:1", &about, vec![receipt]).await.unwrap();
        drop(tx);
        let found = fixture.documents.find(&kept[0].file.id).await;
        assert_eq!(found.unwrap_err().code(), "file_not_found");
        assert!(fixture.documents.release(&hash).await.unwrap());
        assert!(fixture.on_disk().is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_are_counted_by_owner_even_across_a_restart() {
    on_every_engine(async |db| {
        let rules =
            UploadLimits { uploads_per_minute: 2, uploads_per_hour: 3, ..UploadLimits::default() };
        let fixture = Fixture::under(db, rules.clone()).await;
        fixture.documents.begin("user:1", "a.txt").await.unwrap();
        fixture.clock.advance(Duration::from_secs(20));
        // A file that is refused because of its type counts as an upload.
        assert!(fixture.receive("user:1", "a.pdf", b"text").await.is_err());
        let again =
            Documents::new(db.clone(), fixture.folder.path(), fixture.clock.clone(), rules.clone());
        let refused = again.begin("user:1", "a.txt").await.err().unwrap();
        assert_eq!((refused.kind(), refused.code()), (Kind::RateLimited, "too_many_uploads"));
        assert_eq!(refused.retry_wait(), Some(Duration::from_secs(40)));
        let limits = "at most 2 files a minute (archive_uploads_per_minute) and 3 files an hour \
                      (archive_uploads_per_hour) may be sent; try again in 40 seconds";
        assert_eq!(refused.message(), limits);
        // The name is checked before the rate, and other owners are not limited.
        assert_eq!(again.begin("user:1", "..").await.err().unwrap().code(), "invalid_file_name");
        again.begin("user:2", "a.txt").await.unwrap();
        fixture.clock.advance(Duration::from_secs(40));
        again.begin("user:1", "a.txt").await.unwrap();
        let refused = again.begin("user:1", "a.txt").await.err().unwrap();
        assert_eq!(refused.retry_wait(), Some(Duration::from_secs(3_600 - 60)));
        fixture.clock.advance(Duration::from_secs(3_540));
        again.begin("user:1", "a.txt").await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_0_is_none() {
    on_every_engine(async |db| {
        let limits = |uploads_per_minute, uploads_per_hour| UploadLimits {
            uploads_per_minute,
            uploads_per_hour,
            ..UploadLimits::default()
        };
        let none = Fixture::under(db, limits(0, 0)).await;
        for _ in 0..150 {
            none.documents.begin("user:1", "a.txt").await.unwrap();
        }
        assert_eq!(none.documents.files_per_upload_max(), 500);
        // Uploads without a limit are not recorded, so a limit that is set later starts from zero.
        let hourly = Fixture::under(db, limits(0, 2)).await;
        assert_eq!(hourly.documents.files_per_upload_max(), 2);
        hourly.documents.begin("user:1", "a.txt").await.unwrap();
        hourly.documents.begin("user:1", "a.txt").await.unwrap();
        let refused = hourly.documents.begin("user:1", "a.txt").await.err().unwrap();
        let message = "at most 2 files an hour (archive_uploads_per_hour) may be sent; \
                       try again in 3600 seconds";
        assert_eq!(refused.message(), message);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_at_once_are_counted_one_by_one() {
    on_every_engine(async |db| {
        let rules = UploadLimits { uploads_per_minute: 5, ..UploadLimits::default() };
        let fixture = Fixture::under(db, rules).await;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..12 {
            let documents = fixture.documents.clone();
            tasks.spawn(async move { documents.begin("user:1", "a.txt").await.is_ok() });
        }
        let let_in = tasks.join_all().await.into_iter().filter(|it| *it).count();
        assert_eq!(let_in, 5);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_stores_so_much_and_a_file_is_so_large() {
    on_every_engine(async |db| {
        let rules = UploadLimits { file_bytes: 10, owner_bytes: 15, ..UploadLimits::default() };
        let fixture = Fixture::under(db, rules).await;
        let about = UploadMetadata::default();
        let refused = fixture.receive("user:1", "a.txt", b"12345678901").await.err().unwrap();
        assert_eq!(refused.code(), "file_too_large");
        assert!(fixture.on_disk().is_empty());
        let first = fixture.receive("user:1", "a.txt", b"1234567890").await.unwrap();
        fixture.store("user:1", &about, vec![first]).await;
        let second = fixture.receive("user:1", "b.txt", b"123456").await.unwrap();
        let refused = store(&fixture.documents, db, "user:1", &about, vec![second]).await;
        let refused = refused.unwrap_err();
        assert_eq!((refused.kind(), refused.code()), (Kind::Invalid, "quota_exceeded"));
        let third = fixture.receive("user:1", "b.txt", b"12345").await.unwrap();
        fixture.store("user:1", &about, vec![third]).await;
        // Full: a further file is not even read.
        let refused = fixture.documents.begin("user:1", "c.txt").await.err().unwrap();
        assert_eq!(refused.code(), "quota_exceeded");
        fixture.documents.begin("user:2", "c.txt").await.unwrap();
        assert_eq!(fixture.on_disk().len(), 2);
    })
    .await;
}
