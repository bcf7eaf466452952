//! Shapes: columns, pages, errors and faults, as ISS has them.

use super::*;
use crate::faults::Faults;

const SBER: &str = "engines/stock/markets/shares/boards/TQBR/securities/SBER";

#[track_caller]
fn check_columns(answer: &Value, block: &str, starts: &str, count: usize) {
    let columns = answer[block]["columns"].as_array().unwrap_or_else(|| panic!("no {block}"));
    let names: Vec<&str> = columns.iter().map(|name| name.as_str().unwrap()).collect();
    assert!(names.join(",").starts_with(starts), "{block}: {names:?}");
    assert_eq!(names.len(), count, "{block}: {names:?}");
}

#[tokio::test]
async fn blocks_have_the_columns_of_iss() {
    let sim = sim_at(THURSDAY);
    let history = "history/engines/stock/markets/shares/boards/TQBR";
    let analytics = "statistics/engines/stock/markets/index/analytics";
    for (path, block, starts, count) in [
        ("engines.json", "engines", "id,name,title", 3),
        ("engines/stock.json", "timetable", "week_day,is_work_day,start_time,stop_time", 4),
        ("engines/stock.json", "dailytable", "date,is_work_day,start_time,stop_time", 4),
        ("engines/stock/markets.json", "markets", "id,NAME,title", 3),
        ("engines/stock/markets/shares/boards.json", "boards", "id,board_group_id,boardid", 5),
        ("index.json", "boards", "id,board_group_id,engine_id,market_id,boardid", 9),
        ("index.json", "durations", "interval,duration,days,title,hint", 5),
        ("securities.json?q=SBER", "securities", "id,secid,shortname,regnumber,name,isin", 16),
        ("securities/SBER.json", "description", "name,title,value,type", 7),
        ("securities/SBER.json", "boards", "secid,boardid,title", 15),
        ("securities/SBER/dividends.json", "dividends", "secid,isin,registryclosedate,value", 5),
        ("securities/SBER/indices.json", "indices", "SECID,SHORTNAME,FROM,TILL", 4),
        (&format!("{SBER}.json"), "securities", "SECID,BOARDID,SHORTNAME,PREVPRICE,LOTSIZE", 27),
        (&format!("{SBER}.json"), "marketdata", "SECID,BOARDID,BID,BIDDEPTH,OFFER", 56),
        (&format!("{SBER}.json"), "dataversion", "data_version,seqnum,trade_date", 4),
        (&format!("{SBER}.json"), "marketdata_yields", "boardid,secid", 2),
        (
            &format!("{SBER}/candles.json"),
            "candles",
            "open,close,high,low,value,volume,begin,end",
            8,
        ),
        (&format!("{SBER}/candleborders.json"), "borders", "begin,end,interval", 3),
        (&format!("{history}/securities/SBER.json"), "history", "BOARDID,TRADEDATE,SHORTNAME", 24),
        (&format!("{history}/securities/SBER.json"), "history.cursor", "INDEX,TOTAL,PAGESIZE", 3),
        (&format!("{history}/dates.json"), "dates", "from,till", 2),
        (&format!("{analytics}/IMOEX.json"), "analytics", "indexid,tradedate,ticker", 8),
        (
            &format!("{analytics}/IMOEX.json"),
            "analytics.cursor",
            "INDEX,TOTAL,PAGESIZE,PREV_DATE",
            5,
        ),
        (&format!("{analytics}/IMOEX.json"), "analytics.dates", "from,till", 2),
        (&format!("{analytics}.json"), "indices", "indexid,shortname,from,till", 4),
        (&format!("{analytics}/IMOEX/tickers.json"), "tickers", "ticker,from,till", 4),
        ("statistics/engines/stock/splits.json", "splits", "tradedate,secid,before,after", 4),
        (
            "engines/stock/markets/index/boards/SNDX/securities/IMOEX.json",
            "marketdata",
            "SECID,BOARDID,LASTVALUE,OPENVALUE,CURRENTVALUE,LASTCHANGE",
            26,
        ),
        (
            "history/engines/stock/markets/index/boards/RTSI/securities/RTSI.json",
            "history",
            "BOARDID,SECID,TRADEDATE",
            19,
        ),
    ] {
        check_columns(&json(&sim, path).await, block, starts, count);
    }
}

#[tokio::test]
async fn unknown_codes_give_empty_tables() {
    let sim = sim_at(THURSDAY);
    for (path, block) in [
        ("engines/stock/markets/shares/boards/TQBR/securities/NOPE.json", "securities"),
        ("engines/stock/markets/shares/boards/TQBR/securities/NOPE.json", "marketdata"),
        ("engines/stock/markets/shares/boards/TQBR/securities/NOPE/candles.json", "candles"),
        ("engines/stock/markets/shares/boards/XXXX/securities/SBER/candles.json", "candles"),
        (
            "engines/stock/markets/shares/boards/TQBR/securities/SBER/candles.json?interval=5",
            "candles",
        ),
        ("engines/stock/markets/index/boards/SNDX/securities/RTSI/candles.json", "candles"),
        ("engines/stock/markets/shares/boards/TQBR/securities/NOPE/candleborders.json", "borders"),
        ("history/engines/stock/markets/shares/boards/TQBR/securities/NOPE.json", "history"),
        ("securities/NOPE.json", "description"),
        ("securities/NOPE.json", "boards"),
        ("securities/NOPE/dividends.json", "dividends"),
        ("securities.json?q=nosuchthing", "securities"),
        ("statistics/engines/stock/markets/index/analytics/NOPE.json", "analytics"),
    ] {
        assert_eq!(rows(&sim, path, block).await, Vec::<Row>::new(), "{path}");
    }
}

#[tokio::test]
async fn unknown_and_forbidden_paths_return_html_pages() {
    let sim = sim_at(THURSDAY);
    for (path, expected) in [
        ("nothing.json", 404),
        ("engines.xml", 404),
        ("engines/nope.json", 404),
        ("engines/stock/markets/nope/securities.json", 404),
        ("engines/stock/markets/shares/boards/TQBR/securities/SBER/nope.json", 404),
        ("calendars.json", 200),
        ("calendars/stock.json", 200),
        ("engines/stock/markets/shares/boards/TQBR/securities/SBER/orderbook.json", 403),
    ] {
        let (status, headers, body) = ask(&sim, path).await;
        assert_eq!(status, expected, "{path}");
        assert!(headers[CONTENT_TYPE].to_str().unwrap().starts_with("text/html"), "{path}");
        assert!(body.starts_with("<!DOCTYPE html>"), "{path}");
    }
    let broken = json(&sim, &format!("{SBER}/candles.json?from=yesterday&iss.json=extended")).await;
    assert_eq!(broken[1]["candles"][0]["error"], "Error while acquiring data.");
}

#[tokio::test]
async fn every_answer_has_the_headers_of_iss() {
    let sim = sim_at(THURSDAY);
    let (_, headers, _) = ask(&sim, "engines.json").await;
    assert_eq!(headers[CONTENT_TYPE], "application/json; charset=utf-8");
    assert_eq!(headers["cache-control"], "max-age=5");
    assert_eq!(headers["x-micexpassport-marker"], "denied");
    let id = headers["x-request-id"].to_str().unwrap().to_owned();
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    let (_, headers, _) = ask(&sim, "engines.json").await;
    assert_ne!(headers["x-request-id"], id.as_str());
    assert_eq!(sim.iss_requests(), 2);
}

#[tokio::test]
async fn names_are_found_in_two_languages() {
    let sim = sim_at(THURSDAY);
    for (query, first) in [
        ("SBER", "SBER"),
        ("сбербанк", "SBER"),
        ("Sberbank", "SBER"),
        ("RU0009029540", "SBER"),
        ("банк россии", "SBER"),
        ("лукойл", "LKOH"),
        ("НОРИЛЬСКИЙ", "GMKN"),
        ("индекс мосбиржи", "IMOEX"),
    ] {
        let found = rows(&sim, &format!("securities.json?q={query}"), "securities").await;
        let first_found = found.first().map(|row| text(row, "secid").to_owned());
        assert_eq!(first_found.as_deref(), Some(first), "{query}");
    }
    // Words of one or two letters are not looked for at all.
    assert!(rows(&sim, "securities.json?q=T", "securities").await.is_empty());
    let page = rows(&sim, "securities.json?q=банк&limit=5&start=2", "securities").await;
    let whole = rows(&sim, "securities.json?q=банк", "securities").await;
    assert_eq!(page, whole[2..7.min(whole.len())]);
    assert_eq!(rows(&sim, "securities.json?start=100", "securities").await.len(), 124 + 11 - 100);
    let english = rows(&sim, "securities/SBER.json?lang=en", "description").await;
    assert_eq!(
        (&english[1]["title"], &english[1]["value"]),
        (&"Full name".into(), &"Sberbank".into())
    );
}

#[tokio::test]
async fn the_timetable_names_holidays_and_worked_saturdays() {
    let sim = sim_at(THURSDAY);
    let week = rows(&sim, "engines/stock.json", "timetable").await;
    let works: Vec<f64> = week.iter().map(|row| number(row, "is_work_day")).collect();
    assert_eq!(works, [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    let days = rows(&sim, "engines/stock.json", "dailytable").await;
    let works = |date: &str| {
        days.iter().find(|row| text(row, "date") == date).map(|row| number(row, "is_work_day"))
    };
    assert_eq!(works("2026-11-04"), Some(0.0));
    assert_eq!(works("2025-11-01"), Some(1.0));
    assert_eq!(works("2026-11-12"), None);
    assert_eq!(works("2026-11-14"), None);
}

#[tokio::test]
async fn splits_and_dividends_are_listed() {
    let sim = sim_at(THURSDAY);
    let splits = rows(&sim, "statistics/engines/stock/splits.json", "splits").await;
    let transneft = splits.iter().find(|row| text(row, "secid") == "TRNFP").unwrap();
    assert_eq!(text(transneft, "tradedate"), "2024-02-21");
    assert_eq!((number(transneft, "before"), number(transneft, "after")), (1.0, 100.0));
    let dividends = rows(&sim, "securities/SBER/dividends.json", "dividends").await;
    assert!(dividends.len() >= 12, "{}", dividends.len());
    for payment in &dividends {
        let part = number(payment, "value") / 304.62;
        assert!((0.03..0.35).contains(&part), "{payment:?}");
        assert_eq!(text(payment, "currencyid"), "RUB");
    }
    assert!(rows(&sim, "securities/GAZP/dividends.json", "dividends").await.is_empty());
}

async fn struck(sim: &Sim, kind: FaultKind, path: &str) -> (u16, HeaderMap, String) {
    let faults: &Faults = sim.faults();
    let fault = InjectedFault::new(kind, 1).on("/iss/*");
    let fault = if kind == FaultKind::Status429 { fault.retry_after_s(3) } else { fault };
    faults.add(fault).unwrap();
    let answer = ask(sim, path).await;
    assert!(faults.list().is_empty(), "{kind:?} did not strike");
    answer
}

#[tokio::test]
async fn injected_faults_affect_iss() {
    let sim = sim_at(THURSDAY);
    let path = format!("{SBER}/candles.json?interval=24&from=2025-01-01&iss.meta=off");
    let (_, _, truth) = ask(&sim, &path).await;
    for (kind, status) in [
        (FaultKind::Status429, 429),
        (FaultKind::Status403, 403),
        (FaultKind::Status500, 500),
        (FaultKind::Status503, 503),
        (FaultKind::Html, 200),
    ] {
        let (found, headers, body) = struck(&sim, kind, &path).await;
        assert_eq!(found, status, "{kind:?}");
        assert!(body.starts_with("<!DOCTYPE"), "{kind:?}");
        assert_eq!(headers.contains_key(RETRY_AFTER), kind == FaultKind::Status429);
    }
    for kind in [FaultKind::ReorderedColumns, FaultKind::EmptyBlocks, FaultKind::MissingRows] {
        let (status, _, body) = struck(&sim, kind, &path).await;
        assert!(status == 200 && body != truth, "{kind:?}");
    }
    let second = format!("{path}&start=300");
    let (_, _, repeated) = struck(&sim, FaultKind::RepeatedPage, &second).await;
    assert_eq!(repeated, truth);
    let (_, _, missing) = struck(&sim, FaultKind::MissingPage, &second).await;
    let missing: Value = serde_json::from_str(&missing).unwrap();
    assert_eq!(missing["candles"]["data"], serde_json::json!([]));
    assert_eq!(ask(&sim, &path).await.2, truth);
}

#[tokio::test]
async fn too_many_requests_are_refused() {
    let sim = sim_at(THURSDAY);
    sim.set_iss_limit(2);
    let mut answers = Vec::new();
    for _ in 0..3 {
        let (status, headers, _) = ask(&sim, "engines.json").await;
        answers
            .push((status, headers.get(RETRY_AFTER).map(|wait| wait.to_str().unwrap().to_owned())));
    }
    assert_eq!(answers, [(200, None), (200, None), (429, Some("40".to_owned()))]);
}
