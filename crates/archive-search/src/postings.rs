//! The postings of a term: the pages in which it occurs, how often, and where.
//!
//! Pages and counts are in one list of bytes, positions in another, because most queries need no
//! positions. Pages are stored as distances, and so are the positions within a page.

use fault::Fault;

use crate::codec::{BlobCursor, damaged_blob, put_number};

/// Postings that are being collected; pages come in ascending order.
#[derive(Default)]
pub(crate) struct Postings {
    pages: u32,
    /// Pages and counts.
    page_bytes: Vec<u8>,
    positions: Vec<u8>,
    /// The number after that of the last stored page; the distance is counted from it.
    next: u32,
    /// The page that is being collected, its count, and its last position.
    open: Option<(u32, u32, u32)>,
}

impl Postings {
    /// One occurrence; positions of a page are ascending.
    pub(crate) fn push(&mut self, page: u32, position: u32) {
        match &mut self.open {
            Some((open, count, last)) if *open == page => {
                put_number(&mut self.positions, u64::from(position - *last));
                (*count, *last) = (*count + 1, position);
            }
            _ => {
                self.close();
                put_number(&mut self.positions, u64::from(position));
                self.open = Some((page, 1, position));
            }
        }
    }

    /// All occurrences of a page whose positions are already stored numbers.
    pub(crate) fn push_page(&mut self, page: u32, count: u32, positions: &[u8]) {
        self.close();
        self.positions.extend_from_slice(positions);
        self.open = Some((page, count, 0));
    }

    fn close(&mut self) {
        if let Some((page, count, _)) = self.open.take() {
            put_number(&mut self.page_bytes, u64::from(page - self.next));
            put_number(&mut self.page_bytes, u64::from(count));
            (self.next, self.pages) = (page + 1, self.pages + 1);
        }
    }

    /// The number of pages, the bytes of pages and counts, the bytes of positions.
    pub(crate) fn finish(mut self) -> (u32, Vec<u8>, Vec<u8>) {
        self.close();
        (self.pages, self.page_bytes, self.positions)
    }
}

/// The stored postings of one term.
#[derive(Clone, Copy)]
pub(crate) struct TermPostings<'a> {
    /// How many pages have the term.
    pub pages: u32,
    /// Pages and counts.
    pub page_bytes: &'a [u8],
    pub positions: &'a [u8],
}

impl<'a> TermPostings<'a> {
    /// Calls back with every page and its count.
    pub(crate) fn each_page(&self, mut found: impl FnMut(u32, u32)) -> Result<(), Fault> {
        let (mut cursor, mut next) = (BlobCursor::new(self.page_bytes), 0_u32);
        for _ in 0..self.pages {
            let page = next.checked_add(cursor.number_u32()?).ok_or_else(damaged_blob)?;
            found(page, cursor.number_u32()?);
            next = page.saturating_add(1);
        }
        Ok(())
    }

    pub(crate) fn pages_with_positions(&self) -> PagesWithPositions<'a> {
        PagesWithPositions {
            left: self.pages,
            next: 0,
            page_bytes: BlobCursor::new(self.page_bytes),
            positions: BlobCursor::new(self.positions),
        }
    }
}

/// The occurrences of a term on one page.
pub(crate) struct PagePostings<'a> {
    pub page: u32,
    pub count: u32,
    /// Stored positions.
    pub positions: &'a [u8],
}

pub(crate) struct PagesWithPositions<'a> {
    left: u32,
    next: u32,
    page_bytes: BlobCursor<'a>,
    positions: BlobCursor<'a>,
}

impl<'a> PagesWithPositions<'a> {
    pub(crate) fn next(&mut self) -> Result<Option<PagePostings<'a>>, Fault> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let page = self.next.checked_add(self.page_bytes.number_u32()?).ok_or_else(damaged_blob)?;
        let count = self.page_bytes.number_u32()?;
        self.next = page.saturating_add(1);
        Ok(Some(PagePostings { page, count, positions: self.positions.skip(count)? }))
    }
}

/// The positions of one page, from their bytes.
pub(crate) fn positions(bytes: &[u8], most: usize) -> Result<Vec<u32>, Fault> {
    let (mut cursor, mut found, mut last) = (BlobCursor::new(bytes), Vec::new(), 0_u32);
    while !cursor.is_empty() && found.len() < most {
        last = last.checked_add(cursor.number_u32()?).ok_or_else(damaged_blob)?;
        found.push(last);
    }
    Ok(found)
}
