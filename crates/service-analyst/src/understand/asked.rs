//! Reads which figures a question asks for beyond prices: indicators, the beta and the Sharpe ratio,
//! a ranking of the index, crypto pairs and trading hours.

use super::vocabulary::begins;
use super::{Mention, focus};
use crate::words::{Word, WordKind};

/// One indicator: its label in the tool's windows and its period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Indicator {
    pub name: &'static str,
    pub period: Option<u32>,
}

/// The figure by which the securities of an index are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankMetric {
    MostVolatile,
    LeastVolatile,
    NearestHigh,
    MostTraded,
    LowRsi,
    HighRsi,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    pub indicators: Vec<Indicator>,
    /// The length of a candle, as the indicators' tool names it.
    pub interval: Option<&'static str>,
    pub ranking: Option<RankMetric>,
    pub beta: bool,
    pub sharpe: bool,
    /// The pairs, such as `BTCUSDT`.
    pub crypto: Vec<&'static str>,
    /// Whether the question asks at what hour trading begins or ends.
    pub hours: bool,
    /// Whether the question asks if one security did better than another.
    pub outdoes: bool,
}

/// The words of each indicator.
const INDICATORS: [(&str, &[&str]); 9] = [
    ("rsi", &["rsi", "рси"]),
    ("macd", &["macd", "макд", "мacd"]),
    ("sma", &["sma", "сма", "скользящ", "скользящая", "moving", "ma"]),
    ("ema", &["ema", "ема"]),
    ("bollinger", &["боллинджер", "bollinger"]),
    ("atr", &["atr"]),
    ("stoch", &["стохастик", "stochastic", "stoch"]),
    ("adx", &["adx"]),
    ("cci", &["cci"]),
];

fn has(words: &[Word], stems: &str) -> bool {
    begins(words, &stems.split_whitespace().collect::<Vec<_>>())
}

/// Marks the words of figures and of crypto pairs, so that the name search skips them.
pub(super) fn mark(words: &[Word], used: &mut [bool]) {
    let cross = has(words, "крест cross");
    for (word, used) in words.iter().zip(used) {
        *used |= crypto_symbol(word).is_some() || is_figure_word(word, cross);
    }
}

pub(super) fn asked(words: &[Word], mentions: &mut Vec<Mention>) -> Asked {
    let crypto = crypto(words);
    let mut indicators = indicators(words);
    let cross = has(words, "крест cross");
    if cross && indicators.is_empty() && has(words, "золот мертв golden death") {
        indicators = [50, 200].map(|it| Indicator { name: "sma", period: Some(it) }).to_vec();
    }
    let unnamed = mentions.iter().all(|it| !it.strong);
    let ranking = if unnamed { ranking(words, &indicators) } else { None };
    if ranking.is_some() {
        mentions.clear();
    }
    Asked {
        interval: interval(words),
        ranking,
        beta: words.iter().any(|it| it.is(&BETA)),
        sharpe: has(words, "шарп шарпа sharpe"),
        crypto,
        hours: hours(words),
        outdoes: has(words, "обгон обогн обыгр опереж опередил beat outperform outperformed"),
        indicators,
    }
}

/// Stems of words around a figure, which name no security.
const AROUND: [&str; 12] = [
    "шарп",
    "sharpe",
    "крест",
    "cross",
    "перекуп",
    "перепрод",
    "обгон",
    "обыгр",
    "опереж",
    "часов",
    "дневн",
    "недельн",
];

const BETA: [&str; 5] = ["бета", "бету", "бетой", "бете", "beta"];

fn is_figure_word(word: &Word, cross: bool) -> bool {
    indicator(word).is_some()
        || word.is(&BETA)
        || AROUND.iter().any(|it| word.lower.starts_with(it))
        || cross && word.lower.starts_with("золот")
        || word.is(&["hourly", "beat", "outperform", "alpha", "коэффициент", "коэффициента"])
}

fn indicator(word: &Word) -> Option<&'static str> {
    let letters = word.lower.trim_end_matches(|it: char| it.is_ascii_digit());
    let fits = |it: &&str| {
        letters == *it || it.chars().count() > 4 && !it.is_ascii() && letters.starts_with(it)
    };
    INDICATORS.iter().find(|(_, all)| all.iter().any(&fits)).map(|it| it.0)
}

/// Reads indicators with their periods: `rsi`, `rsi(7)`, `sma50 и 200`.
fn indicators(words: &[Word]) -> Vec<Indicator> {
    let mut found: Vec<Indicator> = Vec::new();
    for (at, word) in words.iter().enumerate().filter(|it| it.1.is_letters()) {
        let Some(name) = indicator(word) else { continue };
        let digits: String = word.lower.chars().filter(char::is_ascii_digit).collect();
        let mut periods: Vec<u32> = digits.parse().into_iter().collect();
        let mut next = at + 1;
        while let Some(it) = words.get(next).filter(|_| next < at + 8) {
            match it.number().filter(|it| (2.0..=400.0).contains(it) && it.fract() == 0.0) {
                Some(period) if it.percent().is_none() => periods.push(period as u32),
                _ if it.is_mark(&['(', ')', ',', '-', '/'])
                    || it.is(&["и", "and", "средняя", "средние", "average", "averages"]) =>
                    {}
                _ => break,
            }
            next += 1;
        }
        let time = words.get(next).is_some_and(|it| {
            ["год", "месяц", "недел", "дн", "year", "month", "week"]
                .iter()
                .any(|s| it.lower.starts_with(s))
        });
        if time && name != "sma" && name != "ema" {
            periods.clear();
        }
        if periods.is_empty() {
            periods.extend(if name == "sma" { vec![50, 200] } else { Vec::new() });
        }
        let periods = periods.into_iter().map(Some);
        let all: Vec<Option<u32>> = periods.collect();
        let all = if all.is_empty() { vec![None] } else { all };
        let new = all.into_iter().map(|period| Indicator { name, period });
        let fresh: Vec<Indicator> = new.filter(|it| !found.contains(it)).collect();
        found.extend(fresh);
    }
    if found.is_empty() && has(words, "перекуплен перепродан overbought oversold")
    {
        found.push(Indicator { name: "rsi", period: None });
    }
    found.truncate(6);
    found
}

fn interval(words: &[Word]) -> Option<&'static str> {
    let hour = |it: &Word| {
        it.is(&["часовой", "часовом", "часовых", "часовая", "hourly", "1h", "h1", "часовик"])
    };
    if words.iter().any(hour) {
        return Some("1h");
    }
    let week = |it: &Word| it.is(&["недельный", "недельном", "недельных", "недельная", "weekly"]);
    words.iter().any(week).then_some("1w")
}

/// Returns the pair of a crypto asset.
fn crypto_symbol(word: &Word) -> Option<&'static str> {
    let lines = include_str!("../../data/crypto.tsv").lines().filter(|it| !it.starts_with('#'));
    let mut pairs = lines.filter_map(|it| it.split_once('\t'));
    let fits = |written: &str| match written.strip_prefix('=') {
        Some(whole) => word.lower == whole,
        None => word.lower.strip_prefix(written).is_some_and(|it| it.chars().count() <= 3),
    };
    let is_word = word.is_letters() || matches!(word.kind, WordKind::Latin);
    pairs.find(|it| is_word && fits(it.0)).map(|it| it.1)
}

fn crypto(words: &[Word]) -> Vec<&'static str> {
    let mut found = Vec::new();
    for symbol in words.iter().filter_map(crypto_symbol) {
        if !found.contains(&symbol) {
            found.push(symbol);
        }
    }
    found
}

fn ranking(words: &[Word], indicators: &[Indicator]) -> Option<RankMetric> {
    let of_index = has(
        words,
        "индекс индекса рынк рынок бумаг бумага акци компани stock stocks share index market",
    ) || focus::sector_of(words).is_some();
    let superlative = focus::top(words).is_some()
        || has(
            words,
            "самы самая самые наибол наимен рейтинг отсортир ранжир rank top most least лидер топ ближе ближайш closest nearest",
        )
        || words.iter().any(|it| it.is(&["кого", "каких", "какие", "какая", "which", "who"]))
            && has(words, "ближе ниже выше меньше больше below above перекуп перепрод");
    if !of_index || !superlative {
        return None;
    }
    let least = has(words, "наимен спокойн стабильн least calm меньше lowest");
    if !indicators.is_empty() {
        let high = has(words, "выше больше above over перекуплен overbought");
        let rsi = indicators.iter().any(|it| it.name == "rsi");
        return rsi.then_some(if high { RankMetric::HighRsi } else { RankMetric::LowRsi });
    }
    if has(words, "волатил рискован volatil risky riskiest спокойн calm") {
        return Some(if least { RankMetric::LeastVolatile } else { RankMetric::MostVolatile });
    }
    if has(words, "максимум максимуму хаям хаю high highs")
        && has(words, "ближе ближайш closest nearest near")
    {
        return Some(RankMetric::NearestHigh);
    }
    has(words, "ликвидн объем обороту оборот торгуем liquid volume turnover traded")
        .then_some(RankMetric::MostTraded)
}

fn hours(words: &[Word]) -> bool {
    let pair = |first: &[&str], second: &[&str]| {
        words
            .windows(2)
            .any(|it| it[0].is(first) && second.iter().any(|s| it[1].lower.starts_with(s)))
    };
    let asks = pair(&["во", "в", "со", "до", "с", "до"], &["сколько", "скольки"])
        || pair(&["what"], &["time", "hour"])
        || pair(&["часы", "время"], &["торг", "работ", "сесси"])
        || pair(&["trading"], &["hours", "time"])
        || pair(
            &["when", "когда"],
            &["does", "do", "is", "открыва", "закрыва", "начин", "заканч", "откро", "закро"],
        );
    asks && has(
        words,
        "бирж торг торги открыва закрыва начин заканч работа сесси мосбирж exchange market trading open close moex",
    )
}
