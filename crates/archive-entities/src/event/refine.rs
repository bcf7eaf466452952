//! Keywords whose kind depends on other words of the sentence: `entered` of an order or of a shop,
//! `signed` of a contract or of a will.

use crate::chronology::EventKind;
use crate::text::TokenText;

/// Replaces the kind of a general verb by the kind that the nouns of the sentence give.
pub(super) fn refine_kind(
    text: &TokenText<'_>,
    from: usize,
    to: usize,
    at: usize,
    kind: EventKind,
) -> EventKind {
    let has = |list: &[&str]| (from..to).any(|it| list.contains(&text.low(it)));
    match text.low(at) {
        "entered" if text.is(at + 1, "into") => EventKind::Agreement,
        "entered" if has(&["appearance"]) => EventKind::Filed,
        "entered"
            if !has(&["judgment", "verdict"])
                && !has(&[
                    "order",
                    "decree",
                    "default",
                    "stipulation",
                    "plea",
                    "court",
                    "decision",
                ])
                && !has(&["opinion", "ruling", "injunction", "discharge"]) =>
        {
            EventKind::Other
        }
        "order" if at > 0 && matches!(text.low(at - 1), "purchase" | "change" | "work") => {
            EventKind::Agreement
        }
        "issued" if has(&["summons", "policy", "ticket", "permit", "patent", "licence"]) => {
            EventKind::Other
        }
        "issued" if has(&["invoice"]) => EventKind::Payment,
        "executed" if has(&["scheme", "warrant", "search"]) => EventKind::Other,
        "signed" | "executed" if testament(text, from, to) => EventKind::Other,
        "received" if has(&["payment", "payments"]) => EventKind::Payment,
        "received" if has(&["letter", "notice"]) => EventKind::Notice,
        "received" if has(&["installment", "instalment", "check"]) => EventKind::Payment,
        "submitted" if has(&["brief", "application", "petition", "motion", "claim"]) => {
            EventKind::Filed
        }
        "delivered" if has(&["process", "summons", "subpoena"]) => EventKind::Served,
        "granted" if has(&["divorce"]) => EventKind::Judgment,
        "notice" if has(&["resignation"]) => EventKind::Employment,
        "check" if has(&["arrested", "background"]) => EventKind::Other,
        "furnished" if has(&["labor", "materials", "services"]) => EventKind::Other,
        "service" if has(&["employment", "interruption"]) => EventKind::Other,
        "requested" | "reported" if has(&["filed"]) => EventKind::Filed,
        "entered" | "issued" if has(&["judgment", "verdict"]) => EventKind::Judgment,
        // A motion for it is decided by an order.
        "judgment"
            if at > 0
                && text.is(at - 1, "summary")
                && (has(&["denied", "motion"]) || !has(&["granted", "entered"])) =>
        {
            EventKind::Order
        }
        "order" | "orders" if has(&["filed"]) => EventKind::Filed,
        "hearing" | "conference" if has(&["order"]) && has(&["entered"]) => EventKind::Order,
        "agreement" | "contract" | "lease" if has(&["filed"]) => EventKind::Filed,
        "notice" if has(&["filed"]) => EventKind::Filed,
        "letter" | "notice" if has(&["served"]) => EventKind::Served,
        "submitted" if has(&["argued"]) => EventKind::Hearing,
        "payment" if has(&["demanded"]) => EventKind::Notice,
        "occurred" if has(&["hearing", "trial"]) => EventKind::Hearing,
        "terminated" if has(&["agreement", "contract", "lease"]) => EventKind::Agreement,
        _ => russian(text, from, to, at, kind),
    }
}

fn russian(text: &TokenText<'_>, from: usize, to: usize, at: usize, kind: EventKind) -> EventKind {
    let noun = |stems: &[&str]| {
        (from..to).any(|it| stems.iter().any(|stem| text.low(it).starts_with(stem)))
    };
    match text.low(at) {
        _ if noun(&["резолютивн", "мотивированн"])
            && matches!(kind, EventKind::Order | EventKind::Judgment) =>
        {
            EventKind::Judgment
        }
        _ if kind == EventKind::Agreement && noun(&["трудов"]) => EventKind::Employment,
        _ if kind == EventKind::Served && noun(&["претензи"]) => EventKind::Notice,
        word if word.starts_with("направ") && noun(&["суд"]) => EventKind::Filed,
        word if word.starts_with("договор") && noun(&["уведом"]) => EventKind::Notice,
        word if word.starts_with("договор") && noun(&["оплат", "перечисл"]) => {
            EventKind::Payment
        }
        word if word.starts_with("поступил") && noun(&["оплат", "платеж"]) => {
            EventKind::Payment
        }
        _ => kind,
    }
}

/// Whether the signed paper is a will.
fn testament(text: &TokenText<'_>, from: usize, to: usize) -> bool {
    (from + 1..to).any(|it| {
        matches!(text.low(it), "testament" | "codicil")
            || text.is(it, "will")
                && matches!(text.low(it - 1), "the" | "this" | "my" | "last" | "prior" | "a")
    })
}
