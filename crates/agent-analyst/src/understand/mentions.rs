//! The securities that a question names, and the weights it gives them. Whether there are such
//! securities is for the exchange's list to say.

use super::vocabulary::{begins, is_common, nickname};
use crate::words::{Kind, Word};

/// Securities that one question may name.
pub(crate) const MENTIONS_MAX: usize = 10;
/// Words of one name.
const WORDS_MAX: usize = 3;

#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// As it was written.
    pub text: String,
    /// Its words in lower case, or those of the name that it is short for.
    pub words: Vec<String>,
    /// What the list is searched for.
    pub query: String,
    /// Whether it looks like a name: then it is said if nothing is found.
    pub strong: bool,
    pub preferred: bool,
    /// Percent, or any other measure that is the same for all.
    pub weight: Option<f64>,
}

#[derive(Debug, Default)]
pub(super) struct Named {
    pub(super) mentions: Vec<Mention>,
    pub(super) cash_pct: Option<f64>,
}

/// A name, money, or a weight, in the order of the question.
enum Item {
    Name(usize),
    Cash,
    Weight(f64),
}

pub(super) fn named(words: &[Word], used: &[bool]) -> Named {
    let mut found = Named::default();
    let mut items = Vec::new();
    // In a portfolio a number that follows a name is its weight: «GAZP 70, SBER 30».
    let portfolio = begins(words, &["портфел", "portfolio"]);
    let (mut at, mut ended) = (0, usize::MAX);
    while at < words.len() {
        let word = &words[at];
        let free = !used.get(at).copied().unwrap_or(true);
        if free && is_candidate(words, at) && found.mentions.len() < MENTIONS_MAX {
            let len = run(words, used, at);
            items.push(Item::Name(found.mentions.len()));
            found.mentions.push(mention(words, at, len));
            at += len;
            ended = at;
            continue;
        }
        if is_cash(word) {
            items.push(Item::Cash);
        }
        let follows = word.number().filter(|it| portfolio && at == ended && *it > 0.0);
        if let Some(weight) = weight(words, at).or(follows).filter(|_| free) {
            items.push(Item::Weight(weight));
        }
        at += 1;
    }
    weigh(&items, &mut found);
    found
}

fn is_cash(word: &Word) -> bool {
    let stems = ["кэш", "кеш", "наличн", "деньг", "cash"];
    word.is_letters() && stems.iter().any(|it| word.lower.starts_with(it))
}

/// A percent, or a plain number beside a slash: 60/40.
fn weight(words: &[Word], at: usize) -> Option<f64> {
    let word = words.get(at)?;
    let beside = |at: Option<usize>| {
        at.and_then(|at| words.get(at)).is_some_and(|it| it.is_mark(&['/', '=', ':']))
    };
    let about = |it: &Word| {
        it.is(&["var"]) || it.lower.starts_with("доверит") || it.lower.starts_with("confid")
    };
    let near = words.get(at.saturating_sub(2)..at).unwrap_or_default();
    let next = words.get(at + 1..words.len().min(at + 4)).unwrap_or_default();
    if near.iter().chain(next).any(about) {
        return None;
    }
    let fraction = |it: &f64| it.fract() > 0.0 && *it < 1.0;
    let plain = word
        .number()
        .filter(|it| fraction(it) || beside(at.checked_sub(1)) || beside(Some(at + 1)));
    word.percent().or(plain).filter(|it| *it > 0.0 && *it <= 1e6)
}

fn weigh(items: &[Item], found: &mut Named) {
    let strong: Vec<bool> = found.mentions.iter().map(|it| it.strong).collect();
    let mut give = |item: Option<&Item>, weight: f64| match item {
        Some(Item::Name(at)) => {
            if let Some(mention) = found.mentions.get_mut(*at) {
                mention.weight = Some(weight);
            }
        }
        Some(Item::Cash) => found.cash_pct = Some(weight),
        _ => {}
    };
    let weights: Vec<f64> = items
        .iter()
        .filter_map(|it| match it {
            Item::Weight(weight) => Some(*weight),
            _ => None,
        })
        .collect();
    let sure = |it: &&Item| match it {
        Item::Name(at) => strong.get(*at).copied().unwrap_or(false),
        it => !matches!(it, Item::Weight(_)),
    };
    let mut others: Vec<&Item> = items.iter().filter(|it| !matches!(it, Item::Weight(_))).collect();
    if weights.len() < others.len() {
        // A word that does not look like a name may be none.
        let named: Vec<&Item> = items.iter().filter(sure).collect();
        others = if named.len() == weights.len() { named } else { others };
    }
    let alternate = items
        .windows(2)
        .all(|it| matches!(it[0], Item::Weight(_)) != matches!(it[1], Item::Weight(_)));
    if weights.len() == others.len() {
        // In the order in which they are said, whichever comes first: «40% SBER» or «SBER 40%».
        others.into_iter().zip(weights).for_each(|(item, weight)| give(Some(item), weight));
        return;
    }
    let first = alternate && matches!(items.first(), Some(Item::Weight(_)));
    for (at, item) in items.iter().enumerate() {
        let Item::Weight(weight) = item else { continue };
        let before = at
            .checked_sub(1)
            .and_then(|at| items.get(at))
            .filter(|it| !matches!(it, Item::Weight(_)));
        give(if first { items.get(at + 1) } else { before.or_else(|| items.get(at + 1)) }, *weight);
    }
}

fn is_candidate(words: &[Word], at: usize) -> bool {
    let Some(word) = words.get(at).filter(|it| it.is_letters()) else { return false };
    let before = at.checked_sub(1).and_then(|at| words.get(at));
    let share = before.is_some_and(|it| {
        ["акци", "бумаг", "share", "stock"].iter().any(|s| it.lower.starts_with(s))
    });
    let exchange = word.lower == "moex"
        || word.lower.starts_with("мосбирж")
        || word.lower.starts_with("московск")
        || is_moscow_exchange(words, at);
    let venue = before
        .is_some_and(|it| it.is(&["на", "on", "индекс", "индекса", "индексе", "индексу", "the"]));
    let index = words.get(at + 1).is_some_and(|it| it.is(&["index"]));
    if exchange {
        return !venue && !index;
    }
    if word.is(&["ртс", "rts", "imoex", "rtsi"]) || is_preferred(word) {
        return false;
    }
    word.quoted && !is_common(word) || share && nickname(word).is_some() || !is_common(word)
}

/// Two common words that are a name together.
fn is_moscow_exchange(words: &[Word], at: usize) -> bool {
    let is = |at: usize, name: &str| words.get(at).is_some_and(|it| it.lower == name);
    is(at, "moscow") && is(at + 1, "exchange")
}

fn is_preferred(word: &Word) -> bool {
    let stems = ["преф", "привилег", "pref"];
    word.is(&["ап", "ап."]) || stems.iter().any(|it| word.lower.starts_with(it))
}

/// How many words from here on are one name: those of one kind that stand together.
fn run(words: &[Word], used: &[bool], at: usize) -> usize {
    let Some(first) = words.get(at) else { return 1 };
    let alone = |word: &Word| nickname(word).is_some() || is_ticker(word);
    let joins = |at: usize| {
        let free = !used.get(at).copied().unwrap_or(true);
        words.get(at).is_some_and(|it| {
            free && it.kind == first.kind && is_candidate(words, at) && !alone(it)
        })
    };
    if is_moscow_exchange(words, at) {
        return 2;
    }
    if alone(first) {
        return 1;
    }
    1 + (1..WORDS_MAX).take_while(|more| joins(at + more)).count()
}

fn is_ticker(word: &Word) -> bool {
    let capitals = word.text.chars().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit());
    word.kind == Kind::Latin && capitals && (2..=12).contains(&word.text.len())
}

fn mention(words: &[Word], at: usize, len: usize) -> Mention {
    let own = words.get(at..at + len).unwrap_or_default();
    let text = own.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join(" ");
    let capital = |it: &Word| it.text.chars().next().is_some_and(char::is_uppercase);
    let short = own.first().filter(|_| len == 1).and_then(nickname);
    let before = at.checked_sub(1).and_then(|at| words.get(at));
    let after = |more: usize| words.get(at + len + more);
    let share = before.is_some_and(|it| {
        ["акци", "бумаг", "share", "stock"].iter().any(|s| it.lower.starts_with(s))
    });
    let strong = short.is_some()
        || own.iter().any(|it| is_ticker(it) || it.quoted || (capital(it) && !it.first));
    // «префы Сбера», «привилегированные акции Сбера», «Сбер преф», «Сбера ап», «Сбер (префы)».
    let earlier = at.checked_sub(2).and_then(|at| words.get(at)).filter(|_| share);
    let bracket = after(0).is_some_and(|it| it.is_mark(&['(', '-']));
    let near = [earlier, before, after(0), after(1).filter(|_| bracket)];
    let preferred = near.iter().flatten().any(|it| is_preferred(it));
    let lower =
        |text: &str| crate::words::lower(text).split_whitespace().map(ToOwned::to_owned).collect();
    let (names, query): (Vec<String>, String) = match short {
        Some(name) => (lower(name), name.to_owned()),
        None => {
            let plain =
                |it: &Word| it.lower.split(['\'', '’']).next().unwrap_or_default().to_owned();
            let stems: Vec<&str> = own
                .iter()
                .map(|it| match it.kind {
                    Kind::Cyrillic => it.stem.as_str(),
                    _ => it.lower.split(['\'', '’']).next().unwrap_or_default(),
                })
                .collect();
            (own.iter().map(plain).collect(), stems.join(" "))
        }
    };
    let query = query.chars().take(60).collect();
    Mention { text, words: names, query, strong, preferred, weight: None }
}
