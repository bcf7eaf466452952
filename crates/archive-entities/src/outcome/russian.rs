//! The operative part of a Russian act: what follows «РЕШИЛ», «ОПРЕДЕЛИЛА», «ПОСТАНОВИЛ».

use super::{OutcomeMatch, WHAT_TOKENS};
use crate::chronology::OutcomeKind;
use crate::entity::Ground;
use crate::text::TokenText;

/// Whether the operative part begins with this token.
pub(super) fn opens(text: &TokenText<'_>, at: usize) -> bool {
    const WORDS: [&str; 8] = [
        "решил",
        "решила",
        "определил",
        "определила",
        "постановил",
        "постановила",
        "приговорил",
        "приговорила",
    ];
    let word = text.low(at);
    if WORDS.contains(&word) {
        return text.at(at).is_some_and(|it| it.all_caps) || text.is(at + 1, ":");
    }
    // `р е ш и л :`
    let spaced = |word: &str| {
        let mut length = 0;
        let same = word.chars().enumerate().all(|(step, letter)| {
            length = step + 1;
            text.low(at + step).chars().eq([letter])
        });
        same && text.is(at + length, ":")
    };
    text.word(at).chars().count() == 1
        && matches!(word, "р" | "о" | "п")
        && WORDS.iter().any(|it| spaced(it))
}

/// The decision whose verb stands at this token.
pub(super) fn find(text: &TokenText<'_>, starts: &[usize], at: usize) -> Option<OutcomeMatch> {
    let word = text.low(at);
    let near = |stem: &str| (at + 1..at + 6).any(|it| text.low(it).starts_with(stem));
    let kind = match word {
        "удовлетворить" if near("частичн") => OutcomeKind::GrantedInPart,
        "удовлетворить" => OutcomeKind::Granted,
        "отказать" => OutcomeKind::Denied,
        "оставить" if near("изменени") => OutcomeKind::Affirmed,
        "оставить" if near("рассмотрени") => OutcomeKind::Dismissed,
        "оставить" if near("удовлетворени") => OutcomeKind::Denied,
        "оставить" if near("движени") => OutcomeKind::LeftWithoutMotion,
        "отменить" => OutcomeKind::Reversed,
        "изменить" => OutcomeKind::Modified,
        "прекратить" => OutcomeKind::Dismissed,
        "взыскать" => OutcomeKind::Awarded,
        "возвратить" => OutcomeKind::Returned,
        "признать" if near("виновн") || (at + 1..at + 9).any(|it| text.is(it, "виновным")) => {
            OutcomeKind::Convicted
        }
        _ => return None,
    };
    let first = starts.get(at).copied().unwrap_or(at).max(at.saturating_sub(WHAT_TOKENS));
    // «Исковые требования … удовлетворить» has it before the verb, «Взыскать с …» after it.
    let colon = (first..at).rev().find(|it| text.is(*it, ":")).map(|it| it + 1);
    let mut from = colon.unwrap_or(first);
    while from < at && (text.is_number(from) || matches!(text.low(from), "." | ")" | ":" | ",")) {
        from += 1;
    }
    let stop = (at + 1..at + 1 + WHAT_TOKENS)
        .find(|it| {
            matches!(text.low(*it), ";" | "")
                || text.is(*it, ".")
                    && text.capital(it + 1)
                    && text.word(it - 1).chars().count() > 2
                || text.breaks(*it) >= 2
        })
        .unwrap_or(at + 1 + WHAT_TOKENS);
    let what = if from < at { (from, at) } else { (at + 1, stop) };
    let end = stop.min(at + 4).max(at + 1);
    Some(OutcomeMatch { kind, range: (at, end), what, ground: Ground::Label })
}
