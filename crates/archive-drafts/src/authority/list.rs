//! Reads the further sections of a law in one citation: `28 U.S.C. §§ 1331 and 1343`. `cite` finds
//! the first section.

use cite::{Citation, CitationKind, Span};

/// The most further sections of one citation.
const SECTIONS_MAX: usize = 12;
/// The longest section number, in bytes.
const SECTION_BYTES: usize = 24;

/// The spans of the sections after the first.
pub(super) fn further_sections(text: &str, cite: &Citation<'_>) -> Vec<Span> {
    let mut list = Vec::new();
    let listed = matches!(cite.kind, CitationKind::Statute | CitationKind::Regulation)
        && cite.section.is_some()
        && (cite.text.contains("§§") || cite.text.contains("sections"));
    let rule = cite.kind == CitationKind::Statute
        && cite.edition.is_some_and(|it| it.starts_with("Fed. R.") || matches!(it, "MCR" | "MCL"));
    if !(listed || rule) {
        return list;
    }
    let mut at = past_paragraphs(text, cite.span.end);
    while list.len() < SECTIONS_MAX {
        let Some(start) = past_link(text, at) else { break };
        let Some(end) = section(text, start) else { break };
        list.push(Span::new(start, end));
        at = past_paragraphs(text, end);
    }
    list
}

fn rest(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// The position after subsections such as `(a)(2)`.
fn past_paragraphs(text: &str, at: usize) -> usize {
    let mut at = at;
    while let Some(inner) = rest(text, at).strip_prefix('(') {
        let Some(close) = inner.bytes().take(6).position(|it| it == b')') else { break };
        at += close + 2;
    }
    at
}

/// The position after a separator such as `, `, ` and ` or ` & `.
fn past_link(text: &str, at: usize) -> Option<usize> {
    [", and ", ", ", " and ", " & ", "; ", ",\n", " and\n", "\nand "]
        .into_iter()
        .find(|it| rest(text, at).starts_with(it))
        .map(|it| at + it.len())
}

/// The end of a section number; `None` for the first number of the next citation, as in `42 U.S.C.`
fn section(text: &str, at: usize) -> Option<usize> {
    let bytes = rest(text, at).as_bytes();
    let inner = |it: &&u8| it.is_ascii_alphanumeric() || matches!(**it, b'.' | b'-' | b':');
    let length = bytes.iter().take(SECTION_BYTES).take_while(inner).count();
    let word = rest(text, at).get(..length)?.trim_end_matches(['.', ':', '-']);
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let after = rest(text, at + word.len());
    let next = after.trim_start().chars().next();
    // A capital or a section sign after a blank shows that the number begins another citation.
    let other = after.starts_with(' ') && next.is_some_and(|it| it.is_uppercase() || it == '§');
    let fits = digits > 1 && !other && length < SECTION_BYTES;
    fits.then_some(at + word.len())
}
