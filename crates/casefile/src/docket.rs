//! Case numbers: federal, Michigan, appellate and Russian ones.

use crate::entity::{Ground, Kind};
use crate::finding::{Finding, Reading};
use crate::text::Text;

pub(crate) fn find<'t>(reading: &Reading<'_, 't>, out: &mut Vec<Finding<'t>>) {
    let text = reading.text;
    let mut at = 0;
    while at < text.len() {
        let fresh = !text.glued(at)
            || !(at > 0
                && (text.is_number(at - 1) || text.is(at - 1, "-") || text.is(at - 1, ":")));
        let found = if fresh { number(text, at) } else { None };
        let Some((end, ground)) = found.filter(|_| !reading.is_cited(at)) else {
            at += 1;
            continue;
        };
        out.push(Finding::new(Kind::CaseNumber, text, (at, end), ground));
        at = end;
    }
}

fn number(text: &Text<'_>, at: usize) -> Option<(usize, Ground)> {
    if text.is_number(at) {
        return federal(text, at)
            .or_else(|| state(text, at))
            .or_else(|| spaced(text, at))
            .or_else(|| named(text, at))
            .or_else(|| labelled(text, at));
    }
    if text.is_word(at) {
        return russian(text, at).or_else(|| named(text, at)).or_else(|| lettered(text, at));
    }
    None
}

/// `No. GD-21-004512`
fn lettered(text: &Text<'_>, at: usize) -> Option<(usize, Ground)> {
    let back = |steps: usize| at.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    let label = back(1) == "." && back(2) == "no";
    let (_, year) = text.number(at + 2)?;
    let (_, length) = text.number(at + 4)?;
    let shaped = text.at(at).is_some_and(|it| it.shout)
        && text.word(at).len() <= 4
        && matches!(year, 2 | 4)
        && (3..=7).contains(&length)
        && text.is(at + 1, "-")
        && text.is(at + 3, "-");
    (label && shaped && tight(text, at + 1, at + 5)).then_some((at + 5, Ground::Form))
}

/// `No. 2021 L 004512`
fn spaced(text: &Text<'_>, at: usize) -> Option<(usize, Ground)> {
    let back = |steps: usize| at.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    let label = back(1) == "no" || matches!(back(1), "." | ":") && matches!(back(2), "no" | ".");
    let (_, year) = text.number(at)?;
    let (_, length) = text.number(at + 2)?;
    let letters = text.word(at + 1);
    let shaped = matches!(year, 2 | 4)
        && (1..=3).contains(&letters.len())
        && letters.bytes().all(|it| it.is_ascii_uppercase())
        && (3..=7).contains(&length)
        && text.breaks(at + 1) == 0
        && text.breaks(at + 2) == 0;
    (label && shaped).then_some((at + 3, Ground::Form))
}

/// Whatever figures and letters stand together after `Case No.`, `Index No.` or `Дело №`.
fn named(text: &Text<'_>, at: usize) -> Option<(usize, Ground)> {
    let back = |steps: usize| at.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    let mut steps = 1;
    while steps < 4 && matches!(back(steps), "." | ":" | "#") {
        steps += 1;
    }
    let sign = matches!(back(steps), "no" | "nos" | "number" | "№") || back(steps - 1) == "#";
    let steps = if back(steps - 1) == "#" && steps > 1 { steps - 1 } else { steps };
    let label = matches!(
        back(steps + 1),
        "case" | "index" | "docket" | "cause" | "action" | "file" | "дело" | "дела" | "делу"
    );
    if !(sign && label) || text.breaks(at) > 0 {
        return None;
    }
    let mut end = at;
    let (mut digits, mut last) = (0, at);
    while end < at + 12 && (end == at || text.glued(end)) {
        let word = text.word(end);
        if text.is_number(end) {
            digits += word.len();
            last = end + 1;
        } else if text.is_word(end) && word.chars().count() <= 5 && text.capital(end) {
            last = end + 1;
        } else if !matches!(word, "-" | "/" | ":" | "–") {
            break;
        }
        end += 1;
    }
    (4..=20).contains(&digits).then_some((last, Ground::Label))
}

fn tight(text: &Text<'_>, from: usize, to: usize) -> bool {
    (from..to).all(|it| text.glued(it))
}

/// `2:24-cv-01234-ABC-DEF`, `24-cv-1234`
fn federal(text: &Text<'_>, at: usize) -> Option<(usize, Ground)> {
    let office = text.is(at + 1, ":") && text.word(at).len() <= 2;
    let year = if office { at + 2 } else { at };
    let (_, digits) = text.number(year)?;
    let kind =
        matches!(text.low(year + 2), "cv" | "cr" | "mc" | "md" | "bk" | "ap" | "mj" | "misc");
    let (_, length) = text.number(year + 4)?;
    let shaped = (digits == 2 || digits == 4)
        && text.is(year + 1, "-")
        && kind
        && text.is(year + 3, "-")
        && (3..=6).contains(&length);
    if !shaped || !tight(text, at + 1, year + 5) {
        return None;
    }
    let mut end = year + 5;
    // Judges' initials.
    while text.is(end, "-")
        && text.glued(end)
        && text.glued(end + 1)
        && text.at(end + 1).is_some_and(|it| it.shout)
        && text.word(end + 1).len() <= 12
    {
        end += 2;
    }
    Some((end, Ground::Form))
}

/// `24-123456-NO`
fn state(text: &Text<'_>, at: usize) -> Option<(usize, Ground)> {
    let (_, year) = text.number(at)?;
    let (_, length) = text.number(at + 2)?;
    let shaped = (year == 2 || year == 4)
        && text.is(at + 1, "-")
        && (3..=7).contains(&length)
        && text.is(at + 3, "-")
        && text.at(at + 4).is_some_and(|it| it.shout)
        && text.word(at + 4).len() == 2;
    (shaped && tight(text, at + 1, at + 5)).then_some((at + 5, Ground::Form))
}

/// `No. 367890`, `Docket No. 23-1234`, `Case No. 24-1234`
fn labelled(text: &Text<'_>, at: usize) -> Option<(usize, Ground)> {
    let back = |steps: usize| at.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    let named =
        |word: &str| matches!(word, "case" | "docket" | "appeal" | "file" | "coa" | "court");
    let says = match back(1) {
        "." => back(2) == "no" || back(2) == "nos",
        "no" | "nos" => true,
        ":" => (back(2) == "." && back(3) == "no") || back(2) == "no",
        "#" => named(back(2)),
        _ => false,
    };
    if !says {
        return None;
    }
    let before_label = (2..=5).map(back).find(|it| !matches!(*it, "." | ":" | "no" | "nos"));
    let known = before_label.is_some_and(named);
    let label_at =
        (1..=4).find(|it| matches!(back(*it), "no" | "nos")).and_then(|it| at.checked_sub(it));
    let line = label_at.is_some_and(|it| {
        let versus = it > 0 && matches!(text.low(it - 1), "v" | "vs");
        it == 0 || versus || text.breaks(it) > 0 || text.at(it).is_some_and(|token| token.aside)
    });
    let (_, digits) = text.number(at)?;
    if text.is(at + 1, "-") && text.glued(at + 1) && text.glued(at + 2) {
        let (_, length) = text.number(at + 2)?;
        let shaped = (digits == 2 || digits == 4) && (2..=6).contains(&length);
        return (shaped && (known || line)).then_some((at + 3, Ground::Label));
    }
    (digits == 6 && (known || line)).then_some((at + 1, Ground::Label))
}

/// `А40-12345/2024`, with a Latin A as well, and `№ 2-1234/2023`
fn russian(text: &Text<'_>, at: usize) -> Option<(usize, Ground)> {
    let letter = matches!(text.low(at), "а" | "a") && text.capital(at);
    let from = if letter { at + 1 } else { return None };
    let (_, region) = text.number(from)?;
    let (_, length) = text.number(from + 2)?;
    let (_, year) = text.number(from + 4)?;
    let shaped = region <= 3
        && text.is(from + 1, "-")
        && (1..=7).contains(&length)
        && text.is(from + 3, "/")
        && (year == 4 || year == 2);
    (shaped && tight(text, at + 1, from + 5)).then_some((from + 5, Ground::Form))
}

/// The number without the initials of its judges, all letters small and Latin.
pub(crate) fn key(name: &str) -> String {
    let lower = name.to_lowercase().replace('а', "a");
    let mut parts: Vec<&str> = lower.split('-').collect();
    let federal =
        parts.get(1).is_some_and(|it| it.len() >= 2 && it.chars().all(char::is_alphabetic));
    if federal {
        parts.truncate(3);
    }
    parts.join("-")
}
