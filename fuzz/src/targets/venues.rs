//! The venues' parsers: a candle that is accepted is possible, and white space changes nothing.

use market::Kline;
use market_binance::fuzzing::{read_frame, read_klines};
use market_moex::fuzzing::read_tables;

pub(super) const BINANCE_WORDS: &[&str] = &[
    "\"stream\":",
    "\"data\":",
    "\"e\":\"kline\"",
    "\"e\":\"serverShutdown\"",
    "\"k\":{",
    "\"E\":",
    "\"t\":",
    "\"x\":true",
    "\"o\":\"1\"",
    "\"h\":\"3\"",
    "null",
    "-1",
    "1e9",
    "\"-1\"",
    "\"1e9\"",
    "\"0.00000000\"",
    "9223372036854775807",
    "253402300799999",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"",
    "\\u0000",
    "\\ud800",
];

pub(super) const ISS_WORDS: &[&str] = &[
    "\"columns\":[",
    "\"data\":[[",
    "\"error\":",
    "\"metadata\":{",
    "null",
    "true",
    "1e-05",
    "-0",
    "1e99",
    "2024-02-15",
    "\"2024-02-15 18:09:06\"",
    "\"0000-00-00\"",
    "\"18:09:06\"",
    "\"289.3\"",
    "9999999999999999999999999999",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"",
    "\\u0000",
    "\"İ\"",
    "ё",
];

pub(super) fn frames() -> Vec<Vec<u8>> {
    [
        r#"{"stream":"btcusdt@kline_1m","data":{"e":"kline","E":70000,"s":"BTCUSDT","k":{"t":60000,"T":119999,"s":"BTCUSDT","i":"1m","f":-1,"L":-1,"o":"2.0","c":"2.5","h":"3.0","l":"1.0","v":"5","n":0,"x":false,"q":"1","V":"1","Q":"1","B":"0"}}}"#,
        r#"{"result":null,"id":3}"#,
        r#"{"error":{"code":2,"msg":"Invalid request"},"id":1}"#,
        r#"{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":1}}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

pub(super) fn klines() -> Vec<Vec<u8>> {
    vec![
        br#"[[1786700000000,"11.86","12.40","11.55","11.98","520.4",1786703599999,"6220.1",90,"260.1","3110.2","0"],[1786703600000,"11.98","12.00","11.90","11.95","20",1786707199999,"1",2,"3","4","0"]]"#.to_vec(),
        br#"[[0,"1","2","0.5","1.5","9",59999]]"#.to_vec(),
    ]
}

pub(super) fn tables() -> Vec<Vec<u8>> {
    [
        r#"{"candles":{"columns":["open","close","HIGH","low","value","volume","begin","end"],"data":[[289.3,289.6,290.45,287.63,5716579901,19791080,"2024-02-15 00:00:00","2024-02-15 23:59:59"],[1e-05,null,true,"287.63",0,-1,"2024-02-16","18:09:06"]]}}"#,
        r#"{"history":{"error":"Error while acquiring data."}}"#,
        r#"{"charsetinfo":{"name":"utf-8"},"history.cursor":{"metadata":{"INDEX":{"type":"int64"}},"columns":["INDEX","TOTAL","PAGESIZE"],"data":[[0,250,100]]}}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn possible(kline: &Kline) {
    let bar = &kline.bar;
    assert!(bar.low <= bar.open && bar.open <= bar.high, "{bar:?}");
    assert!(bar.low <= bar.close && bar.close <= bar.high, "{bar:?}");
    assert!(bar.open_time <= kline.close_time, "{kline:?}");
    assert!(bar.volume.is_none_or(|volume| !volume.is_negative()), "{bar:?}");
}

pub(super) fn frame(bytes: &[u8]) {
    let read = read_frame(bytes);
    read.iter().for_each(possible);
    assert_eq!(read_frame(&spaced(bytes)), read);
}

pub(super) fn kline_rows(bytes: &[u8]) {
    let read = read_klines(bytes);
    read.iter().for_each(possible);
    assert_eq!(read_klines(&spaced(bytes)), read);
}

pub(super) fn iss_tables(bytes: &[u8]) {
    assert_eq!(read_tables(&spaced(bytes)), read_tables(bytes));
}

/// The same JSON with white space after every bracket, comma and colon outside strings.
fn spaced(json: &[u8]) -> Vec<u8> {
    let (mut out, mut quoted, mut escaped) = (Vec::with_capacity(json.len() * 2), false, false);
    for byte in json {
        out.push(*byte);
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'}' | b'[' | b']' | b',' | b':' if !quoted => out.extend(b" \n"),
            _ => {}
        }
    }
    out
}
