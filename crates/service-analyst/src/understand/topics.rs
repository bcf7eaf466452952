//! Finds the subject of a question that no tool serves, by the table in `data/topics.tsv`.

use super::{Intent, Mention};
use crate::words::Word;

/// A subject that is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Topic {
    /// The name of its sentence in the message catalogue.
    pub(super) message: &'static str,
    is_decisive: bool,
}

fn fits(word: &Word, stem: &str) -> bool {
    if let Some(whole) = stem.strip_prefix('=') {
        return word.lower == whole;
    }
    let short = stem.chars().count() <= 4 || stem.is_ascii();
    if short { word.lower == stem } else { word.lower.starts_with(stem) }
}

fn table() -> impl Iterator<Item = (Topic, &'static str)> {
    let lines = include_str!("../../data/topics.tsv").lines().filter(|it| !it.starts_with('#'));
    lines.filter_map(|line| {
        let mut fields = line.splitn(3, '\t');
        let (message, when, stems) = (fields.next()?, fields.next()?, fields.next()?);
        Some((Topic { message, is_decisive: when == "always" }, stems))
    })
}

/// Returns the first subject of the table that the words name, and removes its words from the
/// mentions.
pub(super) fn topic(words: &[Word], mentions: &mut Vec<Mention>) -> Option<Topic> {
    let has = |stem: &str| words.iter().any(|it| it.is_letters() && fits(it, stem));
    let (topic, stems) = table().find(|(_, stems)| stems.split(' ').any(has))?;
    // An amount of money names a currency without asking for its rate.
    let money = |it: &Mention| matches!(it.amount, Some(super::Amount::Money(_)));
    let named = mentions.iter().any(|it| it.strong && !is_of(it, stems));
    if topic.message == "no_advice" && named {
        return None;
    }
    if topic.message == "no_currencies" && (named || mentions.iter().any(money)) {
        return None;
    }
    mentions.retain(|it| !is_of(it, stems) && (it.strong || named));
    Some(topic)
}

/// Reports whether a mention is a word of the subject itself.
fn is_of(mention: &Mention, stems: &str) -> bool {
    let parsed = crate::words::words(&mention.text);
    parsed.iter().any(|word| stems.split(' ').any(|it| fits(word, it)))
}

impl Topic {
    /// Reports whether the subject answers the question, whatever else its words suggest.
    pub(super) fn decides(self, stated: Option<Intent>, mentions: &[Mention]) -> bool {
        mentions.iter().all(|it| !it.strong) && (self.is_decisive || stated.is_none())
    }
}
