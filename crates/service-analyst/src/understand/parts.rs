//! Splits a message that asks for several things: «сравни Сбер и Газпром и скажи дивиденды
//! Лукойла».

use jiff::civil::Date;

use super::vocabulary::begins;
use super::{Intent, Request, read_request};
use crate::number::Language;
use crate::words::Word;

/// Most requests in one message.
const PARTS_MAX: usize = 3;

/// Words that begin a new request.
const OPENERS: [&str; 40] = [
    "скажи",
    "скажите",
    "покажи",
    "покажите",
    "посчитай",
    "рассчитай",
    "дай",
    "дайте",
    "назови",
    "сравни",
    "сравните",
    "оцени",
    "расскажи",
    "какие",
    "какая",
    "какой",
    "какова",
    "каковы",
    "что",
    "кто",
    "сколько",
    "дивиденды",
    "корреляцию",
    "корреляция",
    "состав",
    "обзор",
    "what",
    "which",
    "who",
    "how",
    "show",
    "tell",
    "compare",
    "calculate",
    "give",
    "list",
    "dividends",
    "correlation",
    "overview",
    "compute",
];

/// Returns the requests of a message if it has more than one.
pub(super) fn split(words: &[Word], today: Date, language: Language) -> Vec<Request> {
    let mut parts: Vec<Request> = Vec::new();
    let mut rest = words;
    while parts.len() + 1 < PARTS_MAX {
        let Some((left, right)) = cut(rest, today, language) else { break };
        parts.push(request(left, today, language));
        rest = right;
    }
    if parts.is_empty() {
        return parts;
    }
    parts.push(request(rest, today, language));
    fill_omissions(&mut parts);
    parts
}

/// Returns the intent of a part if its words state one, an overview included.
fn stated_intent(words: &[Word], today: Date, language: Language) -> Option<Intent> {
    let (request, stated) = read_request(words, today, language);
    let overview = begins(
        words,
        &[
            "обзор",
            "overview",
            "анализ",
            "расскаж",
            "analysis",
            "summary",
            "цена",
            "цену",
            "price",
            "котировк",
            "почем",
            "стоит",
        ],
    );
    if stated { Some(request.intent) } else { overview.then_some(Intent::Overview) }
}

fn request(words: &[Word], today: Date, language: Language) -> Request {
    let mut request = read_request(words, today, language).0;
    if request.intent == Intent::Help {
        request.intent = Intent::Overview;
    }
    request
}

/// Splits the words at the first point where a request with a different intent begins.
fn cut(words: &[Word], today: Date, language: Language) -> Option<(&[Word], &[Word])> {
    let joins = |it: &Word| {
        it.is(&["и", "and", "а", "плюс", "also", "также"])
            || it.is_mark(&['.', '?', '!', ';', ',', '\n', '+'])
    };
    let skipped = [
        "также",
        "еще",
        "потом",
        "затем",
        "then",
        "also",
        "please",
        "пожалуйста",
        "и",
        "and",
        "а",
        "the",
        "мне",
        "me",
        "кстати",
        "btw",
    ];
    for at in 1..words.len() {
        if !joins(&words[at]) {
            continue;
        }
        let mut next = at + 1;
        while words.get(next).is_some_and(|it| it.is(&skipped) || joins(it)) {
            next += 1;
        }
        let opens = words.get(next).is_some_and(|it| it.is(&OPENERS));
        if next >= words.len() || !opens && !words[at].is_mark(&['.', '?', '!', ';', ',', '\n']) {
            continue;
        }
        let (left, right) = (words.get(..at)?, words.get(next..)?);
        let kinds = (stated_intent(left, today, language), stated_intent(right, today, language));
        // Without a word that begins a request, only an intent that stands by itself begins one.
        let alone = matches!(
            kinds.1,
            Some(Intent::Calendar | Intent::Indicators | Intent::Crypto | Intent::MarketRisk)
        );
        if let (Some(first), Some(second)) = kinds
            && first != second
            && (opens || alone)
        {
            return Some((left, right));
        }
    }
    None
}

/// Copies omitted names from the part before, and an omitted period from the last part that has
/// one, except for dividends. Parts about an index stay as they are.
fn fill_omissions(parts: &mut [Request]) {
    let names = parts.iter().find(|it| !it.mentions.is_empty()).map(|it| it.mentions.clone());
    // The days of a calendar may be in the future, where no security has prices.
    let dated = parts.iter().rev().filter(|it| it.intent != Intent::Calendar);
    let period = dated.into_iter().find_map(|it| it.period);
    let mut before = names.unwrap_or_default();
    for part in parts {
        if part.intent.is_of_index() || part.intent == Intent::Calendar {
            continue;
        }
        if part.mentions.is_empty() {
            part.mentions.clone_from(&before);
        }
        before.clone_from(&part.mentions);
        if part.intent != Intent::Dividends {
            part.period = part.period.or(period);
        }
    }
}
