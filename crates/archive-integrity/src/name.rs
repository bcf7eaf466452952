//! Names of people, firms, courts and agencies: runs of capitalised words that are not merely the
//! start of a sentence or a legal term. The module does not resolve who is who.

use std::collections::HashSet;
use std::sync::LazyLock;

use text::WordList;

use crate::Span;
use crate::date;
use crate::text::{Word, is_stop};

#[derive(Debug, Clone)]
pub(crate) struct NameMention {
    /// Folded, without titles, forms of incorporation and small words.
    pub(crate) tokens: Vec<String>,
    pub(crate) span: Span,
    pub(crate) words: (usize, usize),
    /// A single word at the start of a sentence, which may not be a name.
    pub(crate) doubtful: bool,
}

static TITLES: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/titles.txt")));

static PLAIN: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/plain.txt")));

pub(crate) fn is_title(folded: &str) -> bool {
    TITLES.contains(folded)
}

pub(crate) fn is_plain(folded: &str) -> bool {
    PLAIN.contains(folded)
}

/// The most words of a name.
const WORDS_MAX: usize = 8;

/// All names among the words; `starts` are the positions where sentences begin.
pub(crate) fn find(
    text: &str,
    words: &[Word<'_>],
    taken: &[bool],
    starts: &HashSet<usize>,
) -> Vec<NameMention> {
    let mut list = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let end = run(text, words, taken, at);
        if end == at {
            at += 1;
            continue;
        }
        if let Some(found) = name(words, at, end, starts) {
            list.push(found);
        }
        at = end;
    }
    list
}

/// The end of the run of capitalised words.
fn run(text: &str, words: &[Word<'_>], taken: &[bool], first: usize) -> usize {
    let capital = |at: usize| {
        words.get(at).is_some_and(|it| it.is_capital())
            && taken.get(at).is_some_and(|it| !it)
            && date::month(&words[at]).is_none()
            && !is_joint(&words[at])
    };
    let mut end = first;
    while capital(end) && end - first < WORDS_MAX {
        let word = &words[end];
        end += 1;
        if word.text.ends_with("'s") || word.text.ends_with("’s") {
            break;
        }
        let Some(next) = words.get(end) else { break };
        let gap = &text[word.end..next.start];
        let folded = next.fold();
        let initial = word.text.chars().count() == 1;
        // A blank line separates a heading from the text.
        let parted = gap.bytes().filter(|it| *it == b'\n').count() > 1
            || (gap.contains('\n') && is_heading(text, word.end));
        let joins = match gap.trim_end_matches(['\n', '\r']) {
            _ if parted => false,
            " " | "-" | " & " | "" | "’" => true,
            ". " | "." => initial || matches!(word.fold().as_str(), "st" | "mt" | "dr" | "mr"),
            // A list of people is not one name.
            ", " => {
                let forms = ["inc", "llc", "llp", "co", "corp", "ltd", "plc", "lp", "pllc", "pc"];
                forms.contains(&folded.as_str())
            }
            _ => false,
        };
        if !joins {
            break;
        }
        if folded == "of" && capital(end + 1) && &text[next.end..words[end + 1].start] == " " {
            end += 1;
        } else if folded == "of"
            && words.get(end + 1).is_some_and(|it| it.fold() == "the")
            && capital(end + 2)
        {
            end += 2;
        }
    }
    end
}

/// A function word in capitals, as in headings.
fn is_joint(word: &Word<'_>) -> bool {
    matches!(word.text, "BY" | "AND" | "FOR" | "TO" | "FROM" | "WITH" | "ON" | "AT" | "IN" | "V")
}

/// Whether the line that ends here is short or in capitals, so that the next line begins a new run.
fn is_heading(text: &str, end: usize) -> bool {
    let line = text[..end].rsplit('\n').next().unwrap_or_default();
    line.chars().count() < 60 || !line.chars().any(char::is_lowercase)
}

fn name(
    words: &[Word<'_>],
    mut first: usize,
    end: usize,
    starts: &HashSet<usize>,
) -> Option<NameMention> {
    let opens = starts.contains(&words[first].start);
    // A word that only opens the sentence is not part of the name behind it.
    while first < end {
        let folded = words[first].fold();
        let lead = first == end - 1 || is_stop(&folded) || is_title(&folded);
        let plain = is_stop(&folded) || is_title(&folded) || is_plain(&folded);
        // `Deposition of Vale`, `Report of Vale`.
        let next = words.get(first + 1).filter(|_| first + 2 < end).map(Word::fold);
        let paper = is_plain(&folded) && next.is_some_and(|it| it == "of");
        let skipped = (lead && plain) || paper || (opens && is_opener(&folded));
        if !skipped {
            break;
        }
        first += 1;
    }
    let part = words.get(first..end).filter(|it| !it.is_empty())?;
    let tokens: Vec<String> = part
        .iter()
        .map(Word::fold)
        .filter(|it| !is_stop(it) && !is_title(it))
        .filter(|it| it.chars().any(char::is_alphabetic))
        .collect();
    let telling = tokens.iter().any(|it| !is_plain(it) && it.chars().count() > 1);
    if !telling {
        return None;
    }
    let doubtful = tokens.len() == 1 && starts.contains(&words[first].start);
    let span = Span { start: part.first()?.start, end: part.last()?.end };
    Some(NameMention { tokens, span, words: (first, end), doubtful })
}

fn is_opener(folded: &str) -> bool {
    matches!(
        folded,
        "when"
            | "after"
            | "before"
            | "because"
            | "although"
            | "since"
            | "under"
            | "per"
            | "if"
            | "while"
            | "both"
            | "once"
            | "despite"
            | "according"
            | "judgment"
            | "counsel"
            | "however"
            | "later"
            | "only"
            | "even"
            | "until"
            | "unlike"
            | "like"
            | "see"
            | "through"
            | "whatever"
            | "citing"
            | "relying"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{sentences, words};

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let list = words(text);
        let starts = sentences(text).iter().map(|it| it.start).collect();
        let got: Vec<String> = find(text, &list, &vec![false; list.len()], &starts)
            .iter()
            .map(|it| it.tokens.join(" "))
            .collect();
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn names_and_sentence_starts_are_distinguished() {
        check("The Court heard Judge Alma R. Quist.", &["alma r quist"]);
        check(
            "Plaintiff Orrin Vale sued Hartwell Tools, Inc. on Monday.",
            &["orrin vale", "hartwell tools"],
        );
        check("Under the Lease, Vale's motion fails.", &["vale"]);
        check("Bank of Warren appealed.", &["bank warren"]);
        check("In March 2021 nothing happened.", &[]);
        check("FINDINGS AT LARGE\n\nOrrin Vale left.", &["large", "orrin vale"]);
        check("Истец Орлова обратилась в суд.", &["орлова"]);
    }
}
