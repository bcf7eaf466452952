//! Dates that are the last day for something: `no later than October 15, 2024`, «не позднее
//! 05.04.2024», a row of a schedule. A day by which something had happened is none.

use crate::entity::Ground;
use crate::text::TokenText;

/// Most tokens between a date and the words that make it a last day.
const BACK_TOKENS: usize = 16;

/// How surely the words around a date make it the last day for something; `first` is the first
/// token of its sentence, `end` the token after the date.
pub(crate) fn due_ground(
    text: &TokenText<'_>,
    first: usize,
    date: usize,
    end: usize,
) -> Option<Ground> {
    let key = past_fillers(text, date);
    let back = |steps: usize| key.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    let near = |most: usize, stem: &str| {
        let ends = |it: &usize| {
            back(*it) == ";" || back(*it) == "." && !text.glued((key + 1).saturating_sub(*it))
        };
        (2..=most).take_while(|it| !ends(it)).any(|it| {
            let word = back(it);
            if stem.is_ascii() { word == stem } else { word.starts_with(stem) }
        })
    };
    let is_employment = || (2..=16).any(|it| back(it) == "employment");
    let sure = match back(1) {
        "позднее" | "позже" | "due" => true,
        "than" => matches!(back(2), "later"),
        "before" => back(2) == "or" && back(3) == "on",
        "by" => return by(text, first, key, end),
        "until" | "through" => {
            matches!(
                back(2),
                "have" | "has" | "had" | "extended" | "open" | "continue" | "continues" | "time"
            ) || near(10, "extended")
        }
        "to" => matches!(back(2), "extended" | "extension" | "agree") || near(8, "extended"),
        "истек" | "истёк" | "истекает" | "истекал" => near(6, "срок"),
        // The end of an employment is not a deadline.
        "on" | "is" if is_employment() => false,
        "is" => near(9, "deadline") || near(9, "cutoff") || near(4, "due") || back(2) == "due",
        "on" => closes(back(2)) || (2..=5).any(|it| back(it) == "expires") || near(4, "due"),
        "—" | "–" => near(6, "срок"),
        "beginning" | "commencing" | "starting" => {
            ["payments", "payment", "pay", "payable", "installments", "instalments"]
                .iter()
                .any(|it| near(14, it))
        }
        ":" => matches!(back(2), "deadline" | "due" | "cutoff" | "cut-off"),
        "," => near(4, "due"),
        "до" => until(text, first, key),
        "по" => near(6, "срок"),
        word => closes(word) && word != "end",
    };
    if sure {
        return Some(Ground::Label);
    }
    row(text, date).then_some(Ground::Layout)
}

fn closes(word: &str) -> bool {
    matches!(
        word,
        "closes"
            | "close"
            | "expires"
            | "expire"
            | "ends"
            | "end"
            | "terminates"
            | "matures"
            | "terminate"
            | "lapses"
            | "deadline"
            | "cutoff"
            | "cut-off"
    )
}

/// The token after the words that decide: past `5:00 p.m. on Friday,` before the date.
fn past_fillers(text: &TokenText<'_>, date: usize) -> usize {
    let mut key = date;
    while key > 0 && date - key < BACK_TOKENS {
        let word = text.low(key - 1);
        let weekday = word.ends_with("day") && word.len() > 5
            || matches!(
                word,
                "понедельник"
                    | "вторник"
                    | "среда"
                    | "среду"
                    | "четверг"
                    | "пятница"
                    | "пятницу"
            );
        let comma = matches!(word, "," | "(" | ")") && date - key <= 14 && key > 1 && {
            let before = text.low(key - 2);
            before.ends_with("day") && before.len() > 5 || matches!(before, "m" | "." | "time")
        };
        // `by 5:00 p.m. Eastern Time on`
        let hour = text.is_number(key - 1) && text.word(key - 1).len() <= 2
            || word == ":" && text.glued(key - 1) && text.glued(key)
            || matches!(word, "p" | "a" | "m" | "noon" | "midnight" | "o'clock" | "pm" | "am")
            || word == "." && key > 1 && matches!(text.low(key - 2), "m" | "p" | "a")
            || matches!(word, "eastern" | "central" | "pacific" | "mountain" | "time" | "est")
            || matches!(word, "edt" | "cst" | "cdt" | "pst" | "pdt" | "standard");
        let timed = |from: usize| {
            (from.saturating_sub(8)..from).any(|it| {
                matches!(text.low(it), "m" | "noon" | "midnight" | "business" | "pm" | "am")
                    || matches!(text.low(it), "day")
            })
        };
        let on = word == "on" && timed(key - 1) && last_is_time(text, key - 1);
        let closing = word == "business" && key > 2 && text.run(key - 3, &["close", "of"]);
        let the = word == "the" && text.is_number(key)
            || word == "this" && text.low(key).ends_with("day");
        if closing {
            key -= 3;
        } else if weekday || comma || on || the || hour && date != key {
            key -= 1;
        } else {
            break;
        }
    }
    // `the close of business`
    key - usize::from(key > 0 && text.is(key - 1, "the") && key < date && !text.is_number(key))
}

/// Whether the words before `on` end a time of the day or a weekday.
fn last_is_time(text: &TokenText<'_>, at: usize) -> bool {
    let Some(last) = at.checked_sub(1) else { return false };
    let word = text.low(last);
    matches!(word, "." | ")" | "noon" | "midnight" | "business" | "pm" | "am" | "time" | "day")
}

/// `shall respond by May 1`, `Please reply by May 1`, but not `By May 1 he had paid`.
fn by(text: &TokenText<'_>, first: usize, key: usize, end: usize) -> Option<Ground> {
    let is_duty = |it: usize| {
        matches!(
            text.low(it),
            "shall"
                | "must"
                | "should"
                | "will"
                | "may"
                | "please"
                | "required"
                | "require"
                | "requires"
                | "directed"
                | "ordered"
                | "due"
                | "deadline"
                | "need"
                | "needs"
                | "unless"
                | "ask"
                | "request"
                | "demand"
                | "agrees"
                | "agreed"
                | "to"
                | "can"
                | "would"
                | "kindly"
                | "let"
                | "wants"
                | "want"
                | "expects"
                | "expect"
        )
    };
    let sentence = (first..key).chain(end..end + 12);
    let sentence = sentence.take_while(|it| *it < key || text.breaks(*it) < 2);
    sentence.clone().find(|it| is_duty(*it))?;
    let told = sentence.clone().any(|it| is_duty(it) && !text.is(it, "to"));
    let near = first.max(key.saturating_sub(12))..key;
    let had = near.into_iter().any(|it| matches!(text.low(it), "had" | "was" | "were"));
    let strong = told && !had;
    Some(if strong { Ground::Label } else { Ground::Shape })
}

/// «представить до 5 мая», «в срок до», but not «работал до».
fn until(text: &TokenText<'_>, first: usize, key: usize) -> bool {
    let from = first.max(key.saturating_sub(24));
    let ruled = |it: usize| {
        let word = text.low(it);
        ["обяз", "срок", "необходим", "долж", "следует", "прос", "предл", "действ", "отлож"]
            .iter()
            .any(|stem| word.starts_with(stem))
            || text.is_word(it) && (word.ends_with("ть") || word.ends_with("ться"))
    };
    // `с 1 марта до 5 апреля` is a time.
    let opened = key > 2 && (key.saturating_sub(6)..key - 1).any(|it| text.is(it, "с"));
    let worked = (from..key)
        .any(|it| ["работал", "прожив"].iter().any(|stem| text.low(it).starts_with(stem)));
    !opened && !worked && (from..key).any(ruled)
}

/// A row of a schedule: `Dispositive motions due      October 15, 2024`.
fn row(text: &TokenText<'_>, date: usize) -> bool {
    let line = text.line_start(date);
    let short = date > line && date - line <= 14;
    let gap = text.at(date).is_some_and(|it| it.after_gap)
        || date > line && matches!(text.low(date - 1), "." | ":" | "|" | "_");
    let named = |it: usize| matches!(text.low(it), "deadline" | "due" | "cutoff" | "cut-off");
    short && gap && (line..date).any(named)
}
