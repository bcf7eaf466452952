//! The words of an insight in the form of each engine's index, and query terms in each engine's
//! syntax.
//!
//! An indexed word is the label of its scope followed by its stem. A key (a tag or a file) is the
//! label of the scope, `§`, and the label of the key.

use std::fmt::Write as _;

use crate::insight::NewInsight;
use crate::keywords::Term;
use crate::scope;
use archive_search::words::words;

/// Separates scope and key; both engines treat it as a letter.
const KEY_MARK: char = '§';
/// PostgreSQL limits a `tsvector` to 1 MB; the longest insight of ordinary words fits.
const INDEX_BYTES_MAX: usize = 1_000_000;
/// Bytes of a word besides its letters: label, position and alignment.
const WORD_BYTES: usize = 18;
/// The highest position PostgreSQL stores; later words are indexed without one.
const POSITION_MAX: usize = 16_383;

/// The index entry of an insight.
pub(crate) struct IndexEntry {
    label: String,
    title: Vec<String>,
    content: Vec<String>,
    category: Vec<String>,
    keys: Vec<String>,
}

impl IndexEntry {
    pub(crate) fn of(insight: &NewInsight) -> Self {
        let scope = insight.scope();
        let mut room = INDEX_BYTES_MAX;
        let title = take(&insight.title, &mut room);
        let content = take(&insight.content, &mut room);
        let category = insight.category.as_deref().unwrap_or_default().replace('_', " ");
        let category = take(&category, &mut room);
        let mut keys: Vec<i64> = insight.tags.iter().map(|it| scope::tag(it)).collect();
        keys.push(scope::file(&insight.file_id));
        keys.sort_unstable();
        keys.dedup();
        let keys = keys.into_iter().map(|key| format!("{KEY_MARK}{}", scope::label(key)));
        Self { label: scope::label(scope), title, content, category, keys: keys.collect() }
    }

    /// The columns of the SQLite index: title, content with the category, keys. The mark between
    /// content and category is no word, so that no phrase spans both.
    pub(crate) fn columns(&self) -> [String; 3] {
        let mark = [KEY_MARK.to_string()];
        let (title, keys) = (&self.title[..], &self.keys[..]);
        [[title, &[], &[]], [&self.content, &mark, &self.category], [keys, &[], &[]]].map(|parts| {
            let count: usize = parts.iter().map(|part| part.len()).sum();
            let mut text = String::with_capacity(count * 20);
            for word in parts.into_iter().flatten() {
                text.push_str(&self.label);
                text.push_str(word);
                text.push(' ');
            }
            text
        })
    }

    /// The text form of a `tsvector`. Title words have weight A. One position between title and
    /// content and one before the category are left out, so that no phrase spans two of them.
    pub(crate) fn vector(&self) -> String {
        let mut text = String::with_capacity((self.title.len() + self.content.len()) * 28);
        let content_from = self.title.len() + 2;
        let title = self.title.iter().zip(1..).map(|(word, at)| (word, at, "A"));
        let content = self.content.iter().zip(content_from..).map(|(word, at)| (word, at, ""));
        let category_from = content_from + self.content.len() + 1;
        let category = self.category.iter().zip(category_from..).map(|(word, at)| (word, at, ""));
        for (word, at, weight) in title.chain(content).chain(category) {
            // Writing into a String cannot fail. Words are letters and digits, so nothing in them
            // ends the quotes.
            let label = &self.label;
            if at < POSITION_MAX {
                write!(text, "'{label}{word}':{at}{weight} ").ok();
            } else {
                write!(text, "'{label}{word}' ").ok();
            }
        }
        for key in &self.keys {
            write!(text, "'{}{key}' ", self.label).ok();
        }
        text
    }
}

fn take(text: &str, room: &mut usize) -> Vec<String> {
    let mut taken = Vec::new();
    for word in words(text) {
        let Some(left) = room.checked_sub(word.stem.len() + WORD_BYTES) else { break };
        *room = left;
        taken.push(word.stem);
    }
    taken
}

/// What must occur, within one scope.
pub(crate) struct IndexTerms<'a> {
    pub terms: &'a [Term],
    pub keys: &'a [i64],
}

impl IndexTerms<'_> {
    /// The FTS5 query: all terms and keys of one scope, OR those of the next.
    pub(crate) fn fts5(&self, scopes: &[i64]) -> String {
        let each = scopes.iter().map(|&scope| {
            let label = scope::label(scope);
            let phrase = |words: &mut dyn Iterator<Item = &String>| {
                let words: Vec<String> = words.map(|word| format!("{label}{word}")).collect();
                format!("\"{}\"", words.join(" "))
            };
            let terms = self.terms.iter().map(|term| {
                let exact = phrase(&mut term.stems.iter());
                match open(term) {
                    Some(prefix) => {
                        let (_, before) = term.stems.split_last().unwrap_or((prefix, &[]));
                        let open = phrase(&mut before.iter().chain([prefix]));
                        format!("({open} * OR {exact})")
                    }
                    None => exact,
                }
            });
            let keys =
                self.keys.iter().map(|&key| format!("\"{label}{KEY_MARK}{}\"", scope::label(key)));
            format!("({})", keys.chain(terms).collect::<Vec<_>>().join(" AND "))
        });
        each.collect::<Vec<_>>().join(" OR ")
    }

    /// The same as the text form of a `tsquery`.
    pub(crate) fn tsquery(&self, scopes: &[i64]) -> String {
        let each = scopes.iter().map(|&scope| {
            let label = scope::label(scope);
            let phrase = |words: &mut dyn Iterator<Item = &String>| {
                let words: Vec<String> = words.map(|word| format!("'{label}{word}'")).collect();
                words.join(" <-> ")
            };
            let terms = self.terms.iter().map(|term| {
                let exact = phrase(&mut term.stems.iter());
                match open(term) {
                    Some(prefix) => {
                        let (_, before) = term.stems.split_last().unwrap_or((prefix, &[]));
                        let open = phrase(&mut before.iter().chain([prefix]));
                        format!("({open}:* | {exact})")
                    }
                    None => format!("({exact})"),
                }
            });
            let keys =
                self.keys.iter().map(|&key| format!("'{label}{KEY_MARK}{}'", scope::label(key)));
            format!("({})", keys.chain(terms).collect::<Vec<_>>().join(" & "))
        });
        each.collect::<Vec<_>>().join(" | ")
    }
}

fn open(term: &Term) -> Option<&String> {
    term.prefix.as_ref()
}
