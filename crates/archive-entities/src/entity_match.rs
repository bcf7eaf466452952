//! One match of a rule in the text, before matches of the same entity are merged.

use crate::entity::{EntityKind, Ground, Mention, Money, Role};
use crate::organisation;
use crate::text::TokenText;

#[derive(Debug, Clone)]
pub(crate) struct EntityMatch<'t> {
    pub(crate) kind: EntityKind,
    pub(crate) mention: Mention<'t>,
    /// The full name, if its parts are separated: in two lines of a box, or before a shared
    /// surname.
    pub(crate) shown: Option<String>,
    pub(crate) ground: Ground,
    pub(crate) role: Option<Role>,
    pub(crate) represents: Option<Role>,
    /// A court whose decision is under review.
    pub(crate) is_reviewed: bool,
    pub(crate) bar_number: Option<String>,
    pub(crate) money: Option<Money>,
}

impl<'t> EntityMatch<'t> {
    pub(crate) fn new(
        kind: EntityKind,
        text: &TokenText<'t>,
        range: (usize, usize),
        ground: Ground,
    ) -> Self {
        Self {
            kind,
            mention: text.mention(range.0, range.1),
            shown: None,
            ground,
            role: None,
            represents: None,
            is_reviewed: false,
            bar_number: None,
            money: None,
        }
    }

    /// A match of an attorney, with the side that the attorney represents, if known.
    pub(crate) fn attorney(
        text: &TokenText<'t>,
        range: (usize, usize),
        ground: Ground,
        side: Option<Role>,
    ) -> Self {
        let it = Self::new(EntityKind::Person, text, range, ground).with(Role::Attorney);
        Self { represents: side, ..it }
    }

    pub(crate) fn with_name(mut self, name: String) -> Self {
        self.shown = Some(name);
        self
    }

    pub(crate) fn with(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }
}

/// A piece of text with the flags and organisations that every rule needs.
pub(crate) struct PieceContext<'a, 't> {
    pub(crate) text: &'a TokenText<'t>,
    /// Tokens that belong to citations of other cases.
    pub(crate) cited: &'a [bool],
    /// Organisations, in order: first token, token after the last, ground.
    pub(crate) organisations: Vec<(usize, usize, Ground)>,
    /// The first token after the head of the paper; zero on a page without its head.
    pub(crate) head_end: usize,
}

/// Fewest words without a capital in a line of running text.
const PROSE_WORDS: usize = 7;
/// Most tokens before a court that say that its decision is reviewed.
const REVIEW_TOKENS: usize = 10;

impl<'a, 't> PieceContext<'a, 't> {
    /// A piece of a page; `is_first` is whether the page is the first of its document.
    pub(crate) fn new(text: &'a TokenText<'t>, cited: &'a [bool], is_first: bool) -> Self {
        let organisations = organisation::find(text);
        let head_end = if is_first { head_end(text) } else { 0 };
        Self { text, cited, organisations, head_end }
    }

    /// Whether a court is named in passing: not in the head, not in a line of its own, and not as
    /// the court whose decision is reviewed.
    pub(crate) fn is_passing_court(&self, at: usize, to: usize, has_place: bool) -> bool {
        let text = self.text;
        let line = text.line_start(at);
        let own_line = at - line < 4 && text.line_end(to.saturating_sub(1)) <= to + 2;
        if at < self.head_end || own_line {
            return false;
        }
        if !text.low(at).is_ascii() {
            // The highest courts are cited in every act.
            let highest = ["конституционн", "верховн", "европейск"];
            return highest.iter().any(|it| text.low(at).starts_with(it))
                && (at..to).any(|it| matches!(text.low(it), "российской" | "рф"))
                || to == at + 2 && highest.iter().any(|it| text.low(at).starts_with(it));
        }
        // A trial court with its place is hardly that of a precedent.
        let appellate =
            (at..to).any(|it| matches!(text.low(it), "supreme" | "appeals" | "appellate"));
        if has_place && !appellate {
            return false;
        }
        let window = REVIEW_TOKENS;
        let reviewed = (at.saturating_sub(window)..at).any(|it| {
            ["appeal", "judgment", "entered", "certiorari"]
                .iter()
                .any(|stem| text.low(it).starts_with(stem))
        });
        !(reviewed && has_place && self.head_end > 0)
    }
}

fn small_words(text: &TokenText<'_>, from: usize, to: usize) -> usize {
    (from..to)
        .filter(|it| text.is_word(*it) && !text.capital(*it) && text.word(*it).len() > 3)
        .count()
}

/// The token at which running text begins: the first line with many words without a capital, and in
/// a Russian act the word «установил».
fn head_end(text: &TokenText<'_>) -> usize {
    let russian = |it: &usize| {
        text.low(*it).starts_with("установил") || text.run(*it, &["у", "с", "т", "а", "н", "о"])
    };
    if let Some(found) = (0..text.len()).find(russian) {
        return found;
    }
    let mut line = 0;
    while line < text.len() {
        let mut end = line + 1;
        while end < text.len() && text.breaks(end) == 0 {
            end += 1;
        }
        let latin = text.low(line).is_ascii();
        if latin && small_words(text, line, end) >= PROSE_WORDS {
            return line;
        }
        line = end;
    }
    text.len()
}

impl PieceContext<'_, '_> {
    pub(crate) fn is_cited(&self, at: usize) -> bool {
        self.cited.get(at).copied().unwrap_or_default()
    }

    /// The organisation that begins at this token.
    pub(crate) fn organisation_at(&self, at: usize) -> Option<usize> {
        let place = self.organisations.binary_search_by_key(&at, |it| it.0).ok()?;
        self.organisations.get(place).map(|it| it.1)
    }

    /// The organisation that ends before this token.
    pub(crate) fn organisation_before(&self, end: usize) -> Option<usize> {
        let place = self.organisations.partition_point(|it| it.1 < end);
        self.organisations.get(place).filter(|it| it.1 == end).map(|it| it.0)
    }
}
