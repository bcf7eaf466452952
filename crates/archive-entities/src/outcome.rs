//! Outcomes: what the paper itself decides. `IT IS ORDERED that the motion is granted`, `We
//! affirm.`, «РЕШИЛ: иск удовлетворить частично». What another court did before is not one.

mod russian;

use crate::chronology::{Outcome, OutcomeKind};
use crate::entity::Ground;
use crate::paper::Paper;
use crate::sentence;
use crate::text::TokenText;
use crate::{OUTCOMES_MAX, SENTENCE_TOKENS_MAX};

/// Most tokens that say what is decided.
const WHAT_TOKENS: usize = 24;

/// Collects the outcomes of a document.
#[derive(Default)]
pub(crate) struct OutcomeBuilder<'t> {
    pub(crate) outcomes: Vec<Outcome<'t>>,
    /// Whether a Russian act has come to the words after which it decides.
    is_operative: bool,
}

/// The words of a decision: first and last token, the kind, and what is decided.
pub(super) struct OutcomeMatch {
    kind: OutcomeKind,
    range: (usize, usize),
    what: (usize, usize),
    ground: Ground,
}

impl<'t> OutcomeBuilder<'t> {
    pub(crate) fn read(&mut self, text: &TokenText<'t>, cited: &[bool], paper: &Paper) {
        if !paper.decides() {
            return;
        }
        let starts = sentence::starts(text);
        for at in 0..text.len() {
            if self.outcomes.len() >= OUTCOMES_MAX {
                return;
            }
            if cited.get(at).copied().unwrap_or_default() || !text.is_word(at) {
                continue;
            }
            let found = if paper.is_russian() {
                self.is_operative |= russian::opens(text, at);
                if self.is_operative { russian::find(text, &starts, at) } else { None }
            } else {
                english(text, &starts, at)
            };
            if let Some(found) = found {
                self.add(text, &starts, &found);
            }
        }
    }

    fn add(&mut self, text: &TokenText<'t>, starts: &[usize], found: &OutcomeMatch) {
        let half = SENTENCE_TOKENS_MAX / 2;
        let (from, to) = found.range;
        let first = starts.get(from).copied().unwrap_or(from).max(from.saturating_sub(half));
        let last = sentence::end(starts, to.max(from + 1) - 1, half);
        let sentence = text.mention(first, last);
        let what = text.slice(found.what.0, found.what.1).trim();
        let known = |it: &Outcome<'_>| {
            it.kind == found.kind && it.sentence.span == sentence.span && it.what == what
        };
        if !self.outcomes.iter().any(known) {
            self.outcomes.push(Outcome {
                kind: found.kind,
                what,
                mention: text.mention(from, to),
                sentence,
                ground: found.ground,
            });
        }
    }
}

fn kind_of(word: &str) -> Option<OutcomeKind> {
    Some(match word {
        "granted" | "grants" | "grant" | "granting" | "sustained" => OutcomeKind::Granted,
        "denied" | "denies" | "deny" | "denying" | "overruled" => OutcomeKind::Denied,
        "affirmed" | "affirms" | "affirm" | "affirming" => OutcomeKind::Affirmed,
        "reversed" | "reverses" | "reverse" | "reversing" => OutcomeKind::Reversed,
        "vacated" | "vacates" | "vacate" | "vacating" => OutcomeKind::Vacated,
        "remanded" | "remands" | "remand" | "remanding" => OutcomeKind::Remanded,
        "dismissed" | "dismisses" | "dismiss" | "dismissing" => OutcomeKind::Dismissed,
        _ => return None,
    })
}

fn english(text: &TokenText<'_>, starts: &[usize], at: usize) -> Option<OutcomeMatch> {
    let kind = kind_of(text.low(at))?;
    let first = starts.get(at).copied().unwrap_or(at);
    let word = text.low(at);
    if word.ends_with("ing") {
        return heading(text, at, kind);
    }
    if word.ends_with("ed") {
        return passive(text, first, at, kind).or_else(|| alone(text, starts, first, at, kind));
    }
    active(text, first, at, kind)
}

/// `granted in part` and its end.
fn in_part(text: &TokenText<'_>, at: usize, kind: OutcomeKind) -> (OutcomeKind, usize) {
    if text.run(at + 1, &["in", "part"]) {
        let kind = match kind {
            OutcomeKind::Granted | OutcomeKind::Denied => OutcomeKind::GrantedInPart,
            OutcomeKind::Affirmed | OutcomeKind::Reversed => OutcomeKind::AffirmedInPart,
            other => other,
        };
        return (kind, at + 3);
    }
    (kind, at + 1)
}

fn is_conditional(word: &str) -> bool {
    matches!(
        word,
        "if" | "whether"
            | "unless"
            | "should"
            | "may"
            | "might"
            | "would"
            | "could"
            | "cannot"
            | "when"
            | "was"
            | "were"
            | "been"
            | "had"
            | "not"
            | "must"
            | "asks"
            | "requests"
            | "moves"
            | "seeks"
            | "until"
            | "because"
    )
}

/// `the motion is hereby granted`, `be, and hereby is, DENIED`
fn passive(
    text: &TokenText<'_>,
    first: usize,
    at: usize,
    kind: OutcomeKind,
) -> Option<OutcomeMatch> {
    let is = (at.saturating_sub(5).max(first)..at)
        .rev()
        .find(|it| matches!(text.low(*it), "is" | "are"))?;
    let between = (is + 1..at).all(|it| {
        matches!(
            text.low(it),
            "hereby" | "therefore" | "," | "and" | "be" | "thus" | "also" | "accordingly" | "the"
        ) || kind_of(text.low(it)).is_some()
            || matches!(text.low(it), "in" | "part" | "otherwise")
    });
    if !between || (is.saturating_sub(14).max(first)..is).any(|it| is_conditional(text.low(it))) {
        return None;
    }
    let (kind, end) = in_part(text, at, kind);
    let that = (first..is).rev().find(|it| matches!(text.low(*it), "that" | ":" | ";"));
    let from = that.map_or(first, |it| it + 1).max(is.saturating_sub(WHAT_TOKENS));
    let from = from + usize::from(text.is(from, ",") || text.is(from, "and"));
    Some(OutcomeMatch { kind, range: (is, end), what: (from, is), ground: Ground::Label })
}

/// `AFFIRMED.`, `REVERSED AND REMANDED.` in a line of its own.
fn alone(
    text: &TokenText<'_>,
    starts: &[usize],
    first: usize,
    at: usize,
    kind: OutcomeKind,
) -> Option<OutcomeMatch> {
    let last = sentence::end(starts, at, 12);
    let only = (first..last).all(|it| {
        !text.is_word(it)
            || kind_of(text.low(it)).is_some()
            || matches!(text.low(it), "and" | "in" | "part" | "with" | "instructions" | "prejudice")
    });
    let caps = text.at(at).is_some_and(|it| it.all_caps);
    if !(only && caps && last - first <= 9) {
        return None;
    }
    let (kind, end) = in_part(text, at, kind);
    Some(OutcomeMatch { kind, range: (at, end), what: (at, at), ground: Ground::Layout })
}

/// `the Court GRANTS the motion`, `we therefore affirm`
fn active(
    text: &TokenText<'_>,
    first: usize,
    at: usize,
    kind: OutcomeKind,
) -> Option<OutcomeMatch> {
    let speaks_for_us = !text.low(at).ends_with('s');
    let near = at.saturating_sub(8).max(first)..at;
    // `GRANTS the motion and DENIES the request`
    let joined = at > 1
        && text.is(at - 1, "and")
        && text.at(at).is_some_and(|it| it.all_caps)
        && (at.saturating_sub(WHAT_TOKENS).max(first)..at - 1)
            .any(|it| kind_of(text.low(it)).is_some() && text.at(it).is_some_and(|it| it.all_caps));
    let subject = near.clone().rev().find(|it| {
        if speaks_for_us {
            text.is(*it, "we")
        } else {
            matches!(text.low(*it), "court" | "panel" | "board" | "judge" | "majority")
        }
    });
    let subject = if joined { at - 1 } else { subject? };
    let between = (subject + 1..at).all(|it| {
        matches!(
            text.low(it),
            "hereby" | "therefore" | "," | "and" | "thus" | "accordingly" | "also" | "the" | "now"
        ) || kind_of(text.low(it)).is_some()
            || matches!(text.low(it), "in" | "part" | "case" | "judgment" | "order" | "motion")
    });
    if !between || (subject.saturating_sub(6).max(first)..subject).any(|it| text.is(it, "if")) {
        return None;
    }
    let (kind, end) = in_part(text, at, kind);
    let stop = (end..end + WHAT_TOKENS)
        .find(|it| {
            matches!(text.low(*it), "." | ";" | "")
                || text.breaks(*it) >= 2
                || text.is(*it, "and") && kind_of(text.low(it + 1)).is_some()
        })
        .unwrap_or(end + WHAT_TOKENS);
    Some(OutcomeMatch { kind, range: (at, end), what: (end, stop), ground: Ground::Label })
}

/// `ORDER GRANTING DEFENDANT'S MOTION TO DISMISS`
fn heading(text: &TokenText<'_>, at: usize, kind: OutcomeKind) -> Option<OutcomeMatch> {
    let caps = text.at(at).is_some_and(|it| it.all_caps);
    let near = at.saturating_sub(10)..at;
    let order = near.clone().any(|it| {
        matches!(text.low(it), "order" | "opinion" | "decision" | "judgment" | "memorandum")
            && text.at(it).is_some_and(|it| it.all_caps)
    });
    if !(caps && order) {
        return None;
    }
    let (kind, end) = in_part(text, at, kind);
    let goes = |it: &usize| {
        text.breaks(*it) < 2
            && (text.at(*it).is_some_and(|it| it.all_caps) || !text.is_word(*it))
            && !matches!(text.low(*it), "." | ":" | "(" | ";" | "[")
    };
    let stop = (end..end + WHAT_TOKENS).take_while(goes).last().map_or(end, |it| it + 1);
    Some(OutcomeMatch { kind, range: (at, end), what: (end, stop), ground: Ground::Layout })
}
