//! Reads the text after a citation: pin cites, the court and the date in brackets, parentheticals.

use text::months;

use crate::citation::Span;
use crate::table;
use crate::text::ScanText;

/// The longest brackets that are read for a court and a date, and for a parenthetical, in bytes.
const DATED_MAX: usize = 160;
const EXPLAINED_MAX: usize = 2_000;
/// The most pages of one pin cite.
const PINS_MAX: usize = 24;

/// The pin cite at `i`, with the words before its first page: `, at 31-32, n. 6`.
pub(crate) fn pin(text: &ScanText<'_>, i: usize) -> Option<Span> {
    let mut at = i;
    if text.at(at) == b',' {
        at += 1;
    }
    at = text.skip(at);
    let start = at;
    if text.has(at, "at") && text.blank(at + 2) > 0 {
        at = text.skip(at + 2);
    }
    pages(text, start, at)
}

/// The list of pages from `at` on; it must end where a sentence, a bracket or a clause may end.
pub(crate) fn pages(text: &ScanText<'_>, start: usize, at: usize) -> Option<Span> {
    let (mut at, mut good) = (at, None);
    for _ in 0..PINS_MAX {
        let Some(end) = one(text, at) else { break };
        let note = text.skip(end);
        let end = match labelled(text, note).filter(|it| *it > note) {
            Some(label) => number(text, text.skip(label)).unwrap_or(end),
            None => end,
        };
        if closes(text, end) {
            good = Some(Span::new(start, end));
        }
        if text.at(end) != b',' {
            break;
        }
        at = text.skip(end + 1);
        if text.has(at, "at") && text.blank(at + 2) > 0 {
            at = text.skip(at + 2);
        }
    }
    good
}

fn closes(text: &ScanText<'_>, end: usize) -> bool {
    match text.at(end) {
        b',' | b'.' | b';' | b')' | b']' | b'\\' | b'(' | b'[' | b':' => true,
        _ if end >= text.len() => true,
        // Quotation marks and dashes.
        0xe2 => text.at(end + 1) == 0x80,
        b'"' | b'\'' => true,
        _ => {
            let next = text.skip(end);
            next > end && (matches!(text.at(next), b'(' | b'[') || next >= text.len())
        }
    }
}

fn one(text: &ScanText<'_>, at: usize) -> Option<usize> {
    let section = text.has(at, "\u{a7}");
    let at = labelled(text, at).map_or(at, |it| text.skip(it));
    let mut end = number(text, at)?;
    for _ in 0..6 {
        let more = |from: usize| {
            (0..8).take_while(|it| text.at(from + it).is_ascii_alphanumeric()).count()
        };
        let joined = usize::from(matches!(text.at(end), b'.' | b'-' | b':'));
        if !section || more(end + joined) == 0 {
            break;
        }
        end += joined + more(end + joined);
    }
    Some(end)
}

/// The position after a label such as `n.`, `p.`, `*`, `§` or `¶`.
fn labelled(text: &ScanText<'_>, at: usize) -> Option<usize> {
    let from = if text.at(at) == b'&' { text.skip(at + 1) } else { at };
    match text.at(from) {
        b'n' | b'f' | b'p' => {
            const WORDS: [&str; 12] =
                ["note", "nn.", "nn", "n.", "n", "fn.", "fn", "f.", "pg.", "pp.", "p.", "page"];
            let word = WORDS.into_iter().find(|it| text.has(from, it))?;
            let end = from + word.len();
            (word.ends_with('.') || !text.at(end).is_ascii_alphabetic()).then_some(end)
        }
        b'*' => Some(from + (1..4).take_while(|it| text.at(from + it) == b'*').count()),
        0xc2 => {
            let sign = |at| text.has(at, "\u{b6}") || text.has(at, "\u{a7}");
            let first = sign(from).then_some(from + 2)?;
            Some(if sign(first) { first + 2 } else { first })
        }
        _ => None,
    }
}

/// `12`, `*12`, `12-13`, `44:3-9`.
fn number(text: &ScanText<'_>, at: usize) -> Option<usize> {
    let at = if text.at(at) == b'*' { at + 1 } else { at };
    let mut end = text.digits(at, 9)?;
    if text.at(end) == b':'
        && let Some(line) = text.digits(end + 1, 6)
    {
        end = line;
    }
    let dash = text.dash(end);
    if dash > 0 {
        let from = end + dash;
        let from = if text.at(from) == b'*' { from + 1 } else { from };
        if let Some(last) = text.digits(from, 9) {
            end = last;
            if text.at(end) == b':'
                && let Some(line) = text.digits(end + 1, 6)
            {
                end = line;
            }
        }
    }
    Some(end)
}

/// The court and the date in brackets: `(6th Cir. 1997)`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DateParenthetical {
    pub(crate) end: usize,
    pub(crate) court: Option<&'static str>,
    pub(crate) date: Option<Span>,
    pub(crate) year: u16,
    /// The words before the date.
    pub(crate) named: Option<Span>,
}

/// Reads the brackets with a year that open at `i`.
pub(crate) fn dated(text: &ScanText<'_>, i: usize) -> Option<DateParenthetical> {
    if !matches!(text.at(i), b'(' | b'[') {
        return None;
    }
    let close = text.closing(i + 1, DATED_MAX)?;
    let mut found = within(text, text.skip(i + 1), text.skip_back(close, i + 1))?;
    found.end = close + 1;
    Some(found)
}

/// A court, perhaps a month and a day, and a year, between two places.
fn within(text: &ScanText<'_>, start: usize, end: usize) -> Option<DateParenthetical> {
    // A range such as 1997-98 counts as its first year.
    let dash = end.checked_sub(3).filter(|it| {
        *it >= start + 4 && text.at(*it) == b'-' && text.digits(it + 1, 2) == Some(end)
    });
    let last = dash.unwrap_or(end);
    let from = last.checked_sub(4).filter(|it| *it >= start)?;
    if text.digits(from, 4)? != last || text.before(from).is_ascii_alphanumeric() {
        return None;
    }
    let year: u16 = text.slice(from, last).parse().ok().filter(|it| (1600..2100).contains(it))?;
    let mut named = text.skip_back(from, start);
    if text.before(named) == b',' && named > start {
        named = text.skip_back(named - 1, start);
    }
    let mut date = None;
    // The day, if a month stands before it, or the month alone.
    let mut day = named;
    while day > start && named - day < 2 && text.before(day).is_ascii_digit() {
        day -= 1;
    }
    let month_end = text.skip_back(day, start);
    if let Some(month) = month(text, month_end, start) {
        date = Some(Span::new(month, last));
        named = text.skip_back(month, start);
    }
    let mut name_end = named;
    if name_end > start && text.before(name_end) == b',' {
        name_end -= 1;
    }
    let named = (name_end > start).then_some(Span::new(start, name_end));
    // A number that stands alone is a volume, and the year a page.
    let volume = text.digits(start, 5).is_some_and(|it| text.blank(it) > 0);
    if named.is_some() && volume {
        return None;
    }
    let court = named.and_then(|it| table::court(text.slice(it.start, it.end)));
    Some(DateParenthetical { end, court, date, year, named })
}

/// Where the month begins that ends there.
fn month(text: &ScanText<'_>, end: usize, floor: usize) -> Option<usize> {
    let mut start = end;
    while start > floor && end - start < 10 && !matches!(text.before(start), b' ' | b'\n' | b'(') {
        start -= 1;
    }
    let word = text.slice(start, end);
    let plain = word.trim_end_matches('.');
    // The first letter decides nearly every call: courts rarely begin with that of a month.
    let may_be = plain.starts_with(['J', 'F', 'M', 'A', 'S', 'O', 'N', 'D']);
    (may_be && months::month(plain).is_some()).then_some(start)
}

/// Reads the brackets with a year that end at `end`, before a citation, as California writes it.
pub(crate) fn dated_before(
    text: &ScanText<'_>,
    end: usize,
    floor: usize,
) -> Option<(usize, DateParenthetical)> {
    if end == 0 || text.before(end) != b')' {
        return None;
    }
    let low = floor.max(end.saturating_sub(80));
    let open = (low..end - 1).rev().find(|it| matches!(text.at(*it), b'(' | b')'))?;
    if text.at(open) != b'(' {
        return None;
    }
    let found = within(text, text.skip(open + 1), text.skip_back(end - 1, open + 1))?;
    Some((open, found))
}

/// The parenthetical after a citation, without its brackets, and the position after it.
pub(crate) fn explained(text: &ScanText<'_>, i: usize) -> Option<(Span, usize)> {
    let open = text.skip(i);
    if text.at(open) != b'(' || open - i > 2 {
        return None;
    }
    let close = text.closing(open + 1, EXPLAINED_MAX)?;
    let words = text.slice(open + 1, close).contains(char::is_alphabetic);
    (words && text.at(close) == b')').then_some((Span::new(open + 1, close), close + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(after: &str, expected: Option<&str>) {
        let text = ScanText::new(after);
        let found = pin(&text, 0).map(|it| text.slice(it.start, it.end));
        assert_eq!(found, expected, "{after}");
    }

    #[test]
    fn pins_end_where_a_clause_may_end() {
        check(", 61-62. Next", Some("61-62"));
        check(", at 71–72, and on", Some("at 71–72"));
        check(" at 14-15, ¶¶ 6-8. So", Some("at 14-15, ¶¶ 6-8"));
        check(", 88 n.2 (8th Cir. 2001)", Some("88 n.2"));
        check(", at *4.", Some("at *4"));
        check(", 99 S.Ct. 404", None);
        check(", 27, 99 S.Ct. 404", Some("27"));
        check(" 44:3-9.", Some("44:3-9"));
        check(", n. 8, the", Some("n. 8"));
        check(", § 287.060. No", Some("§ 287.060"));
        check(" nothing", None);
    }

    #[test]
    fn brackets_hold_a_court_and_a_date() {
        for (brackets, court, year, date) in [
            ("(8th Cir. 1969)", Some("ca8"), 1969, None),
            ("[D Utah 2003]", Some("utd"), 2003, None),
            ("(Ohio Feb. 7, 2011)", Some("ohio"), 2011, Some("Feb. 7, 2011")),
            ("(1997-98)", None, 1997, None),
            ("( 2d Cir. 1977)", Some("ca2"), 1977, None),
        ] {
            let text = ScanText::new(brackets);
            let found = dated(&text, 0).unwrap();
            let day = found.date.map(|it| text.slice(it.start, it.end));
            assert_eq!((found.court, found.year, day), (court, year, date), "{brackets}");
        }
        for brackets in ["(discussing abc)", "(", "(19)", "(1981", "(12345)", "(5000)"] {
            assert!(dated(&ScanText::new(brackets), 0).is_none(), "{brackets}");
        }
    }
}
