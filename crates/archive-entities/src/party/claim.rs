//! The sides of a Russian case from the words of the claim: «по иску А к Б», «исковое заявление А к
//! Б», «апелляционную жалобу А».

use super::{kind_of, named};
use crate::entity::{EntityKind, Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::name;
use crate::nominative;
use crate::text::{TokenText, single_spaced};

/// Most names of one side that are read.
const NAMES_MAX: usize = 6;
/// Most tokens that describe a side before the next one.
const SIDE_TOKENS: usize = 40;

pub(super) fn opens(word: &str) -> bool {
    matches!(word, "иск" | "иска" | "иску" | "иском" | "иске")
        || ["заявлени", "жалоб", "признани", "требовани"].iter().any(|it| word.starts_with(it))
}

/// `по иску ООО «Ромашка» (ИНН …) к АО «Вектор»`
pub(super) fn find<'t>(reading: &PieceContext<'_, 't>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    let before = at.checked_sub(1).map(|it| text.low(it)).unwrap_or_default();
    if text.low(at).starts_with("жалоб") {
        let higher = ["апелляционн", "кассационн", "частн", "надзорн"];
        if higher.iter().any(|it| before.starts_with(it)) {
            side(reading, at + 1, Role::Appellant, out);
        }
        return;
    }
    // `о признании ООО «Ромашка» несостоятельным (банкротом)`
    if text.low(at).starts_with("признани") {
        let start = out.len();
        let end = side(reading, at + 1, Role::Debtor, out).unwrap_or(at);
        let broke = |it: usize| {
            ["несостоятельн", "банкрот"].iter().any(|stem| text.low(it).starts_with(stem))
        };
        if !(end..end + 12).any(broke) {
            out.truncate(start);
        }
        return;
    }
    if text.low(at).starts_with("требовани") && !before.starts_with("исков") {
        return;
    }
    let against = |end: usize| {
        (end..(end + SIDE_TOKENS).min(text.len()))
            .take_while(|it| !text.is(*it, ";") && (text.breaks(*it) < 2 || text.is(*it, "к")))
            .find(|it| text.is(*it, "к") && !text.capital(*it))
    };
    let start = out.len();
    let Some(end) = side(reading, at + 1, Role::Plaintiff, out) else { return };
    let sued = against(end).and_then(|to| side(reading, to + 1, Role::Defendant, out));
    // An applicant without an opposing party asks for a bankruptcy or an order.
    let applies = text.low(at).starts_with("заявлени") && !before.starts_with("исков");
    if applies && sued.is_none() {
        for it in out.iter_mut().skip(start) {
            it.role = Some(Role::Petitioner);
        }
    }
}

/// The names of one side, and the token after the last.
pub(super) fn side<'t>(
    reading: &PieceContext<'_, 't>,
    at: usize,
    role: Role,
    out: &mut Vec<EntityMatch<'t>>,
) -> Option<usize> {
    let text = reading.text;
    let mut end = labelled(reading, at, role, out)?;
    for _ in 0..NAMES_MAX {
        let next = past_brackets(text, end);
        if !matches!(text.low(next), "," | "и") {
            break;
        }
        let Some(more) = labelled(reading, next + 1, role, out) else { break };
        end = more;
    }
    Some(end)
}

/// An authority that is a side: `администрации города Тулы`, `Межрайонной ИФНС России № 7 по
/// Тульской области`.
fn body(text: &TokenText<'_>, at: usize) -> Option<usize> {
    const STEMS: [&str; 14] = [
        "служб",
        "прокурор",
        "отделени",
        "администраци",
        "управлени",
        "министерств",
        "департамент",
        "инспекци",
        "прокуратур",
        "межрайонн",
        "комитет",
        "федеральн",
        "фонд",
        "казначейств",
    ];
    // `Главному управлению`, `Тавдинского прокурора`: an adjective may come first.
    let adjective = |it: usize| {
        ["ого", "ому", "ой", "ым", "ему", "его"].iter().any(|end| text.low(it).ends_with(end))
    };
    let body = |it: usize| STEMS.iter().any(|stem| text.low(it).starts_with(stem));
    let led = text.capital(at) && adjective(at) && body(at + 1);
    if !(body(at) || led) {
        return None;
    }
    let stops = |it: usize| {
        text.breaks(it) > 1
            || text.low(it).starts_with("установил")
            || matches!(
                text.low(it),
                "," | "("
                    | ";"
                    | ":"
                    | "о"
                    | "об"
                    | "к"
                    | "на"
                    | "—"
                    | "–"
                    | "с"
                    | ""
            )
            || text.is(it, ".") && !matches!(text.low(it - 1), "г" | "обл" | "респ")
            // `хозяйства и экологии` is one body; before a capital another side begins.
            || text.is(it, "и") && text.capital(it + 1)
            || text.is(it, "в") && !text.low(it + 1).ends_with("ых")
    };
    let end = (at + 1..at + 20).find(|it| stops(*it))?;
    (end > at + 1).then_some(end)
}

/// Past `(ИНН 7700000000)`.
fn past_brackets(text: &TokenText<'_>, at: usize) -> usize {
    if !text.is(at, "(") {
        return at;
    }
    (at + 1..at + 20).find(|it| text.is(*it, ")")).map_or(at, |it| it + 1)
}

/// `дело об административном правонарушении в отношении должностного лица Болотиной Н.А.`
pub(super) fn accused<'t>(
    reading: &PieceContext<'_, 't>,
    at: usize,
    out: &mut Vec<EntityMatch<'t>>,
) {
    let text = reading.text;
    let offence = (at.saturating_sub(12)..at).any(|it| text.low(it).starts_with("правонарушени"));
    if !offence || at > reading.head_end {
        return;
    }
    let sentence = (at + 1..at + 14).take_while(|it| !matches!(text.low(*it), "," | ";"));
    for from in sentence {
        if let Some(end) = named(reading, from).filter(|end| *end > from + 1) {
            let kind = kind_of(reading, from, end);
            let mut found = EntityMatch::new(kind, text, (from, end), Ground::Label);
            let written = single_spaced(text.slice(from, end));
            if let Some(shown) =
                nominative::after_genitive(&written).filter(|_| kind == EntityKind::Person)
            {
                found = found.with_name(shown);
            }
            out.push(found.with(Role::Subject));
            return;
        }
    }
}

/// `представителя истца Сизовой Л.Г. – Макарова Б.С.`: the party before the dash, and the lawyer.
pub(super) fn represented<'t>(
    reading: &PieceContext<'_, 't>,
    at: usize,
    role: Role,
    out: &mut Vec<EntityMatch<'t>>,
) -> bool {
    let text = reading.text;
    let from = at + 1 + usize::from(text.is(at + 1, ","));
    let Some(end) = named(reading, from).filter(|end| *end > from + 1) else { return false };
    let dash = (end..end + 3).find(|it| matches!(text.low(*it), "–" | "—" | "-"));
    let lawyer = dash.and_then(|it| Some((it + 1, name::person(text, it + 1, false)?)));
    let Some(range) = lawyer else { return false };
    let kind = kind_of(reading, from, end);
    let genitive = |range: (usize, usize)| {
        nominative::after_genitive(&single_spaced(text.slice(range.0, range.1)))
    };
    let mut party = EntityMatch::new(kind, text, (from, end), Ground::Label).with(role);
    if let Some(shown) = genitive((from, end)).filter(|_| kind == EntityKind::Person) {
        party = party.with_name(shown);
    }
    let mut attorney = EntityMatch::attorney(text, range, Ground::Label, Some(role));
    if let Some(shown) = genitive(range) {
        attorney = attorney.with_name(shown);
    }
    out.extend([party, attorney]);
    true
}

/// The name after a label and up to three tokens of punctuation or description.
fn labelled<'t>(
    reading: &PieceContext<'_, 't>,
    at: usize,
    role: Role,
    out: &mut Vec<EntityMatch<'t>>,
) -> Option<usize> {
    let text = reading.text;
    for from in at..at + 4 {
        if let Some(end) = body(text, from) {
            out.push(
                EntityMatch::new(EntityKind::Organisation, text, (from, end), Ground::Label)
                    .with(role),
            );
            return Some(end);
        }
        if let Some(end) = named(reading, from).filter(|end| *end > from + 1) {
            let from = if text.is(from, "ип") { from + 1 } else { from };
            let kind = kind_of(reading, from, end);
            let mut found = EntityMatch::new(kind, text, (from, end), Ground::Label).with(role);
            // The names of a claim's sides stand in the genitive and the dative.
            let written = single_spaced(text.slice(from, end));
            let oblique = kind == EntityKind::Person && role != Role::ThirdParty;
            if let Some(shown) = nominative::after_genitive(&written).filter(|_| oblique) {
                found = found.with_name(shown);
            }
            out.push(found);
            return Some(end);
        }
        if !matches!(
            text.low(from),
            ":" | "-"
                | "–"
                | "—"
                | ","
                | "индивидуального"
                | "предпринимателя"
                | "индивидуальному"
                | "предпринимателю"
                | "ответчику"
                | "истца"
        ) {
            break;
        }
    }
    None
}
