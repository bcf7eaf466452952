//! Events in the contract's shape, each serialized once.

use std::sync::Arc;

use clock::{Millis, TimeRange};
use contract::StreamEvent;
use limits::MemoryCharge;
use market::{Bar, Delay, Interval};
use serde::{Serialize, Serializer};

use super::calculators::{Deltas, candle};

/// A serialized event with the fields that readers filter by.
#[derive(Debug)]
pub(crate) struct ChannelEvent {
    pub(crate) event: Arc<StreamEvent>,
    /// Opening time of the event's candle; `None` for a status.
    pub(crate) candle: Option<Millis>,
    pub(crate) closed: bool,
    /// Its part of the stream memory; `None` for an event that one reader alone receives.
    pub(crate) memory: Option<MemoryCharge>,
}

impl ChannelEvent {
    /// An event about the stream itself.
    pub(crate) fn about_stream(event: Arc<StreamEvent>) -> Self {
        Self { event, candle: None, closed: false, memory: None }
    }

    /// How many bytes it takes: its texts, both structures and the counters of four `Arc`.
    pub(crate) fn bytes(&self) -> usize {
        let texts = self.event.json.len() + self.event.resume.as_ref().map_or(0, |it| it.len());
        texts + size_of::<Self>() + size_of::<StreamEvent>() + 4 * 2 * size_of::<usize>()
    }
}

/// The series that the events belong to.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) symbol: Arc<str>,
    pub(crate) interval: Interval,
    /// Where the candles come from, such as `binance` or `simulated`.
    pub(crate) source: Arc<str>,
    /// The venue's delay behind the market.
    pub(crate) delay: Delay,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    r#type: &'static str,
    symbol: &'a str,
    interval: &'static str,
    source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    candle: Option<WireCandle>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "deltas")]
    deltas: Option<&'a Deltas>,
    generated_at: i64,
    #[serde(flatten)]
    status: WireStatus,
}

#[derive(Serialize)]
struct WireCandle {
    t: i64,
    o: f64,
    h: f64,
    l: f64,
    c: f64,
    v: f64,
    closed: bool,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct WireStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resume_after: Option<i64>,
}

/// Writes `NaN` and infinities as `null`, because JSON cannot represent them.
fn deltas<S: Serializer>(deltas: &Option<&Deltas>, serializer: S) -> Result<S::Ok, S::Error> {
    let known = |value: f64| value.is_finite().then_some(value);
    let pairs = deltas.iter().flat_map(|deltas| deltas.iter());
    serializer.collect_map(pairs.map(|(name, value)| (name, known(*value))))
}

/// The content of a status event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Connected,
    Reconnecting,
    GapFilled(TimeRange),
    Ended { cause: Ended, resume_after: Millis },
}

/// Why a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The reader's queue was full of events that must be delivered.
    TooSlow,
    /// The server is stopping.
    Stopping,
    /// The channel had no readers, so no reader receives this cause.
    Unread,
    /// The channel missed more candles than the venue replays.
    TooFarBehind,
    /// The venue refused to continue the subscription.
    Refused,
}

impl Ended {
    /// The short code of the cause.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::TooSlow => "too_slow",
            Self::Stopping | Self::Unread => "closed",
            Self::TooFarBehind | Self::Refused => "refused",
        }
    }

    /// The short code, followed by an explanation.
    fn reason(self) -> &'static str {
        match self {
            Self::TooSlow => "too_slow: closed candles were not read in time",
            Self::Stopping => "closed: the server is stopping",
            Self::Unread => "closed: the stream was not read",
            Self::TooFarBehind => {
                "refused: more candles were missed than the venue tells again; read them as history"
            }
            Self::Refused => "refused: the venue does not follow this symbol any more",
        }
    }
}

impl Subject {
    pub(crate) fn kline(
        &self,
        bar: &Bar,
        closed: bool,
        deltas: &Deltas,
        now: Millis,
    ) -> ChannelEvent {
        let ta::Candle { t, o, h, l, c, v } = candle(bar);
        let wire = Wire {
            candle: Some(WireCandle { t, o, h, l, c, v, closed }),
            deltas: (!deltas.is_empty()).then_some(deltas),
            ..self.wire("kline", now, WireStatus::default())
        };
        let resume = closed.then(|| Arc::from(t.to_string()));
        let (event, candle) = (event("kline", resume, &wire), Some(bar.open_time));
        ChannelEvent { event, candle, closed, memory: None }
    }

    pub(crate) fn status(&self, status: Status, now: Millis) -> Arc<StreamEvent> {
        let wire_status = match status {
            Status::Connected => WireStatus {
                status: Some("connected"),
                delay: (self.delay != Delay::RealTime).then(|| self.delay.as_str()),
                ..Default::default()
            },
            Status::Reconnecting => {
                WireStatus { status: Some("reconnecting"), ..Default::default() }
            }
            Status::GapFilled(span) => WireStatus {
                status: Some("gap_filled"),
                from: Some(span.from.0),
                to: Some(span.to.0),
                ..Default::default()
            },
            Status::Ended { cause, resume_after } => WireStatus {
                status: Some("ended"),
                reason: Some(cause.reason()),
                resume_after: Some(resume_after.0),
                ..Default::default()
            },
        };
        event("status", None, &self.wire("status", now, wire_status))
    }

    pub(crate) fn heartbeat(&self, now: Millis) -> Arc<StreamEvent> {
        event("heartbeat", None, &self.wire("heartbeat", now, WireStatus::default()))
    }

    fn wire(&self, kind: &'static str, now: Millis, status: WireStatus) -> Wire<'_> {
        Wire {
            r#type: kind,
            symbol: &self.symbol,
            interval: self.interval.as_str(),
            source: &self.source,
            candle: None,
            deltas: None,
            generated_at: now.0,
            status,
        }
    }
}

fn event(kind: &'static str, resume: Option<Arc<str>>, wire: &Wire<'_>) -> Arc<StreamEvent> {
    // Serializing numbers and strings cannot fail.
    let json = serde_json::to_string(wire).unwrap_or_default();
    Arc::new(StreamEvent { kind, resume, json: Arc::from(json) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn subject() -> Subject {
        Subject {
            symbol: Arc::from("BTCUSDT"),
            interval: Interval::M1,
            source: Arc::from("simulated"),
            delay: Delay::RealTime,
        }
    }

    fn parsed(event: &StreamEvent) -> Value {
        serde_json::from_str(&event.json).unwrap()
    }

    #[test]
    fn a_kline_has_the_shape_of_the_contract() {
        let price = |text: &str| text.parse().unwrap();
        let bar = Bar {
            open_time: Millis(60_000),
            open: price("1.5"),
            high: price("2"),
            low: price("1"),
            close: price("1.75"),
            volume: Some(price("10")),
        };
        let deltas = vec![(Arc::from("rsi"), 48.5), (Arc::from("atr"), f64::NAN)];
        let kline = subject().kline(&bar, true, &deltas, Millis(7));
        assert_eq!(
            parsed(&kline.event),
            json!({
                "type": "kline", "symbol": "BTCUSDT", "interval": "1m", "source": "simulated",
                "candle": {"t": 60_000, "o": 1.5, "h": 2.0, "l": 1.0, "c": 1.75, "v": 10.0,
                    "closed": true},
                "deltas": {"rsi": 48.5, "atr": null}, "generatedAt": 7,
            })
        );
        assert_eq!(kline.event.resume.as_deref(), Some("60000"));
        let forming = subject().kline(&bar, false, &Vec::new(), Millis(7));
        assert_eq!(forming.event.resume, None);
        assert!(parsed(&forming.event).get("deltas").is_none());
    }

    #[test]
    fn statuses_have_the_shape_of_the_contract() {
        for event in
            [subject().status(Status::Connected, Millis(9)), subject().heartbeat(Millis(9))]
        {
            assert_eq!(parsed(&event)["source"], "simulated");
        }
        assert!(parsed(&subject().status(Status::Connected, Millis(9))).get("delay").is_none());
        let late = Subject { delay: Delay::Delayed15m, ..subject() };
        assert_eq!(parsed(&late.status(Status::Connected, Millis(9)))["delay"], "delayed_15m");
        let gap = Status::GapFilled(TimeRange::new(Millis(1), Millis(5)));
        let status = parsed(&subject().status(gap, Millis(9)));
        assert_eq!(
            (&status["status"], &status["from"], &status["to"]),
            (&json!("gap_filled"), &json!(1), &json!(5))
        );
        let end = Status::Ended { cause: Ended::TooSlow, resume_after: Millis(3) };
        let status = parsed(&subject().status(end, Millis(9)));
        assert_eq!((&status["status"], &status["resumeAfter"]), (&json!("ended"), &json!(3)));
    }

    #[test]
    fn every_reason_is_unique_and_begins_with_its_code() {
        use Ended::{Refused, Stopping, TooFarBehind, TooSlow, Unread};
        let all = [TooSlow, Stopping, Unread, TooFarBehind, Refused];
        let reasons: std::collections::BTreeSet<_> = all.iter().map(|it| it.reason()).collect();
        assert_eq!(reasons.len(), all.len());
        for cause in all {
            assert!(cause.reason().starts_with(&format!("{}: ", cause.code())), "{cause:?}");
        }
    }
}
