//! Attorneys by the words about an appearance: `represented by`, `on behalf of`, `for appellant`,
//! «по доверенности», and the signature of a law firm's letter. `counsel` reads bar numbers.

mod paragraph;

pub(crate) use paragraph::is_place;

use crate::entity::{Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::name;
use crate::party;
use crate::text::TokenText;

/// Most lines of a letterhead, each counted as 16 tokens; the recipient is below it.
const HEAD_TOKENS: usize = 16;

pub(crate) fn find<'t>(reading: &PieceContext<'_, 't>, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    let firm = is_firm_letter(reading);
    paragraph::find(reading, out);
    for at in 0..text.len() {
        match text.low(at) {
            "represented" if text.is(at + 1, "by") && reading.organisation_at(at + 2).is_none() => {
                represented(text, at + 2, out);
            }
            "behalf" if text.is(at + 1, "of") => on_behalf(reading, at, out),
            "mr" | "ms" | "mrs" if text.breaks(at) > 0 => by_title(text, at, out),
            "are" | "is" if text.is(at + 1, ":") => named_after_colon(text, at, out),
            "от" => russian_side(text, at, out),
            "доверенности" | "доверенность" => {
                by_power_of_attorney(text, at, out)
            }
            "юрисконсульт" | "юрист" | "юриста" => {
                russian_named(text, at + 1, None, out)
            }
            "yours" | "sincerely" | "regards" | "respectfully" if firm => closing(text, at, out),
            "am" => declaration(text, at, out),
            "by" if text.is(at + 1, ":") => signs_for_firm(text, at, out),
            "attorneys" if text.run(at + 1, &["present", "for"]) => present(text, at, out),
            "mailed" if text.run(at + 1, &["to", ":"]) => notified(text, at + 3, out),
            "and" if reading.organisation_at(at + 1).is_none() => with_firm(text, at, out),
            _ => {}
        }
    }
}

/// `JANE ROE   represented by  JOHN DOE`
fn represented<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let at = at + usize::from(text.is(at, ":"));
    let from = name::past_titles(text, at + usize::from(text.is(at, "attorney")));
    let Some(end) = name::person(text, from, false) else { return };
    // A narrow column puts the surname in a line of its own.
    let alone = text.breaks(end) == 1 && text.breaks(end + 1) > 0 && name::is_name_word(text, end);
    let first_names = (from..end).all(|it| name::is_given(text.low(it)));
    let surname = alone && first_names && !name::is_other_word(text.low(end));
    let end = end + usize::from(surname);
    out.push(EntityMatch::attorney(text, (from, end), Ground::Label, None));
}

/// `MR. JOHN DOE,\n appeared on behalf of the Plaintiff`
fn on_behalf<'t>(reading: &PieceContext<'_, 't>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    let Some(side) = (at + 2..at + 5).find_map(|it| party::roles(text.low(it)).next()) else {
        return;
    };
    let Some(comma) = (at.saturating_sub(6)..at).rev().find(|it| text.is(*it, ",")) else { return };
    let spoken = (comma..at).any(|it| matches!(text.low(it), "appeared" | "appearing" | "on"));
    let end = comma - usize::from(comma > 0 && text.is(comma - 1, "."));
    let firm = reading.organisation_before(end).is_some();
    if let Some(from) = name::person_before(text, end, false).filter(|_| spoken && !firm) {
        out.push(EntityMatch::attorney(text, (from, end), Ground::Label, Some(side)));
    }
}

/// `DOE & ROE LLP, by\nMS. JANE ROE`
fn by_title<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let by = at > 0 && (text.is(at - 1, "by") || text.is(at - 1, ":") && text.is(at - 2, "by"));
    let from = at + 1 + usize::from(text.is(at + 1, "."));
    if let Some(end) = name::person(text, from, false).filter(|_| by) {
        out.push(EntityMatch::attorney(text, (from, end), Ground::Layout, None));
    }
}

/// `the plaintiff's attorney, whose name and address are:\n Jane Roe`
fn named_after_colon<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let lawyer =
        (at.saturating_sub(36)..at).any(|it| matches!(text.low(it), "attorney" | "counsel"));
    if let Some(end) = name::person(text, at + 2, false).filter(|_| lawyer) {
        out.push(EntityMatch::attorney(text, (at + 2, end), Ground::Label, None));
    }
}

/// `от истца: Иванов И.И. по доверенности`
fn russian_side<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let side = party::role(text.low(at + 1));
    if side.is_none() && !matches!(text.low(at + 1), "заинтересованного" | "третьего")
    {
        return;
    }
    let mark = (at + 2..at + 6).find(|it| matches!(text.low(*it), ":" | "—" | "–" | "-"));
    if let Some(mark) = mark {
        russian_named(text, mark + 1, side, out);
    }
}

/// A Russian name after one or two words for a lawyer.
fn russian_named<'t>(
    text: &TokenText<'t>,
    at: usize,
    side: Option<Role>,
    out: &mut Vec<EntityMatch<'t>>,
) {
    let mut from = at;
    for _ in 0..6 {
        while from < at + 12
            && (text.low(from).starts_with("представител")
                || text.low(from).starts_with("адвокат")
                || matches!(text.low(from), "по" | "доверенности" | ":" | "—" | "–" | "-" | "_"))
        {
            from += 1;
        }
        if text.low(from).is_ascii() || text.breaks(from) > 1 {
            return;
        }
        let Some(end) = name::person(text, from, false) else { return };
        out.push(EntityMatch::attorney(text, (from, end), Ground::Label, side));
        from = match text.low(end) {
            "," | "и" => end + 1,
            _ => return,
        };
    }
}

/// `Иванов И.И. по доверенности`, `Иванов И.И. (доверенность от …)`, `по доверенности Иванов И.И.`
fn by_power_of_attorney<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let mut end = at;
    while end > 0
        && at - end < 6
        && (matches!(text.low(end - 1), "по" | "(" | "," | "на" | "основании" | "—" | "–")
            || text.low(end - 1).starts_with("действующ")
            || text.low(end - 1).starts_with("представител"))
    {
        end -= 1;
    }
    // An initial's point ends the name.
    if let Some(from) = name::person_before(text, end, false).filter(|_| end < at) {
        out.push(EntityMatch::attorney(text, (from, end), Ground::Label, None));
    } else if end < at {
        russian_named(text, at + 1, None, out);
    }
}

/// Whether the head of the page is that of a law firm's letter.
fn is_firm_letter(reading: &PieceContext<'_, '_>) -> bool {
    let text = reading.text;
    let letter = (0..text.len().min(16 * HEAD_TOKENS)).any(|it| text.is(it, "dear"));
    let names_firm = (0..text.len().min(16 * HEAD_TOKENS)).any(|it| {
        text.is(it, "this")
            && matches!(text.low(it + 1), "firm" | "office")
            && text.is(it + 2, "represents")
    });
    let headed = (0..text.len().min(HEAD_TOKENS)).any(|it| {
        text.run(it, &["attorneys", "at", "law"])
            || text.run(it, &["law", "offices"])
            || matches!(text.low(it), "llp" | "pllc" | "lpa" | "solicitors")
            || text.is(it, "legal") && text.at(it).is_some_and(|it| it.all_caps)
    });
    letter && (names_firm || headed)
}

/// `Very truly yours,\n\nJane Roe`
fn closing<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    if !text.is(at + 1, ",") || text.breaks(at + 2) == 0 {
        return;
    }
    let from =
        (at + 2..at + 12).find(|it| text.is_word(*it) && !matches!(text.low(*it), "s" | "by"));
    let Some(from) = from else { return };
    // The line of the firm may precede that of the person.
    let line = text.line_end(from);
    let alone = |from: usize| {
        name::person(text, from, false).filter(|end| text.breaks(*end) > 0 || text.is(*end, ","))
    };
    for from in [from, line] {
        if let Some(end) = alone(from) {
            out.push(EntityMatch::attorney(text, (from, end), Ground::Layout, None));
            return;
        }
    }
}

/// `I, Jane Roe, am counsel of record for`
fn declaration<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let lawyer = (at + 1..at + 4).any(|it| matches!(text.low(it), "counsel" | "attorney"));
    let end = if at > 0 && text.is(at - 1, ",") { at - 1 } else { return };
    if let Some(from) = name::person_before(text, end, false).filter(|_| lawyer) {
        out.push(EntityMatch::attorney(text, (from, end), Ground::Label, None));
    }
}

/// `ROE & DOE LLP\nBy: Jane Roe`
fn signs_for_firm<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let Some(last) = text.line_start(at).checked_sub(1) else { return };
    let firm = (text.line_start(last)..=last).any(|it| {
        matches!(text.low(it), "llp" | "pllc" | "lpa" | "plc" | "law" | "attorneys")
            || text.run(it, &["p", ".", "c", "."])
            || text.run(it, &["p", ".", "a", "."])
    });
    let from = (at + 2..at + 8)
        .find(|it| text.is_word(*it) && !(text.is(*it, "s") && text.is(*it + 1, "/")));
    let Some(from) = from.filter(|_| firm && text.breaks(at) > 0) else { return };
    if let Some(end) = name::person(text, from, false) {
        out.push(EntityMatch::attorney(text, (from, end), Ground::Layout, None));
    }
}

/// `Attorneys Present for Plaintiffs:      Attorneys Present for Defendants:` with the names in the
/// columns below.
fn present<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let Some(side) = (at + 3..at + 5).find_map(|it| party::roles(text.low(it)).next()) else {
        return;
    };
    let second = text.line_start(at) < at;
    let below = text.line_end(at);
    let mut from = below;
    let mut column = 0;
    while from < text.line_end(below) {
        let Some(end) = name::person(text, from, false) else {
            from += 1;
            continue;
        };
        if (column == 1) == second {
            out.push(EntityMatch::attorney(text, (from, end), Ground::Layout, Some(side)));
            return;
        }
        column += 1;
        from = end;
    }
}

/// The lawyers that a court's notice was mailed to: a name and an address in each line.
fn notified<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let mut line = at;
    for _ in 0..40 {
        if line >= text.len() {
            return;
        }
        let end = text.line_end(line);
        let addressed = (line..end).any(|it| text.is(it, "@"));
        let found = name::person(text, line, false).filter(|_| addressed && text.breaks(line) > 0);
        match found {
            Some(stop) => out.push(EntityMatch::attorney(text, (line, stop), Ground::Layout, None)),
            None if addressed => {}
            None if line > at => return,
            None => {}
        }
        line = end;
    }
}

/// `Doe & Roe, and Jane Roe, for appellant.`
fn with_firm<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    if at == 0 || !text.is(at - 1, ",") || !text.capital(at + 1) {
        return;
    }
    let Some(end) = name::person(text, at + 1, false) else { return };
    let side = (text.is(end, ",") && text.is(end + 1, "for"))
        .then(|| (end + 2..end + 4).find_map(|it| party::roles(text.low(it)).next()))
        .flatten();
    if side.is_some() {
        out.push(EntityMatch::attorney(text, (at + 1, end), Ground::Label, side));
    }
}
