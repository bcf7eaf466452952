//! Words and phrases with a tone, in English and some Russian; we wrote the list. A phrase matches
//! word for word, with `~` for up to two other words. A match does not say whether the tone is
//! justified.

use std::collections::HashMap;
use std::sync::LazyLock;

use text::WordList;

use crate::text::Word;
use crate::{Span, voice};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Tone {
    /// Leaves room for doubt.
    Hedge,
    /// Attributes a statement to its speaker.
    Attribution,
    Certain,
    Superlative,
    /// Claims a memory or an act that a text cannot have.
    Memory,
    /// Mentions feelings or a body.
    Human,
    /// Cites an unnamed authority.
    Weasel,
    Blame,
    Praise,
    Sweeping,
    /// Treats a side's statement as doubtful, or as proven.
    Doubting,
    Proving,
    Offer,
    Unfinished,
    Interest,
    Disclosure,
    Override,
    Error,
    Correction,
    Fiction,
}

const TABLE: [(Tone, &str); 20] = [
    (Tone::Hedge, include_str!("../data/tones/hedge.txt")),
    (Tone::Attribution, include_str!("../data/tones/attribution.txt")),
    (Tone::Certain, include_str!("../data/tones/certain.txt")),
    (Tone::Superlative, include_str!("../data/tones/superlative.txt")),
    (Tone::Memory, include_str!("../data/tones/memory.txt")),
    (Tone::Human, include_str!("../data/tones/human.txt")),
    (Tone::Weasel, include_str!("../data/tones/weasel.txt")),
    (Tone::Blame, include_str!("../data/tones/blame.txt")),
    (Tone::Praise, include_str!("../data/tones/praise.txt")),
    (Tone::Sweeping, include_str!("../data/tones/sweeping.txt")),
    (Tone::Doubting, include_str!("../data/tones/doubting.txt")),
    (Tone::Proving, include_str!("../data/tones/proving.txt")),
    (Tone::Offer, include_str!("../data/tones/offer.txt")),
    (Tone::Unfinished, include_str!("../data/tones/unfinished.txt")),
    (Tone::Interest, include_str!("../data/tones/interest.txt")),
    (Tone::Disclosure, include_str!("../data/tones/disclosure.txt")),
    (Tone::Override, include_str!("../data/tones/override.txt")),
    (Tone::Error, include_str!("../data/tones/error.txt")),
    (Tone::Correction, include_str!("../data/tones/correction.txt")),
    (Tone::Fiction, include_str!("../data/tones/fiction.txt")),
];

/// Beginnings of Russian words, which have many endings.
static BLAME_RU: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/tones/blame_russian.txt")));
static PRAISE_RU: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../data/tones/praise_russian.txt")));

fn is_cyrillic(it: char) -> bool {
    ('а'..='я').contains(&it)
}

/// One match of a phrase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToneHit {
    pub(crate) tone: Tone,
    pub(crate) span: Span,
    /// First word, as an index into the given words.
    pub(crate) at: usize,
}

type Tree = HashMap<&'static str, Vec<(Vec<&'static str>, Tone)>>;

static PHRASES: LazyLock<Tree> = LazyLock::new(|| {
    let mut map: Tree = HashMap::new();
    for (tone, list) in TABLE {
        for phrase in list.lines().filter(|it| !it.starts_with('#')) {
            let words: Vec<&'static str> =
                phrase.split([' ', '-', ',']).filter(|it| !it.is_empty()).collect();
            if let Some(first) = words.first() {
                map.entry(first).or_default().push((words, tone));
            }
        }
    }
    map
});

/// All phrases among the words; one word may have several tones.
pub(crate) fn find(words: &[Word<'_>]) -> Vec<ToneHit> {
    let folded: Vec<String> =
        words.iter().map(|it| it.text.to_lowercase().replace('’', "'")).collect();
    let mut list = voice::find(&folded, words);
    for (at, word) in folded.iter().enumerate() {
        for (phrase, tone) in PHRASES.get(word.as_str()).into_iter().flatten() {
            if let Some(end) = ends(&folded, at, phrase) {
                let span = Span { start: words[at].start, end: words[end - 1].end };
                list.push(ToneHit { tone: *tone, span, at });
            }
        }
    }
    for (at, word) in folded.iter().enumerate().filter(|it| it.1.starts_with(is_cyrillic)) {
        let span = Span { start: words[at].start, end: words[at].end };
        if BLAME_RU.contains(word) {
            list.push(ToneHit { tone: Tone::Blame, span, at });
        } else if PRAISE_RU.contains(word) {
            list.push(ToneHit { tone: Tone::Praise, span, at });
        }
    }
    list.sort_by_key(|it| (it.at, it.span.end));
    list
}

/// The end of the phrase that begins here; `~` in it stands for up to two words.
fn ends(folded: &[String], at: usize, phrase: &[&str]) -> Option<usize> {
    let Some((first, rest)) = phrase.split_first() else { return Some(at) };
    if *first == "~" {
        return (0..=2).find_map(|skip| ends(folded, at + skip, rest));
    }
    let same = folded.get(at).is_some_and(|it| it == first);
    same.then(|| ends(folded, at + 1, rest)).flatten()
}

pub(crate) fn has(hits: &[ToneHit], tone: Tone) -> bool {
    hits.iter().any(|it| it.tone == tone)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The files that are word lists; pairs, phrases and rows of synonyms are read in their own order.
    fn lists(folder: &Path) -> Vec<std::path::PathBuf> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(lists(&path));
            } else if !["synonyms.txt", "acts.txt", "acts_ru.txt", "dated_acts.txt"]
                .iter()
                .any(|it| path.ends_with(it))
            {
                found.push(path);
            }
        }
        found
    }

    #[test]
    fn word_lists_are_sorted_and_without_repeats() {
        let files = lists(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data"));
        assert!(files.len() > 30);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            assert_eq!(text::list_problem(&text), None, "{}", file.display());
        }
    }
}
