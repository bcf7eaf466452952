//! A segment: the index of some pages of one scope, made once and never changed but for the facts
//! of its files.
//!
//! It has a list of its files and pages, blocks of terms with their postings, and a dictionary of
//! all terms, which prefixes and misspelled words are looked up in.

use std::collections::HashMap;

use fault::Fault;

use crate::codec::{BlobCursor, put_bytes, put_number};
use crate::facts::{StoredFacts, put_facts, read_facts};
use crate::postings::{Postings, TermPostings};

/// Bytes of terms, pages and counts in one block, unless one term has more.
const BLOCK_BYTES: usize = 4_096;
/// The weight of a page besides its words.
const PAGE_WEIGHT: u64 = 32;

/// A file of a segment, with what queries filter by, and those of its pages that are in the
/// segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileEntry {
    pub file_id: String,
    pub owner: i64,
    pub uploaded_at: i64,
    pub media_type: i64,
    /// Ascending.
    pub tags: Vec<i64>,
    /// `None` for a file of an earlier version, whose facts are added later.
    pub facts: Option<StoredFacts>,
    pub pages: Vec<PageEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageEntry {
    /// 0 is the record of the file: its name, tags and description.
    pub page: u32,
    /// How many words the page has; the score is normalised by it.
    pub words: u32,
    /// The second and later chunks of the stored text.
    pub chunks: Vec<ChunkStart>,
}

/// Where a stored chunk of a page begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ChunkStart {
    /// The first token that begins in the chunk.
    pub word: u32,
    /// The byte of the chunk where that token begins.
    pub byte: u32,
    /// Characters of the page before the chunk.
    pub chars: u32,
}

/// Terms with their postings, as they are stored in one row.
pub(crate) struct TermBlock {
    /// The first term, which is the key of the row.
    pub first: String,
    /// The terms with their pages and counts.
    pub page_bytes: Vec<u8>,
    pub positions: Vec<u8>,
}

/// The row that lists a file of a segment.
pub(crate) struct FileId {
    pub id: String,
    pub has_facts: bool,
}

/// A segment as it is stored.
pub(crate) struct EncodedSegment {
    pub file_ids: Vec<FileId>,
    pub weight: u64,
    pub files: Vec<u8>,
    pub facts: Vec<u8>,
    pub dictionary: Vec<u8>,
    pub blocks: Vec<TermBlock>,
}

/// Collects pages; a page's number in the segment is the order in which it was added.
#[derive(Default)]
pub(crate) struct SegmentBuilder {
    files: Vec<FileEntry>,
    pages: u32,
    words: u64,
    terms: HashMap<String, Postings>,
}

impl SegmentBuilder {
    pub(crate) fn weight(&self) -> u64 {
        self.words + u64::from(self.pages) * PAGE_WEIGHT
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pages == 0
    }

    /// Begins a file; the following pages are of it.
    pub(crate) fn begin_file(&mut self, file: FileEntry) {
        self.files.push(FileEntry { pages: Vec::new(), ..file });
    }

    /// Adds a word to the page that [`Self::end_page`] ends. Positions are ascending.
    pub(crate) fn add_word(&mut self, position: u32, term: &str) {
        match self.terms.get_mut(term) {
            Some(postings) => postings.push(self.pages, position),
            None => {
                let mut postings = Postings::default();
                postings.push(self.pages, position);
                self.terms.insert(term.to_owned(), postings);
            }
        }
    }

    /// Ends a page of the last file.
    pub(crate) fn end_page(&mut self, page: PageEntry) {
        self.pages += 1;
        self.words += u64::from(page.words);
        if let Some(file) = self.files.last_mut() {
            file.pages.push(page);
        }
    }

    /// Adds the files of a stored segment that are to be kept; returns the new number of every old
    /// page, to be used with [`Self::append_block`].
    pub(crate) fn append_files(
        &mut self,
        files: Vec<FileEntry>,
        keep: impl Fn(&str) -> bool,
    ) -> Vec<Option<u32>> {
        let mut numbers = Vec::new();
        for file in files {
            let kept = keep(&file.file_id);
            if kept {
                self.begin_file(file.clone());
            }
            for page in file.pages {
                numbers.push(kept.then_some(self.pages));
                if kept {
                    self.end_page(page);
                }
            }
        }
        numbers
    }

    /// Adds the postings of a stored block under the new numbers of its pages.
    pub(crate) fn append_block(
        &mut self,
        page_bytes: &[u8],
        positions: &[u8],
        numbers: &[Option<u32>],
    ) -> Result<(), Fault> {
        let mut terms = BlockTerms::new(page_bytes, positions);
        while let Some((term, postings)) = terms.next()? {
            let mut pages = postings.pages_with_positions();
            while let Some(found) = pages.next()? {
                let (count, positions) = (found.count, found.positions);
                let number = numbers.get(found.page as usize).copied().flatten();
                let Some(page) = number else { continue };
                match self.terms.get_mut(term) {
                    Some(kept) => kept.push_page(page, count, positions),
                    None => {
                        let mut kept = Postings::default();
                        kept.push_page(page, count, positions);
                        self.terms.insert(term.to_owned(), kept);
                    }
                }
            }
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> EncodedSegment {
        let weight = self.weight();
        let mut terms: Vec<(String, Postings)> = self.terms.into_iter().collect();
        terms.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let (mut dictionary, mut before) = (Vec::new(), String::new());
        let (mut blocks, mut block) = (Vec::new(), BlockWriter::default());
        for (term, postings) in terms {
            put_term(&mut dictionary, &before, &term);
            let (count, page_bytes, positions) = postings.finish();
            put_number(&mut dictionary, u64::from(count));
            if !block.is_empty() && block.page_bytes.len() + page_bytes.len() > BLOCK_BYTES {
                blocks.push(std::mem::take(&mut block).finish());
            }
            block.add_term(&term, count, &page_bytes, &positions);
            before = term;
        }
        if !block.is_empty() {
            blocks.push(block.finish());
        }
        let id = |it: &FileEntry| FileId { id: it.file_id.clone(), has_facts: it.facts.is_some() };
        let file_ids = self.files.iter().map(id).collect();
        let (files, facts) = (put_files(&self.files), put_facts(&self.files));
        EncodedSegment { file_ids, weight, files, facts, dictionary, blocks }
    }
}

/// Writes how many bytes a term shares with the term before, and its other bytes.
fn put_term(out: &mut Vec<u8>, before: &str, term: &str) {
    let pairs = before.bytes().zip(term.bytes());
    let shared = pairs.take_while(|(a, b)| a == b).count();
    put_number(out, shared as u64);
    put_bytes(out, &term.as_bytes()[shared..]);
}

#[derive(Default)]
struct BlockWriter {
    first: String,
    last: String,
    page_bytes: Vec<u8>,
    positions: Vec<u8>,
}

impl BlockWriter {
    fn is_empty(&self) -> bool {
        self.page_bytes.is_empty()
    }

    fn add_term(&mut self, term: &str, count: u32, page_bytes: &[u8], positions: &[u8]) {
        if self.is_empty() {
            term.clone_into(&mut self.first);
        }
        put_term(&mut self.page_bytes, &self.last, term);
        put_number(&mut self.page_bytes, u64::from(count));
        put_bytes(&mut self.page_bytes, page_bytes);
        put_number(&mut self.page_bytes, positions.len() as u64);
        self.positions.extend_from_slice(positions);
        term.clone_into(&mut self.last);
    }

    fn finish(self) -> TermBlock {
        TermBlock { first: self.first, page_bytes: self.page_bytes, positions: self.positions }
    }
}

/// Rebuilds terms that were stored by [`put_term`].
#[derive(Default)]
pub(crate) struct TermReader(Vec<u8>);

impl TermReader {
    /// Reads the next term; returns how many bytes it shares with the one before.
    pub(crate) fn read(&mut self, cursor: &mut BlobCursor<'_>) -> Result<usize, Fault> {
        let shared = (cursor.number_u32()? as usize).min(self.0.len());
        self.0.truncate(shared);
        self.0.extend_from_slice(cursor.bytes()?);
        Ok(shared)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn term(&self) -> Result<&str, Fault> {
        std::str::from_utf8(&self.0).map_err(|_| crate::codec::damaged_blob())
    }
}

/// The terms of a stored block; without positions their bytes are empty.
pub(crate) struct BlockTerms<'a> {
    page_bytes: BlobCursor<'a>,
    positions: Option<BlobCursor<'a>>,
    term: TermReader,
}

impl<'a> BlockTerms<'a> {
    pub(crate) fn new(page_bytes: &'a [u8], positions: &'a [u8]) -> Self {
        let positions = (!positions.is_empty()).then(|| BlobCursor::new(positions));
        Self { page_bytes: BlobCursor::new(page_bytes), positions, term: TermReader::default() }
    }

    pub(crate) fn next(&mut self) -> Result<Option<(&str, TermPostings<'a>)>, Fault> {
        if self.page_bytes.is_empty() {
            return Ok(None);
        }
        self.term.read(&mut self.page_bytes)?;
        let count = self.page_bytes.number_u32()?;
        let page_bytes = self.page_bytes.bytes()?;
        let length = self.page_bytes.number_u32()? as usize;
        let positions = match &mut self.positions {
            Some(positions) => positions.take(length)?,
            None => &[],
        };
        Ok(Some((self.term.term()?, TermPostings { pages: count, page_bytes, positions })))
    }
}

fn put_files(files: &[FileEntry]) -> Vec<u8> {
    let mut out = Vec::new();
    for file in files {
        put_bytes(&mut out, file.file_id.as_bytes());
        for number in [file.owner, file.uploaded_at, file.media_type] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        put_number(&mut out, file.tags.len() as u64);
        for tag in &file.tags {
            out.extend_from_slice(&tag.to_le_bytes());
        }
        put_number(&mut out, file.pages.len() as u64);
        let mut before = 0;
        for page in &file.pages {
            put_number(&mut out, u64::from(page.page.wrapping_sub(before)));
            before = page.page;
            put_number(&mut out, u64::from(page.words));
            put_number(&mut out, page.chunks.len() as u64);
            for chunk in &page.chunks {
                for number in [chunk.word, chunk.byte, chunk.chars] {
                    put_number(&mut out, u64::from(number));
                }
            }
        }
    }
    out
}

/// The files of a stored segment with their facts.
pub(crate) fn read_files(blob: &[u8], facts: &[u8]) -> Result<Vec<FileEntry>, Fault> {
    fn long(cursor: &mut BlobCursor<'_>) -> Result<i64, Fault> {
        let bytes = cursor.take(8)?.try_into().map_err(|_| crate::codec::damaged_blob())?;
        Ok(i64::from_le_bytes(bytes))
    }
    let mut cursor = BlobCursor::new(blob);
    let mut files = Vec::new();
    while !cursor.is_empty() {
        let file_id = cursor.text()?.to_owned();
        let (owner, uploaded_at, media_type) =
            (long(&mut cursor)?, long(&mut cursor)?, long(&mut cursor)?);
        let tags =
            (0..cursor.number_u32()?).map(|_| long(&mut cursor)).collect::<Result<_, _>>()?;
        let (mut pages, mut number) = (Vec::new(), 0_u32);
        for _ in 0..cursor.number_u32()? {
            number = number.wrapping_add(cursor.number_u32()?);
            let words = cursor.number_u32()?;
            let chunks = (0..cursor.number_u32()?)
                .map(|_| {
                    let (word, byte) = (cursor.number_u32()?, cursor.number_u32()?);
                    Ok(ChunkStart { word, byte, chars: cursor.number_u32()? })
                })
                .collect::<Result<_, Fault>>()?;
            pages.push(PageEntry { page: number, words, chunks });
        }
        files.push(FileEntry { file_id, owner, uploaded_at, media_type, tags, facts: None, pages });
    }
    read_facts(facts, &mut files)?;
    Ok(files)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn damaged_blobs_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            _ = read_files(&bytes, &[]).is_ok();
            let mut terms = BlockTerms::new(&bytes, &bytes);
            while let Ok(Some((_, postings))) = terms.next() {
                _ = postings.each_page(|_, _| ()).is_ok();
                let mut pages = postings.pages_with_positions();
                while let Ok(Some(_)) = pages.next() {}
            }
            let mut builder = SegmentBuilder::default();
            _ = builder.append_block(&bytes, &bytes, &[Some(0), None, Some(1)]).is_ok();
        }
    }
}
