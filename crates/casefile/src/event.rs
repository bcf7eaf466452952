//! What a date is the date of, told from the words of its sentence. It does not understand the
//! sentence: the nearest telling word wins, and words before the date outweigh those after it.

use crate::text::Text;
use crate::when::EventKind;

/// Words after the date count this much farther away than words before it.
const AFTER_COSTS: usize = 3;

/// What a word tells by itself.
fn telling(word: &str) -> Option<EventKind> {
    use EventKind::{
        Agreement, Employment, Filed, Hearing, Incident, Judgment, Notice, Order, Other, Payment,
        Served,
    };
    Some(match word {
        "filed" | "files" | "filing" | "lodged" | "commenced" | "e-filed" => Filed,
        "served" | "serve" | "serving" | "service" | "furnished" => Served,
        "hearing" | "hearings" | "heard" | "argument" | "argued" | "trial" | "conference"
        | "deposition" | "mediation" | "arraignment" | "sentencing" => Hearing,
        "decision" | "order" | "ordered" | "granted" | "denied" | "orders" | "ruled"
        | "entered" | "issued" => Order,
        "judgment" | "verdict" | "judgement" | "decided" | "sentenced" | "convicted" => Judgment,
        "accident" | "collision" | "incident" | "crash" | "injured" | "struck" | "fell"
        | "occurred" | "collided" | "fire" | "explosion" | "overturned" | "stole" | "stolen"
        | "theft" | "robbery" | "assaulted" | "died" | "drowned" | "derailed" => Incident,
        "signed" | "executed" | "agreement" | "contract" | "lease" | "effective" | "merger"
        | "settled" | "settlement" => Agreement,
        "paid" | "pay" | "payment" | "payments" | "invoice" | "invoiced" | "wired" | "remitted" => {
            Payment
        }
        "sent" | "letter" | "e-mailed" | "emailed" | "mailed" | "notified" | "notice" | "wrote"
        | "demanded" => Notice,
        "hired" | "terminated" | "fired" | "resigned" | "discharged" => Employment,
        "дтп" => Incident,
        // They tell that it is none of the others.
        "submitted" | "shipped" | "delivered" | "shipment" | "delivery" | "meeting" => Other,
        _ => return russian(word),
    })
}

fn russian(word: &str) -> Option<EventKind> {
    use EventKind::{
        Agreement, Employment, Filed, Hearing, Incident, Judgment, Notice, Order, Other, Payment,
        Served,
    };
    const STEMS: [(&str, EventKind); 29] = [
        ("отгруж", Other),
        ("отгруз", Other),
        ("подан", Filed),
        ("подал", Filed),
        ("обратил", Filed),
        ("поступил", Filed),
        ("вручен", Served),
        ("получен", Served),
        ("получил", Served),
        ("заседани", Hearing),
        ("слушани", Hearing),
        ("разбирательств", Hearing),
        ("определени", Order),
        ("постановлени", Order),
        ("решени", Judgment),
        ("авари", Incident),
        ("залив", Incident),
        ("пожар", Incident),
        ("заключ", Agreement),
        ("договор", Agreement),
        ("подписан", Agreement),
        ("оплат", Payment),
        ("перечисл", Payment),
        ("платеж", Payment),
        ("претензи", Notice),
        ("уведом", Notice),
        ("письм", Notice),
        ("уволен", Employment),
        ("направ", Notice),
    ];
    if word.is_ascii() {
        return None;
    }
    STEMS.iter().find(|(stem, _)| word.starts_with(stem)).map(|(_, kind)| *kind)
}

/// Whether the words before the date make it the last day for something.
pub(crate) fn is_due(text: &Text<'_>, date: usize) -> bool {
    // `by the 5th day of May`
    let date = if date > 0 && text.is(date - 1, "the") { date - 1 } else { date };
    let back = |steps: usize| date.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    match back(1) {
        "by" | "позднее" => true,
        "than" => matches!(back(2), "later"),
        "before" => back(2) == "or" && back(3) == "on",
        "until" => matches!(back(2), "have" | "has" | "extended" | "open"),
        "due" => true,
        "истек" | "истёк" | "истекает" | "истекал" => {
            (2..=6).any(|it| back(it).starts_with("срок"))
        }
        "on" | "is" => back(2) == "due",
        "до" => back(2) == "отложено" || (2..=4).any(|it| back(it).starts_with("срок")),
        _ => false,
    }
}

/// `Date of Loss: 3/4/2021`
pub(crate) fn is_loss(text: &Text<'_>, date: usize) -> bool {
    let at = date.saturating_sub(4);
    date >= 4
        && text.run(at, &["date", "of"])
        && matches!(text.low(at + 2), "loss" | "injury" | "accident" | "incident" | "death")
        && text.is(at + 3, ":")
}

/// Whether the date is the document's own: alone in its line, or after `Dated:`.
pub(crate) fn is_own(text: &Text<'_>, date: usize, end: usize) -> bool {
    // `Sent: Monday, February 12, 2024`
    let weekday = date >= 3
        && text.is(date - 1, ",")
        && text.low(date - 2).ends_with("day")
        && text.is(date - 3, ":");
    let date = if weekday { date - 2 } else { date };
    let back = |steps: usize| date.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    let label = if back(1) == ":" { back(2) } else { back(1) };
    if back(1) == ":" && label == "date" && back(3) == "effective" {
        return false;
    }
    // `г. Казань                    5 мая 2020 г.`
    let line = text.line_start(date);
    if text.is(line, "г") && text.at(date).is_some_and(|it| it.aside) {
        return true;
    }
    if matches!(label, "dated" | "date" | "sent" | "дата" | "entered") {
        let at = date - if back(1) == ":" { 2 } else { 1 };
        return back(1) == ":" || (label == "dated" && text.breaks(at) > 0);
    }
    if signs(text, date) {
        return true;
    }
    let alone = text.breaks(date) > 0 || date == 0;
    let column =
        text.at(end).is_some_and(|it| it.aside) && text.at(date).is_some_and(|it| !it.aside);
    // In the right half of a caption's box.
    let boxed = date > 0
        && matches!(text.low(date - 1), ":" | ")" | "|" | "*")
        && !text.glued(date - 1)
        && text.at(date - 1).is_some_and(|it| it.aside);
    if boxed && text.breaks(end) > 0 {
        return true;
    }
    alone && (text.breaks(end) > 0 || text.is(end, "г") || column)
}

/// Whether the words before the date are those under which a paper is signed: `Dated this`,
/// `Respectfully submitted this`, `DATED: Honolulu, Hawaii,`, `In San Juan, this`.
fn signs(text: &Text<'_>, date: usize) -> bool {
    let the = date > 0 && matches!(text.low(date - 1), "this" | "the");
    let line = text.line_start(date);
    let opened = (line..date).find(|it| text.is_word(*it));
    let Some(first) = opened.filter(|_| date - line <= 12) else { return false };
    let labelled = matches!(text.low(first), "dated" | "done" | "submitted" | "entered" | "signed")
        && (line..date).all(|it| {
            text.capital(it)
                || !text.is_word(it) && !text.is(it, ".")
                || matches!(text.low(it), "this" | "the" | "at" | "in" | "on" | "and" | "of")
        });
    let closing = the
        && text.is(date - 1, "this")
        && text.number(date).is_some()
        && text.run(date + 2, &["day", "of"])
        && text.is_number(date + 5).max(text.is_number(date + 6))
        && !(line..date).any(|it| matches!(text.low(it), "certify" | "served"));
    // `This the 28th day of October, 2022.`
    let this = text.is(first, "this") && first == line && text.is_number(date) && date - line <= 2;
    labelled || closing || this
}

/// The kind of the event, and whether a word told it. `from..to` is the part of the sentence that
/// belongs to this date rather than to the dates beside it.
pub(crate) fn kind(
    text: &Text<'_>,
    from: usize,
    to: usize,
    date: usize,
    end: usize,
) -> Option<EventKind> {
    let before = (from..date).map(|at| (date - at, at));
    let after = (end..to).map(|at| ((at + 1 - end) * AFTER_COSTS, at));
    let (_, at, kind) = before
        .chain(after)
        .filter(|(_, at)| text.is_word(*at))
        .filter_map(|(cost, at)| telling(text.low(at)).map(|kind| (cost, at, kind)))
        .min_by_key(|(cost, ..)| *cost)?;
    Some(settle(text, from, to, at, kind))
}

/// Words that say only that something was done take their meaning from the noun beside them.
fn settle(text: &Text<'_>, from: usize, to: usize, at: usize, kind: EventKind) -> EventKind {
    let has = |list: &[&str]| (from..to).any(|it| list.contains(&text.low(it)));
    let noun = |stems: &[&str]| {
        (from..to).any(|it| stems.iter().any(|stem| text.low(it).starts_with(stem)))
    };
    match text.low(at) {
        "entered" if text.is(at + 1, "into") => EventKind::Agreement,
        "entered" | "issued" if has(&["judgment", "verdict"]) => EventKind::Judgment,
        // A motion for it is decided by an order.
        "judgment" if at > 0 && text.is(at - 1, "summary") => EventKind::Order,
        "order" | "orders" if has(&["filed"]) => EventKind::Filed,
        "hearing" | "conference" if has(&["order"]) && has(&["entered"]) => EventKind::Order,
        "agreement" | "contract" | "lease" if has(&["filed"]) => EventKind::Filed,
        "notice" if has(&["filed"]) => EventKind::Filed,
        "letter" | "notice" if has(&["served"]) => EventKind::Served,
        "submitted" if has(&["argued"]) => EventKind::Hearing,
        "payment" if has(&["demanded"]) => EventKind::Notice,
        "occurred" if has(&["hearing", "trial"]) => EventKind::Hearing,
        "terminated" if has(&["agreement", "contract", "lease"]) => EventKind::Agreement,
        word if word.starts_with("направ") && noun(&["суд"]) => EventKind::Filed,
        word if word.starts_with("договор") && noun(&["оплат", "перечисл"]) => {
            EventKind::Payment
        }
        word if word.starts_with("поступил") && noun(&["оплат", "платеж"]) => {
            EventKind::Payment
        }
        _ => kind,
    }
}

/// What the event is about, for events of which there is one in a case.
pub(crate) fn subject(text: &Text<'_>, kind: EventKind, from: usize, to: usize) -> Option<String> {
    // The end of an agreement has another day than its making, and contradicts nothing.
    let turned = |at: usize| {
        ["expir", "terminat", "renew", "extend", "amend", "истека", "расторг", "продл"]
            .iter()
            .any(|stem| text.low(at).starts_with(stem))
    };
    if kind == EventKind::Agreement && (from..to).any(turned) {
        return None;
    }
    (from..to).find_map(|at| {
        let name = named(text, kind, at)?;
        let another = (1..=2).find_map(|steps| {
            let word = at.checked_sub(steps).filter(|it| *it >= from).map(|it| text.low(it))?;
            matches!(
                word,
                "amended"
                    | "second"
                    | "third"
                    | "another"
                    | "renewed"
                    | "cross"
                    | "supplemental"
                    | "new"
                    | "prior"
                    | "previous"
                    | "later"
                    | "mutual"
            )
            .then_some(word)
        });
        Some(match another {
            Some(word) => format!("{word} {name}"),
            None => name,
        })
    })
}

fn named(text: &Text<'_>, kind: EventKind, at: usize) -> Option<String> {
    let word = text.low(at);
    let fixed = match kind {
        EventKind::Filed | EventKind::Served => match word {
            "complaint" | "answer" | "petition" | "lawsuit" | "summons" => word,
            "appeal" if at > 1 && text.is(at - 2, "notice") => "notice of appeal",
            "motion" => return motion(text, at),
            "жалоба" | "жалобу" | "жалобой" => "жалоба",
            "отзыв" => "отзыв",
            _ if word.starts_with("исков") || matches!(word, "иск" | "иском") => "иск",
            _ => return None,
        },
        EventKind::Incident => match word {
            "accident" | "collision" | "incident" | "crash" => "incident",
            "дтп" | "авария" | "аварии" => "авария",
            "залив" | "залива" => "залив",
            _ => return None,
        },
        EventKind::Agreement => match word {
            "agreement" | "contract" | "lease" => word,
            _ if word.starts_with("договор") => "договор",
            _ => return None,
        },
        EventKind::Judgment => match word {
            "judgment" => word,
            _ => return None,
        },
        EventKind::Hearing => match word {
            "trial" => word,
            _ => return None,
        },
        _ => return None,
    };
    Some(fixed.to_owned())
}

/// `motion to dismiss`, `motion for summary judgment`
fn motion(text: &Text<'_>, at: usize) -> Option<String> {
    let words = match text.low(at + 1) {
        "to" => 1,
        "for" if matches!(text.low(at + 2), "summary" | "protective" | "partial") => 2,
        "for" => 1,
        _ => return None,
    };
    let parts: Vec<&str> = (at..at + 2 + words).map(|it| text.low(it)).collect();
    Some(parts.join(" "))
}
