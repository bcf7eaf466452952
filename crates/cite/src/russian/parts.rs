//! Words, numbers, dates and issuers in Russian citations.

use text::months;

use crate::citation::Span;
use crate::text::ScanText;

/// Longest name of who issued an act.
const ISSUER_MAX: usize = 240;

/// The end of the Cyrillic word at `i`, hyphens within it included.
pub(super) fn word(text: &ScanText<'_>, i: usize) -> usize {
    let mut at = i;
    while matches!(text.at(at), 0xd0..=0xd3) && (text.at(at + 1) & 0xc0) == 0x80 {
        at += 2;
        if text.at(at) == b'-' && matches!(text.at(at + 1), 0xd0..=0xd3) {
            at += 1;
        }
    }
    at
}

/// What follows the stem in a word that begins with it, large or small. Letters are two bytes.
pub(super) fn same_beginning<'w>(word: &'w str, stem: &str) -> Option<&'w str> {
    let (first, rest) = word.split_at_checked(2)?;
    let (small, tail) = stem.split_at_checked(2)?;
    if first != small && lower(first.as_bytes()).is_none_or(|it| it != small.as_bytes()) {
        return None;
    }
    rest.strip_prefix(tail)
}

/// The small letter of a large one.
fn lower(letter: &[u8]) -> Option<[u8; 2]> {
    match letter {
        [0xd0, it @ 0x90..=0x9f] => Some([0xd0, it + 0x20]),
        [0xd0, it @ 0xa0..=0xaf] => Some([0xd1, it - 0x20]),
        _ => None,
    }
}

/// After the stop and the blank of `ст.` or `ст. ст.`.
pub(super) fn label_end(text: &ScanText<'_>, end: usize, twice: bool) -> usize {
    let mut at = text.skip(end + usize::from(text.at(end) == b'.'));
    if twice && text.has(at, "ст.") {
        at = text.skip(at + "ст.".len());
    }
    at
}

/// `15`, `61.2`, `15, 393 и 1102`, `15–17`, `«а»`.
pub(super) fn numbers(text: &ScanText<'_>, start: usize) -> Option<Span> {
    let mut end = one(text, start)?;
    for _ in 0..16 {
        let mut next = end;
        let dash = text.dash(next);
        if dash > 0 {
            next += dash;
        } else if text.at(next) == b',' {
            next = text.skip(next + 1);
        } else {
            let and = text.skip(next);
            if !text.has(and, "и ") {
                break;
            }
            next = text.skip(and + "и ".len());
        }
        match one(text, next) {
            Some(it) => end = it,
            None => break,
        }
    }
    Some(Span::new(start, end))
}

fn one(text: &ScanText<'_>, at: usize) -> Option<usize> {
    for (open, close) in [("«", "»"), ("\"", "\""), ("'", "'")] {
        if text.has(at, open) {
            let letter = at + open.len();
            let end = letter + if matches!(text.at(letter), 0xd0 | 0xd1) { 2 } else { 1 };
            return text.has(end, close).then_some(end + close.len());
        }
    }
    let mut end = text.digits(at, 5)?;
    for _ in 0..4 {
        let joined = matches!(text.at(end), b'.' | b'-') && text.at(end + 1).is_ascii_digit();
        if !joined {
            break;
        }
        end = text.digits(end + 1, 5)?;
    }
    (text.ends(end) && word(text, end) == end).then_some(end)
}

/// `№ 127-ФЗ`, `N 25`: the number alone.
pub(super) fn numbered(text: &ScanText<'_>, at: usize) -> Option<Span> {
    let sign = ["№", "N", "No.", "No"].into_iter().find(|it| text.has(at, it))?;
    let start = text.skip(at + sign.len());
    let mut end = start;
    let mut digits = false;
    while end - start < 48 {
        match text.at(end) {
            it if it.is_ascii_alphanumeric() => {
                digits |= it.is_ascii_digit();
                end += 1;
            }
            0xd0 | 0xd1 => end += 2,
            b'-' | b'/' | b'.' | b'(' | b'_' if end > start => {
                let next = text.at(end + 1);
                if !next.is_ascii_alphanumeric() && !matches!(next, 0xd0 | 0xd1) {
                    break;
                }
                end += 1;
            }
            b')' if text.slice(start, end).contains('(') => end += 1,
            _ => break,
        }
    }
    digits.then_some(Span::new(start, end))
}

/// `А40-12345/2020`, with a Russian or a Latin letter.
pub(super) fn arbitration(text: &ScanText<'_>, i: usize) -> Option<Span> {
    let letter = ["А", "A"].into_iter().find(|it| text.has(i, it))?;
    let start = i + letter.len();
    let region = text.digits(start, 2)?;
    let number = (text.at(region) == b'-').then(|| text.digits(region + 1, 7))??;
    let year = (text.at(number) == b'/').then(|| text.digits(number + 1, 4))??;
    let mut end = year;
    // A dispute within a case: А40-1/2020-12-34.
    while text.at(end) == b'-'
        && let Some(more) = text.digits(end + 1, 6)
    {
        end = more;
        if end - start > 40 {
            break;
        }
    }
    Some(Span::new(i, end))
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RussianDate {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) year: u16,
}

/// `от 26.10.2002`, `от 26 октября 2002 г.`: the day alone.
pub(super) fn dated(text: &ScanText<'_>, at: usize) -> Option<RussianDate> {
    if !text.has(at, "от") {
        return None;
    }
    day(text, text.gap(at + "от".len())?)
}

fn day(text: &ScanText<'_>, start: usize) -> Option<RussianDate> {
    let first = text.digits(start, 2)?;
    let year_at = if text.at(first) == b'.' {
        let month = text.digits(first + 1, 2)?;
        (text.at(month) == b'.').then_some(month + 1)?
    } else {
        let month = text.gap(first)?;
        let end = word(text, month);
        months::month(text.slice(month, end))?;
        text.gap(end)?
    };
    let end = text.digits(year_at, 4).filter(|it| *it == year_at + 4)?;
    let year = text.slice(year_at, end).parse().ok()?;
    let after = text.skip(end);
    let last = ["года", "г."].into_iter().find(|it| text.has(after, it));
    Some(RussianDate { start, end: last.map_or(end, |it| after + it.len()), year })
}

/// Who issued the act whose first word ends at `end`: where the name ends, and the day.
pub(super) fn issuer(text: &ScanText<'_>, end: usize) -> Option<(usize, RussianDate)> {
    let mut at = end;
    for _ in 0..16 {
        let next = text.gap(at)?;
        if let Some(day) = dated(text, next) {
            return Some((at, day));
        }
        let mut stop = word(text, next);
        if stop == next {
            // Numbers of districts and small marks.
            while stop - next < 12 && text.at(stop).is_ascii_alphanumeric() {
                stop += 1;
            }
        }
        if stop == next || stop - end > ISSUER_MAX {
            return None;
        }
        at = stop;
    }
    None
}

/// `«О несостоятельности (банкротстве)»`, with its marks.
pub(super) fn quoted(text: &ScanText<'_>, at: usize) -> Option<Span> {
    let (open, close) = [("«", "»"), ("\"", "\"")].into_iter().find(|it| text.has(at, it.0))?;
    let from = at + open.len();
    let mut end = from;
    while end - from < 400 && end < text.len() {
        if text.has(end, close) {
            let title = text.slice(from, end);
            let titled = title.starts_with("О ") || title.starts_with("Об ") || title.contains(' ');
            return titled.then_some(Span::new(at, end + close.len()));
        }
        end += 1;
    }
    None
}

/// `с. 12`
pub(super) fn page(text: &ScanText<'_>, at: usize) -> Option<(usize, usize)> {
    let sign = ["с.", "С."].into_iter().find(|it| text.has(at, it))?;
    let number = text.skip(at + sign.len());
    let end = text.digits(number, 6)?;
    Some((at, end))
}

/// The court that the name of an act names.
pub(super) fn court(named: &str) -> Option<&'static str> {
    const COURTS: [(&str, &str); 6] = [
        ("Высшего Арбитражного", "ВАС РФ"),
        ("ВАС", "ВАС РФ"),
        ("Конституционн", "КС РФ"),
        ("КС ", "КС РФ"),
        ("Верховн", "ВС РФ"),
        ("ВС ", "ВС РФ"),
    ];
    COURTS.into_iter().find(|it| named.contains(it.0)).map(|it| it.1)
}
