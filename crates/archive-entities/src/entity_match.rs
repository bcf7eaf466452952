//! One match of a rule in the text, before matches of the same entity are merged.

use crate::entity::{EntityKind, Ground, Mention, Money, Role};
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
