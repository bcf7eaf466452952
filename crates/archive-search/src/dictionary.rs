//! Finds the terms of a dictionary that begin with a prefix or differ from a word in one letter.

use std::collections::BTreeMap;

use fault::Fault;

use crate::codec::BlobCursor;
use crate::segment::TermReader;

/// The terms that a search of the dictionary returns.
pub(crate) enum TermFilter {
    Prefix(String),
    /// Terms with one letter more, less or different, or with two neighbouring letters exchanged.
    Similar(SimilarWord),
}

/// Adds the matching terms of a stored dictionary, with the number of their pages.
pub(crate) fn find_terms(
    dictionary: &[u8],
    filter: &TermFilter,
    found: &mut BTreeMap<String, u64>,
) -> Result<(), Fault> {
    let (mut cursor, mut reader) = (BlobCursor::new(dictionary), TermReader::default());
    // Terms that share this many bytes with one that cannot match cannot match either.
    let mut mismatch_bytes = usize::MAX;
    while !cursor.is_empty() {
        let shared = reader.read(&mut cursor)?;
        let pages = cursor.number()?;
        let is_match = match filter {
            TermFilter::Prefix(prefix) => {
                if reader.bytes() > prefix.as_bytes()
                    && !reader.bytes().starts_with(prefix.as_bytes())
                {
                    return Ok(());
                }
                reader.bytes().starts_with(prefix.as_bytes())
            }
            TermFilter::Similar(_) if shared >= mismatch_bytes => false,
            TermFilter::Similar(word) => match word.compare(reader.term()?) {
                Similarity::Same => false,
                Similarity::OneEdit => {
                    mismatch_bytes = usize::MAX;
                    true
                }
                Similarity::Other { mismatch_bytes: bytes } => {
                    mismatch_bytes = bytes;
                    false
                }
            },
        };
        if is_match {
            *found.entry(reader.term()?.to_owned()).or_default() += pages;
        }
    }
    Ok(())
}

pub(crate) struct SimilarWord(Vec<char>);

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Similarity {
    Same,
    OneEdit,
    /// Every term that shares this many bytes with the compared one is another word too.
    Other {
        mismatch_bytes: usize,
    },
}

impl SimilarWord {
    pub(crate) fn new(word: &str) -> Self {
        Self(word.chars().collect())
    }

    /// Compares after the common prefix: at the first difference one edit is spent, and the rest
    /// must be equal. `mismatch_bytes` counts the bytes of `other` up to where every comparison
    /// failed: a term that shares them cannot match either.
    pub(crate) fn compare(&self, other: &str) -> Similarity {
        let word = &self.0;
        let letters: Vec<char> = other.chars().take(word.len() + 2).collect();
        let same = word.iter().zip(&letters).take_while(|(a, b)| a == b).count();
        let (left, right) = (&word[same..], &letters[same..]);
        if left.is_empty() && right.is_empty() {
            return Similarity::Same;
        }
        let is_close = (left.len() == right.len() && left[1..] == right[1..])
            || (left.len() + 1 == right.len() && left == &right[1..])
            || (left.len() == right.len() + 1 && &left[1..] == right)
            || (left.len() == right.len()
                && left.len() > 1
                && left[0] == right[1]
                && left[1] == right[0]
                && left[2..] == right[2..]);
        if is_close {
            return Similarity::OneEdit;
        }
        // After one edit the words run in parallel, shifted by at most one: how far each way goes.
        let run = |a: &[char], b: &[char]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let from =
            |a: usize, b: usize| run(left.get(a..).unwrap_or(&[]), right.get(b..).unwrap_or(&[]));
        let exchanged = match (left, right) {
            ([a, b, ..], [c, d, ..]) if a == d && b == c => 2 + from(2, 2),
            _ => 0,
        };
        let looked = (1 + from(1, 1)).max(1 + from(0, 1)).max(from(1, 0)).max(exchanged);
        let chars = same + looked + 2;
        let bytes = other.chars().take(chars).map(char::len_utf8).sum();
        let is_whole = other.chars().nth(chars).is_none();
        Similarity::Other { mismatch_bytes: if is_whole { usize::MAX } else { bytes } }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::segment::{FileEntry, PageEntry, SegmentBuilder};

    /// Optimal string alignment by its definition.
    fn distance(a: &str, b: &str) -> usize {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let mut d = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                d[i][j] = if i == 0 || j == 0 {
                    i + j
                } else {
                    let cost = usize::from(a[i - 1] != b[j - 1]);
                    (d[i - 1][j] + 1).min(d[i][j - 1] + 1).min(d[i - 1][j - 1] + cost)
                };
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    d[i][j] = d[i][j].min(d[i - 2][j - 2] + 1);
                }
            }
        }
        d[a.len()][b.len()]
    }

    fn dictionary(words: &[String]) -> Vec<u8> {
        let mut builder = SegmentBuilder::default();
        builder.begin_file(FileEntry {
            facts: None,
            file_id: "f".to_owned(),
            owner: 0,
            uploaded_at: 0,
            media_type: 0,
            tags: Vec::new(),
            pages: Vec::new(),
        });
        words.iter().for_each(|word| builder.add_word(0, word));
        builder.end_page(PageEntry { page: 1, words: 1, chunks: Vec::new() });
        builder.finish().dictionary
    }

    proptest! {
        #[test]
        fn a_dictionary_finds_what_a_loop_finds(
            mut words in prop::collection::btree_set("[abж]{1,6}", 1..60),
            wanted in "[abж]{1,6}",
        ) {
            let all: Vec<String> = words.iter().cloned().collect();
            let blob = dictionary(&all);
            let mut found = BTreeMap::new();
            find_terms(&blob, &TermFilter::Similar(SimilarWord::new(&wanted)), &mut found).unwrap();
            let found: Vec<String> = found.into_keys().collect();
            let expected: Vec<String> =
                all.iter().filter(|it| distance(it, &wanted) == 1).cloned().collect();
            prop_assert_eq!(found, expected);
            let mut found = BTreeMap::new();
            find_terms(&blob, &TermFilter::Prefix(wanted.clone()), &mut found).unwrap();
            words.retain(|it| it.starts_with(&wanted));
            prop_assert_eq!(found.into_keys().collect::<Vec<_>>(), words.into_iter().collect::<Vec<_>>());
        }
    }
}
