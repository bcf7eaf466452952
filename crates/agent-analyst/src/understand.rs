//! What a question asks for: the intent, the securities it names, their weights, and the time.
//! Only what the user wrote is read here; data never is.

mod mentions;
mod vocabulary;

use jiff::civil::Date;

use crate::ask::Question;
use crate::dates::{self, Period};
use crate::number::Language;
use crate::words::{Kind, Word, words};
pub use mentions::Mention;
use mentions::{Named, named};
use vocabulary::{MOVED, begins, is_english};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    Overview,
    Comparison,
    IndexScan,
    PortfolioRisk,
    Correlation,
    Dividends,
    Movers,
    Help,
}

impl Intent {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Overview => "security_overview",
            Self::Comparison => "comparison",
            Self::IndexScan => "index_scan",
            Self::PortfolioRisk => "portfolio_risk",
            Self::Correlation => "correlation",
            Self::Dividends => "dividends",
            Self::Movers => "movers",
            Self::Help => "help",
        }
    }
}

/// A question understood, before its names are looked up.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub language: Language,
    pub intent: Intent,
    pub mentions: Vec<Mention>,
    /// As the question has it; without one, what is usual for the intent.
    pub period: Option<Period>,
    pub today: Date,
    pub index: &'static str,
    /// Percent that are held as money.
    pub cash_pct: Option<f64>,
    /// Of the value at risk.
    pub confidence: Option<f64>,
    pub horizon_days: Option<u32>,
}

impl Request {
    pub fn period(&self) -> Period {
        let usual = match self.intent {
            Intent::IndexScan | Intent::Movers => {
                return self.period.unwrap_or(Period::day(self.today));
            }
            Intent::Overview => 3,
            _ => 12,
        };
        self.period.unwrap_or_else(|| Period::months_before(self.today, usual))
    }
}

/// Earlier messages that a short one may refer to.
const LOOK_BACK: usize = 4;

pub(crate) fn understand(question: &Question, today: Date) -> Request {
    let mut asked = question.asked.iter().rev();
    let text = asked.next().map_or("", String::as_str);
    let language = question.locale.unwrap_or_else(|| language(text));
    let (mut request, clear) = one(text, today, language);
    // «А за год?» means what was asked before, with another time.
    let refers = words(text).first().is_some_and(|it| it.is(&["а", "и", "and", "what"]));
    let lacks = request.mentions.is_empty()
        && !matches!(request.intent, Intent::IndexScan | Intent::Movers);
    for earlier in asked.take(LOOK_BACK) {
        let partial = lacks && (clear || request.period.is_some());
        let elliptic = refers && !clear;
        if !(partial || elliptic) {
            break;
        }
        let (before, _) = one(earlier, today, language);
        if before.intent == Intent::Help {
            continue;
        }
        if request.mentions.is_empty() {
            request.mentions = before.mentions;
            request.index = before.index;
        }
        if !clear {
            request.intent = before.intent;
        }
        request.period = request.period.or(before.period);
        break;
    }
    request
}

fn language(text: &str) -> Language {
    let cyrillic = text.chars().any(|it| ('а'..='я').contains(&it) || ('А'..='Я').contains(&it));
    let english = || words(text).iter().any(is_english);
    if !cyrillic && english() { Language::English } else { Language::Russian }
}

/// One message alone; the flag says that its intent is in its words.
fn one(text: &str, today: Date, language: Language) -> (Request, bool) {
    let words = words(text);
    let times = dates::read(&words, today);
    let Named { mentions, cash_pct } = named(&words, &times.used);
    let said = intent(&words, &mentions);
    let fallback = match mentions.len() {
        0 => Intent::Help,
        1 => Intent::Overview,
        _ => Intent::Comparison,
    };
    let (confidence, horizon_days) = risk_terms(&words);
    let index = if begins(&words, &["rts", "ртс", "rtsi"]) { "RTSI" } else { "IMOEX" };
    let request = Request {
        language,
        intent: said.unwrap_or(fallback),
        mentions,
        period: times.period,
        today,
        index,
        cash_pct,
        confidence,
        horizon_days,
    };
    (request, said.is_some())
}

fn intent(words: &[Word], mentions: &[Mention]) -> Option<Intent> {
    let has = |stems: &[&str]| begins(words, stems);
    let weighed = mentions.iter().any(|it| it.weight.is_some());
    // A word that does not look like a name does not make a question about the market one about it.
    let unnamed = mentions.iter().all(|it| !it.strong);
    let moved = has(&MOVED);
    let market =
        has(&["рынк", "рынок", "бирж", "market", "imoex", "индекс", "index", "ртс", "rtsi"]);
    let which = has(&[
        "что",
        "кто",
        "какие",
        "какая",
        "лидер",
        "аутсайдер",
        "топ",
        "top",
        "what",
        "which",
        "biggest",
        "mover",
        "gainer",
        "loser",
    ]);
    Some(if has(&["дивиденд", "дивдоход", "dividend", "выплат", "payout"]) {
        Intent::Dividends
    } else if has(&["коррел", "correlat", "взаимосвяз"]) {
        Intent::Correlation
    } else if has(&["портфел", "portfolio", "var"]) || weighed {
        Intent::PortfolioRisk
    } else if unnamed && moved && (which || market) {
        Intent::Movers
    } else if unnamed && has(&["индекс", "index", "imoex", "rtsi", "ртс", "состав", "constituent"])
    {
        Intent::IndexScan
    } else if unnamed
        && market
        && has(&["как", "обзор", "how", "дел", "сводк", "overview", "итог", "торг"])
    {
        Intent::Movers
    } else if has(&["сравн", "против", "compar", "vs", "versus", "лучше", "better"])
    {
        Intent::Comparison
    } else {
        return None;
    })
}

/// The confidence and the horizon of a value at risk: «99%», «на 10 дней».
fn risk_terms(words: &[Word]) -> (Option<f64>, Option<u32>) {
    let about = |it: &Word| {
        it.is(&["var"]) || it.lower.starts_with("доверит") || it.lower.starts_with("confid")
    };
    let confidence = words.iter().enumerate().find_map(|(at, it)| {
        let percent = it.percent().filter(|it| (80.0..=99.9).contains(it))?;
        let near = words.get(at.saturating_sub(3)..words.len().min(at + 4))?;
        near.iter().any(about).then_some(percent / 100.0)
    });
    let horizon = words.windows(3).find_map(|it| {
        let ahead = it[0].is(&["на", "horizon", "next"]);
        let days = it[2].is(&["день", "дня", "дней", "day", "days"]);
        let count = it[1].number().filter(|count| (1.0..=250.0).contains(count))?;
        (ahead && days && matches!(it[1].kind, Kind::Number(_, false))).then_some(count as u32)
    });
    (confidence, horizon)
}
