//! Finds attorneys in signature blocks and lists of counsel: a name above `Attorney for …`, a name
//! with a bar number, and a name that appears `for appellant`. Each column is read separately.

use crate::entity::{EntityKind, Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::name;
use crate::organisation::legal_form;
use crate::party;
use crate::text::TokenText;

/// Most tokens of an appearance from the name to the side.
const APPEARANCE_TOKENS: usize = 40;

pub(crate) fn find<'t>(reading: &PieceContext<'_, 't>, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    for at in 0..text.len() {
        if reading.is_cited(at) {
            continue;
        }
        match text.low(at) {
            "attorney" | "attorneys" | "counsel" | "lawyers" | "lawyer" | "solicitors"
            | "solicitor" => {
                entitled(text, at, out);
                named_by_sentence(text, at, out);
            }
            "s" if text.is(at + 1, "/") && text.glued(at + 1) && !follows_slash(text, at) => {
                signed(text, at + 2, out);
            }
            "#" | "no" | "id" => numbered(text, at, out),
            "general" | "defender" | "prosecutor" => entitled(text, at, out),
            "argued" => argued(text, at, out),
            "briefs" | "brief" if matches!(text.low(at + 1), "was" | "were") => {
                list(text, at + 2, None, out);
            }
            _ => {}
        }
        if opens(text, at) {
            appears(reading, at, out);
        }
    }
}

fn after_gap(text: &TokenText<'_>, at: usize) -> bool {
    text.at(at).is_some_and(|it| it.after_gap)
}

fn opens(text: &TokenText<'_>, at: usize) -> bool {
    at == 0 || text.breaks(at) > 0 || after_gap(text, at) && !after_gap(text, at - 1)
}

fn follows_slash(text: &TokenText<'_>, at: usize) -> bool {
    at > 0 && text.is(at - 1, "/") && text.glued(at)
}

/// `JANE ROE\nAssistant United States Attorney`: a line that is the title of the name above it.
fn entitled<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let line = text.line_start(at);
    let column = after_gap(text, at);
    let first = (line..=at).find(|it| after_gap(text, *it) == column).unwrap_or(at);
    let title = (first..at).all(|it| text.capital(it) || matches!(text.low(it), "." | "of"));
    let has_office = (first..=at)
        .any(|it| matches!(text.low(it), "attorney" | "counsel" | "defender" | "prosecutor"));
    let after = if text.run(at + 1, &["at", "law"]) { at + 3 } else { at + 1 };
    let closes =
        text.breaks(after) > 0 || after_gap(text, at + 1) != column || text.is(at + 1, ",");
    // `Plaintiff's attorney` is a label of a form.
    let label = (first..at).any(|it| text.low(it).ends_with("'s") || text.low(it).ends_with("’s"));
    if label || !(title && has_office && closes && at - first <= 6 && text.breaks(line) == 1) {
        return;
    }
    let Some(last) = line.checked_sub(1) else { return };
    let above = text.line_start(last);
    let own = |it: &usize| after_gap(text, *it) == column;
    let (Some(from), Some(to)) = ((above..line).find(own), (above..line).rfind(own)) else {
        return;
    };
    let from = after_by(text, from, to);
    if name::person(text, from, false) == Some(to + 1) {
        out.push(EntityMatch::attorney(text, (from, to + 1), Ground::Layout, None));
    }
}

/// Past `By:`, `/s/` and `s/`.
fn after_by(text: &TokenText<'_>, from: usize, to: usize) -> usize {
    let mut at = from;
    while at < to && matches!(text.low(at), "by" | ":" | "/" | "s") {
        at += 1;
    }
    at
}

/// `s/ Jane Roe`
fn signed<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let Some(end) = name::person(text, at, false) else { return };
    let titles = ["judge", "justice", "magistrate", "chancellor"];
    if (end..end + 14).any(|it| titles.contains(&text.low(it))) {
        out.push(
            EntityMatch::new(EntityKind::Person, text, (at, end), Ground::Label).with(Role::Judge),
        );
    } else {
        out.push(EntityMatch::attorney(text, (at, end), Ground::Layout, None));
    }
}

/// `Jane Roe, WSBA #38817`, `Jane Roe (BBO #661402)`, `Jane Roe (#28814)`, `OBA No. 17734`,
/// `NJ Attorney ID 021972006`.
fn numbered<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let mut digits = at + 1;
    while matches!(text.low(digits), "." | ":" | "#" | "no" | "number") && digits < at + 4 {
        digits += 1;
    }
    if !text.is_number(digits) || !(3..=12).contains(&text.word(digits).len()) {
        return;
    }
    // What names the bar: a few capitals between the name and the number.
    let mut first = at;
    while first > 0 && at - first < 7 && text.breaks(first) == 0 {
        let word = text.low(first - 1);
        if matches!(
            word,
            "case"
                | "docket"
                | "ecf"
                | "civil"
                | "file"
                | "action"
                | "court"
                | "index"
                | "cause"
                | "a"
                | "/"
                | "unit"
                | "suite"
                | "dkt"
                | "doc"
                | "exhibit"
                | "claim"
                | "policy"
                | "appeal"
        ) {
            return;
        }
        if matches!(word, "," | "(" | "-" | "–") && !text.glued(first) || word == "(" {
            let end = if first > 1 && text.is(first - 2, ",") { first - 2 } else { first - 1 };
            // `Jane Roe, Esq. - NJ Attorney ID`
            let Some(from) = name::person_before(text, end, false) else { return };
            if after_gap(text, from) != after_gap(text, at) {
                return;
            }
            let mut found = EntityMatch::attorney(text, (from, end), Ground::Label, None);
            found.bar_number = Some(text.word(digits).to_owned());
            out.push(found);
            return;
        }
        first -= 1;
    }
}

/// `Jane Roe argued the cause for petitioner.`
fn argued<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    if !text.is(at + 1, "the") || !matches!(text.low(at + 2), "cause" | "case") {
        return;
    }
    let side = (at + 3..at + 7).find_map(|it| party::roles(text.low(it)).next());
    if let Some(from) = name::person_before(text, at, false) {
        out.push(EntityMatch::attorney(text, (from, at), Ground::Label, side));
    }
}

fn list<'t>(text: &TokenText<'t>, at: usize, side: Option<Role>, out: &mut Vec<EntityMatch<'t>>) {
    let mut from = at;
    for _ in 0..6 {
        let Some(end) = name::person(text, from, false) else { return };
        out.push(EntityMatch::attorney(text, (from, end), Ground::Label, side));
        let end = past_office(text, end);
        from = match text.low(end) {
            "," if text.is(end + 1, "and") => end + 2,
            "," | "and" => end + 1,
            _ => return,
        };
    }
}

/// Past the office after a name: `Jane Roe, Assistant Attorney General, John Doe, Director`.
fn past_office(text: &TokenText<'_>, end: usize) -> usize {
    let office = |it: usize| {
        name::is_office_word(text.low(it))
            || matches!(text.low(it), "attorney" | "chief" | "solicitor")
    };
    if !(text.is(end, ",") && text.capital(end + 1) && office(end + 1)) {
        return end;
    }
    let ends = |it: &usize| matches!(text.low(*it), "," | ";" | "." | "and");
    (end + 1..end + 10).find(ends).unwrap_or(end)
}

/// `Jane Roe, ROE LAW PLLC, Asheville, North Carolina, for Appellant.`
fn appears<'t>(reading: &PieceContext<'_, 't>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    let at = if text.run(at, &["on", "brief", ":"]) { at + 3 } else { at };
    let argued = |end: usize| if text.run(end, &["(", "argued", ")"]) { end + 3 } else { end };
    let Some(end) = name::person(text, at, false)
        .filter(|it| matches!(text.low(argued(*it)), "," | "and" | "(" | "&"))
    else {
        return;
    };
    // `Harbor Point, N.A., for appellee` is a firm; `Jane Roe, ROE & DOE LLP, for appellee` is not.
    let firm = reading.organisation_at(at).is_some_and(|it| it <= end || text.is(end, "&"));
    if firm || legal_form(text, end + 1).is_some() {
        return;
    }
    for step in end..(end + APPEARANCE_TOKENS).min(text.len()) {
        if text.breaks(step) >= 2 {
            return;
        }
        let mark = text.is(step, ",") || text.is(step, ";");
        let place = step + 1;
        let speaks = text.is(place, "for")
            || text.run(place, &["argued", "for"])
            || matches!(text.low(place), "attorneys" | "attorney" | "counsel")
                && text.is(place + 1, "for");
        if !(mark && speaks) {
            continue;
        }
        let side = (place + 1..place + 4).find_map(|it| party::roles(text.low(it)).next());
        if side.is_some() {
            out.push(EntityMatch::attorney(text, (at, end), Ground::Label, side));
            // `Jane Roe (argued), John Doe, and Mary Poe, ROE & DOE LLP, …`
            let mut next = argued(end);
            for _ in 0..8 {
                next += match text.low(next) {
                    "," if text.is(next + 1, "and") => 2,
                    "," | "and" | "&" => 1,
                    _ => break,
                };
                let Some(last) = name::person(text, next, false) else { break };
                let firm = reading.organisation_at(next).is_some() || text.is(last, "&");
                if firm || !matches!(text.low(argued(last)), "," | "and" | ";") {
                    break;
                }
                // A place is followed by its state: `Pasadena, California`.
                if crate::appearance::is_place(text, next, last, false)
                    || text.is(next - 1, ",") && !is_known(text, next, last)
                {
                    break;
                }
                out.push(EntityMatch::attorney(text, (next, last), Ground::Label, side));
                next = argued(last);
            }
        }
        return;
    }
}

/// Whether a name has an initial or a usual first name; `Saratoga Springs` has neither.
fn is_known(text: &TokenText<'_>, from: usize, end: usize) -> bool {
    name::is_given(text.low(from)) || (from..end).any(|it| text.is(it, "."))
}

/// `The name of the attorney representing Plaintiff is: Jane Roe`, `Counsel of record:\nJane Roe`
fn named_by_sentence<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let record = text.run(at + 1, &["of", "record"]);
    let speaks = matches!(text.low(at + 1), "representing" | "for");
    if !(record || speaks) {
        return;
    }
    let Some(colon) = (at + 2..at + 12).find(|it| text.is(*it, ":")) else { return };
    let broken = (at + 1..=colon).any(|it| text.breaks(it) > 0);
    let from = colon + 1;
    if broken || text.breaks(from) > 1 {
        return;
    }
    let side = (at + 2..colon).find_map(|it| party::roles(text.low(it)).next());
    let column = after_gap(text, from);
    let mut line = from;
    // Further names follow, one per line, until a line is not a name.
    for _ in 0..4 {
        let Some(end) = name::person(text, line, false) else { return };
        if legal_form(text, end - 1).is_some() {
            return;
        }
        out.push(EntityMatch::attorney(text, (line, end), Ground::Label, side));
        if text.breaks(end) != 1 || after_gap(text, end) != column {
            return;
        }
        line = end;
    }
}
