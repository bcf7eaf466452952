//! Case numbers: federal, Michigan, appellate and Russian ones.

use crate::entity::{EntityKind, Ground};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::text::TokenText;

/// Most tokens at the head of a paper in which a number without a label is its own.
const HEAD_TOKENS: usize = 160;

pub(crate) fn find<'t>(reading: &PieceContext<'_, 't>, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    let mut at = 0;
    while at < text.len() {
        let starts_word = !text.glued(at)
            || !(at > 0
                && (text.is_number(at - 1) || text.is(at - 1, "-") || text.is(at - 1, ":")));
        let found = if starts_word { number(text, at) } else { None };
        let Some((end, ground)) = found.filter(|_| !reading.is_cited(at)) else {
            at += 1;
            continue;
        };
        let it = EntityMatch::new(EntityKind::CaseNumber, text, (at, end), ground);
        let apart = text.slice(at, end).contains(" – ") || text.slice(at, end).contains(" - ");
        out.push(if apart {
            let name = text.slice(at, end).replace(" – ", "-").replace(" - ", "-");
            it.with_name(name)
        } else {
            it
        });
        at = end;
    }
}

fn number(text: &TokenText<'_>, at: usize) -> Option<(usize, Ground)> {
    if text.is_number(at) {
        return federal(text, at)
            .or_else(|| divided(text, at))
            .or_else(|| state(text, at))
            .or_else(|| spaced(text, at))
            .or_else(|| formed(text, at))
            .or_else(|| apart(text, at))
            .or_else(|| named(text, at))
            .or_else(|| labelled(text, at))
            .or_else(|| bare(text, at));
    }
    // A case number that begins with letters begins with a capital.
    if text.is_word(at) && text.capital(at) {
        return russian(text, at)
            .or_else(|| formed(text, at))
            .or_else(|| named(text, at))
            .or_else(|| lettered(text, at));
    }
    None
}

/// `Дело № 1 – 151/2026`, with blanks around its dash.
fn apart(text: &TokenText<'_>, at: usize) -> Option<(usize, Ground)> {
    let sign = sign_before(text, at).filter(|it| label_before(text, *it))?;
    let shaped = sign < at
        && matches!(text.low(at + 1), "-" | "–" | "—")
        && !text.glued(at + 2)
        && text.is_number(at + 2)
        && text.is(at + 3, "/")
        && text.number(at + 4).is_some_and(|(_, it)| it == 4 || it == 2)
        && (at + 1..at + 5).all(|it| text.breaks(it) == 0);
    shaped.then_some((at + 5, Ground::Label))
}

/// `17-2543` in a line of its own at the head of an opinion.
fn bare(text: &TokenText<'_>, at: usize) -> Option<(usize, Ground)> {
    let (_, year) = text.number(at)?;
    let (_, serial) = text.number(at + 2)?;
    let dashed = matches!(text.low(at + 1), "-" | "–") && tight(text, at + 1, at + 3);
    let opens = at == 0 || text.breaks(at) > 0;
    let suffix =
        text.is(at + 3, "-") && matches!(text.low(at + 4), "cv" | "cr" | "ag" | "bk" | "pr");
    let end = if suffix { at + 5 } else { at + 3 };
    let alone = opens && text.breaks(end) > 0;
    let head = at < HEAD_TOKENS;
    (head && dashed && year == 2 && (3..=5).contains(&serial) && alone)
        .then_some((end, Ground::Layout))
}

/// `23 Civ. 7716 (RLO)`, `19 Cr. 833 (SHS)`, `21 CR 618-2`, `22 C 4401`: how some courts write the
/// kind of the case, with the judge's initials or the defendant's place after it.
fn divided(text: &TokenText<'_>, at: usize) -> Option<(usize, Ground)> {
    let (_, year) = text.number(at)?;
    let kind = matches!(text.word(at + 1), "Civ" | "Cr" | "Crim" | "CIV" | "CV" | "CR" | "Misc");
    let serial = at + 2 + usize::from(text.is(at + 2, "."));
    let (_, length) = text.number(serial)?;
    let line = (at + 1..=serial).all(|it| text.breaks(it) == 0);
    if !(matches!(year, 2 | 4) && kind && line && (2..=6).contains(&length)) {
        return None;
    }
    let end = past_initials(text, serial + 1);
    let labelled = end > serial + 1 || text.is(at + 2, ".") || sign_before(text, at).is_some();
    (labelled || opens(text, at)).then_some((end, Ground::Form))
}

/// Past `-2`, `(RLO)` and `(RLO) (KHP)`.
fn past_initials(text: &TokenText<'_>, at: usize) -> usize {
    let mut end = at;
    while text.is(end, "-")
        && text.glued(end)
        && text.glued(end + 1)
        && (text.is_number(end + 1) || text.at(end + 1).is_some_and(|it| it.all_caps))
    {
        end += 2;
    }
    for _ in 0..2 {
        let initials = text.is(end, "(")
            && text.breaks(end) == 0
            && text.at(end + 1).is_some_and(|it| it.all_caps)
            && (2..=4).contains(&text.word(end + 1).len())
            && text.is(end + 2, ")");
        end += if initials { 3 } else { 0 };
    }
    end
}

/// `No. GD-21-004512`
fn lettered(text: &TokenText<'_>, at: usize) -> Option<(usize, Ground)> {
    let back = |steps: usize| at.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    let label = back(1) == "." && back(2) == "no";
    let (_, year) = text.number(at + 2)?;
    let (_, length) = text.number(at + 4)?;
    let shaped = text.at(at).is_some_and(|it| it.all_caps)
        && text.word(at).len() <= 4
        && matches!(year, 2 | 4)
        && (3..=7).contains(&length)
        && text.is(at + 1, "-")
        && text.is(at + 3, "-");
    (label && shaped && tight(text, at + 1, at + 5)).then_some((at + 5, Ground::Form))
}

/// `No. 2021 L 004512`
fn spaced(text: &TokenText<'_>, at: usize) -> Option<(usize, Ground)> {
    let back = |steps: usize| at.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    let label = back(1) == "no" || matches!(back(1), "." | ":") && matches!(back(2), "no" | ".");
    let (_, year) = text.number(at)?;
    let (_, length) = text.number(at + 2)?;
    let letters = text.word(at + 1);
    // `No. 1188 MDA 2021` has its year last.
    let shaped = (matches!(year, 2 | 4) || (year <= 4 && length == 4))
        && (1..=3).contains(&letters.len())
        && letters.bytes().all(|it| it.is_ascii_uppercase())
        && (3..=7).contains(&length)
        && text.breaks(at + 1) == 0
        && text.breaks(at + 2) == 0;
    (label && shaped).then_some((at + 3, Ground::Form))
}

/// Joined figures and letters after `Case No.`, `Civil No.` or `Дело №`, or after a `No.` that
/// opens its line if they look like a case number.
fn named(text: &TokenText<'_>, at: usize) -> Option<(usize, Ground)> {
    if text.breaks(at) > 1 {
        return None;
    }
    let sign = sign_before(text, at)?;
    let labelled = label_before(text, sign);
    let end = run(text, at)?;
    let dashes = (at..end).filter(|it| text.word(*it).contains('-')).count();
    let other = sign.checked_sub(1).is_some_and(|it| {
        matches!(
            text.low(it),
            "policy"
                | "claim"
                | "invoice"
                | "account"
                | "bar"
                | "patent"
                | "serial"
                | "order"
                | "contract"
                | "договор"
                | "счет"
                | "счёт"
        )
    });
    if !labelled && (text.breaks(at) > 0 || other || !(opens(text, sign) || dashes > 2)) {
        return None;
    }
    let digits: usize =
        (at..end).filter(|it| text.is_number(*it)).map(|it| text.word(it).len()).sum();
    let parts = (at..end).filter(|it| text.is_number(*it)).count();
    let letters = (at..end).any(|it| text.is_word(it));
    let plain = parts > 1 || letters;
    let fits =
        if labelled { (4..=24).contains(&digits) } else { plain && (4..=20).contains(&digits) };
    let end = past_initials(text, chambers(text, end));
    fits.then_some((tail(text, end), if labelled { Ground::Label } else { Ground::Layout }))
}

/// The token of `No.`, `Number:`, `№` or `No(s):` that ends before this token.
fn sign_before(text: &TokenText<'_>, at: usize) -> Option<usize> {
    for steps in 1..=6 {
        let sign = at.checked_sub(steps)?;
        match text.low(sign) {
            "no" | "nos" | "number" | "№" | "#" => return Some(sign),
            // `Case 19-CA-288134`
            "case" if steps == 1 && text.capital(sign) => return Some(at),
            "." | ":" | "(" | "s" | ")" => {}
            _ => return None,
        }
    }
    None
}

/// Whether the words before the sign name a case, so that the number is a case number.
fn label_before(text: &TokenText<'_>, sign: usize) -> bool {
    let back = |steps: usize| sign.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    let word = match (back(1), back(2)) {
        // `C.A. No.`, `Super. Ct. No.`
        (".", before) => before,
        (word, _) => word,
    };
    matches!(
        word,
        "case"
            | "index"
            | "docket"
            | "cause"
            | "action"
            | "file"
            | "civil"
            | "criminal"
            | "law"
            | "court"
            | "adversary"
            | "adv"
            | "proc"
            | "материал"
            | "материала"
            | "appeal"
            | "mdl"
            | "ct"
            | "petition"
            | "indictment"
            | "proceeding"
            | "equity"
            | "probate"
            | "дело"
            | "дела"
            | "делу"
            | "деле"
            | "уид"
            | "приказ"
            | "производство"
    ) || word == "a" && (back(2) == "/" || back(3) == ".")
        || word == "claim" && text.is_word(sign + 1)
}

/// Whether a line or a column begins with this token, or the word between the parties stands
/// before it.
fn opens(text: &TokenText<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    let after_gap = |it: usize| text.at(it).is_some_and(|token| token.after_gap);
    let rule = matches!(text.low(before), ")" | "|" | "*" | "§" | ":")
        && !text.glued(at)
        && (after_gap(before) || text.breaks(before) > 0)
        || text.is(before, "(") && text.breaks(before) > 0;
    let versus = matches!(text.low(before), "v" | "vs")
        || text.is(before, ".") && before > 0 && matches!(text.low(before - 1), "v" | "vs");
    text.breaks(at) > 0 || after_gap(at) && !after_gap(before) || rule || versus
}

/// The end of the joined figures, capitals and dashes that begin here.
fn run(text: &TokenText<'_>, at: usize) -> Option<usize> {
    let mut last = None;
    let mut end = at;
    while end < at + 14 && (end == at || text.glued(end)) {
        let word = text.word(end);
        let letters = text.is_word(end)
            && word.chars().count() <= 9
            && word.chars().all(|it| it.is_uppercase() || it == '-')
            || matches!(text.low(end), "cv" | "cr" | "mc" | "bk" | "ap" | "ca") && end > at;
        if text.is_number(end) || letters {
            last = Some(end + 1);
        } else if !matches!(word, "-" | "/" | ":" | "–") {
            break;
        }
        end += 1;
    }
    // `A 208-417-365`
    let letters = text.word(at).len() == 1
        || matches!(text.word(at), "CV" | "CR" | "EDCV" | "SACV" | "LACV" | "SA" | "ED");
    let single = last == Some(at + 1) && text.is_word(at) && letters;
    if single && text.is_number(at + 1) && text.breaks(at + 1) == 0 {
        return run(text, at + 1);
    }
    last
}

/// Past `-btf7`: the judge's small initials and the chapter of a bankruptcy.
fn chambers(text: &TokenText<'_>, end: usize) -> usize {
    let initials = text.is(end, "-")
        && text.glued(end)
        && text.glued(end + 1)
        && text.is_word(end + 1)
        && (2..=4).contains(&text.word(end + 1).len());
    match text.glued(end + 2) && text.is_number(end + 2) {
        _ if !initials => end,
        true => end + 3,
        false => end + 2,
    }
}

/// Past letters that stand apart at the end of a number: `22-2-07741-3 SEA`, `3AN-22-06617 CI`.
fn tail(text: &TokenText<'_>, end: usize) -> usize {
    let word = text.word(end);
    let apart = (2..=3).contains(&word.len())
        && word.bytes().all(|it| it.is_ascii_uppercase())
        && text.breaks(end) == 0
        && text.at(end).map(|it| it.after_gap)
            == end.checked_sub(1).and_then(|it| text.at(it)).map(|it| it.after_gap)
        && !matches!(word, "IN" | "ON" | "AND" | "OF" | "TO" | "BY" | "FOR" | "THE");
    let closes = text.breaks(end + 1) > 0 || text.at(end + 1).is_some_and(|it| it.after_gap);
    if apart && closes { end + 1 } else { end }
}

/// Numbers whose form alone shows that they are case numbers: `IPR2022-00714`, `3AN-22-06617`,
/// `54RS0006-01-2022-003317-08`, `305-ЭС22-11844`, `17АП-4417/2023-ГК`, and a line of its own
/// such as `22 CVS 14418`.
fn formed(text: &TokenText<'_>, at: usize) -> Option<(usize, Ground)> {
    if text.glued(at) {
        return None;
    }
    let end = run(text, at)?;
    let words: Vec<&str> = (at..end).map(|it| text.word(it)).collect();
    let found = match words.as_slice() {
        ["IPR" | "PGR" | "CBM", year, "-", serial] => year.len() == 4 && serial.len() == 5,
        [court, "RS", code, "-", part, "-", year, "-", serial, "-", check] => {
            court.len() == 2
                && code.len() == 4
                && part.len() == 2
                && year.len() == 4
                && serial.len() == 6
                && check.len() <= 2
        }
        [court, "-", "ЭС" | "КГ" | "ЭК" | "КГПР" | "АД", year, "-", serial, ..] => {
            court.len() <= 3 && year.len() == 2 && serial.len() <= 6
        }
        [court, "АП" | "ап", "-", serial, "/", year, ..] => {
            court.len() <= 2 && serial.len() <= 6 && year.len() == 4
        }
        _ => false,
    };
    // `B318842` of a court of appeal stands alone in its column.
    if let [letter, serial] = words.as_slice() {
        let closed = text.breaks(end) > 0
            || text.at(end).is_some_and(|it| it.after_gap) && !text.at(at)?.after_gap;
        let shaped = matches!(*letter, "A" | "B" | "C" | "D" | "E" | "F" | "G" | "H" | "S");
        if shaped && serial.len() == 6 && text.is_number(at + 1) && opens(text, at) && closed {
            return Some((end, Ground::Layout));
        }
    }
    found.then_some((end, Ground::Form)).or_else(|| {
        let serial = text.number(at + 2).is_some_and(|(_, it)| (3..=7).contains(&it));
        let letters = text.word(at + 1);
        let alone = opens(text, at)
            && (text.breaks(at + 3) > 0 || text.at(at + 3).is_some_and(|it| it.after_gap));
        let row = text.number(at).is_some_and(|(_, it)| it == 2 || it == 4)
            && text.breaks(at + 1) == 0
            && text.breaks(at + 2) == 0
            && (2..=4).contains(&letters.len())
            && letters.bytes().all(|it| it.is_ascii_uppercase());
        (row && serial && alone).then_some((at + 3, Ground::Layout))
    })
}

fn tight(text: &TokenText<'_>, from: usize, to: usize) -> bool {
    (from..to).all(|it| text.glued(it))
}

/// `2:24-cv-01234-ABC-DEF`, `24-cv-1234`
fn federal(text: &TokenText<'_>, at: usize) -> Option<(usize, Ground)> {
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
        && text.at(end + 1).is_some_and(|it| it.all_caps)
        && text.word(end + 1).len() <= 12
    {
        end += 2;
    }
    Some((end, Ground::Form))
}

/// `24-123456-NO`
fn state(text: &TokenText<'_>, at: usize) -> Option<(usize, Ground)> {
    let (_, year) = text.number(at)?;
    let (_, length) = text.number(at + 2)?;
    let shaped = (year == 2 || year == 4)
        && text.is(at + 1, "-")
        && (3..=7).contains(&length)
        && text.is(at + 3, "-")
        && text.at(at + 4).is_some_and(|it| it.all_caps)
        && text.word(at + 4).len() == 2;
    (shaped && tight(text, at + 1, at + 5)).then_some((at + 5, Ground::Form))
}

/// `No. 367890`, `Docket No. 23-1234`, `Case No. 24-1234`
fn labelled(text: &TokenText<'_>, at: usize) -> Option<(usize, Ground)> {
    let back = |steps: usize| at.checked_sub(steps).map(|it| text.low(it)).unwrap_or_default();
    let named =
        |word: &str| matches!(word, "case" | "docket" | "appeal" | "file" | "coa" | "court");
    let has_label = match back(1) {
        "." => back(2) == "no" || back(2) == "nos",
        "no" | "nos" => true,
        ":" => (back(2) == "." && back(3) == "no") || back(2) == "no",
        "#" => named(back(2)),
        _ => false,
    };
    if !has_label {
        return None;
    }
    let before_label = (2..=5).map(back).find(|it| !matches!(*it, "." | ":" | "no" | "nos"));
    let known = before_label.is_some_and(named);
    let label_at =
        (1..=4).find(|it| matches!(back(*it), "no" | "nos")).and_then(|it| at.checked_sub(it));
    let line = label_at.is_some_and(|it| {
        let versus = it > 0 && matches!(text.low(it - 1), "v" | "vs");
        versus || opens(text, it)
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
fn russian(text: &TokenText<'_>, at: usize) -> Option<(usize, Ground)> {
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
