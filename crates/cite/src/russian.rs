//! Russian citations: articles of codes, laws, acts of courts and of the government, dockets.
//! The kind of act and its issuer are read here; numbers and dates in `russian/parts`.

mod parts;

use std::sync::LazyLock;

use crate::case::PartialCitation;
use crate::citation::{Citation, CitationKind, Span};
use crate::table::Group;
use crate::tail;
use crate::text::ScanText;

static CODES: &str = include_str!("../data/russian.tsv");

/// Spellings and what they are called, the longest first.
static SPELLINGS: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
    let mut list = Vec::new();
    for line in CODES.lines().filter(|it| !it.starts_with('#')) {
        let Some((name, others)) = line.split_once('\t') else { continue };
        list.push((name, name));
        list.extend(others.split('|').map(|it| (it, name)));
    }
    list.sort_by_key(|(spelling, _)| std::cmp::Reverse(spelling.len()));
    list
});

/// What a word at the beginning of a citation announces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CitationOpener {
    Part,
    Article,
    Law,
    Act,
    Docket,
    There,
}

/// Small letters; how many letters may follow; what it opens.
const STEMS: [(&str, usize, CitationOpener); 25] = [
    ("подпункт", 3, CitationOpener::Part),
    ("подп", 0, CitationOpener::Part),
    ("пункт", 3, CitationOpener::Part),
    ("пп", 0, CitationOpener::Part),
    ("п", 0, CitationOpener::Part),
    ("част", 3, CitationOpener::Part),
    ("ч", 0, CitationOpener::Part),
    ("абзац", 3, CitationOpener::Part),
    ("абз", 0, CitationOpener::Part),
    ("стать", 3, CitationOpener::Article),
    ("статей", 0, CitationOpener::Article),
    ("ст", 0, CitationOpener::Article),
    ("федеральн", 3, CitationOpener::Law),
    ("закон", 3, CitationOpener::Law),
    ("фЗ", 0, CitationOpener::Law),
    ("постановлени", 3, CitationOpener::Act),
    ("определени", 3, CitationOpener::Act),
    ("решени", 3, CitationOpener::Act),
    ("приговор", 3, CitationOpener::Act),
    ("указ", 2, CitationOpener::Act),
    ("приказ", 3, CitationOpener::Act),
    ("распоряжени", 3, CitationOpener::Act),
    ("письм", 2, CitationOpener::Act),
    ("дел", 2, CitationOpener::Docket),
    ("там", 0, CitationOpener::There),
];

/// The citation that begins with the word at `i`, or where that word ends.
pub(crate) fn at<'t>(text: &ScanText<'t>, i: usize) -> Result<PartialCitation<'t>, usize> {
    let end = parts::word(text, i);
    if end == i {
        return Err(i + 2);
    }
    if let Some(number) = parts::arbitration(text, i) {
        return Ok(docket(text, i, number));
    }
    let found = match opens(text.slice(i, end)) {
        Some(CitationOpener::Part | CitationOpener::Article) => provision(text, i),
        Some(CitationOpener::Law) => law(text, i, end),
        Some(CitationOpener::Act) => act(text, i, end),
        Some(CitationOpener::Docket) => named_docket(text, i, end),
        Some(CitationOpener::There) => there(text, i, end),
        None => None,
    };
    found.ok_or(end)
}

fn opens(word: &str) -> Option<CitationOpener> {
    // Most words begin with none of these letters.
    let first = word.as_bytes().get(1)?;
    let large = [0xa7, 0x90, 0x9f, 0xa1, 0xa4, 0x97, 0x94, 0x9e, 0xa3, 0xa0, 0xa2];
    let small = [0x87, 0xb0, 0xbf, 0x81, 0x84, 0xb7, 0xb4, 0xbe, 0x83, 0x80, 0x82];
    if !large.contains(first) && !small.contains(first) {
        return None;
    }
    STEMS.into_iter().find_map(|(stem, more, opens)| {
        let rest = parts::same_beginning(word, stem)?;
        // Letters are two bytes.
        (rest.len() <= 2 * more).then_some(opens)
    })
}

fn found<'t>(cite: Citation<'t>) -> PartialCitation<'t> {
    PartialCitation { group: Group::Law, ..PartialCitation::plain(cite) }
}

fn docket<'t>(text: &ScanText<'t>, start: usize, number: Span) -> PartialCitation<'t> {
    let mut cite = Citation::new(CitationKind::Docket, text.whole, start, number.end);
    let digits = text.slice(number.start, number.end);
    cite.number = Some(digits);
    cite.year = digits.rsplit_once('/').and_then(|it| it.1.get(..4)?.parse().ok());
    found(cite)
}

/// A docket whose letter was typed in Latin.
pub(crate) fn latin_docket<'t>(text: &ScanText<'t>, i: usize) -> Option<PartialCitation<'t>> {
    parts::arbitration(text, i).map(|it| docket(text, i, it))
}

/// `дело № 2-1234/2021`
fn named_docket<'t>(text: &ScanText<'t>, i: usize, end: usize) -> Option<PartialCitation<'t>> {
    let number = parts::numbered(text, text.skip(end))?;
    let shown = text.slice(number.start, number.end);
    (shown.contains(['/', '-']) && shown.contains(|it: char| it.is_ascii_digit()))
        .then(|| docket(text, i, number))
}

/// `там же`
fn there<'t>(text: &ScanText<'t>, i: usize, end: usize) -> Option<PartialCitation<'t>> {
    let next = text.gap(end)?;
    let last = parts::word(text, next);
    if text.slice(next, last) != "же" {
        return None;
    }
    let mut cite = Citation::new(CitationKind::Id, text.whole, i, last);
    let mut tail = last;
    let comma = text.skip(last + usize::from(text.at(last) == b','));
    if let Some((start, stop)) = parts::page(text, comma) {
        cite.pin_cite = Some(text.slice(start, stop));
        tail = stop;
    }
    cite.full_span.end = tail;
    Some(PartialCitation { tail, ..found(cite) })
}

/// `п. 2 ст. 432 ГК РФ`: parts, an article, and whose they are.
fn provision<'t>(text: &ScanText<'t>, i: usize) -> Option<PartialCitation<'t>> {
    let (mut at, mut article, mut parts_end) = (i, None, i);
    for _ in 0..6 {
        let end = parts::word(text, at);
        let Some(opened) = opens(text.slice(at, end)) else { break };
        if !matches!(opened, CitationOpener::Part | CitationOpener::Article) {
            break;
        }
        let from = parts::label_end(text, end, opened == CitationOpener::Article);
        let numbers = parts::numbers(text, from)?;
        if opened == CitationOpener::Article {
            article = Some(numbers);
            at = text.skip(numbers.end);
            break;
        }
        parts_end = numbers.end;
        let comma = numbers.end + usize::from(text.at(numbers.end) == b',');
        at = text.skip(comma);
    }
    let pin = (parts_end > i).then(|| text.slice(i, parts_end));
    let mut cite = match article {
        Some(article) => of_article(text, i, article, at),
        // A part of an act has no article.
        None if parts_end > i => part_of_act(text, i, at)?,
        None => return None,
    };
    cite.pin_cite = pin;
    let mut end = cite.span.end;
    let tail = end;
    if let Some((inner, close)) = tail::explained(text, end) {
        cite.parenthetical = Some(text.slice(inner.start, inner.end));
        end = close;
    }
    cite.full_span.end = end;
    Some(PartialCitation { tail, ..found(cite) })
}

fn of_article<'t>(text: &ScanText<'t>, i: usize, article: Span, at: usize) -> Citation<'t> {
    let section = text.slice(article.start, article.end);
    if let Some((end, name)) = code(text, at) {
        let mut cite = Citation::new(CitationKind::Statute, text.whole, i, end);
        cite.reporter = Some(text.slice(at, end));
        cite.edition = Some(name);
        cite.section = Some(section);
        return cite;
    }
    let word = parts::word(text, at);
    if opens(text.slice(at, word)) == Some(CitationOpener::Law)
        && let Some(law) = law(text, at, word)
    {
        let mut cite = Citation::new(CitationKind::Statute, text.whole, i, law.cite.span.end);
        cite.section = Some(section);
        (cite.reporter, cite.edition) = (law.cite.reporter, law.cite.edition);
        (cite.number, cite.date, cite.year) = (law.cite.number, law.cite.date, law.cite.year);
        cite.title = law.cite.title;
        return cite;
    }
    let mut cite = Citation::new(CitationKind::Section, text.whole, i, article.end);
    cite.section = Some(section);
    cite
}

fn part_of_act<'t>(text: &ScanText<'t>, i: usize, at: usize) -> Option<Citation<'t>> {
    let end = parts::word(text, at);
    (opens(text.slice(at, end)) == Some(CitationOpener::Act)).then_some(())?;
    let inner = act(text, at, end)?.cite;
    let mut cite = Citation::new(inner.kind, text.whole, i, inner.span.end);
    (cite.reporter, cite.court) = (inner.reporter, inner.court);
    (cite.number, cite.date, cite.year) = (inner.number, inner.date, inner.year);
    Some(cite)
}

/// The code that begins there: where it ends, and what it is called.
fn code(text: &ScanText<'_>, at: usize) -> Option<(usize, &'static str)> {
    SPELLINGS.iter().find_map(|(spelling, name)| {
        let end = at + spelling.len();
        (text.has(at, spelling) && parts::word(text, end) == end).then_some((end, *name))
    })
}

/// `Федеральный закон от 26.10.2002 № 127-ФЗ «О …»`, `Закон РФ «О …»`
fn law<'t>(text: &ScanText<'t>, i: usize, end: usize) -> Option<PartialCitation<'t>> {
    let mut named = end;
    let first = text.slice(i, end);
    if parts::same_beginning(first, "федеральн").is_some() {
        let next = text.gap(end)?;
        named = parts::word(text, next);
        parts::same_beginning(text.slice(next, named), "закон")?;
    }
    let federal = named > end || first == "ФЗ";
    for of in ["РФ", "Российской Федерации", "СССР", "РСФСР"] {
        let next = text.skip(named);
        if next > named && text.has(next, of) {
            named = next + of.len();
            break;
        }
    }
    let dated = parts::dated(text, text.skip(named));
    let after = dated.map_or(named, |it| it.end);
    let number = parts::numbered(text, text.skip(after));
    let after = number.map_or(after, |it| it.end);
    let title = parts::quoted(text, text.skip(after));
    let last = title.map_or(after, |it| it.end);
    if number.is_none() && title.is_none() {
        return None;
    }
    let mut cite = Citation::new(CitationKind::Statute, text.whole, i, last);
    cite.reporter = Some(text.slice(i, named));
    cite.edition = federal.then_some("Федеральный закон");
    cite.number = number.map(|it| text.slice(it.start, it.end));
    cite.title = title.map(|it| text.slice(it.start, it.end));
    cite.date = dated.map(|it| text.slice(it.start, it.end));
    cite.year = dated.map(|it| it.year);
    Some(found(cite))
}

/// `Постановление Пленума Верховного Суда РФ от 23.06.2015 № 25`
fn act<'t>(text: &ScanText<'t>, i: usize, end: usize) -> Option<PartialCitation<'t>> {
    let (issuer, dated) = parts::issuer(text, end)?;
    let after = text.skip(dated.end);
    let number = parts::numbered(text, after);
    let last = number.map_or(dated.end, |it| it.end);
    let word = text.slice(i, end);
    let named = text.slice(i, issuer);
    let rules = ["указ", "приказ", "распоряжени"];
    let ruled = rules.iter().any(|it| parts::same_beginning(word, it).is_some())
        || ["Правительств", "Президент", "Минист", "Банка России"]
            .iter()
            .any(|it| named.contains(it));
    // An employer's order names no issuer: `приказ от 14.07.2023 № 212-к`.
    if ruled && issuer == end {
        return None;
    }
    // Without a number only the name of a court distinguishes an act from a word of prose.
    let court = parts::court(named);
    if number.is_none() && (ruled || (court.is_none() && !named.contains("суда"))) {
        return None;
    }
    let kind = if ruled { CitationKind::Regulation } else { CitationKind::Decision };
    let mut cite = Citation::new(kind, text.whole, i, last);
    cite.reporter = Some(named);
    cite.court = court.filter(|_| !ruled);
    cite.number = number.map(|it| text.slice(it.start, it.end));
    cite.date = Some(text.slice(dated.start, dated.end));
    cite.year = Some(dated.year);
    Some(found(cite))
}
