//! Numbers written in words: `twenty-one`, `two hundred fifty thousand`, «пять тысяч».

use crate::text::TokenText;

/// Most tokens of a number in words.
const TOKENS_MAX: usize = 16;

enum NumberWord {
    Add(u64),
    Hundred,
    Scale(u64),
}

fn part(word: &str) -> Option<NumberWord> {
    let value = match word {
        "one" | "один" | "одна" | "одного" | "одной" => 1,
        "two" | "два" | "две" | "двух" => 2,
        "three" | "три" | "трех" | "трёх" => 3,
        "four" | "четыре" | "четырех" | "четырёх" => 4,
        "five" | "пять" | "пяти" => 5,
        "six" | "шесть" | "шести" => 6,
        "seven" | "семь" | "семи" => 7,
        "eight" | "восемь" | "восьми" => 8,
        "nine" | "девять" | "девяти" => 9,
        "ten" | "десять" | "десяти" => 10,
        "eleven" | "одиннадцать" => 11,
        "twelve" | "двенадцать" | "двенадцати" => 12,
        "thirteen" | "тринадцать" => 13,
        "fourteen" | "четырнадцать" | "четырнадцати" => 14,
        "fifteen" | "пятнадцать" | "пятнадцати" => 15,
        "sixteen" | "шестнадцать" => 16,
        "seventeen" | "семнадцать" => 17,
        "eighteen" | "восемнадцать" => 18,
        "nineteen" | "девятнадцать" => 19,
        "twenty" | "двадцать" | "двадцати" => 20,
        "thirty" | "тридцать" | "тридцати" => 30,
        "forty" | "сорок" | "сорока" => 40,
        "fifty" | "пятьдесят" | "пятидесяти" => 50,
        "sixty" | "шестьдесят" | "шестидесяти" => 60,
        "seventy" | "семьдесят" => 70,
        "eighty" | "восемьдесят" => 80,
        "ninety" | "девяносто" | "девяноста" => 90,
        "сто" => 100,
        "двести" => 200,
        "триста" => 300,
        "четыреста" => 400,
        "пятьсот" => 500,
        "шестьсот" => 600,
        "семьсот" => 700,
        "восемьсот" => 800,
        "девятьсот" => 900,
        "hundred" => return Some(NumberWord::Hundred),
        "thousand" | "тысяча" | "тысячи" | "тысяч" => {
            return Some(NumberWord::Scale(1_000));
        }
        "million" | "миллион" | "миллиона" | "миллионов" => {
            return Some(NumberWord::Scale(1_000_000));
        }
        "billion" | "миллиард" | "миллиарда" | "миллиардов" => {
            return Some(NumberWord::Scale(1_000_000_000));
        }
        _ => return None,
    };
    Some(NumberWord::Add(value))
}

/// Whether a word is a number, or the beginning of one.
pub(crate) fn is_number(word: &str) -> bool {
    part(word.split_once('-').map_or(word, |it| it.0)).is_some()
}

/// The number that the words from here on spell, and the token after them.
pub(crate) fn number(text: &TokenText<'_>, at: usize) -> Option<(u64, usize)> {
    let (mut total, mut group, mut next, mut seen) = (0u64, 0u64, at, false);
    while next < at + TOKENS_MAX {
        let word = text.low(next);
        // `twenty-one` is one token.
        let halves = word.split_once('-').unwrap_or((word, ""));
        let Some(first) = part(halves.0) else {
            if seen && word == "and" && part(text.low(next + 1)).is_some() {
                next += 1;
                continue;
            }
            break;
        };
        match first {
            NumberWord::Add(value) => group = group.checked_add(value)?,
            NumberWord::Hundred => group = group.max(1).checked_mul(100)?,
            NumberWord::Scale(by) => {
                total = total.checked_add(group.max(1).checked_mul(by)?)?;
                group = 0;
            }
        }
        if !halves.1.is_empty() {
            let Some(NumberWord::Add(value)) = part(halves.1) else { break };
            group = group.checked_add(value)?;
        }
        seen = true;
        next += 1;
    }
    seen.then(|| total.checked_add(group).map(|it| (it, next))).flatten()
}
