//! Subscriptions that the exchange refuses: whoever asked for something else does not notice.

use super::*;

fn is_up(event: &KlineEvent) -> bool {
    *event == KlineEvent::Connected
}

fn is_forming(event: &KlineEvent) -> bool {
    matches!(event, KlineEvent::Candle { kline, .. } if !kline.closed)
}

#[tokio::test]
async fn a_stream_that_is_always_refused_disturbs_no_other() {
    // Connections are counted here, so none is to be replaced because the machine is slow.
    let change = |config: &mut BinanceConfig| {
        config.streams.silence_max = Duration::from_secs(20);
        config.streams.stream_silence = Duration::from_secs(20);
        config.streams.standby_within = Duration::from_secs(10);
    };
    let live = live_with(start(), |_| {}, change).await;
    live.trouble(Trouble::new(FaultKind::WsRefused, 1_000_000).on("/ws/ethusdt@kline_1m"));
    let mut before = live.follow("BTCUSDT", Interval::M1).await;
    before.read_until(is_up).await;
    let mut refused = live.follow("ETHUSDT", Interval::M1).await;
    let mut after = live.follow("SOLUSDT", Interval::M1).await;
    after.read_until(is_up).await;
    // What is refused comes from the record.
    refused.read(6).await;
    assert_eq!(refused.count(is_up), 0);
    for reader in [&mut before, &mut after] {
        reader.read(6).await;
        assert_eq!(reader.count(is_down), 0, "{}", reader.code);
    }
    assert_eq!(live.sim.stream_counts().opened, 1);
    // A new connection asks for all of them at once, and is as good as the old one.
    live.trouble(Trouble::new(FaultKind::WsDrop, 1));
    for reader in [&mut before, &mut after] {
        reader.read_until(is_down).await;
        reader.read_until(is_up).await;
    }
    refused.read(2).await;
    assert_eq!((live.sim.stream_counts().opened, refused.count(is_up)), (2, 0));
    // One that is to replace it takes over without what neither of them has.
    live.trouble(Trouble::new(FaultKind::WsShutdown, 1));
    live.until(&mut before, |sim| sim.stream_counts().opened > 2).await;
    live.settle(&mut before, 2).await;
    // And as soon as it is not refused any more, it is live on the connection that there is.
    live.sim.faults().clear();
    refused.read_until(is_up).await;
    refused.read_until(is_forming).await;
    for reader in [&mut before, &mut after, &mut refused] {
        reader.read(2).await;
        live.check(reader).await;
    }
    assert_eq!((before.count(is_down), after.count(is_down), refused.count(is_down)), (1, 1, 0));
    assert_eq!(live.sim.stream_counts().opened, 3);
}

#[tokio::test]
async fn where_everything_is_refused_another_connection_is_tried() {
    let live = live().await;
    live.trouble(Trouble::new(FaultKind::WsRefused, 1_000_000));
    let mut readers = Vec::new();
    for code in ["BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "ADAUSDT"] {
        readers.push(live.follow(code, Interval::M1).await);
    }
    live.until(&mut readers[0], |sim| sim.stream_counts().opened > 1).await;
    live.sim.faults().clear();
    for reader in &mut readers {
        reader.read_until(is_up).await;
        reader.read(2).await;
        live.check(reader).await;
    }
    live.settle(&mut readers[0], 5).await;
}

/// What is given up while it waits for its turn must not come back with the halves of a request.
#[tokio::test]
async fn what_is_given_up_while_others_are_refused_is_not_subscribed_to() {
    let change = |config: &mut BinanceConfig| {
        config.streams.message_gap = Duration::from_millis(100);
        config.streams.linger = Duration::from_millis(1);
        config.streams.silence_max = Duration::from_secs(20);
    };
    let live = live_with(start(), |_| {}, change).await;
    live.trouble(Trouble::new(FaultKind::WsRefused, 1_000_000).on("/ws/ethusdt@kline_1m"));
    let mut first = live.follow("BTCUSDT", Interval::M1).await;
    first.read_until(is_up).await;
    let _refused = live.follow("ETHUSDT", Interval::M1).await;
    let given_up = live.follow("SOLUSDT", Interval::M1).await;
    let mut last = live.follow("XRPUSDT", Interval::M1).await;
    drop(given_up);
    last.read_until(is_up).await;
    live.settle(&mut first, 2).await;
    last.read(3).await;
    assert_eq!((live.sim.stream_counts().streams, live.sim.stream_counts().opened), (2, 1));
    live.check(&last).await;
}

/// However much has to be asked for in halves, the exchange's limit of messages is kept, with the
/// answers to its pings.
#[tokio::test]
async fn no_more_is_asked_than_the_exchange_allows() {
    let rules = |rules: &mut StreamRules| {
        rules.messages_per_second = 5;
        rules.ping_every = Duration::from_millis(1_100);
    };
    let change = |config: &mut BinanceConfig| {
        config.streams.message_gap = BinanceConfig::new("http://x", "x").streams.message_gap;
        config.streams.silence_max = Duration::from_secs(20);
        config.streams.stream_silence = Duration::from_secs(20);
    };
    let live = live_with(start(), rules, change).await;
    let refused = Trouble::new(FaultKind::WsRefused, 15).on("/ws/ethusdt@kline_1m");
    live.trouble(refused);
    let mut readers = Vec::new();
    for code in ["BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "ADAUSDT"] {
        readers.push(live.follow(code, Interval::M1).await);
    }
    for reader in &mut readers {
        reader.read_until(is_up).await;
    }
    for reader in &mut readers {
        assert_eq!(reader.count(is_down), 0, "{}", reader.code);
        reader.read(1).await;
        live.check(reader).await;
    }
    assert_eq!(live.sim.stream_counts().opened, 1);
}

/// One of many, on every connection that is opened to replace the first, and when there is none.
#[tokio::test]
async fn a_stream_that_only_new_connections_are_refused_is_neither_lost_nor_doubled() {
    let change = |config: &mut BinanceConfig| {
        config.streams.life = Duration::from_millis(300);
        config.streams.standby_within = Duration::from_millis(60);
    };
    let live = live_with(start(), |_| {}, change).await;
    let listing = live.binance.listing().await.unwrap();
    let mut codes: Vec<&String> = listing.quote_assets.keys().collect();
    codes.sort_unstable();
    let mut readers = Vec::new();
    for code in codes.iter().filter(|code| code.ends_with("USDT")).take(30) {
        readers.push(live.follow(code, Interval::M1).await);
    }
    for reader in &mut readers {
        reader.read_until(is_up).await;
    }
    let stream = format!("/ws/{}@kline_1m", readers[17].code.to_lowercase());
    live.trouble(Trouble::new(FaultKind::WsRefused, 1_000_000).on(&stream));
    for drops in [0, 1] {
        let opened = live.sim.stream_counts().opened;
        if drops > 0 {
            live.trouble(Trouble::new(FaultKind::WsDrop, drops));
        }
        live.until(&mut readers[17], |sim| sim.stream_counts().opened >= opened + 3).await;
        for reader in &mut readers {
            reader.read(3).await;
            live.check(reader).await;
        }
    }
    live.sim.faults().clear();
    live.settle(&mut readers[17], 30).await;
    // An old connection may have carried it all the time.
    let last = readers[17].statuses.iter().rfind(|it| is_up(it) || is_down(it));
    if last.is_some_and(is_down) {
        readers[17].read_until(is_up).await;
    }
    readers[17].read_until(is_forming).await;
    for reader in &mut readers {
        reader.read(3).await;
        live.check(reader).await;
    }
}
