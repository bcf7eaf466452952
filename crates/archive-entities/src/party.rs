//! Parties: from captions, from `X v. Y`, and from the words before and after a name in prose.

mod agreement;
mod captioned;
mod claim;
mod facing;
mod form;
mod matter;
mod names;
mod sort;

use crate::entity::{EntityKind, Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::name;
use crate::organisation::legal_form;
use crate::text::TokenText;
use names::{shared, split};
pub(crate) use sort::is_placeholder;
use sort::{government, is_description};

/// Most tokens above a role that are searched for the names of a caption.
const BLOCK_TOKENS: usize = 80;

/// The roles that a word gives: `Plaintiff-Appellee` gives two.
pub(crate) fn roles(word: &str) -> impl Iterator<Item = Role> + '_ {
    word.split(['-', '–']).filter_map(role)
}

pub(crate) fn role(word: &str) -> Option<Role> {
    Some(match word {
        "plaintiff" | "plaintiffs" | "claimant" | "истец" | "истца" | "истцу" | "истцом"
        | "истцы" => Role::Plaintiff,
        "defendant"
        | "defendants"
        | "ответчик"
        | "ответчика"
        | "ответчику"
        | "ответчиком"
        | "ответчики"
        | "подсудимый"
        | "подсудимого"
        | "обвиняемый"
        | "обвиняемого"
        | "осужденного" => Role::Defendant,
        "appellant" | "appellants" => Role::Appellant,
        "appellee" | "appellees" => Role::Appellee,
        "petitioner"
        | "petitioners"
        | "applicant"
        | "applicants"
        | "заявитель"
        | "заявителя"
        | "заявителю"
        | "взыскатель"
        | "взыскателя"
        | "взыскателю" => Role::Petitioner,
        "respondent" | "respondents" => Role::Respondent,
        "intervenor" | "intervenors" | "intervening" => Role::Intervenor,
        "debtor" | "debtors" | "должник" | "должника" => Role::Debtor,
        "amicus" | "amici" => Role::Amicus,
        _ => return None,
    })
}

pub(crate) fn find<'t>(reading: &PieceContext<'_, 't>, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    let agreement = agreement::is_headed(text);
    for at in 0..text.len() {
        if agreement && text.is(at, "(") {
            agreement::defined(reading, at, out);
            agreement::further(reading, at, out);
        } else if agreement && text.is(at, "hereinafter") {
            agreement::hereinafter(reading, at, out);
        } else if agreement && text.is(at + 1, ":") {
            agreement::labelled(reading, at, out);
        }
        if reading.is_cited(at) || !text.is_word(at) {
            continue;
        }
        let word = text.low(at);
        if roles(word).next().is_some() {
            if text.capital(at) && !is_listed(reading, at) && caption(reading, at, out) {
                continue;
            }
            form::find(reading, at, out);
            prose(reading, at, out);
        } else if matches!(word, "v" | "vs" | "versus") {
            if !captioned::find(reading, at, out) {
                versus(reading, at, out);
                facing::sides(reading, at, out);
            }
        } else if word == "against" && at > 0 && text.is(at - 1, "-") && text.breaks(at - 1) > 0 {
            facing::sides(reading, at - 1, out);
        } else if matter::opens(text, at) {
            matter::find(reading, at, out);
        } else if claim::opens(word) {
            claim::find(reading, at, out);
        } else if matches!(word, "between" | "among") {
            agreement::between(reading, at, out);
        } else if word.starts_with("именуем") {
            agreement::called(reading, at, out);
        } else if word == "отношении" && text.is(at.saturating_sub(1), "в") {
            claim::accused(reading, at, out);
        } else if word.starts_with("трет") && text.low(at + 1).starts_with("лиц") {
            claim::side(reading, at + 2, Role::ThirdParty, out);
        }
    }
}

/// `JANE ROE, … Plaintiff,`: reads the names above a role. Returns whether it is a caption.
fn caption<'t>(reading: &PieceContext<'_, 't>, at: usize, out: &mut Vec<EntityMatch<'t>>) -> bool {
    let text = reading.text;
    let after_gap = |it: usize| text.at(it).is_some_and(|it| it.after_gap);
    // `Plaintiff(s)`
    let after = if text.run(at + 1, &["(", "s", ")"]) { at + 4 } else { at + 1 };
    let closes = text.breaks(after) > 0
        || after_gap(after) && !after_gap(at)
        || matches!(text.low(after), "," | "." | ";" | "/" | ")" | "-");
    // `Defendant and Appellant`, `Defendant and Third-Party Plaintiff`
    let further = text
        .is(after, "and")
        .then(|| (after + 1..after + 4).find(|it| text.is_word(*it)).unwrap_or(after + 1));
    let third = further.filter(|it| is_further(text.low(*it)));
    let second = further.filter(|it| roles(text.low(*it)).next().is_some());
    let closes = closes || second.is_some() || third.is_some();
    // `Plaintiffs—Appellants`, `Plaintiff - Appellant`
    let joined = (matches!(text.low(after), "—" | "–" | "-" | "/")
        && roles(text.low(after + 1)).next().is_some())
    .then_some(after + 1);
    let second = second.or(joined);
    let closes = closes || joined.is_some();
    // `Third-Party Defendants`
    let label = if at > 0 && is_further(text.low(at - 1)) { at - 1 } else { at };
    let comma = label > 0 && matches!(text.low(label - 1), "," | ")" | ";" | "/");
    let alone = text.breaks(label) > 0;
    if !closes || !(comma || alone) || label == 0 {
        return false;
    }
    // `Attorneys for Plaintiff`, `Counsel for\nDefendant` name no party.
    if !comma && matches!(text.low(label - 1), "for" | "the" | "and" | "by" | "," | "of") {
        return false;
    }
    // `against Warden Mia Stone, Respondent.` in running text has one name, right before it.
    let line = text.line_start(label);
    let running = (line..label).filter(|it| text.is_word(*it) && !text.capital(*it)).count() > 4;
    let names = if comma && running {
        let end = label - 1;
        let from =
            reading.organisation_before(end).or_else(|| name::person_before(text, end, false));
        from.map_or(Vec::new(), |from| (from..end).collect())
    } else {
        block(text, label)
    };
    let mut found = false;
    for (from, to) in split(reading, &names) {
        if let Some(spouse) = shared(text, from, to) {
            out.extend(roles(text.low(at)).map(|it| spouse.clone().with(it)));
        }
        let more = second.into_iter().flat_map(|it| roles(text.low(it)));
        for role in roles(text.low(at)).chain(more) {
            out.push(
                EntityMatch::new(kind_of(reading, from, to), text, (from, to), Ground::Layout)
                    .with(role),
            );
            found = true;
        }
    }
    found
}

/// Whether a colon is the rule of a caption's box: the lines above and below end in one too.
fn is_rule(text: &TokenText<'_>, at: usize) -> bool {
    let above = text.line_start(at).checked_sub(1);
    let below = text.line_end(text.line_end(at)) - 1;
    text.breaks(at + 1) > 0 && above.is_some_and(|it| text.is(it, ":")) && text.is(below, ":")
}

fn is_further(word: &str) -> bool {
    matches!(word, "third-party" | "cross" | "counter" | "fourth-party")
}

/// The tokens above a role: of the left column, or all where that is empty because the caption
/// stands in the middle of the page.
fn block(text: &TokenText<'_>, label: usize) -> Vec<usize> {
    let left = block_of(text, label, false);
    if left.iter().any(|it| text.is_word(*it)) { left } else { block_of(text, label, true) }
}

fn block_of(text: &TokenText<'_>, label: usize, whole: bool) -> Vec<usize> {
    let mut names = Vec::new();
    let mut at = label;
    let line = text.line_start(label);
    while at > 0 && label - at < BLOCK_TOKENS {
        at -= 1;
        if text.breaks(at + 1) >= 2 && names.len() > 1 {
            break;
        }
        let word = text.low(at);
        // The role of the side above may stand in the right column.
        let other = roles(word).next().is_some() && text.breaks(at) > 0 && at < line;
        if !other && at < line && !whole && text.at(at).is_some_and(|it| it.after_gap) {
            continue;
        }
        let role_line = roles(word).next().is_some() && at + 1 != label;
        // A scanned page loses its columns: the number of the case and the judge's name then
        // stand in a line with the name, or in one between it and the role.
        let numbered = word == "no" && text.is(at + 1, ".") && at < line;
        let judge = matches!(word, "hon" | "honorable") && text.capital(at) && at < line;
        if numbered || judge {
            let end = text.line_end(at);
            names.retain(|it| *it >= end);
            let labelled =
                at > 0 && matches!(text.low(at - 1), "case" | "lc" | "docket" | "action");
            at -= usize::from(labelled && text.breaks(at) == 0);
            continue;
        }
        let timed = word == ":" && text.glued(at) && text.is_number(at + 1);
        let ends = matches!(word, "v" | "vs" | "versus" | "court" | "division" | ":" | "№")
            && !timed
            && !(word == ":" && is_rule(text, at))
            || role_line
            || (word == "no" && text.is(at + 1, "."));
        if ends {
            // The rest of a heading's line is heading too.
            if matches!(word, "court" | "division") {
                let end = text.line_end(at);
                names.retain(|it| *it >= end);
            }
            break;
        }
        names.push(at);
    }
    names.reverse();
    names
}

/// The token after the party's name that begins here.
fn party_at(reading: &PieceContext<'_, '_>, at: usize) -> Option<usize> {
    let text = reading.text;
    if let Some(end) = reading.organisation_at(at) {
        return Some(end);
    }
    if is_placeholder(text, at) {
        return None;
    }
    if is_description(text.low(at)) || legal_form(text, at).is_some() {
        return None;
    }
    if text.is(at, "estate") && text.is(at + 1, "of") && text.capital(at) {
        return name::person(text, at + 2, false);
    }
    if let Some(end) = government(text, at) {
        return Some(end);
    }
    if text.run(at, &["district", "of", "columbia"]) && text.capital(at) {
        return Some(at + 3);
    }
    // `State ex rel. Roe`
    if matches!(text.low(at), "state" | "people") && text.run(at + 1, &["ex", "rel", "."]) {
        return reading.organisation_at(at + 4).or_else(|| name::person(text, at + 4, true));
    }
    if text.is(at + 1, "of") && matches!(text.low(at), "state" | "commonwealth") && text.capital(at)
    {
        let pair = matches!(text.low(at + 2), "new" | "north" | "south" | "west" | "rhode")
            && text.capital(at + 3);
        return text.capital(at + 2).then_some(at + 3 + usize::from(pair));
    }
    if name::is_name_word(text, at) && text.is(at + 1, "county") && text.capital(at + 1) {
        return Some(at + 2);
    }
    name::person(text, at, false).or_else(|| sort::body(text, at))
}

fn kind_of(reading: &PieceContext<'_, '_>, from: usize, to: usize) -> EntityKind {
    let text = reading.text;
    let state = matches!(text.low(from), "state" | "commonwealth")
        || government(text, from).is_some()
        || matches!(text.low(to.saturating_sub(1)), "county" | "people" | "government")
        || sort::body(text, from) == Some(to);
    if reading.organisation_at(from).is_some() || state {
        EntityKind::Organisation
    } else {
        EntityKind::Person
    }
}

/// `Plaintiff Jane Roe`, `Defendants Acme LLC and John Doe`, `Истец: ООО «Ромашка»`
fn prose<'t>(reading: &PieceContext<'_, 't>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    let Some(role) = roles(text.low(at)).next() else { return };
    // `представителя истца Иванова И.И.` names who speaks for the plaintiff.
    let spoken_for = at > 0 && text.low(at - 1).starts_with("представител");
    if spoken_for && claim::represented(reading, at, role, out) {
        return;
    }
    let organised = (at + 1..at + 3).any(|it| reading.organisation_at(it).is_some());
    if spoken_for || defined(reading, at, role, out) || appears(text, at) && !organised {
        return;
    }
    let plural =
        text.low(at).ends_with('s') || text.low(at).ends_with('ы') || text.low(at).ends_with('и');
    let mut next = at + 1;
    // `Заявитель (ответчик): АО «Ромашка»`
    let mut below = None;
    if text.is(next, "(") && text.is(next + 2, ")") && text.is(next + 3, ":") {
        below = self::role(text.low(next + 1));
        next += 3;
    }
    if matches!(text.low(next), ":" | "-" | "–" | "—" | ",") {
        next += 1;
    }
    if text.is(next, "-") {
        next += 1;
    }
    let listed = is_listed(reading, at);
    let foreign = !text.low(at).is_ascii() && text.low(next).is_ascii() && text.is_word(next);
    let spoken = (text.breaks(next) == 0 || text.is(next - 1, ":") || listed) && !foreign;
    // `Plaintiff, John Doe, …` is a name; `Defendant, Jones & Co.` in a list of roles may not be.
    let mut last = past_item(text, next);
    if text.is(next - 1, ":") {
        last = past_office(text, last);
    }
    for _ in 0..if plural { 6 } else { 1 } {
        let Some(end) = spoken.then(|| named(reading, last)).flatten() else { break };
        for role in [Some(role), below].into_iter().flatten() {
            let kind = kind_of(reading, last, end);
            out.push(EntityMatch::new(kind, text, (last, end), Ground::Label).with(role));
        }
        last = match text.low(end) {
            "," if text.is(end + 1, "and") => end + 2,
            "," | "and" | "и" => end + 1,
            ";" => past_item(text, end + 1),
            _ => break,
        };
    }
}

/// Past `2)`.
fn past_item(text: &TokenText<'_>, at: usize) -> usize {
    if text.is_number(at) && text.is(at + 1, ")") { at + 2 } else { at }
}

/// Past what a Russian side is called before its name: `судебный пристав-исполнитель`.
fn past_office(text: &TokenText<'_>, at: usize) -> usize {
    let small = |it: usize| text.is_word(it) && !text.capital(it) && !text.low(it).is_ascii();
    let name = (at..at + 5).find(|it| !small(*it)).unwrap_or(at);
    if name::person(text, name, false).is_some() { name } else { at }
}

/// A docket has the role in a line of its own, then the name and who represents it.
fn is_listed(reading: &PieceContext<'_, '_>, at: usize) -> bool {
    let text = reading.text;
    text.breaks(at) > 0
        && text.breaks(at + 1) == 1
        && party_at(reading, at + 1).is_some_and(|end| text.is(end, "represented"))
}

/// `For the plaintiff: Jane Roe` names who speaks for the plaintiff.
fn appears(text: &TokenText<'_>, at: usize) -> bool {
    let back = |steps: usize| at.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    let word = if back(1) == "the" { back(2) } else { back(1) };
    matches!(text.low(at + 1), ":" | "—" | "–" | "-")
        && matches!(word, "for" | "от" | "представитель")
}

/// A name in running text; a surname alone will do.
fn named(reading: &PieceContext<'_, '_>, at: usize) -> Option<usize> {
    let text = reading.text;
    if text.is(at, "ип") && text.capital(at) {
        return name::person(text, at + 1, false);
    }
    if let Some(end) = reading.organisation_at(at) {
        return Some(end);
    }
    // `индивидуальный предприниматель Иванов И.И.`, `гражданка Иванова И.И.`
    let titled = text.low(at).starts_with("индивидуальн") || text.low(at).starts_with("граждан");
    if titled && !text.low(at).ends_with("ому") {
        let from = at + 1 + usize::from(text.low(at + 1).starts_with("предпринимател"));
        return name::person(text, from, false);
    }
    if is_placeholder(text, at) {
        return None;
    }
    let end = party_at(reading, at).or_else(|| name::person(text, at, true))?;
    // A capital that only opens a heading: `Plaintiff Exhibit A`.
    let single = end == at + 1;
    let heading = text.at(at).is_some_and(|it| it.all_caps) && single;
    (!heading && !text.low(at).ends_with("'s") && !text.low(at).ends_with("’s")).then_some(end)
}

/// `Jane Roe ("Plaintiff")`, `ООО «Ромашка» (далее – истец)`
fn defined<'t>(
    reading: &PieceContext<'_, 't>,
    at: usize,
    role: Role,
    out: &mut Vec<EntityMatch<'t>>,
) -> bool {
    let text = reading.text;
    if !matches!(text.low(at + 1), "\"" | "”" | ")" | "»") {
        return false;
    }
    let Some(open) = (at.saturating_sub(7)..at).rev().find(|it| text.is(*it, "(")) else {
        return false;
    };
    let from = reading.organisation_before(open).or_else(|| name::person_before(text, open, false));
    if let Some(from) = from {
        out.push(
            EntityMatch::new(kind_of(reading, from, open), text, (from, open), Ground::Label)
                .with(role),
        );
    }
    true
}

/// `Re: Roe v. Acme LLC, Case No. …` in one line.
fn versus<'t>(reading: &PieceContext<'_, 't>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    let right = if text.is(at + 1, ".") { at + 2 } else { at + 1 };
    if at == 0 || text.breaks(at) > 0 || text.breaks(right) > 0 || reading.is_cited(right) {
        return;
    }
    if !captioned::names_this_case(text, at) {
        return;
    }
    let et_al = at >= 4 && text.run(at - 4, &["et", "al", ".", ","]);
    let end = if et_al { at - 4 } else { at };
    let end = if end > 0 && text.is(end - 1, ",") { end - 1 } else { end };
    // `United States v. Roe`, `People v. Roe`
    let ruler = |word: &str| matches!(word, "people" | "state" | "commonwealth" | "government");
    let government = if end > 1 && text.run(end - 2, &["united", "states"]) {
        Some(end - 2)
    } else {
        end.checked_sub(1).filter(|it| ruler(text.low(*it)) && text.capital(*it))
    };
    let left = reading
        .organisation_before(end)
        .or(government)
        .or_else(|| name::person_before(text, end, true));
    let Some((left, last)) =
        left.zip(reading.organisation_at(right).or_else(|| named(reading, right)))
    else {
        return;
    };
    // `Rico Vance and Mia Vance v. Acme LLC`
    if left > 0
        && text.is(left - 1, "and")
        && let Some(first) = name::person_before(text, left - 1, false)
    {
        let found = EntityMatch::new(EntityKind::Person, text, (first, left - 1), Ground::Layout);
        out.push(found.with(Role::Plaintiff));
    }
    for (from, to, role) in [(left, end, Role::Plaintiff), (right, last, Role::Defendant)] {
        out.push(
            EntityMatch::new(kind_of(reading, from, to), text, (from, to), Ground::Layout)
                .with(role),
        );
    }
}
