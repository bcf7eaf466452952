//! The current board: the description of each share (`securities`) and its trading day
//! (`marketdata`).
//!
//! Without a subscription the data of shares is fifteen minutes old; its time is in `UPDATETIME`,
//! the time of the response in `SYSTIME`. The day changes at nine in the morning, before trading
//! opens, and prices are empty from then until the first trade.

use clock::DAY_MS;

use super::basket::dollar_on;
use super::blocks::{Block, Cell, Column, Type};
use super::calendar::{
    DayKind, MAIN_ENDS, MINUTE_MS, Wall, date_text, kind_of, regular_before, regular_from,
};
use super::history::{close_before, legal_close};
use super::listing::{Security, Share};
use super::query::Query;
use super::tape::{Bar, Tape};
use super::{Board, Iss};

const SECURITIES: [Column; 27] = [
    ("SECID", Type::Text(36)),
    ("BOARDID", Type::Text(12)),
    ("SHORTNAME", Type::Text(30)),
    ("PREVPRICE", Type::Double),
    ("LOTSIZE", Type::Int),
    ("FACEVALUE", Type::Double),
    ("STATUS", Type::Text(3)),
    ("BOARDNAME", Type::Text(381)),
    ("DECIMALS", Type::Int),
    ("SECNAME", Type::Text(90)),
    ("REMARKS", Type::Text(24)),
    ("MARKETCODE", Type::Text(12)),
    ("INSTRID", Type::Text(12)),
    ("SECTORID", Type::Text(12)),
    ("MINSTEP", Type::Double),
    ("PREVWAPRICE", Type::Double),
    ("FACEUNIT", Type::Text(12)),
    ("PREVDATE", Type::Date),
    ("ISSUESIZE", Type::Long),
    ("ISIN", Type::Text(36)),
    ("LATNAME", Type::Text(90)),
    ("REGNUMBER", Type::Text(90)),
    ("PREVLEGALCLOSEPRICE", Type::Double),
    ("CURRENCYID", Type::Text(12)),
    ("SECTYPE", Type::Text(3)),
    ("LISTLEVEL", Type::Int),
    ("SETTLEDATE", Type::Date),
];

const MARKETDATA: [Column; 56] = [
    ("SECID", Type::Text(36)),
    ("BOARDID", Type::Text(12)),
    ("BID", Type::Double),
    ("BIDDEPTH", Type::Text(0)),
    ("OFFER", Type::Double),
    ("OFFERDEPTH", Type::Text(0)),
    ("SPREAD", Type::Double),
    ("BIDDEPTHT", Type::Int),
    ("OFFERDEPTHT", Type::Int),
    ("OPEN", Type::Double),
    ("LOW", Type::Double),
    ("HIGH", Type::Double),
    ("LAST", Type::Double),
    ("LASTCHANGE", Type::Double),
    ("LASTCHANGEPRCNT", Type::Double),
    ("QTY", Type::Int),
    ("VALUE", Type::Double),
    ("VALUE_USD", Type::Double),
    ("WAPRICE", Type::Double),
    ("LASTCNGTOLASTWAPRICE", Type::Double),
    ("WAPTOPREVWAPRICEPRCNT", Type::Double),
    ("WAPTOPREVWAPRICE", Type::Double),
    ("CLOSEPRICE", Type::Double),
    ("MARKETPRICETODAY", Type::Double),
    ("MARKETPRICE", Type::Double),
    ("LASTTOPREVPRICE", Type::Double),
    ("NUMTRADES", Type::Int),
    ("VOLTODAY", Type::Long),
    ("VALTODAY", Type::Long),
    ("VALTODAY_USD", Type::Long),
    ("ETFSETTLEPRICE", Type::Double),
    ("TRADINGSTATUS", Type::Text(3)),
    ("UPDATETIME", Type::Time),
    ("LASTBID", Type::Text(0)),
    ("LASTOFFER", Type::Text(0)),
    ("LCLOSEPRICE", Type::Double),
    ("LCURRENTPRICE", Type::Double),
    ("MARKETPRICE2", Type::Double),
    ("NUMBIDS", Type::Text(0)),
    ("NUMOFFERS", Type::Text(0)),
    ("CHANGE", Type::Double),
    ("TIME", Type::Time),
    ("HIGHBID", Type::Text(0)),
    ("LOWOFFER", Type::Text(0)),
    ("PRICEMINUSPREVWAPRICE", Type::Double),
    ("OPENPERIODPRICE", Type::Double),
    ("SEQNUM", Type::Long),
    ("SYSTIME", Type::DateTime),
    ("CLOSINGAUCTIONPRICE", Type::Double),
    ("CLOSINGAUCTIONVOLUME", Type::Double),
    ("ISSUECAPITALIZATION", Type::Double),
    ("ISSUECAPITALIZATION_UPDATETIME", Type::Time),
    ("ETFSETTLECURRENCY", Type::Text(18)),
    ("VALTODAY_RUR", Type::Long),
    ("TRADINGSESSION", Type::Text(3)),
    ("TRENDISSUECAPITALIZATION", Type::Double),
];

const VERSION: [Column; 4] = [
    ("data_version", Type::Int),
    ("seqnum", Type::Long),
    ("trade_date", Type::Date),
    ("trade_session_date", Type::Date),
];

const TURNOVER_MS: i64 = 9 * 3_600_000;

/// The day that the board shows at this time: the latest one whose trading has begun.
pub(crate) fn shown_day(until: Wall, open: impl Fn(i64) -> bool) -> i64 {
    let begun = until.0.rem_euclid(DAY_MS) >= TURNOVER_MS;
    let mut day = if begun { until.day() } else { until.day() - 1 };
    for _ in 0..40 {
        if open(day) {
            break;
        }
        day -= 1;
    }
    day
}

/// Whether a session is open at this time.
pub(crate) fn in_session(at: Wall) -> bool {
    let minute = at.0.rem_euclid(DAY_MS) / MINUTE_MS;
    let within = |(first, end): &(i64, i64)| (*first..*end).contains(&minute);
    kind_of(at.day()).sessions().iter().any(within)
}

pub(crate) fn version(now: Wall, day: i64) -> Block {
    let row = vec![
        Cell::Int(8_000 + day % 1_000),
        Cell::Int(now.sequence()),
        date_text(day).into(),
        date_text(regular_from(day)).into(),
    ];
    Block::new("dataversion", &VERSION, vec![row])
}

/// One share's day on one board.
struct Day<'a> {
    share: &'a Share,
    board: Board,
    now: Wall,
    until: Wall,
    /// `None` if there was no trade.
    bar: Option<Bar>,
    last_trade: Option<Wall>,
    /// The close of the main session, once it has ended.
    main_close: Option<i64>,
    previous_day: i64,
    previous: Option<i64>,
    previous_average: Option<i64>,
    previous_legal: Option<i64>,
    dollar: f64,
}

impl<'a> Day<'a> {
    fn new(iss: &Iss<'_>, share: &'a Share, board: Board, tape: &mut Tape<'_>) -> Self {
        let until = tape.until();
        let day = shown_day(until, |day| kind_of(day) != DayKind::Closed);
        let previous_day = regular_before(regular_from(day));
        // Only the main board trades here; the others show its previous day.
        let traded = board == Board::Tqbr;
        let bar = tape.fold_day(day).filter(|_| traded);
        let midnight = Wall::midnight(day);
        let main_ends = Wall(midnight.0 + MAIN_ENDS * MINUTE_MS);
        let main_over = until >= main_ends && kind_of(day).is_regular();
        let main_close = if main_over { tape.fold(midnight, main_ends) } else { None };
        let last_trade = tape.last_trade(midnight, Wall::midnight(day + 1));
        let average = tape.fold_day(previous_day).and_then(|bar| bar.average());
        let round = |price: i64| price / share.step * share.step;
        Self {
            share,
            board,
            now: iss.now,
            until,
            bar,
            last_trade: last_trade.filter(|_| bar.is_some()),
            main_close: main_close.map(|bar| bar.close).filter(|_| traded),
            previous_day,
            previous: close_before(tape, previous_day + 1),
            previous_average: average.map(round),
            previous_legal: legal_close(tape, previous_day).filter(|_| traded),
            dollar: dollar_on(iss.seed, day),
        }
    }

    fn security(&self, english: bool) -> Vec<Cell> {
        let share = self.share;
        let lot = if self.board == Board::Tqbr { share.lot } else { 1 };
        let settled = regular_from(regular_from(self.until.day()) + 1);
        vec![
            share.secid.into(),
            self.board.id().into(),
            if english { share.latin_name().into() } else { share.short_name.into() },
            Cell::maybe(self.previous),
            Cell::Int(lot),
            Cell::Int(1),
            "A".into(),
            self.board.title(english).into(),
            Cell::Int(i64::from(share.decimals)),
            if english { share.latin_name().into() } else { share.full_name().into() },
            Cell::Null,
            "FNDT".into(),
            "EQIN".into(),
            Cell::Null,
            Cell::price(share.step),
            Cell::maybe(self.previous_average),
            "SUR".into(),
            date_text(self.previous_day).into(),
            Cell::Int(share.issue_size),
            share.isin.as_str().into(),
            share.latin_name().into(),
            share.registration().into(),
            Cell::maybe(self.previous_legal),
            "SUR".into(),
            if share.preferred { "2".into() } else { "1".into() },
            Cell::Int(share.level),
            date_text(settled).into(),
        ]
    }

    fn marketdata(&self) -> Vec<Cell> {
        MARKETDATA.iter().map(|(name, _)| self.cell(name)).collect()
    }

    /// The value of a column. Columns that are not listed here are empty, as on the real board.
    fn cell(&self, name: &str) -> Cell {
        let (share, bar) = (self.share, self.bar);
        let price = |of: fn(&Bar) -> i64| bar.map_or(Cell::Null, |bar| Cell::price(of(&bar)));
        let count = |of: fn(&Bar) -> i64| Cell::Int(bar.map_or(0, |bar| of(&bar)));
        let (last, average) = (bar.map(|bar| bar.close), self.average());
        let (lots, tick) = self.last_trade_of_all();
        let paid = i128::from(last.unwrap_or(0)) * i128::from(lots * share.lot);
        let roubles = bar.map_or(0, |bar| (bar.value / 1_000_000) as i64);
        match name {
            "SECID" => share.secid.into(),
            "BOARDID" => self.board.id().into(),
            "BID" => Cell::maybe(self.quoted(-1)),
            "OFFER" => Cell::maybe(self.quoted(1)),
            "SPREAD" => Cell::price(self.quoted(0).map_or(0, |_| 2 * share.step)),
            "BIDDEPTHT" => Cell::Int(bar.map_or(0, |bar| bar.volume / share.lot / 40)),
            "OFFERDEPTHT" => Cell::Int(bar.map_or(0, |bar| bar.volume / share.lot / 37)),
            "OPEN" | "OPENPERIODPRICE" => price(|bar| bar.open),
            "LOW" => price(|bar| bar.low),
            "HIGH" => price(|bar| bar.high),
            "LAST" => Cell::maybe(last),
            "LASTCHANGE" => Cell::price(tick),
            "LASTCHANGEPRCNT" => percent(last, last.map(|last| last - tick)),
            "QTY" => Cell::Int(lots),
            "VALUE" => Cell::Money(paid),
            "VALUE_USD" => Cell::rounded(paid as f64 / 1e6 / self.dollar, 2),
            "WAPRICE" | "MARKETPRICETODAY" | "MARKETPRICE2" => Cell::maybe(average),
            "MARKETPRICE" => Cell::maybe(self.previous_average),
            "LASTCNGTOLASTWAPRICE" => {
                Cell::price(against(last, self.previous_average).unwrap_or(0))
            }
            "PRICEMINUSPREVWAPRICE" => Cell::maybe(against(last, self.previous_average)),
            "WAPTOPREVWAPRICEPRCNT" => percent(average, self.previous_average),
            "WAPTOPREVWAPRICE" => Cell::price(against(average, self.previous_average).unwrap_or(0)),
            "CHANGE" => Cell::maybe(against(last, self.previous)),
            "LASTTOPREVPRICE" => percent(last, self.previous),
            "NUMTRADES" => count(|bar| bar.trades),
            "VOLTODAY" => count(|bar| bar.volume),
            "VALTODAY" | "VALTODAY_RUR" => Cell::Int(roubles),
            "VALTODAY_USD" => Cell::Int((roubles as f64 / self.dollar) as i64),
            "TRADINGSTATUS" => if in_session(self.until) { "T" } else { "N" }.into(),
            "UPDATETIME" => self.until.time_text().into(),
            "TIME" | "ISSUECAPITALIZATION_UPDATETIME" => {
                self.last_trade.unwrap_or(self.until).time_text().into()
            }
            "LCLOSEPRICE" | "CLOSINGAUCTIONPRICE" => Cell::maybe(self.main_close),
            "CLOSINGAUCTIONVOLUME" => {
                let auction = self.main_close.zip(bar).map(|(_, bar)| bar.volume / 900);
                auction.map_or(Cell::Null, Cell::Int)
            }
            "LCURRENTPRICE" => Cell::maybe(last.or(self.previous)),
            "SEQNUM" => Cell::Int(self.now.sequence()),
            "SYSTIME" => self.now.text().into(),
            "ISSUECAPITALIZATION" => self.capitalization(last.or(self.previous)),
            "TRENDISSUECAPITALIZATION" => {
                self.capitalization(Some(against(last, self.previous).unwrap_or(0)))
            }
            _ => Cell::Null,
        }
    }

    fn average(&self) -> Option<i64> {
        let average = self.bar.and_then(|bar| bar.average());
        average.map(|price| price / self.share.step * self.share.step)
    }

    /// The last price moved by `steps` price steps; `None` while nothing trades.
    fn quoted(&self, steps: i64) -> Option<i64> {
        let last = self.bar.filter(|_| in_session(self.until)).map(|bar| bar.close);
        last.map(|last| last + steps * self.share.step)
    }

    /// The lots of the last trade, and the distance of its price from the previous trade.
    fn last_trade_of_all(&self) -> (i64, i64) {
        let share = self.share;
        let of_bar = |bar: Bar| (1 + bar.volume / share.lot % 7, (bar.trades % 3 - 1) * share.step);
        self.bar.map_or((0, 0), of_bar)
    }

    /// The value of all issued shares at a price.
    fn capitalization(&self, price: Option<i64>) -> Cell {
        let all = |price| Cell::Micros(i128::from(price) * i128::from(self.share.issue_size));
        price.map_or(Cell::Null, all)
    }
}

fn against(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one.zip(other).map(|(one, other)| one - other)
}

fn percent(one: Option<i64>, other: Option<i64>) -> Cell {
    let part = one.zip(other).map(|(one, other)| (one - other) as f64 / other as f64 * 100.0);
    Cell::rounded(part.unwrap_or(0.0), 2)
}

/// The shares that the query selects from `shares`.
fn selected_shares<'a>(iss: &Iss<'a>, shares: Vec<&'a Share>, query: &Query) -> Vec<&'a Share> {
    const NAMES_MAX: usize = 10;
    let names: Option<Vec<String>> = query.get("securities").map(|names| {
        names.split(',').take(NAMES_MAX).map(|name| name.trim().to_uppercase()).collect()
    });
    let index = query.get("index").map(super::listing::index_named);
    shares
        .into_iter()
        .filter(|share| {
            names.as_ref().is_none_or(|names| names.iter().any(|name| name == share.secid))
        })
        .filter(|share| {
            index.is_none_or(|index| index.is_some_and(|index| index.part_of(share).is_some()))
        })
        .filter(|share| share.listed <= iss.now.day())
        .collect()
}

/// The blocks for some shares on some boards.
pub(crate) fn shares<'a>(
    iss: &Iss<'a>,
    shares: Vec<&'a Share>,
    boards: &[Board],
    query: &Query,
) -> Vec<Block> {
    let english = query.english();
    let (mut securities, mut data) = (Vec::new(), Vec::new());
    for share in selected_shares(iss, shares, query) {
        let mut tape = iss.tape(Security::Share(share));
        for board in boards {
            let day = Day::new(iss, share, *board, &mut tape);
            securities.push(day.security(english));
            data.push(day.marketdata());
        }
    }
    let until = iss.now.minus_ms(Iss::DELAY_MS);
    let day = shown_day(until, |day| kind_of(day) != DayKind::Closed);
    vec![
        Block::new("securities", &SECURITIES, securities),
        Block::new("marketdata", &MARKETDATA, data),
        version(iss.now, day),
        Block::new(
            "marketdata_yields",
            &[("boardid", Type::Text(12)), ("secid", Type::Text(36))],
            Vec::new(),
        ),
    ]
}
