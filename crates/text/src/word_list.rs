//! Word lists from data files: one entry a line, sorted, comments with `#`.

use std::collections::HashSet;
use std::ops::RangeInclusive;

/// A set of words and of word beginnings (written with `*`), each found by hashing.
///
/// ```
/// let list = text::WordList::parse("# words of degree\nhigh\nвысок*");
/// assert!(list.contains("high") && list.contains("высокий"));
/// assert!(!list.contains("higher"));
/// ```
#[derive(Debug)]
pub struct WordList {
    words: HashSet<&'static str>,
    beginnings: HashSet<&'static str>,
    /// Bytes of the shortest and the longest beginning.
    beginning_bytes: RangeInclusive<usize>,
}

/// The entries of a file.
fn entries(file: &str) -> impl Iterator<Item = &str> {
    file.lines().filter(|it| !it.is_empty() && !it.starts_with('#'))
}

impl WordList {
    /// The list of a file.
    #[must_use]
    pub fn parse(file: &'static str) -> Self {
        let (beginnings, words): (Vec<&str>, Vec<&str>) =
            entries(file).partition(|it| it.ends_with('*'));
        let beginnings: HashSet<&str> =
            beginnings.into_iter().map(|it| it.trim_end_matches('*')).collect();
        let bytes = || beginnings.iter().map(|it| it.len());
        let beginning_bytes = bytes().min().unwrap_or(1)..=bytes().max().unwrap_or(0);
        Self { words: words.into_iter().collect(), beginnings, beginning_bytes }
    }

    /// Whether the list has the word, or a beginning of it.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        let begins = |bytes| word.get(..bytes).is_some_and(|it| self.beginnings.contains(it));
        self.words.contains(word) || self.beginning_bytes.clone().any(begins)
    }
}

/// What is wrong with the file of a word list, for tests: an entry that is not after the one before
/// it, or that has blanks at an end.
#[must_use]
pub fn list_problem(file: &str) -> Option<String> {
    let entries: Vec<&str> = entries(file).collect();
    if let Some(it) = entries.iter().find(|it| it.trim() != **it) {
        return Some(format!("`{it}` has blanks around it"));
    }
    let unsorted = entries.windows(2).find(|it| it[0] >= it[1])?;
    Some(format!("`{}` is not after `{}`", unsorted[1], unsorted[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_beginnings_are_found() {
        let list = WordList::parse("# comment\n\nbad\nслаб*\nсомнительн*");
        for (word, expected) in [
            ("bad", true),
            ("badly", false),
            ("слаб", true),
            ("слабый", true),
            ("сла", false),
            ("сомнительного", true),
            ("", false),
            ("#", false),
        ] {
            assert_eq!(list.contains(word), expected, "{word}");
        }
        assert!(!WordList::parse("").contains("any"));
    }

    #[test]
    fn problems_of_a_file_are_named() {
        assert_eq!(list_problem("# c\na\nb\n"), None);
        assert!(list_problem("b\na").is_some());
        assert!(list_problem("a\na").is_some());
        assert!(list_problem("a \nb").is_some());
    }
}
