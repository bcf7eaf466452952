//! Parses keywords into terms. Every text is valid: there is no syntax to get wrong.

use fault::Fault;

use archive_search::words::{self, IndexWord};

/// Terms of one query.
const TERMS_MAX: usize = 32;
/// Words of all terms.
const WORDS_MAX: usize = 128;
const CHARS_MAX: usize = 4_000;

/// Consecutive words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    /// At least one.
    pub stems: Vec<String>,
    /// The last word as typed, if it ends with `*`: words with this prefix match, and other forms
    /// of the word.
    pub prefix: Option<String>,
}

impl Term {
    fn read(text: &str, starred: bool) -> Option<Self> {
        let stems: Vec<String> = words::words(text).map(|word| word.stem).collect();
        if stems.is_empty() {
            return None;
        }
        let text = text.trim_end();
        let word = text.trim_end_matches('*');
        let open = (starred || word.len() < text.len()) && word.ends_with(char::is_alphanumeric);
        let prefix = if open { words::folded(text).last() } else { None };
        Some(Self { stems, prefix })
    }

    /// Whether the last word of this term matches a word with this stem.
    fn last_is(&self, stem: &str) -> bool {
        self.stems.last().is_some_and(|it| it == stem)
            || self.prefix.as_ref().is_some_and(|it| stem.starts_with(it.as_str()))
    }

    /// How many words from `at` on this term covers, if it matches there.
    pub(crate) fn matches_at(&self, text: &[IndexWord], at: usize) -> Option<usize> {
        let here = text.get(at..at + self.stems.len())?;
        let (last, before) = here.split_last()?;
        let same = before.iter().zip(&self.stems).all(|(word, stem)| word.stem == *stem);
        (same && self.last_is(&last.stem)).then_some(here.len())
    }
}

/// Without terms nothing matches.
pub(crate) fn parse(keywords: &str) -> Result<Vec<Term>, Fault> {
    if keywords.chars().nth(CHARS_MAX).is_some() {
        return Err(too_many(format!("keywords have at most {CHARS_MAX} characters")));
    }
    let mut terms: Vec<Term> = Vec::new();
    for part in parts(keywords) {
        let read: Vec<Term> = if part.is_phrase {
            Term::read(part.text, part.starred).into_iter().collect()
        } else {
            unquoted(part.text).filter_map(|it| Term::read(it, false)).collect()
        };
        for term in read {
            if !terms.contains(&term) {
                terms.push(term);
            }
        }
    }
    let words: usize = terms.iter().map(|term| term.stems.len()).sum();
    if terms.len() > TERMS_MAX || words > WORDS_MAX {
        let most = format!("keywords have at most {TERMS_MAX} words and phrases");
        return Err(too_many(format!("{most}, and {WORDS_MAX} words in all")));
    }
    Ok(terms)
}

/// Splits an unquoted part at white space, but not within a word such as `U. S. C.`
fn unquoted(text: &str) -> impl Iterator<Item = &str> {
    let mut words = words::words(text).map(|it| it.span).peekable();
    std::iter::from_fn(move || {
        let first = words.next()?;
        let mut end = first.end;
        let is_apart = |end: usize, start: usize| text[end..start].contains(char::is_whitespace);
        while let Some(next) = words.next_if(|it| !is_apart(end, it.start)) {
            end = next.end;
        }
        // Up to the next white space, for a star.
        let after = text[end..].find(char::is_whitespace).map_or(text.len(), |it| end + it);
        Some(&text[first.start..after])
    })
}

fn too_many(message: String) -> Fault {
    Fault::invalid("too_many_keywords", message).problem("keywords", "fewer words")
}

/// A quoted or unquoted part of the keywords.
struct KeywordPart<'t> {
    text: &'t str,
    is_phrase: bool,
    /// A star right after the closing quote, which belongs to the phrase.
    starred: bool,
}

/// The text between quotes, and the text outside of them. A quote that is not closed is
/// punctuation.
fn parts(text: &str) -> Vec<KeywordPart<'_>> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = split_quote(rest) {
        let Some((inner, left)) = split_quote(after) else { break };
        let starred = left.starts_with('*');
        found.push(KeywordPart { text: before, is_phrase: false, starred: false });
        found.push(KeywordPart { text: inner, is_phrase: true, starred });
        rest = left;
    }
    found.push(KeywordPart { text: rest, is_phrase: false, starred: false });
    found
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»')
}

fn split_quote(text: &str) -> Option<(&str, &str)> {
    let at = text.find(is_quote)?;
    let quote = text[at..].chars().next()?;
    Some((&text[..at], &text[at + quote.len_utf8()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terms are written with spaces between words and a star after the beginning of one.
    #[track_caller]
    fn check(keywords: &str, expected: &[&str]) {
        let terms = parse(keywords).unwrap();
        let terms: Vec<String> = terms
            .iter()
            .map(|term| {
                let stems = term.stems.join(" ");
                term.prefix.as_ref().map_or(stems.clone(), |prefix| format!("{stems} {prefix}*"))
            })
            .collect();
        assert_eq!(terms, expected, "{keywords:?}");
    }

    #[test]
    fn words_phrases_and_beginnings() {
        check("motion dismissed", &["motion", "dismiss"]);
        check("\"motion to dismiss\" denied", &["motion to dismiss", "deni"]);
        check("«ст. 15 ГК РФ»", &["ст 15 гк рф"]);
        check("2:24-cv-01234", &["2 24 cv 1234"]);
        check("\"410 U.S. 113\"", &["410 us 113"]);
        check("17 U.S.C. § 101", &["17", "usc", "101"]);
        check("17 U. S. C. §101", &["17", "usc", "101"]);
        check("Воробьёва Воробьёв", &["воробь"]);
        check(
            "jurisd* \"summary judg*\" \"final ord\"*",
            &["jurisd jurisd*", "summari judg judg*", "final ord ord*"],
        );
        check("договора*", &["договор договора*"]);
        check("motion Motions MOTION", &["motion"]);
    }

    #[test]
    fn operators_and_punctuation_are_harmless() {
        check("a AND b OR NOT c NEAR(d e)", &["a", "and", "b", "or", "not", "c", "near d", "e"]);
        check("title:x ^y {z} -w +v (u", &["titl x", "y", "z", "w", "v", "u"]);
        check("un\"closed quote", &["un close", "quot"]);
        check("* ** !!! \"\" '' ; -- /*", &[]);
        check("x-* *y a*b", &["x", "y", "a b"]);
    }

    #[test]
    fn keywords_are_limited() {
        let many: Vec<String> = (0..33).map(|at| format!("w{at}")).collect();
        for keywords in [many.join(" "), "a".repeat(4_001), "w-".repeat(129)] {
            assert_eq!(parse(&keywords).unwrap_err().code(), "too_many_keywords");
        }
        assert_eq!(parse(&many[..32].join(" ")).unwrap().len(), 32);
    }
}
