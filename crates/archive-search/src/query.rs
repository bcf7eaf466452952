//! The query language: words, "phrases", `AND`, `OR`, `NOT`, `-word`, parentheses, `prefix*` and
//! `word~`. Words beside each other must all occur.
//!
//! Operators are in capitals. A query that cannot be read is refused with the place of the mistake.

mod lexer;

use fault::Fault;

use lexer::{Lexeme, LexemeKind};

use crate::tokens;

/// A query has at most this many characters.
pub const QUERY_CHARS_MAX: usize = 1_000;
/// A query has at most this many words, phrases and prefixes.
pub const TERMS_MAX: usize = 16;
/// All terms of a query together have at most this many words.
const WORDS_MAX: usize = 64;
/// Parentheses and negations are nested at most this deep.
const DEPTH_MAX: u32 = 16;
/// A prefix has at least this many letters and digits before its `*`.
const PREFIX_CHARS_MIN: usize = 2;
/// Letters of a word before a `~`, and of the stem of a word that may be corrected without one.
const SIMILAR_CHARS_MIN: usize = 4;
const CORRECTED_CHARS_MIN: usize = 5;
/// Abbreviations between two numbers that make them a citation, as stored.
const REPORTERS: [&str; 10] = ["usc", "us", "cfr", "sct", "f", "f2d", "f3d", "f4th", "led", "fr"];

/// Words that stand beside each other, or one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryTerm {
    /// As stored; at least one.
    pub words: Vec<String>,
    pub last: LastWord,
    /// Whether the words are in quotes; then no word is corrected.
    pub is_quoted: bool,
    /// As typed, for messages.
    pub typed: String,
}

/// Which words of the index the last word of a term matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LastWord {
    Exact,
    /// Words with this prefix.
    Prefix(String),
    /// Words that differ in one letter.
    Similar,
}

impl QueryTerm {
    /// Whether a misspelling may be corrected: one plain word whose stem has enough letters and no
    /// digit.
    pub(crate) fn may_be_corrected(&self) -> bool {
        self.words.len() == 1
            && self.last == LastWord::Exact
            && !self.is_quoted
            && self.words[0].chars().all(char::is_alphabetic)
            && self.words[0].chars().count() >= CORRECTED_CHARS_MIN
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expression {
    /// The index of a term.
    Term(usize),
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Not(Box<Expression>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedQuery {
    pub expression: Expression,
    pub terms: Vec<QueryTerm>,
    /// Whether a term stands outside of every negation, so that a page can match by it.
    pub is_positive: Vec<bool>,
}

pub(crate) fn parse(query: &str) -> Result<ParsedQuery, Fault> {
    if query.chars().nth(QUERY_CHARS_MAX).is_some() {
        let expected = format!("at most {QUERY_CHARS_MAX} characters");
        return Err(refused(format!("the query has more than {QUERY_CHARS_MAX} characters"))
            .problem("query", expected));
    }
    let lexemes = lexer::lexemes(query)?;
    let mut parser = Parser { lexemes, at: 0, terms: Vec::new(), is_positive: Vec::new() };
    let expression = parser.any(0, true)?;
    if let Some(lexeme) = parser.lexemes.get(parser.at) {
        return Err(misplaced("there is a ) without its (", lexeme.at));
    }
    let words: usize = parser.terms.iter().map(|term| term.words.len()).sum();
    if parser.terms.len() > TERMS_MAX || words > WORDS_MAX {
        let expected = format!("at most {TERMS_MAX} words and phrases, and {WORDS_MAX} words");
        return Err(refused(format!("the query has too many words: expected {expected}"))
            .problem("query", expected));
    }
    if !parser.is_positive.contains(&true) {
        let message = "the query has no word that pages should contain";
        return Err(refused(message.to_owned()).problem("query", "a word that is not excluded"));
    }
    let expression = expression.ok_or_else(|| refused("the query has no word".to_owned()))?;
    Ok(ParsedQuery { expression, terms: parser.terms, is_positive: parser.is_positive })
}

fn refused(message: String) -> Fault {
    Fault::invalid("invalid_query", message)
}

/// Refuses the query because of the character at this place, counted from 0.
fn misplaced(message: &str, at: usize) -> Fault {
    let place = format!("character {}", at + 1);
    refused(format!("the query cannot be read at {place}: {message}"))
        .problem("query", format!("a correction at {place}"))
}

struct Parser {
    lexemes: Vec<Lexeme>,
    at: usize,
    terms: Vec<QueryTerm>,
    is_positive: Vec<bool>,
}

impl Parser {
    fn peek(&self) -> Option<&LexemeKind> {
        self.lexemes.get(self.at).map(|it| &it.kind)
    }

    /// The place of the next part, or the end of the query.
    fn place(&self) -> usize {
        let last = self.lexemes.last().map_or(0, |it| it.at + it.chars);
        self.lexemes.get(self.at).map_or(last, |it| it.at)
    }

    /// Parts joined by `OR`. `None` if they have only punctuation.
    fn any(&mut self, depth: u32, positive: bool) -> Result<Option<Expression>, Fault> {
        let mut parts = vec![self.all(depth, positive)?];
        while self.peek() == Some(&LexemeKind::Or) {
            self.at += 1;
            parts.push(self.all(depth, positive)?);
        }
        Ok(joined(parts, Expression::Any))
    }

    /// Parts joined by `AND` or nothing.
    fn all(&mut self, depth: u32, positive: bool) -> Result<Option<Expression>, Fault> {
        let mut parts = vec![self.part(depth, positive)?];
        loop {
            match self.peek() {
                None | Some(LexemeKind::Or | LexemeKind::Close) => break,
                Some(LexemeKind::And) => self.at += 1,
                Some(_) => {}
            }
            parts.push(self.part(depth, positive)?);
        }
        Ok(joined(parts, Expression::All))
    }

    fn part(&mut self, depth: u32, positive: bool) -> Result<Option<Expression>, Fault> {
        let place = self.place();
        if depth > DEPTH_MAX {
            let message = format!("more than {DEPTH_MAX} parentheses within each other");
            return Err(misplaced(&message, place));
        }
        match self.peek().cloned() {
            Some(LexemeKind::Not) => {
                self.at += 1;
                let part = self.part(depth + 1, !positive)?;
                Ok(part.map(|part| Expression::Not(Box::new(part))))
            }
            Some(LexemeKind::Open) => {
                self.at += 1;
                let inner = self.any(depth + 1, positive)?;
                if self.peek() != Some(&LexemeKind::Close) {
                    return Err(misplaced("this ( is not closed", place));
                }
                self.at += 1;
                Ok(inner)
            }
            Some(LexemeKind::Phrase { text, starred }) => {
                self.at += 1;
                self.phrase(&text, starred, positive, place)
            }
            Some(LexemeKind::Word(text)) => {
                self.at += 1;
                self.word(&text, positive, place)
            }
            Some(LexemeKind::And | LexemeKind::Or) => {
                Err(misplaced("there is no word before this operator", place))
            }
            Some(LexemeKind::Close) => Err(misplaced("there is no word before this )", place)),
            None => Err(misplaced("a word is missing at the end", place)),
        }
    }

    fn phrase(
        &mut self,
        text: &str,
        starred: bool,
        positive: bool,
        place: usize,
    ) -> Result<Option<Expression>, Fault> {
        let inner = text.trim_end();
        let body = inner.trim_end_matches('*');
        let term = read_term(body, starred || body.len() < inner.len(), false, place)?;
        Ok(term.map(|term| self.add(QueryTerm { is_quoted: true, ..term }, positive)))
    }

    fn word(
        &mut self,
        text: &str,
        positive: bool,
        place: usize,
    ) -> Result<Option<Expression>, Fault> {
        let body = text.trim_end_matches(['*', '~']);
        let marks = &text[body.len()..];
        let term = read_term(body, marks.contains('*'), marks.contains('~'), place)?;
        let Some(mut term) = term else { return Ok(None) };
        while let Some(more) = self.citation_part(&term)? {
            term.words.extend(more.words);
            term.typed = format!("{} {}", term.typed, more.typed);
            self.at += 1;
        }
        Ok(Some(self.add(term, positive)))
    }

    /// The next part of a citation such as `17 USC 101`, which is one phrase without quotes: after
    /// a number a reporter, if a number follows it; after a reporter that number.
    fn citation_part(&self, term: &QueryTerm) -> Result<Option<QueryTerm>, Fault> {
        let next = |at: usize| match self.lexemes.get(at).map(|it| &it.kind) {
            Some(LexemeKind::Word(text)) if !text.ends_with(['*', '~']) => {
                read_term(text, false, false, 0)
            }
            _ => Ok(None),
        };
        let is_number = |word: &String| word.bytes().all(|it| it.is_ascii_digit());
        let is_reporter =
            |term: &QueryTerm| term.words.len() == 1 && REPORTERS.contains(&term.words[0].as_str());
        let begins = |term: &QueryTerm| term.words.first().is_some_and(is_number);
        if term.last != LastWord::Exact || !begins(term) {
            return Ok(None);
        }
        let Some(following) = next(self.at)? else { return Ok(None) };
        match term.words.len() {
            1 if is_reporter(&following) => {
                Ok(next(self.at + 1)?.filter(begins).map(|_| following))
            }
            2 if REPORTERS.contains(&term.words[1].as_str()) => Ok(Some(following).filter(begins)),
            _ => Ok(None),
        }
    }

    /// Adds a term, or finds the equal term that is there.
    fn add(&mut self, term: QueryTerm, positive: bool) -> Expression {
        let same = |it: &QueryTerm| {
            (&it.words, &it.last, it.is_quoted) == (&term.words, &term.last, term.is_quoted)
        };
        let index = self.terms.iter().position(same).unwrap_or_else(|| {
            self.terms.push(term);
            self.is_positive.push(false);
            self.terms.len() - 1
        });
        self.is_positive[index] |= positive;
        Expression::Term(index)
    }
}

/// The parts joined into one expression; parts of punctuation alone are left out.
fn joined(
    parts: Vec<Option<Expression>>,
    join: fn(Vec<Expression>) -> Expression,
) -> Option<Expression> {
    let mut parts: Vec<Expression> = parts.into_iter().flatten().collect();
    if parts.len() < 2 { parts.pop() } else { Some(join(parts)) }
}

fn read_term(
    text: &str,
    starred: bool,
    similar: bool,
    place: usize,
) -> Result<Option<QueryTerm>, Fault> {
    let found: Vec<tokens::PageToken> =
        tokens::tokens(text).filter(|token| !token.term.is_empty()).collect();
    let Some(last) = found.last() else { return Ok(None) };
    let folded = tokens::folded(&text[last.span.clone()]);
    let (chars, ends) = (folded.chars().count(), last.span.end == text.len());
    let last = if starred && ends {
        if chars < PREFIX_CHARS_MIN {
            let message = format!("write at least {PREFIX_CHARS_MIN} letters before *");
            return Err(misplaced(&message, place));
        }
        LastWord::Prefix(folded)
    } else if similar {
        if found.len() > 1 || chars < SIMILAR_CHARS_MIN {
            let message = format!("~ follows one word of at least {SIMILAR_CHARS_MIN} letters");
            return Err(misplaced(&message, place));
        }
        LastWord::Similar
    } else {
        LastWord::Exact
    };
    let words = found.into_iter().map(|token| token.term).collect();
    Ok(Some(QueryTerm { words, last, is_quoted: false, typed: text.trim().to_owned() }))
}

#[cfg(test)]
#[path = "query/tests.rs"]
mod tests;
