//! Attorneys: by bar numbers, signatures, appearances and titles.

use crate::entity::{EntityKind, Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::name;
use crate::nominative;
use crate::party;
use crate::text::{TokenText, single_spaced};

/// Most tokens below a name that are searched for `Attorney for Plaintiff`.
const BLOCK_TOKENS: usize = 60;

pub(crate) fn find<'t>(reading: &PieceContext<'_, 't>, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    for at in 0..text.len() {
        if reading.is_cited(at) {
            continue;
        }
        match text.low(at) {
            "(" => {
                bar(text, at, out);
                plain_number(text, at, out);
            }
            "p" if text.capital(at) && text.glued(at + 1) && !text.glued(at) => {
                unboxed(text, at, out);
            }
            "/" if text.run(at, &["/", "s", "/"]) => signature(text, at + 3, out),
            "esq" | "esquire" => esquire(text, at, out),
            "bar" | "sbn" => admitted(text, at, out),
            "ausa" | "prosecutor" | "defender" if text.capital(at) => {
                named_after(text, at + 1, out);
            }
            "attorney" | "attorneys" | "counsel" | "адвокат" | "адвоката" | "адвокатом" =>
            {
                named_after(text, at + 1, out);
                appositive(text, at, out);
            }
            "for" => appearance(text, at, out),
            "представитель" | "представителя" | "представители" => {
                representative(text, at, out)
            }
            _ => {}
        }
    }
}

fn attorney<'t>(text: &TokenText<'t>, range: (usize, usize), ground: Ground) -> EntityMatch<'t> {
    let side = side(text, range.1, text.at(range.0).is_some_and(|token| token.after_gap));
    EntityMatch::attorney(text, range, ground, side)
}

/// The side that an attorney represents, by the words below the name in the same column.
fn side(text: &TokenText<'_>, from: usize, after_gap: bool) -> Option<Role> {
    let mut blank = 0;
    for at in from..(from + BLOCK_TOKENS).min(text.len()) {
        blank += usize::from(text.breaks(at) >= 2);
        if blank > 1 {
            return None;
        }
        let is_lawyer_word =
            matches!(text.low(at), "attorney" | "attorneys" | "counsel" | "behalf")
                && text.at(at).is_some_and(|it| {
                    it.after_gap == after_gap || text.breaks(at) == 0 && !it.after_gap
                });
        if !is_lawyer_word {
            continue;
        }
        let next = (at + 1..at + 5).find_map(|it| party::roles(text.low(it)).next());
        if next.is_some() {
            return next;
        }
    }
    None
}

/// `Jane Q. Roe (P12345)`
fn bar<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let number = text.is(at + 1, "p")
        && text.glued(at + 2)
        && text.number(at + 2).is_some_and(|(_, digits)| (4..=6).contains(&digits));
    // `(P-12345)` is an older way to write the same.
    let dashed = text.is(at + 1, "p")
        && text.is(at + 2, "-")
        && text.number(at + 3).is_some_and(|(_, digits)| (4..=6).contains(&digits));
    let digits = if number {
        at + 2
    } else if dashed {
        at + 3
    } else {
        return;
    };
    if !text.is(digits + 1, ")") {
        return;
    }
    let end = if at > 0 && text.is(at - 1, ",") { at - 1 } else { at };
    if let Some(from) = name::person_before(text, end, false) {
        let mut it = attorney(text, (from, end), Ground::Form);
        it.bar_number = Some(format!("P{}", text.word(digits)));
        out.push(it);
    }
}

/// `Jane Roe (0084416)` in a line of its own.
fn plain_number<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    // `(SJM 4276)` is how some courts number lawyers.
    let letters = text.at(at + 1).is_some_and(|it| it.all_caps) && text.is_number(at + 2);
    let close = at + if letters { 3 } else { 2 };
    let digits = text.number(close - 1).map_or(0, |it| it.1);
    let number = if letters { (3..=8).contains(&digits) } else { (5..=8).contains(&digits) };
    if !number || !text.is(close, ")") || text.breaks(close + 1) == 0 {
        return;
    }
    let from = name::person_before(text, at, false);
    if let Some(from) = from.filter(|it| *it == 0 || text.breaks(*it) > 0) {
        let mut it = attorney(text, (from, at), Ground::Label);
        it.bar_number = Some(text.slice(at + 1, close).to_owned());
        out.push(it);
    }
}

/// `Jane Roe P68550`; a judge may have such a number too.
fn unboxed<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    if text.number(at + 1).is_none_or(|(_, digits)| digits != 5) {
        return;
    }
    let end = if at > 0 && text.is(at - 1, ",") { at - 1 } else { at };
    let Some(from) = name::person_before(text, end, false) else { return };
    let judge = (from.saturating_sub(3)..from)
        .any(|it| matches!(text.low(it), "judge" | "hon" | "honorable"));
    if !judge {
        let mut it = attorney(text, (from, end), Ground::Form);
        it.bar_number = Some(format!("P{}", text.word(at + 1)));
        out.push(it);
    }
}

/// `Jane Roe (SBN 214455)`, and `State Bar No. 24012345` below a name.
fn admitted<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let label =
        |it: usize| matches!(text.low(it), "no" | "." | "number" | "#" | ":" | "№" | "id" | "card");
    let digits = (at + 1..at + 5).find(|it| !label(*it)).unwrap_or(at + 5);
    if !text.number(digits).is_some_and(|(_, length)| (4..=9).contains(&length)) {
        return;
    }
    // The label may have a state before it, and the name stands before that.
    let mut first = at;
    while first > 0
        && at - first < 3
        && text.breaks(first) == 0
        && text.is_word(first - 1)
        && text.capital(first - 1)
    {
        first -= 1;
    }
    let inside = first > 0 && matches!(text.low(first - 1), "(" | ",");
    let below = first > 0 && text.breaks(first) == 1;
    if !(inside || below) {
        return;
    }
    let end = if inside { first - 1 } else { first };
    // A title may stand in a line between the name and the number.
    let above = text.line_start(end.saturating_sub(1));
    let found = name::person_before(text, end, false).map(|from| (from, end)).or_else(|| {
        let titled = below && text.breaks(above) == 1;
        let from = titled.then(|| name::person_before(text, above, false)).flatten()?;
        (text.line_start(above - 1) == from).then_some((from, above))
    });
    if let Some(range) = found {
        let mut it = attorney(text, range, Ground::Form);
        it.bar_number = Some(text.word(digits).to_owned());
        out.push(it);
    }
}

/// `/s/ Jane Roe`, of a judge where the next line says so.
fn signature<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let from = at + usize::from(text.is(at, "hon")) + usize::from(text.run(at, &["hon", "."]));
    let Some(end) = name::person(text, from, false) else { return };
    let judge =
        (end..end + 14).any(|it| matches!(text.low(it), "judge" | "justice" | "magistrate"));
    // Words in the other column belong to another person.
    let column = text.at(from).map(|it| it.after_gap);
    let lawyer = (end..end + 40).any(|it| {
        matches!(text.low(it), "attorney" | "attorneys" | "counsel" | "bar")
            && text.at(it).map(|it| it.after_gap) == column
    }) || (end..end + 12)
        .any(|it| text.is(it, "(") && text.is(it + 1, "p") && text.is_number(it + 2));
    if judge {
        out.push(
            EntityMatch::new(EntityKind::Person, text, (from, end), Ground::Label)
                .with(Role::Judge),
        );
    } else if lawyer {
        out.push(attorney(text, (from, end), Ground::Label));
    }
}

/// `Jane Roe, Esq.`
fn esquire<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let end = if at > 0 && text.is(at - 1, ",") { at - 1 } else { at };
    let Some(from) = name::person_before(text, end, false) else { return };
    // `Attorneys for Defendant Jane Roe, Esq.` has a party that is a lawyer.
    let party = from.checked_sub(1).is_some_and(|it| party::roles(text.low(it)).next().is_some());
    if !party {
        out.push(attorney(text, (from, end), Ground::Label));
    }
}

/// `attorney Jane Roe`, `counsel, Jane Roe,`
fn named_after<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    // `Deputy City Attorney, Santa Clarita` is an office and its seat.
    let office = at > 1 && text.is(at, ",") && text.capital(at - 1) && text.capital(at - 2);
    if office {
        return;
    }
    let mark = matches!(text.low(at), "," | "(") || text.is(at, ":") && text.capital(at - 1);
    let from = name::past_titles(text, at + usize::from(mark));
    let deputy = at > 1 && matches!(text.low(at - 2), "assistant" | "deputy" | "solicitor");
    if text.breaks(from) > 0 || text.is(at, "general") && !deputy {
        return;
    }
    if let Some(end) = name::person(text, from, false) {
        let known = name::is_given(text.low(from)) || (from..end).any(|it| text.is(it, "."));
        let ground = if known { Ground::Label } else { Ground::Layout };
        let mut it =
            EntityMatch::new(EntityKind::Person, text, (from, end), ground).with(Role::Attorney);
        // `Plaintiff's counsel Jane Roe`
        it.represents = at.checked_sub(2).and_then(|before| {
            let word = text.low(before);
            party::role(word.trim_end_matches("'s").trim_end_matches("’s"))
        });
        out.push(it);
    }
}

/// `Jane Roe, counsel for Defendant,` and `Jane Roe, attorney for the plaintiff`
fn appositive<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let represents = text.is(at + 1, "for") || text.run(at + 1, &["at", "law"]);
    if at == 0 || !text.is(at - 1, ",") || !represents {
        return;
    }
    if let Some(from) = name::person_before(text, at - 1, false) {
        let mut it = EntityMatch::new(EntityKind::Person, text, (from, at - 1), Ground::Label)
            .with(Role::Attorney);
        it.represents = (at + 2..at + 4).find_map(|it| party::roles(text.low(it)).next());
        out.push(it);
    }
}

/// Past `MR.`
fn past_title(text: &TokenText<'_>, at: usize) -> usize {
    let title = matches!(text.low(at), "mr" | "ms" | "mrs");
    at + usize::from(title) + usize::from(title && text.is(at + 1, "."))
}

/// `For Plaintiff: Jane Roe`, `For the Defendant: John Doe and Jane Roe`
fn appearance<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let label = at + 1 + usize::from(text.is(at + 1, "the"));
    let Some(role) = party::roles(text.low(label)).next() else { return };
    // `Attorneys Present for Plaintiffs:` has its names in the columns below.
    if !text.is(label + 1, ":") || at > 0 && text.is(at - 1, "present") {
        return;
    }
    if let Some(range) = in_column_below(text, at, label + 2) {
        out.push(EntityMatch::attorney(text, range, Ground::Layout, Some(role)));
        return;
    }
    let mut from = label + 2;
    for _ in 0..4 {
        from = if text.breaks(from) > 1 { from } else { past_title(text, from) };
        let Some(end) = name::person(text, from, false) else { break };
        let mut it = EntityMatch::new(EntityKind::Person, text, (from, end), Ground::Label)
            .with(Role::Attorney);
        it.represents = Some(role);
        out.push(it);
        from = match text.low(end) {
            "," if text.is(end + 1, "and") => end + 2,
            "," if text.is(end + 1, "esq") => break,
            "and" | "," => end + 1,
            _ => break,
        };
    }
}

/// The name below a label that shares its line with another: `For Appellee:      For Appellant:`.
fn in_column_below(text: &TokenText<'_>, at: usize, after: usize) -> Option<(usize, usize)> {
    let line = text.line_start(at);
    let end = text.line_end(at);
    let labels = (line..end).filter(|it| {
        text.is(*it, "for") && (*it + 1..*it + 4).any(|it| text.is(it, ":")) && text.capital(*it)
    });
    let labels: Vec<usize> = labels.collect();
    let place = labels.iter().position(|it| *it == at).filter(|_| labels.len() > 1)?;
    // A name may follow the label in its own line.
    if text.breaks(after) == 0 && !labels.contains(&after) {
        return None;
    }
    let (mut from, below) = (end, text.line_end(end));
    let mut column = 0;
    while from < below {
        match name::person(text, from, false) {
            Some(stop) if column == place => return Some((from, stop)),
            Some(stop) => (column, from) = (column + 1, stop),
            None => from += 1,
        }
    }
    None
}

/// `представитель истца по доверенности Сидоров С.С.`
fn representative<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let mut role = None;
    for from in at + 1..at + 18 {
        role = role.or_else(|| party::role(text.low(from)));
        // The number and the day of the power may stand between.
        let point = text.is(from, ".") && !text.is_number(from + 1) && !text.is(from + 1, ":");
        if point || matches!(text.low(from), ";") || text.breaks(from) > 1 {
            return;
        }
        let Some(end) =
            name::person(text, from, false).filter(|_| party::role(text.low(from)).is_none())
        else {
            continue;
        };
        // `представителя истца Сизовой Л.Г. – Макарова Б.С.`: the lawyer stands after the dash.
        let dash = matches!(text.low(end), "–" | "—" | "-");
        let lawyer = name::person(text, end + 1, false).filter(|_| dash);
        let range = lawyer.map_or((from, end), |last| (end + 1, last));
        let mut it =
            EntityMatch::new(EntityKind::Person, text, range, Ground::Label).with(Role::Attorney);
        it.represents = role;
        if let Some(shown) =
            nominative::after_genitive(&single_spaced(text.slice(range.0, range.1)))
                .filter(|_| !text.low(at).ends_with('ь') && !text.low(at).ends_with('и'))
        {
            it = it.with_name(shown);
        }
        out.push(it);
        return;
    }
}
