//! `stream_klines` and the streams behind SSE and WebSocket: live candles with indicators.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use clock::Millis;
use contract::{Cx, EventFeed as _, Progress, Reply, StreamEvent, Subscription};
use fault::Fault;
use futures_util::future::try_join_all;
use market::{Interval, Ticker};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};

use crate::Indicators;
use crate::figure::figure;
use crate::live::{Batch, BatchArgs, Reader, ReaderEvent, StreamArgs};
use crate::until::Until;
use crate::wire::source_meta;

/// Name of the stream in the stream metrics.
const STREAM: &str = "klines";
/// Maximum duration of a call, and its duration unless the caller says otherwise.
const SECONDS_MAX: u64 = 3_600;
/// Time reserved for the reply before the deadline; at most a quarter of the remaining time.
const REPLY_RESERVE: Duration = Duration::from_secs(1);
/// Maximum number of candles in the text; the structured content has all of them.
const SHOWN_MAX: usize = 20;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallArgs {
    #[serde(flatten)]
    stream: StreamArgs,
    max_events: usize,
    max_seconds: Option<u64>,
    until: Option<Until>,
    /// The pipeline has already set the deadline from it; here it only shows that the caller set
    /// one.
    timeout_ms: Option<u64>,
}

impl CallArgs {
    /// When the call ends at the latest, and the `ended` value of the reply then.
    fn at_latest(&self, now: Instant, deadline: Instant) -> (Instant, &'static str) {
        let seconds = self.max_seconds.unwrap_or(SECONDS_MAX).min(SECONDS_MAX);
        let requested = now + Duration::from_secs(seconds);
        let reply_reserve = REPLY_RESERVE.min(deadline.saturating_duration_since(now) / 4);
        let latest = deadline.checked_sub(reply_reserve).unwrap_or(deadline);
        let by_timeout = self.timeout_ms.is_some() && latest < requested;
        (requested.min(latest), if by_timeout { "timeoutMs" } else { "maxSeconds" })
    }
}

pub(crate) async fn open(cx: Cx<Indicators>, args: StreamArgs) -> Result<Subscription, Fault> {
    let mut request = args.request(&cx.service.candles)?;
    request.client = cx.client;
    Ok(Subscription::new(cx.service.live.subscribe(&request, cx.deadline).await?))
}

pub(crate) async fn open_batch(cx: Cx<Indicators>, args: BatchArgs) -> Result<Subscription, Fault> {
    let mut requests = args.requests(&cx.service.candles)?;
    requests.iter_mut().for_each(|request| request.client = cx.client);
    let subscribed = requests.iter().map(|request| cx.service.live.subscribe(request, cx.deadline));
    let readers = try_join_all(subscribed).await?;
    Ok(Subscription::new(Batch::new(&requests, readers)))
}

pub(crate) async fn call(cx: Cx<Indicators>, args: CallArgs) -> Result<Followed, Fault> {
    let mut request = args.stream.request(&cx.service.candles)?;
    request.client = cx.client;
    let source = cx.service.candles.source(&request.ticker)?.to_owned();
    if let Some(until) = &args.until {
        until.check(&request.windows)?;
    }
    let (at_latest, ends) = args.at_latest(Instant::now(), cx.deadline);
    let mut reader = cx.service.live.subscribe(&request, cx.deadline).await?;
    let _open = cx.stream_metrics.count_opened(STREAM);
    let bounds = Bounds { events: args.max_events, until: args.until, at_latest, ends };
    let (events, ended) = follow(&mut reader, &bounds, &cx.progress).await;
    if let Some(code) = reader.cut_off() {
        cx.stream_metrics.count_cut_off(code);
    }
    Ok(Followed {
        ticker: request.ticker,
        interval: request.interval,
        events,
        ended,
        resume_after: reader.after(),
        indicators: args.stream.indicators(),
        source,
        generated_at: cx.service.clock.now(),
    })
}

struct Bounds {
    events: usize,
    until: Option<Until>,
    at_latest: Instant,
    /// The `ended` value of the reply when `at_latest` passes.
    ends: &'static str,
}

/// Reads until `bounds.events` candles arrived, `until` is met or the time is up. With `until` the
/// reply holds only the last `bounds.events` candles. Every event, heartbeats included, is also
/// sent as a progress report.
async fn follow(
    reader: &mut Reader,
    bounds: &Bounds,
    progress: &Progress,
) -> (VecDeque<Arc<StreamEvent>>, &'static str) {
    let mut candles = VecDeque::new();
    let mut reports = 0.0;
    while bounds.until.is_some() || candles.len() < bounds.events {
        let Ok(read) = timeout_at(bounds.at_latest, reader.read_next()).await else {
            return (candles, bounds.ends);
        };
        let event = match &read {
            Some(
                ReaderEvent::Candle { event, .. }
                | ReaderEvent::Other(event)
                | ReaderEvent::Ended { event, .. },
            ) => event,
            None => return (candles, "closed"),
        };
        reports += 1.0;
        progress.report(reports, None, &event.json);
        match read {
            Some(ReaderEvent::Candle { event, .. }) => {
                let met = bounds.until.as_ref().is_some_and(|until| until.is_met(&event.json));
                if candles.len() == bounds.events {
                    candles.pop_front();
                }
                candles.push_back(event);
                if met {
                    return (candles, "until");
                }
            }
            Some(ReaderEvent::Ended { cause, .. }) => return (candles, cause.code()),
            _ => {}
        }
    }
    (candles, "maxEvents")
}

pub(crate) struct Followed {
    ticker: Ticker,
    interval: Interval,
    events: VecDeque<Arc<StreamEvent>>,
    ended: &'static str,
    resume_after: Millis,
    /// The indicators as the caller wrote them; `null` for none.
    indicators: Value,
    source: String,
    generated_at: Millis,
}

impl Followed {
    /// The arguments that continue after the last closed candle.
    fn next_call(&self) -> Value {
        let mut call = json!({ "symbol": self.ticker.name, "interval": self.interval.as_str() });
        if !self.indicators.is_null() {
            call["indicators"] = self.indicators.clone();
        }
        call["after"] = Value::from(self.resume_after.0);
        call
    }

    fn parsed(&self) -> impl Iterator<Item = Value> {
        self.events.iter().map(|event| serde_json::from_str(&event.json).unwrap_or(Value::Null))
    }
}

impl Reply for Followed {
    fn meta(&self) -> Map<String, Value> {
        source_meta(&self.source)
    }

    fn result(&self) -> Value {
        json!({
            "schemaVersion": "1.0",
            "symbol": self.ticker.name,
            "interval": self.interval.as_str(),
            "events": self.parsed().collect::<Value>(),
            "ended": self.ended,
            "resumeAfter": self.resume_after.0,
            "meta": { "source": self.source, "generatedAt": self.generated_at.0 },
        })
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} {}: {} live candles; ended by {}; source {}\nnext: stream_klines {}\n",
            self.ticker.name,
            self.interval.as_str(),
            self.events.len(),
            self.ended,
            self.source,
            self.next_call(),
        );
        let skipped = self.events.len().saturating_sub(SHOWN_MAX);
        for event in self.parsed().skip(skipped) {
            let candle = &event["candle"];
            let state = if candle["closed"] == true { "closed" } else { "forming" };
            let number = |value: &Value| figure(value.as_f64().unwrap_or(f64::NAN));
            let opened = Millis(candle["t"].as_i64().unwrap_or_default());
            let (close, volume) = (number(&candle["c"]), number(&candle["v"]));
            _ = write!(text, "{opened} {state} close {close} volume {volume}");
            for (name, value) in event["deltas"].as_object().into_iter().flatten() {
                _ = write!(text, " {name} {}", number(value));
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(limits: Value, deadline_s: u64, ends_s: u64, ended: &str) {
        let mut args = json!({ "symbol": "BTCUSDT", "interval": "1m", "closedOnly": true,
            "heartbeatMs": 15_000, "maxEvents": 100 });
        let given = limits.as_object().unwrap().clone();
        args.as_object_mut().unwrap().extend(given);
        let args: CallArgs = serde_json::from_value(args).unwrap();
        let now = Instant::now();
        let (at, why) = args.at_latest(now, now + Duration::from_secs(deadline_s));
        assert_eq!((at - now, why), (Duration::from_secs(ends_s), ended), "{limits}");
    }

    #[test]
    fn a_call_lives_an_hour_unless_the_caller_says_otherwise() {
        check(json!({}), 3_600, 3_599, "maxSeconds");
        check(json!({ "maxSeconds": 50 }), 3_600, 50, "maxSeconds");
        check(json!({ "timeoutMs": 60_000 }), 60, 59, "timeoutMs");
        check(json!({ "timeoutMs": 60_000, "maxSeconds": 20 }), 60, 20, "maxSeconds");
    }
}
