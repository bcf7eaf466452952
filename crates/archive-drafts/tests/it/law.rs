//! The normal form of citations: only letters and digits, one citation for each article of a list,
//! without subsections.

/// The letters and digits in lower case, so that `NW2d` equals `N.W.2d`.
pub(crate) fn bare(text: &str) -> String {
    text.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The citations in a text: one, or one for each article of a list.
pub(crate) fn laws(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    if !lower.contains(['с', 'п', 'з']) {
        return vec![bare(&without_paragraphs(&lower))];
    }
    let lower = numbered(&lower);
    let words: Vec<String> = lower.split_whitespace().map(named).collect();
    let Some(label) = words.iter().position(|it| it == "ст") else {
        return vec![bare(&words.join(" "))];
    };
    let figure = |it: &String| it.starts_with(|it: char| it.is_ascii_digit());
    let list = words.iter().skip(label + 1).take_while(|it| figure(it) || *it == "и");
    let numbers: Vec<&String> = list.filter(|it| figure(it)).collect();
    let last = words.iter().rposition(|it| numbers.contains(&it)).unwrap_or(label);
    let (before, after) = (words[..=label].join(" "), words[last + 1..].join(" "));
    numbers.into_iter().map(|it| bare(&format!("{before} {it} {after}"))).collect()
}

/// Replaces the name of a law or a resolution by its number, if it has one, because the name is
/// written in many ways.
fn numbered(text: &str) -> String {
    let act = ["федеральн", "закон", "постановлени"].iter().filter_map(|it| text.find(it)).min();
    let Some(start) = act else { return text.to_owned() };
    let number = text[start..].split(['№', ' ']).rev().find(|it| {
        it.starts_with(|it: char| it.is_ascii_digit()) && (it.contains("-фз") || !it.contains('.'))
    });
    number
        .map_or(text.to_owned(), |it| format!("{}акт {}", &text[..start], it.trim_end_matches(',')))
}

/// `28 u.s.c. § 1404(a)` without `(a)`, and without the word for the sign.
fn without_paragraphs(text: &str) -> String {
    let mut text = text.replace("sections", "").replace("section", "").replace("subd.", "");
    while let Some(open) = text.trim_end().strip_suffix(')').and_then(|it| it.rfind('(')) {
        text.truncate(open);
    }
    text
}

/// Parts and articles however their words are bent or cut.
fn named(word: &str) -> String {
    let word = word.replace('ё', "е");
    let kinds =
        [("стат", "ст"), ("пункт", "п"), ("подпункт", "пп"), ("част", "ч"), ("абзац", "абз")];
    let kind = kinds.iter().find(|it| word.starts_with(it.0));
    kind.map_or(word.trim_end_matches(['.', ',']).to_owned(), |it| it.1.to_owned())
}
