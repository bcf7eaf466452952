//! The caption of a paper: the block at its head that names the parties. It is found once, before
//! any other rule reads the text, so that the parties are those of this paper and never those of a
//! case that the paper cites.

mod lines;
mod matter;
mod named;
mod side;
mod versus;

#[cfg(test)]
mod tests;

use archive_text::{PageText, TextSpan};

use crate::cited;
use crate::entity::{Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::text::{TokenText, pieces};

/// Pages at the head of a paper that are searched: a cover sheet or a syllabus may come first.
const PAGES_MAX: usize = 4;

/// The parties at the head of a paper, as the paper itself groups them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caption {
    /// The names before `v.`, in order.
    pub left: Vec<String>,
    /// The names after `v.`
    pub right: Vec<String>,
    /// The person or thing that the matter is about: `In re Roe`.
    pub subjects: Vec<String>,
}

fn words(name: &str) -> Vec<String> {
    let words = name.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The caption with its matches and where it stands.
#[derive(Debug, Default)]
pub(crate) struct FoundCaption<'t> {
    pub(crate) caption: Caption,
    pub(crate) matches: Vec<EntityMatch<'t>>,
    /// From its first word to its last; empty without a caption.
    span: Option<TextSpan>,
    /// Whether it has two sides.
    has_sides: bool,
    /// The number of the first page.
    first_page: u32,
}

impl<'t> FoundCaption<'t> {
    /// Finds the caption of a paper. `cited` are the spans of citations of other cases.
    pub(crate) fn of(pages: &[PageText<'t>], cited: &[TextSpan]) -> Self {
        let first_page = pages.first().map_or(0, |it| it.number);
        Self { first_page, ..Self::search(pages, cited) }
    }

    fn search(pages: &[PageText<'t>], cited: &[TextSpan]) -> Self {
        let mut matter = None;
        for page in pages.iter().take(PAGES_MAX) {
            let Some((offset, raw)) = pieces(page.text).first().copied() else { continue };
            let text = TokenText::new(page.number, offset, raw);
            let flags = cited::token_flags(&text, cited);
            let reading = PieceContext::new(&text, &flags, false);
            let lines = lines::of(&text);
            if let Some(found) = versus::find(&reading, &lines) {
                return Self::with_sides(&reading, &found);
            }
            matter = matter
                .or_else(|| matter::find(&reading, &lines).map(|it| Self::about(&reading, &it)));
        }
        matter.unwrap_or_default()
    }

    fn with_sides(reading: &PieceContext<'_, 't>, found: &versus::Versus) -> Self {
        let mut it = Self { has_sides: true, ..Self::default() };
        for (side, names) in
            [(&found.left, &mut it.caption.left), (&found.right, &mut it.caption.right)]
        {
            for (place, party) in side.parties.iter().enumerate() {
                names.push(party.shown(reading.text));
                let next = side.parties.get(place + 1);
                it.matches.extend(party.matches(reading, next, found.ground));
            }
        }
        it.span = Some(reading.text.mention(found.from, found.to).span);
        it
    }

    fn about(reading: &PieceContext<'_, 't>, found: &matter::Matter) -> Self {
        let mut it = Self::default();
        for party in &found.side.parties {
            it.caption.subjects.push(party.shown(reading.text));
            it.matches.extend(party.matches(reading, None, Ground::Layout));
        }
        it.span = Some(reading.text.mention(found.from, found.to).span);
        it
    }

    /// Whether the match of a party is kept: the caption itself names the sides, and outside of it
    /// only words that state a role add a party.
    pub(crate) fn keeps(&self, found: &EntityMatch<'_>) -> bool {
        let Some(role) = found.role else { return true };
        let Some(span) = self.span else { return true };
        let within = span.overlaps(&found.mention.span);
        if !self.has_sides {
            return !(within && matches!(role, Role::Subject | Role::Debtor));
        }
        let is_side = matches!(
            role,
            Role::Plaintiff
                | Role::Defendant
                | Role::Appellant
                | Role::Appellee
                | Role::Petitioner
                | Role::Respondent
                | Role::Intervenor
        );
        !is_side || !within && found.ground > Ground::Layout && !self.repeats(found)
    }

    /// Whether a name in the text is one word, or a part of a name in the caption: a mention of a
    /// party that is known.
    fn repeats(&self, found: &EntityMatch<'_>) -> bool {
        let name = found.shown.as_deref().unwrap_or(found.mention.quote);
        let own = words(name);
        let known = self.caption.left.iter().chain(&self.caption.right);
        own.len() < 2
            || known.map(|it| words(it)).any(|it| own.iter().all(|word| it.contains(word)))
    }

    /// Whether the words are the name of a party in the caption, with or without middle names.
    pub(crate) fn names(&self, found: &EntityMatch<'_>) -> bool {
        let own = words(found.mention.quote);
        let caption = &self.caption;
        let known = caption.left.iter().chain(&caption.right).chain(&caption.subjects);
        let same = |it: &[String]| {
            let ends = it.first() == own.first() && it.last() == own.last();
            it == own || ends && own.len() > 1 && it.len().abs_diff(own.len()) == 1
        };
        known.map(|it| words(it)).any(|it| same(&it))
    }

    /// Whether the piece is the first of the document.
    pub(crate) fn begins_on(&self, text: &TokenText<'_>) -> bool {
        text.page == self.first_page && text.offset == 0
    }

    /// Whether the caption stands on this page.
    pub(crate) fn is_on(&self, page: u32) -> bool {
        self.span.is_some_and(|it| it.page == page)
    }
}
