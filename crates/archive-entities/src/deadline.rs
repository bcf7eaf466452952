//! Deadlines given as a count of days. `deadline/anchor` reads what they are counted from,
//! `deadline/count` finds its day, and `deadline/calendar` adds the days.

mod anchor;
mod calendar;
mod count;

pub(crate) use anchor::AnchorWords;
pub(crate) use count::Anchors;

use anchor::AnchorAct;

use crate::chronology::{Anchor, Deadline, DeadlineUnit, UncountedReason};
use crate::entity::Ground;
use crate::numerals;
use crate::text::TokenText;

/// Most tokens before a bare count that are searched for a duty.
const DUTY_TOKENS: usize = 45;

/// The context that a count needs to be a deadline.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequiredContext {
    Nothing,
    /// An anchor, or `notice`.
    Anchor,
    /// An anchor, `notice`, or a task: `has 14 days to respond`.
    Task,
    /// An anchor or `notice`, and a duty before the count: `shall be exchanged 7 days before
    /// trial`.
    Duty,
}

/// A deadline, the token after it, and the words that name its anchor.
pub(crate) struct DeadlineMatch<'t> {
    pub(crate) end: usize,
    pub(crate) deadline: Deadline<'t>,
    pub(crate) words: Option<AnchorWords>,
    /// Whether the text gives several anchors to choose from: `the later of`.
    pub(crate) chooses: bool,
}

/// The deadline whose opening words stand at this token; `is_date` says whether a date begins at a
/// token.
pub(crate) fn at<'t>(
    text: &TokenText<'t>,
    at: usize,
    is_date: impl Fn(usize) -> bool,
) -> Option<DeadlineMatch<'t>> {
    let (count_at, needs) = opening(text, at)?;
    let (count, unit, next) = term(text, count_at)?;
    let words = anchor::read(text, next, is_date);
    let mut end = words.as_ref().map_or(next, |it| it.end);
    let notice = notice(text, next);
    if let Some(it) = notice.filter(|_| end == next) {
        end = it;
    }
    let task = text.is(next, "to") && text.is_word(next + 1)
        || text.run(next, &["in", "which"])
        || text.run(next, &["within", "which"]);
    let enough = match needs {
        RequiredContext::Nothing => true,
        RequiredContext::Anchor => end > next,
        RequiredContext::Task => end > next || task,
        RequiredContext::Duty => end > next && (notice.is_some() || obliges(text, at)),
    };
    if !enough || is_state(text, at) {
        return None;
    }
    let anchor = words.as_ref().map_or(Anchor::Unknown, kind_of);
    let label = if anchor == Anchor::Unknown { Ground::Layout } else { Ground::Label };
    let mention = text.mention(at, end);
    let due = Err(UncountedReason::AnchorUnknown);
    let before = words.as_ref().is_some_and(|it| it.before);
    let deadline =
        Deadline { count, unit, before, anchor, due, mention, sentence: mention, ground: label };
    Some(DeadlineMatch { end, deadline, words, chooses: anchor::chooses(text, at, end) })
}

/// The kind of anchor that the words name.
fn kind_of(words: &AnchorWords) -> Anchor {
    if words.date.is_some() {
        return Anchor::Date;
    }
    if !words.known {
        return Anchor::Unknown;
    }
    match words.act {
        AnchorAct::Service | AnchorAct::Receipt => return Anchor::Service,
        AnchorAct::Filing => return Anchor::Filing,
        _ => {}
    }
    match words.noun {
        "hearing" | "trial" | "conference" | "deposition" | "mediation" | "argument"
        | "заседани" => Anchor::Hearing,
        "accident" => Anchor::Incident,
        _ if words.this || words.qualifiers.contains(&"effective") => Anchor::ThisDocument,
        "order"
        | "decree"
        | "opinion"
        | "decision"
        | "ruling"
        | "award"
        | "определени"
        | "постановлени" => Anchor::Order,
        "judgment" | "решени" | "приговор" => Anchor::Judgment,
        _ => Anchor::Unknown,
    }
}

/// The token of the count, and the context that it needs to be a deadline.
fn opening(text: &TokenText<'_>, at: usize) -> Option<(usize, RequiredContext)> {
    match text.low(at) {
        "within" => {
            // `within the next 10 days`, `within the 30-day period`
            let next = if text.run(at + 1, &["the", "next"]) { 2 } else { 0 };
            let the = usize::from(next == 0 && text.is(at + 1, "the") && text.is_number(at + 2));
            Some((at + 1 + next + the, RequiredContext::Nothing))
        }
        // `by the 20th day after service`
        "by" | "before"
            if text.is(at + 1, "the")
                && text.is_number(at + 2)
                && matches!(text.low(at + 5), "after" | "before" | "following" | "from") =>
        {
            Some((at + 2, RequiredContext::Anchor))
        }
        "period" if text.is(at + 1, "of") => Some((at + 2, RequiredContext::Anchor)),
        "have" | "has" | "due" | "given" | "allowed" => Some((at + 1, RequiredContext::Task)),
        "no" | "not" if matches!(text.low(at + 1), "later" | "less" | "more" | "fewer") => {
            text.is(at + 2, "than").then_some((at + 3, RequiredContext::Anchor))
        }
        "at" if text.is(at + 1, "least") => Some((at + 2, RequiredContext::Anchor)),
        "for" => holds_offer(text, at).then_some((at + 1, RequiredContext::Nothing)),
        "в" if text.is(at + 1, "течение") => Some((at + 2, RequiredContext::Nothing)),
        "в" if text.low(at + 1).ends_with("срок") || text.is(at + 2, "срок") => {
            Some((at + 1, RequiredContext::Nothing))
        }
        "в" if text.is(at + 4, "срок") && text.is(at + 2, "-") => {
            Some((at + 1, RequiredContext::Nothing))
        }
        "не" if matches!(text.low(at + 1), "позднее" | "менее" | "позже")
            && text.is(at + 2, "чем") =>
        {
            Some((at + 4, RequiredContext::Anchor))
        }
        "не" if text.is(at + 1, "позднее") => Some((at + 2, RequiredContext::Anchor)),
        "за" => (!text.is(at.saturating_sub(1), "чем")).then_some((at + 1, ahead(text, at)?)),
        "—" | "–" | "-" | ":" | "составляет" => (at.saturating_sub(6)..at)
            .any(|it| text.is(it, "срок"))
            .then_some((at + 1, RequiredContext::Nothing)),
        word => {
            // Most words do not precede a unit of time, so they are rejected by its first letter.
            let ahead = text.low(at + 1).as_bytes().first();
            let unit = matches!(ahead, Some(b'd' | b'w' | b'm' | b'c' | b'b' | b'('));
            let spelled = unit && (text.is_number(at) || numerals::is_number(word));
            let gives = |it: usize| {
                matches!(text.low(it), "giving" | "gives" | "gave" | "give" | "allow" | "allowing")
            };
            let needs = if spelled && (at.saturating_sub(4)..at).any(gives) {
                RequiredContext::Task
            } else {
                RequiredContext::Duty
            };
            (spelled && is_bare(text, at)).then_some((at, needs))
        }
    }
}

/// Whether neither another opening nor a word that makes it a measure precedes a count:
/// `more than 14 days after`, `for 30 days before`.
fn is_bare(text: &TokenText<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    !text.is_number(before)
        && !text.glued(at)
        && !numerals::is_number(text.low(before))
        && !matches!(
            text.low(before),
            "within"
                | "than"
                | "least"
                | "have"
                | "has"
                | "due"
                | "for"
                | "next"
                | "over"
                | "about"
                | "some"
                | "nearly"
                | "approximately"
                | "last"
                | "past"
                | "first"
                | "only"
                | "("
                | "$"
                | "given"
                | "allowed"
                | "almost"
                | "just"
                | "by"
                | "и"
                | "за"
                | "течение"
                | "через"
                | "позднее"
                | "—"
                | "–"
                | "-"
                | ":"
                | "№"
                | "§"
        )
}

/// `the offer is good for 14 days`, `will hold it for 30 days`
fn holds_offer(text: &TokenText<'_>, at: usize) -> bool {
    (at.saturating_sub(4)..at).any(|it| {
        matches!(
            text.low(it),
            "good" | "hold" | "held" | "open" | "valid" | "preserve" | "retain" | "keep" | "stayed"
        )
    })
}

/// `за 5 дней до заседания`, `уведомив за 60 дней`
fn ahead(text: &TokenText<'_>, at: usize) -> Option<RequiredContext> {
    let gives_notice = (at.saturating_sub(8)..at).any(|it| {
        ["уведом", "предупре", "предварит", "извест"]
            .iter()
            .any(|stem| text.low(it).starts_with(stem))
    });
    Some(if gives_notice { RequiredContext::Nothing } else { RequiredContext::Anchor })
}

/// The end of `notice` after a count, as in `30 days' prior written notice`.
fn notice(text: &TokenText<'_>, at: usize) -> Option<usize> {
    let mut next = at;
    while next < at + 5
        && matches!(text.low(next), "'" | "’" | "written" | "prior" | "advance" | "s" | "in" | "of")
    {
        next += 1;
    }
    text.is(next, "notice").then_some(next + 1)
}

/// Whether the sentence says before the count that something must be done.
fn obliges(text: &TokenText<'_>, at: usize) -> bool {
    let mut back = at;
    while back > 0 && at - back < DUTY_TOKENS {
        back -= 1;
        match text.low(back) {
            "shall"
            | "must"
            | "due"
            | "will"
            | "required"
            | "deadline"
            | "later"
            | "directed"
            | "should"
            | "may"
            | "представить"
            | "обязан" => return true,
            "." if text.capital(back + 1) && !text.glued(back + 1) => return false,
            _ if text.breaks(back + 1) >= 2 => return false,
            _ => {}
        }
    }
    false
}

/// Whether the count is a duration (`was employed for 5 years`) and no deadline.
fn is_state(text: &TokenText<'_>, at: usize) -> bool {
    (at.saturating_sub(12)..at).any(|it| {
        ["resided", "resident", "lived", "survive", "domicil", "проживал"]
            .iter()
            .any(|stem| text.low(it).starts_with(stem))
    })
}

/// The count, the unit and the token after them. A Russian word may contain both.
fn term(text: &TokenText<'_>, at: usize) -> Option<(u16, DeadlineUnit, usize)> {
    const WHOLE: [(&str, u16, DeadlineUnit); 9] = [
        ("трехдневн", 3, DeadlineUnit::Days),
        ("трёхдневн", 3, DeadlineUnit::Days),
        ("пятидневн", 5, DeadlineUnit::Days),
        ("семидневн", 7, DeadlineUnit::Days),
        ("десятидневн", 10, DeadlineUnit::Days),
        ("пятнадцатидневн", 15, DeadlineUnit::Days),
        ("тридцатидневн", 30, DeadlineUnit::Days),
        ("двухмесячн", 2, DeadlineUnit::Months),
        ("месячн", 1, DeadlineUnit::Months),
    ];
    if let Some((_, count, unit)) = WHOLE.iter().find(|it| text.low(at).starts_with(it.0)) {
        return Some((*count, *unit, at + 2));
    }
    let (count, next) = count(text, at)?;
    if text.is(next, "-") && text.low(next + 1).starts_with("дневн") {
        return Some((count, DeadlineUnit::Days, next + 3));
    }
    // `a 10-day notice`
    let next = next + usize::from(text.is(next, "-") && text.glued(next + 1));
    let (unit, next) = unit(text, next)?;
    Some((count, unit, next))
}

/// `21`, `twenty-one (21)`, `(21)`, `a`; Russian may omit the count of one month.
fn count(text: &TokenText<'_>, at: usize) -> Option<(u16, usize)> {
    let small = |it: u64| u16::try_from(it).ok().filter(|it| (1..=3650).contains(it));
    let (spelled, mut next) = match text.number(at) {
        // `the 20th day`
        Some((value, _)) => {
            let ordinal = text.glued(at + 1) && text.is(at + 1, "th");
            (Some(value), at + 1 + usize::from(ordinal))
        }
        None => match numerals::number(text, at) {
            Some((value, next)) => (Some(value), next),
            None if text.is(at, "a") || text.is(at, "an") => (Some(1), at + 1),
            None => (None, at),
        },
    };
    let mut value = spelled;
    if text.is(next, "(") {
        if let Some((digits, _)) = text.number(next + 1).filter(|_| text.is(next + 2, ")")) {
            value = Some(digits);
            next += 3;
        } else if let Some(close) = (next + 1..next + 6).find(|it| text.is(*it, ")")) {
            next = close + 1;
        }
    }
    if value.is_none() && matches!(text.low(at), "месяца" | "месяц" | "года" | "недели")
    {
        value = Some(1);
    }
    Some((small(value?)?, next))
}

fn unit(text: &TokenText<'_>, at: usize) -> Option<(DeadlineUnit, usize)> {
    let (qualified, at) = match text.low(at) {
        "business" | "working" | "court" | "рабочих" | "рабочего" | "банковских" => {
            (true, at + 1)
        }
        "calendar" | "consecutive" | "календарных" => (false, at + 1),
        _ => (false, at),
    };
    let unit = match text.low(at) {
        "day" | "days" | "day's" | "дней" | "дня" | "день" if qualified => {
            DeadlineUnit::BusinessDays
        }
        "day" | "days" | "day's" | "дней" | "дня" | "день" | "суток" => {
            DeadlineUnit::Days
        }
        "week" | "weeks" | "недель" | "недели" => DeadlineUnit::Weeks,
        "month" | "months" | "месяца" | "месяцев" | "месяц" => {
            DeadlineUnit::Months
        }
        "year" | "years" | "года" | "лет" => DeadlineUnit::Years,
        _ => return None,
    };
    // `within 30 days' time`
    Some((unit, at + 1))
}
