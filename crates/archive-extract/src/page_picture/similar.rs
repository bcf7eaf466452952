//! Aligns two sequences of words that are mostly equal: the best local alignment, in which words
//! that differ in a third of their letters still count as the same.

use std::collections::HashMap;

use super::align::AlignedSpan;
use super::letters::letters;

/// At most this many words of a span are compared; the rest of a longer span is left out.
const SPAN_WORDS_MAX: usize = 400;
/// Comparisons of a span with a page: 8 million steps take about 0.1 s.
const STEPS_MAX: usize = 8_000_000;
/// The scores of the alignment.
const EQUAL: i32 = 3;
const SIMILAR: i32 = 1;
const DIFFERENT: i32 = -2;
const SKIPPED: i32 = -1;

/// The words of the page that align with those of the quote.
pub(super) fn align_words(quote: &str, words: &[&str]) -> AlignedSpan {
    let wanted: Vec<String> = quote.split_whitespace().map(letters).collect();
    let wanted: Vec<String> = wanted.into_iter().filter(|it| !it.is_empty()).collect();
    let all: usize = wanted.iter().map(String::len).sum();
    let wanted = &wanted[..wanted.len().min(SPAN_WORDS_MAX)];
    let page: Vec<(usize, String)> = words.iter().map(|it| letters(it)).enumerate().collect();
    let page: Vec<(usize, String)> = page.into_iter().filter(|it| !it.1.is_empty()).collect();
    if wanted.is_empty() || page.is_empty() || wanted.len() * page.len() > STEPS_MAX {
        return AlignedSpan::default();
    }
    let mut found = AlignedSpan::default();
    let mut letters_found = 0;
    for (row, column) in path(wanted, &page) {
        found.words.push(page[column].0);
        letters_found += wanted[row].len();
    }
    found.words.reverse();
    found.share = letters_found as f64 / all.max(1) as f64;
    found
}

/// Where a cell of the table comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CellOrigin {
    Start,
    Match,
    Mismatch,
    SkipWanted,
    SkipPage,
}

/// The pairs of the best local alignment, from its end to its beginning.
fn path(wanted: &[String], page: &[(usize, String)]) -> Vec<(usize, usize)> {
    let width = page.len() + 1;
    let mut steps = vec![CellOrigin::Start; (wanted.len() + 1) * width];
    let mut above = vec![0_i32; width];
    let mut best = (0, 0, 0);
    let mut known: HashMap<(&str, &str), i32> = HashMap::new();
    for (row, word) in wanted.iter().enumerate() {
        let mut here = vec![0_i32; width];
        for (column, (_, other)) in page.iter().enumerate() {
            let pair = match word == other {
                true => EQUAL,
                false if !may_be_similar(word, other) => DIFFERENT,
                false => *known
                    .entry((word.as_str(), other.as_str()))
                    .or_insert_with(|| if is_similar(word, other) { SIMILAR } else { DIFFERENT }),
            };
            let matched = if pair > 0 { CellOrigin::Match } else { CellOrigin::Mismatch };
            let ways = [
                (above[column] + pair, matched),
                (above[column + 1] + SKIPPED, CellOrigin::SkipWanted),
                (here[column] + SKIPPED, CellOrigin::SkipPage),
            ];
            let (score, step) =
                ways.into_iter().fold((0, CellOrigin::Start), |a, b| if b.0 > a.0 { b } else { a });
            here[column + 1] = score;
            steps[(row + 1) * width + column + 1] = step;
            if score > best.0 {
                best = (score, row + 1, column + 1);
            }
        }
        above = here;
    }
    let (_, mut row, mut column) = best;
    let mut pairs = Vec::new();
    loop {
        match steps[row * width + column] {
            CellOrigin::Start => return pairs,
            CellOrigin::SkipWanted => row -= 1,
            CellOrigin::SkipPage => column -= 1,
            step => {
                (row, column) = (row - 1, column - 1);
                if step == CellOrigin::Match {
                    pairs.push((row, column));
                }
            }
        }
    }
}

fn may_be_similar(a: &str, b: &str) -> bool {
    a.len().abs_diff(b.len()) * 3 <= a.len().max(b.len())
}

/// Whether at most a third of the letters differ.
fn is_similar(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, letter) in a.iter().enumerate() {
        let mut here = vec![row + 1];
        for (column, other) in b.iter().enumerate() {
            let changed = above[column] + usize::from(letter != other);
            here.push(changed.min(above[column + 1] + 1).min(here[column] + 1));
        }
        above = here;
    }
    above.last().is_some_and(|it| it * 3 <= a.len().max(b.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(quote: &str, words: &str, expected: &[usize]) {
        let words: Vec<&str> = words.split_whitespace().collect();
        assert_eq!(align_words(quote, &words).words, expected, "{quote}");
    }

    #[test]
    fn the_best_sequence_is_found() {
        check("one two three", "zero one two three four", &[1, 2, 3]);
        check("one two three", "zero one stamp two three four", &[1, 3, 4]);
        check("faiied to pay", "he failed to pay", &[1, 2, 3]);
        check("nothing of it", "wholly other words", &[]);
        check("", "a b", &[]);
    }

    #[test]
    fn very_long_texts_are_not_compared() {
        let words = vec!["word"; 30_000];
        assert_eq!(align_words(&"word ".repeat(500), &words), AlignedSpan::default());
    }
}
