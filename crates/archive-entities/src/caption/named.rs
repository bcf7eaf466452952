//! One party of a caption: its words, its name as it is shown, and its matches.

use super::side::BODIES;
use crate::entity::{EntityKind, Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::name;
use crate::organisation::legal_form;
use crate::text::{TokenText, single_spaced};

/// A party of a caption: its words, which a second column may divide, and its roles.
#[derive(Debug, Clone)]
pub(super) struct NamedParty {
    pub(super) words: Vec<usize>,
    pub(super) roles: Vec<Role>,
    /// The first name of a couple, whose surname is that of the next party: `WENDELL and GRACE ROE`.
    pub(super) spouse: bool,
}

impl NamedParty {
    /// The first token.
    pub(super) fn from(&self) -> usize {
        self.words.first().copied().unwrap_or_default()
    }

    /// The token after the last.
    pub(super) fn to(&self) -> usize {
        self.words.last().map_or(0, |it| it + 1)
    }

    /// The parts that no other cell divides.
    fn parts(&self) -> Vec<(usize, usize)> {
        let mut parts: Vec<(usize, usize)> = Vec::new();
        for at in &self.words {
            match parts.last_mut() {
                Some(last) if last.1 == *at => last.1 = at + 1,
                _ => parts.push((*at, at + 1)),
            }
        }
        parts
    }

    /// The name as it is shown.
    pub(super) fn shown(&self, text: &TokenText<'_>) -> String {
        let parts = self.parts();
        let parts = parts.iter().map(|it| single_spaced(text.slice(it.0, it.1)));
        parts.collect::<Vec<_>>().join(" ")
    }

    fn kind(&self, reading: &PieceContext<'_, '_>) -> EntityKind {
        let text = reading.text;
        let from = self.from();
        let body = self.words.iter().any(|it| {
            BODIES.contains(text.low(*it))
                || legal_form(text, *it).is_some()
                || matches!(text.low(*it), "of" | "&" | "for")
        });
        let whole = name::person(text, from, true);
        let initials = self.words.iter().all(|it| text.word(*it).chars().count() == 1);
        let degree = |it: usize| text.is(it, ",") && matches!(text.low(it + 1), "m" | "ph");
        let person = whole == Some(self.to()) || whole.is_some_and(degree) || initials;
        if reading.organisation_at(from).is_some() || body || !person {
            EntityKind::Organisation
        } else {
            EntityKind::Person
        }
    }

    /// The matches of the party, one for each role. `next` is the party after it.
    pub(super) fn matches<'t>(
        &self,
        reading: &PieceContext<'_, 't>,
        next: Option<&Self>,
        ground: Ground,
    ) -> Vec<EntityMatch<'t>> {
        let text = reading.text;
        let Some((from, to)) = self.parts().first().copied() else { return Vec::new() };
        let mut shown = (self.parts().len() > 1).then(|| self.shown(text));
        if let Some(next) = next.filter(|_| self.spouse) {
            let surname = next.words.last().map(|it| text.word(*it)).unwrap_or_default();
            shown = Some(format!("{} {surname}", self.shown(text)));
        }
        let roles = self.roles.iter().map(|role| {
            let kind = if self.spouse { EntityKind::Person } else { self.kind(reading) };
            let found = EntityMatch::new(kind, text, (from, to), ground).with(*role);
            match &shown {
                Some(shown) => found.with_name(shown.clone()),
                None => found,
            }
        });
        roles.collect()
    }
}
