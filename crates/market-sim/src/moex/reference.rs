//! Reference data that does not change during trading: engines, markets, boards, timetables, splits
//! and dividends.

use super::blocks::{Block, Cell, Column, Type};
use super::calendar::{date_of, date_text, day_of, exceptions, regular_from};
use super::listing::Share;
use super::prices::SharePrices;
use super::query::Query;
use super::{Board, Iss};
use crate::keyed_rng::{KeyedRng, key, key_of};

const ENGINES: [(i64, &str, [&str; 2]); 7] = [
    (1, "stock", ["Фондовый рынок и рынок депозитов", "Securities Market"]),
    (2, "state", ["Рынок ГЦБ (размещение)", "Government securities (placement)"]),
    (3, "currency", ["Валютный рынок", "FX Market"]),
    (4, "futures", ["Срочный рынок", "Derivatives Market"]),
    (5, "commodity", ["Товарный рынок", "Commodities Market"]),
    (7, "offboard", ["ОТС-система", "OTC system"]),
    (9, "agro", ["Агро", "Agro"]),
];

const MARKETS: [(i64, &str, [&str; 2]); 2] = [
    (5, "index", ["Индексы фондового рынка", "Stock indices"]),
    (1, "shares", ["Рынок акций", "Shares"]),
];

pub(crate) fn engines(query: &Query) -> Block {
    let columns = [("id", Type::Int), ("name", Type::Text(45)), ("title", Type::Text(765))];
    let row = |(id, name, titles): &(i64, &str, [&str; 2])| {
        vec![(*id).into(), (*name).into(), titles[usize::from(query.english())].into()]
    };
    Block::new("engines", &columns, ENGINES.iter().map(row).collect())
}

/// `engines/{engine}.json`: the week's timetable and the exceptions to it. Weekend sessions are in
/// neither.
pub(crate) fn engine(iss: &Iss<'_>, name: &str, query: &Query) -> Option<Vec<Block>> {
    let (_, name, titles) = ENGINES.iter().find(|(_, engine, _)| *engine == name)?;
    let title = titles[usize::from(query.english())];
    let columns =
        [("NAME", Type::Text(45)), ("title", Type::Text(765)), ("short_title", Type::Text(765))];
    let engine =
        Block::new("engine", &columns, vec![vec![(*name).into(), title.into(), title.into()]]);
    let (start, stop): (Cell, Cell) = ("09:50:00".into(), "23:50:00".into());
    let times = [("start_time", Type::Time), ("stop_time", Type::Time)];
    let week = (1..=7).map(|week_day: i64| {
        let works = i64::from(week_day <= 5);
        vec![week_day.into(), works.into(), start.clone(), stop.clone()]
    });
    let days = exceptions(iss.now.day()).into_iter().map(|(day, works)| {
        vec![date_text(day).into(), i64::from(works).into(), start.clone(), stop.clone()]
    });
    let [from, till] = times;
    let of_week = [("week_day", Type::Int), ("is_work_day", Type::Int), from, till];
    let of_days = [("date", Type::Date), ("is_work_day", Type::Int), from, till];
    Some(vec![
        engine,
        Block::new("timetable", &of_week, week.collect()),
        Block::new("dailytable", &of_days, days.collect()),
    ])
}

pub(crate) fn markets(query: &Query) -> Vec<Block> {
    let columns = [("id", Type::Int), ("NAME", Type::Text(45)), ("title", Type::Text(765))];
    let row = |(id, name, titles): &(i64, &str, [&str; 2])| {
        vec![(*id).into(), (*name).into(), titles[usize::from(query.english())].into()]
    };
    vec![Block::new("markets", &columns, MARKETS.iter().map(row).collect())]
}

pub(crate) fn boards(market: &str, query: &Query) -> Vec<Block> {
    let columns = [
        ("id", Type::Int),
        ("board_group_id", Type::Int),
        ("boardid", Type::Text(12)),
        ("title", Type::Text(381)),
        ("is_traded", Type::Int),
    ];
    let boards = Board::ALL.into_iter().filter(|board| board.market() == market);
    let row = |board: Board| {
        vec![
            board.number().into(),
            board.group().into(),
            board.id().into(),
            board.title(query.english()).into(),
            1.into(),
        ]
    };
    vec![Block::new("boards", &columns, boards.map(row).collect())]
}

/// `index.json`: the names that paths consist of.
pub(crate) fn index(query: &Query) -> Vec<Block> {
    let english = usize::from(query.english());
    let stock = ENGINES[0];
    let of_market: [Column; 6] = [
        ("id", Type::Int),
        ("trade_engine_id", Type::Int),
        ("trade_engine_name", Type::Text(45)),
        ("trade_engine_title", Type::Text(765)),
        ("market_name", Type::Text(45)),
        ("market_title", Type::Text(765)),
    ];
    let markets = MARKETS.iter().map(|(id, name, titles)| {
        let title = stock.2[english];
        vec![
            (*id).into(),
            stock.0.into(),
            stock.1.into(),
            title.into(),
            (*name).into(),
            titles[english].into(),
        ]
    });
    let of_board: [Column; 9] = [
        ("id", Type::Int),
        ("board_group_id", Type::Int),
        ("engine_id", Type::Int),
        ("market_id", Type::Int),
        ("boardid", Type::Text(12)),
        ("board_title", Type::Text(381)),
        ("is_traded", Type::Int),
        ("has_candles", Type::Int),
        ("is_primary", Type::Int),
    ];
    let boards = Board::ALL.into_iter().map(|board| {
        let market = if board.market() == "shares" { 1 } else { 5 };
        let main = i64::from(!matches!(board, Board::Smal | Board::Speq));
        let title = board.title(query.english());
        let (number, group) = (board.number().into(), board.group().into());
        vec![
            number,
            group,
            1.into(),
            market.into(),
            board.id().into(),
            title.into(),
            1.into(),
            main.into(),
            main.into(),
        ]
    });
    let of_duration: [Column; 5] = [
        ("interval", Type::Int),
        ("duration", Type::Int),
        ("days", Type::Int),
        ("title", Type::Text(765)),
        ("hint", Type::Text(765)),
    ];
    let durations = DURATIONS.iter().map(|(interval, seconds, title, hint)| {
        vec![(*interval).into(), (*seconds).into(), Cell::Null, (*title).into(), (*hint).into()]
    });
    vec![
        engines(query),
        Block::new("markets", &of_market, markets.collect()),
        Block::new("boards", &of_board, boards.collect()),
        Block::new("durations", &of_duration, durations.collect()),
    ]
}

const DURATIONS: [(i64, i64, &str, &str); 7] = [
    (1, 60, "минута", "1м"),
    (10, 600, "10 минут", "10м"),
    (60, 3_600, "час", "1ч"),
    (24, 86_400, "день", "1д"),
    (7, 604_800, "неделя", "1н"),
    (31, 2_678_400, "месяц", "1М"),
    (4, 8_035_200, "квартал", "1К"),
];

/// `statistics/engines/stock/splits.json`, of one share or of all.
pub(crate) fn splits(iss: &Iss<'_>, secid: Option<&str>) -> Vec<Block> {
    let columns = [
        ("tradedate", Type::Date),
        ("secid", Type::Text(36)),
        ("before", Type::Int),
        ("after", Type::Int),
    ];
    let today = iss.now.day();
    let mut splits: Vec<_> = iss
        .listing
        .listed(today)
        .filter(|share| secid.is_none_or(|secid| secid == share.secid))
        .filter_map(|share| Some((share.split.filter(|split| split.day <= today)?, share.secid)))
        .collect();
    splits.sort_by_key(|(split, _)| split.day);
    let row = |(split, secid): (super::listing::Split, &str)| {
        vec![date_text(split.day).into(), secid.into(), split.before.into(), split.after.into()]
    };
    vec![Block::new("splits", &columns, splits.into_iter().map(row).collect())]
}

/// Months of the record dates, by the number of payments a year.
const REGISTER_MONTHS: [&[i8]; 5] = [&[], &[7], &[7, 1], &[7, 10, 1], &[5, 7, 10, 12]];
/// Days from the announcement to the payment.
const ANNOUNCED_DAYS: i64 = 45;
const FIRST_YEAR: i16 = 2014;

/// `securities/{secid}/dividends.json`
pub(crate) fn dividends(iss: &Iss<'_>, share: Option<&Share>) -> Vec<Block> {
    let columns = [
        ("secid", Type::Text(36)),
        ("isin", Type::Text(36)),
        ("registryclosedate", Type::Date),
        ("value", Type::Double),
        ("currencyid", Type::Text(9)),
    ];
    let mut rows = Vec::new();
    if let Some(share) = share {
        let last = iss.now.day() + ANNOUNCED_DAYS;
        for (day, micros) in payments(iss.seed, share, last) {
            rows.push(vec![
                share.secid.into(),
                share.isin.as_str().into(),
                date_text(day).into(),
                Cell::Micros(micros),
                "RUB".into(),
            ]);
        }
    }
    vec![Block::new("dividends", &columns, rows)]
}

/// Record dates, and the dividend per share of that day in millionths.
fn payments(seed: u64, share: &Share, last: i64) -> Vec<(i64, i128)> {
    let prices = SharePrices::new(seed, share);
    let months = REGISTER_MONTHS.get(share.payments as usize).copied().unwrap_or_default();
    let years = FIRST_YEAR..=date_of(last).year();
    let mut payments = Vec::new();
    for (year, month) in years.flat_map(|year| months.iter().map(move |month| (year, *month))) {
        let named = key(&[seed, key_of("dividends"), key_of(share.company)]);
        let mut rng =
            KeyedRng::new(key(&[named, year.unsigned_abs().into(), month.unsigned_abs().into()]));
        let date = jiff::civil::Date::new(year, month, 8 + (rng.next_u64() % 14) as i8);
        let Ok(date) = date else { continue };
        let day = regular_from(day_of(date));
        if day < share.listed || day > last {
            continue;
        }
        // The dividend is decided earlier, from the price at that time.
        let price = share.price * prices.level(day - 60) * share.factor(day);
        let paid = price * share.dividend_yield / months.len() as f64 * (0.8 + 0.4 * rng.unit());
        let places = if paid < 1.0 { 100.0 } else { 10_000.0 };
        payments.push((day, (paid * 1e6 / places).round() as i128 * places as i128));
    }
    payments.sort_unstable();
    payments
}
