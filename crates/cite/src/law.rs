//! Statutes, regulations, rules of court and constitutions.

use crate::case::{PartialCitation, Volume};
use crate::citation::{Citation, CitationKind, Span};
use crate::table::Edition;
use crate::tail;
use crate::text::ScanText;

/// Words of a subject between the code and the section: `Bus. & Prof.`
const SUBJECT_MAX: usize = 6;

/// The rest of a citation of which the numbers before it and the name are known.
pub(crate) fn after_key<'t>(
    text: &ScanText<'t>,
    before: Option<Volume>,
    key: Span,
    edition: &Edition,
) -> Option<Citation<'t>> {
    let shapes = edition.shapes;
    if before.is_some() != (shapes.has(b'T') || shapes.has(b'H')) {
        return None;
    }
    if before.is_some_and(|it| it.is_pair() != shapes.has(b'H')) {
        return None;
    }
    if shapes.has(b'y') && !before.is_some_and(|it| it.is_year(text)) {
        return None;
    }
    let comma = key.end + usize::from(text.at(key.end) == b',');
    let mut at = text.skip(comma);
    let mut name_end = key.end;
    if shapes.has(b'j') {
        at = subject(text, at)?;
        name_end = text.skip_back(at, key.end);
    }
    let place = place(text, at, shapes.has(b't'));
    let (title, section, end) = match place {
        Some(it) => it,
        None if at > key.end && (shapes.has(b'n') || (shapes.has(b'j') && !shapes.has(b'S'))) => {
            let end = section(text, at, true)?;
            (None, Span::new(at, end), end)
        }
        None => return None,
    };
    let start = before.map_or(key.start, |it| it.start);
    let kind = if edition.kind == b'r' { CitationKind::Regulation } else { CitationKind::Statute };
    let mut cite = Citation::new(kind, text.whole, start, end);
    cite.reporter = Some(text.slice(key.start, name_end));
    let slice = |it: Span| text.slice(it.start, it.end);
    let number = before.map(|it| Span::new(it.start, it.end));
    if before.is_some() && shapes.has(b'p') {
        cite.volume = number.map(slice);
        cite.page = Some(slice(section));
    } else if numbered(text, at) || edition.name.ends_with(" L.") && title.is_none() {
        cite.number = Some(slice(section));
    } else {
        cite.title = number.or(title).map(slice);
        cite.section = Some(slice(section));
    }
    Some(cite)
}

/// Whether a law or a docket is cited by its number, not by its sections.
fn numbered(text: &ScanText<'_>, at: usize) -> bool {
    let word = ["No.", "Number"].into_iter().find(|it| text.has(at, it));
    word.is_some_and(|it| {
        let end = text.skip(at + it.len());
        section(text, end, true).is_some_and(|it| sign(text, text.skip(it + 1)).is_none())
    })
}

/// After the words that name the subject, at the sign of the section.
fn subject(text: &ScanText<'_>, i: usize) -> Option<usize> {
    let mut at = i;
    for _ in 0..SUBJECT_MAX {
        if text.has(at, "\u{a7}") || text.at(at).is_ascii_digit() {
            return Some(at);
        }
        if !(text.at(at).is_ascii_uppercase() || text.at(at) == b'&') {
            return None;
        }
        let mut end = at;
        while end - at < 24 && text.blank(end) == 0 && end < text.len() {
            end += 1;
        }
        at = text.gap(end)?;
    }
    None
}

type LawPlace = (Option<Span>, Span, usize);

/// `tit. 5, § 12`, `ch. 1, § 2`, `art 5`, `No. 123-A`, `§ 12`: the part, the section, the end.
fn place(text: &ScanText<'_>, i: usize, roman: bool) -> Option<LawPlace> {
    if let Some(at) = sign(text, i) {
        let end = section(text, at, false)?;
        return Some((None, Span::new(at, end), end));
    }
    const LABELS: [&str; 19] = [
        "c.", "tit.", "title", "ch.", "chapter", "art.", "article", "art", "Art.", "r.", "R.", "R",
        "rule", "Rule", "No.", "Number", "amend.", "Amend.", "pt.",
    ];
    let label = LABELS.into_iter().find(|it| text.has(i, it))?;
    let at = text.gap(i + label.len())?;
    let commas = matches!(label, "No." | "Number");
    let end = section(text, at, commas).or_else(|| roman.then(|| capitals(text, at))?)?;
    let part = Span::new(at, end);
    let next = text.skip(end + usize::from(text.at(end) == b','));
    if let Some(at) = sign(text, next)
        && let Some(end) = section(text, at, false)
    {
        return Some((Some(part), Span::new(at, end), end));
    }
    Some((None, part, end))
}

fn capitals(text: &ScanText<'_>, at: usize) -> Option<usize> {
    let mut end = at;
    while end - at < 8 && b"IVXL".contains(&text.at(end)) {
        end += 1;
    }
    (end > at && text.ends(end)).then_some(end)
}

/// After the sign or the word for a section.
fn sign(text: &ScanText<'_>, i: usize) -> Option<usize> {
    if text.has(i, "\u{a7}") {
        let mut at = i + 2;
        at = text.skip(at);
        if text.has(at, "\u{a7}") {
            at += 2;
        }
        return Some(text.skip(at));
    }
    if !matches!(text.at(i), b's' | b'S') {
        return None;
    }
    const WORDS: [&str; 10] = [
        "sections", "section", "Sections", "Section", "secs.", "sec.", "Secs.", "Sec.", "S.", "s.",
    ];
    let word = WORDS.into_iter().find(|it| text.has(i, it))?;
    text.gap(i + word.len())
}

/// The number of a section: `1983`, `2000e-5`, `164.512`, `5/2-1401`, `12:34-5`. With `pages`
/// also `12,345`.
fn section(text: &ScanText<'_>, at: usize, pages: bool) -> Option<usize> {
    let mut end = text.digits(at, 9)?;
    while pages
        && text.at(end) == b','
        && let Some(more) = text.digits(end + 1, 3).filter(|it| *it == end + 4)
    {
        end = more;
    }
    let letters =
        |from: usize| (0..12).take_while(|it| text.at(from + it).is_ascii_alphanumeric()).count();
    end += letters(end);
    for _ in 0..6 {
        let wide = match text.at(end) {
            b'.' | b':' | b'/' => 1,
            b' ' if text.has(end, " / ") => 3,
            _ => text.dash(end),
        };
        // A stop before a blank ends the sentence.
        let more = letters(end + wide);
        if wide == 0 || more == 0 {
            break;
        }
        end += wide + more;
    }
    text.ends(end).then_some(end)
}

/// Adds what stands after the section: subsections, `et seq.`, the publisher and the year.
pub(crate) fn surroundings<'t>(text: &ScanText<'t>, found: &mut PartialCitation<'t>) {
    let start = found.cite.span.end;
    let mut end = subsections(text, start);
    let and = text.skip(end);
    if text.has(and, "and (") {
        let more = subsections(text, and + 4);
        if more > and + 4 {
            end = more;
        }
    }
    let seq = text.skip(end);
    if text.has(seq, "et seq.") {
        end = seq + 7;
    }
    if end > start {
        found.cite.pin_cite = Some(text.slice(start, end).trim());
    }
    let open = text.skip(end);
    if let Some(dated) = tail::dated(text, open) {
        found.cite.year = Some(dated.year);
        found.cite.publisher = dated.named.map(|it| text.slice(it.start, it.end));
        found.cite.date = dated.date.map(|it| text.slice(it.start, it.end));
        end = dated.end;
    }
    found.tail = end;
    if let Some((inner, after)) = tail::explained(text, end) {
        let words = text.slice(inner.start, inner.end);
        if ["West", "McKinney", "Lexis", "LexisNexis", "Deering"].contains(&words) {
            found.cite.publisher = Some(words);
        } else {
            found.cite.parenthetical = Some(words);
        }
        end = after;
    }
    found.cite.full_span.end = end;
}

/// After `(a)(2)(xiii)`.
fn subsections(text: &ScanText<'_>, i: usize) -> usize {
    let mut at = i;
    for _ in 0..12 {
        if text.at(at) != b'(' {
            break;
        }
        let inner = (1..6).take_while(|it| text.at(at + it).is_ascii_alphanumeric()).count();
        if !(1..=4).contains(&inner) || text.at(at + inner + 1) != b')' {
            break;
        }
        // Four digits are a year.
        if inner == 4 && text.digits(at + 1, 4).is_some_and(|it| it == at + 5) {
            break;
        }
        at += inner + 2;
    }
    at
}

/// A section sign that no known code stands before. Where the words before it name a state and a
/// code it is a citation of that code, otherwise of a section alone.
pub(crate) fn lone_sign<'t>(text: &ScanText<'t>, i: usize, floor: usize) -> PartialCitation<'t> {
    let at = sign(text, i).unwrap_or(i + 2);
    let end = section(text, at, false);
    let code = end.and_then(|_| code_before(text, i, floor));
    let (start, kind) = match code {
        Some(it) if text.slice(it.start, it.end).contains("Admin") => {
            (it.start, CitationKind::Regulation)
        }
        Some(it) => (it.start, CitationKind::Statute),
        None => (i, CitationKind::Section),
    };
    let stop = end.unwrap_or_else(|| text.skip_back(at, i + 2));
    let mut cite = Citation::new(kind, text.whole, start, stop);
    cite.section = end.map(|it| text.slice(at, it));
    cite.reporter = code.map(|it| text.slice(it.start, it.end));
    PartialCitation { group: crate::table::Group::Law, ..PartialCitation::plain(cite) }
}

const STATES: [&str; 54] = [
    "Ala.", "Alaska", "Ariz.", "Ark.", "Cal.", "Colo.", "Conn.", "D.C.", "Del.", "Fla.", "Ga.",
    "Guam", "Haw.", "Idaho", "Ill.", "Ind.", "Iowa", "Kan.", "Ky.", "La.", "Mass.", "Md.", "Me.",
    "Mich.", "Minn.", "Miss.", "Mo.", "Mont.", "N.C.", "N.D.", "N.H.", "N.J.", "N.M.", "N.Y.",
    "Neb.", "Nev.", "Ohio", "Okla.", "Or.", "P.R.", "Pa.", "R.I.", "S.C.", "S.D.", "Tenn.", "Tex.",
    "U.S.", "Utah", "V.I.", "Va.", "Vt.", "W.Va.", "Wash.", "Wis.",
];
const CODES: [&str; 12] = [
    "Code", "Law", "Laws", "Stat.", "Stats.", "Ann.", "Comp.", "Act", "Const.", "Regs.", "R.",
    "Proc.",
];

/// Whether a state stands right before this place, so that a code that begins here is the
/// state's and its name is longer.
pub(crate) fn follows_state(text: &ScanText<'_>, i: usize) -> bool {
    STATES.iter().any(|it| i > it.len() && text.blank(i - 1) > 0 && text.has(i - 1 - it.len(), it))
}

/// The run of capitalised words before the sign that begins with a state and has a code in it.
fn code_before(text: &ScanText<'_>, i: usize, floor: usize) -> Option<Span> {
    let floor = floor.max(i.saturating_sub(80));
    let last = text.skip_back(i, floor);
    let stop = if last > floor && text.before(last) == b',' { last - 1 } else { last };
    let (mut at, mut code) = (stop, false);
    for _ in 0..8 {
        let mut start = at;
        while start > floor && text.blank(start - 1) == 0 && text.before(start) != 0xa0 {
            start -= 1;
        }
        let word = text.slice(start, at);
        let word = word.trim_start_matches(['(', '[', '\u{201c}', '"']);
        if !word.starts_with(|it: char| it.is_ascii_uppercase() || it == '&') {
            return None;
        }
        code |= CODES.contains(&word.trim_end_matches(','));
        if STATES.contains(&word) && code {
            return Some(Span::new(at - word.len(), stop));
        }
        at = text.skip_back(start, floor);
        if at == start {
            return None;
        }
    }
    None
}
