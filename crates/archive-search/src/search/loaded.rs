//! The segments that a query reads, with the pages in them that the caller may find.

use std::cmp::Reverse;

use archive_accounts::Visibility;
use fault::Fault;
use store::Tx;

use super::PageQuery;
use crate::evaluate::CorpusSize;
use crate::facts::FactsFilter;
use crate::page_set::PageSet;
use crate::scope::{self, scope_of};
use crate::segment::{FileEntry, PageEntry, read_files};
use crate::{Search, sql};

pub(super) struct LoadedSegment {
    pub id: i64,
    pub pages: u32,
    /// The pages that are visible and pass all filters.
    pub allowed: PageSet,
    /// How many words each page has.
    pub word_counts: Vec<u32>,
    files: Vec<FileEntry>,
    /// The number of the first page of each file.
    first_pages: Vec<u32>,
}

impl LoadedSegment {
    /// The file and the entry of a page.
    pub(super) fn page(&self, page: u32) -> Option<(&FileEntry, &PageEntry)> {
        let at = self.first_pages.partition_point(|&first| first <= page).checked_sub(1)?;
        let file = self.files.get(at)?;
        Some((file, file.pages.get((page - self.first_pages[at]) as usize)?))
    }

    /// Orders pages of equal score: the newest upload first, then by file and page.
    pub(super) fn tie_order(&self, page: u32) -> Option<(Reverse<i64>, &str, u32)> {
        let (file, page) = self.page(page)?;
        Some((Reverse(file.uploaded_at), file.file_id.as_str(), page.page))
    }

    /// Adds the allowed pages of this segment to a sum.
    pub(super) fn add_to(&self, sum: CorpusSize) -> CorpusSize {
        let words = self.allowed.iter().map(|page| u64::from(self.word_counts[page as usize]));
        CorpusSize {
            pages: sum.pages + self.allowed.count(),
            words: sum.words + words.sum::<u64>(),
        }
    }
}

impl Search {
    /// The segments with at least one page that the caller may find.
    pub(super) async fn load_segments(
        &self,
        tx: &mut Tx,
        visibility: &Visibility,
        query: &PageQuery,
    ) -> Result<Vec<LoadedSegment>, Fault> {
        let owner = scope::owner(&visibility.owner);
        let mut visible: Vec<i64> = match &query.case_id {
            Some(case) => visibility.case(case).iter().map(|_| scope_of("", Some(case))).collect(),
            None => visibility.cases.iter().map(|it| scope_of("", Some(&it.id))).collect(),
        };
        let mut scopes = visible.clone();
        match &query.case_id {
            Some(case) => scopes.push(scope_of("", Some(case))),
            None => {
                visible.push(owner);
                // Also cases that the caller has files in and no longer sees.
                scopes.extend(sql::scopes_of_owner(tx, owner).await?);
                scopes.push(owner);
            }
        }
        visible.sort_unstable();
        scopes.sort_unstable();
        scopes.dedup();
        let filter = FileFilter::new(query, owner);
        let rows = sql::segments(&self.db, tx, &scopes, query.file_id.as_deref()).await?;
        let mut segments = Vec::new();
        for row in rows {
            let is_visible = visible.binary_search(&row.int(1)?).is_ok();
            let files = read_files(row.bytes_ref(2)?, row.bytes_ref(3)?)?;
            segments.extend(filter.load(row.int(0)?, files, is_visible));
        }
        Ok(segments)
    }
}

/// The filters of a query in the form of the index.
struct FileFilter<'a> {
    query: &'a PageQuery,
    owner: i64,
    media_type: Option<i64>,
    tags: Vec<i64>,
    facts: FactsFilter,
}

impl<'a> FileFilter<'a> {
    fn new(query: &'a PageQuery, owner: i64) -> Self {
        let media_type = query.media_type.as_deref().map(scope::media_type);
        let tags = query.tags.iter().map(|it| scope::tag(it)).collect();
        let document_type = query.document_type.as_deref();
        let facts = FactsFilter::new(document_type, query.document_date, query.event_date);
        Self { query, owner, media_type, tags, facts }
    }

    fn passes(&self, file: &FileEntry, is_visible: bool) -> bool {
        (is_visible || file.owner == self.owner)
            && self.query.file_id.as_ref().is_none_or(|id| *id == file.file_id)
            && self.media_type.is_none_or(|it| it == file.media_type)
            && self.query.from.is_none_or(|from| file.uploaded_at >= from.0)
            && self.query.to.is_none_or(|to| file.uploaded_at <= to.0)
            && self.facts.passes(file.facts.as_ref())
            && self.tags.iter().all(|tag| file.tags.binary_search(tag).is_ok())
    }

    fn load(&self, id: i64, files: Vec<FileEntry>, is_visible: bool) -> Option<LoadedSegment> {
        let (mut word_counts, mut first_pages) = (Vec::new(), Vec::with_capacity(files.len()));
        let mut passing = Vec::with_capacity(files.len());
        for file in &files {
            let first = u32::try_from(word_counts.len()).ok()?;
            first_pages.push(first);
            word_counts.extend(file.pages.iter().map(|page| page.words));
            let end = u32::try_from(word_counts.len()).ok()?;
            passing.extend(self.passes(file, is_visible).then_some(first..end));
        }
        let pages = u32::try_from(word_counts.len()).ok()?;
        let mut allowed = PageSet::empty(pages);
        passing.into_iter().flatten().for_each(|page| allowed.insert(page));
        let some = !allowed.is_empty();
        some.then_some(LoadedSegment { id, pages, allowed, word_counts, files, first_pages })
    }
}
