//! Finds a quote in the text of a page: exactly, or with other white space between the words. A
//! quote with a changed word is not found.

/// A quote on a page, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QuoteMatch {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// False if the white space differs.
    pub(crate) exact: bool,
}

/// The first exact match, else the first with other white space.
pub(crate) fn locate(text: &str, quote: &str) -> Option<QuoteMatch> {
    let quote = quote.trim();
    if quote.is_empty() {
        return None;
    }
    if let Some(at) = text.find(quote) {
        return Some(match_of_bytes(text, at, at + quote.len(), true));
    }
    let (loose, places) = with_single_spaces(text);
    let (wanted, _) = with_single_spaces(quote);
    let at = loose.find(wanted.trim())?;
    let end = at + wanted.trim().len();
    let from = *places.get(at)?;
    // The end of the last character, not the start of the next one.
    let last = loose[..end].char_indices().next_back()?.0;
    let to = places.get(last)? + loose[last..end].len();
    Some(match_of_bytes(text, from, to, false))
}

/// The text with one space for every run of white space, and the byte that each of its bytes comes
/// from.
fn with_single_spaces(text: &str) -> (String, Vec<usize>) {
    let mut loose = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len());
    let mut in_space = false;
    for (at, letter) in text.char_indices() {
        let is_space = letter.is_whitespace();
        if !(is_space && in_space) {
            let written = if is_space { ' ' } else { letter };
            loose.push(written);
            places.extend((0..written.len_utf8()).map(|more| at + more));
        }
        in_space = is_space;
    }
    (loose, places)
}

fn match_of_bytes(text: &str, from: usize, to: usize, exact: bool) -> QuoteMatch {
    let count = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    let start = count(text.get(..from).unwrap_or_default());
    let length = count(text.get(from..to).unwrap_or_default());
    QuoteMatch { start, end: start.saturating_add(length), exact }
}

/// The text of the page at the match.
pub(crate) fn words_at(text: &str, place: QuoteMatch) -> String {
    let length = place.end.saturating_sub(place.start) as usize;
    text.chars().skip(place.start as usize).take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, quote: &str, there: Option<(&str, bool)>) {
        let found = locate(text, quote);
        let words = found.map(|it| (words_at(text, it), it.exact));
        assert_eq!(words.as_ref().map(|it| (it.0.as_str(), it.1)), there, "{quote:?}");
    }

    #[test]
    fn a_quote_is_found_through_other_spaces_and_through_nothing_else() {
        let text = "Истец просит\n  взыскать $500\u{a0}000 с ответчика.";
        check(text, "взыскать", Some(("взыскать", true)));
        check(text, "  взыскать ", Some(("взыскать", true)));
        check(text, "просит взыскать $500 000", Some(("просит\n  взыскать $500\u{a0}000", false)));
        check(text, "с ответчика.", Some(("с ответчика.", true)));
        check(text, "взыскать $600", None);
        check(text, "просит  взыскать", Some(("просит\n  взыскать", false)));
        check(text, "проситвзыскать", None);
        check(text, "", None);
        check("", "x", None);
    }

    #[test]
    fn an_ideographic_space_is_one_space() {
        check("a\u{3000}\u{3000}b", "a b", Some(("a\u{3000}\u{3000}b", false)));
    }
}
