//! Reads the confidence level and the horizon of a value at risk: «с вероятностью 99 %», «на 10
//! дней», "1-month `VaR`".

use jiff::civil::Date;

use super::vocabulary::begins;
use crate::dates::Dates;
use crate::words::{Word, WordKind};

/// The longest horizon of the risk tool, in trading days.
const HORIZON_MAX: f64 = 250.0;
/// A period of a question about a loss that is at most this long is its horizon, not its history.
const HORIZON_PERIOD_MAX_DAYS: i32 = 31;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RiskTerms {
    pub(super) confidence: Option<f64>,
    pub(super) horizon_days: Option<u32>,
}

/// Words that ask for a possible loss.
const LOSS: [&str; 9] =
    ["var", "потеря", "потерят", "убыт", "худшем", "лишусь", "lose", "loss", "worst-case"];

/// Stems of words beside the confidence level.
const CONFIDENCE: [&str; 9] = [
    "доверит",
    "вероятност",
    "уверенност",
    "квантил",
    "confid",
    "probab",
    "certain",
    "quantile",
    "уровн",
];

/// Reports whether a word speaks of a value at risk or of its confidence level.
pub(super) fn is_about_confidence(word: &Word) -> bool {
    word.is(&["var"]) || CONFIDENCE.iter().any(|it| word.lower.starts_with(it))
}

/// Reads the terms of a value at risk. A short period in a question about a loss is its horizon, so
/// it is removed from the dates.
pub(super) fn risk_terms(words: &[Word], dates: &mut Dates, today: Date) -> RiskTerms {
    let asks_loss = begins(words, &LOSS);
    let var = words.iter().any(|it| it.is(&["var"]));
    let confidence = words.iter().enumerate().find_map(|(at, it)| {
        let percent = it.percent().filter(|it| (80.0..=99.9).contains(it))?;
        let near = words.get(at.saturating_sub(3)..words.len().min(at + 4))?;
        let said =
            at.checked_sub(1).is_some_and(|at| words[at].is(&["с", "со", "at", "with", "на"]));
        (near.iter().any(is_about_confidence) || asks_loss && said).then_some(percent / 100.0)
    });
    let horizon = words.iter().enumerate().find_map(|(at, _)| horizon_at(words, at, var));
    if horizon.is_some() {
        return RiskTerms { confidence, horizon_days: horizon };
    }
    let short = dates.period.filter(|it| {
        let length = (it.to - it.from).get_days();
        it.to == today && (1..=HORIZON_PERIOD_MAX_DAYS).contains(&length)
    });
    let counted = words.iter().enumerate().find_map(|(at, _)| counted(words, at));
    if asks_loss && short.is_some() && counted.is_some() {
        dates.period = None;
        return RiskTerms { confidence, horizon_days: counted };
    }
    RiskTerms { confidence, horizon_days: None }
}

/// Returns the trading days of a unit of time.
fn trading_days(word: &Word) -> Option<f64> {
    let is = |stems: &[&str]| stems.iter().any(|it| word.lower.starts_with(it));
    if word.is(&["день", "дня", "дней", "day", "days"]) {
        Some(1.0)
    } else if is(&["недел", "week"]) {
        Some(5.0)
    } else if is(&["месяц", "month"]) {
        Some(21.0)
    } else {
        None
    }
}

fn days(count: f64, each: f64) -> Option<u32> {
    let all = count * each;
    (1.0..=HORIZON_MAX).contains(&all).then_some(all as u32)
}

fn small_count(word: &Word) -> Option<f64> {
    match word.lower.as_str() {
        "один" | "одну" | "one" => Some(1.0),
        "два" | "две" | "двух" | "two" | "пару" => Some(2.0),
        "три" | "трех" | "three" => Some(3.0),
        "пять" | "пяти" | "five" => Some(5.0),
        "десять" | "десяти" | "ten" => Some(10.0),
        _ => word.number().filter(|_| matches!(word.kind, WordKind::Number(_, false))),
    }
}

/// Reads a number with a unit of time, or the unit alone: «10 дней», «две недели», «месяц».
fn counted(words: &[Word], at: usize) -> Option<u32> {
    let (word, next) = (words.get(at)?, words.get(at + 1));
    if let (Some(count), Some(each)) = (small_count(word), next.and_then(trading_days)) {
        return days(count, each);
    }
    let before = at.checked_sub(1).and_then(|at| words.get(at))?;
    let alone = before.is(&["за", "на", "в", "in", "over", "a", "for"]);
    trading_days(word).filter(|it| alone && *it > 1.0).and_then(|each| days(1.0, each))
}

/// Reads a horizon ahead: «на 10 дней», «на месяц» beside `VaR`, "next 5 days", "10-day `VaR`".
fn horizon_at(words: &[Word], at: usize, var: bool) -> Option<u32> {
    let word = words.get(at)?;
    if word.is(&["на", "horizon", "next"]) || word.lower.starts_with("горизонт") {
        let next = at + 1 + usize::from(words.get(at + 1).is_some_and(|it| it.is(&["в"])));
        let count = words.get(next).and_then(small_count);
        let unit = words.get(next + 1).and_then(trading_days);
        if let (Some(count), Some(each)) = (count, unit) {
            return days(count, each);
        }
        return words.get(next).and_then(trading_days).filter(|_| var).and_then(|it| days(1.0, it));
    }
    // "10-day" is a number, a dash and a unit, or one word.
    let (count, unit) = word.lower.split_once('-').unwrap_or_default();
    let dashed = words.get(at + 1).is_some_and(|it| it.is_mark(&['-']) && it.glued);
    let pair = match (count.parse::<f64>().ok(), small_count(word)) {
        (Some(count), _) => Some((count, unit.to_owned())),
        (None, Some(count)) if dashed => Some((count, words.get(at + 2)?.lower.clone())),
        _ => None,
    };
    let (count, unit) = pair.filter(|_| var)?;
    match unit.as_str() {
        "day" | "дневный" | "дневной" => days(count, 1.0),
        "week" | "недельный" => days(count, 5.0),
        "month" | "месячный" => days(count, 21.0),
        _ => None,
    }
}
