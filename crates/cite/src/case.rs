//! Citations by volume, reporter and page: full and short, of cases and of journals.

use crate::citation::{Citation, CitationKind, Span};
use crate::law;
use crate::table::{Candidate, Edition, Group, TABLE};
use crate::text::ScanText;

/// A citation that still lacks its surroundings.
#[derive(Debug)]
pub(crate) struct PartialCitation<'t> {
    pub(crate) cite: Citation<'t>,
    /// What the spelling of its reporter may mean.
    pub(crate) candidates: &'static [Candidate],
    pub(crate) group: Group,
    /// Where the pin cite and the date end, which is where the next name may begin.
    pub(crate) tail: usize,
    /// A blank instead of a volume: it carries a name for the parallel citations after it.
    pub(crate) blank: bool,
}

impl<'t> PartialCitation<'t> {
    pub(crate) fn plain(cite: Citation<'t>) -> Self {
        let tail = cite.span.end;
        Self { cite, candidates: &[], group: Group::Case, tail, blank: false }
    }
}

/// The number before a reporter and how it is joined to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Volume {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The shape that the joint needs, or zero for plain blank.
    joint: u8,
}

impl Volume {
    /// Whether it is two numbers with a hyphen.
    pub(crate) fn is_pair(self) -> bool {
        self.joint == b'd'
    }

    pub(crate) fn is_year(self, text: &ScanText<'_>) -> bool {
        self.end - self.start == 4
            && matches!(text.slice(self.start, self.start + 2), "17" | "18" | "19" | "20")
    }
}

/// A citation that begins with the number at `start`.
pub(crate) fn after_number<'t>(
    text: &ScanText<'t>,
    start: usize,
    hits: &mut Vec<(usize, u32)>,
) -> Option<PartialCitation<'t>> {
    let end = text.digits(start, 5)?;
    let plain = |joint, end| Volume { start, end, joint };
    let (volume, at) = match text.at(end) {
        b'A'..=b'F' if text.blank(end + 1) > 0 => (plain(b'v', end + 1), text.skip(end + 1)),
        b'A'..=b'Z' => (plain(b'k', end), end),
        b'-' if text.at(end + 1).is_ascii_digit() => {
            let mut last = text.digits(end + 1, 6)?;
            if text.at(last) == b'-' {
                last = text.digits(last + 1, 6)?;
            }
            if let Some(found) = louisiana(text, plain(b'w', end), end + 1, hits) {
                return Some(found);
            }
            (plain(b'd', last), text.gap(last)?)
        }
        b'-' => (plain(b'h', end), end + 1),
        b',' => (plain(b',', end), text.gap(end + 1)?),
        _ => {
            let at = text.gap(end)?;
            match text.at(at) {
                b'-' => (plain(b'h', end), at + 1),
                b'0'..=b'9' => return louisiana(text, plain(b'w', end), at, hits),
                _ => (plain(0, end), at),
            }
        }
    };
    if !TABLE.all.begins(text.at(at)) {
        return None;
    }
    TABLE.all.walk(text, at, hits);
    for (key_end, row) in hits.iter().rev().copied() {
        let key = Span::new(at, key_end);
        if let Some(found) = by_candidates(text, Some(volume), key, TABLE.candidates(row)) {
            return Some(found);
        }
    }
    None
}

/// A citation that begins with the name of the publication.
pub(crate) fn opener<'t>(
    text: &ScanText<'t>,
    start: usize,
    hits: &mut Vec<(usize, u32)>,
) -> Option<PartialCitation<'t>> {
    TABLE.openers.walk(text, start, hits);
    for (end, row) in hits.iter().rev().copied() {
        let key = Span::new(start, end);
        if let Some(found) = by_candidates(text, None, key, TABLE.candidates(row)) {
            return Some(found);
        }
    }
    None
}

fn by_candidates<'t>(
    text: &ScanText<'t>,
    volume: Option<Volume>,
    key: Span,
    candidates: &'static [Candidate],
) -> Option<PartialCitation<'t>> {
    let mut best: Option<PartialCitation<'t>> = None;
    for exact in [true, false] {
        for candidate in candidates.iter().filter(|it| it.exact == exact) {
            let edition = candidate.edition;
            let found = match (edition.group, volume) {
                (Group::Law, _) => law::after_key(text, volume, key, edition),
                (_, Some(volume)) => with_volume(text, volume, key, edition),
                (_, None) => without_volume(text, key, edition),
            };
            // Editions of one spelling differ in what a page may look like: the longest is right.
            if let Some(cite) = found
                && best.as_ref().is_none_or(|it| it.tail < cite.span.end)
            {
                let (tail, group) = (cite.span.end, edition.group);
                // A subject makes another code of the same name.
                let candidates = if edition.shapes.has(b'j') { &[] } else { candidates };
                best = Some(PartialCitation { cite, candidates, group, tail, blank: false });
            }
        }
        if best.is_some() {
            break;
        }
    }
    best
}

fn kind(edition: &Edition) -> CitationKind {
    match (edition.group, edition.kind) {
        (Group::Journal, _) => CitationKind::Journal,
        (_, b'n') => CitationKind::PublicDomain,
        _ => CitationKind::FullCase,
    }
}

fn with_volume<'t>(
    text: &ScanText<'t>,
    volume: Volume,
    key: Span,
    edition: &Edition,
) -> Option<Citation<'t>> {
    let shapes = edition.shapes;
    let fits = match volume.joint {
        0 | b'h' => shapes.has(b's') || shapes.has(b'y') || shapes.has(b'c') || shapes.has(b'h'),
        b'd' => shapes.has(b'd') || shapes.has(b'c'),
        // Only titles of laws have a comma after them.
        b',' => false,
        joint => shapes.has(joint),
    };
    if !fits
        || text.at(volume.start) == b'0'
        || (volume.joint == b'h') != (text.before(key.start) == b'-')
    {
        return None;
    }
    if volume.joint == b'h' && !shapes.has(b'h') {
        return None;
    }
    let only_years = shapes.has(b'y') && !shapes.has(b's');
    let short_name = edition.kind == b'n' && edition.name.len() == 2;
    let joined = volume.joint == b'k';
    if (only_years || short_name || volume.joint == b'h') && !joined && !volume.is_year(text) {
        return None;
    }
    let page = match volume.joint {
        b'h' => {
            let from = (text.at(key.end) == b'-').then_some(text.skip(key.end + 1))?;
            page(text, from, edition)?
        }
        b'k' => page(text, key.end, edition)?,
        _ => after_reporter(text, key.end, edition)?,
    };
    let short = page.short && edition.group == Group::Case;
    if page.short && !short {
        return None;
    }
    let kind = if short { CitationKind::ShortCase } else { kind(edition) };
    let mut cite = Citation::new(kind, text.whole, volume.start, page.end);
    cite.volume = Some(text.slice(volume.start, volume.end));
    cite.reporter = Some(text.slice(key.start, key.end));
    cite.page = page.number.map(|it| text.slice(it.start, it.end));
    Some(cite)
}

fn without_volume<'t>(text: &ScanText<'t>, key: Span, edition: &Edition) -> Option<Citation<'t>> {
    let shapes = edition.shapes;
    let at = text.gap(key.end + usize::from(text.at(key.end) == b','))?;
    let mut volume = None;
    let page = if let Some(year) = text.digits(at, 4).filter(|it| *it == at + 4)
        && (shapes.has(b'e') || shapes.has(b'z'))
    {
        let letter = usize::from(matches!(text.at(year), b'A'..=b'F'));
        volume = Some(text.slice(at, year + letter));
        if shapes.has(b'e') {
            page(text, (text.at(year) == b'-').then_some(year + 1)?, edition)?
        } else {
            let comma = year + letter + usize::from(text.at(year + letter) == b',');
            page(text, text.skip(comma), edition)?
        }
    } else if shapes.has(b'c') || shapes.has(b'o') {
        let page = after_reporter(text, key.end, edition).filter(|it| !it.short)?;
        page.number.filter(|it| text.at(it.start).is_ascii_digit())?;
        page
    } else {
        return None;
    };
    let mut cite = Citation::new(kind(edition), text.whole, key.start, page.end);
    cite.volume = volume;
    cite.reporter = Some(text.slice(key.start, key.end));
    cite.page = page.number.map(|it| text.slice(it.start, it.end));
    Some(cite)
}

/// `2011-0402R (La.App. 2 Cir. 09/21/12)`: a docket whose reporter is in the brackets.
fn louisiana<'t>(
    text: &ScanText<'t>,
    volume: Volume,
    number: usize,
    hits: &mut Vec<(usize, u32)>,
) -> Option<PartialCitation<'t>> {
    let mut end = text.digits(number, 5)?;
    let number_end = {
        end += usize::from(text.at(end).is_ascii_uppercase());
        end
    };
    let open = text.gap(end).filter(|it| text.at(*it) == b'(' && text.at(*it + 1) == b'L')?;
    TABLE.all.walk(text, open + 1, hits);
    let (key_end, row) = hits.last().copied()?;
    let candidates = TABLE.candidates(row);
    candidates.iter().find(|it| it.edition.shapes.has(b'w'))?;
    let date = text.gap(key_end)?;
    let close = text.closing(date, 12)?;
    let day = text.slice(date, close);
    let year = day.rsplit_once('/')?.1.parse::<u16>().ok()?;
    let mut cite = Citation::new(CitationKind::FullCase, text.whole, volume.start, close + 1);
    cite.volume = Some(text.slice(volume.start, volume.end));
    cite.page = Some(text.slice(number, number_end));
    cite.reporter = Some(text.slice(open + 1, key_end));
    cite.date = Some(day);
    cite.year = Some(match year {
        0..50 => 2000 + year,
        50..100 => 1900 + year,
        _ => year,
    });
    let tail = cite.span.end;
    Some(PartialCitation { cite, candidates, group: Group::Case, tail, blank: false })
}

/// `— U.S. —` or `___ Iowa ___`: what will be printed but is not yet.
pub(crate) fn blank_volume<'t>(
    text: &ScanText<'t>,
    start: usize,
    end: usize,
    hits: &mut Vec<(usize, u32)>,
) -> Option<PartialCitation<'t>> {
    let at = text.gap(end)?;
    TABLE.all.walk(text, at, hits);
    let (key_end, _) = hits.last().copied()?;
    let page = text.skip(key_end + usize::from(text.at(key_end) == b','));
    let lone = || (text.at(page) == b'-' && text.ends(page + 1)).then_some(page + 1);
    let last = blank_page(text, page).or_else(lone)?;
    let mut cite = Citation::new(CitationKind::FullCase, text.whole, start, last);
    cite.reporter = Some(text.slice(at, key_end));
    let tail = cite.span.end;
    Some(PartialCitation { cite, candidates: &[], group: Group::Case, tail, blank: true })
}

/// After a run of lines or dashes.
pub(crate) fn blank_page(text: &ScanText<'_>, i: usize) -> Option<usize> {
    let mut at = i;
    while at - i < 24 {
        match text.at(at) {
            b'_' => at += 1,
            _ if text.dash(at) > 0 => at += text.dash(at),
            _ => break,
        }
    }
    let dash = at - i == 1 && text.at(i) == b'-';
    (at > i && !dash && text.ends(at)).then_some(at)
}

struct PageNumber {
    number: Option<Span>,
    end: usize,
    short: bool,
}

fn after_reporter(text: &ScanText<'_>, i: usize, edition: &Edition) -> Option<PageNumber> {
    let comma = i + usize::from(text.at(i) == b',');
    let mut at = text.skip(comma);
    if at == comma && !(text.before(at) == b'.' && text.at(at).is_ascii_digit()) {
        return None;
    }
    if text.has(at, "at") {
        return short_page(text, text.skip(at + 2));
    }
    if text.at(at) == b'(' {
        at = nominative(text, at + 1).or_else(|| year_within(text, at + 1))?;
    }
    if edition.shapes.has(b'g') && matches!(text.at(at), b'p' | b'P') {
        let word = ["p.", "page", "Page"].into_iter().find(|it| text.has(at, it))?;
        at = text.skip(at + word.len());
    }
    if edition.shapes.has(b'c') {
        let marks = ["\u{b6}", "par.", "para.", "P"];
        if let Some(mark) = marks.into_iter().find(|it| text.has(at, it)) {
            at = text.skip(at + mark.len());
        }
    }
    // The District's and Florida's weekly letters before the page.
    if matches!(text.at(at), b'S' | b'D') && edition.name.contains("Weekly") {
        at += 1;
    }
    page(text, at, edition)
}

/// The page of a short form: after `at`, perhaps with `p.` before it.
fn short_page(text: &ScanText<'_>, at: usize) -> Option<PageNumber> {
    let word = ["pp.", "p.", "pages", "page", "p", "*"].into_iter().find(|it| text.has(at, it));
    let at = word.map_or(at, |it| text.skip(at + it.len()));
    let end = text.digits(at, 9)?;
    text.ends(end).then_some(PageNumber { number: Some(Span::new(at, end)), end, short: true })
}

/// `1 Cranch) ` inside the brackets after a reporter.
fn nominative(text: &ScanText<'_>, i: usize) -> Option<usize> {
    let at = text.digits(i, 2).map_or(i, |it| text.skip(it));
    let mut hits = Vec::new();
    TABLE.all.walk(text, at, &mut hits);
    let ended = hits.iter().map(|it| text.skip(it.0)).find(|it| text.at(*it) == b')')?;
    Some(text.skip(ended + 1))
}

/// `1834) ` likewise.
fn year_within(text: &ScanText<'_>, i: usize) -> Option<usize> {
    let end = text.digits(i, 4).filter(|it| *it == i + 4)?;
    let end = end + usize::from(text.at(end) == b',');
    (text.at(end) == b')').then_some(text.skip(end + 1))
}

fn page(text: &ScanText<'_>, at: usize, edition: &Edition) -> Option<PageNumber> {
    let shapes = edition.shapes;
    let full = |end, last| PageNumber { number: Some(Span::new(at, end)), end: last, short: false };
    let Some(mut end) = text.digits(at, 9) else {
        if let Some(end) = roman(text, at, shapes.has(b'R')) {
            return Some(full(end, end));
        }
        let end = blank_page(text, at)?;
        return Some(PageNumber { number: None, end, short: false });
    };
    if shapes.has(b'm') || shapes.has(b'c') {
        while text.at(end) == b','
            && let Some(more) = text.digits(end + 1, 3).filter(|it| *it == end + 4)
        {
            end = more;
        }
    }
    let letter = text.at(end).is_ascii_alphabetic() && text.ends(end + 1);
    if letter && ["l", "m", "k", "i"].iter().any(|it| shapes.has(it.as_bytes()[0])) {
        end += 1;
    } else if shapes.has(b'i') && text.at(end) == b'-' {
        let last = end + 2;
        if text.at(end + 1).is_ascii_uppercase() && text.ends(last) {
            end = last;
        }
    } else if shapes.has(b'i') && text.has(end, "WC") {
        end += 2;
    } else if shapes.has(b'b')
        && matches!(text.at(end), b'[' | b'(')
        && matches!(text.at(end + 1), b'A' | b'U')
        && matches!(text.at(end + 2), b']' | b')')
    {
        end += 3;
    }
    text.ends(end).then_some(full(end, end))
}

/// After a Roman number below two hundred that cannot be taken for a word or an initial.
fn roman(text: &ScanText<'_>, at: usize, capitals: bool) -> Option<usize> {
    let mut end = at;
    while end - at < 10 && b"ivxlc".contains(&text.at(end).to_ascii_lowercase()) {
        end += 1;
    }
    let word = text.slice(at, end);
    let lower = word.to_ascii_lowercase();
    if end == at || !text.ends(end) || (word != lower && !capitals) {
        return None;
    }
    if ["v", "l", "c"].contains(&lower.as_str()) {
        return None;
    }
    let digit = |one: char| match one {
        'i' => 1,
        'v' => 5,
        'x' => 10,
        'l' => 50,
        _ => 100_u32,
    };
    let values: Vec<u32> = lower.chars().map(digit).collect();
    let sum: i64 = values.iter().enumerate().fold(0, |sum, (place, value)| {
        let less = values.get(place + 1).is_some_and(|next| next > value);
        sum + if less { -i64::from(*value) } else { i64::from(*value) }
    });
    (0 < sum && sum < 200 && written(sum) == lower).then_some(end)
}

fn written(mut number: i64) -> String {
    let mut out = String::new();
    let signs = ["c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"];
    for (value, sign) in [100, 90, 50, 40, 10, 9, 5, 4, 1].into_iter().zip(signs) {
        while number >= value {
            out.push_str(sign);
            number -= value;
        }
    }
    out
}
