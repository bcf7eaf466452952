//! Adds, removes and moves the pages of files, and merges small segments.
//!
//! All of it happens in the caller's transaction, except merges. Removing a file rewrites the
//! segments that it shares with other files, so its words are gone with the commit.

use std::borrow::Cow;

use clock::Millis;
use fault::Fault;
use store::{SqlRow, Tx};

use crate::facts::{FileFacts, StoredFacts, put_facts};
use crate::scope::{self, scope_of};
use crate::segment::{ChunkStart, EncodedSegment, FileEntry, PageEntry, SegmentBuilder};
use crate::tokens::tokens;
use crate::{Search, sql};

/// A segment of this weight is never merged again. Merging two of nearly this weight takes about
/// 0.2 s, for which the transaction holds SQLite's only writer.
const WEIGHT_FULL: u64 = 2_000_000;
/// Segments of one level have less than this weight.
const LEVELS: [u64; 4] = [4_000, 32_000, 256_000, WEIGHT_FULL];
/// The segments of a level are merged when there are this many.
const SEGMENTS_PER_MERGE: usize = 8;

/// A file as the index needs it.
#[derive(Debug, Clone, Copy)]
pub struct FileToIndex<'a> {
    pub id: &'a str,
    pub owner: &'a str,
    pub uploaded_at: Millis,
    pub media_type: &'a str,
    pub tags: &'a [String],
    /// Name, tags and description, from [`record_text`].
    pub record: &'a str,
}

/// A page as the index needs it: the text exactly as stored, and the byte at which each of its
/// stored chunks but the first begins.
pub struct PageToIndex<'a> {
    pub page: u32,
    pub text: Cow<'a, str>,
    pub chunk_starts: Vec<usize>,
}

/// The index entries of one file, made before the transaction begins.
pub struct FileIndex(Vec<EncodedSegment>);

/// The text in which a file's name, tags and description are found.
pub fn record_text(name: &str, tags: &[String], description: Option<&str>) -> String {
    let mut text = name.to_owned();
    for line in tags.iter().map(String::as_str).chain(description) {
        text.push('\n');
        text.push_str(line);
    }
    text
}

impl FileIndex {
    /// Splits the pages into words. This takes about a second for 50 MB of text, so call it from a
    /// blocking thread.
    pub fn build<'a>(
        file: &FileToIndex<'_>,
        facts: &FileFacts,
        pages: impl IntoIterator<Item = PageToIndex<'a>>,
    ) -> Self {
        let mut tags: Vec<i64> = file.tags.iter().map(|it| scope::tag(it)).collect();
        tags.sort_unstable();
        tags.dedup();
        let entry = FileEntry {
            file_id: file.id.to_owned(),
            owner: scope::owner(file.owner),
            uploaded_at: file.uploaded_at.0,
            media_type: scope::media_type(file.media_type),
            tags,
            facts: Some(StoredFacts::of(facts)),
            pages: Vec::new(),
        };
        let mut builder = SegmentBuilder::default();
        builder.begin_file(entry.clone());
        add_page(&mut builder, 0, file.record, &[]);
        let mut full = Vec::new();
        for page in pages {
            if builder.weight() >= WEIGHT_FULL {
                full.push(std::mem::take(&mut builder).finish());
                builder.begin_file(entry.clone());
            }
            add_page(&mut builder, page.page, &page.text, &page.chunk_starts);
        }
        full.push(builder.finish());
        Self(full)
    }
}

fn add_page(builder: &mut SegmentBuilder, page: u32, text: &str, chunk_starts: &[usize]) {
    let mut starts = chunk_starts.iter().copied().peekable();
    let (mut chunks, mut counted) = (Vec::new(), (0_usize, 0_u32));
    let mut words = 0_u32;
    for token in tokens(text) {
        while let Some(start) = starts.next_if(|start| *start <= token.span.start) {
            let chars = text[counted.0..start].chars().count();
            counted = (start, counted.1.saturating_add(u32::try_from(chars).unwrap_or(u32::MAX)));
            let byte = u32::try_from(token.span.start - start).unwrap_or(u32::MAX);
            chunks.push(ChunkStart { word: words, byte, chars: counted.1 });
        }
        if !token.term.is_empty() {
            builder.add_word(words, &token.term);
        }
        words = words.saturating_add(1);
    }
    builder.end_page(PageEntry { page, words, chunks });
}

impl Search {
    /// Replaces what the index has of a file. The caller holds the lock on the file's record.
    pub async fn replace(
        &self,
        tx: &mut Tx,
        file_id: &str,
        owner: &str,
        case_id: Option<&str>,
        index: FileIndex,
    ) -> Result<(), Fault> {
        let scope = scope_of(owner, case_id);
        self.remove_from_segments(tx, file_id, Some(scope), false).await?;
        for segment in index.0 {
            sql::insert_segment(&self.db, tx, scope, segment).await?;
        }
        sql::record_owner_scope(tx, scope::owner(owner), scope).await
    }

    /// Removes all words of a file.
    pub async fn remove(&self, tx: &mut Tx, file_id: &str) -> Result<(), Fault> {
        self.remove_from_segments(tx, file_id, None, false).await.map(drop)
    }

    /// Moves the pages of a file to another case.
    pub async fn move_case(
        &self,
        tx: &mut Tx,
        file_id: &str,
        owner: &str,
        case_id: Option<&str>,
    ) -> Result<(), Fault> {
        let scope = scope_of(owner, case_id);
        for segment in self.remove_from_segments(tx, file_id, Some(scope), true).await? {
            sql::insert_segment(&self.db, tx, scope, segment).await?;
        }
        sql::record_owner_scope(tx, scope::owner(owner), scope).await
    }

    /// Sets the facts of a file whose pages are in the index. The caller holds the lock on the
    /// file's record.
    pub async fn set_facts(
        &self,
        tx: &mut Tx,
        file_id: &str,
        facts: &FileFacts,
    ) -> Result<(), Fault> {
        let before = sql::segments_of_file(tx, file_id).await?;
        let scopes: Vec<i64> = before.iter().map(|it| it.1).collect();
        sql::lock(&self.db, tx, &scopes).await?;
        // Read again: a merge may have replaced the segments before the lock was held.
        for (id, _, mut files) in sql::segments_of_file(tx, file_id).await? {
            let own = files.iter_mut().filter(|it| it.file_id == file_id);
            own.for_each(|it| it.facts = Some(StoredFacts::of(facts)));
            sql::update_facts(tx, id, put_facts(&files)).await?;
        }
        sql::record_facts(tx, file_id).await
    }

    /// Removes a file from its segments and, if `is_wanted`, returns the file's part of them.
    async fn remove_from_segments(
        &self,
        tx: &mut Tx,
        file_id: &str,
        other_scope: Option<i64>,
        is_wanted: bool,
    ) -> Result<Vec<EncodedSegment>, Fault> {
        let before = sql::segments_of_file(tx, file_id).await?;
        let scopes: Vec<i64> = before.iter().map(|it| it.1).chain(other_scope).collect();
        sql::lock(&self.db, tx, &scopes).await?;
        let mut taken = Vec::new();
        // Read again: a merge may have replaced the segments before the lock was held.
        for (id, scope, files) in sql::segments_of_file(tx, file_id).await? {
            let (mut own, mut rest) = (SegmentBuilder::default(), SegmentBuilder::default());
            let own_numbers = own.append_files(files.clone(), |it| is_wanted && it == file_id);
            let rest_numbers = rest.append_files(files, |it| it != file_id);
            if !own.is_empty() || !rest.is_empty() {
                each_block(tx, id, |page_bytes, positions| {
                    own.append_block(page_bytes, positions, &own_numbers)?;
                    rest.append_block(page_bytes, positions, &rest_numbers)
                })
                .await?;
            }
            sql::delete_segment(tx, id).await?;
            if !own.is_empty() {
                taken.push(own.finish());
            }
            if !rest.is_empty() {
                sql::insert_segment(&self.db, tx, scope, rest.finish()).await?;
            }
        }
        Ok(taken)
    }

    /// Merges small segments of an owner's or case's scope until fewer than eight have the same
    /// level. Queries are right without it, and faster with it.
    pub async fn merge(&self, owner: &str, case_id: Option<&str>) -> Result<(), Fault> {
        let scope = scope_of(owner, case_id);
        while self.merge_once(scope).await? {}
        Ok(())
    }

    async fn merge_once(&self, scope: i64) -> Result<bool, Fault> {
        let mut tx = self.db.begin().await?;
        sql::lock(&self.db, &mut tx, &[scope]).await?;
        let Some(group) = segments_to_merge(&sql::segment_weights(&mut tx, scope).await?) else {
            return Ok(false);
        };
        let mut merged = SegmentBuilder::default();
        for id in group {
            let files = sql::segment_files(&mut tx, id).await?;
            let numbers = merged.append_files(files, |_| true);
            each_block(&mut tx, id, |page_bytes, positions| {
                merged.append_block(page_bytes, positions, &numbers)
            })
            .await?;
            sql::delete_segment(&mut tx, id).await?;
        }
        sql::insert_segment(&self.db, &mut tx, scope, merged.finish()).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Which of these files the index has.
    pub async fn indexed(&self, ids: &[String]) -> Result<Vec<String>, Fault> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        sql::indexed(&self.db, ids).await
    }

    /// Which of these files have facts in the index; files of an earlier version have none.
    pub async fn with_facts(&self, ids: &[String]) -> Result<Vec<String>, Fault> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        sql::with_facts(&self.db, ids).await
    }
}

/// The segments of the lowest level that has at least eight, until their weight is that of a full
/// segment.
fn segments_to_merge(segments: &[(i64, u64)]) -> Option<Vec<i64>> {
    let level = |weight: u64| LEVELS.iter().position(|&below| weight < below);
    (0..LEVELS.len()).find_map(|wanted| {
        let of_level = segments.iter().filter(|it| level(it.1) == Some(wanted));
        let all: Vec<&(i64, u64)> = of_level.collect();
        if all.len() < SEGMENTS_PER_MERGE {
            return None;
        }
        let mut weight = 0;
        let group = all.into_iter().take_while(|it| {
            let fits = weight < WEIGHT_FULL;
            weight += it.1;
            fits
        });
        Some(group.map(|it| it.0).collect())
    })
}

/// Calls back with the two blobs of every block of a segment: pages and counts, and positions.
async fn each_block(
    tx: &mut Tx,
    segment: i64,
    mut each: impl FnMut(&[u8], &[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut after = String::new();
    loop {
        let rows: Vec<SqlRow> = sql::blocks_after(tx, segment, &after).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.text(0)?;
        for row in &rows {
            each(row.bytes_ref(1)?, row.bytes_ref(2)?)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_segments_of_one_level_are_merged() {
        let segments = |weights: &[u64]| -> Vec<(i64, u64)> {
            (1_i64..).zip(weights.iter().copied()).collect()
        };
        assert_eq!(segments_to_merge(&segments(&[100; 7])), None);
        assert_eq!(segments_to_merge(&segments(&[100; 8])).map(|it| it.len()), Some(8));
        assert_eq!(segments_to_merge(&segments(&[WEIGHT_FULL; 20])), None);
        let large = [1_500_000; 8];
        assert_eq!(segments_to_merge(&segments(&large)), Some(vec![1, 2]));
        let mixed = [5_000, 1, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(segments_to_merge(&segments(&mixed)), Some((2..=9).collect()));
    }
}
