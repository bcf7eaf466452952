//! A caption with one side: `In re Roe`, `In the Matter of Roe`, `Ex parte Roe`.

use std::sync::LazyLock;

use text::Pattern;

use super::lines::{self, Line};
use super::side::{self, Side};
use crate::entity::Role;
use crate::entity_match::PieceContext;
use crate::party;
use crate::text::TokenText;

/// Most lines below the opening that are read.
const LINES: usize = 10;

static OPENING: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "^ (in re | in the matter of | ex parte | matter of | in the interest of) [:] [the] \
         [(guardianship | conservatorship | adoption | detention | commitment | welfare | marriage \
         | interest | name change | change of name | dissolution) of]",
        &[],
    )
});

pub(super) struct Matter {
    pub(super) side: Side,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Finds what the matter is about.
pub(super) fn find(reading: &PieceContext<'_, '_>, lines: &[Line]) -> Option<Matter> {
    let text = reading.text;
    lines.iter().enumerate().find_map(|(place, line)| {
        let from = line.left().find(|it| text.is_word(*it))?;
        let opened = OPENING.at(text, from).filter(|_| text.capital(from))?;
        // The sides of an arbitration are read by their roles.
        if text.is(opened.end, "arbitration") {
            return None;
        }
        if reading.is_cited(from) || lines::small_words(text, line.left()) > 5 {
            return None;
        }
        let own = names(text, lines, place, opened.end);
        let mut side = side::read(reading, &own);
        if !side.has_role {
            side.parties.truncate(1);
        }
        for it in side.parties.iter_mut().filter(|it| it.roles.is_empty()) {
            it.roles.push(Role::Subject);
        }
        // The respondent of a matter is what it is about.
        for it in side.parties.iter_mut().filter(|it| it.roles == [Role::Respondent]) {
            it.roles.push(Role::Subject);
        }
        let to = own.last()? + 1;
        (!side.parties.is_empty()).then_some(Matter { side, from, to })
    })
}

/// The tokens of the names: up to a role, a drawn line, or a blank line after a name.
fn names(text: &TokenText<'_>, lines: &[Line], place: usize, after: usize) -> Vec<usize> {
    let mut own: Vec<usize> = lines.get(place).map_or(after..after, |it| after..it.cut).collect();
    let mut named = own.iter().any(|it| text.is_word(*it));
    for line in lines.iter().skip(place + 1).take(LINES) {
        let cell = line.left();
        if lines::is_blank(text, cell.clone()) {
            if lines::is_drawn(text, line.from..line.to) && named {
                break;
            }
            continue;
        }
        let role = cell.clone().any(|it| party::roles(text.low(it)).next().is_some());
        let open = own.last().is_some_and(|it| matches!(text.low(*it), "," | ";" | "and" | "of"));
        if named && !role && !(open && line.breaks <= 2) {
            break;
        }
        own.extend(cell);
        named = true;
        if role {
            break;
        }
    }
    own
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_pattern_is_right() {
        assert_eq!(super::OPENING.problem(), None);
    }
}
