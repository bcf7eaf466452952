//! Files on both engines, under a clock that is set by hand.

use std::path::PathBuf;
use std::sync::Arc;

use archive_accounts::{CaseAccess, Visibility};
use clock::Millis;
use fault::Fault;
use store::Db;
use testkit::{FakeClock, TempFolder};

use crate::{
    Documents, FileRecord, MIGRATIONS, ReceivedFile, StoredFile, UploadLimits, UploadMetadata,
};

mod file_types;
mod listing;
mod pending;
mod racing;
mod reading;
mod sweeping;
mod uploading;

const NOW: Millis = Millis(1_800_000_000_000);

struct Fixture {
    db: Db,
    folder: TempFolder,
    clock: Arc<FakeClock>,
    documents: Documents,
}

impl Fixture {
    async fn new(db: &Db) -> Self {
        let generous = UploadLimits {
            uploads_per_minute: 1_000,
            uploads_per_hour: 1_000,
            ..UploadLimits::default()
        };
        Self::under(db, generous).await
    }

    async fn under(db: &Db, rules: UploadLimits) -> Self {
        db.migrate(&[MIGRATIONS]).await.unwrap();
        let (folder, clock) = (TempFolder::new(), Arc::new(FakeClock::new(NOW)));
        let documents = Documents::new(db.clone(), folder.path(), clock.clone(), rules);
        Self { db: db.clone(), folder, clock, documents }
    }

    async fn receive(&self, owner: &str, name: &str, bytes: &[u8]) -> Result<ReceivedFile, Fault> {
        receive(&self.documents, owner, name, bytes).await
    }

    async fn store(
        &self,
        owner: &str,
        about: &UploadMetadata,
        receipts: Vec<ReceivedFile>,
    ) -> Vec<StoredFile> {
        store(&self.documents, &self.db, owner, about, receipts).await.unwrap()
    }

    /// Sends one text file in no case.
    async fn upload(&self, owner: &str, name: &str, text: &str) -> FileRecord {
        let receipt = self.receive(owner, name, text.as_bytes()).await.unwrap();
        self.store(owner, &UploadMetadata::default(), vec![receipt]).await.remove(0).file
    }

    async fn delete(&self, id: &str) {
        let mut tx = self.db.begin().await.unwrap();
        let file = self.documents.delete(&mut tx, id).await.unwrap();
        tx.commit().await.unwrap();
        self.documents.release(&file.hash).await.unwrap();
    }

    /// Every file in the folder of contents, by its name.
    fn on_disk(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.path().join("files")];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(folder) else { continue };
            for entry in entries {
                let path = entry.unwrap().path();
                if path.is_dir() { &mut folders } else { &mut found }.push(path);
            }
        }
        found.sort();
        found
    }
}

async fn receive(
    documents: &Documents,
    owner: &str,
    name: &str,
    bytes: &[u8],
) -> Result<ReceivedFile, Fault> {
    let mut receiver = documents.begin(owner, name).await?;
    // An odd size, so that chunks and buffers do not end together.
    for chunk in bytes.chunks(10_007) {
        receiver.write(chunk).await?;
    }
    assert_eq!(receiver.received_bytes(), bytes.len() as u64);
    receiver.finish().await
}

async fn store(
    documents: &Documents,
    db: &Db,
    owner: &str,
    about: &UploadMetadata,
    receipts: Vec<ReceivedFile>,
) -> Result<Vec<StoredFile>, Fault> {
    let mut tx = db.begin().await?;
    let kept = documents.store(&mut tx, owner, about, receipts).await?;
    tx.commit().await?;
    Ok(kept)
}

fn visibility(owner: &str, case_ids: &[&str]) -> Visibility {
    let case = |id: &&str| CaseAccess {
        id: (*id).to_owned(),
        name: format!("name of {id}"),
        own: false,
        may_write: false,
    };
    Visibility { owner: owner.to_owned(), cases: case_ids.iter().map(case).collect() }
}
