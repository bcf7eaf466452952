//! Uploads that arrive in pieces.

use std::time::Duration;

use clock::Millis;
use testkit::on_every_engine;

use super::{Fixture, NOW};
use crate::{NewPendingUpload, PendingUpload, UploadLimits, UploadMetadata, UploadPiece};

const LIFE: i64 = 60_000;

impl Fixture {
    async fn open_upload(&self, owner: &str) -> Result<PendingUpload, fault::Fault> {
        let expires_at = Millis(NOW.0 + LIFE);
        let new = NewPendingUpload { owner, file_name: "a.txt", about: "{}", expires_at };
        self.documents.open_upload(new).await
    }

    async fn add(&self, open: &PendingUpload, at: u64, bytes: &[u8]) -> Result<u64, &'static str> {
        let piece = UploadPiece { at, bytes, expires_at: Millis(NOW.0 + 2 * LIFE) };
        self.documents.add_piece(open, piece).await.map_err(|fault| fault.code())
    }
}

#[tokio::test]
async fn pieces_follow_each_other_and_may_be_repeated() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let open = fixture.open_upload("user:1").await.unwrap();
        for (at, bytes, expected) in [
            (1, b"late".as_slice(), Err("wrong_offset")),
            (0, b"one ", Ok(4)),
            (0, b"one ", Ok(4)),
            (0, b"two ", Err("wrong_offset")),
            (2, b"e ", Err("wrong_offset")),
            (4, b"two", Ok(7)),
            (8, b"!", Err("wrong_offset")),
        ] {
            assert_eq!(fixture.add(&open, at, bytes).await, expected, "{at}");
        }
        let found = fixture.documents.pending_upload("user:1", &open.id).await.unwrap();
        assert_eq!((found.received, found.file_id.clone()), (7, None));
        let foreign = fixture.documents.pending_upload("user:2", &open.id).await;
        assert_eq!(foreign.unwrap_err().code(), "upload_not_found");
        let mut text = Vec::new();
        while let Some(bytes) = fixture.documents.piece(&open, text.len() as u64).await.unwrap() {
            text.extend(bytes);
        }
        assert_eq!(text, b"one two");
        let receipt = fixture.receive("user:1", "a.txt", &text).await.unwrap();
        let mut tx = db.begin().await.unwrap();
        let about = UploadMetadata::default();
        let stored =
            fixture.documents.store(&mut tx, "user:1", &about, vec![receipt]).await.unwrap();
        let file = &stored[0].file.id;
        fixture.documents.close_upload(&mut tx, &open, file).await.unwrap();
        let twice = fixture.documents.close_upload(&mut tx, &open, file).await;
        assert_eq!(twice.unwrap_err().code(), "upload_not_found");
        tx.commit().await.unwrap();
        assert_eq!(fixture.add(&open, 7, b"x").await, Err("upload_not_found"));
        assert_eq!(fixture.documents.piece(&open, 0).await.unwrap(), None);
        let closed = fixture.documents.pending_upload("user:1", &open.id).await.unwrap();
        assert_eq!(closed.file_id.as_ref(), Some(file));
        // A deleted file leaves nothing, its name included.
        fixture.delete(file).await;
        let gone = fixture.documents.pending_upload("user:1", &open.id).await;
        assert_eq!(gone.unwrap_err().code(), "upload_not_found");
    })
    .await;
}

#[tokio::test]
async fn open_uploads_are_bounded_and_expire() {
    on_every_engine(async |db| {
        let rules = UploadLimits { file_bytes: 10, ..UploadLimits::default() };
        let fixture = Fixture::under(db, rules).await;
        let first = fixture.open_upload("user:1").await.unwrap();
        assert_eq!(fixture.add(&first, 0, b"0123456789").await, Ok(10));
        assert_eq!(fixture.add(&first, 10, b"x").await, Err("file_too_large"));
        for _ in 1..16 {
            fixture.open_upload("user:1").await.unwrap();
        }
        let more = fixture.open_upload("user:1").await;
        assert_eq!(more.unwrap_err().code(), "too_many_uploads");
        fixture.open_upload("user:2").await.unwrap();
        // The first one has got a piece, so it waits longer than the others.
        fixture.clock.advance(Duration::from_millis(LIFE as u64));
        fixture.documents.sweep().await.unwrap();
        assert!(fixture.documents.pending_upload("user:1", &first.id).await.is_ok());
        let rows = |table: &str| {
            let count = store::sql_built(format!("SELECT COUNT(*) FROM {table}"));
            async move { db.fetch_optional(count).await.unwrap().unwrap().count(0).unwrap() }
        };
        assert_eq!(rows("archive_pending_uploads").await, 1);
        fixture.clock.advance(Duration::from_millis(LIFE as u64));
        let late = fixture.documents.pending_upload("user:1", &first.id).await;
        assert_eq!(late.unwrap_err().code(), "upload_not_found");
        fixture.documents.sweep().await.unwrap();
        assert_eq!(rows("archive_pending_uploads").await + rows("archive_upload_pieces").await, 0);
    })
    .await;
}
