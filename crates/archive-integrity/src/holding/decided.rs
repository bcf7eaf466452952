//! Tells decisions that were made from those that are asked for, possible or reported, and finds
//! the decisions that the speaking court makes itself.

use super::{Polarity, axis_name, is_in};
use crate::Span;
use crate::text::Word;

/// Words after which a decision is asked for, allowed or supposed, but not made.
const SUPPOSED: &str = "to may might can could would should shall must will if whether unless why \
cannot seeks seeking sought asks asked requests requested просил просила просило просит просят \
может могут мог бы если вправе";
/// Words with which a Russian court introduces its decision.
const DECIDED_RU: [&str; 5] = ["решил", "определил", "постановил", "приговорил", "решение"];

/// Whether a decision word states a decision that was made.
pub(super) fn is_actual(folded: &[String], at: usize) -> bool {
    let word = folded[at].as_str();
    let before: Vec<&str> =
        (1..=6).filter_map(|it| at.checked_sub(it)).map(|it| folded[it].as_str()).collect();
    let russian = word.starts_with(|it: char| ('а'..='я').contains(&it));
    if russian {
        let infinitive = word.ends_with("ть") || word.ends_with("ти") || word.ends_with("ться");
        let decided =
            folded[..at].iter().any(|it| DECIDED_RU.iter().any(|start| it.starts_with(start)));
        let gerund = word.ends_with("ая") || word.ends_with("яя");
        let noun = ["ии", "ие", "ия", "ию", "ием", "ье"].iter().any(|it| word.ends_with(it));
        let fixed = word == "изменения" || word == "силе";
        return (!noun || fixed)
            && !gerund
            && (!infinitive || decided)
            && !before.iter().take(3).any(|it| is_in(SUPPOSED, it));
    }
    if word.ends_with("ing") || before.first() == Some(&"be") {
        return false;
    }
    let refused = before
        .iter()
        .any(|it| it.starts_with("declin") || it.starts_with("refus") || *it == "agreed");
    if before.iter().take(3).any(|it| is_in(SUPPOSED, it)) && !refused {
        return false;
    }
    // The base form decides only after «we», «I» or «did».
    let base = !(word.ends_with("ed") || word.ends_with('s') || crate::text::is_irregular(word));
    let verb = is_in(
        "grant allow accept deny reject refuse forbid affirm uphold reverse vacate sustain overrule enforce disturb oppose consent",
        word,
    );
    !(base && verb) || before.iter().any(|it| is_in("we i did do does not hereby", it))
}

/// The decisions on an appeal that the speaking court makes itself: «we affirm», `REVERSED`,
/// «определила: решение оставить без изменения».
pub(crate) fn dispositions(words: &[Word<'_>], polarity: &Polarity) -> Vec<(bool, Span)> {
    let made = polarity.mentions.iter().filter(|it| {
        let at = words.partition_point(|word| word.start < it.span.start);
        let Some(word) = words.get(at) else { return false };
        let before = words[at.saturating_sub(6)..at].iter().map(Word::fold);
        let spoken = before.into_iter().any(|it| it == "we");
        let loud = word.text.len() >= 6 && word.text.chars().all(char::is_uppercase);
        let alone = words.len() <= 4;
        let decided = words[..at].iter().any(|it| {
            let folded = it.fold();
            ["определил", "решил", "постановил"].iter().any(|start| folded.starts_with(start))
        });
        let english = axis_name(it.axis) == "appeal" && (spoken || loud || alone);
        let russian = axis_name(it.axis) == "обжалование" && decided;
        it.is_actual && (english || russian)
    });
    made.map(|it| (it.positive, it.span)).collect()
}
