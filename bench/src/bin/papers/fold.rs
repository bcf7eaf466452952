//! The form in which names and titles are compared: without case, accents, punctuation, forms of
//! address, `Esq.` and generations.

/// Words of the comparison that belong to no name.
const BESIDE_NAMES: [&str; 24] = [
    "the",
    "mr",
    "mrs",
    "ms",
    "miss",
    "dr",
    "hon",
    "honorable",
    "judge",
    "justice",
    "magistrate",
    "chief",
    "esq",
    "esquire",
    "jr",
    "sr",
    "ii",
    "iii",
    "iv",
    "phd",
    "md",
    "судья",
    "адвокат",
    "г",
];

/// Words in which titles and courts may differ.
const JOINING: [&str; 17] = [
    "the", "of", "and", "for", "in", "v", "vs", "versus", "re", "matter", "к", "и", "по", "делу",
    "от", "года", "n",
];

/// The words of a text in the form of the comparison: `O'Brien, J.D.` gives `obrien` and `jd`.
pub(crate) fn words(text: &str) -> Vec<String> {
    let text = text.replace('&', " and ");
    let mut list = Vec::new();
    for word in text.split(|it: char| !(it.is_alphanumeric() || matches!(it, '.' | '\'' | '’'))) {
        let joined: String = word.chars().filter(|it| it.is_alphanumeric()).collect();
        list.extend(text::fold::searched(&joined).filter(|it| !it.is_empty()));
    }
    list
}

/// A name in the form of the comparison. Letters that stand alone are joined, so that `U. S.` is
/// `U.S.` and `J. P. Roe` is `J.P. Roe`.
pub(crate) fn name(text: &str) -> String {
    let words = words(text);
    let mut out = String::new();
    let mut after_letter = false;
    for word in words.iter().filter(|it| !BESIDE_NAMES.contains(&it.as_str())) {
        let letter = word.chars().count() == 1;
        let joined = letter && after_letter;
        if !(out.is_empty() || joined) {
            out.push(' ');
        }
        out.push_str(word);
        after_letter = letter;
    }
    out
}

/// The words that tell titles apart.
pub(crate) fn telling_words(text: &str) -> Vec<String> {
    let name = name(text);
    name.split(' ')
        .filter(|it| !it.is_empty() && !JOINING.contains(it))
        .map(str::to_owned)
        .collect()
}

/// Whether every telling word of `part` is in `whole`.
pub(crate) fn contains(whole: &str, part: &str) -> bool {
    let (whole, part) = (telling_words(whole), telling_words(part));
    !part.is_empty() && part.iter().all(|it| whole.contains(it))
}
