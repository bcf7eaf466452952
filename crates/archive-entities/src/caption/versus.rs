//! A caption with two sides: the lines before `v.` and those after it.

use std::sync::LazyLock;

use text::{Pattern, TokenRow};

use super::lines::{self, Line};
use super::side::{self, Side};
use crate::document_type;
use crate::entity::{Ground, Role};
use crate::entity_match::PieceContext;
use crate::name;
use crate::party;
use crate::text::TokenText;

/// Most lines of one side.
const SIDE_LINES: usize = 30;
/// Most captions of a page that are compared.
const CANDIDATES_MAX: usize = 6;

/// What stands between the sides.
static SEPARATOR: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "[- | – | —] (v | vs) [.] [- | – | —] | [- | – | —] versus [- | – | —] \
         | (- | – | —) against (- | – | —) | ^ against $",
        &[],
    )
});

/// A line that is above the names: the court, the number, the lawyers.
static HEADING: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "court | division | tribunal | ss . $ | in and for | docket | term , @number | circuit $ \
         | (attorney | attorneys | counsel) (for | of) | judicial (district | circuit) \
         | district of @capital | (case | civil | cause | index | file) [action] (no | number | '#') \
         | telephone | facsimile | fax | email | e-mail | filed | entered | argued | decided \
         | ^ (no | nos) . | appeal* from | petition for | on (writ | petition | appeal | certiorari) \
         | before [:] | page @number | ^ (state | county | commonwealth) of @capital $ | ^ (state | county | commonwealth) of @capital @capital $ \
         | arbitration between | county , @capital | ^ at @caps $ | ^ (for | in) the | ^ civil action | county of | @number : @number - \
         | ^ @capital @number , @number $ | (cv | cr | bk | civ) [-] @number \
         | in re | in the matter of | exhibit | slip opinion | opinion | syllabus | per curiam \
         | ^ @number @capital [@capital] [@capital] (street | st | avenue | ave | road | rd | boulevard | blvd | drive) \
         | @capital {zip} $",
        &[("zip", zip)],
    )
});

/// `97045`
fn zip(row: &dyn TokenRow, at: usize) -> Option<usize> {
    (row.is_number(at) && row.lower(at).len() == 5).then_some(at + 1)
}

/// A line that ends the names below: `Case No. 24-1234`, a court, a date, a lawyer.
static ENDING: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "^ (no | nos | case | civil | cause | docket | index | file | appeal* | on (appeal | writ \
         | petition) | before | argued | submitted | decided | filed | opinion | memorandum | order \
         | present | for the | attorney* | counsel | hon | honorable | judge | chapter | date \
         | dated | assigned | referred | nature of | jury | in the | in re | complaint | transcript | brief | motion | notice) \
         | ^ [united states | supreme | superior | circuit | district | the] court \
         | ^ @capital . @number , @number | ^ @capital @number , @number",
        &[],
    )
});

/// The sides of a caption and its first and last token.
pub(super) struct Versus {
    pub(super) left: Side,
    pub(super) right: Side,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) ground: Ground,
}

/// Finds the caption of a page: of several the one that states roles, else the first.
pub(super) fn find(reading: &PieceContext<'_, '_>, lines: &[Line]) -> Option<Versus> {
    let text = reading.text;
    let mut best: Option<(usize, Versus)> = None;
    let mut seen = 0;
    let message = is_message(text);
    for (place, line) in lines.iter().enumerate() {
        // A heading that was cut short names its sides further below.
        if text.slice(line.from, line.to).ends_with('…') {
            continue;
        }
        let found = match separator(reading, *line) {
            Some((at, after)) => sides(reading, lines, place, at, after).map(|it| (it, at, after)),
            None if message => running(reading, *line),
            None => None,
        };
        let Some((found, at, after)) = found else { continue };
        seen += 1;
        let alone = lines::is_blank(text, line.from..at) || lines::is_blank(text, after..line.cut);
        let points = 3 * (usize::from(found.left.has_role) + usize::from(found.right.has_role))
            + 2 * usize::from(alone)
            + 3 * usize::from(
                label_end(text, *line, at) > line.from && !text.is(line.from, "subject"),
            )
            + usize::from(!has_small(text, found.from, found.to));
        if best.as_ref().is_none_or(|it| points > it.0) {
            best = Some((points, found));
        }
        if seen >= CANDIDATES_MAX {
            break;
        }
    }
    let (points, mut found) = best?;
    found.ground = if points >= 5 { Ground::Label } else { Ground::Layout };
    Some(found)
}

/// Whether the page is an e-mail, whose sentences name the case.
fn is_message(text: &TokenText<'_>) -> bool {
    static HEADER: LazyLock<Pattern> = LazyLock::new(|| Pattern::new("^ (from | to) :", &[]));
    (0..text.len().min(40)).any(|it| HEADER.at(text, it).is_some())
}

/// The token after the label of a line: `Case Name: Roe v. Acme LLC`, `Re: Roe v. Acme LLC`.
fn label_end(text: &TokenText<'_>, line: Line, at: usize) -> usize {
    let colon = (line.from..at).rev().find(|it| text.is(*it, ":") && text.glued(*it));
    let titled = || {
        let label = matches!(text.low(line.from), "title" | "re" | "case" | "caption");
        (label && text.at(line.from + 1).is_some_and(|it| it.after_gap)).then_some(line.from)
    };
    colon.or_else(titled).map_or(line.from, |it| it + 1)
}

/// The sides of `v.` in a sentence: the capitalised words around it.
fn running(reading: &PieceContext<'_, '_>, line: Line) -> Option<(Versus, usize, usize)> {
    let text = reading.text;
    let at = line.left().find(|it| matches!(text.low(*it), "v" | "vs") && *it > line.from)?;
    if reading.is_cited(at) {
        return None;
    }
    let after = at + 1 + usize::from(text.is(at + 1, "."));
    let goes = |it: &usize| {
        text.capital(*it)
            || text.is_number(*it)
            || matches!(text.low(*it), "," | "." | "&" | "of" | "the" | "and" | "for" | "et" | "al")
    };
    let first = (line.from..at).rev().take_while(goes).last()?;
    let from = (first..at).find(|it| text.capital(*it))?;
    let al = (after..line.cut).find(|it| text.is(*it, "al"));
    let to = al.or_else(|| (after..line.cut).take_while(goes).last()).map(|it| it + 1)?;
    let mut left = side::read(reading, &(from..at).collect::<Vec<_>>());
    let mut right = side::read(reading, &(after..to).collect::<Vec<_>>());
    left.parties.drain(..left.parties.len().saturating_sub(1));
    right.parties.truncate(1);
    if left.parties.is_empty() || right.parties.is_empty() {
        return None;
    }
    give_roles(&mut left, &mut right);
    Some((Versus { left, right, from, to, ground: Ground::Layout }, at, after))
}

fn has_small(text: &TokenText<'_>, from: usize, to: usize) -> bool {
    lines::small_words(text, from..to) > 0
}

/// The separator in the left cell of a line: its first token and the token after it.
fn separator(reading: &PieceContext<'_, '_>, line: Line) -> Option<(usize, usize)> {
    let text = reading.text;
    let cell = line.left();
    let mut found = None;
    for at in cell.clone() {
        if let Some(it) = SEPARATOR.at(text, at).filter(|it| it.end <= cell.end) {
            found = Some((at, it.end));
            break;
        }
    }
    let (at, end) = found?;
    let word = (at..end).find(|it| text.is_word(*it)).unwrap_or(at);
    // A name within a sentence is that of another case.
    let small = lines::small_words(text, cell.clone());
    let alone = lines::is_blank(text, cell.start..at) || lines::is_blank(text, end..cell.end);
    let signals = ["see", "cf", "accord", "compare", "but", "under", "in", "citing", "quoting"];
    let shown = cell.clone().any(|it| {
        text.at(it).is_some_and(|token| token.all_caps)
            || party::roles(text.low(it)).next().is_some()
    });
    let running =
        small > 2 || !alone && (signals.contains(&text.low(cell.start)) || small > 0 && !shown);
    (!running && !reading.is_cited(word)).then_some((at, end))
}

fn sides(
    reading: &PieceContext<'_, '_>,
    lines: &[Line],
    place: usize,
    at: usize,
    after: usize,
) -> Option<Versus> {
    let text = reading.text;
    let line = *lines.get(place)?;
    let near = lines.get(place.saturating_sub(8)..(place + 8).min(lines.len()))?;
    let two_cells = |it: &&Line| it.is_divided() && !lines::is_blank(text, it.left());
    let divided = !line.indented && near.iter().filter(two_cells).count() > 1;
    let joined = is_joined(text, lines, place);
    let above = above(reading, lines, place, at, divided, joined);
    let (below, skipped) = if joined {
        (joined_below(reading, lines, place), Vec::new())
    } else {
        below(reading, lines, place, after, divided)
    };
    let mut left = side::read(reading, &above);
    let mut right = side::read(reading, &below);
    // The role of the left side may have come after `v.`, and that of the right one before its names.
    let sues = |it: &Role| matches!(it, Role::Plaintiff | Role::Petitioner | Role::Appellant);
    let owner = if skipped.iter().any(sues) { &mut left } else { &mut right };
    for it in owner.parties.iter_mut().filter(|it| it.roles.is_empty()) {
        it.roles.clone_from(&skipped);
        owner.has_role |= !skipped.is_empty();
    }
    if left.parties.is_empty() || right.parties.is_empty() {
        return None;
    }
    give_roles(&mut left, &mut right);
    let from = *above.iter().chain([&at]).min()?;
    let to = below.last()? + 1;
    Some(Versus { left, right, from, to, ground: Ground::Layout })
}

/// Whether both columns of a caption were written into one: the title of the paper stands between
/// the role of the left side and `v.`, and its rest after `v.`
fn is_joined(text: &TokenText<'_>, lines: &[Line], place: usize) -> bool {
    let above = lines.get(place.saturating_sub(3)..place).unwrap_or_default();
    let role = above.iter().any(|it| party::roles(text.low(it.from)).next().is_some());
    role && above.iter().any(|it| is_title(text, it.left()))
}

/// The names at the beginning of the lines below, where what follows them is of the other column.
fn joined_below(reading: &PieceContext<'_, '_>, lines: &[Line], place: usize) -> Vec<usize> {
    let text = reading.text;
    let mut list = Vec::new();
    for line in lines.iter().skip(place + 1).take(SIDE_LINES) {
        let role = party::roles(text.low(line.from)).next().is_some();
        let end = if role {
            Some(line.from + 1)
        } else {
            reading.organisation_at(line.from).or_else(|| name::person(text, line.from, false))
        };
        let closed = |end: &usize| role || matches!(text.low(*end), "," | ";" | "and");
        if let Some(end) = end.filter(closed) {
            list.extend(line.from..(end + 1).min(line.to));
        }
        if role {
            break;
        }
    }
    list
}

/// The tokens of a line's left cell; of a centred line all, and none of a right cell alone.
fn cell(text: &TokenText<'_>, line: Line, divided: bool) -> std::ops::Range<usize> {
    let role = party::roles(text.low(line.from)).next().is_some();
    let right = line.indented && (divided || lines::opens_right(text, line.from));
    if right && !role { line.from..line.from } else { line.left() }
}

/// The tokens before the separator, from the line below the heading on.
fn above(
    reading: &PieceContext<'_, '_>,
    lines: &[Line],
    place: usize,
    at: usize,
    divided: bool,
    joined: bool,
) -> Vec<usize> {
    let text = reading.text;
    let mut list: Vec<std::ops::Range<usize>> = Vec::new();
    let mut roles = false;
    let mut inline = false;
    if let Some(line) = lines.get(place) {
        let start = label_end(text, *line, at);
        list.push(start..at);
        inline = !lines::is_blank(text, start..at);
        if start > line.from && inline {
            return list.into_iter().flatten().collect();
        }
    }
    let mut named = inline;
    for index in (place.saturating_sub(SIDE_LINES)..place).rev() {
        let (Some(line), Some(below)) = (lines.get(index), lines.get(index + 1)) else { break };
        let own = cell(text, *line, divided);
        if lines::is_drawn(text, own.clone()) && named {
            break;
        }
        if lines::is_blank(text, own.clone()) {
            continue;
        }
        if joined && !named && is_title(text, own.clone()) {
            continue;
        }
        // A short name in one line needs no role; what is apart from it is something else, and so is
        // what stands above a name in the line of `v.`
        let apart = inline || !roles && below.breaks > 1;
        if named && apart && !continues(text, lines, index) {
            break;
        }
        // `STATE OF OHIO` above the names, without a comma, is a heading.
        let last = own.clone().last();
        let state = matches!(text.low(own.start), "state" | "commonwealth" | "county")
            && text.is(own.start + 1, "of")
            && last.is_none_or(|it| !matches!(text.low(it), "," | "." | "and"));
        if named && state
            || is_heading(text, own.clone())
            || lines::small_words(text, own.clone()) > 6
        {
            break;
        }
        let role = own.clone().any(|it| party::roles(text.low(it)).next().is_some());
        let only_role = role && !own.clone().any(|it| is_name_like(text, it));
        // The role of the side before: another caption stands above.
        if only_role && named {
            break;
        }
        // A line with names and their role is whole.
        inline |= role && !only_role;
        roles |= role;
        named |= !only_role;
        list.push(own);
    }
    list.reverse();
    list.into_iter().flatten().collect()
}

/// Whether the line ends in a mark after which a name goes on.
fn continues(text: &TokenText<'_>, lines: &[Line], index: usize) -> bool {
    let last = lines.get(index).and_then(|it| it.left().rev().find(|it| !text.is(*it, " ")));
    last.is_some_and(|it| matches!(text.low(it), "," | ";" | "and" | "&" | "of"))
}

fn is_name_like(text: &TokenText<'_>, at: usize) -> bool {
    text.is_word(at)
        && text.capital(at)
        && party::roles(text.low(at)).next().is_none()
        && !matches!(text.low(at), "third-party" | "cross" | "counter" | "and")
}

fn is_heading(text: &TokenText<'_>, cell: std::ops::Range<usize>) -> bool {
    cell.clone().any(|it| HEADING.at(text, it).is_some_and(|found| found.end <= cell.end))
        || cell.clone().any(|it| text.is(it, "@"))
}

/// The tokens after the separator, up to the last role or the end of the names.
fn below(
    reading: &PieceContext<'_, '_>,
    lines: &[Line],
    place: usize,
    after: usize,
    divided: bool,
) -> (Vec<usize>, Vec<Role>) {
    let text = reading.text;
    let mut list: Vec<usize> = Vec::new();
    let mut skipped: Vec<Role> = Vec::new();
    let first = lines.get(place).map_or(after..after, |it| after..it.cut);
    let mut open = lines::is_blank(text, first.clone());
    list.extend(first);
    let mut done = ends_side(text, &list);
    for line in lines.iter().skip(place + 1).take(SIDE_LINES) {
        let own = cell(text, *line, divided);
        if lines::is_drawn(text, line.from..line.to) && !open {
            break;
        }
        if lines::is_blank(text, own.clone()) {
            continue;
        }
        let only_role = !own.clone().any(|it| is_name_like(text, it));
        if open && only_role {
            let roles = own.clone().flat_map(|it| party::roles(text.low(it)).collect::<Vec<_>>());
            skipped.extend(roles);
            continue;
        }
        let labelled = own.clone().any(|it| text.is(it, ":") && text.glued(it));
        let goes_on = list.iter().rev().find(|it| !text.is(**it, " ")).is_some_and(|it| {
            matches!(text.low(*it), "," | ";" | "and" | "&" | "of" | "for" | "the")
        });
        let stops = ENDING.at(text, own.start).is_some()
            || is_title(text, own.clone())
            || own.clone().any(|it| SEPARATOR.at(text, it).is_some_and(|it| it.end <= own.end))
            || lines::small_words(text, own.clone()) > 8
            || labelled;
        if !open && (stops || done || line.breaks > 1 && !goes_on && !only_role) {
            break;
        }
        list.extend(own);
        open = false;
        done = ends_side(text, &list);
    }
    (list, skipped)
}

/// Whether the tokens end with a role and nothing that goes on after it.
fn ends_side(text: &TokenText<'_>, list: &[usize]) -> bool {
    let mut back = list.iter().rev().skip_while(|it| matches!(text.low(**it), "." | ","));
    let last = back.next().copied().unwrap_or(usize::MAX - 8);
    party::roles(text.low(last)).next().is_some() && !text.low(last).is_empty()
}

/// Whether the line is the title of the paper: capitals with a word for a type.
fn is_title(text: &TokenText<'_>, cell: std::ops::Range<usize>) -> bool {
    let mut words = cell.filter(|it| text.is_word(*it));
    let caps = words.clone().all(|it| {
        text.at(it).is_some_and(|token| token.all_caps) || text.word(it).chars().count() == 1
    });
    caps && words.any(|it| document_type::is_type_word(text.low(it)))
}

/// Gives a side without a role the one that faces the other side's.
fn give_roles(left: &mut Side, right: &mut Side) {
    let role_of = |side: &Side| side.parties.iter().find_map(|it| it.roles.first().copied());
    let (known_left, known_right) = (role_of(left), role_of(right));
    let left_role = known_left.unwrap_or(match known_right {
        Some(Role::Respondent) => Role::Petitioner,
        Some(Role::Appellee) => Role::Appellant,
        Some(Role::Appellant) => Role::Appellee,
        _ => Role::Plaintiff,
    });
    let right_role = known_right.unwrap_or(match known_left {
        Some(Role::Petitioner) => Role::Respondent,
        Some(Role::Appellant) => Role::Appellee,
        Some(Role::Appellee) => Role::Appellant,
        _ => Role::Defendant,
    });
    for (side, role) in [(left, left_role), (right, right_role)] {
        for it in side.parties.iter_mut().filter(|it| it.roles.is_empty()) {
            it.roles.push(role);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_are_right() {
        for it in [&super::SEPARATOR, &super::HEADING, &super::ENDING] {
            assert_eq!(it.problem(), None);
        }
    }
}
