//! The lines at the head of a page and the cells of each: the left one has the parties, the right one
//! the number and the title. A wide gap, a rule such as `)` or `§`, or a label divides them.

use std::sync::LazyLock;

use text::Pattern;

use crate::party;
use crate::text::TokenText;

/// Most tokens of a page in which its caption is searched.
const HEAD_TOKENS: usize = 1_600;

/// What begins the right cell of a line whose gap was lost: `Plaintiff, Case No. 24-1234`.
static RIGHT: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "(case | civil | cause | docket | index | file | appeal | adv [.] [proc .] | adversary) \
         [action | case | file | proceeding] (no | nos | number | '#') \
         | (no | nos) . [:] @number | civil action | c . a . no | [case] no . [:] @number : \
         | chapter @number | hon . | honorable | (judge | magistrate judge | justice) [:] @capital \
         | in the (district | circuit | superior | county | chancery) court",
        &[],
    )
});

/// A label that begins the right cell after any word.
static NUMBER: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new("(case | cause | docket | index) (no | nos | number) [.] [:] @number", &[])
});

/// The tokens of one line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) from: usize,
    /// The token after the left cell.
    pub(super) cut: usize,
    pub(super) to: usize,
    /// Line ends before the line.
    pub(super) breaks: u8,
    /// Whether a wide gap precedes the line: it is centred, or its left cell is empty.
    pub(super) indented: bool,
}

/// The lines at the head of a page.
pub(super) fn of(text: &TokenText<'_>) -> Vec<Line> {
    let mut list = Vec::new();
    let mut from = 0;
    let end = text.len().min(HEAD_TOKENS);
    while from < end {
        let mut to = from + 1;
        while to < end && text.breaks(to) == 0 {
            to += 1;
        }
        let cut = cells(text, from, to);
        let indented = text.at(from).is_some_and(|it| it.after_gap);
        list.push(Line { from, cut, to, breaks: text.breaks(from), indented });
        from = to;
    }
    list
}

/// Where the left cell of a line ends.
fn cells(text: &TokenText<'_>, from: usize, to: usize) -> usize {
    let after_gap = |it: usize| text.at(it).is_some_and(|token| token.after_gap);
    let mut open = 0_usize;
    for at in from..to {
        match text.low(at) {
            "(" => open += 1,
            ")" if open > 0 => open -= 1,
            ")" | "§" | "|" | "}" | "]" | "¦" => return at,
            ":" | "*" | "!" if is_rule(text, at, to) => return at,
            _ => {}
        }
        if at > from && after_gap(at) && !after_gap(at - 1) {
            return at;
        }
        let numbered = at > from && open == 0 && NUMBER.at(text, at).is_some();
        let closed = at > from
            && (matches!(text.low(at - 1), "," | "." | ";" | "-" | "–")
                || party::roles(text.low(at - 1)).next().is_some());
        if numbered || closed && open == 0 && RIGHT.at(text, at).is_some() {
            return at;
        }
    }
    to
}

/// Whether a mark is the rule of a box: it ends its line, or stands apart from the words around it.
fn is_rule(text: &TokenText<'_>, at: usize, to: usize) -> bool {
    let last = at + 1 == to && !text.glued(at);
    let apart = text.at(at).is_some_and(|it| it.after_gap) && !text.glued(at + 1);
    last || apart
}

/// Whether the right cell of a caption begins here: `Case No.`, `Hon.`
pub(super) fn opens_right(text: &TokenText<'_>, at: usize) -> bool {
    RIGHT.at(text, at).is_some()
}

impl Line {
    /// The tokens of the left cell; of the whole line where it is centred.
    pub(super) fn left(self) -> std::ops::Range<usize> {
        self.from..self.cut
    }

    /// Whether the line has two cells, or the rule of a box.
    pub(super) fn is_divided(self) -> bool {
        self.cut < self.to
    }
}

/// Whether the tokens have no word: a blank cell, or a rule of dashes that ends in `x`.
pub(super) fn is_blank(text: &TokenText<'_>, cell: std::ops::Range<usize>) -> bool {
    let words: Vec<usize> = cell.filter(|it| text.is_word(*it) || text.is_number(*it)).collect();
    match words.as_slice() {
        [] => true,
        [one] => text.is(*one, "x"),
        _ => false,
    }
}

/// Whether the tokens are a drawn line: marks only, at least three.
pub(super) fn is_drawn(text: &TokenText<'_>, cell: std::ops::Range<usize>) -> bool {
    let marks = cell.clone().filter(|it| matches!(text.low(*it), "_" | "-" | "=" | "—" | "–"));
    marks.count() > 2 && is_blank(text, cell)
}

/// How many words of the tokens have no capital and are not among those that names contain.
pub(super) fn small_words(text: &TokenText<'_>, cell: std::ops::Range<usize>) -> usize {
    let small = |it: &usize| {
        text.is_word(*it)
            && !text.capital(*it)
            && !matches!(
                text.low(*it),
                "v" | "vs"
                    | "versus"
                    | "of"
                    | "the"
                    | "and"
                    | "et"
                    | "al"
                    | "for"
                    | "d"
                    | "b"
                    | "a"
            )
    };
    cell.filter(small).count()
}
