//! Finds the securities that a question names and the amount of each. The exchange's list decides
//! later whether these securities exist.

use super::amounts::{self, Amount, AmountMatch, is_portfolio};
use super::index;
use super::vocabulary::{MOVED, begins, is_ambiguous, is_common, is_role, nickname};
use crate::words::{Word, WordKind};

/// Most securities that one question may name.
pub(crate) const MENTIONS_MAX: usize = 10;
const QUOTES: [char; 4] = ['«', '"', '“', '„'];
/// Most words of one name in quotation marks.
const QUOTED_MAX: usize = 5;
/// Most words of one name.
const WORDS_MAX: usize = 3;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mention {
    /// The name as the user wrote it.
    pub text: String,
    /// Its words in lower case, or the words of the full name behind a nickname.
    pub words: Vec<String>,
    /// The search query for the exchange's list.
    pub query: String,
    /// Whether it looks like a name. The answer reports such a mention if it is not found.
    pub strong: bool,
    pub preferred: bool,
    /// Whether the question gives the share class or the ticker itself.
    pub exact: bool,
    /// The amount that the question gives for it.
    pub amount: Option<Amount>,
    /// The ticker, if the mention is an index.
    pub index: Option<&'static str>,
    /// Whether it stands in a list with other names, so that it is likely a name as well.
    pub listed: bool,
}

#[derive(Debug, Default)]
pub(super) struct Named {
    pub(super) mentions: Vec<Mention>,
    pub(super) cash: Option<Amount>,
    /// Number of names beyond `MENTIONS_MAX`.
    pub(super) more: usize,
    /// Amounts without a name.
    pub(super) unnamed_amounts: Vec<Amount>,
}

/// A name, cash, or an amount, in the order of the question.
#[derive(Debug, Clone, PartialEq)]
enum Item {
    Name(usize),
    Cash,
    Amount(Amount),
}

pub(super) fn named(words: &[Word], used: &[bool]) -> Named {
    let mut found = Named::default();
    let mut items: Vec<(Item, usize)> = Vec::new();
    let portfolio = is_portfolio(words) || amounts::has_units(words);
    let moved = begins(words, &MOVED) && !portfolio;
    let mut ratios: Vec<(usize, Vec<f64>)> = Vec::new();
    let (mut at, mut ended, mut clause) = (0, usize::MAX, 0);
    let mut shorts = Vec::new();
    while let Some(word) = words.get(at) {
        let free = !used.get(at).copied().unwrap_or(true);
        if let Some((mentions, len)) = free.then(|| name_at(words, used, at)).flatten() {
            // A repeated name counts once.
            let again =
                |it: &Mention| !it.strong && found.mentions.iter().any(|has| has.text == it.text);
            let mut fresh: Vec<Mention> = mentions.into_iter().filter(|it| !again(it)).collect();
            if words.get(ended..at).is_some_and(|it| it.iter().all(is_list_joiner)) {
                fresh.iter_mut().chain(found.mentions.last_mut()).for_each(|it| it.listed = true);
            }
            for mention in fresh {
                items.push((Item::Name(found.mentions.len()), clause));
                found.mentions.push(mention);
            }
            at += len;
            ended = at;
            continue;
        }
        clause += usize::from(
            word.is_mark(&[',', ';', '\n', '.']) || word.is(&["и", "and", "а", "плюс"]),
        );
        if is_cash(word) {
            items.push((Item::Cash, clause));
        }
        if is_short(word) {
            shorts.push(clause);
        }
        let joint = words.get(ended).is_some_and(|it| it.is_mark(&['=', ':', '-', '–', '—']));
        let marked = joint && at == ended + 1;
        let near = at == ended || marked || name_follows(words, used, at);
        let is_change = moved && at.checked_sub(1).is_some_and(|at| words[at].is(&["на", "by"]));
        let may_be_amount = free && !is_change;
        let Some((amount_match, len)) =
            may_be_amount.then(|| amounts::at(words, at, portfolio, near)).flatten()
        else {
            at += 1;
            continue;
        };
        match amount_match {
            AmountMatch::One(amount) => {
                let amount = if is_negative(words, at) { amount.negated() } else { amount };
                items.push((Item::Amount(amount), clause));
            }
            AmountMatch::Ratio(list) => {
                ratios.push((items.len(), list));
                items.push((Item::Amount(Amount::Rest), clause));
            }
        }
        at += len;
    }
    let items = unfold(items, &ratios, &found.mentions);
    let items = drop_excess_names(items, &mut found);
    let signed = |(item, clause): (Item, usize)| match item {
        Item::Amount(amount) if shorts.contains(&clause) && amount.value() > Some(0.0) => {
            Item::Amount(amount.negated())
        }
        item => item,
    };
    let items: Vec<Item> = items.into_iter().map(signed).collect();
    assign_amounts(&inherit_units(items), &mut found);
    found
}

/// Reports whether a word joins the names of a list.
fn is_list_joiner(word: &Word) -> bool {
    word.is(&["и", "and", "или", "or", "vs", "против", "с", "плюс"])
        || word.is_mark(&[',', '/', '+'])
}

/// Keeps at most `MENTIONS_MAX` names and prefers the ones that look like names.
fn drop_excess_names(items: Vec<(Item, usize)>, found: &mut Named) -> Vec<(Item, usize)> {
    let all = std::mem::take(&mut found.mentions);
    let strong_count = all.iter().filter(|it| it.strong || it.index.is_some()).count();
    let mut weak_room = MENTIONS_MAX.saturating_sub(strong_count);
    let mut new_positions: Vec<Option<usize>> = Vec::new();
    for mention in all {
        let strong = mention.strong || mention.index.is_some();
        let fits = found.mentions.len() < MENTIONS_MAX && (strong || weak_room > 0);
        weak_room -= usize::from(fits && !strong);
        found.more += usize::from(!fits && strong);
        new_positions.push(fits.then_some(found.mentions.len()));
        if fits {
            found.mentions.push(mention);
        }
    }
    let moved = |(item, clause): (Item, usize)| match item {
        Item::Name(at) => Some((Item::Name(new_positions.get(at).copied().flatten()?), clause)),
        item => Some((item, clause)),
    };
    items.into_iter().filter_map(moved).collect()
}

/// Expands a ratio into amounts: one fraction, or one amount per name.
fn unfold(
    items: Vec<(Item, usize)>,
    ratios: &[(usize, Vec<f64>)],
    mentions: &[Mention],
) -> Vec<(Item, usize)> {
    let names = mentions.len();
    let mut out = Vec::new();
    for (at, (item, clause)) in items.into_iter().enumerate() {
        let Some((_, list)) = ratios.iter().find(|it| it.0 == at) else {
            out.push((item, clause));
            continue;
        };
        let one_per_name = ratios.len() == 1 && list.len() == names;
        match amounts::fraction(list).filter(|_| !one_per_name) {
            Some(amount) => out.push((Item::Amount(amount), clause)),
            None => {
                let whole: f64 = list.iter().sum();
                let part = |it: &f64| Amount::Percent(it / whole * 100.0);
                let exact = (whole - 100.0).abs() < 1e-9;
                let amount = |it: &f64| if exact { Amount::Percent(*it) } else { part(it) };
                out.extend(list.iter().map(|it| (Item::Amount(amount(it)), clause)));
            }
        }
    }
    out
}

/// Gives a number without a unit the unit of the others: «100 акций Сбера и 50 Лукойла».
fn inherit_units(items: Vec<Item>) -> Vec<Item> {
    let unit = items.iter().find_map(|it| match it {
        Item::Amount(amount @ (Amount::Pieces(_) | Amount::Lots(_) | Amount::Money(_))) => {
            Some(*amount)
        }
        _ => None,
    });
    let like = |it: f64| match unit {
        Some(Amount::Pieces(_)) => Amount::Pieces(it),
        Some(Amount::Lots(_)) => Amount::Lots(it),
        Some(Amount::Money(_)) => Amount::Money(it),
        _ => Amount::Plain(it),
    };
    let with_unit = |it: Item| match it {
        Item::Amount(Amount::Plain(value)) => Item::Amount(like(value)),
        it => it,
    };
    items.into_iter().map(with_unit).collect()
}

fn is_cash(word: &Word) -> bool {
    let stems = ["кэш", "кеш", "наличн", "деньг", "cash"];
    word.is_letters() && stems.iter().any(|it| word.lower.starts_with(it))
}

fn is_short(word: &Word) -> bool {
    ["шорт", "коротк"].iter().any(|it| word.lower.starts_with(it)) || word.is(&["short"])
}

/// Reports whether a minus sign is attached to the number: «-20%». A dash followed by a space is
/// not a sign.
fn is_negative(words: &[Word], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| words.get(at)) else { return false };
    let sign = before.is_mark(&['-', '−', '–']) && !before.glued;
    before.is(&["минус", "minus"]) || sign && words.get(at).is_some_and(|it| it.glued)
}

/// Reports whether a name begins right after this word.
fn name_follows(words: &[Word], used: &[bool], at: usize) -> bool {
    let skip = |it: &Word| it.is(&["в", "во", "на", "in", "of", "акций", "шт"]);
    let next = at + 1 + usize::from(words.get(at + 1).is_some_and(skip));
    !used.get(next).copied().unwrap_or(true) && is_candidate(words, next)
}

fn assign_amounts(items: &[Item], found: &mut Named) {
    let strong: Vec<bool> = found.mentions.iter().map(|it| it.strong).collect();
    let is_amount = |it: &Item| matches!(it, Item::Amount(_));
    let looks_like_name = |it: &&Item| match it {
        Item::Name(at) => strong.get(*at).copied().unwrap_or(false),
        it => !is_amount(it),
    };
    let given: Vec<Amount> = items
        .iter()
        .filter_map(|it| match it {
            Item::Amount(amount) => Some(*amount),
            _ => None,
        })
        .collect();
    if found.mentions.is_empty() {
        found.unnamed_amounts.clone_from(&given);
    }
    let mut assign = |item: Option<&Item>, amount: Amount| match item {
        Some(Item::Name(at)) => {
            if let Some(mention) = found.mentions.get_mut(*at) {
                mention.amount = Some(amount);
            }
        }
        Some(Item::Cash) => found.cash = Some(amount),
        _ => {}
    };
    let mut others: Vec<&Item> = items.iter().filter(|it| !is_amount(it)).collect();
    if given.len() < others.len() {
        // A word that does not look like a name may not be one.
        let named: Vec<&Item> = items.iter().filter(looks_like_name).collect();
        others = if named.len() == given.len() { named } else { others };
    }
    if given.len() == others.len() {
        // Names and amounts pair up in their order, for both «40% SBER» and «SBER 40%».
        others.into_iter().zip(given).for_each(|(item, amount)| assign(Some(item), amount));
        return;
    }
    let first = items.first().is_some_and(is_amount);
    let mut assigned = vec![false; items.len()];
    for (at, item) in items.iter().enumerate() {
        let Item::Amount(amount) = item else { continue };
        let open = |at: Option<usize>| {
            at.filter(|at| items.get(*at).is_some_and(|it| !is_amount(it)) && !assigned[*at])
        };
        let (before, after) = (open(at.checked_sub(1)), open(Some(at + 1)));
        let to = if first { after.or(before) } else { before.or(after) };
        if let Some(to) = to {
            assigned[to] = true;
            assign(items.get(to), *amount);
        }
    }
}

/// Returns the mentions that begin here and their word count. There are two mentions if both share
/// classes are meant.
fn name_at(words: &[Word], used: &[bool], at: usize) -> Option<(Vec<Mention>, usize)> {
    if let Some((ticker, len)) = index::at(words, at) {
        let text = ticker.to_owned();
        return Some((vec![Mention { text, index: Some(ticker), ..Mention::default() }], len));
    }
    if !is_candidate(words, at) {
        return None;
    }
    let len = name_len(words, used, at);
    let it = mention(words, at, len);
    let other = |preferred: bool| Mention { preferred, exact: true, ..it.clone() };
    Some(match share_classes(words, at, len) {
        (true, true) => (vec![other(false), other(true)], len),
        (_, preferred) if preferred => (vec![other(true)], len),
        (true, _) => (vec![other(false)], len),
        _ => (vec![it], len),
    })
}

fn is_share(word: &Word) -> bool {
    ["акци", "бумаг", "тикер", "share", "stock", "ticker"].iter().any(|s| word.lower.starts_with(s))
}

fn is_candidate(words: &[Word], at: usize) -> bool {
    let Some(word) = words.get(at).filter(|it| it.is_letters()) else { return false };
    if amounts::is_scaled(word) {
        return false;
    }
    let opened = at.checked_sub(1).filter(|at| words[*at].is_mark(&QUOTES));
    let before = opened.unwrap_or(at).checked_sub(1).and_then(|at| words.get(at));
    let share = before.is_some_and(is_share);
    let role = word.first && words.get(at + 1).is_some_and(|it| it.is_mark(&[':']));
    if role && is_role(word) {
        return false;
    }
    let exchange = word.lower == "moex"
        || word.lower.starts_with("мосбирж")
        || word.lower.starts_with("московск")
        || is_moscow_exchange(words, at);
    let venue = before.is_some_and(|it| it.is(&["на", "on", "the"]));
    if exchange {
        return !venue;
    }
    if is_share_class(word) {
        return false;
    }
    if is_one_letter(words, at) {
        return true;
    }
    let capital = word.text.chars().next().is_some_and(char::is_uppercase) && !word.first;
    let looks_like_name = share || capital || before.is_some_and(|it| it.is(&["афк", "afk"]));
    if is_ambiguous(word) {
        return looks_like_name;
    }
    word.quoted && !is_common(word) || share && nickname(word).is_some() || !is_common(word)
}

/// Reports whether this word is a one-letter ticker.
fn is_one_letter(words: &[Word], at: usize) -> bool {
    let Some(word) = words.get(at).filter(|it| it.text.chars().count() == 1) else { return false };
    let before = at.checked_sub(1).and_then(|at| words.get(at));
    let letter = word.text.chars().next().is_some_and(|it| it.is_ascii_uppercase());
    let apostrophe = before.is_some_and(|it| it.is_mark(&['\'', '’']));
    let share = before.is_some_and(is_share);
    (letter && !apostrophe && !word.is(&["i", "a"])) || (share && word.text == "Т")
}

/// Reports whether two common words together name the Moscow Exchange.
fn is_moscow_exchange(words: &[Word], at: usize) -> bool {
    let is = |at: usize, name: &str| words.get(at).is_some_and(|it| it.lower == name);
    is(at, "moscow") && is(at + 1, "exchange")
}

fn is_preferred(word: &Word) -> bool {
    let stems = ["преф", "привилег", "pref"];
    word.is(&["ап", "ап."]) || stems.iter().any(|it| word.lower.starts_with(it))
}

fn is_ordinary(word: &Word) -> bool {
    let stems = ["обыкновен", "обычк", "обычн"];
    word.is(&["ао", "ordinary", "common"]) || stems.iter().any(|it| word.lower.starts_with(it))
}

/// Reports whether a word names a share class.
fn is_share_class(word: &Word) -> bool {
    is_preferred(word) || is_ordinary(word)
}

/// Reports whether the words around a name ask for ordinary and for preferred shares: «обычку и
/// префы Сбера», «привилегированные акции Сбера», «Сбер преф», «Сбера ао и ап», «Сбер (префы)».
fn share_classes(words: &[Word], at: usize, len: usize) -> (bool, bool) {
    let (mut ordinary, mut preferred) = (false, false);
    let mut record_class = |word: &Word| {
        ordinary |= is_ordinary(word);
        preferred |= is_preferred(word);
    };
    let mut back = at;
    while let Some(word) = back.checked_sub(1).and_then(|at| words.get(at)) {
        let joins = word.is(&["и", "and", "или", "or"]) || word.is_mark(&[',']);
        let between = joins && back < at && words.get(back).is_some_and(is_share_class);
        let quote = back == at && word.is_mark(&QUOTES);
        if !(is_share_class(word) || is_share(word) || between || quote) || at - back > 4 {
            break;
        }
        record_class(word);
        back -= 1;
    }
    let mut next = at + len;
    while let Some(word) = words.get(next).filter(|_| next < at + len + 5) {
        let joins =
            word.is(&["и", "and", "или", "or"]) || word.is_mark(&['(', '-', ',', '»', '"', '”']);
        if joins && words.get(next + 1).is_some_and(is_share_class) {
            next += 1;
            continue;
        }
        // A share class before another name belongs to that name.
        let owned = is_candidate(words, next + 1) || words.get(next + 1).is_some_and(is_share);
        if !is_share_class(word) || (owned && !words.get(next + 1).is_some_and(is_share_class)) {
            break;
        }
        record_class(word);
        next += 1;
    }
    (ordinary, preferred)
}

/// Returns how many words from here form one name: text in quotation marks, or adjacent words of
/// one alphabet.
fn name_len(words: &[Word], used: &[bool], at: usize) -> usize {
    let Some(first) = words.get(at) else { return 1 };
    let alone = |word: &Word| nickname(word).is_some() || is_ticker(word);
    let joins = |at: usize| {
        let free = !used.get(at).copied().unwrap_or(true);
        words.get(at).is_some_and(|it| {
            free && it.kind == first.kind
                && index::at(words, at).is_none()
                && is_candidate(words, at)
                && !alone(it)
        })
    };
    if is_moscow_exchange(words, at) {
        return 2;
    }
    // «Газпром нефть» and «Газпром» are different companies.
    let oil = words
        .get(at + 1)
        .is_some_and(|it| ["нефть", "нефти", "нефтью", "neft"].contains(&&*it.lower));
    if first.lower.starts_with("газпром") || first.lower.starts_with("gazprom") {
        return 1 + usize::from(oil);
    }
    // The text in quotation marks is one name, with its punctuation.
    let rest = words.get(at..).unwrap_or_default().iter().take(QUOTED_MAX + 1);
    let quoted = rest.take_while(|it| !it.is_mark(&['»', '"', '”', '\n'])).count();
    let opened = at.checked_sub(1).is_some_and(|at| words[at].is_mark(&QUOTES));
    if first.quoted && opened && quoted <= QUOTED_MAX {
        return quoted;
    }
    if alone(first) || is_one_letter(words, at) {
        return 1;
    }
    1 + (1..WORDS_MAX).take_while(|more| joins(at + more)).count()
}

fn is_ticker(word: &Word) -> bool {
    let capitals = word.text.chars().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit());
    word.kind == WordKind::Latin && capitals && (2..=12).contains(&word.text.len())
}

fn mention(words: &[Word], at: usize, len: usize) -> Mention {
    let name_words: Vec<Word> = words.get(at..at + len).unwrap_or_default().to_vec();
    let name_words: Vec<Word> =
        name_words.into_iter().filter(|it| !matches!(it.kind, WordKind::Mark(_))).collect();
    let len = name_words.len();
    let text = name_words.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join(" ");
    let capital = |it: &Word| it.text.chars().next().is_some_and(char::is_uppercase);
    let full_name = name_words.first().filter(|_| len == 1).and_then(nickname);
    let letter = is_one_letter(words, at);
    let strong = !letter
        && (full_name.is_some()
            || name_words
                .iter()
                .any(|it| is_ticker(it) || it.quoted || (capital(it) && !it.first)));
    let lower =
        |text: &str| crate::words::lower(text).split_whitespace().map(ToOwned::to_owned).collect();
    let (names, query): (Vec<String>, String) = match full_name {
        Some(name) => (lower(name), name.to_owned()),
        // «Т» is the only one-letter ticker that people write in Cyrillic.
        None if letter && text == "Т" => (vec!["t".to_owned()], "T".to_owned()),
        None if letter => (vec![text.to_lowercase()], text.clone()),
        None => {
            let plain =
                |it: &Word| it.lower.split(['\'', '’']).next().unwrap_or_default().to_owned();
            let stems: Vec<&str> = name_words
                .iter()
                .map(|it| match it.kind {
                    WordKind::Cyrillic => it.stem.as_str(),
                    _ => it.lower.split(['\'', '’']).next().unwrap_or_default(),
                })
                .collect();
            (name_words.iter().map(plain).collect(), stems.join(" "))
        }
    };
    let exact = len == 1 && name_words.first().is_some_and(|it| is_ticker(it) || letter);
    let query = query.chars().take(60).collect();
    Mention { text, words: names, query, strong, exact, ..Mention::default() }
}
