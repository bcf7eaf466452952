//! Messages of a combined stream, reduced to the fields that are read.
//!
//! Unknown kinds are ignored: the exchange adds them without notice.

use std::borrow::Cow;

use clock::Millis;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::sequence::CandleUpdate;
use crate::klines::read_row;
use crate::wire::KlineRow;

/// One message of the exchange.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StreamMessage {
    Kline {
        stream: String,
        update: Box<CandleUpdate>,
    },
    /// The exchange is about to close the connection.
    Shutdown,
    /// The exchange fulfilled our request.
    Done {
        id: u64,
    },
    /// The exchange refused our request; it does not always name the request.
    Refused {
        id: Option<u64>,
        reason: String,
    },
    Other,
}

/// `{"stream":"btcusdt@kline_1m","data":{..}}` or `{"result":null,"id":1}`. A refusal is documented
/// as `{"code":2,"msg":"Invalid request: .."}`, and comes as
/// `{"error":{"code":2,"msg":"Invalid request: .."},"id":1}`.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    stream: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    id: Option<u64>,
    #[serde(borrow)]
    code: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow, default)]
    e: Cow<'a, str>,
    #[serde(rename = "E", default)]
    event_time: i64,
    #[serde(borrow)]
    k: Option<Candle<'a>>,
}

/// ```json
/// {"t":1786700000000,"T":1786700059999,"s":"BTCUSDT","i":"1m","f":100,"L":200,
///  "o":"11.86","c":"11.98","h":"12.40","l":"11.55","v":"520.4","n":101,"x":false,
///  "q":"6220.1","V":"260.1","Q":"3110.2","B":"0"}
/// ```
#[derive(Deserialize)]
struct Candle<'a> {
    #[serde(rename = "t")]
    open_time: i64,
    #[serde(rename = "T")]
    close_time: i64,
    #[serde(rename = "o")]
    open: &'a str,
    #[serde(rename = "c")]
    close: &'a str,
    #[serde(rename = "h")]
    high: &'a str,
    #[serde(rename = "l")]
    low: &'a str,
    #[serde(rename = "v")]
    volume: &'a str,
    #[serde(rename = "x")]
    closed: bool,
}

/// Parses one message. The error says which value is impossible.
pub(crate) fn read(text: &str) -> Result<StreamMessage, String> {
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if envelope.code.or(envelope.error).is_some() {
        let reason = text.chars().take(200).collect();
        return Ok(StreamMessage::Refused { id: envelope.id, reason });
    }
    let (Some(stream), Some(data)) = (envelope.stream, envelope.data) else {
        return Ok(envelope.id.map_or(StreamMessage::Other, |id| StreamMessage::Done { id }));
    };
    let data: Data<'_> = serde_json::from_str(data.get()).map_err(|error| error.to_string())?;
    match (data.e.as_ref(), data.k) {
        ("serverShutdown", _) => Ok(StreamMessage::Shutdown),
        ("kline", Some(candle)) => {
            let update = Box::new(read_candle(&candle, data.event_time)?);
            Ok(StreamMessage::Kline { stream: stream.into_owned(), update })
        }
        _ => Ok(StreamMessage::Other),
    }
}

fn read_candle(candle: &Candle<'_>, event_time: i64) -> Result<CandleUpdate, String> {
    let mut kline = read_row(&KlineRow {
        open_time: candle.open_time,
        open: candle.open,
        high: candle.high,
        low: candle.low,
        close: candle.close,
        volume: candle.volume,
        close_time: candle.close_time,
    })?;
    if event_time < candle.open_time {
        return Err(format!("a candle of {} was told before it opened", kline.bar.open_time));
    }
    kline.closed = candle.closed;
    Ok(CandleUpdate { kline, as_of: Millis(event_time) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(open: i64, close: &str, closed: bool) -> String {
        format!(
            r#"{{"stream":"btcusdt@kline_1m","data":{{"e":"kline","E":70000,"s":"BTCUSDT","k":{{"t":{open},
            "T":119999,"s":"BTCUSDT","i":"1m","f":-1,"L":-1,"o":"2.0","c":"{close}","h":"3.0","l":"1.0",
            "v":"5","n":0,"x":{closed},"q":"1","V":"1","Q":"1","B":"0"}}}}}}"#
        )
    }

    #[test]
    fn candles_are_read_with_their_state() {
        for closed in [true, false] {
            let StreamMessage::Kline { stream, update } =
                read(&frame(60_000, "2.5", closed)).unwrap()
            else {
                panic!("not a candle");
            };
            assert_eq!((stream.as_str(), update.as_of), ("btcusdt@kline_1m", Millis(70_000)));
            assert_eq!((update.kline.closed, update.kline.bar.open_time), (closed, Millis(60_000)));
        }
    }

    #[test]
    fn impossible_candles_are_refused() {
        for text in [
            frame(60_000, "3.5", true),
            frame(60_000, "x", false),
            frame(90_000_000, "2.5", false),
            frame(80_000, "2.5", false),
            "{".to_owned(),
            "[]".to_owned(),
            String::new(),
        ] {
            assert!(read(&text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_input_is_refused_or_valid(
            open in any::<i64>(), close in any::<i64>(), price in "[0-9.]{0,5}", tail in ".{0,20}",
        ) {
            let text = frame(open, &price, true).replace("119999", &close.to_string());
            for text in [text.clone(), format!("{text}{tail}"), tail] {
                if let Ok(StreamMessage::Kline { update, .. }) = read(&text) {
                    let CandleUpdate { kline, as_of } = *update;
                    prop_assert!(kline.bar.open_time <= as_of && kline.closed);
                    prop_assert!(kline.bar.low <= kline.bar.close);
                    prop_assert!(kline.bar.close <= kline.bar.high);
                }
            }
        }
    }

    #[test]
    fn answers_and_unknown_messages_are_distinguished() {
        for (text, message) in [
            (r#"{"result":null,"id":3}"#, StreamMessage::Done { id: 3 }),
            (r#"{"result":null,"id":3,"error":null,"code":null}"#, StreamMessage::Done { id: 3 }),
            (
                r#"{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":1}}"#,
                StreamMessage::Shutdown,
            ),
            (r#"{"stream":"x","data":{"e":"dance","E":1}}"#, StreamMessage::Other),
            (r#"{"stream":"x","data":{"new":1}}"#, StreamMessage::Other),
            (r#"{"result":null,"id":null}"#, StreamMessage::Other),
            ("{}", StreamMessage::Other),
        ] {
            assert_eq!(read(text).unwrap(), message, "{text}");
        }
    }

    #[test]
    fn every_form_of_a_refusal_is_recognised() {
        for (text, id) in [
            (r#"{"code":2,"msg":"no","id":3}"#, Some(3)),
            (r#"{"code":3,"msg":"no"}"#, None),
            (r#"{"code":"2","id":3}"#, Some(3)),
            (r#"{"error":{"code":2,"msg":"no","data":"a@kline_1m"},"id":3}"#, Some(3)),
            (r#"{"error":{"code":2,"msg":"no"},"id":null}"#, None),
            (r#"{"id":3,"result":null,"error":{}}"#, Some(3)),
            (r#"{"error":"no","id":3}"#, Some(3)),
        ] {
            let expected = StreamMessage::Refused { id, reason: text.to_owned() };
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        let long = format!(r#"{{"error":"{}"}}"#, "é".repeat(500));
        let StreamMessage::Refused { reason, .. } = read(&long).unwrap() else {
            panic!("not refused")
        };
        assert_eq!(reason.chars().count(), 200);
    }
}
