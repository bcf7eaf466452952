//! The status of a file during and after processing, and the text of its pages.

use std::borrow::Borrow;
use std::ops::RangeInclusive;

use fault::{Fault, Kind};
use store::{Sql, Tx};

use super::{Documents, check_id, unknown};
use crate::file::{ExtractionResult, FileRecord, FileStatus, bounded, short};
use crate::page::{PageBatch, PageChunk, PageRecord, PagesWritten, join};
use crate::sql::{self, ChunkAddress, PageRows};

/// Bytes counted per page besides its text, so that empty pages are bounded too.
const PAGE_OVERHEAD: usize = 64;

impl Documents {
    pub async fn set_status(&self, tx: &mut Tx, id: &str, status: FileStatus) -> Result<(), Fault> {
        change(tx, id, sql::set_status(id, status)).await
    }

    pub async fn set_case(
        &self,
        tx: &mut Tx,
        id: &str,
        case_id: Option<&str>,
    ) -> Result<(), Fault> {
        change(tx, id, sql::set_case(id, case_id)).await
    }

    /// Assigns the file to a job; from here on only this job sets its status.
    pub async fn begin_processing(&self, tx: &mut Tx, id: &str, job_id: &str) -> Result<(), Fault> {
        change(tx, id, sql::begin_processing(id, job_id)).await
    }

    /// Marks the file as processed. A fault if it was deleted or belongs to another job.
    pub async fn finish(
        &self,
        tx: &mut Tx,
        id: &str,
        job_id: &str,
        reading: &ExtractionResult,
    ) -> Result<(), Fault> {
        check_id(id)?;
        let problems = sql::json(&bounded(&reading.problems))?;
        let counts = (reading.page_count, reading.word_count);
        if tx.execute(sql::finish(id, job_id, counts, problems)).await? > 0 {
            return Ok(());
        }
        self.find_locked(tx, id).await?;
        let message = "another job has begun to read this file";
        Err(Fault::new(Kind::Conflict, "superseded", message))
    }

    /// Marks the file as failed; false if it belongs to another job. Pages of an earlier processing
    /// stay.
    pub async fn fail(
        &self,
        tx: &mut Tx,
        id: &str,
        job_id: &str,
        error: &str,
    ) -> Result<bool, Fault> {
        check_id(id)?;
        Ok(tx.execute(sql::fail(id, job_id, short(error))).await? > 0)
    }

    /// Restores the status after a cancellation; false as with [`Self::fail`].
    pub async fn stop_processing(
        &self,
        tx: &mut Tx,
        id: &str,
        job_id: &str,
    ) -> Result<bool, Fault> {
        check_id(id)?;
        Ok(tx.execute(sql::stop_processing(id, job_id)).await? > 0)
    }

    /// Replaces the pages of a file. Page numbers must be unique.
    pub async fn replace_pages<I>(
        &self,
        tx: &mut Tx,
        id: &str,
        pages: I,
    ) -> Result<PagesWritten, Fault>
    where
        I: IntoIterator<IntoIter: Send, Item: Borrow<PageRecord> + Send>,
    {
        // The lock makes a concurrent deletion wait, which then deletes these pages too.
        self.find_locked(tx, id).await?;
        sql::delete_pages(tx, id).await?;
        let mut rows = PageRows::of(id);
        let mut written = PagesWritten::default();
        for page in pages {
            let page: &PageRecord = page.borrow();
            rows.add(tx, page).await?;
            written.pages += 1;
            written.bytes += page.page.text.len() as u64;
        }
        rows.write(tx).await?;
        Ok(written)
    }

    /// Whole pages of a range from one snapshot: at least one if there is one, then as many as
    /// `bytes_max` allows.
    pub async fn pages(
        &self,
        id: &str,
        range: RangeInclusive<u32>,
        bytes_max: usize,
    ) -> Result<PageBatch, Fault> {
        check_id(id)?;
        let (mut run, mut bytes) = (PageBatch::default(), 0_usize);
        let mut after = (i64::from(*range.start()), -1);
        let mut tx = self.db.snapshot().await?;
        loop {
            let rows = tx.fetch_all(sql::chunks(id, after, *range.end())).await?;
            for row in &rows {
                let chunk = sql::chunk(row)?;
                let is_new = chunk.chunk == 0;
                if is_new && bytes >= bytes_max && !run.pages.is_empty() {
                    run.next = Some(chunk.page);
                    break;
                }
                bytes += chunk.text.len() + if is_new { PAGE_OVERHEAD } else { 0 };
                after = (i64::from(chunk.page), i64::from(chunk.chunk));
                join(&mut run.pages, chunk);
            }
            if run.next.is_some() || rows.len() < sql::CHUNKS_PER_QUERY as usize {
                break;
            }
        }
        tx.commit().await?;
        Ok(run)
    }

    /// These chunks and the one after each, joined: one piece of text for each page.
    pub async fn texts_at(
        &self,
        tx: &mut Tx,
        wanted: &[ChunkAddress],
    ) -> Result<Vec<(String, PageRecord)>, Fault> {
        let mut texts: Vec<(String, PageRecord)> = Vec::new();
        for (file_id, chunk) in sql::chunks_at(tx, wanted).await? {
            match texts.last_mut() {
                Some((last, page)) if *last == file_id && page.page.number == chunk.page => {
                    page.page.text.push_str(&chunk.text);
                }
                _ => {
                    let mut pages = Vec::new();
                    join(&mut pages, chunk);
                    texts.extend(pages.into_iter().map(|page| (file_id.clone(), page)));
                }
            }
        }
        Ok(texts)
    }

    /// The records with these ids that exist, in no order.
    pub async fn records(&self, tx: &mut Tx, ids: &[String]) -> Result<Vec<FileRecord>, Fault> {
        sql::by_ids(tx, ids).await
    }

    /// The next ids of all files of all owners, in their order, for maintenance.
    pub async fn ids_after(&self, after: &str, limit: u32) -> Result<Vec<String>, Fault> {
        sql::ids_after(&self.db, after, limit).await
    }

    /// The chunks after the given page and chunk number; an empty list is the end. Each call reads its
    /// own snapshot: a changed `job_id` of the file shows that it was processed again.
    pub async fn chunks(
        &self,
        id: &str,
        after: Option<(u32, u32)>,
    ) -> Result<Vec<PageChunk>, Fault> {
        check_id(id)?;
        let after = after.map_or((0, -1), |(page, chunk)| (i64::from(page), i64::from(chunk)));
        let rows = self.db.fetch_all(sql::chunks(id, after, u32::MAX)).await?;
        rows.iter().map(sql::chunk).collect()
    }
}

async fn change(tx: &mut Tx, id: &str, update: Sql) -> Result<(), Fault> {
    check_id(id)?;
    if tx.execute(update).await? > 0 { Ok(()) } else { Err(unknown(id)) }
}
