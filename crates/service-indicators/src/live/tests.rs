//! Live channels over a scripted venue and a real archive.

mod ends;
mod memory;
mod retired;
mod venue;

use std::sync::Arc;
use std::time::Duration;

use clock::Millis;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Batch, BatchArgs, Reader, ReaderEvent, StreamArgs, StreamLimits};
use contract::EventFeed;
use venue::{Fixture, MINUTE, NOON};

fn args(fixture: &Fixture, more: Value) -> super::SubscriptionRequest {
    let mut args_json =
        json!({"symbol": "BTCUSDT", "interval": "1m", "closedOnly": true, "heartbeatMs": 15_000});
    for (name, value) in more.as_object().unwrap() {
        args_json[name] = value.clone();
    }
    serde_json::from_value::<StreamArgs>(args_json).unwrap().request(&fixture.candles).unwrap()
}

async fn subscribe(fixture: &Fixture, more: Value) -> Reader {
    let deadline = Instant::now() + Duration::from_secs(3_600);
    fixture.live.subscribe(&args(fixture, more), deadline).await.unwrap()
}

/// All events that the reader can read now.
fn waiting(reader: &mut Reader) -> Vec<Value> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut all = Vec::new();
    while let std::task::Poll::Ready(Some(read)) = reader.poll_read(&mut context) {
        let (ReaderEvent::Candle { event, .. }
        | ReaderEvent::Other(event)
        | ReaderEvent::Ended { event, .. }) = read;
        all.push(serde_json::from_str(&event.json).unwrap());
    }
    all
}

fn candles(events: &[Value]) -> Vec<Value> {
    events.iter().filter(|event| event["type"] == "kline").cloned().collect()
}

/// Removes `generatedAt`, which differs between otherwise equal events.
fn undated(mut events: Vec<Value>) -> Vec<Value> {
    for event in &mut events {
        event.as_object_mut().unwrap().remove("generatedAt");
    }
    events
}

fn times(events: &[Value]) -> Vec<i64> {
    candles(events).iter().map(|it| it["candle"]["t"].as_i64().unwrap()).collect()
}

const ALL: &str = r#"{"macd":{},"rsi":{},"atr":{},"stoch":{},"vwap":{},"ppo":{},"pvo":{},
    "stochRsi":{},"bollinger":{},"ema":{"period":50},"kama":{},"adx":{}}"#;

#[tokio::test]
async fn the_first_event_is_warm_and_equals_a_computation_over_history() {
    let fixture = Fixture::new().await;
    let mut reader = subscribe(&fixture, json!({"indicators": ALL})).await;
    fixture.close(30).await;
    let events = candles(&waiting(&mut reader));
    assert_eq!(times(&events), (0..30).map(|at| NOON + at * MINUTE).collect::<Vec<_>>());
    let request = args(&fixture, json!({"indicators": ALL}));
    let history = fixture.bars(NOON - 3_000 * MINUTE, NOON + 30 * MINUTE);
    let mut calculators = super::calculators::Calculators::new(&request.windows, Millis(0), None);
    let computed: Vec<_> = history.iter().map(|bar| calculators.close(bar)).collect();
    for (event, expected) in events.iter().zip(&computed[3_000..]) {
        for (name, expected) in expected {
            let received = event["deltas"][&**name].as_f64().unwrap();
            assert!(
                (received - expected).abs() <= 1e-9 * expected.abs().max(1.0),
                "{name}: {event}"
            );
        }
    }
}

#[tokio::test]
async fn resuming_at_any_candle_gives_each_later_candle_once() {
    let fixture = Fixture::new().await;
    let args_json = json!({"indicators": {"rsi": {}, "sma": {}}});
    let mut reader = subscribe(&fixture, args_json.clone()).await;
    // 600 candles exceed the channel's 512 recent events, so a replay needs history and the
    // channel.
    let mut whole = Vec::new();
    for _ in 0..6 {
        fixture.close(100).await;
        whole.extend(undated(candles(&waiting(&mut reader))));
    }
    assert_eq!(whole.len(), 600);
    for at in [0, 1, 50, 86, 87, 88, 300, 598, 599] {
        let mut again = args_json.clone();
        again["after"] = whole[at]["candle"]["t"].clone();
        let mut late = subscribe(&fixture, again).await;
        let rest = undated(candles(&waiting(&mut late)));
        assert_eq!(rest.len(), 599 - at, "after {at}");
        for (received, expected) in rest.iter().zip(&whole[at + 1..]) {
            assert_eq!(received["candle"], expected["candle"]);
            let [received, expected] =
                [received, expected].map(|it| it["deltas"]["rsi"].as_f64().unwrap());
            assert!((received - expected).abs() < 1e-9, "{received} {expected}");
        }
    }
    let mut late = subscribe(&fixture, json!({"after": NOON, "indicators": {"rsi": {}}})).await;
    assert_eq!(candles(&waiting(&mut late)).len(), 599, "another channel, all from history");
    fixture.close(1).await;
    assert_eq!(times(&waiting(&mut late)), [NOON + 600 * MINUTE]);
}

const CUMULATIVE: &str = r#"{"obv":{},"adl":{},"nvi":{},"vpt":{},"cumulativeReturn":{},
    "vwap":{"session":"continuous"}}"#;

/// Each candle's values, by its time.
fn values(events: &[Value]) -> std::collections::BTreeMap<i64, Value> {
    let pair = |it: &Value| (it["candle"]["t"].as_i64().unwrap(), it["deltas"].clone());
    candles(events).iter().map(pair).collect()
}

#[tokio::test]
async fn cumulative_values_are_equal_for_resumed_and_uninterrupted_subscribers() {
    let fixture = Fixture::new().await;
    let args_json = json!({"indicators": CUMULATIVE});
    let mut reader = subscribe(&fixture, args_json.clone()).await;
    let mut whole = std::collections::BTreeMap::new();
    for _ in 0..12 {
        fixture.close(100).await;
        whole.extend(values(&waiting(&mut reader)));
    }
    assert_eq!(whole.len(), 1_200);
    let check = async |fixture: &Fixture, after: i64| {
        let mut again = args_json.clone();
        again["after"] = json!(after);
        let received = values(&waiting(&mut subscribe(fixture, again).await));
        let expected: std::collections::BTreeMap<_, _> =
            whole.range(after + 1..).map(|(at, deltas)| (*at, deltas.clone())).collect();
        assert_eq!(received.len() as i64, NOON / MINUTE + 1_199 - after / MINUTE, "after {after}");
        let since_noon: std::collections::BTreeMap<_, _> =
            received.into_iter().filter(|(at, _)| *at >= NOON).collect();
        assert_eq!(since_noon, expected, "after {after}");
    };
    for back in [1_199, 1_198, 700, 689, 688, 687, 511, 10] {
        check(&fixture, NOON + (1_199 - back) * MINUTE).await;
    }
    // Also from before the channel opened.
    for before in [1, 512, 3_000] {
        check(&fixture, NOON - before * MINUTE).await;
    }
    // A new channel starts its cumulative indicators at the same time as the first, so values
    // agree.
    drop(reader);
    fixture.retire_channels().await;
    check(&fixture, NOON + 5 * MINUTE).await;
    check(&fixture, NOON - 512 * MINUTE).await;
}

#[track_caller]
fn check_refused(fixture: &Fixture, request: super::SubscriptionRequest, code: &str) {
    let fault = fixture.live.check_resume(&request).unwrap_err();
    assert_eq!((fault.code(), &*fault.problems()[0].field), (code, "after"));
}

#[tokio::test]
async fn a_future_or_too_old_resume_point_is_refused() {
    let fixture = Fixture::new().await;
    check_refused(&fixture, args(&fixture, json!({"after": NOON + MINUTE})), "resume_ahead");
    fixture.set_time(NOON + 30_000);
    check_refused(&fixture, args(&fixture, json!({"after": NOON})), "resume_ahead");
    fixture.set_time(NOON + 1_000);
    check_refused(
        &fixture,
        args(&fixture, json!({"after": NOON - 5_100 * MINUTE})),
        "resume_too_far",
    );
}

#[tokio::test]
async fn the_memory_of_indicators_is_bounded() {
    let fixture = Fixture::new().await;
    let request =
        |period: usize| args(&fixture, json!({"indicators": {"sma": {"period": period}}}));
    let taken = |requests: &mut Vec<super::ChannelCell>, period| {
        requests.push(fixture.live.slot(&request(period)).ok()?);
        Some(())
    };
    let mut slots = Vec::new();
    let count = (9_000..10_000).take_while(|it| taken(&mut slots, *it).is_some()).count();
    assert!((400..450).contains(&count), "{count}");
    let refused = fixture.live.slot(&request(9_999)).err().unwrap();
    assert_eq!(refused.code(), "too_many_streams");
    assert!(refused.retry_wait().is_some(), "there will be room");
    // Slots without a waiting caller make room.
    slots.clear();
    assert!(fixture.live.slot(&request(9_999)).is_ok());
}

#[tokio::test]
async fn equal_subscriptions_share_one_channel() {
    let fixture = Fixture::new().await;
    let requests = [
        json!({"indicators": {"rsi": {}, "macd": {}}}),
        json!({"indicators": {"macd": {"fast": 12}, "rsi": {"period": 14}}}),
        json!({"indicators": "rsi,macd"}),
    ];
    let mut readers = Vec::new();
    for request in requests {
        readers.push(subscribe(&fixture, request).await);
    }
    assert_eq!(fixture.followed(), 1);
    let _other = subscribe(&fixture, json!({"indicators": {"rsi": {"period": 7}}})).await;
    assert_eq!(fixture.followed(), 2);
    fixture.close(1).await;
    let received: Vec<_> = readers.iter_mut().map(|it| undated(candles(&waiting(it)))).collect();
    assert!(received[0].len() == 1 && received.iter().all(|it| *it == received[0]));
}

#[tokio::test]
async fn queue_depth_counts_waiting_events() {
    let fixture = Fixture::new().await;
    let mut slow = subscribe(&fixture, json!({})).await;
    let mut slower = subscribe(&fixture, json!({"indicators": {"rsi": {}}})).await;
    fixture.close(2).await;
    waiting(&mut slow);
    fixture.close(3).await;
    assert_eq!(fixture.live.depth(), fanout::QueueDepth { all: 8, longest: 5 });
    waiting(&mut slower);
    drop(slow);
    assert_eq!(fixture.live.depth(), fanout::QueueDepth::default());
}

#[tokio::test]
async fn forming_candles_reach_only_their_subscribers_and_change_no_state() {
    let fixture = Fixture::new().await;
    let mut closed = subscribe(&fixture, json!({"indicators": {"rsi": {}}})).await;
    let mut both =
        subscribe(&fixture, json!({"indicators": {"rsi": {}}, "closedOnly": false})).await;
    fixture.update_forming(3).await;
    fixture.close(1).await;
    assert_eq!(candles(&waiting(&mut closed)).len(), 1);
    let received = candles(&waiting(&mut both));
    let states: Vec<_> = received.iter().map(|it| it["candle"]["closed"] == true).collect();
    assert_eq!(states, [false, false, false, true]);
    // The last update had the closing price, so its preview equals the values at the close.
    assert_eq!(received[2]["deltas"], received[3]["deltas"]);
}

#[tokio::test]
async fn a_slow_reader_is_disconnected_with_a_resume_point() {
    let fixture = Fixture::new().await;
    let mut reader = subscribe(&fixture, json!({"closedOnly": false})).await;
    for _ in 0..13 {
        fixture.update_forming(20).await;
        fixture.close(100).await;
    }
    let events = waiting(&mut reader);
    assert!(events.len() <= 1_001, "{}", events.len());
    let end = events.last().unwrap();
    assert_eq!(
        (&end["status"], end["reason"].as_str().unwrap().split(':').next()),
        (&json!("ended"), Some("too_slow"))
    );
    assert_eq!(end["resumeAfter"].as_i64(), times(&events).last().copied());
    let mut next = subscribe(&fixture, json!({"after": end["resumeAfter"]})).await;
    let mut all = times(&events);
    all.extend(times(&waiting(&mut next)));
    assert_eq!(all, (0..1_300).map(|at| NOON + at * MINUTE).collect::<Vec<_>>());
}

#[tokio::test]
async fn queue_and_replay_keep_the_configured_limits() {
    let fixture =
        Fixture::with(StreamLimits { queue_max: 20, replay_max: 100, ..StreamLimits::default() })
            .await;
    let mut reader = subscribe(&fixture, json!({"indicators": CUMULATIVE})).await;
    let mut quick = subscribe(&fixture, json!({"indicators": CUMULATIVE})).await;
    let mut whole = std::collections::BTreeMap::new();
    for _ in 0..12 {
        fixture.close(19).await;
        whole.extend(values(&waiting(&mut quick)));
    }
    let received = waiting(&mut reader);
    assert_eq!((times(&received).len(), received.len()), (20, 21), "twenty, and the end");
    let newest = NOON + (12 * 19 - 1) * MINUTE;
    let after = |back: i64| json!({"indicators": CUMULATIVE, "after": newest - back * MINUTE});
    let resumed = values(&waiting(&mut subscribe(&fixture, after(99)).await));
    let expected = whole.range(newest - 98 * MINUTE..);
    assert!(resumed.len() == 99 && resumed.iter().eq(expected), "{resumed:?}");
    check_refused(&fixture, args(&fixture, after(101)), "resume_too_far");
}

#[tokio::test]
async fn connection_statuses_reach_every_subscriber() {
    let fixture = Fixture::new().await;
    let mut reader = subscribe(&fixture, json!({})).await;
    fixture.send(market::KlineEvent::Connected).await;
    fixture.send(market::KlineEvent::Reconnecting).await;
    fixture.send(market::KlineEvent::GapFilled(clock::TimeRange::new(Millis(1), Millis(2)))).await;
    let statuses: Vec<_> = waiting(&mut reader).iter().map(|it| it["status"].clone()).collect();
    assert_eq!(statuses, ["connected", "reconnecting", "gap_filled"]);
    fixture.send(market::KlineEvent::Connected).await;
    let mut newcomer = subscribe(&fixture, json!({})).await;
    assert_eq!(waiting(&mut newcomer)[0]["status"], "connected");
}

#[tokio::test]
async fn an_idle_stream_sends_heartbeats() {
    let fixture = Fixture::new().await;
    let mut reader = subscribe(&fixture, json!({"heartbeatMs": 100})).await;
    waiting(&mut reader);
    for _ in 0..3 {
        let Some(ReaderEvent::Other(event)) = reader.read_next().await else {
            panic!("no heartbeat")
        };
        assert_eq!(event.kind, "heartbeat");
    }
}

/// The JSON texts of all events that the reader can read now.
fn texts(reader: &mut Reader) -> Vec<Arc<str>> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut all = Vec::new();
    while let std::task::Poll::Ready(Some(event)) = reader.poll_next(&mut context) {
        all.push(Arc::clone(&event.json));
    }
    all
}

#[tokio::test]
async fn all_readers_of_an_event_share_one_text() {
    let fixture = Fixture::new().await;
    let mut readers = Vec::new();
    for heartbeat in [15_000, 15_000, 5_000] {
        let args_json = json!({"indicators": {"rsi": {}}, "closedOnly": false,
            "heartbeatMs": heartbeat});
        readers.push(subscribe(&fixture, args_json).await);
    }
    tokio::time::pause();
    fixture.update_forming(1).await;
    fixture.close(2).await;
    fixture.send(market::KlineEvent::Reconnecting).await;
    let mut check = |count: usize, what: &str| {
        let received: Vec<_> = readers.iter_mut().map(texts).collect();
        assert_eq!(received[0].len(), count, "{what}");
        for other in &received[1..] {
            let same = received[0].iter().zip(other).all(|(one, two)| Arc::ptr_eq(one, two));
            assert!(same && other.len() == count, "{what}: {received:?}");
        }
        received[0].last().cloned()
    };
    check(4, "candles and a status");
    tokio::time::advance(Duration::from_millis(15_500)).await;
    let first = check(1, "a heartbeat").unwrap();
    assert!(first.contains(r#""type":"heartbeat""#), "{first}");
    tokio::time::advance(Duration::from_millis(15_500)).await;
    fixture.set_time(NOON + 10 * MINUTE);
    let second = check(1, "the next heartbeat").unwrap();
    assert_ne!(first, second, "each has its own time");
}

#[tokio::test]
async fn a_heartbeat_is_never_older_than_the_last_event() {
    let fixture = Fixture::new().await;
    let mut reader = subscribe(&fixture, json!({"heartbeatMs": 1_000})).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_millis(1_100)).await;
    let before = texts(&mut reader);
    fixture.send(market::KlineEvent::Reconnecting).await;
    tokio::time::advance(Duration::from_millis(1_100)).await;
    let after = texts(&mut reader);
    assert_eq!((before.len(), after.len()), (1, 2));
    assert!(!Arc::ptr_eq(&before[0], &after[1]));
}

#[tokio::test]
async fn readers_receive_the_end_when_the_server_stops() {
    let fixture = Fixture::new().await;
    let mut reader = subscribe(&fixture, json!({})).await;
    fixture.live.tasks.stop.cancel();
    let mut last = None;
    while let Some(read) = reader.read_next().await {
        last = Some(read);
    }
    assert!(matches!(last, Some(ReaderEvent::Ended { cause: super::event::Ended::Stopping, .. })));
}

#[tokio::test]
async fn one_id_resumes_several_symbols() {
    let fixture = Fixture::new().await;
    let args_json = |after: Option<String>| {
        let mut args_json = json!({"symbols": ["BTCUSDT", "ETHUSDT", "btcusdt"], "interval": "1m",
            "closedOnly": true, "heartbeatMs": 15_000});
        if let Some(after) = after {
            args_json["after"] = json!(after);
        }
        serde_json::from_value::<BatchArgs>(args_json).unwrap().requests(&fixture.candles).unwrap()
    };
    let mut ids = Vec::new();
    let mut whole = Vec::new();
    let mut batch = open_batch(&fixture, args_json(None)).await;
    fixture.close(5).await;
    for event in drain(&mut batch) {
        whole.push(event.json.to_string());
        ids.push(event.resume.as_deref().unwrap().to_owned());
    }
    assert_eq!(whole.len(), 10);
    for (at, id) in ids.iter().enumerate() {
        let mut rest = open_batch(&fixture, args_json(Some(id.clone()))).await;
        assert_eq!(drain(&mut rest).len(), 9 - at, "after {id}");
    }
}

#[tokio::test]
async fn heartbeats_of_a_batch_name_their_symbol() {
    let fixture = Fixture::new().await;
    let args_json = json!({"symbols": ["BTCUSDT", "ETHUSDT"], "interval": "1m",
        "closedOnly": true, "heartbeatMs": 100});
    let requests =
        serde_json::from_value::<BatchArgs>(args_json).unwrap().requests(&fixture.candles).unwrap();
    let mut feed = contract::Subscription::new(open_batch(&fixture, requests).await);
    let mut symbols = std::collections::BTreeSet::new();
    while symbols.len() < 2 {
        let event = feed.next().await.unwrap();
        let json: Value = serde_json::from_str(&event.json).unwrap();
        if event.kind == "heartbeat" {
            symbols.insert(json["symbol"].as_str().unwrap().to_owned());
        }
    }
    assert!(symbols.contains("BTCUSDT") && symbols.contains("ETHUSDT"), "{symbols:?}");
}

async fn open_batch(fixture: &Fixture, requests: Vec<super::SubscriptionRequest>) -> Batch {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut readers = Vec::new();
    for request in &requests {
        readers.push(fixture.live.subscribe(request, deadline).await.unwrap());
    }
    Batch::new(&requests, readers)
}

/// All candle events that the batch can read now.
fn drain(batch: &mut Batch) -> Vec<Arc<contract::StreamEvent>> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut all = Vec::new();
    while let std::task::Poll::Ready(Some(event)) = batch.poll_next(&mut context) {
        all.extend((event.kind == "kline").then_some(event));
    }
    all
}
