//! The phrases of `acts.txt` and `acts_ru.txt`, parsed once. Verbs are found by their forms.

use std::collections::HashMap;
use std::sync::LazyLock;

use text::stem::rough;

/// One phrase: `1 pay [wages] to 2`.
#[derive(Debug)]
pub(super) struct Phrase {
    pub(super) act: &'static str,
    /// The side that the subject fills.
    pub(super) subject: Option<usize>,
    pub(super) nouns: Vec<&'static str>,
    /// Prepositions and the sides that they lead to; an empty one is the direct object.
    pub(super) rest: Vec<(&'static str, usize)>,
}

/// All phrases, by verb and, for those without a verb, by noun.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    phrases: Vec<Phrase>,
    by_verb: HashMap<String, Vec<usize>>,
    by_noun: HashMap<&'static str, Vec<usize>>,
}

pub(super) static ENGLISH: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::parse(include_str!("../../data/acts.txt")));

/// The words of a group in brackets, or one word, and what follows.
fn group(text: &'static str) -> (Vec<&'static str>, &'static str) {
    let text = text.trim_start();
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some((inner, rest)) = text.strip_prefix(open).and_then(|it| it.split_once(close)) {
            return (inner.split(' ').collect(), rest.trim_start());
        }
    }
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    (vec![word], rest.trim_start())
}

fn side(word: &str) -> Option<usize> {
    match word {
        "1" => Some(0),
        "2" => Some(1),
        _ => None,
    }
}

impl Lexicon {
    fn parse(file: &'static str) -> Self {
        let mut lexicon = Self::default();
        for row in file.lines().filter(|it| !it.starts_with('#')) {
            let Some((act, phrase)) = row.split_once(": ") else { continue };
            lexicon.add(act, phrase);
        }
        lexicon
    }

    fn add(&mut self, act: &'static str, text: &'static str) {
        let mut phrase = Phrase { act, subject: None, nouns: Vec::new(), rest: Vec::new() };
        let id = self.phrases.len();
        let mut rest = text;
        if rest.starts_with('[') {
            for noun in group(rest).0 {
                self.by_noun.entry(noun).or_default().push(id);
            }
        } else {
            let (subject, after) = rest.split_once(' ').unwrap_or((rest, ""));
            phrase.subject = side(subject);
            let (verbs, after) = group(after);
            for verb in verbs {
                for form in forms(verb) {
                    let list = self.by_verb.entry(form).or_default();
                    if list.last() != Some(&id) {
                        list.push(id);
                    }
                }
            }
            rest = after;
        }
        while !rest.is_empty() {
            if rest.starts_with('[') {
                let (nouns, after) = group(rest);
                phrase.nouns.extend(nouns);
                rest = after;
                continue;
            }
            let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
            if let Some(side) = side(word) {
                phrase.rest.push(("", side));
                rest = after;
                continue;
            }
            let (number, after) = after.split_once(' ').unwrap_or((after, ""));
            phrase.rest.extend(side(number).map(|it| (word, it)));
            rest = after;
        }
        self.phrases.push(phrase);
    }

    fn of<'a>(&'a self, list: Option<&'a Vec<usize>>) -> impl Iterator<Item = &'a Phrase> {
        list.into_iter().flatten().filter_map(|it| self.phrases.get(*it))
    }

    /// The phrases of a verb in any form.
    pub(super) fn verb(&self, folded: &str) -> Vec<&Phrase> {
        let list = self.by_verb.get(folded).or_else(|| self.by_verb.get(&rough(folded)));
        self.of(list).collect()
    }

    /// The phrases that have a noun instead of a verb.
    pub(super) fn noun(&self, folded: &str) -> Vec<&Phrase> {
        let list = self.by_noun.get(folded);
        let single = || self.by_noun.get(folded.strip_suffix('s')?);
        self.of(list.or_else(single)).collect()
    }
}

/// The forms of a verb that its rough stem does not cover, and the stem itself.
fn forms(verb: &str) -> Vec<String> {
    if verb == "be" {
        return ["is", "was", "are", "were", "be", "been"].map(str::to_owned).to_vec();
    }
    let mut list = vec![rough(verb), verb.to_owned()];
    let short = verb.len() <= 3;
    if let Some(base) = verb.strip_suffix('e').filter(|_| short) {
        list.extend([format!("{verb}d"), format!("{verb}s"), format!("{base}ing")]);
    }
    list.dedup();
    list
}

/// A Russian row: beginnings of words, and what fills the two sides.
#[derive(Debug)]
pub(super) struct RussianPhrase {
    pub(super) act: &'static str,
    pub(super) words: Vec<&'static str>,
    /// A case, or a preposition.
    pub(super) sides: [Option<&'static str>; 2],
}

pub(super) static RUSSIAN: LazyLock<Vec<RussianPhrase>> =
    LazyLock::new(|| russian(include_str!("../../data/acts_ru.txt")));

fn russian(file: &'static str) -> Vec<RussianPhrase> {
    let rows = file.lines().filter(|it| !it.starts_with('#'));
    rows.filter_map(|row| {
        let (act, rest) = row.split_once(": ")?;
        let (words, sides) = rest.split_once(" | ")?;
        let mut filled = [None, None];
        for it in sides.split(' ') {
            let (number, form) = it.split_once('=')?;
            *filled.get_mut(side(number)?)? = Some(form);
        }
        Some(RussianPhrase { act, words: words.split(' ').collect(), sides: filled })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        let rows = |file: &str| file.lines().filter(|it| !it.starts_with('#')).count();
        assert_eq!(ENGLISH.phrases.len(), rows(include_str!("../../data/acts.txt")));
        assert_eq!(RUSSIAN.len(), rows(include_str!("../../data/acts_ru.txt")));
        for it in &ENGLISH.phrases {
            assert!(it.subject.is_some() || !it.rest.is_empty(), "{it:?}");
        }
    }

    #[test]
    fn verbs_are_found_in_all_forms() {
        for form in ["sue", "sues", "sued", "suing", "paid", "pays", "owed", "bought", "leased"] {
            assert!(!ENGLISH.verb(form).is_empty(), "{form}");
        }
        assert!(ENGLISH.verb("table").is_empty());
        assert!(!ENGLISH.noun("lawsuits").is_empty());
    }
}
