//! The words that say what a deadline is counted from: `entry of this order`, «со дня вручения
//! копии постановления». The first word with a meaning of its own decides; a word that is not
//! listed here leaves the deadline open.

use crate::text::TokenText;

/// Most tokens of an anchor's words.
const TOKENS_MAX: usize = 18;

/// What happens to a paper, or the event itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnchorAct {
    /// Nothing but the paper or the event is named: `of this order`, `before the hearing`.
    None,
    Service,
    Receipt,
    /// `entry of`, «принятия», «вынесения», «изготовления»
    Entry,
    Filing,
    /// `issuance of`
    Issue,
    Mailing,
    /// `execution of`, «подписания», «заключения»
    Signing,
    Publication,
}

/// The words after a count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnchorWords {
    /// The token after them.
    pub(crate) end: usize,
    pub(crate) before: bool,
    pub(crate) act: AnchorAct,
    /// The paper or event: `order`, `summons`, `hearing`; empty if none is named.
    pub(crate) noun: &'static str,
    /// The document itself: `this order`, `hereof`.
    pub(crate) this: bool,
    /// The first token of a date that the words themselves give.
    pub(crate) date: Option<usize>,
    /// Words that tell one hearing from another: `pretrial`, `settlement`.
    pub(crate) qualifiers: Vec<&'static str>,
    /// A decision's full text is named: «в окончательной форме».
    pub(crate) whole: bool,
    /// Whether the words are understood to their end.
    pub(crate) known: bool,
    /// `thereafter`, `of that date`: what the sentence named before.
    pub(crate) back: bool,
}

enum Word {
    Skip,
    This,
    Act(AnchorAct),
    Noun(&'static str),
    Qualifier(&'static str),
    Whole,
    End,
    Other,
}

/// Reads the words after the count that ends before `at`; `is_date` says whether a date begins at a
/// token. `None` if nothing there names an anchor.
pub(crate) fn read(
    text: &TokenText<'_>,
    at: usize,
    is_date: impl Fn(usize) -> bool,
) -> Option<AnchorWords> {
    // `immediately preceding the hearing`
    let at = at + usize::from(text.is(at, "immediately"));
    let mut found = AnchorWords {
        end: at + 1,
        before: matches!(text.low(at), "before" | "prior" | "preceding" | "до"),
        act: AnchorAct::None,
        noun: "",
        this: false,
        date: None,
        qualifiers: Vec::new(),
        whole: false,
        known: true,
        back: false,
    };
    if matches!(text.low(at), "thereafter" | "afterwards" | "thereof") {
        found.back = true;
        return Some(found);
    }
    let opens = found.before
        || matches!(text.low(at), "of" | "after" | "from" | "following" | "с" | "со" | "после");
    if !opens {
        return None;
    }
    // After an unknown word only what happens to the paper is looked for: `this statement is served`.
    let mut described = false;
    let mut next = at + 1;
    while next < (at + TOKENS_MAX).min(text.len()) {
        if text.breaks(next) >= 2 {
            break;
        }
        // A date in another line begins a row of its own, unless the width of the page broke it.
        let same_line = text.breaks(next) == 0 || text.wraps(next);
        if is_date(next) && !described && same_line {
            found.date = Some(next);
            found.end = next + 1;
            return Some(found);
        }
        match word(text, next) {
            Word::Skip => {}
            Word::This => found.this = true,
            Word::Whole => found.whole = true,
            Word::Act(act) if found.act == AnchorAct::None => found.act = act,
            Word::Act(_) => {}
            Word::Qualifier(it) => found.qualifiers.push(it),
            // In `the hearing order` the last noun is what is meant.
            Word::Noun(noun)
                if !described && (found.noun.is_empty() || follows_noun(text, next)) =>
            {
                found.noun = noun;
            }
            Word::Noun(_) => {}
            // `the date set for trial`
            Word::End if text.is(next, "for") && found.noun.is_empty() && !found.this => {}
            Word::End => break,
            Word::Other => {
                found.known &= is_understood(&found) && !is_ending(text.low(next));
                if !found.known {
                    break;
                }
                described = true;
            }
        }
        if !described || matches!(word(text, next), Word::Act(_)) {
            found.end = next + 1;
        }
        next += 1;
    }
    if found.act == AnchorAct::Entry && found.noun.is_empty() && found.known {
        found.noun = act_before(text, at);
    }
    if !found.known {
        found.end = past_unknown(text, found.end);
    }
    found.back = found.noun.is_empty() && points_back(text, at, found.end);
    Some(found)
}

/// `of that date`
fn points_back(text: &TokenText<'_>, at: usize, end: usize) -> bool {
    (at..end).any(|it| {
        matches!(text.low(it), "that" | "such") && matches!(text.low(it + 1), "date" | "day")
    })
}

/// The act that «его» stands for: «На определение может быть подана жалоба … со дня его вынесения».
fn act_before(text: &TokenText<'_>, at: usize) -> &'static str {
    let mut found = "";
    for it in (at.saturating_sub(30)..at).rev() {
        if text.is(it, ".") && text.capital(it + 1) || text.breaks(it) >= 2 {
            break;
        }
        match noun(text.low(it)) {
            Some(noun) if !noun.is_ascii() && (found.is_empty() || found == noun) => found = noun,
            Some(noun) if !noun.is_ascii() => return "",
            _ => {}
        }
    }
    found
}

/// The end of the words of an unknown anchor, which are quoted too.
fn past_unknown(text: &TokenText<'_>, end: usize) -> usize {
    let goes = |it: &usize| {
        text.breaks(*it) < 2 && !matches!(text.low(*it), "." | "," | ";" | ":" | ")" | "")
    };
    (end..end + 8).take_while(goes).last().map_or(end, |it| it + 1)
}

/// Whether what was read so far names an anchor, so that an unknown word only describes it.
fn is_understood(found: &AnchorWords) -> bool {
    !found.noun.is_empty()
        || found.this
        || matches!(found.act, AnchorAct::Service) && found.qualifiers.is_empty()
}

/// Whether the word is about the end or the effect of what was named, whose day is another one.
fn is_ending(word: &str) -> bool {
    [
        "expir",
        "terminat",
        "becom",
        "effect",
        "takes",
        "clos",
        "complet",
        "end",
        "commenc",
        "mature",
        "вступ",
        "прекращ",
        "истеч",
        "расторж",
        "оконч",
    ]
    .iter()
    .any(|it| word.starts_with(it))
}

/// Whether the token before is a noun too: `hearing order`.
fn follows_noun(text: &TokenText<'_>, at: usize) -> bool {
    at > 0 && matches!(word(text, at - 1), Word::Noun(_)) && text.breaks(at) <= 1
}

fn word(text: &TokenText<'_>, at: usize) -> Word {
    let word = text.low(at);
    if let Some(act) = act(text, at) {
        return Word::Act(act);
    }
    if let Some(noun) = noun(word) {
        return Word::Noun(noun);
    }
    if let Some(it) = QUALIFIERS.iter().find(|it| **it == word) {
        return Word::Qualifier(it);
    }
    match word {
        "this" | "hereof" | "herein" | "today" | "настоящего" | "настоящей" | "данного" => {
            Word::This
        }
        "окончательной" | "полном" | "полного" | "мотивированного" => {
            Word::Whole
        }
        "the" | "a" | "an" | "date" | "day" | "of" | "on" | "to" | "which" | "that" | "such"
        | "said" | "its" | "his" | "her" | "their" | "any" | "is" | "was" | "are" | "been"
        | "being" | "has" | "have" | "upon" | "you" | "him" | "them" | "it" | "copy" | "copies"
        | "court" | "court's" | "court’s" | "'" | "’" | "s" | "final" | "time" | "above"
        | "first" | "plaintiff" | "defendant" | "respondent" | "immediately" | "dated"
        | "attached" | "and" | "in" | "set" | "scheduled" | "fixed" | "full" | "-" | "actual"
        | "(" | "\"" | "“" | "written" | "дня" | "момента" | "даты" | "день" | "копии" | "его"
        | "её" | "ее" | "им" | "судом" | "суда" | "форме" | "объеме" | "объёме" | "текста"
        | "в" | "или" | "либо" => Word::Skip,
        "." | ";" | "," | ":" | "shall" | "must" | "will" | "may" | "unless" | "if" | "or"
        | "for" | "by" | "with" | "provided" | "through" | "через" | "путем" | "путём" | "—"
        | "–" | ")" | "”" => Word::End,
        _ => Word::Other,
    }
}

fn act(text: &TokenText<'_>, at: usize) -> Option<AnchorAct> {
    Some(match text.low(at) {
        "service" | "served" | "serving" | "вручения" => AnchorAct::Service,
        "receipt" | "received" | "receiving" | "receives" | "получения" => {
            AnchorAct::Receipt
        }
        "entry"
        | "entered"
        | "вынесения"
        | "принятия"
        | "изготовления"
        | "провозглашения"
        | "объявления" => AnchorAct::Entry,
        "filing" | "filed" | "подачи" => AnchorAct::Filing,
        "issuance" | "issued" => AnchorAct::Issue,
        "mailing" | "mailed" => AnchorAct::Mailing,
        "execution" | "executed" | "signing" | "signed" | "подписания" | "заключения" => {
            AnchorAct::Signing
        }
        "publication" | "published" | "опубликования" => AnchorAct::Publication,
        _ => return None,
    })
}

const QUALIFIERS: [&str; 12] = [
    "pretrial",
    "settlement",
    "status",
    "scheduling",
    "management",
    "preliminary",
    "evidentiary",
    "confirmation",
    "sentencing",
    "oral",
    "effective",
    "предварительного",
];

/// The paper or event that a word names, in one form.
pub(crate) fn noun(word: &str) -> Option<&'static str> {
    const ENGLISH: [&str; 36] = [
        "order",
        "decree",
        "opinion",
        "decision",
        "ruling",
        "award",
        "judgment",
        "hearing",
        "trial",
        "conference",
        "deposition",
        "mediation",
        "argument",
        "letter",
        "email",
        "e-mail",
        "notice",
        "demand",
        "agreement",
        "contract",
        "lease",
        "note",
        "summons",
        "complaint",
        "motion",
        "petition",
        "answer",
        "response",
        "opposition",
        "objection",
        "brief",
        "subpoena",
        "request",
        "record",
        "accident",
        "mandate",
    ];
    const RUSSIAN: [(&str, &str); 11] = [
        ("определени", "определени"),
        ("постановлени", "постановлени"),
        ("решени", "решени"),
        ("приговор", "приговор"),
        ("приказ", "приказ"),
        ("заседани", "заседани"),
        ("претензи", "претензи"),
        ("письм", "письм"),
        ("договор", "договор"),
        ("соглашени", "соглашени"),
        ("требовани", "требовани"),
    ];
    const INCIDENTS: [&str; 6] = ["accident", "collision", "crash", "incident", "loss", "death"];
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
    if INCIDENTS.contains(&word) {
        return Some("accident");
    }
    ENGLISH.iter().find(|it| **it == word).copied().or_else(|| {
        RUSSIAN.iter().find(|it| word.starts_with(it.0) && !word.is_ascii()).map(|it| it.1)
    })
}

/// Whether several anchors are given, of which the text chooses: `the later of`, `whichever`.
pub(crate) fn chooses(text: &TokenText<'_>, at: usize, end: usize) -> bool {
    (at.saturating_sub(8)..at).any(|it| {
        matches!(text.low(it), "later" | "earlier" | "latest" | "earliest") && text.is(it + 1, "of")
    }) || (end..end + 14)
        .take_while(|it| !matches!(text.low(*it), "." | ";") && text.breaks(*it) < 2)
        .any(|it| text.is(it, "whichever"))
}
