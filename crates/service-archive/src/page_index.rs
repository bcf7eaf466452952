//! The page index of files: made when a file is uploaded or processed, and in the background for
//! files of an earlier version, which had none, or one without facts; also the index of old
//! insights.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use archive_documents::{Documents, FileRecord, PageRecord, chunk_starts, storable};
use archive_insights::Insights;
use archive_search::{FileFacts, FileIndex, FileToIndex, PageToIndex, Search, record_text};
use fault::Fault;
use store::Db;
use tokio::task::spawn_blocking;

use crate::file_facts::facts_of;

/// Files looked up at once.
const FILES_PER_QUERY: u32 = 200;
/// How long to wait after a failure.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// Builds the index of a file: the words of its record and of its pages, and its facts.
pub(crate) fn build(file: &FileRecord, facts: &FileFacts, pages: &[PageRecord]) -> FileIndex {
    let record = record_text(&file.name, &file.tags, file.description.as_deref());
    let entry = FileToIndex {
        id: &file.id,
        owner: &file.owner,
        uploaded_at: file.uploaded_at,
        media_type: &file.mime,
        tags: &file.tags,
        record: &record,
    };
    let pages = pages.iter().map(|it| {
        let text = storable(&it.page.text);
        PageToIndex { page: it.page.number, chunk_starts: chunk_starts(&text), text }
    });
    FileIndex::build(&entry, facts, pages)
}

/// Merges small segments after a commit. A failure is only logged: the next commit tries again.
pub(crate) async fn merge(search: &Search, owner: &str, case_id: Option<&str>) {
    if let Err(fault) = search.merge(owner, case_id).await {
        tracing::warn!("segments of the page index were not merged: {fault}");
    }
}

/// Adds files that have no index entry or no facts in it, one after another, and then indexes old
/// insights again, until there is none left.
pub(crate) struct Backfill {
    pub(crate) db: Db,
    pub(crate) documents: Documents,
    pub(crate) insights: Insights,
    pub(crate) search: Search,
    pub(crate) is_indexing: Arc<AtomicBool>,
    /// Whether there are old insights left.
    pub(crate) is_reindexing: Arc<AtomicBool>,
}

impl Backfill {
    pub(crate) async fn run(self) {
        loop {
            match self.add_missing().await {
                Ok(0) => break,
                Ok(added) => {
                    tracing::info!(files = added, "added files to the page index");
                    break;
                }
                Err(fault) => tracing::warn!("files were not added to the page index: {fault}"),
            }
            tokio::time::sleep(RETRY_AFTER).await;
        }
        self.is_indexing.store(false, Ordering::Relaxed);
        loop {
            match self.insights.reindex_some().await {
                Ok(true) => self.is_reindexing.store(true, Ordering::Relaxed),
                Ok(false) => break,
                Err(fault) => {
                    tracing::warn!("insights were not indexed again: {fault}");
                    tokio::time::sleep(RETRY_AFTER).await;
                }
            }
        }
        self.is_reindexing.store(false, Ordering::Relaxed);
    }

    async fn add_missing(&self) -> Result<u64, Fault> {
        let (mut after, mut added) = (String::new(), 0);
        loop {
            let ids = self.documents.ids_after(&after, FILES_PER_QUERY).await?;
            let Some(last) = ids.last() else { return Ok(added) };
            after.clone_from(last);
            let known = self.search.indexed(&ids).await?;
            for id in ids.iter().filter(|id| !known.contains(id)) {
                added += u64::from(self.add(id).await?);
            }
            let complete = self.search.with_facts(&ids).await?;
            for id in known.iter().filter(|id| !complete.contains(id)) {
                added += u64::from(self.add_facts(id).await?);
            }
        }
    }

    /// Adds one file; false if it was deleted or processed meanwhile.
    async fn add(&self, id: &str) -> Result<bool, Fault> {
        let file = match self.documents.find(id).await {
            Ok(file) => file,
            Err(fault) if fault.code() == "file_not_found" => return Ok(false),
            Err(fault) => return Err(fault),
        };
        let pages = self.documents.pages(id, 1..=u32::MAX, usize::MAX).await?.pages;
        let (read, facts) = (file.clone(), self.facts(id).await?);
        let index = spawn_blocking(move || build(&read, &facts, &pages)).await;
        let index = index.map_err(Fault::internal)?;
        let mut tx = self.db.begin().await?;
        let now = match self.documents.find_locked(&mut tx, id).await {
            Ok(file) => file,
            Err(fault) if fault.code() == "file_not_found" => return Ok(false),
            Err(fault) => return Err(fault),
        };
        // Pages that a job has stored since then are in the index already.
        let is_same = (&now.job_id, now.page_count) == (&file.job_id, file.page_count);
        if !is_same || !self.search.indexed(&[id.to_owned()]).await?.is_empty() {
            return Ok(false);
        }
        let case = now.case_id.as_deref();
        self.search.replace(&mut tx, id, &now.owner, case, index).await?;
        tx.commit().await?;
        merge(&self.search, &now.owner, case).await;
        Ok(true)
    }

    /// Adds the facts of one file; false if it was deleted meanwhile.
    async fn add_facts(&self, id: &str) -> Result<bool, Fault> {
        let facts = self.facts(id).await?;
        let mut tx = self.db.begin().await?;
        match self.documents.find_locked(&mut tx, id).await {
            Ok(_) => {}
            Err(fault) if fault.code() == "file_not_found" => return Ok(false),
            Err(fault) => return Err(fault),
        }
        // A job that has ended since then has stored newer facts.
        if self.search.with_facts(&[id.to_owned()]).await?.is_empty() {
            self.search.set_facts(&mut tx, id, &facts).await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    async fn facts(&self, id: &str) -> Result<FileFacts, Fault> {
        let found = self.insights.found_by_jobs(id).await?;
        Ok(facts_of(found.iter().map(|(category, entities)| (category.as_str(), entities))))
    }
}
