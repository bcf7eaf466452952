//! Cuts a text into words, numbers and marks with their byte spans and the layout before them.

use crate::fold;

/// What a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// Letters, and digits unless [`Cut::digits_apart`] is set.
    Word,
    /// ASCII digits.
    Number,
    /// One character that is neither a letter nor a digit nor white space.
    Mark,
}

/// Bytes `start..end` of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// What it is made of.
    pub kind: TokenKind,
    /// Line ends before it, after the token before.
    pub breaks: u8,
    /// Columns of white space before it in its line; a tab counts as four.
    pub spaces: usize,
}

impl Token {
    /// Whether nothing separates the token from the one before it.
    #[must_use]
    pub fn is_glued(&self) -> bool {
        self.breaks == 0 && self.spaces == 0 && self.start > 0
    }
}

/// How a text is cut into tokens.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    /// Digits are tokens of their own: `A40` is `A` and `40`.
    pub digits_apart: bool,
    /// Whether a mark belongs to a token; its arguments are the token so far and the text from the
    /// mark on.
    pub joins: fn(&str, &str) -> bool,
}

impl Cut {
    /// Runs of letters and digits: `Smith’s` is `Smith` and `s`.
    pub const SEARCH: Self = Self { digits_apart: false, joins: |_, _| false };
    /// Runs of letters and digits with the apostrophes inside them.
    pub const PROSE: Self = Self { digits_apart: false, joins: joins_prose };
    /// Runs of letters with the apostrophes and hyphens inside them, and runs of digits.
    pub const PAGE: Self = Self { digits_apart: true, joins: joins_page };
}

/// The character after the first of a text.
fn second(rest: &str) -> Option<char> {
    rest.chars().nth(1)
}

fn joins_prose(_: &str, rest: &str) -> bool {
    rest.starts_with(['\'', '’']) && second(rest).is_some_and(char::is_alphanumeric)
}

fn joins_page(token: &str, rest: &str) -> bool {
    rest.starts_with(['\'', '’', '-'])
        && token.starts_with(char::is_alphabetic)
        && second(rest).is_some_and(char::is_alphabetic)
}

/// The tokens of a text, in order. Words may contain characters without width; white space is in no
/// token.
///
/// ```
/// use text::tokens::{Cut, tokens};
///
/// let text = "Section 12-A.";
/// let words: Vec<&str> = tokens(text, Cut::PAGE).map(|it| &text[it.start..it.end]).collect();
/// assert_eq!(words, ["Section", "12", "-", "A", "."]);
/// ```
pub fn tokens(text: &str, cut: Cut) -> impl Iterator<Item = Token> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (mut breaks, mut spaces) = (0_u8, 0_usize);
        loop {
            let rest = text.get(at..)?;
            let first = rest.chars().next()?;
            match first {
                '\n' | '\u{c}' => (breaks, spaces) = (breaks.saturating_add(1), 0),
                '\t' => spaces += 4,
                _ if first.is_whitespace() || first == '\u{feff}' => spaces += 1,
                _ => {
                    let (kind, length) = measure(rest, first, cut);
                    let token = Token { start: at, end: at + length, kind, breaks, spaces };
                    at += length;
                    return Some(token);
                }
            }
            at += first.len_utf8();
        }
    })
}

fn kind_of(it: char, cut: Cut) -> TokenKind {
    if cut.digits_apart && it.is_ascii_digit() {
        TokenKind::Number
    } else if it.is_alphabetic() || (!cut.digits_apart && it.is_alphanumeric()) {
        TokenKind::Word
    } else {
        TokenKind::Mark
    }
}

/// The kind and the length in bytes of the token at the start of a text.
fn measure(rest: &str, first: char, cut: Cut) -> (TokenKind, usize) {
    let kind = kind_of(first, cut);
    let mut end = first.len_utf8();
    if kind == TokenKind::Mark {
        return (kind, end);
    }
    for next in rest.get(end..).unwrap_or_default().chars() {
        let more = kind_of(next, cut) == kind
            || (kind == TokenKind::Word && fold::is_invisible(next))
            || rest.split_at_checked(end).is_some_and(|(token, rest)| (cut.joins)(token, rest));
        if !more {
            break;
        }
        end += next.len_utf8();
    }
    let digits = || rest.bytes().take(end).all(|it| it.is_ascii_digit());
    (if kind == TokenKind::Word && digits() { TokenKind::Number } else { kind }, end)
}

/// Tokens by their index, as the rules for numerals, dates and patterns read them. An index outside
/// of the row is an empty word.
pub trait TokenRow {
    /// The token in the form of [`fold::lower`].
    fn lower(&self, at: usize) -> &str;
    /// Whether the first letter is a capital.
    fn is_capital(&self, at: usize) -> bool;
    /// Whether nothing separates the token from the one before it.
    fn is_glued(&self, at: usize) -> bool;
    /// Line ends before the token; 255 outside of the row, which is a line end too.
    fn breaks(&self, at: usize) -> u8;
    /// Whether every letter is a capital, and there are at least two.
    fn is_all_caps(&self, at: usize) -> bool;

    /// Whether the token has digits alone.
    fn is_number(&self, at: usize) -> bool {
        let word = self.lower(at);
        !word.is_empty() && word.bytes().all(|it| it.is_ascii_digit())
    }
}

/// The tokens of a text with their folded forms.
#[derive(Debug, Clone)]
pub struct TokenList<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    /// The folded tokens, one after another.
    folded: String,
    /// Where each folded token ends.
    folded_ends: Vec<usize>,
}

impl<'t> TokenList<'t> {
    /// The tokens of a text, cut as [`Cut::PAGE`].
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let mut list = Self {
            text,
            tokens: Vec::with_capacity(text.len() / 5),
            folded: String::with_capacity(text.len()),
            folded_ends: Vec::with_capacity(text.len() / 5),
        };
        for token in tokens(text, Cut::PAGE) {
            let word = text.get(token.start..token.end).unwrap_or_default();
            fold::push_lower(&mut list.folded, word);
            list.folded_ends.push(list.folded.len());
            list.tokens.push(token);
        }
        list
    }

    /// The tokens themselves.
    #[must_use]
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The token as it is written; empty outside of the list.
    #[must_use]
    pub fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).and_then(|it| self.text.get(it.start..it.end)).unwrap_or_default()
    }
}

impl TokenRow for TokenList<'_> {
    fn lower(&self, at: usize) -> &str {
        let start = at.checked_sub(1).and_then(|it| self.folded_ends.get(it)).copied();
        let end = self.folded_ends.get(at).copied().unwrap_or(0);
        self.folded.get(start.unwrap_or(0)..end).unwrap_or_default()
    }

    fn is_capital(&self, at: usize) -> bool {
        is_capital(self.word(at))
    }

    fn is_glued(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(Token::is_glued)
    }

    fn breaks(&self, at: usize) -> u8 {
        self.tokens.get(at).map_or(u8::MAX, |it| it.breaks)
    }

    fn is_all_caps(&self, at: usize) -> bool {
        is_all_caps(self.word(at))
    }
}

/// Whether the first letter of a word is a capital.
#[must_use]
pub fn is_capital(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

/// Whether every letter of a word is a capital, and it has at least two.
#[must_use]
pub fn is_all_caps(word: &str) -> bool {
    let inner = |it: char| matches!(it, '\'' | '’' | '-') || fold::is_invisible(it);
    word.chars().all(|it| it.is_uppercase() || inner(it))
        && word.chars().filter(|it| it.is_uppercase()).nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(cut: Cut, text: &str, expected: &[&str]) {
        let found: Vec<&str> = tokens(text, cut).map(|it| &text[it.start..it.end]).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn a_text_is_cut_as_asked() {
        check(Cut::SEARCH, "А40-123 it’s", &["А40", "-", "123", "it", "’", "s"]);
        check(Cut::PROSE, "A40-123 it’s ’tis", &["A40", "-", "123", "it’s", "’", "tis"]);
        check(Cut::PAGE, "А40-12 co-op 3rd", &["А", "40", "-", "12", "co-op", "3", "rd"]);
        check(Cut::PAGE, "и\u{306}од con\u{ad}tract", &["и\u{306}од", "con\u{ad}tract"]);
        check(Cut::PAGE, "№ 5 \u{feff}«Дело»", &["№", "5", "«", "Дело", "»"]);
    }

    #[test]
    fn the_layout_before_a_token_is_known() {
        let layout: Vec<(u8, usize, bool)> = tokens("a  b\n\n\tc.", Cut::PAGE)
            .map(|it| (it.breaks, it.spaces, it.is_glued()))
            .collect();
        assert_eq!(layout, [(0, 0, false), (0, 2, false), (2, 4, false), (0, 0, true)]);
    }

    #[test]
    fn a_list_is_asked_by_index() {
        let list = TokenList::new("The 3rd Приём");
        let words: Vec<&str> = (0..5).map(|at| list.lower(at)).collect();
        assert_eq!(words, ["the", "3", "rd", "прием", ""]);
        assert!(list.is_capital(3) && list.is_glued(2) && list.is_number(1));
        assert!(!list.is_capital(9) && !list.is_glued(9) && !list.is_number(9));
    }

    fn is_blank(text: &str) -> bool {
        text.chars().all(|it| it.is_whitespace() || it == '\u{feff}')
    }

    proptest! {
        #[test]
        fn tokens_lie_in_order_and_cover_all_but_white_space(text in "\\PC{0,40}|[a-я0-9 .,'’\\-\n]{0,60}") {
            for cut in [Cut::SEARCH, Cut::PROSE, Cut::PAGE] {
                let mut at = 0;
                for token in tokens(&text, cut) {
                    prop_assert!(token.start >= at && token.end > token.start);
                    let between = text.get(at..token.start);
                    prop_assert!(between.is_some_and(is_blank), "{:?}", between);
                    prop_assert!(text.get(token.start..token.end).is_some());
                    at = token.end;
                }
                prop_assert!(is_blank(&text[at..]));
            }
        }
    }
}
