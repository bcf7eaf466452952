//! Live channels over a venue that does as it is told, on a real archive.

mod ends;
mod venue;

use std::sync::Arc;
use std::time::Duration;

use clock::Millis;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Batch, BatchArgs, Read, Reader, StreamArgs, StreamLimits};
use contract::EventFeed;
use venue::{House, MINUTE, NOON};

fn args(house: &House, more: Value) -> super::Ask {
    let mut asked =
        json!({"symbol": "BTCUSDT", "interval": "1m", "closedOnly": true, "heartbeatMs": 15_000});
    for (name, value) in more.as_object().unwrap() {
        asked[name] = value.clone();
    }
    serde_json::from_value::<StreamArgs>(asked).unwrap().ask(&house.candles).unwrap()
}

async fn subscribe(house: &House, more: Value) -> Reader {
    let deadline = Instant::now() + Duration::from_secs(3_600);
    house.live.subscribe(&args(house, more), deadline).await.unwrap()
}

/// What comes until the reader has nothing more to read.
fn waiting(reader: &mut Reader) -> Vec<Value> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut all = Vec::new();
    while let std::task::Poll::Ready(Some(read)) = reader.poll_read(&mut context) {
        let (Read::Candle { event, .. } | Read::Other(event) | Read::Ended { event, .. }) = read;
        all.push(serde_json::from_str(&event.json).unwrap());
    }
    all
}

fn candles(events: &[Value]) -> Vec<Value> {
    events.iter().filter(|event| event["type"] == "kline").cloned().collect()
}

/// When it was made is not part of what an event says.
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
    let house = House::new().await;
    let mut reader = subscribe(&house, json!({"indicators": ALL})).await;
    house.close(30).await;
    let events = candles(&waiting(&mut reader));
    assert_eq!(times(&events), (0..30).map(|at| NOON + at * MINUTE).collect::<Vec<_>>());
    let ask = args(&house, json!({"indicators": ALL}));
    let history = house.bars(NOON - 3_000 * MINUTE, NOON + 30 * MINUTE);
    let mut calculators = super::calculators::Calculators::new(&ask.windows, Millis(0), None);
    let computed: Vec<_> = history.iter().map(|bar| calculators.close(bar)).collect();
    for (event, expected) in events.iter().zip(&computed[3_000..]) {
        for (name, expected) in expected {
            let told = event["deltas"][&**name].as_f64().unwrap();
            assert!((told - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{name}: {event}");
        }
    }
}

#[tokio::test]
async fn resuming_anywhere_gives_the_rest_and_nothing_twice() {
    let house = House::new().await;
    let asked = json!({"indicators": {"rsi": {}, "sma": {}}});
    let mut reader = subscribe(&house, asked.clone()).await;
    // More than a channel keeps, so that some comes from history and some from its memory.
    let mut whole = Vec::new();
    for _ in 0..6 {
        house.close(100).await;
        whole.extend(undated(candles(&waiting(&mut reader))));
    }
    assert_eq!(whole.len(), 600);
    for at in [0, 1, 50, 86, 87, 88, 300, 598, 599] {
        let mut again = asked.clone();
        again["after"] = whole[at]["candle"]["t"].clone();
        let mut late = subscribe(&house, again).await;
        let rest = undated(candles(&waiting(&mut late)));
        assert_eq!(rest.len(), 599 - at, "after {at}");
        for (told, expected) in rest.iter().zip(&whole[at + 1..]) {
            assert_eq!(told["candle"], expected["candle"]);
            let [told, expected] = [told, expected].map(|it| it["deltas"]["rsi"].as_f64().unwrap());
            assert!((told - expected).abs() < 1e-9, "{told} {expected}");
        }
    }
    let mut late = subscribe(&house, json!({"after": NOON, "indicators": {"rsi": {}}})).await;
    assert_eq!(candles(&waiting(&mut late)).len(), 599, "another channel, all from history");
    house.close(1).await;
    assert_eq!(times(&waiting(&mut late)), [NOON + 600 * MINUTE]);
}

const ADDING: &str = r#"{"obv":{},"adl":{},"nvi":{},"vpt":{},"cumulativeReturn":{},
    "vwap":{"session":"continuous"}}"#;

/// Each candle's values, by its time.
fn values(events: &[Value]) -> std::collections::BTreeMap<i64, Value> {
    let pair = |it: &Value| (it["candle"]["t"].as_i64().unwrap(), it["deltas"].clone());
    candles(events).iter().map(pair).collect()
}

#[tokio::test]
async fn what_adds_up_is_the_same_for_who_resumes_and_who_never_left() {
    let house = House::new().await;
    let asked = json!({"indicators": ADDING});
    let mut reader = subscribe(&house, asked.clone()).await;
    let mut whole = std::collections::BTreeMap::new();
    for _ in 0..12 {
        house.close(100).await;
        whole.extend(values(&waiting(&mut reader)));
    }
    assert_eq!(whole.len(), 1_200);
    let check = async |house: &House, after: i64| {
        let mut again = asked.clone();
        again["after"] = json!(after);
        let told = values(&waiting(&mut subscribe(house, again).await));
        let expected: std::collections::BTreeMap<_, _> =
            whole.range(after + 1..).map(|(at, deltas)| (*at, deltas.clone())).collect();
        assert_eq!(told.len() as i64, NOON / MINUTE + 1_199 - after / MINUTE, "after {after}");
        let since_noon: std::collections::BTreeMap<_, _> =
            told.into_iter().filter(|(at, _)| *at >= NOON).collect();
        assert_eq!(since_noon, expected, "after {after}");
    };
    for back in [1_199, 1_198, 700, 689, 688, 687, 511, 10] {
        check(&house, NOON + (1_199 - back) * MINUTE).await;
    }
    // From before the stream began, too.
    for before in [1, 512, 3_000] {
        check(&house, NOON - before * MINUTE).await;
    }
    // A channel that begins anew is no different: it begins to add up where the first did.
    drop(reader);
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(40)).await;
    tokio::time::resume();
    assert_eq!(house.live.channels().len(), 0);
    check(&house, NOON + 5 * MINUTE).await;
    check(&house, NOON - 512 * MINUTE).await;
}

#[track_caller]
fn check_refused(house: &House, ask: super::Ask, code: &str) {
    let fault = house.live.check_resume(&ask).unwrap_err();
    assert_eq!((fault.code(), &*fault.problems()[0].field), (code, "after"));
}

#[tokio::test]
async fn a_resume_point_is_in_the_near_past() {
    let house = House::new().await;
    check_refused(&house, args(&house, json!({"after": NOON + MINUTE})), "resume_ahead");
    house.live_at(NOON + 30_000);
    check_refused(&house, args(&house, json!({"after": NOON})), "resume_ahead");
    house.live_at(NOON + 1_000);
    check_refused(&house, args(&house, json!({"after": NOON - 5_100 * MINUTE})), "resume_too_far");
}

#[tokio::test]
async fn what_indicators_remember_is_bounded() {
    let house = House::new().await;
    let ask = |period: usize| args(&house, json!({"indicators": {"sma": {"period": period}}}));
    let taken = |asks: &mut Vec<super::Slot>, period| {
        asks.push(house.live.slot(&ask(period)).ok()?);
        Some(())
    };
    let mut slots = Vec::new();
    let count = (9_000..10_000).take_while(|it| taken(&mut slots, *it).is_some()).count();
    assert!((400..450).contains(&count), "{count}");
    let refused = house.live.slot(&ask(9_999)).err().unwrap();
    assert_eq!(refused.code(), "too_many_streams");
    assert!(refused.retry_wait().is_some(), "there will be room");
    // What nobody waits for any more makes room.
    slots.clear();
    assert!(house.live.slot(&ask(9_999)).is_ok());
}

#[tokio::test]
async fn those_who_ask_for_the_same_share_it() {
    let house = House::new().await;
    let asks = [
        json!({"indicators": {"rsi": {}, "macd": {}}}),
        json!({"indicators": {"macd": {"fast": 12}, "rsi": {"period": 14}}}),
        json!({"indicators": "rsi,macd"}),
    ];
    let mut readers = Vec::new();
    for ask in asks {
        readers.push(subscribe(&house, ask).await);
    }
    assert_eq!(house.followed(), 1);
    let _other = subscribe(&house, json!({"indicators": {"rsi": {"period": 7}}})).await;
    assert_eq!(house.followed(), 2);
    house.close(1).await;
    let told: Vec<_> = readers.iter_mut().map(|it| undated(candles(&waiting(it)))).collect();
    assert!(told[0].len() == 1 && told.iter().all(|it| *it == told[0]));
}

#[tokio::test]
async fn what_waits_for_readers_is_seen() {
    let house = House::new().await;
    let mut slow = subscribe(&house, json!({})).await;
    let mut slower = subscribe(&house, json!({"indicators": {"rsi": {}}})).await;
    house.close(2).await;
    waiting(&mut slow);
    house.close(3).await;
    assert_eq!(house.live.depth(), fanout::QueueDepth { all: 8, longest: 5 });
    waiting(&mut slower);
    drop(slow);
    assert_eq!(house.live.depth(), fanout::QueueDepth::default());
}

#[tokio::test]
async fn forming_candles_come_to_those_who_want_them_and_change_nothing() {
    let house = House::new().await;
    let mut closed = subscribe(&house, json!({"indicators": {"rsi": {}}})).await;
    let mut both = subscribe(&house, json!({"indicators": {"rsi": {}}, "closedOnly": false})).await;
    house.form(3).await;
    house.close(1).await;
    assert_eq!(candles(&waiting(&mut closed)).len(), 1);
    let told = candles(&waiting(&mut both));
    let states: Vec<_> = told.iter().map(|it| it["candle"]["closed"] == true).collect();
    assert_eq!(states, [false, false, false, true]);
    // The forming candle stood where it closed, so its preview is what the close gave.
    assert_eq!(told[2]["deltas"], told[3]["deltas"]);
}

#[tokio::test]
async fn a_reader_that_does_not_read_is_cut_off_with_a_point_to_resume() {
    let house = House::new().await;
    let mut reader = subscribe(&house, json!({"closedOnly": false})).await;
    for _ in 0..13 {
        house.form(20).await;
        house.close(100).await;
    }
    let events = waiting(&mut reader);
    assert!(events.len() <= 1_001, "{}", events.len());
    let end = events.last().unwrap();
    assert_eq!(
        (&end["status"], end["reason"].as_str().unwrap().split(':').next()),
        (&json!("ended"), Some("too_slow"))
    );
    assert_eq!(end["resumeAfter"].as_i64(), times(&events).last().copied());
    let mut next = subscribe(&house, json!({"after": end["resumeAfter"]})).await;
    let mut all = times(&events);
    all.extend(times(&waiting(&mut next)));
    assert_eq!(all, (0..1_300).map(|at| NOON + at * MINUTE).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_queue_and_a_replay_are_as_long_as_they_are_set() {
    let house = House::with(StreamLimits { queue_max: 20, replay_max: 100 }).await;
    let mut reader = subscribe(&house, json!({"indicators": ADDING})).await;
    let mut quick = subscribe(&house, json!({"indicators": ADDING})).await;
    let mut whole = std::collections::BTreeMap::new();
    for _ in 0..12 {
        house.close(19).await;
        whole.extend(values(&waiting(&mut quick)));
    }
    let told = waiting(&mut reader);
    assert_eq!((times(&told).len(), told.len()), (20, 21), "twenty, and the end");
    let newest = NOON + (12 * 19 - 1) * MINUTE;
    let after = |back: i64| json!({"indicators": ADDING, "after": newest - back * MINUTE});
    let resumed = values(&waiting(&mut subscribe(&house, after(99)).await));
    let expected = whole.range(newest - 98 * MINUTE..);
    assert!(resumed.len() == 99 && resumed.iter().eq(expected), "{resumed:?}");
    check_refused(&house, args(&house, after(101)), "resume_too_far");
}

#[tokio::test]
async fn what_is_said_of_the_connection_reaches_everybody() {
    let house = House::new().await;
    let mut reader = subscribe(&house, json!({})).await;
    house.say(market::KlineEvent::Connected).await;
    house.say(market::KlineEvent::Reconnecting).await;
    house.say(market::KlineEvent::GapFilled(clock::TimeRange::new(Millis(1), Millis(2)))).await;
    let said: Vec<_> = waiting(&mut reader).iter().map(|it| it["status"].clone()).collect();
    assert_eq!(said, ["connected", "reconnecting", "gap_filled"]);
    house.say(market::KlineEvent::Connected).await;
    let mut newcomer = subscribe(&house, json!({})).await;
    assert_eq!(waiting(&mut newcomer)[0]["status"], "connected");
}

#[tokio::test]
async fn heartbeats_come_while_nothing_happens() {
    let house = House::new().await;
    let mut reader = subscribe(&house, json!({"heartbeatMs": 100})).await;
    waiting(&mut reader);
    for _ in 0..3 {
        let Some(Read::Other(event)) = reader.read_next().await else { panic!("no heartbeat") };
        assert_eq!(event.kind, "heartbeat");
    }
}

/// The texts of what comes until there is nothing more to read.
fn texts(reader: &mut Reader) -> Vec<Arc<str>> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut all = Vec::new();
    while let std::task::Poll::Ready(Some(event)) = reader.poll_next(&mut context) {
        all.push(Arc::clone(&event.json));
    }
    all
}

#[tokio::test]
async fn an_event_is_one_text_in_memory_however_many_read_it() {
    let house = House::new().await;
    let mut readers = Vec::new();
    for heartbeat in [15_000, 15_000, 5_000] {
        let asked = json!({"indicators": {"rsi": {}}, "closedOnly": false,
            "heartbeatMs": heartbeat});
        readers.push(subscribe(&house, asked).await);
    }
    tokio::time::pause();
    house.form(1).await;
    house.close(2).await;
    house.say(market::KlineEvent::Reconnecting).await;
    let mut check = |count: usize, what: &str| {
        let told: Vec<_> = readers.iter_mut().map(texts).collect();
        assert_eq!(told[0].len(), count, "{what}");
        for other in &told[1..] {
            let same = told[0].iter().zip(other).all(|(one, two)| Arc::ptr_eq(one, two));
            assert!(same && other.len() == count, "{what}: {told:?}");
        }
        told[0].last().cloned()
    };
    check(4, "candles and a status");
    tokio::time::advance(Duration::from_millis(15_500)).await;
    let first = check(1, "a heartbeat").unwrap();
    assert!(first.contains(r#""type":"heartbeat""#), "{first}");
    tokio::time::advance(Duration::from_millis(15_500)).await;
    house.live_at(NOON + 10 * MINUTE);
    let second = check(1, "the next heartbeat").unwrap();
    assert_ne!(first, second, "each has its own time");
}

#[tokio::test]
async fn a_sign_of_life_is_never_older_than_the_last_event() {
    let house = House::new().await;
    let mut reader = subscribe(&house, json!({"heartbeatMs": 1_000})).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_millis(1_100)).await;
    let before = texts(&mut reader);
    house.say(market::KlineEvent::Reconnecting).await;
    tokio::time::advance(Duration::from_millis(1_100)).await;
    let after = texts(&mut reader);
    assert_eq!((before.len(), after.len()), (1, 2));
    assert!(!Arc::ptr_eq(&before[0], &after[1]));
}

#[tokio::test]
async fn a_channel_that_nobody_reads_ends_and_the_next_one_begins_anew() {
    let house = House::new().await;
    drop(subscribe(&house, json!({})).await);
    assert_eq!(house.live.channels().len(), 1);
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(40)).await;
    tokio::time::resume();
    assert_eq!(house.live.channels().len(), 0);
    let mut reader = subscribe(&house, json!({})).await;
    house.close(1).await;
    assert_eq!(candles(&waiting(&mut reader)).len(), 1);
    assert_eq!(house.followed(), 2);
}

#[tokio::test]
async fn when_the_house_closes_readers_are_told() {
    let house = House::new().await;
    let mut reader = subscribe(&house, json!({})).await;
    house.live.tasks.stop.cancel();
    let mut last = None;
    while let Some(read) = reader.read_next().await {
        last = Some(read);
    }
    assert!(matches!(last, Some(Read::Ended { cause: super::event::Ended::Stopping, .. })));
}

#[tokio::test]
async fn one_id_resumes_several_symbols() {
    let house = House::new().await;
    let asked = |after: Option<String>| {
        let mut asked = json!({"symbols": ["BTCUSDT", "ETHUSDT", "btcusdt"], "interval": "1m",
            "closedOnly": true, "heartbeatMs": 15_000});
        if let Some(after) = after {
            asked["after"] = json!(after);
        }
        serde_json::from_value::<BatchArgs>(asked).unwrap().asks(&house.candles).unwrap()
    };
    let mut ids = Vec::new();
    let mut whole = Vec::new();
    let mut batch = open_batch(&house, asked(None)).await;
    house.close(5).await;
    for event in drain(&mut batch) {
        whole.push(event.json.to_string());
        ids.push(event.resume.as_deref().unwrap().to_owned());
    }
    assert_eq!(whole.len(), 10);
    for (at, id) in ids.iter().enumerate() {
        let mut rest = open_batch(&house, asked(Some(id.clone()))).await;
        assert_eq!(drain(&mut rest).len(), 9 - at, "after {id}");
    }
}

#[tokio::test]
async fn heartbeats_of_several_symbols_say_whose_they_are() {
    let house = House::new().await;
    let asked = json!({"symbols": ["BTCUSDT", "ETHUSDT"], "interval": "1m",
        "closedOnly": true, "heartbeatMs": 100});
    let asks = serde_json::from_value::<BatchArgs>(asked).unwrap().asks(&house.candles).unwrap();
    let mut feed = contract::Subscription::new(open_batch(&house, asks).await);
    let mut whose = std::collections::BTreeSet::new();
    while whose.len() < 2 {
        let event = feed.next().await.unwrap();
        let json: Value = serde_json::from_str(&event.json).unwrap();
        if event.kind == "heartbeat" {
            whose.insert(json["symbol"].as_str().unwrap().to_owned());
        }
    }
    assert!(whose.contains("BTCUSDT") && whose.contains("ETHUSDT"), "{whose:?}");
}

async fn open_batch(house: &House, asks: Vec<super::Ask>) -> Batch {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut readers = Vec::new();
    for ask in &asks {
        readers.push(house.live.subscribe(ask, deadline).await.unwrap());
    }
    Batch::new(&asks, readers)
}

/// The candles that wait.
fn drain(batch: &mut Batch) -> Vec<Arc<contract::StreamEvent>> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut all = Vec::new();
    while let std::task::Poll::Ready(Some(event)) = batch.poll_next(&mut context) {
        all.extend((event.kind == "kline").then_some(event));
    }
    all
}
