//! Stores, finds, lists and deletes files.
//!
//! One lock per content keeps a blob and its records consistent: creating a record and removing a
//! blob both take it. PostgreSQL uses an advisory lock of the transaction; on SQLite the single
//! writer is the lock. It therefore also works between processes that share the data folder.

mod pending;
mod reading;
mod sweeping;

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use archive_accounts::Visibility;
use clock::{Clock, DAY_MS, IdGenerator, Millis};
use fault::{Fault, Kind};
use store::{BlobHash, Db, DiskBlobs, StagedBlob, Tx};
use tokio::task::spawn_blocking;

pub use pending::{NewPendingUpload, PendingUpload, UploadPiece};
pub use sweeping::SweepReport;

use crate::file::{FileFilter, FileRecord, FileStatus};
use crate::page::storable;
use crate::quota::{self, HOUR_MS};
use crate::receive::{FileReceiver, ReceivedFile, megabytes};
use crate::{kind, name, sql};

/// Longer than the queue keeps the result of a job.
const JOB_LINK_LIFE_MS: i64 = 45 * DAY_MS;

/// Files of one upload where no rate limits them.
const FILES_PER_UPLOAD_MAX: u32 = 500;

/// How much one owner may upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadLimits {
    /// 0 means any number.
    pub uploads_per_minute: u32,
    /// 0 means any number.
    pub uploads_per_hour: u32,
    pub file_bytes: u64,
    /// Bytes of all files of one upload, which the reader of the form enforces.
    pub batch_bytes: u64,
    /// Bytes of all files of the owner.
    pub owner_bytes: u64,
}

impl Default for UploadLimits {
    fn default() -> Self {
        Self {
            uploads_per_minute: 10,
            uploads_per_hour: 100,
            file_bytes: 100 << 20,
            batch_bytes: 500 << 20,
            owner_bytes: 20 << 30,
        }
    }
}

impl UploadLimits {
    /// What `file_bytes` may be. The process that reads a file has 2 GB of memory and holds it whole.
    pub const FILE_BYTES: RangeInclusive<u64> = 1 << 20..=1 << 30;

    fn has_rate(&self) -> bool {
        self.uploads_per_minute > 0 || self.uploads_per_hour > 0
    }

    /// The limits in force, each with the setting that changes it.
    fn refusal(&self, wait: Duration) -> String {
        let limits = [
            (self.uploads_per_minute, "a minute (archive_uploads_per_minute)"),
            (self.uploads_per_hour, "an hour (archive_uploads_per_hour)"),
        ];
        let set = limits.iter().filter(|(limit, _)| *limit > 0);
        let set: Vec<String> = set.map(|(limit, per)| format!("{limit} files {per}")).collect();
        let seconds = wait.as_millis().div_ceil(1_000);
        format!("at most {} may be sent; try again in {seconds} seconds", set.join(" and "))
    }

    /// The files of one upload: no more than the rates allow at once.
    fn files_per_upload(&self) -> u32 {
        let rates = [self.uploads_per_minute, self.uploads_per_hour];
        let rates = rates.into_iter().filter(|limit| *limit > 0);
        rates.fold(FILES_PER_UPLOAD_MAX, u32::min)
    }
}

/// The metadata that the files of one upload share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UploadMetadata {
    pub case_id: Option<String>,
    pub tags: Vec<String>,
    pub description: Option<String>,
}

/// A file whose record was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    pub file: FileRecord,
    /// The same owner already had this content. Content of other owners is not revealed.
    pub stored_before: bool,
}

/// A handle; cloning it is cheap.
#[derive(Clone)]
pub struct Documents {
    db: Db,
    blobs: Arc<DiskBlobs>,
    clock: Arc<dyn Clock>,
    rules: UploadLimits,
    ids: Arc<IdGenerator>,
}

impl Documents {
    /// The contents are in `files/` of the data folder.
    pub fn new(db: Db, data_dir: &Path, clock: Arc<dyn Clock>, rules: UploadLimits) -> Self {
        let blobs = Arc::new(DiskBlobs::new(data_dir.join("files")));
        Self { db, blobs, clock, rules, ids: Arc::default() }
    }

    /// Starts receiving a file with a name of an accepted type. It counts as an upload even if it
    /// fails later.
    pub async fn begin(&self, owner: &str, file_name: &str) -> Result<FileReceiver, Fault> {
        kind::check_name(&name::clean_file_name(file_name)?)?;
        self.count_upload(owner).await?;
        self.begin_counted(file_name).await
    }

    /// Starts receiving a file that was counted before, or that is of the user of this machine,
    /// whose uploads are not counted.
    pub async fn begin_counted(&self, file_name: &str) -> Result<FileReceiver, Fault> {
        let name = name::clean_file_name(file_name)?;
        kind::check_name(&name)?;
        let writer = self.blobs.begin(u64::MAX).await?;
        Ok(FileReceiver { name, writer, bytes_max: self.rules.file_bytes })
    }

    /// Counts an upload; a fault if the owner has sent too many files, or has no room for more.
    pub async fn count_upload(&self, owner: &str) -> Result<(), Fault> {
        let (now, rules) = (self.clock.now(), &self.rules);
        let mut tx = self.db.begin().await?;
        sql::lock(&self.db, &mut tx, "owner", owner).await?;
        let minute = sql::nth_upload(&mut tx, owner, rules.uploads_per_minute).await?;
        let hour = sql::nth_upload(&mut tx, owner, rules.uploads_per_hour).await?;
        if let Some(wait) = quota::wait(minute, hour, now) {
            let fault = Fault::new(Kind::RateLimited, "too_many_uploads", rules.refusal(wait));
            return Err(fault.retry_after(wait));
        }
        self.check_room(&mut tx, owner, 1).await?;
        tx.execute(sql::delete_uploads_of(owner, Millis(now.0.saturating_sub(HOUR_MS)))).await?;
        if rules.has_rate() {
            sql::record_upload(&mut tx, owner, now).await?;
        }
        tx.commit().await
    }

    async fn check_room(&self, tx: &mut Tx, owner: &str, more: u64) -> Result<(), Fault> {
        let (has, may) = (sql::bytes_of(tx, owner).await?, self.rules.owner_bytes);
        if has.saturating_add(more) <= may {
            return Ok(());
        }
        let (has, may) = (megabytes(has), megabytes(may));
        let message = format!(
            "your files take {has} of the {may} (archive_user_bytes_max) that you may store, and \
             this would be more; delete some"
        );
        Err(Fault::invalid("quota_exceeded", message))
    }

    /// Creates the records of received files: all of them, or none if the transaction is not
    /// committed. Commit at once, because uploads of the same content wait for the lock. If the
    /// commit or anything else fails, [`Self::release`] the hashes.
    pub async fn store(
        &self,
        tx: &mut Tx,
        owner: &str,
        about: &UploadMetadata,
        receipts: Vec<ReceivedFile>,
    ) -> Result<Vec<StoredFile>, Fault> {
        if receipts.is_empty() {
            return Ok(Vec::new());
        }
        sql::lock(&self.db, tx, "owner", owner).await?;
        let bytes = receipts.iter().fold(0_u64, |sum, it| sum.saturating_add(it.size()));
        self.check_room(tx, owner, bytes).await?;
        // Sorted, so that two batches cannot deadlock.
        let hashes: BTreeSet<String> = receipts.iter().map(ReceivedFile::hash).collect();
        let hashes: Vec<String> = hashes.into_iter().collect();
        for hash in &hashes {
            sql::lock(&self.db, tx, "blob", hash).await?;
        }
        let mut owned = sql::owned(tx, owner, &hashes).await?;
        let now = self.clock.now();
        let (mut kept, mut staged) = (Vec::new(), Vec::<StagedBlob>::new());
        for receipt in receipts {
            let file = self.record(owner, about, &receipt, now)?;
            sql::insert(tx, &file).await?;
            let stored_before = !owned.insert(file.hash.clone());
            kept.push(StoredFile { file, stored_before });
            staged.push(receipt.staged);
        }
        self.blobs.publish(&staged).await?;
        Ok(kept)
    }

    fn record(
        &self,
        owner: &str,
        about: &UploadMetadata,
        receipt: &ReceivedFile,
        now: Millis,
    ) -> Result<FileRecord, Fault> {
        Ok(FileRecord {
            id: self.ids.next(now),
            owner: owner.to_owned(),
            case_id: about.case_id.clone(),
            name: receipt.name.clone(),
            size: receipt.size(),
            mime: receipt.kind.media_type().to_owned(),
            hash: receipt.hash(),
            tags: about.tags.iter().map(|it| storable(it).into_owned()).collect(),
            description: about.description.as_deref().map(|it| storable(it).into_owned()),
            uploaded_at: now,
            status: FileStatus::Uploaded,
            job_id: None,
            error: None,
            page_count: None,
            word_count: None,
            problems: Vec::new(),
        })
    }

    pub async fn find(&self, id: &str) -> Result<FileRecord, Fault> {
        check_id(id)?;
        sql::by_id(&self.db, id).await?.ok_or_else(|| unknown(id))
    }

    /// Files of one upload: no more than the limits allow in one minute, and 500 without limits.
    pub fn files_per_upload_max(&self) -> usize {
        self.rules.files_per_upload() as usize
    }

    pub fn upload_limits(&self) -> &UploadLimits {
        &self.rules
    }

    /// How many files each of these cases has, by the case's id. A case without files, or one that
    /// the caller may not see, is left out.
    pub async fn count_by_case(
        &self,
        visibility: &Visibility,
        case_ids: &[&str],
    ) -> Result<HashMap<String, u64>, Fault> {
        let is_visible = |id: &&str| visibility.case(id).is_some();
        let visible: Vec<&str> = case_ids.iter().copied().filter(is_visible).collect();
        sql::count_by_case(&self.db, &visible).await
    }

    /// The record, locked until the transaction ends.
    pub async fn find_locked(&self, tx: &mut Tx, id: &str) -> Result<FileRecord, Fault> {
        check_id(id)?;
        sql::by_id_locked(&self.db, tx, id).await?.ok_or_else(|| unknown(id))
    }

    /// The visible files, newest first, and their total.
    pub async fn list(
        &self,
        visibility: &Visibility,
        filter: &FileFilter,
        limit: u32,
        offset: u64,
    ) -> Result<(Vec<FileRecord>, u64), Fault> {
        let cases: Vec<&str> = visibility.cases.iter().map(|case| case.id.as_str()).collect();
        sql::list(&self.db, (&visibility.owner, &cases), filter, (limit, offset)).await
    }

    /// The path of the content, for the extraction process.
    pub fn path(&self, file: &FileRecord) -> Result<PathBuf, Fault> {
        Ok(self.blobs.path(blob(&file.hash)?))
    }

    /// Opens the content. An open file stays readable after it was deleted.
    pub async fn open(&self, file: &FileRecord) -> Result<tokio::fs::File, Fault> {
        self.blobs.open(blob(&file.hash)?).await.map_err(|fault| match fault.kind() {
            // The file was deleted after its record was read.
            Kind::NotFound => unknown(&file.id),
            _ => fault,
        })
    }

    /// Removes the record and the pages of a file. After the commit, [`Self::release`] its hash.
    pub async fn delete(&self, tx: &mut Tx, id: &str) -> Result<FileRecord, Fault> {
        check_id(id)?;
        pending::forget_file(tx, id).await?;
        sql::delete(tx, id).await?.ok_or_else(|| unknown(id))
    }

    /// Links a job whose result quotes this file, so that deleting the file deletes the result. Locks
    /// the file until the transaction ends.
    pub async fn link_quoting_job(&self, tx: &mut Tx, id: &str, job_id: &str) -> Result<(), Fault> {
        let file = self.find_locked(tx, id).await?;
        let now = self.clock.now();
        let forget = Millis(now.0.saturating_sub(JOB_LINK_LIFE_MS));
        sql::link_quoting_job(tx, (&file.id, job_id), now, forget).await
    }

    /// The jobs whose results quote this file.
    pub async fn quoting_jobs(&self, tx: &mut Tx, id: &str) -> Result<Vec<String>, Fault> {
        sql::quoting_jobs(tx, id).await
    }

    /// Removes and returns the links to jobs whose results quote this file.
    pub async fn take_quoting_jobs(&self, tx: &mut Tx, id: &str) -> Result<Vec<String>, Fault> {
        sql::take_quoting_jobs(tx, id).await
    }

    /// Removes the content if no record refers to it, and returns whether it was removed. Safe at any
    /// time: a concurrent upload of the same content either is seen here or writes it again.
    pub async fn release(&self, hash: &str) -> Result<bool, Fault> {
        let blob = blob(hash)?;
        let mut tx = self.db.begin().await?;
        sql::lock(&self.db, &mut tx, "blob", hash).await?;
        let has_record = sql::has_record(&mut tx, hash).await?;
        let withdrawn = if has_record { None } else { self.blobs.withdraw(blob)? };
        tx.commit().await?;
        let Some(withdrawn) = withdrawn else { return Ok(false) };
        spawn_blocking(move || drop(withdrawn)).await.map_err(Fault::internal)?;
        Ok(true)
    }
}

fn blob(hash: &str) -> Result<BlobHash, Fault> {
    hash.parse()
}

/// Refuses texts that cannot be an id without a query.
fn check_id(id: &str) -> Result<(), Fault> {
    let could_be = id.len() <= 64 && id.bytes().all(|it| it.is_ascii_graphic());
    if could_be { Ok(()) } else { Err(unknown(id)) }
}

fn unknown(id: &str) -> Fault {
    let shown: String = id.chars().take(64).collect();
    Fault::not_found("file_not_found", format!("there is no file {shown:?}"))
}
