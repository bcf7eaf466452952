//! Finds the kind of event of a date by the words of its sentence. The nearest keyword wins, and
//! words before the date outweigh words after it.

mod due;
mod keywords;
mod refine;

pub(crate) use due::due_ground;

use crate::chronology::EventKind;
use crate::text::TokenText;
use keywords::kind_of_word;
use refine::refine_kind;

/// The subject of the day on which a Russian court issued the full text of its decision; appeals
/// count from that day.
pub(crate) const FULL_TEXT: &str = "полный текст";

/// Factor by which the distance of a word after the date is multiplied.
const AFTER_COSTS: usize = 3;

/// `Date of Loss: 3/4/2021`
pub(crate) fn is_loss(text: &TokenText<'_>, date: usize) -> bool {
    let at = date.saturating_sub(4);
    date >= 4
        && text.run(at, &["date", "of"])
        && matches!(text.low(at + 2), "loss" | "injury" | "accident" | "incident" | "death")
        && text.is(at + 3, ":")
}

/// Whether the date is the document's own: alone in its line, or after `Dated:`.
pub(crate) fn is_own(text: &TokenText<'_>, date: usize, end: usize) -> bool {
    // `Sent: Monday, February 12, 2024`
    let weekday = date >= 3
        && text.is(date - 1, ",")
        && (text.low(date - 2).ends_with("day")
            || matches!(text.low(date - 2), "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun"))
        && text.is(date - 3, ":");
    let date = if weekday { date - 2 } else { date };
    let back = |steps: usize| date.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    let label = if back(1) == ":" { back(2) } else { back(1) };
    // `Hearing Date:`, `Due Date:`
    if back(1) == ":" && label == "date" && (back(3) == "due" || kind_of_word(back(3)).is_some()) {
        return false;
    }
    // `г. Казань                    5 мая 2020 г.`
    let line = text.line_start(date);
    if text.is(line, "г") && text.at(date).is_some_and(|it| it.after_gap) {
        return true;
    }
    // `ENTERED October 2, 2019.` in a line of its own; `Date   March 9, 2020`.
    let at = date.saturating_sub(1);
    let labelled = date > 0
        && matches!(back(1), "entered" | "issued" | "date")
        && (text.breaks(at) > 0 && (text.breaks(end) > 0 || text.is(end, "."))
            || back(1) == "date"
                && text.capital(at)
                && text.at(date).is_some_and(|it| it.after_gap)
                && text.breaks(end) > 0
                && kind_of_word(back(2)).is_none_or(|_| text.breaks(at) > 0));
    if labelled {
        return true;
    }
    if matches!(label, "dated" | "date" | "sent" | "дата" | "entered" | "enter" | "issued") {
        let at = date - if back(1) == ":" { 2 } else { 1 };
        return back(1) == ":" || (label == "dated" && text.breaks(at) > 0);
    }
    // `[June 13, 2022]` below the caption of an opinion.
    let bracketed = back(1) == "[" && text.is(end, "]") && text.breaks(end + 1) > 0;
    if bracketed && text.breaks(date - 1) > 0 {
        return true;
    }
    // `Исх. № 318 от 14.11.2023`
    let letter = text.is(line, "исх") && date - line < 12;
    if letter || signs(text, date) || in_session(text, date) {
        return true;
    }
    let alone = text.breaks(date) > 0 || date == 0;
    let column = text.at(end).is_some_and(|it| it.after_gap)
        && text.at(date).is_some_and(|it| !it.after_gap);
    // In the right half of a caption's box.
    let boxed = date > 0
        && matches!(text.low(date - 1), ":" | ")" | "|" | "*")
        && !text.glued(date - 1)
        && text.at(date - 1).is_some_and(|it| it.after_gap);
    if boxed && text.breaks(end) > 0 {
        return true;
    }
    // `ROE, J.                      April 11, 2024`
    let right = text.breaks(end) > 0
        && text.at(date).is_some_and(|it| it.after_gap)
        && date > line
        && text.at(date - 1).is_some_and(|it| !it.after_gap)
        && date - line <= 8
        && (line..date).all(|it| text.capital(it) || !text.is_word(it))
        && !(line..date).any(|it| kind_of_word(text.low(it)).is_some());
    if right {
        return true;
    }
    alone && (text.breaks(end) > 0 || text.is(end, "г") || column)
}

/// `At a session of said Court, held in the City of Kalamazoo, on …`
fn in_session(text: &TokenText<'_>, date: usize) -> bool {
    (date.saturating_sub(24)..date).any(|it| text.run(it, &["session", "of"]))
}

/// `filed and served on`: one day of two events.
pub(crate) fn is_filed_too(text: &TokenText<'_>, date: usize) -> bool {
    (date.saturating_sub(5)..date).any(|it| {
        text.run(it, &["filed", "and", "served"]) || text.run(it, &["served", "and", "filed"])
    })
}

/// The kind of event if the date opens a row of a table, a docket or a chronology whose next column
/// says what happened.
/// The first word of a docket's text is the paper or the ruling.
pub(crate) fn row(text: &TokenText<'_>, date: usize, end: usize) -> Option<EventKind> {
    let opens = (date == 0 || text.breaks(date) > 0) && text.breaks(end) == 0;
    if !opens || !text.at(end).is_some_and(|it| it.after_gap) {
        return None;
    }
    let mut first = end;
    while first < end + 3 && (text.is_number(first) || matches!(text.low(first), "#" | "|")) {
        first += 1;
    }
    if text.breaks(first) > 0 || !text.is_word(first) || !text.capital(first) {
        return None;
    }
    Some(match text.low(first) {
        "order" | "orders" | "opinion" | "memorandum" | "text" => EventKind::Order,
        "judgment" | "verdict" => EventKind::Judgment,
        "minute" | "hearing" | "conference" | "trial" => EventKind::Hearing,
        "complaint" | "answer" | "motion" | "summons" | "notice" | "stipulation" | "brief"
        | "response" | "reply" | "petition" | "affidavit" | "proof" | "certificate" | "exhibit"
        | "memo" | "amended" | "objection" | "objections" | "proposed" | "statement" => {
            EventKind::Filed
        }
        "respectfully" | "by" | "attorney" | "attorneys" | "counsel" | "hon" | "judge"
        | "signed" | "sincerely" | "signature" => return None,
        _ => (first..text.line_end(first).min(first + 12))
            .find_map(|it| kind_of_word(text.low(it)))
            .or((first > end).then_some(EventKind::Other))?,
    })
}

/// Whether the words before the date close a signed document: `Dated this`,
/// `Respectfully submitted this`, `DATED: Honolulu, Hawaii,`, `In San Juan, this`.
fn signs(text: &TokenText<'_>, date: usize) -> bool {
    let the = date > 0 && matches!(text.low(date - 1), "this" | "the");
    let line = text.line_start(date);
    let closing = the
        && text.is(date - 1, "this")
        && text.number(date).is_some()
        && text.run(date + 2, &["day", "of"])
        && text.is_number(date + 5).max(text.is_number(date + 6))
        && !(line..date).any(|it| matches!(text.low(it), "certify" | "served"));
    let opened = (line..date).find(|it| text.is_word(*it));
    let Some(first) = opened.filter(|_| date - line <= 12) else { return closing };
    let labelled = matches!(text.low(first), "dated" | "done" | "submitted" | "entered" | "signed")
        && (line..date).all(|it| {
            text.capital(it)
                || !text.is_word(it) && !text.is(it, ".")
                || matches!(text.low(it), "this" | "the" | "at" | "in" | "on" | "and" | "of")
        });
    // `This the 28th day of October, 2022.`
    let this = text.is(first, "this") && first == line && text.is_number(date) && date - line <= 2;
    labelled || closing || this
}

/// The kind of the event, and whether a keyword gave it. `from..to` is the part of the sentence
/// that belongs to this date and not to a date next to it.
pub(crate) fn kind(
    text: &TokenText<'_>,
    from: usize,
    to: usize,
    date: usize,
    end: usize,
) -> Option<EventKind> {
    let before = (from..date).map(|at| (date - at, at));
    let after = (end..to).map(|at| ((at + 1 - end) * AFTER_COSTS, at));
    // `is scheduled for`, «назначено на»
    let back = |steps: usize| date.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    let set = back(1) == "for" && matches!(back(2), "scheduled" | "set" | "noticed")
        || back(1) == "to" && matches!(back(2), "adjourned" | "continued" | "rescheduled")
        || back(1) == "на" && ["назнач", "отлож"].iter().any(|it| back(2).starts_with(it));
    if set {
        return Some(EventKind::Hearing);
    }
    let (_, at, kind) = before
        .chain(after)
        .filter(|(_, at)| text.is_word(*at))
        .filter_map(|(cost, at)| kind_at_word(text, at).map(|kind| (cost, at, kind)))
        .min_by_key(|(cost, ..)| *cost)?;
    Some(refine_kind(text, from, to, at, kind))
}

/// The kind that this word gives, alone or with the next word.
fn kind_at_word(text: &TokenText<'_>, at: usize) -> Option<EventKind> {
    let pair = |words: [&str; 2]| text.run(at, &words);
    match text.low(at) {
        "gave" if pair(["gave", "way"]) => Some(EventKind::Incident),
        "passed" if pair(["passed", "away"]) => Some(EventKind::Incident),
        "breach" if at > 0 && matches!(text.low(at - 1), "data" | "security") => {
            Some(EventKind::Incident)
        }
        "guilty" if at > 0 && text.is(at - 1, "found") => Some(EventKind::Judgment),
        "removed" if matches!(text.low(at + 1), "the" | "this") => Some(EventKind::Filed),
        "let" if pair(["let", "go"]) => Some(EventKind::Employment),
        "laid" if pair(["laid", "off"]) => Some(EventKind::Employment),
        "began" | "started" if text.low(at + 1).starts_with("work") => Some(EventKind::Employment),
        "принят" | "принята" if text.run(at + 1, &["на", "работу"]) => {
            Some(EventKind::Employment)
        }
        // A machine that failed, not a person who failed to do something.
        "failed" if !text.is(at + 1, "to") => Some(EventKind::Incident),
        "order" if text.is(at + 1, "of") && at > 0 && text.is(at - 1, "the") => None,
        "состоянию" => Some(EventKind::Other),
        // `Date of service` of a doctor.
        "service" if at > 1 && text.is(at - 1, "of") && text.low(at - 2).starts_with("date") => {
            Some(EventKind::Other)
        }
        "moved" if matches!(text.low(at + 1), "to" | "for") => Some(EventKind::Filed),
        word => kind_of_word(word),
    }
}

/// The subject of an event that happens once in a case.
pub(crate) fn subject(
    text: &TokenText<'_>,
    kind: EventKind,
    from: usize,
    to: usize,
) -> Option<String> {
    // The end or change of an agreement does not contradict the day on which it was made.
    let ends_or_changes = |at: usize| {
        ["expir", "terminat", "renew", "extend", "amend", "истека", "расторг", "продл"]
            .iter()
            .any(|stem| text.low(at).starts_with(stem))
    };
    if kind == EventKind::Agreement && (from..to).any(ends_or_changes) {
        return None;
    }
    let whole = |at: usize| {
        text.low(at).starts_with("изготовлен") || text.low(at).starts_with("мотивированн")
    };
    if matches!(kind, EventKind::Order | EventKind::Judgment) && (from..to).any(whole) {
        return Some(FULL_TEXT.to_owned());
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

fn named(text: &TokenText<'_>, kind: EventKind, at: usize) -> Option<String> {
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
fn motion(text: &TokenText<'_>, at: usize) -> Option<String> {
    let words = match text.low(at + 1) {
        "to" => 1,
        "for" if matches!(text.low(at + 2), "summary" | "protective" | "partial") => 2,
        "for" => 1,
        _ => return None,
    };
    let parts: Vec<&str> = (at..at + 2 + words).map(|it| text.low(it)).collect();
    Some(parts.join(" "))
}
