//! One pass over the text. The first byte of a word decides which recogniser runs. The name before
//! a citation and the date after it are read at once, so that the next citation does not read into
//! them.

use crate::case::{self, PartialCitation};
use crate::citation::{Citation, CitationKind};
use crate::law;
use crate::name::{self, NameUse};
use crate::russian;
use crate::short;
use crate::table::{self, Group, TABLE};
use crate::tail;
use crate::text::ScanText;

/// The most digits of a volume.
const VOLUME_MAX: usize = 5;

pub(crate) struct Scan<'t> {
    pub(crate) found: Vec<PartialCitation<'t>>,
    /// The positions of `at` and `p.` before a possible page, for references such as `Roe at 120`.
    pub(crate) pages: Vec<usize>,
    hits: Vec<(usize, u32)>,
    most: usize,
    /// Whether the scan stopped early, because the text has more than `most` citations.
    pub(crate) is_cut: bool,
}

/// How many positions in `pages` are stored for each citation that `most` allows.
const PAGES_EACH: usize = 8;

/// Finds at most `most` citations.
pub(crate) fn scan<'t>(text: &ScanText<'t>, most: usize) -> Scan<'t> {
    let mut scan =
        Scan { found: Vec::new(), pages: Vec::new(), hits: Vec::new(), most, is_cut: false };
    let mut i = 0;
    while i < text.len() {
        let byte = text.at(i);
        i = match byte {
            b'0'..=b'9' => scan.number(text, i),
            b'A'..=b'Z' => scan.capital(text, i),
            b'a'..=b'z' => scan.small(text, i, byte),
            b'_' | b'-' => scan.blank(text, i),
            0xc2 if text.at(i + 1) == 0xa7 => scan.section(text, i),
            0xe2 if text.dash(i) > 0 => scan.blank(text, i),
            0xd0 | 0xd1 => scan.russian(text, i),
            _ => i + 1,
        };
    }
    scan
}

impl<'t> Scan<'t> {
    /// The end of the previous citation with its pin cite and date.
    fn floor(&self) -> usize {
        self.found.last().map_or(0, |it| it.tail)
    }

    fn number(&mut self, text: &ScanText<'t>, i: usize) -> usize {
        let mut end = i + 1;
        while text.at(end).is_ascii_digit() {
            end += 1;
        }
        if end - i <= VOLUME_MAX
            && let Some(found) = case::after_number(text, i, &mut self.hits)
        {
            return self.complete(text, found);
        }
        word_end(text, end)
    }

    fn capital(&mut self, text: &ScanText<'t>, i: usize) -> usize {
        let found = match text.at(i) {
            b'I' => short::id(text, i),
            b'S' => short::supra(text, i, self.floor()),
            b'A' if text.at(i + 1).is_ascii_digit() => russian::latin_docket(text, i),
            _ => None,
        };
        if let Some(found) = found {
            return self.add_short_form(found);
        }
        // A citation begins neither inside `S.D.N.Y.` nor after `v.`, where a party's name follows.
        let side = i >= 3 && text.has(i - 3, "v. ");
        if text.before(i) != b'.'
            && !side
            && TABLE.openers.begins(text.at(i))
            && let Some(found) = case::opener(text, i, &mut self.hits)
            && !(found.group == Group::Law && law::follows_state(text, i))
        {
            return self.complete(text, found);
        }
        word_end(text, i + 1)
    }

    fn small(&mut self, text: &ScanText<'t>, i: usize, byte: u8) -> usize {
        match byte {
            b'i' => {
                if let Some(found) = short::id(text, i) {
                    return self.add_short_form(found);
                }
            }
            b's' => {
                if let Some(found) = short::supra(text, i, self.floor()) {
                    return self.add_short_form(found);
                }
            }
            b'a' if text.at(i + 1) == b't' && text.blank(i + 2) > 0 => self.page(i),
            b'p' if matches!(text.at(i + 1), b'.' | b'p') && text.ends(i + 2) => self.page(i),
            _ => {}
        }
        word_end(text, i + 1)
    }

    fn blank(&mut self, text: &ScanText<'t>, i: usize) -> usize {
        let lone = text.at(i) == b'-' && text.blank(i + 1) > 0 && text.before(i) == b' ';
        let Some(end) = case::blank_page(text, i).or(lone.then_some(i + 1)) else {
            return i + 1;
        };
        match case::blank_volume(text, i, end, &mut self.hits) {
            Some(found) => self.complete(text, found),
            None => end,
        }
    }

    fn section(&mut self, text: &ScanText<'t>, i: usize) -> usize {
        let found = law::lone_sign(text, i, self.floor());
        self.complete(text, found)
    }

    fn russian(&mut self, text: &ScanText<'t>, i: usize) -> usize {
        match russian::at(text, i) {
            Ok(found) => self.add(found),
            Err(next) => next,
        }
    }

    /// Adds a short form and continues after its pin cite, which is not a citation itself.
    fn add_short_form(&mut self, found: PartialCitation<'t>) -> usize {
        let next = found.tail;
        self.push(found, next)
    }

    fn page(&mut self, at: usize) {
        if self.pages.len() < self.most.saturating_mul(PAGES_EACH) {
            self.pages.push(at);
        } else {
            self.is_cut = true;
        }
    }

    /// Adds a citation and returns the position to continue at; `usize::MAX` ends the scan when
    /// there are `most` citations.
    fn push(&mut self, found: PartialCitation<'t>, next: usize) -> usize {
        self.found.push(found);
        if self.found.len() < self.most {
            return next;
        }
        self.is_cut = true;
        usize::MAX
    }

    fn add(&mut self, found: PartialCitation<'t>) -> usize {
        let next = found.cite.span.end;
        self.push(found, next)
    }

    /// Reads the name before a citation and the pin cite and date after it, and adds the citation.
    fn complete(&mut self, text: &ScanText<'t>, mut found: PartialCitation<'t>) -> usize {
        if found.group == Group::Law {
            law::surroundings(text, &mut found);
            return self.add(found);
        }
        after(text, &mut found);
        if found.cite.kind == CitationKind::Journal {
            return self.add(found);
        }
        // `Able, supra, 1 U.S. at 2` is one citation.
        let start = found.cite.span.start;
        if let Some(last) = self.found.last()
            && last.cite.kind == CitationKind::Supra
            && joins(text, last.tail, start)
        {
            self.found.pop();
        }
        if !self.is_parallel(text, &mut found) {
            let floor = self.floor();
            if let Some(name) = name::before(text, start, floor, NameUse::Case) {
                let short = found.cite.kind == CitationKind::ShortCase;
                name.fill(text, &mut found.cite, short);
                if let Some(dated) = name.dated {
                    found.cite.year = found.cite.year.or(Some(dated.year));
                    found.cite.court = found.cite.court.or(dated.court);
                }
            }
        }
        self.add(found)
    }

    /// Whether the previous citation is of the same decision; if so, copies its name.
    fn is_parallel(&mut self, text: &ScanText<'t>, found: &mut PartialCitation<'t>) -> bool {
        let place = self.found.len();
        let Some(last) = self.found.last() else { return false };
        let case = |it: &Citation<'_>| it.is_full_case() || it.kind == CitationKind::ShortCase;
        let michigan = last.cite.reporter.is_some_and(|it| it.starts_with("Mich"));
        let start = found.cite.span.start;
        let near = joins(text, last.tail, start)
            || (michigan
                && joins(text, last.tail + usize::from(text.at(last.tail) == b';'), start));
        let dated = last.cite.year.is_some() && last.cite.full_span.end > last.tail;
        let same = last.cite.reporter == found.cite.reporter;
        if !near || dated || same || !case(&last.cite) || !case(&found.cite) || !last.is_open(text)
        {
            return false;
        }
        found.cite.plaintiff = last.cite.plaintiff;
        found.cite.defendant = last.cite.defendant;
        found.cite.antecedent = last.cite.antecedent;
        found.cite.year = found.cite.year.or(last.cite.year);
        found.cite.parallel_to = Some(last.cite.parallel_to.unwrap_or(place - 1));
        true
    }
}

impl PartialCitation<'_> {
    /// Whether no date in brackets has closed the citation, so that a parallel one may follow.
    fn is_open(&self, text: &ScanText<'_>) -> bool {
        self.tail == 0 || !matches!(text.before(self.tail), b')') || self.cite.span.end == self.tail
    }
}

/// Whether only a comma, white space or an opening bracket is between two positions.
fn joins(text: &ScanText<'_>, from: usize, to: usize) -> bool {
    if to < from || to - from > 24 {
        return false;
    }
    let mut at = text.skip(from);
    if text.at(at) == b',' {
        at = text.skip(at + 1);
    }
    if text.at(at) == b'[' {
        at += 1;
    }
    at == to && to > from
}

/// Reads the pin cite, the court, the date and the parenthetical after a case or an article.
fn after<'t>(text: &ScanText<'t>, found: &mut PartialCitation<'t>) {
    let cite = &mut found.cite;
    let mut end = cite.span.end;
    if cite.kind == CitationKind::ShortCase {
        // The page of a short form is its pin cite.
        let start = cite.page.map_or(end, |it| end - it.len());
        let pin = tail::pages(text, start, start).unwrap_or(crate::Span::new(start, end));
        cite.pin_cite = Some(text.slice(pin.start, pin.end));
        end = pin.end.max(end);
    } else if let Some(pin) = tail::pin(text, end) {
        cite.pin_cite = Some(text.slice(pin.start, pin.end));
        end = pin.end;
    }
    let open = text.skip(end);
    if let Some(dated) = tail::dated(text, open) {
        if cite.kind != CitationKind::ShortCase {
            cite.year = Some(dated.year);
            cite.court = dated.court;
            cite.date = dated.date.map(|it| text.slice(it.start, it.end));
        }
        end = dated.end;
    }
    found.tail = end;
    if let Some((inner, close)) = tail::explained(text, end) {
        cite.parenthetical = Some(text.slice(inner.start, inner.end));
        end = close;
    }
    cite.full_span.end = end;
}

/// Copies the date at the end of parallel citations to all of them, then chooses the edition by the
/// year and the court by the edition.
pub(crate) fn complete_from_neighbours(found: &mut [PartialCitation<'_>]) {
    let mut next: Option<(Option<u16>, Option<&'static str>, usize)> = None;
    for place in (0..found.len()).rev() {
        let Some(it) = found.get_mut(place) else { continue };
        if let Some((year, court, head)) = next.take()
            && (head == place || it.cite.parallel_to == Some(head))
        {
            it.cite.year = it.cite.year.or(year);
            it.cite.court = it.cite.court.or(court);
        }
        if let Some(head) = it.cite.parallel_to {
            next = Some((it.cite.year, it.cite.court, head));
        }
        if it.candidates.is_empty() {
            continue;
        }
        let edition = table::choose(it.candidates, it.group, it.cite.year);
        it.cite.edition = edition.map(|it| it.name);
        let supreme = match edition {
            Some(edition) => edition.kind == b'c',
            None => it.candidates.iter().all(|it| it.edition.kind == b'c'),
        };
        if it.group == Group::Case && supreme && it.cite.court.is_none() {
            it.cite.court = Some("scotus");
        }
    }
}

/// The end of the word or number that continues at `i`.
#[inline]
fn word_end(text: &ScanText<'_>, i: usize) -> usize {
    let mut end = i;
    while text.at(end).is_ascii_alphanumeric() {
        end += 1;
    }
    end
}
