//! Cuts a piece of a page into words, numbers and marks, each with its layout: line breaks, gaps
//! and capitals. It knows no law.

use archive_text::TextSpan;
pub(crate) use text::TokenKind;
use text::tokens::{Cut, is_all_caps, is_capital, tokens};

use crate::entity::Mention;

#[cfg(test)]
thread_local! {
    /// Tokens read by this thread; a test counts the work by it.
    pub(crate) static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Longer pages are read in pieces, so that the tokens of a plain text file of any size fit.
const PIECE_BYTES: usize = 256 * 1024;

/// A line of at least this length may have been broken by the width of the page.
const WRAP_BYTES: usize = 60;
/// Most numbered lines on a page of pleading paper.
const LINES_MAX: u32 = 40;
/// Fewest numbered lines by which a page is known to be pleading paper.
const PLEADING_LINES: usize = 12;
/// Longest line of pleading paper, in bytes.
const LINE_BYTES: usize = 300;
/// Fewest spaces within a line that separate a second column.
const GAP_WIDE: usize = 3;
/// Fewest spaces at the start of a line that leave its first column empty.
const INDENT_WIDE: usize = 28;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) start: usize,
    pub(crate) end: usize,
    fold_start: usize,
    fold_end: usize,
    pub(crate) kind: TokenKind,
    /// The first letter is a capital.
    pub(crate) capital: bool,
    /// Every letter is a capital, and there are at least two.
    pub(crate) all_caps: bool,
    /// Number of line ends before the token.
    pub(crate) breaks: u8,
    /// Nothing separates the token from the one before it.
    pub(crate) glued: bool,
    /// A wide gap precedes the token in its line, so it is in a second column or centred.
    pub(crate) after_gap: bool,
}

/// One piece with its tokens.
pub(crate) struct TokenText<'t> {
    /// The number of the page.
    pub(crate) page: u32,
    /// The byte of the page's text at which the piece begins.
    pub(crate) offset: usize,
    pub(crate) raw: &'t str,
    folded: String,
    pub(crate) tokens: Vec<Token>,
}

/// The pieces of a page with their offsets, cut at line ends if there are any.
pub(crate) fn pieces(text: &str) -> Vec<(usize, &str)> {
    let mut list = Vec::new();
    let mut offset = 0;
    let mut rest = text;
    while rest.len() > PIECE_BYTES {
        let mut cut = PIECE_BYTES;
        while !rest.is_char_boundary(cut) {
            cut -= 1;
        }
        let (head, _) = rest.split_at(cut);
        let cut = head.rfind('\n').map_or(cut, |at| at + 1).max(1);
        let (head, tail) = rest.split_at(cut);
        list.push((offset, head));
        offset += cut;
        rest = tail;
    }
    list.push((offset, rest));
    list
}

impl<'t> TokenText<'t> {
    pub(crate) fn new(page: u32, offset: usize, raw: &'t str) -> Self {
        let mut it = Self {
            page,
            offset,
            raw,
            folded: String::with_capacity(raw.len()),
            tokens: Vec::with_capacity(raw.len() / 5),
        };
        it.cut();
        it
    }

    fn cut(&mut self) {
        let (mut breaks, mut after_gap) = (0u8, false);
        // The number of the last line, on paper whose lines are numbered.
        let mut numbered = None;
        // Columns that are filled with middle dots instead of spaces.
        let mut filled = 0;
        let mut opens_line = true;
        let pleading = pleading_numbers(self.raw);
        for token in tokens(self.raw, Cut::PAGE) {
            breaks = breaks.saturating_add(token.breaks);
            if token.breaks > 0 {
                (opens_line, filled) = (true, 0);
            }
            if self.raw.get(token.start..token.end) == Some("·") {
                filled += 1 + token.spaces;
                continue;
            }
            let spaces = token.spaces + std::mem::take(&mut filled);
            if std::mem::take(&mut opens_line) {
                after_gap = false;
                let digits = token.kind == TokenKind::Number;
                numbered = digits.then(|| line_number(self.raw, token.start, numbered)).flatten();
                if numbered.is_some() || digits && pleading.binary_search(&token.start).is_ok() {
                    continue;
                }
            }
            let word = self.raw.get(token.start..token.end).unwrap_or_default();
            let fold_start = self.folded.len();
            text::fold::push_lower(&mut self.folded, word);
            let first_in_line = breaks > 0 || self.tokens.is_empty();
            after_gap |= spaces >= if first_in_line { INDENT_WIDE } else { GAP_WIDE };
            self.tokens.push(Token {
                start: token.start,
                end: token.end,
                fold_start,
                fold_end: self.folded.len(),
                kind: token.kind,
                capital: is_capital(word),
                all_caps: token.kind == TokenKind::Word && is_all_caps(word),
                breaks,
                glued: breaks == 0 && spaces == 0 && token.is_glued(),
                after_gap,
            });
            breaks = 0;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn at(&self, at: usize) -> Option<&Token> {
        #[cfg(test)]
        STEPS.with(|it| it.set(it.get() + 1));
        self.tokens.get(at)
    }

    /// The word in lower case; empty for a position outside the text.
    pub(crate) fn low(&self, at: usize) -> &str {
        self.at(at).and_then(|it| self.folded.get(it.fold_start..it.fold_end)).unwrap_or_default()
    }

    pub(crate) fn word(&self, at: usize) -> &'t str {
        self.slice(at, at + 1)
    }

    pub(crate) fn is(&self, at: usize, word: &str) -> bool {
        self.low(at) == word
    }

    /// Whether these words follow one another from this token on.
    pub(crate) fn run(&self, at: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(step, word)| self.low(at + step) == *word)
    }

    pub(crate) fn capital(&self, at: usize) -> bool {
        self.at(at).is_some_and(|it| it.capital)
    }

    pub(crate) fn glued(&self, at: usize) -> bool {
        self.at(at).is_some_and(|it| it.glued)
    }

    pub(crate) fn breaks(&self, at: usize) -> u8 {
        self.at(at).map_or(9, |it| it.breaks)
    }

    pub(crate) fn is_number(&self, at: usize) -> bool {
        self.at(at).is_some_and(|it| it.kind == TokenKind::Number)
    }

    pub(crate) fn is_word(&self, at: usize) -> bool {
        self.at(at).is_some_and(|it| it.kind == TokenKind::Word)
    }

    /// A number of at most nine digits, and how many digits it has.
    pub(crate) fn number(&self, at: usize) -> Option<(u64, usize)> {
        let digits = self.is_number(at).then(|| self.word(at))?;
        if digits.len() > 9 {
            return None;
        }
        Some((digits.parse().ok()?, digits.len()))
    }

    /// The text from the first token to before the last.
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'t str {
        let start = self.at(from).map(|it| it.start);
        let end = to.checked_sub(1).and_then(|last| self.at(last)).map(|it| it.end);
        start.zip(end).and_then(|(start, end)| self.raw.get(start..end)).unwrap_or_default()
    }

    /// The text from the first token to before the last, with its position on the page.
    pub(crate) fn mention(&self, from: usize, to: usize) -> Mention<'t> {
        let quote = self.slice(from, to);
        let start = self.at(from).map_or(0, |it| it.start) + self.offset;
        let end = start + quote.len();
        Mention { span: TextSpan { page: self.page, start, end }, quote }
    }

    /// The byte of the page at which a token begins.
    pub(crate) fn place(&self, at: usize) -> usize {
        self.at(at).map_or(self.raw.len(), |it| it.start) + self.offset
    }

    /// The first token of the line that this one is in, at most sixty tokens back.
    pub(crate) fn line_start(&self, at: usize) -> usize {
        let mut first = at;
        while first > 0 && self.breaks(first) == 0 && at - first < 60 {
            first -= 1;
        }
        first
    }

    /// Whether the line before this token is so long that the width of the page broke it.
    pub(crate) fn wraps(&self, at: usize) -> bool {
        let Some(last) = at.checked_sub(1) else { return false };
        let start = self.at(self.line_start(last)).map_or(0, |it| it.start);
        self.breaks(at) == 1 && self.at(last).is_some_and(|it| it.end - start >= WRAP_BYTES)
    }

    /// The token after the last of the line, at most sixty tokens on.
    pub(crate) fn line_end(&self, at: usize) -> usize {
        let mut end = at + 1;
        while end < self.len() && self.breaks(end) == 0 && end - at < 60 {
            end += 1;
        }
        end.min(self.len())
    }
}

/// Where the numbers of pleading paper stand whose lines were joined with their numbers by one space:
/// at least [`PLEADING_LINES`] lines begin with one more than the numbered line before.
fn pleading_numbers(raw: &str) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut chain: Vec<usize> = Vec::new();
    let mut start = 0;
    for line in raw.split('\n') {
        let place = start + (line.len() - line.trim_start_matches([' ', '·', '\t']).len());
        start += line.len() + 1;
        let rest = raw.as_bytes().get(place..).unwrap_or_default();
        let digits = rest.iter().take(3).take_while(|it| it.is_ascii_digit()).count();
        let ends =
            matches!(raw.as_bytes().get(place + digits), None | Some(b' ' | b'\n' | b'\r' | 0xC2));
        let number = raw.get(place..place + digits);
        let Some(value) = number.and_then(|it| it.parse::<usize>().ok()) else { continue };
        if digits > 2 || !ends {
            continue;
        }
        if value == chain.len() + 1 {
            chain.push(place);
        } else if value == 1 {
            if chain.len() >= PLEADING_LINES {
                found.append(&mut chain);
            }
            chain = vec![place];
        }
    }
    if chain.len() >= PLEADING_LINES {
        found.append(&mut chain);
    }
    found
}

/// The line number of pleading paper that begins here. It must be one more than the
/// number of the line before, or one less than that of the next line. Line numbers are not words of
/// the text.
fn line_number(raw: &str, start: usize, before: Option<u32>) -> Option<u32> {
    let rest = raw.get(start..)?;
    let length = rest.bytes().take(3).take_while(u8::is_ascii_digit).count();
    let value: u32 = rest.get(..length).filter(|it| it.len() < 3)?.parse().ok()?;
    let after = rest.get(length..)?;
    let apart = ["  ", "\t", "\n", "·"].iter().any(|it| after.starts_with(it));
    if !apart || value > LINES_MAX {
        return None;
    }
    let follows = before.is_some_and(|it| it + 1 == value);
    let leads = || {
        // A line of pleading paper is short.
        let near = after.bytes().take(LINE_BYTES).position(|it| it == b'\n')?;
        let next = after.get(near..)?.trim_start().trim_start_matches('·');
        let digits = next.bytes().take(3).take_while(u8::is_ascii_digit).count();
        let blank = next.get(digits..)?.starts_with([' ', '\t', '\n', '·']);
        next.get(..digits)?.parse::<u32>().ok().filter(|it| blank && *it == value + 1)
    };
    (follows || value == 1 && leads().is_some()).then_some(value)
}

impl text::TokenRow for TokenText<'_> {
    fn lower(&self, at: usize) -> &str {
        self.low(at)
    }

    fn is_capital(&self, at: usize) -> bool {
        self.capital(at)
    }

    fn is_glued(&self, at: usize) -> bool {
        self.glued(at)
    }

    fn breaks(&self, at: usize) -> u8 {
        TokenText::breaks(self, at)
    }

    fn is_all_caps(&self, at: usize) -> bool {
        self.at(at).is_some_and(|it| it.all_caps)
    }
}

/// Words with one space between them.
pub(crate) fn single_spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
