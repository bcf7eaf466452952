//! Reads a question: its intent, its securities, their amounts and its period. It reads only the
//! user's own text, never tool data.

mod amounts;
mod asked;
mod focus;
mod index;
mod intent;
mod mentions;
mod parts;
mod risk_terms;
mod schedule;
mod talk;
#[cfg(test)]
mod tests;
mod topics;
mod vocabulary;

use jiff::civil::Date;

use crate::ask::Question;
use crate::dates::{self, Period};
use crate::note::Note;
use crate::number::Language;
use crate::words::{Word, WordKind, words};
pub use amounts::Amount;
pub use asked::{Asked, Indicator, RankMetric};
pub use focus::{Focus, MoveDirection, Sector};
pub(crate) use index::{board, is_index};
pub use intent::Intent;
use intent::intent;
pub(crate) use mentions::MENTIONS_MAX;
pub use mentions::Mention;
use mentions::{Named, named};
use risk_terms::RiskTerms;
use vocabulary::is_english;
pub(crate) use vocabulary::popular_name;

/// A parsed question whose names are not resolved yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub language: Language,
    pub intent: Intent,
    /// Whether the words state the intent; otherwise it follows from the number of names.
    pub is_stated: bool,
    pub mentions: Vec<Mention>,
    /// The period in the question; if none, `Request::period()` gives the default for the intent.
    pub period: Option<Period>,
    /// Whether to compare the requested day with today.
    pub compare_with_today: bool,
    pub today: Date,
    pub index: &'static str,
    pub sector: Option<Sector>,
    pub direction: MoveDirection,
    /// The number of rows to list.
    pub top: Option<usize>,
    pub focus: Focus,
    /// Amounts without a name: «а если 70/30?».
    pub unnamed_amounts: Vec<Amount>,
    /// Whether the question asks which securities pay the highest dividends.
    pub ranks_dividends: bool,
    /// Whether the portfolio consists of the largest constituents of an index.
    pub of_largest: bool,
    /// Whether to group the index by sector.
    pub by_sector: bool,
    /// The cash in the portfolio.
    pub cash: Option<Amount>,
    /// The confidence level of the value at risk.
    pub confidence: Option<f64>,
    pub horizon_days: Option<u32>,
    /// The figures beyond prices that the question asks for.
    pub asked: Asked,
    pub notes: Vec<Note>,
}

impl Request {
    pub fn period(&self) -> Period {
        let usual = match self.intent {
            Intent::Ranking if self.asked.ranking == Some(RankMetric::MostTraded) => 1,
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

/// Returns the first request of a question.
pub(crate) fn understand(question: &Question, today: Date) -> Request {
    let text = question.text();
    let language = question.locale.unwrap_or_else(|| language(text));
    requests(question, today)
        .into_iter()
        .next()
        .unwrap_or_else(|| read_request(&[], today, language).0)
}

/// Returns all requests of a question in order.
pub(crate) fn requests(question: &Question, today: Date) -> Vec<Request> {
    let text = question.text();
    let language = question.locale.unwrap_or_else(|| language(text));
    let words = words(text);
    let parts = parts::split(&words, today, language);
    if parts.len() > 1 {
        return parts;
    }
    let earlier = question.messages.iter().rev().skip(1);
    vec![talk::continued(&words, earlier, today, language)]
}

fn language(text: &str) -> Language {
    let cyrillic = text.chars().any(|it| ('а'..='я').contains(&it) || ('А'..='Я').contains(&it));
    // A capitalized Latin word such as "Sberbank", without any Russian letter, also means English.
    let capitalized = |it: &Word| {
        it.kind == WordKind::Latin
            && it.text.len() > 3
            && it.text.chars().skip(1).all(char::is_lowercase)
            && it.text.starts_with(char::is_uppercase)
    };
    let english = || words(text).iter().any(|it| is_english(it) || capitalized(it));
    if !cyrillic && english() { Language::English } else { Language::Russian }
}

/// Reads one message or a part of one without context. The flag is true if its words state the
/// intent.
fn read_request(words: &[Word], today: Date, language: Language) -> (Request, bool) {
    let mut dates = dates::read(words, today);
    asked::mark(words, &mut dates.used);
    let RiskTerms { confidence, horizon_days } = risk_terms::risk_terms(words, &mut dates, today);
    let Named { mut mentions, cash, more, unnamed_amounts } = named(words, &dates.used);
    let asked = asked::asked(words, &mut mentions);
    let topic = topics::topic(words, &mut mentions);
    let calendar = schedule::is_about_calendar(words, &mentions, &asked);
    if calendar {
        mentions.clear();
    }
    let stated = match calendar {
        true => Some(Intent::Calendar),
        false => stated_intent(words, &mut mentions, &asked, topic, dates.period, cash),
    };
    let ranks_dividends = stated == Some(Intent::Dividends)
        && mentions.iter().all(|it| !it.strong)
        && (intent::has(words, intent::PAYERS) || intent::has(words, "индекс рынк index market"));
    let index = mentions.iter().find_map(|it| it.index).unwrap_or("IMOEX");
    if ranks_dividends {
        mentions.clear();
    }
    if stated.is_some_and(Intent::is_of_index) {
        mentions.retain(|it| it.index.is_none());
    }
    let fallback = match mentions.len() {
        0 => Intent::Help,
        1 => Intent::Overview,
        _ => Intent::Comparison,
    };
    let intent = stated.unwrap_or(fallback);
    let mut request = Request {
        language,
        intent,
        is_stated: stated.is_some(),
        mentions,
        period: if calendar {
            Some(schedule::period(words, &dates, today, &asked))
        } else {
            dates.period
        },
        compare_with_today: dates.compare_with_today && !calendar,
        today,
        index,
        sector: focus::sector_of(words)
            .filter(|_| intent.is_of_index() || intent == Intent::Ranking),
        direction: focus::direction(words, intent.is_of_index()),
        top: focus::top(words),
        // A confidence level or a horizon asks for a value at risk without its name.
        focus: if confidence.or(horizon_days.map(f64::from)).is_some() {
            Focus::ValueAtRisk
        } else {
            focus::focus(words)
        },
        ranks_dividends,
        of_largest: intent::has(words, "крупнейш largest biggest топ top")
            && intent::has(words, "индекс index imoex"),
        by_sector: intent::has(words, "сектор отрасл sector industr"),
        unnamed_amounts,
        cash,
        confidence,
        horizon_days,
        asked,
        notes: dates.notes,
    };
    add_notes(&mut request, words, topic.map(|it| it.message), calendar);
    if more > 0 {
        request.note(Note::TooMany(more));
    }
    (request, stated.is_some())
}

/// Returns the intent that the words state: a figure they ask for, a subject that is not served, or
/// what the other words say.
fn stated_intent(
    words: &[Word],
    mentions: &mut Vec<Mention>,
    asked: &Asked,
    topic: Option<topics::Topic>,
    period: Option<Period>,
    cash: Option<Amount>,
) -> Option<Intent> {
    let found = intent(words, mentions, period, cash);
    let decided = topic.is_some_and(|it| it.decides(found, mentions));
    match intent::of_asked(asked, mentions) {
        Some(intent) => Some(intent),
        None if decided => {
            mentions.clear();
            Some(Intent::Help)
        }
        None => found,
    }
}

/// Adds the notes on how the question was read; `topic` is the sentence of a subject that is not
/// served.
fn add_notes(request: &mut Request, words: &[Word], topic: Option<&'static str>, calendar: bool) {
    if let Some(topic) = topic.filter(|_| request.asked.crypto.is_empty()) {
        request.note(Note::Topic(topic));
    }
    if focus::asks_forecast(words) {
        request.note(Note::Future);
    }
    if calendar {
        request.notes.retain(|it| *it != Note::Future);
    }
    if focus::is_order(words) {
        request.note(Note::NoOrders);
    }
    let by_hour = request.asked.hours || !request.asked.indicators.is_empty();
    if !by_hour && vocabulary::begins(words, &["минут", "часов", "часа", "minute", "hour"])
    {
        request.note(Note::DaysOnly);
    }
    let money = |it: &Mention| matches!(it.amount, Some(Amount::Money(_)));
    let foreign = vocabulary::begins(words, &["доллар", "евро", "юан", "dollar", "euro"]);
    let priced = request.asked.crypto.is_empty() && topic.is_none();
    if foreign && priced && !request.mentions.iter().any(money) {
        request.note(Note::OneCurrency);
    }
}
