//! What a question asks for: the intent, the securities it names, how much of each, and the time.
//! Only what the user wrote is read here; data never is.

mod amounts;
mod focus;
mod index;
mod mentions;
mod parts;
mod talk;
#[cfg(test)]
mod tests;
mod vocabulary;

use jiff::civil::Date;

use crate::ask::Question;
use crate::dates::{self, Period};
use crate::note::Note;
use crate::number::Language;
use crate::words::{Kind, Word, words};
pub use amounts::Amount;
pub use focus::{Focus, Sector, Way};
pub(crate) use index::{board, is_index};
pub(crate) use mentions::MENTIONS_MAX;
pub use mentions::Mention;
use mentions::{Named, named};
pub(crate) use vocabulary::is_popular;
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

    /// Whether it is about an index as a whole.
    pub(crate) fn is_of_index(self) -> bool {
        matches!(self, Self::IndexScan | Self::Movers)
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
    /// Whether the day asked for is to be held against today.
    pub ago: bool,
    pub today: Date,
    pub index: &'static str,
    pub sector: Option<Sector>,
    pub way: Way,
    /// How many are to be listed.
    pub top: Option<usize>,
    pub focus: Focus,
    /// What is held as money.
    pub cash: Option<Amount>,
    /// Of the value at risk.
    pub confidence: Option<f64>,
    pub horizon_days: Option<u32>,
    pub notes: Vec<Note>,
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

    pub(crate) fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// The first thing that a question asks for.
pub(crate) fn understand(question: &Question, today: Date) -> Request {
    let text = question.text();
    let language = question.locale.unwrap_or_else(|| language(text));
    all(question, today).into_iter().next().unwrap_or_else(|| one(&[], today, language).0)
}

/// Everything that a question asks for, in its order.
pub(crate) fn all(question: &Question, today: Date) -> Vec<Request> {
    let text = question.text();
    let language = question.locale.unwrap_or_else(|| language(text));
    let words = words(text);
    let parts = parts::split(&words, today, language);
    if parts.len() > 1 {
        return parts;
    }
    let earlier = question.asked.iter().rev().skip(1);
    vec![talk::continued(&words, earlier, today, language)]
}

fn language(text: &str) -> Language {
    let cyrillic = text.chars().any(|it| ('а'..='я').contains(&it) || ('А'..='Я').contains(&it));
    // A name in small Latin letters beside no Russian word is English as well.
    let small = |it: &Word| {
        it.kind == Kind::Latin
            && it.text.len() > 3
            && it.text.chars().skip(1).all(char::is_lowercase)
            && it.text.starts_with(char::is_uppercase)
    };
    let english = || words(text).iter().any(|it| is_english(it) || small(it));
    if !cyrillic && english() { Language::English } else { Language::Russian }
}

/// One message, or a part of one, alone; the flag says that its intent is in its words.
fn one(words: &[Word], today: Date, language: Language) -> (Request, bool) {
    let times = dates::read(words, today);
    let Named { mut mentions, cash, more } = named(words, &times.used);
    let said = intent(words, &mut mentions, times.period, cash);
    let index = mentions.iter().find_map(|it| it.index).unwrap_or("IMOEX");
    if said.is_some_and(Intent::is_of_index) {
        mentions.retain(|it| it.index.is_none());
    }
    let fallback = match mentions.len() {
        0 => Intent::Help,
        1 => Intent::Overview,
        _ => Intent::Comparison,
    };
    let intent = said.unwrap_or(fallback);
    let (confidence, horizon_days) = risk_terms(words);
    let mut request = Request {
        language,
        intent,
        mentions,
        period: times.period,
        ago: times.ago,
        today,
        index,
        sector: focus::sector_of(words).filter(|_| intent.is_of_index()),
        way: focus::way(words),
        top: focus::top(words),
        focus: focus::focus(words),
        cash,
        confidence,
        horizon_days,
        notes: times.notes,
    };
    if focus::forecasts(words) {
        request.note(Note::Future);
    }
    if more > 0 {
        request.note(Note::TooMany(more));
    }
    (request, said.is_some())
}

/// Stems of words about what is in an index.
const COMPOSITION: [&str; 17] = [
    "состав",
    "состо",
    "вес",
    "веса",
    "весом",
    "весу",
    "весам",
    "структур",
    "constituent",
    "weight",
    "входит",
    "входят",
    "крупнейш",
    "largest",
    "компани",
    "бумаг",
    "акци",
];

fn intent(
    words: &[Word],
    mentions: &mut Vec<Mention>,
    period: Option<Period>,
    cash: Option<Amount>,
) -> Option<Intent> {
    let has = |stems: &[&str]| begins(words, stems);
    let amounts = mentions.iter().filter(|it| it.amount.is_some()).count();
    let mine = has(&["меня", "мой", "моем", "моего", "my", "hold", "holding"]);
    let short =
        mentions.iter().any(|it| it.amount.and_then(Amount::value).is_some_and(|it| it < 0.0));
    let weighed = amounts + usize::from(cash.is_some()) >= 2 || amounts > 0 && mine || short;
    // A word that does not look like a name does not make a question about the market one about it.
    let unnamed = mentions.iter().all(|it| !it.strong);
    let indexed = mentions.iter().any(|it| it.index.is_some());
    let spoken = indexed || has(&["индекс", "index"]);
    let sector = unnamed && focus::sector_of(words).is_some();
    let moved = has(&MOVED);
    let market = spoken || has(&["рынк", "рынок", "бирж", "market"]);
    let composition = has(&COMPOSITION);
    let topped = focus::top(words).is_some();
    // «что с индексом» asks about the index, not about what is in it.
    let about = words
        .windows(2)
        .any(|it| it[0].is(&["что", "what"]) && it[1].is(&["с", "со", "about", "s"]));
    let which = topped
        || !about
            && has(&[
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
                "who",
                "biggest",
                "mover",
                "gainer",
                "loser",
            ]);
    let index = |mentions: &mut Vec<Mention>| {
        if mentions.iter().all(|it| it.index.is_none()) {
            let text = "IMOEX".to_owned();
            mentions.push(Mention { text, index: Some("IMOEX"), ..Mention::default() });
        }
    };
    Some(
        if has(&["дивиденд", "дивдоход", "дивы", "дивов", "dividend", "выплат", "payout"])
        {
            Intent::Dividends
        } else if has(&["коррел", "correlat", "взаимосвяз"]) {
            if market && mentions.iter().filter(|it| it.index.is_none()).count() == 1 {
                index(mentions);
            }
            Intent::Correlation
        } else if has(&["портфел", "portfolio", "портфол", "var"]) || weighed {
            Intent::PortfolioRisk
        } else if spoken && !unnamed && has(&["вес", "веса", "доля", "долю", "weight"])
        {
            Intent::IndexScan
        } else if unnamed
            && spoken
            && !which
            && !composition
            && !sector
            && (moved || period.is_some())
        {
            mentions.retain(|it| it.index.is_some());
            index(mentions);
            Intent::Overview
        } else if unnamed && moved && (which || market || sector) {
            Intent::Movers
        } else if unnamed
            && (spoken || sector || has(&["состав", "constituent"]) || topped && composition)
        {
            Intent::IndexScan
        } else if unnamed
            && market
            && has(&["как", "обзор", "how", "дел", "сводк", "overview", "итог", "торг"])
        {
            Intent::Movers
        } else if has(&["сравн", "против", "compar", "vs", "versus", "лучше", "better"])
        {
            if market && mentions.iter().filter(|it| it.index.is_none()).count() == 1 {
                index(mentions);
            }
            Intent::Comparison
        } else {
            return None;
        },
    )
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
