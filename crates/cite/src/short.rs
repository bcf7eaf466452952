//! `Id.`, `Ibid.` and `supra`.

use crate::case::PartialCitation;
use crate::citation::{Citation, CitationKind};
use crate::name;
use crate::tail;
use crate::text::ScanText;

/// `Id.` or `Ibid.` at the beginning of a word.
pub(crate) fn id<'t>(text: &ScanText<'t>, i: usize) -> Option<PartialCitation<'t>> {
    let end = match text.at(i + 1) {
        b'd' if text.at(i + 2) == b'.' => i + 3,
        b'b' if text.has(i + 1, "bid.") => i + 5,
        _ => return None,
    };
    if !begins_word(text, i) || !text.ends(end) {
        return None;
    }
    let mut found = PartialCitation::plain(Citation::new(CitationKind::Id, text.whole, i, end));
    after(text, &mut found);
    Some(found)
}

/// `supra` at the beginning of a word.
pub(crate) fn supra<'t>(
    text: &ScanText<'t>,
    i: usize,
    floor: usize,
) -> Option<PartialCitation<'t>> {
    let end = i + 5;
    if !text.has(i + 1, "upra") || !text.ends(end) || !begins_word(text, i) {
        return None;
    }
    let mut found = PartialCitation::plain(Citation::new(CitationKind::Supra, text.whole, i, end));
    after(text, &mut found);
    let mut before = text.skip_back(i, floor);
    // A volume may be between the name and `supra`.
    let mut start = before;
    while start > floor && before - start < 5 && text.before(start).is_ascii_digit() {
        start -= 1;
    }
    if start < before && (start == floor || text.blank(start - 1) > 0) {
        found.cite.volume = Some(text.slice(start, before));
        before = start;
    }
    if let Some(name) = name::before(text, before, floor, name::NameUse::Antecedent) {
        name.fill(text, &mut found.cite, true);
    }
    Some(found)
}

/// Whether a word may begin at `i`: not inside a web address and not after an apostrophe or a
/// hyphen.
fn begins_word(text: &ScanText<'_>, i: usize) -> bool {
    !matches!(text.before(i), b'.' | b'@' | b'/' | b'-' | b'_' | b'\'' | b'&')
}

/// Reads the pin cite and the parenthetical after a short form.
fn after<'t>(text: &ScanText<'t>, found: &mut PartialCitation<'t>) {
    let cite = &mut found.cite;
    let mut end = cite.span.end;
    let from = end + usize::from(cite.kind == CitationKind::Supra && text.at(end) == b'.');
    if let Some(pin) = tail::pin(text, end).filter(|it| follows(text, from, it.start)) {
        cite.pin_cite = Some(text.slice(pin.start, pin.end));
        end = pin.end;
    }
    found.tail = end;
    if let Some((inner, close)) = tail::explained(text, end) {
        cite.parenthetical = Some(text.slice(inner.start, inner.end));
        end = close;
    }
    cite.full_span.end = end;
}

fn follows(text: &ScanText<'_>, from: usize, start: usize) -> bool {
    start <= from + 2 || text.skip(from + usize::from(text.at(from) == b',')) == start
}
