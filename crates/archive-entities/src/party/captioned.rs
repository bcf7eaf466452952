//! The name of the case in one or two lines of capitals: `RED FORK DISTRICT, PETITIONER v.` above
//! `RUDOLPH HOLLOWAY ET AL.`; and which `v.` in running text names this case and not a cited one.

use super::{kind_of, roles};
use crate::entity::{EntityKind, Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::text::TokenText;

/// Most tokens of one side.
const SIDE_TOKENS: usize = 16;
/// Most tokens at the head of a paper in which its name stands.
const HEAD_TOKENS: usize = 700;

/// Whether the words around `v.` name the case of this paper: a line of its own, a label before it,
/// or a word such as `styled`. A name within a sentence is that of a cited case.
pub(super) fn names_this_case(text: &TokenText<'_>, at: usize) -> bool {
    let line = text.line_start(at);
    let end = text.line_end(at);
    let back = line.max(at.saturating_sub(SIDE_TOKENS));
    let labelled = (back..at).any(|it| {
        text.is(it, ":")
            && matches!(
                text.low(it.saturating_sub(1)),
                "re" | "name"
                    | "title"
                    | "caption"
                    | "case"
                    | "subject"
                    | "matter"
                    | "action"
                    | "lawsuit"
                    | "litigation"
            )
            || text.run(it, &["activity", "in", "case"])
            || matches!(
                text.low(it),
                "styled" | "captioned" | "entitled" | "title" | "re" | "matter"
            )
    }) || (at.saturating_sub(8)..at)
        .any(|it| matches!(text.low(it), "styled" | "captioned" | "entitled"));
    if labelled || is_numbered(text, at) {
        return true;
    }
    // A sentence has small words; a line of a caption or a heading has hardly any.
    let small = |it: &usize| {
        text.is_word(*it)
            && !text.capital(*it)
            && !matches!(
                text.low(*it),
                "v" | "vs" | "versus" | "of" | "the" | "and" | "et" | "al" | "for" | "no"
            )
    };
    let opens = text.breaks(line) > 0 || line == 0;
    let flows = line > 0 && text.wraps(line);
    opens && !flows && !(line..end).any(|it| small(&it))
}

/// Whether the number of the case follows: `Roe v. Acme LLC, Case No. 24-1234`. A cited case that is
/// unpublished has a database number too.
fn is_numbered(text: &TokenText<'_>, at: usize) -> bool {
    let rest = at + 1..at + 24;
    let number = rest.clone().any(|it| {
        matches!(text.low(it), "case" | "docket" | "action" | "cause" | "index" | "file" | "civil")
            && matches!(text.low(it + 1), "no" | "number" | "action" | "#")
    });
    let published = rest.clone().any(|it| matches!(text.low(it), "wl" | "lexis" | "cir" | "slip"));
    number && !published
}

/// Reads a caption of capitals around the `v.` at this token. Returns whether it is one.
pub(super) fn find<'t>(
    reading: &PieceContext<'_, 't>,
    at: usize,
    out: &mut Vec<EntityMatch<'t>>,
) -> bool {
    let text = reading.text;
    if at == 0 || at > HEAD_TOKENS || text.breaks(at) > 0 {
        return false;
    }
    let line = text.line_start(at);
    let after = at + 1 + usize::from(text.is(at + 1, "."));
    let left: Vec<usize> = (line..at).collect();
    let below = text.breaks(after) > 0;
    if below && text.breaks(after) > 1 {
        return false;
    }
    let right: Vec<usize> = (after..text.line_end(after)).collect();
    let all_caps = |list: &[usize]| {
        let words: Vec<&usize> = list.iter().filter(|it| text.is_word(**it)).collect();
        let caps = |it: &&usize| {
            text.at(**it).is_some_and(|it| it.all_caps)
                || text.word(**it).len() == 1
                || matches!(text.low(**it), "v" | "of" | "and" | "the" | "for" | "et" | "al")
        };
        !words.is_empty()
            && words.iter().all(caps)
            && words.iter().any(|it| text.at(**it).is_some_and(|it| it.all_caps))
    };
    let long = left.len().max(right.len()) > SIDE_TOKENS;
    if labelled(reading, at, after, out) {
        return true;
    }
    if long || !all_caps(&left) || !all_caps(&right) || text.is_number(line) && left.len() < 2 {
        return false;
    }
    let (left_role, right_role) = (role_in(text, &left), role_in(text, &right));
    let left_role = left_role.unwrap_or(Role::Plaintiff);
    let right_role = right_role.unwrap_or(match left_role {
        Role::Petitioner => Role::Respondent,
        Role::Appellant => Role::Appellee,
        _ => Role::Defendant,
    });
    let sides = [(bare(text, &left), left_role), (bare(text, &right), right_role)];
    if sides.iter().any(|it| it.0.is_none()) {
        return false;
    }
    for (range, role) in sides {
        let Some((from, to)) = range else { continue };
        let organisation = reading.organisation_at(from).is_some() || is_body(text, from, to);
        let kind = if organisation { EntityKind::Organisation } else { kind_of(reading, from, to) };
        out.push(EntityMatch::new(kind, text, (from, to), Ground::Layout).with(role));
    }
    true
}

/// `Case Name:   Trinh Industries v. Lifelogger Corp`, `Title   RUBEN DIAZ v. ACME, INC.`: what
/// follows the label are the names, whatever their words.
fn labelled<'t>(
    reading: &PieceContext<'_, 't>,
    at: usize,
    after: usize,
    out: &mut Vec<EntityMatch<'t>>,
) -> bool {
    let text = reading.text;
    let line = text.line_start(at);
    let label = if text.run(line, &["case", "name", ":"]) {
        line + 3
    } else if text.is(line, "title") && text.at(line + 1).is_some_and(|it| it.after_gap) {
        line + 1
    } else {
        return false;
    };
    let left: Vec<usize> = (label..at).collect();
    let right: Vec<usize> = (after..text.line_end(after)).collect();
    let capital = |list: &[usize]| {
        list.iter().all(|it| {
            !text.is_word(*it)
                || text.capital(*it)
                || matches!(text.low(*it), "of" | "et" | "al" | "the" | "and" | "for")
        })
    };
    if text.breaks(after) > 0 || !capital(&left) || !capital(&right) {
        return false;
    }
    let sides = [(bare(text, &left), Role::Plaintiff), (bare(text, &right), Role::Defendant)];
    if sides.iter().any(|it| it.0.is_none()) {
        return false;
    }
    for (range, role) in sides {
        let Some((from, to)) = range else { continue };
        let organisation = reading.organisation_at(from).is_some() || is_body(text, from, to);
        let kind = if organisation { EntityKind::Organisation } else { kind_of(reading, from, to) };
        out.push(EntityMatch::new(kind, text, (from, to), Ground::Label).with(role));
    }
    true
}

fn role_in(text: &TokenText<'_>, side: &[usize]) -> Option<Role> {
    side.iter().find_map(|it| roles(text.low(*it)).next())
}

/// Whether a name is that of a body and not of a person.
fn is_body(text: &TokenText<'_>, from: usize, to: usize) -> bool {
    (from..to).any(|it| {
        matches!(
            text.low(it),
            "district" | "state" | "states" | "city" | "county" | "department" | "board" | "of"
        ) || crate::name::is_other_word(text.low(it))
    })
}

/// The name alone: without the page number of a running head, `ET AL.` and the role.
fn bare(text: &TokenText<'_>, side: &[usize]) -> Option<(usize, usize)> {
    let first = side.iter().position(|it| text.is_word(*it) && !text.is(*it, "title"))?;
    let from = *side.get(first)?;
    let stops = |it: &usize| {
        roles(text.low(*it)).next().is_some()
            || text.is(*it, "et") && matches!(text.low(it + 1), "al" | "ux" | "vir")
            || text.is(*it, "(")
            || text.is(*it, ",") && roles(text.low(it + 1)).next().is_some()
            || text.is(*it, "no") && text.is(it + 1, ".")
    };
    let rest = side.get(first..)?;
    let mut to = rest.iter().position(stops).map_or(*rest.last()? + 1, |it| from + it);
    while to > from && matches!(text.low(to - 1), "," | "." | ";") && !is_abbreviated(text, to) {
        to -= 1;
    }
    (to > from).then_some((from, to))
}

/// Whether the point before `end` belongs to the name: `INC.`, `DIST.`
fn is_abbreviated(text: &TokenText<'_>, end: usize) -> bool {
    text.is(end - 1, ".")
        && end > 1
        && matches!(text.low(end - 2), "inc" | "corp" | "co" | "ltd" | "dist" | "c" | "a" | "p")
}
