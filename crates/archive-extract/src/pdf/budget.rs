//! Bounds the work on one PDF. Overlapping objects and streams make a reader process the same bytes
//! many times, so the bytes that are parsed and decoded are limited to multiples of the file's
//! size.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashSet;

use super::object::Lexer;
use super::search::find;

/// Bytes that may be parsed and decoded of a file of any size.
const BASE_BYTES: u64 = 4 << 20;
/// Beyond the base, this many times the size of the file may be parsed.
const PARSED_TIMES: u64 = 8;
/// Beyond the base, the streams together may have this many times the size of the file. The streams
/// of a valid file do not overlap, so they have at most its size.
const OVERLAP_TIMES: u64 = 4;
/// At most this many streams are remembered as read; any further one counts at each read.
const STREAMS_MAX: usize = 1 << 20;

/// The remaining work budget of one file.
pub(super) struct WorkBudget {
    parse_left: Cell<u64>,
    overlap_left: Cell<u64>,
    /// Bytes of all streams, raw and decoded, counted at each read.
    stream_left: Cell<u64>,
    /// The positions of the streams that were read before.
    read: RefCell<HashSet<usize>>,
    exhausted: Cell<bool>,
}

impl WorkBudget {
    /// A budget for a file of `length` bytes; `stream_bytes` bounds all reads of its streams.
    pub(super) fn new(length: usize, stream_bytes: u64) -> Self {
        let length = length as u64;
        Self {
            parse_left: Cell::new(BASE_BYTES + PARSED_TIMES * length),
            overlap_left: Cell::new(BASE_BYTES + OVERLAP_TIMES * length),
            stream_left: Cell::new(stream_bytes),
            read: RefCell::default(),
            exhausted: Cell::new(false),
        }
    }

    fn spend(&self, left: &Cell<u64>, bytes: usize) -> bool {
        let rest = left.get().checked_sub(bytes as u64);
        left.set(rest.unwrap_or(0));
        if rest.is_none() {
            self.exhausted.set(true);
        }
        rest.is_some()
    }

    /// Spends parsed bytes; false if the budget is used up.
    pub(super) fn spend_parsed(&self, bytes: usize) -> bool {
        self.spend(&self.parse_left, bytes)
    }

    /// Parses from `at` and spends the parsed bytes; `None` if the budget is used up.
    pub(super) fn parse<T>(
        &self,
        bytes: &[u8],
        at: usize,
        read: impl FnOnce(&mut Lexer<'_>) -> Option<T>,
    ) -> Option<T> {
        if self.parse_left.get() == 0 {
            return None;
        }
        let mut lexer = Lexer::new(bytes, at);
        let found = read(&mut lexer);
        self.spend_parsed(lexer.at.saturating_sub(at));
        found
    }

    /// Spends the bytes of the stream at `start`; false if the budget is used up.
    pub(super) fn spend_stream(&self, start: usize, bytes: usize) -> bool {
        let mut read = self.read.borrow_mut();
        if !read.contains(&start) {
            if !self.spend(&self.overlap_left, bytes) {
                return false;
            }
            if read.len() < STREAMS_MAX {
                read.insert(start);
            }
        }
        self.spend_decoded(bytes)
    }

    /// Spends the decoded bytes of a stream; false if the budget is used up.
    pub(super) fn spend_decoded(&self, bytes: usize) -> bool {
        self.spend(&self.stream_left, bytes)
    }

    /// Whether a limit was reached, so that a part of the file was not read.
    pub(super) fn is_exhausted(&self) -> bool {
        self.exhausted.get()
    }
}

/// The positions of `endstream` and `endobj`, each found in one pass at first use.
#[derive(Default)]
pub(super) struct EndKeywords {
    streams: OnceCell<Vec<u32>>,
    objects: OnceCell<Vec<u32>>,
}

impl EndKeywords {
    /// The first `endstream` at or after `start`, else the first `endobj`.
    pub(super) fn next_after(&self, bytes: &[u8], start: usize) -> Option<usize> {
        let next = |marks: &[u32]| {
            let at = marks.partition_point(|it| (*it as usize) < start);
            marks.get(at).map(|it| *it as usize)
        };
        next(self.streams.get_or_init(|| positions(bytes, b"endstream")))
            .or_else(|| next(self.objects.get_or_init(|| positions(bytes, b"endobj"))))
    }
}

/// All positions of `word`; a file has far less than 4 GiB.
fn positions(bytes: &[u8], word: &[u8]) -> Vec<u32> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(step) = bytes.get(at..).and_then(|it| find(it, word)) {
        let Ok(place) = u32::try_from(at + step) else { break };
        all.push(place);
        at += step + word.len();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::file::PdfFile;
    use crate::pdf::object::{Dict, Object};

    #[test]
    fn the_next_end_keyword_is_found() {
        let bytes = b"endobj 1 endstream 2 endobj";
        let keywords = EndKeywords::default();
        assert_eq!(keywords.next_after(bytes, 0), Some(9));
        assert_eq!(keywords.next_after(bytes, 9), Some(9));
        assert_eq!(keywords.next_after(bytes, 10), Some(21));
        assert_eq!(keywords.next_after(bytes, 22), None);
    }

    /// How many bytes are parsed and given out while a file is opened and every object of it is
    /// read, as happens when its page tree is lost.
    fn work(bytes: &[u8]) -> u64 {
        let file = PdfFile::open(bytes, 256 << 20, 2 << 30);
        let mut streams = 0;
        for number in file.object_numbers() {
            if let Object::Stream(dict, start) = &*file.object(number) {
                streams += file.raw(dict, *start).len() as u64;
            }
        }
        let whole = WorkBudget::new(bytes.len(), 2 << 30);
        let spent = |of: fn(&WorkBudget) -> &Cell<u64>| of(&whole).get() - of(&file.budget).get();
        spent(|it| &it.parse_left) + spent(|it| &it.overlap_left) + streams
    }

    /// A file of `count` units, and one of twice as many, cost at most a base and 24 times their
    /// size.
    #[track_caller]
    fn check(unit: impl Fn(usize) -> String, count: usize) {
        let file = |count: usize| (0..count).map(&unit).collect::<String>().into_bytes();
        for bytes in [file(count), file(2 * count)] {
            let most = 4 * BASE_BYTES + 24 * bytes.len() as u64;
            let done = work(&bytes);
            assert!(done <= most, "{done} bytes were looked at of {}", bytes.len());
        }
    }

    #[test]
    fn streams_without_an_end_cost_what_the_file_costs() {
        let unit = |at| format!("{at} 0 obj<</Type/ObjStm/N 9/First 9/Length 99999999>>stream\nxx");
        check(unit, 10_000);
        // One end for all of them costs no more.
        let ended = |at| format!("{}{}", unit(at), if at == 19_999 { "endstream" } else { "" });
        check(ended, 10_000);
    }

    #[test]
    fn trailers_and_objects_without_an_end_cost_what_the_file_costs() {
        check(|_| "trailer<</A[[[[[[[[[[".to_owned(), 20_000);
        check(|at| format!("{at} 0 obj<</A["), 20_000);
        check(|at| format!("{at} 0 obj<</XRef["), 20_000);
    }

    #[test]
    fn tables_that_lie_over_each_other_cost_what_the_file_costs() {
        let rows = "0000000001 00000 n \n".repeat(5_000);
        let mut file = Vec::new();
        for at in 0..2_000_usize {
            // Each table is the row before the next one, and all share the rows at the end.
            file.extend(format!("xref 0 30000 trailer<</Prev {}>>", (at + 1) * 40).bytes());
            file.resize((at + 1) * 40, b' ');
        }
        file.extend(format!("xref\n0 5000\n{rows}startxref\n0\n").bytes());
        assert!(work(&file) <= 4 * BASE_BYTES + 24 * file.len() as u64);
    }

    #[test]
    fn a_stream_that_is_read_again_is_given_again() {
        let budget = WorkBudget::new(0, 1 << 30);
        for _ in 0..100 {
            assert!(budget.spend_stream(7, 1 << 20));
        }
        assert!(!budget.is_exhausted());
        assert!(!(0..100).all(|at| budget.spend_stream(at, 4 << 20)));
        assert!(budget.is_exhausted());
        let empty = PdfFile::open(b"", 1, 1);
        assert_eq!(empty.raw(&Dict::new(), 0), b"");
    }
}
