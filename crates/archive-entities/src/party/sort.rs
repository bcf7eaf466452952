//! Classifies the capitalised words of a caption: a government, an office, a placeholder, or a
//! description.

use crate::text::TokenText;

pub(super) fn is_office(word: &str) -> bool {
    matches!(word, "commissioner" | "secretary" | "director" | "administrator" | "warden")
}

/// A government that is a party under its name alone.
pub(super) fn government(text: &TokenText<'_>, at: usize) -> Option<usize> {
    if !text.capital(at) {
        return None;
    }
    if text.run(at, &["united", "states"]) {
        let more = matches!(
            text.low(at + 2),
            "district"
                | "court"
                | "bankruptcy"
                | "tax"
                | "attorney"
                | "magistrate"
                | "department"
                | "circuit"
                | "judicial"
                | "patent"
                | "of"
        );
        return (!more).then_some(at + 2);
    }
    if text.is(at, "people") && matches!(text.low(at + 1), "," | ";") {
        return Some(at + 1);
    }
    if is_office(text.low(at)) && text.is(at + 1, "of") && text.capital(at + 2) {
        let mut end = at + 3;
        while end < at + 7 && text.capital(end) && text.is_word(end) && text.breaks(end) == 0 {
            end += 1;
        }
        return Some(end);
    }
    None
}

/// The end of a body's name that no other rule knows, `HARBOR CENTRAL ASSOCIATION,`: capitals to the
/// end of the line or a comma, among them a word that is in no personal name.
pub(super) fn body(text: &TokenText<'_>, at: usize) -> Option<usize> {
    let goes = |it: &usize| {
        text.is_word(*it)
            && text.capital(*it)
            && text.word(*it).len() > 1
            && (*it == at || text.breaks(*it) == 0)
            && text.at(*it).map(|it| it.after_gap) == text.at(at).map(|it| it.after_gap)
            && super::roles(text.low(*it)).next().is_none()
            && !matches!(text.low(*it), "court" | "judge" | "case" | "order" | "v" | "the")
    };
    let end = (at..at + 8).take_while(goes).last()? + 1;
    let closed = text.breaks(end) > 0 || matches!(text.low(end), "," | ";" | ")");
    let other = (at..end).any(|it| {
        matches!(
            text.low(it),
            "trust"
                | "association"
                | "commission"
                | "board"
                | "bank"
                | "company"
                | "department"
                | "university"
                | "insurance"
                | "fund"
                | "systems"
                | "technologies"
                | "industries"
                | "council"
                | "republic"
        )
    });
    (end - at > 1 && closed && other).then_some(end)
}

/// `JOHN DOES 1-3`, `JANE DOE 1`, `DOES 1 through 25`: placeholder parties.
pub(crate) fn is_placeholder(text: &TokenText<'_>, at: usize) -> bool {
    let last = at + usize::from(matches!(text.low(at), "john" | "jane" | "abc" | "xyz"));
    text.is(last, "does")
        || matches!(text.low(last), "doe" | "roe" | "corp" | "corporations" | "corporation")
            && last > at
            && (text.is_number(last + 1) || matches!(text.low(last + 1), "i" | "nos" | "through"))
}

pub(super) fn is_description(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "individually"
            | "et"
            | "al"
            | "jointly"
            | "severally"
            | "as"
            | "by"
            | "his"
            | "her"
            | "its"
            | "in"
            | "on"
            | "jr"
            | "sr"
            | "deceased"
            | "d"
            | "doing"
            | "dba"
            | "formerly"
            | "case"
            | "hon"
            | "michigan"
            | "corporation"
            | "esq"
            | "official"
            | "capacity"
    )
}
