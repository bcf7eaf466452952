//! Rows in the exchange's form, and the snapshots that they become.

use proptest::prelude::*;

use super::*;
use crate::tables::Tables;

const NOW: &str = "2025-11-21T00:10:00";

/// A share's rows with the relevant cells.
fn share(listed: &str, traded: &str, version: &str) -> Option<DatedSnapshot> {
    let text = format!(
        r#"{{"securities":{{"columns":["SECID","BOARDID","SHORTNAME","DECIMALS","CURRENCYID","PREVPRICE",
            "PREVLEGALCLOSEPRICE","PREVDATE","STATUS"],"data":[["ABC","TQBR","Азбука",2,"SUR",{listed}]]}},
        "marketdata":{{"columns":["LAST","OPEN","HIGH","LOW","CHANGE","LASTTOPREVPRICE","LASTCHANGE",
            "LCURRENTPRICE","TIME","SYSTIME","VOLTODAY","VALTODAY","NUMTRADES","TRADINGSTATUS"],
            "data":[[{traded}]]}},
        "dataversion":{version}}}"#
    );
    dated_snapshot(&text, false)
}

fn dated_snapshot(text: &str, is_index: bool) -> Option<DatedSnapshot> {
    let tables = Tables::read(text.as_bytes()).unwrap();
    let listed = tables.first("securities").unwrap();
    let security = Arc::new(read_security(listed).unwrap());
    let rows = Rows {
        listed,
        traded: tables.first("marketdata"),
        version: tables.first("dataversion"),
        is_index,
        delay: Delay::Delayed15m,
        received_at: moscow_time::to_instant(NOW.parse().unwrap()).0,
    };
    read(rows, &security)
}

const OLD: &str = r#"{"columns":["version","seqnum"],"data":[[1,2]]}"#;
const NEW: &str =
    r#"{"columns":["data_version","seqnum","trade_date"],"data":[[1,2,"2025-11-20"]]}"#;
const TRADED: &str = r#"128.11,124.23,129.29,122.64,4.11,3.31,0.02,128.16,"23:49:58",
    "2025-11-20 23:50:45",129960600,16356586149,151642,"N""#;
const SILENT: &str =
    r#"null,null,null,null,null,0,0,127.5,"10:00:12","2025-11-20 10:15:55",0,0,0,"T""#;
const LISTED: &str = r#"124,125.77,"2025-11-19","A""#;

fn shown(value: Option<Decimal>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

#[test]
fn a_traded_share_gives_its_last_trade() {
    for version in [OLD, NEW] {
        let dated = share(LISTED, TRADED, version).unwrap();
        let is = &dated.snapshot;
        assert_eq!((is.last.to_string().as_str(), is.basis), ("128.11", PriceBasis::LastTrade));
        let values = [is.change, is.change_pct, is.open, is.high, is.low, is.volume, is.value];
        assert_eq!(
            values.map(shown),
            ["4.11", "3.31", "124.23", "129.29", "122.64", "129960600", "16356586149"]
        );
        assert_eq!((is.status, is.trades), (TradingStatus::NotTrading, Some(151_642)));
        assert_eq!(is.security.currency, "RUB");
        assert_eq!(is.session.unwrap().to_string(), "2025-11-20");
        assert_eq!(dated.as_of.to_rfc3339(), "2025-11-20T20:49:58Z");
        assert_eq!((dated.delay, dated.fallback), (Delay::Delayed15m, None));
    }
}

#[test]
fn without_trades_an_older_price_is_returned_and_marked() {
    for (listed, last, basis, change) in [
        (r#"166850,166400,"2025-11-19","A""#, "166850.00", PriceBasis::PreviousClose, "0.00"),
        (r#"null,166400,"2025-11-19","A""#, "166400.00", PriceBasis::PreviousOfficialClose, "-"),
        (r#"null,null,"2025-11-19","A""#, "127.50", PriceBasis::Estimate, "-"),
    ] {
        let dated = share(listed, SILENT, OLD).unwrap();
        let is = &dated.snapshot;
        assert_eq!((is.last.to_string().as_str(), is.basis), (last, basis));
        assert_eq!((shown(is.change), shown(is.open)), (change.to_owned(), "-".to_owned()));
        assert!(dated.fallback.clone().unwrap().contains("has not been traded"), "{dated:?}");
        assert!(dated.freshness("moex", Millis(0)).stale);
        assert_eq!(dated.as_of.to_rfc3339(), "2025-11-19T20:59:59Z");
    }
    let nothing = SILENT.replace("127.5", "null");
    assert_eq!(share(r#"null,null,null,"A""#, &nothing, OLD), None);
}

#[test]
fn a_time_after_the_response_is_of_the_previous_day() {
    let traded = TRADED.replace("2025-11-20 23:50:45", "2025-11-20 09:10:00");
    assert_eq!(share(LISTED, &traded, OLD).unwrap().as_of.to_rfc3339(), "2025-11-19T20:49:58Z");
    // Where the answer has the day, that day counts.
    assert_eq!(share(LISTED, &traded, NEW).unwrap().as_of.to_rfc3339(), "2025-11-20T20:49:58Z");
    let untimed = TRADED.replace(r#""23:49:58""#, "null");
    let received = moscow_time::to_instant(NOW.parse().unwrap()).0;
    assert_eq!(share(LISTED, &untimed, NEW).unwrap().as_of, received);
}

#[test]
fn a_missing_change_is_computed() {
    let untold = TRADED.replace("4.11,3.31", "null,null");
    let is = share(LISTED, &untold, NEW).unwrap().snapshot;
    assert_eq!((shown(is.change), shown(is.change_pct)), ("4.11".to_owned(), "3.31".to_owned()));
    let unknown = share(r#"null,null,null,"A""#, &untold, NEW).unwrap().snapshot;
    assert_eq!((unknown.change, unknown.change_pct), (None, None));
}

#[test]
fn suspended_shares_are_marked() {
    let dated = share(r#"124,125,"2025-11-19","S""#, TRADED, NEW).unwrap();
    assert_eq!(dated.snapshot.status, TradingStatus::Suspended);
    assert!(dated.fallback.unwrap().contains("suspended"));
}

#[test]
fn an_index_is_read_from_its_own_columns() {
    let dated = dated_snapshot(
        r#"{"securities":{"columns":["SECID","BOARDID","NAME","DECIMALS","SHORTNAME","CURRENCYID"],
            "data":[["RTSI","RTSI","Индекс РТС",2,"Индекс РТС","USD"]]},
        "marketdata":{"columns":["LASTVALUE","OPENVALUE","CURRENTVALUE","LASTCHANGE","LASTCHANGEPRC",
            "VALTODAY","SYSTIME","TIME","HIGH","LOW","TRADEDATE"],
            "data":[[1118.38,1116.82,1125.69,7.31,0.65,31569273506,"2017-09-14 18:50:42","18:50:00",
            1127.45,1112.43,"2017-09-14"]]}}"#,
        true,
    )
    .unwrap();
    let is = &dated.snapshot;
    let values = [Some(is.last), is.change, is.change_pct, is.open, is.previous_close];
    assert_eq!(values.map(shown), ["1125.69", "7.31", "0.65", "1116.82", "1118.38"]);
    assert_eq!(dated.as_of.to_rfc3339(), "2017-09-14T15:50:00Z");
    assert_eq!((dated.delay, is.security.currency.as_str()), (Delay::RealTime, "USD"));
}

/// Any value of a cell.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        (-1_000_000_000_i64..1_000_000_000).prop_map(|value| value.to_string()),
        "-?(0|[1-9][0-9]{0,11})\\.[0-9]{1,14}",
        "\"[0-9: -]{0,20}\"",
        "\"[A-ZА-Я]{0,6}\"",
        Just("\"9999-12-31 23:59:59\"".to_owned()),
        Just("\"0000-01-01\"".to_owned()),
        Just("true".to_owned()),
    ]
}

proptest! {
    #[test]
    fn any_row_is_read_or_refused(cells in proptest::collection::vec(cell(), 19), decimals in cell(), is_index in any::<bool>()) {
        let (listed, traded) = cells.split_at(5);
        let text = format!(
            r#"{{"securities":{{"columns":["SECID","DECIMALS","PREVPRICE","PREVLEGALCLOSEPRICE",
                "PREVDATE","STATUS","LOTSIZE"],"data":[["ABC",{decimals},{}]]}},
            "marketdata":{{"columns":["LAST","OPEN","HIGH","LOW","CHANGE","LASTTOPREVPRICE",
                "LCURRENTPRICE","TIME","SYSTIME","VOLTODAY","VALTODAY","NUMTRADES","CURRENTVALUE",
                "TRADEDATE"],"data":[[{}]]}}}}"#,
            listed.join(","),
            traded.join(",")
        );
        if let Some(dated) = dated_snapshot(&text, is_index) {
            let received = moscow_time::to_instant(NOW.parse().unwrap()).0;
            prop_assert!(dated.as_of <= received);
            prop_assert!(!dated.snapshot.last.is_zero());
            prop_assert_eq!(dated.snapshot.last.scale(), dated.snapshot.security.decimals);
            prop_assert!(dated.snapshot.basis == PriceBasis::LastTrade || dated.fallback.is_some());
        }
    }
}
