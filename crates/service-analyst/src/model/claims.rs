//! Checks what a model's text says around its numbers: the field a number speaks of, the direction
//! in words, numbers written as words or in other digits, and advice to buy or to sell.

use crate::check::{Number, Unsupported, visit_values};
use crate::tool_session::Finding;

/// The kind of a result's field, which decides what may be said of its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// A percentage: a return, a volatility, a weight.
    Percent,
    /// A fraction that may be shown as a percentage: a confidence, a share, a weight.
    Fraction,
    Other,
}

impl Field {
    pub(super) fn of(pointer: &str) -> Self {
        let name = pointer.rsplit('/').next().unwrap_or_default();
        if ["weight", "confidence", "share", "hhi"].contains(&name) {
            Self::Fraction
        } else if name.ends_with("_pct") || name.contains("volatility") || name.contains("yield") {
            Self::Percent
        } else {
            Self::Other
        }
    }
}

/// Reports whether the text after a number begins with a currency.
pub(super) fn is_money(rest: &str) -> bool {
    let rest = rest.to_lowercase();
    ["₽", "руб", "rub", "$", "€", "usd", "долл"].iter().any(|it| rest.starts_with(it))
}

const UP: [&str; 12] = [
    "вырос",
    "рост",
    "вверх",
    "прибав",
    "подорож",
    "подня",
    "rose",
    "rise",
    "gain",
    "up ",
    "grew",
    "climb",
];
const DOWN: [&str; 13] = [
    "упал",
    "паден",
    "вниз",
    "сниж",
    "снизи",
    "потеря",
    "подешев",
    "fell",
    "fall",
    "drop",
    "declin",
    "down",
    "lost",
];

/// Reports whether the direction in words near a change agrees with its sign.
pub(super) fn agrees_with_words(
    chars: &[char],
    number: &Number,
    value: f64,
    pointer: &str,
) -> bool {
    let is_change = pointer.contains("return_pct")
        || pointer.contains("change_pct")
        || pointer.ends_with("change_abs")
        || pointer.contains("fall_pct");
    if !is_change || value == 0.0 {
        return true;
    }
    let (from, to) = clause(chars, number);
    let clause: String = chars[from..to].iter().collect::<String>().to_lowercase();
    let up = UP.iter().any(|it| clause.contains(it));
    let down = DOWN.iter().any(|it| clause.contains(it));
    // «падение −3,2 %» is a fall with its sign; «рост −3,2 %» is a contradiction.
    !(up && !down && value < 0.0 || down && !up && value > 0.0)
}

/// Returns the characters of the clause around a number: up to a comma, a full stop or a line break
/// on each side.
fn clause(chars: &[char], number: &Number) -> (usize, usize) {
    let is_end = |at: &usize| {
        let next = chars.get(at + 1).is_none_or(|it| it.is_whitespace());
        chars[*at] == '\n' || ",.;!?".contains(chars[*at]) && next
    };
    let from = (0..number.from).rev().find(is_end).map_or(0, |it| it + 1);
    (from, (number.to..chars.len()).find(is_end).unwrap_or(chars.len()))
}

/// Words beside a number of the question that is a term of it and not a claim about the market.
const TERMS: [&str; 32] = [
    "портфел",
    "сумм",
    "влож",
    "инвест",
    "дол",
    "акци",
    "штук",
    "лот",
    "тысяч",
    "тыс",
    "млн",
    "вероятност",
    "доверит",
    "дней",
    "дня",
    "день",
    "недел",
    "месяц",
    "год",
    "лет",
    "горизонт",
    "portfolio",
    "invest",
    "amount",
    "share",
    "piece",
    "day",
    "week",
    "month",
    "year",
    "confid",
    "horizon",
];
/// Words that claim a price or a move.
const CLAIMS: [&str; 16] = [
    "стоит",
    "стоил",
    "цена",
    "цены",
    "котир",
    "торгу",
    "доходност",
    "прогноз",
    "вырас",
    "price",
    "trades",
    "costs",
    "worth",
    "return",
    "forecast",
    "target",
];

/// Reports whether a number repeated from the question is one of its terms, such as an amount or a
/// horizon. A price or a return that only the question states is not evidence.
pub(super) fn is_term_of_question(chars: &[char], number: &Number) -> bool {
    let (from, to) = clause(chars, number);
    let near: String = chars[from..to].iter().collect::<String>().to_lowercase();
    let has = |list: &[&str]| list.iter().any(|it| near.contains(it));
    has(&TERMS) && !has(&CLAIMS)
}

/// Stems of numbers in words.
const NUMERALS: [&str; 58] = [
    "один",
    "одна",
    "одну",
    "два",
    "две",
    "три",
    "четыр",
    "пять",
    "пяти",
    "шест",
    "сем",
    "восем",
    "девят",
    "десят",
    "одиннадцат",
    "двенадцат",
    "тринадцат",
    "пятнадцат",
    "двадцат",
    "тридцат",
    "сорок",
    "пятьдесят",
    "шестьдесят",
    "семьдесят",
    "восемьдесят",
    "девяност",
    "сто",
    "двест",
    "трист",
    "пятьсот",
    "тысяч",
    "миллион",
    "миллиард",
    "полтора",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "fifteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
    "hundred",
    "thousand",
    "million",
];
/// Stems of the units of a figure.
const UNITS: [&str; 13] = [
    "процент",
    "рубл",
    "руб.",
    "доллар",
    "пункт",
    "копе",
    "percent",
    "ruble",
    "rouble",
    "dollar",
    "point",
    "kopeck",
    "раза",
];
/// Whole words: a longer word that begins with one of them is no numeral.
const WHOLE: [&str; 16] = [
    "сто", "сем", "один", "одна", "одну", "два", "две", "три", "one", "two", "ten", "six", "four",
    "five", "nine", "seven",
];

fn is_numeral(word: &str) -> bool {
    NUMERALS.iter().any(|it| if WHOLE.contains(it) { word == *it } else { word.starts_with(it) })
}

/// Finds numbers that the search for plain digits does not see: numbers in words with a unit,
/// digits of other scripts, and digits glued to letters that are no known code.
pub(super) fn written_otherwise(
    text: &str,
    question: &str,
    findings: &[Finding],
) -> Vec<Unsupported> {
    let mut wrong = Vec::new();
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut at = 0;
    for piece in text.split_inclusive(|it: char| it.is_whitespace() || "()[]«»\"".contains(it)) {
        let word =
            piece.trim_matches(|it: char| it.is_whitespace() || "()[]«»\",;:!?*_#".contains(it));
        if !word.is_empty() {
            words.push((at, word.trim_end_matches('.').to_owned()));
        }
        at += piece.chars().count();
    }
    for (place, (at, word)) in words.iter().enumerate() {
        let foreign = word.chars().any(|it| it.is_numeric() && !it.is_ascii_digit());
        if foreign || is_glued(word) && !is_known_code(word, question, findings) {
            wrong.push(Unsupported { text: word.clone(), at: *at });
            continue;
        }
        let lower = word.to_lowercase();
        let next = words.iter().skip(place + 1).take(2);
        let unit = next
            .map(|it| it.1.to_lowercase())
            .take_while(|it| !is_numeral(it))
            .find(|it| UNITS.iter().any(|unit| it.starts_with(unit)));
        if let Some(unit) = unit.filter(|_| is_numeral(&lower)) {
            wrong.push(Unsupported { text: format!("{lower} {unit}"), at: *at });
        }
    }
    wrong
}

/// Reports whether letters are directly before digits, with a number that no check would see.
fn is_glued(word: &str) -> bool {
    let mut before = None;
    for it in word.chars() {
        if it.is_ascii_digit() && before.is_some_and(char::is_alphabetic) {
            return true;
        }
        before = Some(it);
    }
    false
}

/// Reports whether a result or the question has the word, or it is a quarter or a half of a year.
fn is_known_code(word: &str, question: &str, findings: &[Finding]) -> bool {
    let period = word.len() == 2 && word.starts_with(['Q', 'H', 'К']);
    let is_code = |text: &str| text.split(|it: char| !it.is_alphanumeric()).any(|it| it == word);
    // A glued amount of the question is no code: a code has no currency in it.
    let currency = ["RUB", "USD", "руб", "₽"].iter().any(|it| word.contains(it));
    let mut known = period || !currency && is_code(question);
    for finding in findings {
        visit_values(&finding.evidence(), &mut String::new(), &mut |pointer, value| {
            known |= value.as_str().is_some_and(is_code)
                || pointer.rsplit('/').next().is_some_and(is_code);
        });
    }
    known
}

/// Stems that advise a trade or promise a gain.
const ADVICE: [&str; 24] = [
    "покупайте",
    "купите",
    "продавайте",
    "продайте",
    "рекомендую",
    "рекомендуем",
    "советую",
    "советуем",
    "гарантирован",
    "стоит купить",
    "стоит покупать",
    "стоит продать",
    "нужно купить",
    "надо покупать",
    "пора покупать",
    "пора продавать",
    "buy now",
    "sell now",
    "you should buy",
    "you should sell",
    "we recommend",
    "i recommend",
    "strong buy",
    "guaranteed",
];

/// Reports whether a text advises to buy or to sell, or promises a gain.
pub(super) fn has_advice(text: &str) -> bool {
    let lower = text.to_lowercase();
    ADVICE.iter().any(|it| lower.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_found_and_data_is_not_advice() {
        assert!(has_advice("Покупайте немедленно, гарантированная прибыль!"));
        assert!(has_advice("We recommend SBER."));
        assert!(!has_advice("Данных о том, покупать ли бумагу, нет; объём покупок вырос."));
    }
}
