//! Splits a query into words, quoted phrases, operators and parentheses, each with its place.

use fault::Fault;

use super::misplaced;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LexemeKind {
    Word(String),
    /// The text between quotes, and whether a star follows them.
    Phrase {
        text: String,
        starred: bool,
    },
    And,
    Or,
    Not,
    Open,
    Close,
}

#[derive(Debug, Clone)]
pub(super) struct Lexeme {
    pub kind: LexemeKind,
    /// The first character, counted from 0.
    pub at: usize,
    pub chars: usize,
}

pub(super) fn lexemes(query: &str) -> Result<Vec<Lexeme>, Fault> {
    let chars: Vec<char> = query.chars().collect();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(&c) = chars.get(at) {
        if c.is_whitespace() {
            at += 1;
            continue;
        }
        let (kind, end) = match c {
            '(' => (Some(LexemeKind::Open), at + 1),
            ')' => (Some(LexemeKind::Close), at + 1),
            '-' | '−' if begins_word(&chars, at + 1) => (Some(LexemeKind::Not), at + 1),
            c if is_quote(c) => phrase(&chars, at)?,
            _ => word(&chars, at),
        };
        if let Some(kind) = kind {
            found.push(Lexeme { kind, at, chars: end - at });
        }
        at = end;
    }
    Ok(found)
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»')
}

/// A minus means NOT only right before a word, a quote or a parenthesis.
fn begins_word(chars: &[char], at: usize) -> bool {
    chars.get(at).is_some_and(|&c| c.is_alphanumeric() || is_quote(c) || c == '(')
}

fn phrase(chars: &[char], at: usize) -> Result<(Option<LexemeKind>, usize), Fault> {
    let Some(length) = chars[at + 1..].iter().position(|&c| is_quote(c)) else {
        return Err(misplaced("this quotation mark is not closed", at));
    };
    let close = at + 1 + length;
    let text = chars[at + 1..close].iter().collect();
    let starred = chars.get(close + 1) == Some(&'*');
    Ok((Some(LexemeKind::Phrase { text, starred }), close + 1 + usize::from(starred)))
}

/// A word ends at a space, a quote or a parenthesis that it did not open itself, as `101(a)` does.
fn word(chars: &[char], at: usize) -> (Option<LexemeKind>, usize) {
    let (mut end, mut open) = (at, 0_u32);
    while let Some(&c) = chars.get(end) {
        match c {
            c if c.is_whitespace() || is_quote(c) => break,
            '(' => open += 1,
            ')' if open == 0 => break,
            ')' => open -= 1,
            _ => {}
        }
        end += 1;
    }
    // Letters with full stops go together: `U. S. C.`
    while is_dotted_letter(&chars[at..end]) {
        let Some(next) = chars.get(end + 1..end + 3).filter(|_| chars[end].is_whitespace()) else {
            break;
        };
        if !(next[0].is_alphabetic() && next[1] == '.') {
            break;
        }
        end += 3;
    }
    let text: String = chars[at..end].iter().collect();
    let kind = match text.as_str() {
        "AND" | "&&" => Some(LexemeKind::And),
        "OR" | "||" => Some(LexemeKind::Or),
        "NOT" => Some(LexemeKind::Not),
        _ if !text.contains(char::is_alphanumeric) => None,
        _ => Some(LexemeKind::Word(text)),
    };
    (kind, end)
}

fn is_dotted_letter(word: &[char]) -> bool {
    matches!(word, [.., letter, '.'] if letter.is_alphabetic())
        && (word.len() == 2
            || word.get(word.len().wrapping_sub(3)).is_some_and(|c| !c.is_alphanumeric()))
}
