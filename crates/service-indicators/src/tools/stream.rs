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
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::until::Until;
use crate::Indicators;
use crate::live::{Batch, BatchArgs, Read, Reader, StreamArgs};

/// The stream that a call follows.
const STREAM: &str = "klines";
/// The longest a call may follow.
const SECONDS_MAX: u64 = 3_600;
/// How long it follows for a client that hears nothing meanwhile: most give up after a minute.
const SECONDS_UNHEARD: u64 = 50;
/// What it takes to answer before the deadline; a quarter of what is left where that is less.
const ANSWERING: Duration = Duration::from_secs(1);
/// Candles that the text shows; all of them are in the structured content.
const SHOWN_MAX: usize = 20;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallArgs {
    #[serde(flatten)]
    stream: StreamArgs,
    max_events: usize,
    max_seconds: Option<u64>,
    until: Option<Until>,
    /// The deadline is made of it before we are called; here it says that the caller chose one.
    timeout_ms: Option<u64>,
}

pub(crate) async fn open(cx: Cx<Indicators>, args: StreamArgs) -> Result<Subscription, Fault> {
    let ask = args.ask(&cx.service.candles)?;
    Ok(Subscription::new(cx.service.live.subscribe(&ask, cx.deadline).await?))
}

pub(crate) async fn open_batch(cx: Cx<Indicators>, args: BatchArgs) -> Result<Subscription, Fault> {
    let asks = args.asks(&cx.service.candles)?;
    let subscribed = asks.iter().map(|ask| cx.service.live.subscribe(ask, cx.deadline));
    let readers = try_join_all(subscribed).await?;
    Ok(Subscription::new(Batch::new(&asks, readers)))
}

pub(crate) async fn call(cx: Cx<Indicators>, args: CallArgs) -> Result<Followed, Fault> {
    let ask = args.stream.ask(&cx.service.candles)?;
    if let Some(until) = &args.until {
        until.check(&ask.windows)?;
    }
    let patient = cx.progress.is_requested() || args.timeout_ms.is_some();
    let unless_said = if patient { SECONDS_MAX } else { SECONDS_UNHEARD };
    let seconds = args.max_seconds.unwrap_or(unless_said).min(SECONDS_MAX);
    let now = Instant::now();
    let latest_asked = now + Duration::from_secs(seconds);
    let answering = ANSWERING.min(cx.deadline.saturating_duration_since(now) / 4);
    let latest = cx.deadline.checked_sub(answering).unwrap_or(cx.deadline);
    let ends =
        if args.timeout_ms.is_some() && latest < latest_asked { "timeoutMs" } else { "maxSeconds" };
    let mut reader = cx.service.live.subscribe(&ask, cx.deadline).await?;
    let _open = cx.stream_metrics.opened(STREAM);
    let at_latest = latest_asked.min(latest);
    let bounds = Bounds { events: args.max_events, until: args.until, at_latest, ends };
    let (events, ended) = follow(&mut reader, &bounds, &cx.progress).await;
    if let Some(code) = reader.cut_off() {
        cx.stream_metrics.cut_off(code);
    }
    Ok(Followed {
        ticker: ask.ticker,
        interval: ask.interval,
        events,
        ended,
        resume_after: reader.after(),
        source: cx.service.candles.provider().to_owned(),
        generated_at: cx.service.clock.now(),
    })
}

struct Bounds {
    events: usize,
    until: Option<Until>,
    at_latest: Instant,
    /// What that is called.
    ends: &'static str,
}

/// Reads until there are enough candles, what is waited for, or no more time. Who waits for something
/// is told the last candles only. Everything is reported as it comes, signs
/// of life included.
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
            Some(Read::Candle { event, .. } | Read::Other(event) | Read::Ended { event, .. }) => {
                event
            }
            None => return (candles, "closed"),
        };
        reports += 1.0;
        progress.report(reports, None, &event.json);
        match read {
            Some(Read::Candle { event, .. }) => {
                let met = bounds.until.as_ref().is_some_and(|until| until.is_met(&event.json));
                if candles.len() == bounds.events {
                    candles.pop_front();
                }
                candles.push_back(event);
                if met {
                    return (candles, "until");
                }
            }
            Some(Read::Ended { cause, .. }) => return (candles, cause.word()),
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
    source: String,
    generated_at: Millis,
}

impl Followed {
    fn parsed(&self) -> impl Iterator<Item = Value> {
        self.events.iter().map(|event| serde_json::from_str(&event.json).unwrap_or(Value::Null))
    }
}

impl Reply for Followed {
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
            "{} {}: {} live candles; ended by {}; call again with after={} to continue; source {}\n",
            self.ticker.name,
            self.interval.as_str(),
            self.events.len(),
            self.ended,
            self.resume_after.0,
            self.source,
        );
        let skipped = self.events.len().saturating_sub(SHOWN_MAX);
        for event in self.parsed().skip(skipped) {
            let candle = &event["candle"];
            let state = if candle["closed"] == true { "closed" } else { "forming" };
            _ = write!(
                text,
                "{} {state} close {} volume {}",
                candle["t"], candle["c"], candle["v"]
            );
            for (name, value) in event["deltas"].as_object().into_iter().flatten() {
                _ = write!(text, " {name} {value}");
            }
            text.push('\n');
        }
        text
    }
}
