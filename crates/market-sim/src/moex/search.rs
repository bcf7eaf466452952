//! Finds securities by code, name or ISIN, and describes one security.

use super::blocks::{Block, Cell, Column, Type};
use super::calendar::{date_text, day_of};
use super::history::last_day;
use super::listing::{INDICES, Index, Security, Share};
use super::query::Query;
use super::{Board, Iss};
use crate::keyed_rng::key_of;

const COLUMNS: [Column; 16] = [
    ("id", Type::Int),
    ("secid", Type::Text(51)),
    ("shortname", Type::Text(189)),
    ("regnumber", Type::Text(189)),
    ("name", Type::Text(765)),
    ("isin", Type::Text(51)),
    ("is_traded", Type::Int),
    ("emitent_id", Type::Int),
    ("emitent_title", Type::Text(765)),
    ("emitent_inn", Type::Text(30)),
    ("emitent_okpo", Type::Text(24)),
    ("gosreg", Type::Text(189)),
    ("type", Type::Text(93)),
    ("group", Type::Text(93)),
    ("primary_boardid", Type::Text(12)),
    ("marketprice_boardid", Type::Text(12)),
];

/// Shorter words are ignored.
const WORD_MIN: usize = 3;

/// `securities.json`: the securities that contain all words of `q`.
pub(crate) fn find(iss: &Iss<'_>, query: &Query) -> Vec<Block> {
    let text = query.get("q").unwrap_or_default().to_lowercase();
    let words: Vec<&str> =
        text.split_whitespace().filter(|word| word.chars().count() >= WORD_MIN).collect();
    let nothing = !text.trim().is_empty() && words.is_empty();
    let matches = |texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
        !nothing && words.iter().all(|word| texts.iter().any(|text| text.contains(word)))
    };
    let limit = match query.number("limit") {
        Some(limit @ (5 | 10 | 20)) => limit as usize,
        _ => 100,
    };
    let in_market = |market: &str| {
        query.get("engine").is_none_or(|engine| engine == "stock")
            && query.get("market").is_none_or(|name| name == market)
            && query.get("is_trading").is_none_or(|traded| traded == "1")
    };
    let indices = INDICES
        .iter()
        .filter(|index| {
            in_market("index") && matches(&[index.secid, index.name, index.latin, &index.isin()])
        })
        .map(index_row);
    let shares = iss
        .listing
        .listed(iss.now.day())
        .filter(|share| {
            let (registration, issuer) = (share.registration(), share.issuer());
            let names = [share.secid, share.short_name, share.company, share.latin];
            in_market("shares")
                && matches(&[&names[..], &[&share.isin, &registration, &issuer]].concat())
        })
        .map(|share| share_row(share, query.english()));
    let rows = indices.chain(shares).skip(query.start()).take(limit).collect();
    vec![Block::new("securities", &COLUMNS, rows)]
}

fn id_of(secid: &str) -> Cell {
    Cell::Int((key_of(secid) % 500_000).cast_signed())
}

fn share_row(share: &Share, english: bool) -> Vec<Cell> {
    vec![
        id_of(share.secid),
        share.secid.into(),
        if english { share.latin_name().into() } else { share.short_name.into() },
        share.registration().into(),
        if english { share.latin_name().into() } else { share.full_name().into() },
        share.isin.as_str().into(),
        Cell::Int(1),
        Cell::Int(share.issuer_id()),
        share.issuer().into(),
        share.taxpayer().into(),
        format!("{:08}", key_of(share.company) % 100_000_000).into(),
        share.registration().into(),
        type_of(share).into(),
        "stock_shares".into(),
        "TQBR".into(),
        "TQBR".into(),
    ]
}

fn index_row(index: &Index) -> Vec<Cell> {
    let mut row = vec![Cell::Null; COLUMNS.len()];
    row[0] = id_of(index.secid);
    row[1] = index.secid.into();
    row[2] = index.short_name.into();
    row[4] = index.name.into();
    row[5] = index.isin().into();
    row[6] = Cell::Int(1);
    row[12] = "stock_index".into();
    row[13] = "stock_index".into();
    row[14] = index.board.into();
    row
}

const DESCRIPTION: [Column; 7] = [
    ("name", Type::Text(93)),
    ("title", Type::Text(765)),
    ("value", Type::Text(765)),
    ("type", Type::Text(93)),
    ("sort_order", Type::Int),
    ("is_hidden", Type::Int),
    ("precision", Type::Int),
];

const BOARDS: [Column; 15] = [
    ("secid", Type::Text(36)),
    ("boardid", Type::Text(12)),
    ("title", Type::Text(381)),
    ("board_group_id", Type::Int),
    ("market_id", Type::Int),
    ("market", Type::Text(45)),
    ("engine_id", Type::Int),
    ("engine", Type::Text(45)),
    ("is_traded", Type::Int),
    ("decimals", Type::Int),
    ("history_from", Type::Date),
    ("history_till", Type::Date),
    ("listed_from", Type::Date),
    ("listed_till", Type::Date),
    ("is_primary", Type::Int),
];

/// `securities/{secid}.json`; an unknown code gives no rows.
pub(crate) fn describe(iss: &Iss<'_>, security: Option<Security<'_>>, query: &Query) -> Vec<Block> {
    let english = query.english();
    let (description, boards) = match security {
        Some(Security::Share(share)) => {
            let till = last_day(iss.until(Security::Share(share)));
            let boards = [Board::Tqbr, Board::Smal, Board::Speq];
            let boards = boards.map(|board| {
                let primary = i64::from(board == Board::Tqbr);
                let title = board.title(english);
                board_row(
                    (share.secid, board.id(), title, i64::from(share.decimals), primary),
                    (board.group(), 1, "shares"),
                    (share.listed, till),
                )
            });
            (share_description(share, english), boards.to_vec())
        }
        Some(Security::Index(index)) => {
            let (from, till) = (day_of(index.since), last_day(iss.now));
            let title = if english {
                "Stock indices"
            } else {
                "Индексы фондового рынка"
            };
            let board =
                board_row((index.secid, index.board, title, 2, 1), (9, 5, "index"), (from, till));
            (index_description(index, english), vec![board])
        }
        None => (Vec::new(), Vec::new()),
    };
    vec![
        Block::new("description", &DESCRIPTION, description),
        Block::new("boards", &BOARDS, boards),
    ]
}

fn board_row(
    (secid, board, title, decimals, primary): (&str, &str, &str, i64, i64),
    (group, market_id, market): (i64, i64, &str),
    (from, till): (i64, i64),
) -> Vec<Cell> {
    let (from, till) = (date_text(from), date_text(till));
    vec![
        secid.into(),
        board.into(),
        title.into(),
        group.into(),
        market_id.into(),
        market.into(),
        1.into(),
        "stock".into(),
        1.into(),
        decimals.into(),
        from.as_str().into(),
        till.as_str().into(),
        from.into(),
        till.into(),
        primary.into(),
    ]
}

/// Name, its titles in Russian and English, type, order, hidden, precision.
type Line = (&'static str, [&'static str; 2], &'static str, i64, i64, Option<i64>);

const SHARE_LINES: [Line; 16] = [
    ("SECID", ["Код ценной бумаги", "Security code"], "string", 1, 0, None),
    ("NAME", ["Полное наименование", "Full name"], "string", 3, 0, None),
    ("SHORTNAME", ["Краткое наименование", "Short name"], "string", 4, 0, None),
    ("ISIN", ["ISIN код", "ISIN Code"], "string", 5, 0, None),
    ("REGNUMBER", ["Номер регистрации", "Registration number"], "string", 6, 0, None),
    ("ISSUESIZE", ["Объем выпуска", "Issue size"], "number", 7, 0, Some(0)),
    ("FACEVALUE", ["Номинальная стоимость", "Face value"], "number", 8, 0, Some(4)),
    ("FACEUNIT", ["Валюта номинала", "Face value currency"], "string", 9, 0, None),
    ("ISSUEDATE", ["Дата начала торгов", "Date of listing"], "date", 10, 0, None),
    ("LATNAME", ["Английское наименование", "English name"], "string", 11, 0, None),
    ("LISTLEVEL", ["Уровень листинга", "List level"], "number", 32, 0, Some(0)),
    ("TYPENAME", ["Вид ценной бумаги", "Security type"], "string", 71, 0, None),
    ("GROUP", ["Код типа инструмента", "Instrument type code"], "string", 72, 1, None),
    ("TYPE", ["Тип бумаги", "Security type code"], "string", 10_000, 1, None),
    ("GROUPNAME", ["Тип инструмента", "Instrument type"], "string", 10_011, 1, None),
    ("EMITTER_ID", ["Код эмитента", "Issuer code"], "number", 11_000, 1, None),
];

const INDEX_LINES: [Line; 8] = [
    ("SECID", ["Код индекса", "Index code"], "string", 1, 0, None),
    ("SHORTNAME", ["Краткое наименование", "Short name"], "string", 2, 0, None),
    ("NAME", ["Полное наименование", "Full name"], "string", 3, 0, None),
    ("LATNAME", ["Английское наименование", "English name"], "string", 4, 1, None),
    ("CURRENCYID", ["Валюта расчета", "Currency"], "string", 7, 0, None),
    ("ISSUEDATE", ["Дата начала публикации", "Published since"], "date", 11, 0, None),
    ("GROUP", ["Код типа инструмента", "Instrument type code"], "string", 72, 1, None),
    ("TYPE", ["Тип бумаги", "Security type code"], "string", 10_000, 1, None),
];

fn describe_by(lines: &[Line], english: bool, value: impl Fn(&str) -> String) -> Vec<Vec<Cell>> {
    let row = |(name, titles, kind, order, hidden, precision): &Line| {
        vec![
            (*name).into(),
            titles[usize::from(english)].into(),
            value(name).into(),
            (*kind).into(),
            (*order).into(),
            (*hidden).into(),
            precision.map_or(Cell::Null, Cell::Int),
        ]
    };
    lines.iter().map(row).collect()
}

fn share_description(share: &Share, english: bool) -> Vec<Vec<Cell>> {
    let kind = match (share.preferred, english) {
        (false, false) => "Акция обыкновенная",
        (true, false) => "Акция привилегированная",
        (false, true) => "Common stock",
        (true, true) => "Preferred stock",
    };
    describe_by(&SHARE_LINES, english, |name| match name {
        "NAME" | "SHORTNAME" if english => share.latin_name(),
        "NAME" => share.full_name(),
        "SHORTNAME" => share.short_name.to_owned(),
        "ISIN" => share.isin.clone(),
        "REGNUMBER" => share.registration(),
        "ISSUESIZE" => share.issue_size.to_string(),
        "FACEVALUE" => "1".to_owned(),
        "FACEUNIT" => "SUR".to_owned(),
        "ISSUEDATE" => date_text(share.listed),
        "LATNAME" => share.latin_name(),
        "LISTLEVEL" => share.level.to_string(),
        "TYPENAME" => kind.to_owned(),
        "GROUP" => "stock_shares".to_owned(),
        "TYPE" => type_of(share).to_owned(),
        "GROUPNAME" => if english { "Stocks" } else { "Акции" }.to_owned(),
        "EMITTER_ID" => share.issuer_id().to_string(),
        _ => share.secid.to_owned(),
    })
}

const fn type_of(share: &Share) -> &'static str {
    if share.preferred { "preferred_share" } else { "common_share" }
}

fn index_description(index: &Index, english: bool) -> Vec<Vec<Cell>> {
    let value = |name: &str| match name {
        "NAME" | "SHORTNAME" if english => index.latin,
        "NAME" => index.name,
        "SHORTNAME" => index.short_name,
        "LATNAME" => index.latin,
        "CURRENCYID" => index.currency,
        "GROUP" | "TYPE" => "stock_index",
        _ => index.secid,
    };
    describe_by(&INDEX_LINES, english, |name| match name {
        "ISSUEDATE" => index.since.to_string(),
        name => value(name).to_owned(),
    })
}
