//! Finds the indices that a question names: «индекс Мосбиржи» is an index, «Мосбиржа» is a share.

use crate::words::Word;

/// Returns the index named here and its word count.
pub(super) fn at(words: &[Word], at: usize) -> Option<(&'static str, usize)> {
    let is = |more: usize, list: &[&str]| words.get(at + more).is_some_and(|it| it.is(list));
    let begins = |more: usize, stems: &[&str]| {
        words.get(at + more).is_some_and(|it| stems.iter().any(|s| it.lower.starts_with(s)))
    };
    let coded = |more: usize| {
        words.get(at + more).and_then(|it| match it.lower.as_str() {
            "imoex" => Some("IMOEX"),
            "rtsi" | "rts" | "ртс" => Some("RTSI"),
            "moexbc" => Some("MOEXBC"),
            _ => None,
        })
    };
    let chips = |more: usize| begins(more, &["голуб"]) && begins(more + 1, &["фиш"]);
    if chips(0) || is(0, &["blue"]) && begins(1, &["chip"]) {
        return Some(("MOEXBC", 2));
    }
    if let Some(ticker) = coded(0) {
        return Some((ticker, 1 + usize::from(begins(1, &["index"]))));
    }
    if begins(0, &["индекс"]) {
        if let Some(ticker) = coded(1) {
            return Some((ticker, 2));
        }
        if chips(1) {
            return Some(("MOEXBC", 3));
        }
        if begins(1, &["мосбирж"]) || is(1, &["moex", "ммвб"]) {
            return Some(("IMOEX", 2));
        }
        return (begins(1, &["московск"]) && begins(2, &["бирж"])).then_some(("IMOEX", 3));
    }
    let russia = usize::from(is(1, &["russia"]));
    if is(0, &["moex"]) && begins(1 + russia, &["index"]) {
        return Some(("IMOEX", 2 + russia));
    }
    (is(0, &["moscow"]) && is(1, &["exchange"]) && begins(2, &["index"])).then_some(("IMOEX", 3))
}

/// Returns the board under which the exchange lists the index.
pub(crate) fn board(ticker: &str) -> &'static str {
    if ticker == "RTSI" { "RTSI" } else { "SNDX" }
}

/// Reports whether a ticker belongs to an index.
pub(crate) fn is_index(ticker: &str) -> bool {
    ["IMOEX", "RTSI", "MOEXBC"].contains(&ticker)
}
