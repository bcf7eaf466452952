//! Finds the focus of the answer's first sentence, and the direction, the count and the sector that
//! a question asks for.

use super::vocabulary::begins;
use crate::words::Word;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Focus {
    #[default]
    Plain,
    /// The change of the price.
    Change,
    Best,
    Worst,
    /// Volatility, or a comparison by volatility.
    Risk,
    Calm,
    Drawdown,
    Volume,
    /// The highest and the lowest price.
    Extremes,
    ValueAtRisk,
    /// Advice to buy or to sell.
    Advice,
    /// The cause of a move, which exchange data does not contain.
    Why,
    /// The number of constituents.
    Count,
    /// The distance of the price below its high.
    FromHigh,
    /// The best and the worst day.
    Days,
    /// Ticker and ISIN.
    Code,
}

/// The word stems of each focus; the first focus that matches wins.
const WORDS: [(Focus, &str); 12] = [
    (Focus::Why, "почему отчего причин why"),
    (
        Focus::Advice,
        "купит покупат прода брать взять вложит вкладыва инвестир worth should buy sell invest выбрать",
    ),
    (Focus::ValueAtRisk, "var"),
    (Focus::Drawdown, "просадк просел drawdown"),
    (Focus::Calm, "надежн спокойн безопасн стабильн устойчив safer safest calm stable"),
    (Focus::Risk, "рискован волатильн волатилен риск risk volatil"),
    (Focus::Volume, "объем оборот volume turnover ликвидн liquid"),
    (
        Focus::Worst,
        "упал подешев снизил хуже слабее аутсайдер fell worst worse declin drop loser потерял",
    ),
    (Focus::Best, "сильнее доходнее лучше выгоднее больше быстрее better best outperform обогнал"),
    (Focus::Extremes, "максимум минимум максимальн минимальн high highest low lowest"),
    (
        Focus::Change,
        "вырос подорож подрос измен динамик доходност заработ rose gain chang return perform рост",
    ),
    (Focus::Count, "сколько many"),
];

pub(super) fn focus(words: &[Word]) -> Focus {
    // «стоит ли» asks for advice; «стоит» alone asks for a price.
    let asks_advice = words.windows(2).any(|it| it[0].is(&["стоит"]) && it[1].is(&["ли"]));
    if asks_advice {
        return Focus::Advice;
    }
    let has = |stems: &str| begins(words, &stems.split_whitespace().collect::<Vec<_>>());
    let peak = |it: &Word| {
        ["максимум", "пика", "хая", "вершин"].iter().any(|stem| it.lower.starts_with(stem))
            || it.is(&["high", "peak", "top"])
    };
    let from = |it: &Word| it.is(&["от", "с", "from", "off", "below", "ниже"]);
    let near = |it: &[Word]| from(&it[0]) && (peak(&it[1]) || peak(&it[2]));
    if words.windows(3).any(near)
        || words.last().is_some_and(peak) && words.iter().rev().nth(1).is_some_and(from)
    {
        return Focus::FromHigh;
    }
    let day = words.iter().any(|it| it.is(&["день", "дни", "дней", "day", "days"]));
    if day && has("лучш худш удачн best worst") {
        return Focus::Days;
    }
    if has("isin исин тикер ticker") {
        return Focus::Code;
    }
    let found = WORDS.iter().find(|(_, stems)| has(stems)).map_or(Focus::Plain, |it| it.0);
    let less = has("меньше ниже lower less least lowest");
    if found == Focus::Risk && less { Focus::Calm } else { found }
}

/// Reports whether a question asks for a forecast.
pub(super) fn asks_forecast(words: &[Word]) -> bool {
    begins(
        words,
        &[
            "прогноз",
            "вырастет",
            "вырастут",
            "упадет",
            "упадут",
            "обгонит",
            "обгонят",
            "обыграет",
            "догонит",
            "предскаж",
            "спрогноз",
            "заплатит",
            "выплатит",
            "заплатят",
            "forecast",
            "predict",
            "will",
            "ожида",
        ],
    )
}

/// Reports whether the message is an order to trade.
pub(super) fn is_order(words: &[Word]) -> bool {
    let order_verbs = ["купи", "купите", "продай", "продайте", "закажи", "выставь", "выстави"];
    words.iter().any(|it| it.is(&order_verbs))
        || words.first().is_some_and(|it| it.is(&["buy", "sell", "place"]))
}

/// The direction of the price moves that a question asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MoveDirection {
    #[default]
    Both,
    Up,
    Down,
}

pub(super) fn direction(words: &[Word], of_index: bool) -> MoveDirection {
    let has = |stems: &str| begins(words, &stems.split_whitespace().collect::<Vec<_>>());
    let up = has("выросл вырос подорож подрос рост роста расту gain rose winner")
        || of_index && has("лучш best");
    let down =
        has("упал просел подешев аутсайдер паден снизил снижен потеря loser drop declin fell fall")
            || of_index && has("худш хуже worst");
    match (up, down) {
        (true, false) => MoveDirection::Up,
        (false, true) => MoveDirection::Down,
        _ => MoveDirection::Both,
    }
}

/// Returns the count in «топ-3», "top 10", «5 лидеров».
pub(super) fn top(words: &[Word]) -> Option<usize> {
    let small = |it: f64| (1.0..=30.0).contains(&it) && it.fract() == 0.0;
    let count = words.iter().enumerate().find_map(|(at, word)| {
        let glued =
            ["топ-", "топ", "top-", "top"].iter().find_map(|it| word.lower.strip_prefix(it));
        if let Some(count) = glued.and_then(|it| it.parse::<f64>().ok()) {
            return Some(count);
        }
        let next = words.get(at + 1)?;
        if word.is(&["топ", "top"]) {
            let dash = usize::from(next.is_mark(&['-']));
            return words.get(at + 1 + dash)?.number();
        }
        let listed = [
            "лидер",
            "аутсайдер",
            "крупнейш",
            "самы",
            "бумаг",
            "акци",
            "компани",
            "stock",
            "share",
            "gainer",
            "loser",
            "largest",
            "biggest",
        ];
        let named = listed.iter().any(|it| next.lower.starts_with(it));
        let count = match word.lower.as_str() {
            "три" | "трех" | "three" => Some(3.0),
            "четыре" | "четырех" | "four" => Some(4.0),
            "пять" | "пяти" | "five" => Some(5.0),
            "десять" | "десяти" | "ten" => Some(10.0),
            _ => word.number(),
        };
        count.filter(|_| named && word.percent().is_none())
    });
    count.filter(|it| small(*it)).map(|it| it as usize)
}

/// A sector of the exchange's sector indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sector {
    /// The tool's spelling.
    pub name: &'static str,
    /// The Russian name, as in «бумаги: нефть и газ».
    pub russian: &'static str,
}

const SECTORS: [(Sector, &[&str]); 10] = [
    (sector("Oil and gas", "нефть и газ"), &["нефтян", "нефтегаз", "нефтедоб", "газовы", "oil"]),
    (
        sector("Finance", "финансы"),
        &["банки", "банков", "банкам", "банках", "финансов", "финанс", "bank", "banks", "financ"],
    ),
    (
        sector("Metals and mining", "металлы и добыча"),
        &["металл", "золотодоб", "добыва", "steel", "metal", "mining", "miner"],
    ),
    (
        sector("Consumer goods", "потребительский сектор"),
        &["потребит", "ритейл", "retail", "consumer"],
    ),
    (
        sector("Electric utilities", "электроэнергетика"),
        &["энергетик", "энергетич", "электроэнерг", "utilit"],
    ),
    (sector("Chemicals", "химия"), &["химич", "химик", "удобрен", "chemic", "fertili"]),
    (sector("Transport", "транспорт"), &["транспортн", "transport", "перевоз"]),
    (
        sector("Telecommunications", "телекоммуникации"),
        &["телекомы", "телекомов", "телекоммуник", "telecoms", "telecommun"],
    ),
    (
        sector("Information technology", "информационные технологии"),
        &["айти", "технологическ", "айтишн", "tech", "it-компани", "it-сектор"],
    ),
    (
        sector("Real estate", "недвижимость"),
        &["застройщик", "девелопер", "недвижим", "строительн", "developers"],
    ),
];

const fn sector(name: &'static str, russian: &'static str) -> Sector {
    Sector { name, russian }
}

impl Sector {
    /// Returns the Russian name for the tool's spelling of a sector.
    pub(crate) fn russian(name: &str) -> Option<&'static str> {
        SECTORS.iter().find(|it| it.0.name == name).map(|it| it.0.russian)
    }
}

/// Returns the sector that a question asks for.
pub(super) fn sector_of(words: &[Word]) -> Option<Sector> {
    SECTORS.iter().find(|(_, stems)| begins(words, stems)).map(|(sector, _)| *sector)
}

/// Reports whether a word names a sector and not a company.
pub(super) fn is_sector(word: &Word) -> bool {
    let fits = |stem: &str| match stem.chars().count() {
        0..=3 => word.lower == stem,
        _ => word.lower.starts_with(stem),
    };
    SECTORS.iter().any(|(_, stems)| stems.iter().any(|it| fits(it)))
}
