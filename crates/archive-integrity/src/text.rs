//! Sentences, words, folded forms and crude stems, all by byte spans. The module has no grammar;
//! equal stems only mean that two words may be the same.

use std::collections::HashMap;
use std::sync::LazyLock;

use text::WordList;
pub(crate) use text::stem::is_irregular;
use text::stem::rough;
use text::tokens::{Cut, TokenKind, tokens};

use crate::Span;

/// A run of letters and digits, with the apostrophes inside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<'t> {
    pub(crate) text: &'t str,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Word<'_> {
    pub(crate) fn is_capital(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }

    pub(crate) fn fold(&self) -> String {
        fold(self.text)
    }
}

/// Lower case, straight apostrophes, without a possessive ending.
pub(crate) fn fold(word: &str) -> String {
    let mut folded = text::fold::lower(word);
    folded.truncate(text::fold::without_possessive(&folded).len());
    folded
}

/// Runs of letters and digits with the apostrophes inside them.
pub(crate) fn words(text: &str) -> Vec<Word<'_>> {
    let tokens = tokens(text, Cut::PROSE).filter(|it| it.kind != TokenKind::Mark);
    tokens.map(|it| Word { text: &text[it.start..it.end], start: it.start, end: it.end }).collect()
}

/// Whether the word looks like the past of a verb.
pub(crate) fn is_past(folded: &str) -> bool {
    (folded.len() > 4 && folded.ends_with("ed")) || is_irregular(folded) || is_past_ru(folded)
}

fn is_past_ru(folded: &str) -> bool {
    let ends = ["ено", "ена", "ены", "ил", "ал", "или", "али", "ила", "ала"];
    folded.chars().count() > 5 && ends.iter().any(|it| folded.ends_with(it))
}

/// The words of a sentence, split at commas, semicolons and conjunctions.
pub(crate) fn clauses<'w, 't>(text: &str, words: &'w [Word<'t>]) -> Vec<&'w [Word<'t>]> {
    let mut list = Vec::new();
    let mut from = 0;
    for at in 1..words.len() {
        let gap = text.get(words[at - 1].end..words[at].start).unwrap_or_default();
        let joint = matches!(
            words[at].text,
            "and" | "but" | "while" | "whereas" | "although" | "because" | "so" | "и" | "но" | "а"
        );
        if joint || gap.contains([',', ';', ':', '(', ')', '—', '–']) {
            list.push(&words[from..at]);
            from = at;
        }
    }
    list.push(&words[from..]);
    list.retain(|it| !it.is_empty());
    list
}

/// The word without its commonest endings, replaced by the first word of its row of synonyms.
pub(crate) fn stem(folded: &str) -> String {
    static FIRST: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
        let mut map: HashMap<String, &str> = HashMap::new();
        let file = include_str!("../data/synonyms.txt");
        for row in file.lines().filter(|it| !it.starts_with('#')) {
            let first = row.split(' ').next().unwrap_or_default();
            for word in row.split(' ') {
                map.entry(rough(word)).or_insert(first);
                map.entry(word.to_owned()).or_insert(first);
            }
        }
        map
    });
    let base = rough(folded);
    match FIRST.get(base.as_str()) {
        Some(first) => (*first).to_owned(),
        None => base,
    }
}

/// Whether two stems are one word: equal, or two forms of one Russian word.
pub(crate) fn is_same_stem(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let russian = |it: &str| it.starts_with(|it: char| ('а'..='я').contains(&it));
    if !russian(one) || !russian(other) {
        return false;
    }
    let shared = one.chars().zip(other.chars()).take_while(|(one, two)| one == two).count();
    let longest = one.chars().count().max(other.chars().count());
    shared >= 5 && longest - shared <= 3
}

/// Sentences without the blanks around them. A blank line also ends a sentence.
pub(crate) fn sentences(text: &str) -> Vec<Span> {
    let ranges = text::sentences::sentences(text).into_iter();
    ranges.map(|it| Span { start: it.start, end: it.end }).collect()
}

/// Stop words.
pub(crate) fn is_stop(folded: &str) -> bool {
    static WORDS: LazyLock<WordList> =
        LazyLock::new(|| WordList::parse(include_str!("../data/stop.txt")));
    WORDS.contains(folded)
}

/// Character counts at regular byte offsets, so that any position is counted from a near one.
#[derive(Debug)]
pub(crate) struct Chars(Vec<usize>);

const STEP: usize = 1 << 12;

fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|it| (**it & 0xc0) != 0x80).count()
}

impl Chars {
    pub(crate) fn new(text: &str) -> Self {
        let mut sum = 0;
        let before = text.as_bytes().chunks(STEP).map(|chunk| {
            let before = sum;
            sum += count(chunk);
            before
        });
        Self(before.collect())
    }

    fn at(&self, text: &str, byte: usize) -> usize {
        let byte = byte.min(text.len());
        let chunk = byte / STEP;
        let (chunk, before) = match self.0.get(chunk) {
            Some(before) => (chunk, *before),
            None => (chunk.saturating_sub(1), self.0.last().copied().unwrap_or(0)),
        };
        before + count(&text.as_bytes()[chunk * STEP..byte])
    }

    pub(crate) fn span(&self, text: &str, span: Span) -> Span {
        Span { start: self.at(text, span.start), end: self.at(text, span.end) }
    }
}

/// At most `max` characters, with a mark at the cut; runs of blanks become one.
pub(crate) fn clip(text: &str, max: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", &flat[..at]),
        None => flat,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let got: Vec<&str> = sentences(text).iter().map(|it| &text[it.start..it.end]).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn sentence_ends_are_found() {
        check("One here. Two there.", &["One here.", "Two there."]);
        check(
            "Smith v. Jones Co. No. 4 is old. It ended.",
            &["Smith v. Jones Co. No. 4 is old.", "It ended."],
        );
        check("He said \"stop.\" She went.", &["He said \"stop.\"", "She went."]);
        check("HEADING\n\nA line\nthat goes on.", &["HEADING", "A line\nthat goes on."]);
        check(
            "Судья А. Б. Орлов отказал. Истец ушел.",
            &["Судья А. Б. Орлов отказал.", "Истец ушел."],
        );
        check(" \n ", &[]);
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (one, other) in [
            ("granted", "grants"),
            ("filed", "filing"),
            ("terminated", "terminate"),
            ("parties", "party"),
            ("договора", "договор"),
        ] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
    }
}
