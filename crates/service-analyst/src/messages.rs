//! The catalogue of sentences in `data/messages.tsv`, in Russian and in English.

use crate::number::Language;

/// Returns both texts of a message; empty for a name that the catalogue lacks.
pub(crate) fn both(name: &str) -> (&'static str, &'static str) {
    let lines = include_str!("../data/messages.tsv").lines().filter(|it| !it.starts_with('#'));
    let mut fields = lines.map(|it| it.splitn(3, '\t'));
    let texts = fields.find_map(|mut it| {
        let found = it.next() == Some(name);
        let (russian, english) = (it.next()?, it.next()?);
        found.then_some((russian, english))
    });
    texts.unwrap_or_default()
}

pub(crate) fn message(name: &str, language: Language) -> &'static str {
    let (russian, english) = both(name);
    language.pick(russian, english)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_has_both_texts_and_no_number() {
        for line in include_str!("../data/messages.tsv").lines().filter(|it| !it.starts_with('#')) {
            let name = line.split('\t').next().unwrap();
            for text in [both(name).0, both(name).1] {
                assert!(!text.is_empty() && crate::numbers(text).is_empty(), "{name}: {text}");
            }
        }
    }
}
