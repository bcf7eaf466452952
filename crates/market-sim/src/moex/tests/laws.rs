//! Answers agree with each other: candles with candles, history with candles, prices with both.

use proptest::prelude::*;

use super::*;

const BOARD: &str = "engines/stock/markets/shares/boards/TQBR/securities";
const HISTORY: &str = "history/engines/stock/markets/shares/boards/TQBR/securities";
const ANALYTICS: &str = "statistics/engines/stock/markets/index/analytics";

/// Joins candles that belong to the same longer one.
fn joined(short: &[Row], longer_of: impl Fn(&str) -> String) -> BTreeMap<String, [f64; 6]> {
    let mut all: BTreeMap<String, [f64; 6]> = BTreeMap::new();
    for row in short {
        let [open, high, low, close, volume, value] =
            ["open", "high", "low", "close", "volume", "value"].map(|name| number(row, name));
        let whole =
            all.entry(longer_of(text(row, "begin"))).or_insert([open, high, low, close, 0.0, 0.0]);
        whole[1] = whole[1].max(high);
        whole[2] = whole[2].min(low);
        whole[3] = close;
        whole[4] += volume;
        whole[5] += value;
    }
    all
}

#[track_caller]
fn check_aggregate(short: &[Row], long: &[Row], longer_of: impl Fn(&str) -> String) {
    let joined = joined(short, longer_of);
    assert_eq!(joined.len(), long.len());
    for row in long {
        let begin = text(row, "begin");
        let parts = joined.get(begin).unwrap_or_else(|| panic!("nothing makes up {begin}"));
        for (name, part) in ["open", "high", "low", "close", "volume"].iter().zip(parts) {
            check_near(*part, number(row, name), &format!("{name} of {begin}"));
        }
        // Money is cut to hundredths in every candle.
        assert!((parts[5] - number(row, "value")).abs() < 20.0, "value of {begin}");
    }
}

#[tokio::test]
async fn candles_of_all_lengths_agree() {
    let sim = sim_at("2026-11-15 16:00:11");
    for (board, secid) in [("TQBR", "SBER"), ("TQBR", "KCHE"), ("SNDX", "IMOEX"), ("RTSI", "RTSI")]
    {
        // The last days, a weekend with a session among them.
        let get = async |interval: u32| {
            candles(&sim, board, secid, &format!("interval={interval}&from=2026-11-12")).await
        };
        let (one, ten, hour, day) = (get(1).await, get(10).await, get(60).await, get(24).await);
        check_aggregate(&one, &ten, |begin| format!("{}0:00", &begin[..15]));
        check_aggregate(&ten, &hour, |begin| format!("{}:00:00", &begin[..13]));
        check_aggregate(&hour, &day, |begin| format!("{} 00:00:00", &begin[..10]));
        let days: Vec<&str> = day.iter().map(|row| &text(row, "begin")[..10]).collect();
        if secid == "SBER" {
            assert_eq!(days, ["2026-11-12", "2026-11-13", "2026-11-14", "2026-11-15"]);
        }
        if board != "TQBR" {
            assert_eq!(days, ["2026-11-12", "2026-11-13"]);
        }
    }
    let day = candles(&sim, "TQBR", "GMKN", "interval=24&from=2024-01-01&till=2024-12-31").await;
    let month = candles(&sim, "TQBR", "GMKN", "interval=31&from=2024-01-01&till=2024-12-31").await;
    check_aggregate(&day, &month, |begin| format!("{}-01 00:00:00", &begin[..7]));
    let week = candles(&sim, "TQBR", "GMKN", "interval=7&from=2024-01-01&till=2024-12-31").await;
    let quarter = candles(&sim, "TQBR", "GMKN", "interval=4&from=2024-01-01&till=2024-12-31").await;
    assert_eq!((week.len(), quarter.len()), (53, 4));
    assert_eq!(text(&quarter[1], "begin"), "2024-04-01 00:00:00");
}

#[tokio::test]
async fn the_current_candle_ends_with_its_last_trade_fifteen_minutes_ago() {
    let sim = sim_at(THURSDAY);
    for (interval, begin, end_of_last_finished) in [
        (1, "2026-11-12 14:20:00", Some("2026-11-12 14:19:59")),
        (10, "2026-11-12 14:20:00", Some("2026-11-12 14:19:59")),
        (60, "2026-11-12 14:00:00", Some("2026-11-12 13:59:59")),
        (24, "2026-11-12 00:00:00", Some("2026-11-11 23:59:59")),
        (7, "2026-11-09 00:00:00", Some("2026-11-08 23:59:59")),
        (31, "2026-11-01 00:00:00", Some("2026-10-31 23:59:59")),
        (4, "2026-10-01 00:00:00", Some("2026-09-30 23:59:59")),
    ] {
        let from = if matches!(interval, 1 | 10 | 60) { "2026-11-12" } else { "2026-07-01" };
        let query = format!("interval={interval}&from={from}");
        let all = candles(&sim, "TQBR", "SBER", &query).await;
        let [.., finished, current] = all.as_slice() else { panic!("{interval}: too few") };
        assert_eq!(text(current, "begin"), begin, "{interval}");
        assert_eq!(Some(text(finished, "end")), end_of_last_finished, "{interval}");
        let end = text(current, "end");
        assert!(end.starts_with("2026-11-12 14:20:") && end < "2026-11-12 14:20:20", "{end}");
    }
    // Indices are not late.
    let index = candles(&sim, "SNDX", "IMOEX", "interval=1&from=2026-11-12").await;
    assert_eq!(text(index.last().unwrap(), "begin"), "2026-11-12 14:35:00");
}

#[tokio::test]
async fn bounds_are_inclusive_and_act_on_the_beginning() {
    let sim = sim_at(THURSDAY);
    for (query, first, last) in [
        (
            "interval=24&from=2026-11-09&till=2026-11-10",
            "2026-11-09 00:00:00",
            "2026-11-10 00:00:00",
        ),
        (
            "interval=60&till=2026-11-10&from=2026-11-10",
            "2026-11-10 09:00:00",
            "2026-11-10 23:00:00",
        ),
        (
            "interval=60&from=2026-11-10 11:00:00&till=2026-11-10 13:00:00",
            "2026-11-10 11:00:00",
            "2026-11-10 13:00:00",
        ),
        (
            "interval=31&from=2020-12-02&till=2021-01-01",
            "2021-01-01 00:00:00",
            "2021-01-01 00:00:00",
        ),
        (
            "interval=24&from=2026-11-09&till=2026-11-10&iss.reverse=true",
            "2026-11-10 00:00:00",
            "2026-11-09 00:00:00",
        ),
    ] {
        let all = candles(&sim, "TQBR", "SBER", query).await;
        let ends =
            [all.first().unwrap(), all.last().unwrap()].map(|row| text(row, "begin").to_owned());
        assert_eq!(ends, [first, last], "{query}");
    }
    let borders = rows(&sim, &format!("{BOARD}/SBER/candleborders.json"), "borders").await;
    let day = borders.iter().find(|row| number(row, "interval") == 24.0).unwrap();
    assert_eq!(text(day, "begin"), "2013-03-25 00:00:00");
    assert!(text(day, "end").starts_with("2026-11-12 14:20:"));
}

#[tokio::test]
async fn every_regular_day_has_one_row_that_agrees_with_its_candle() {
    let sim = sim_at(THURSDAY);
    for secid in ["SBER", "KCHE", "TRNFP"] {
        let mut history = Vec::new();
        loop {
            let query = format!("from=2024-01-01&till=2024-12-31&start={}", history.len());
            let path = format!("{HISTORY}/{secid}.json?{query}");
            history.extend(rows(&sim, &path, "history").await);
            let cursor = rows(&sim, &path, "history.cursor").await.remove(0);
            if number(&cursor, "INDEX") + number(&cursor, "PAGESIZE") >= number(&cursor, "TOTAL") {
                assert_eq!(number(&cursor, "TOTAL") as usize, history.len());
                break;
            }
        }
        let candles =
            candles(&sim, "TQBR", secid, "interval=24&from=2024-01-01&till=2024-12-31").await;
        let mut traded = 0;
        for pair in history.windows(2) {
            assert!(text(&pair[0], "TRADEDATE") < text(&pair[1], "TRADEDATE"));
        }
        for row in &history {
            let begin = format!("{} 00:00:00", text(row, "TRADEDATE"));
            let Some(candle) = candles.iter().find(|candle| text(candle, "begin") == begin) else {
                assert_eq!(
                    (&row["CLOSE"], number(row, "NUMTRADES")),
                    (&Value::Null, 0.0),
                    "{row:?}"
                );
                assert!(row["LEGALCLOSEPRICE"].is_number());
                continue;
            };
            traded += 1;
            for (name, of_candle) in [
                ("OPEN", "open"),
                ("HIGH", "high"),
                ("LOW", "low"),
                ("CLOSE", "close"),
                ("VOLUME", "volume"),
            ] {
                check_near(number(row, name), number(candle, of_candle), &begin);
            }
        }
        assert_eq!(traded, candles.len(), "{secid}");
        // 262 weekdays, nine holidays among them, and three Saturdays that were worked.
        let expected = if secid == "TRNFP" { 256 - 4 } else { 256 };
        assert_eq!(history.len(), expected, "{secid}");
        assert_eq!(traded < history.len(), secid == "KCHE", "{secid} has quiet days");
    }
}

#[tokio::test]
async fn sessions_add_up_to_their_day() {
    let sim = sim_at(THURSDAY);
    let mut of = Vec::new();
    for session in [1, 2, 3] {
        let query = format!("from=2026-11-10&till=2026-11-10&tradingsession={session}");
        of.extend(rows(&sim, &format!("{HISTORY}/GAZP.json?{query}"), "history").await);
    }
    let [main, evening, whole] = of.as_slice() else { panic!("{} rows", of.len()) };
    check_near(
        number(main, "VOLUME") + number(evening, "VOLUME"),
        number(whole, "VOLUME"),
        "VOLUME",
    );
    assert_eq!((&main["OPEN"], &evening["CLOSE"]), (&whole["OPEN"], &whole["CLOSE"]));
    // The official close is that of the main session, whatever the evening brought.
    assert_eq!((&main["CLOSE"], &evening["OPEN"]), (&whole["LEGALCLOSEPRICE"], &main["CLOSE"]));
    assert_eq!([main, evening, whole].map(|row| number(row, "TRADINGSESSION")), [1.0, 2.0, 3.0]);
}

#[tokio::test]
async fn a_weekend_s_trades_are_in_the_row_of_the_next_day() {
    let sim = sim_at("2026-11-10 12:00:00");
    let history = rows(&sim, &format!("{HISTORY}/SBER.json?from=2026-11-06"), "history").await;
    let dates: Vec<&str> = history.iter().map(|row| text(row, "TRADEDATE")).collect();
    assert_eq!(dates, ["2026-11-06", "2026-11-09"]);
    let candles =
        candles(&sim, "TQBR", "SBER", "interval=24&from=2026-11-07&till=2026-11-09").await;
    assert_eq!(candles.len(), 3);
    let volume: f64 = candles.iter().map(|row| number(row, "volume")).sum();
    check_near(number(&history[1], "VOLUME"), volume, "volume");
    check_near(number(&history[1], "CLOSE"), number(&candles[2], "close"), "close");
    check_near(number(&history[1], "OPEN"), number(&candles[0], "open"), "open");
}

#[tokio::test]
async fn a_board_s_day_comes_in_pages_of_a_hundred() {
    let sim = sim_at(THURSDAY);
    let path = "history/engines/stock/markets/shares/boards/TQBR/securities.json?date=2026-11-10";
    let first = rows(&sim, path, "history").await;
    let second = rows(&sim, &format!("{path}&start=100"), "history").await;
    let cursor = rows(&sim, &format!("{path}&start=100"), "history.cursor").await.remove(0);
    assert_eq!((first.len(), second.len()), (100, 24));
    assert_eq!((number(&cursor, "INDEX"), number(&cursor, "TOTAL")), (100.0, 124.0));
    let alone =
        rows(&sim, &format!("{HISTORY}/YDEX.json?from=2026-11-10&till=2026-11-10"), "history")
            .await;
    assert_eq!(second.iter().find(|row| text(row, "SECID") == "YDEX"), alone.first());
    // Today is published when it is over; holidays never are.
    for date in ["2026-11-12", "2026-11-04", "2026-11-07", "2030-01-15"] {
        let path = path.replace("2026-11-10", date);
        assert!(rows(&sim, &path, "history").await.is_empty(), "{date}");
    }
}

#[tokio::test]
async fn marketdata_agrees_with_candles_and_history() {
    let sim = sim_at(THURSDAY);
    let securities = rows(&sim, &format!("{BOARD}.json"), "securities").await;
    let marketdata = rows(&sim, &format!("{BOARD}.json"), "marketdata").await;
    assert_eq!((securities.len(), marketdata.len()), (124, 124));
    let mut silent = 0;
    for (security, data) in securities.iter().zip(&marketdata) {
        assert_eq!(security["SECID"], data["SECID"]);
        assert_eq!((text(data, "UPDATETIME"), text(data, "SYSTIME")), ("14:20:20", THURSDAY));
        if data["LAST"].is_null() {
            silent += 1;
            for name in ["OPEN", "HIGH", "LOW", "CHANGE", "WAPRICE"] {
                assert!(data[name].is_null(), "{name} of {data:?}");
            }
            for name in ["LASTTOPREVPRICE", "LASTCHANGE", "VOLTODAY", "VALTODAY", "NUMTRADES"] {
                assert_eq!(number(data, name), 0.0, "{name} of {data:?}");
            }
            assert!(data["LCURRENTPRICE"].is_number() && security["PREVPRICE"].is_number());
            continue;
        }
        let (last, previous) = (number(data, "LAST"), number(security, "PREVPRICE"));
        check_near(number(data, "CHANGE"), last - previous, "CHANGE");
        let percent = (last - previous) / previous * 100.0;
        assert!((number(data, "LASTTOPREVPRICE") - percent).abs() < 0.0051, "{data:?}");
        assert!(number(data, "LOW") <= last && last <= number(data, "HIGH"));
    }
    assert!((1..20).contains(&silent), "{silent} without trades");
    let at = |name: &str| securities.iter().position(|row| text(row, "SECID") == name).unwrap();
    for secid in ["SBER", "GAZP", "TGKA"] {
        let (security, data) = (&securities[at(secid)], &marketdata[at(secid)]);
        let day = candles(&sim, "TQBR", secid, "interval=24&from=2026-11-11").await;
        check_near(number(data, "LAST"), number(&day[1], "close"), secid);
        check_near(number(data, "OPEN"), number(&day[1], "open"), secid);
        check_near(number(data, "VOLTODAY"), number(&day[1], "volume"), secid);
        check_near(number(security, "PREVPRICE"), number(&day[0], "close"), secid);
        assert!(text(&day[1], "end").ends_with(text(data, "TIME")));
        let history =
            rows(&sim, &format!("{HISTORY}/{secid}.json?from=2026-11-11"), "history").await;
        assert_eq!(security["PREVPRICE"], history[0]["CLOSE"]);
        assert_eq!(security["PREVLEGALCLOSEPRICE"], history[0]["LEGALCLOSEPRICE"]);
    }
}

#[tokio::test]
async fn the_market_s_form_has_a_row_for_each_board_and_filters_work() {
    let sim = sim_at(THURSDAY);
    let market = "engines/stock/markets/shares/securities";
    let boards = rows(&sim, &format!("{market}/SBER.json"), "marketdata").await;
    let named: Vec<&str> = boards.iter().map(|row| text(row, "BOARDID")).collect();
    assert_eq!(named, ["SMAL", "SPEQ", "TQBR"]);
    assert!(boards[0]["LAST"].is_null() && boards[2]["LAST"].is_number());
    let some = rows(&sim, &format!("{BOARD}.json?securities=GAZP,sber,NOPE"), "securities").await;
    assert_eq!(some.len(), 2);
    let members = rows(&sim, &format!("{BOARD}.json?index=IMOEX"), "securities").await;
    let weights =
        rows(&sim, &format!("{ANALYTICS}/IMOEX.json?date=2026-11-11&limit=100"), "analytics").await;
    assert_eq!(members.len(), weights.len());
}

#[tokio::test]
async fn prices_are_empty_before_the_first_trade_and_stay_after_the_last() {
    let early = sim_at("2026-11-12 10:05:00");
    let data = rows(&early, &format!("{BOARD}/SBER.json"), "marketdata").await.remove(0);
    assert!(data["LAST"].is_null() && data["TRADINGSTATUS"] == "N", "{data:?}");
    let night = sim_at("2026-11-13 03:00:00");
    let data = rows(&night, &format!("{BOARD}/SBER.json"), "marketdata").await.remove(0);
    let version = rows(&night, &format!("{BOARD}/SBER.json"), "dataversion").await.remove(0);
    let day = candles(&night, "TQBR", "SBER", "interval=24&from=2026-11-12").await;
    check_near(number(&data, "LAST"), number(&day[0], "close"), "LAST");
    assert_eq!(text(&version, "trade_date"), "2026-11-12");
    let saturday = sim_at("2026-11-14 15:00:00");
    let version = rows(&saturday, &format!("{BOARD}/SBER.json"), "dataversion").await.remove(0);
    assert_eq!(text(&version, "trade_date"), "2026-11-14");
    assert_eq!(text(&version, "trade_session_date"), "2026-11-16");
}

#[tokio::test]
async fn weights_sum_to_a_hundred_over_all_pages() {
    let sim = sim_at(THURSDAY);
    for index in ["IMOEX", "RTSI", "MOEXOG", "MOEXFN"] {
        let path = format!("{ANALYTICS}/{index}.json?date=2026-11-11");
        let whole = rows(&sim, &format!("{path}&limit=100"), "analytics").await;
        let sum: f64 = whole.iter().map(|row| number(row, "weight")).sum();
        assert!((sum - 100.0).abs() < 0.2, "{index}: {sum}");
        let mut pages = rows(&sim, &path, "analytics").await;
        assert!(pages.len() <= 20);
        while pages.len() < whole.len() {
            pages.extend(rows(&sim, &format!("{path}&start={}", pages.len()), "analytics").await);
        }
        assert_eq!(pages, whole, "{index}");
    }
    let first = rows(&sim, &format!("{ANALYTICS}/IMOEX.json?date=2026-11-11"), "analytics").await;
    let part: f64 = first.iter().map(|row| number(row, "weight")).sum();
    assert!(part < 60.0, "the first page holds only a part of the weight: {part}");
}

#[tokio::test]
async fn days_without_weights_name_the_day_before() {
    let sim = sim_at(THURSDAY);
    for (query, total, previous) in [
        ("date=2026-11-11", 50.0, "2026-11-10"),
        ("date=2026-11-04", 0.0, "2026-11-03"),
        ("date=2026-11-08", 0.0, "2026-11-06"),
        ("date=2026-11-12", 0.0, "2026-11-11"),
        ("date=2030-01-01", 0.0, "2026-11-11"),
        ("", 0.0, "2026-11-11"),
    ] {
        let path = format!("{ANALYTICS}/IMOEX.json?limit=100&{query}");
        let cursor = rows(&sim, &path, "analytics.cursor").await.remove(0);
        assert_eq!(number(&cursor, "TOTAL"), total, "{query}");
        assert_eq!(text(&cursor, "PREV_DATE"), previous, "{query}");
        assert_eq!(rows(&sim, &path, "analytics").await.len() as f64, total, "{query}");
    }
}

#[tokio::test]
async fn an_index_s_change_is_against_its_previous_close() {
    let sim = sim_at(THURSDAY);
    for (board, secid) in [("SNDX", "IMOEX"), ("RTSI", "RTSI")] {
        let path = format!("engines/stock/markets/index/boards/{board}/securities/{secid}.json");
        let data = rows(&sim, &path, "marketdata").await.remove(0);
        let day = candles(&sim, board, secid, "interval=24&from=2026-11-11").await;
        check_near(number(&data, "CURRENTVALUE"), number(&day[1], "close"), secid);
        check_near(number(&data, "LASTVALUE"), number(&day[0], "close"), secid);
        let change = number(&day[1], "close") - number(&day[0], "close");
        check_near(number(&data, "LASTCHANGE"), change, secid);
        let history = rows(&sim, &format!("history/engines/stock/markets/index/boards/{board}/securities/{secid}.json?from=2026-11-11"), "history").await;
        check_near(number(&history[0], "CLOSE"), number(&day[0], "close"), secid);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Pages that begin anywhere are pieces of the same whole.
    #[test]
    fn pages_add_up_to_the_whole_table(seed in 0_u64..500, secid in prop::sample::select(vec!["SBER", "KCHE", "T"]), cut in 1_usize..499) {
        let sim = sim_of(seed, THURSDAY);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let query = "interval=10&from=2026-11-01";
            let whole = candles(&sim, "TQBR", secid, query).await;
            let path = format!("{BOARD}/{secid}/candles.json?{query}&start={cut}");
            let page = rows(&sim, &path, "candles").await;
            let expected: Vec<Row> = whole.into_iter().skip(cut).take(500).collect();
            assert_eq!(page, expected);
        });
    }

    /// No question is too strange.
    #[test]
    fn any_request_is_answered_or_refused(
        path in prop::sample::select(vec![
            "engines", "engines/stock", "securities", "securities/SBER", "securities/T/dividends",
            "engines/stock/markets/shares/boards/TQBR/securities/SBER",
            "engines/stock/markets/shares/boards/TQBR/securities/KCHE/candles",
            "engines/stock/markets/index/securities/RTSI/candleborders",
            "history/engines/stock/markets/shares/securities/SBER",
            "history/engines/stock/markets/shares/boards/TQBR/securities",
            "statistics/engines/stock/markets/index/analytics/RTSI",
            "calendars", "../../etc", "",
        ]),
        suffix in prop::sample::select(vec![".json", "", ".xml"]),
        params in prop::collection::vec(
            (
                prop::sample::select(vec![
                    "from", "till", "date", "interval", "start", "limit", "q", "lang", "iss.only",
                    "iss.json", "candles.columns", "tradingsession", "sort_order", "securities",
                ]),
                prop_oneof![
                    "[A-Za-z0-9.,:-]{0,12}",
                    "-?[0-9]{1,22}",
                    prop::sample::select(vec!["2026-11-11", "9999-12-31", "-009999-01-01", "24", "extended"])
                        .prop_map(ToOwned::to_owned),
                ],
            ),
            0..5,
        ),
    ) {
        let sim = sim_at(THURSDAY);
        let query: Vec<String> = params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (status, headers, body) =
            runtime.block_on(ask(&sim, &format!("{path}{suffix}?{}", query.join("&"))));
        prop_assert!(matches!(status, 200 | 403 | 404), "{}", status);
        if headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json; charset=utf-8") {
            prop_assert!(serde_json::from_str::<Value>(&body).is_ok(), "{}", body);
        }
    }
}
