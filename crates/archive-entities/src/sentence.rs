//! Finds the bounds of sentences. Abbreviations of courts, names and sums do not end a sentence.

use text::sentences::is_abbreviation;

use crate::text::{TokenKind, TokenText};

/// For each token the first token of its sentence.
pub(crate) fn starts(text: &TokenText<'_>) -> Vec<usize> {
    let mut list = Vec::with_capacity(text.len());
    let (mut start, mut heading) = (0, false);
    for at in 0..text.len() {
        let starts_sentence = at > 0
            && (text.breaks(at) >= 2
                || is_item(text, at)
                || ends(text, at - 1)
                || text.breaks(at) == 1
                    && heading
                    && is_shout(text, at - 1)
                    && !text.at(at).is_some_and(|it| it.all_caps));
        if starts_sentence {
            start = at;
        }
        // A line of nothing but capitals is a heading, not the beginning of the next sentence.
        if text.breaks(at) > 0 || at == 0 {
            heading = true;
        }
        heading &= is_shout(text, at);
        list.push(start);
    }
    list
}

fn is_shout(text: &TokenText<'_>, at: usize) -> bool {
    text.at(at).is_some_and(|it| it.all_caps || it.kind == TokenKind::Mark)
}

/// Whether an item of a list begins: after a bullet, or in a new line after a semicolon.
fn is_item(text: &TokenText<'_>, at: usize) -> bool {
    text.breaks(at) > 0
        && (matches!(text.low(at), "-" | "•" | "*" | "–" | "▪") && !text.glued(at + 1)
            || text.is(at - 1, ";"))
}

/// Whether the sentence ends with this token.
fn ends(text: &TokenText<'_>, at: usize) -> bool {
    let mark = text.low(at);
    let next = at + 1;
    match mark {
        "!" | "?" => return true,
        "." => {}
        "”" | "\"" | "»" => return at > 0 && text.is(at - 1, ".") && text.capital(next),
        _ => return false,
    }
    let opens = text.capital(next)
        || text.is_number(next)
        || matches!(text.low(next), "«" | "“" | "\"" | "(" | "[" | "/" | "_");
    if !opens || text.glued(next) || at == 0 {
        return false;
    }
    let before = text.low(at - 1);
    match before {
        // `2024 г. Суд` ends a sentence, `г. Москва` does not.
        "г" => at > 1 && text.is_number(at - 2) && text.capital(next),
        "руб" | "коп" => text.capital(next),
        "inc" | "corp" | "co" | "ltd" | "jr" | "sr" | "al" => {
            matches!(text.low(next), "the" | "on" | "in" | "this" | "defendant" | "plaintiff")
        }
        _ if is_abbreviation(text.word(at - 1)) => false,
        _ => {
            let letters = text.word(at - 1).chars().count();
            let initial = letters == 1 && text.capital(at - 1);
            // A paragraph's number: `12. On March 3 …`.
            let numbered = text.is_number(at - 1) && (at == 1 || text.breaks(at - 1) > 0);
            !initial && !numbered
        }
    }
}

/// The end of the sentence that begins at `start`, for tokens after `at`.
pub(crate) fn end(starts: &[usize], at: usize, most: usize) -> usize {
    let start = starts.get(at);
    let mut end = at + 1;
    while end < starts.len() && starts.get(end) == start && end - at < most {
        end += 1;
    }
    end
}
