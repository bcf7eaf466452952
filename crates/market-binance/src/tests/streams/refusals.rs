//! Subscriptions that the exchange refuses: subscribers of other streams do not notice.

use super::*;

fn is_up(event: &KlineEvent) -> bool {
    *event == KlineEvent::Connected
}

fn is_forming(event: &KlineEvent) -> bool {
    matches!(event, KlineEvent::Candle { kline, .. } if !kline.closed)
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_always_refused_disturbs_no_other() {
    let fixture = live_fixture().await;
    fixture.inject(InjectedFault::new(FaultKind::WsRefused, 1_000_000).on("/ws/ethusdt@kline_1m"));
    let mut before = fixture.follow("BTCUSDT", Interval::M1).await;
    before.read_until(is_up).await;
    let mut refused = fixture.follow("ETHUSDT", Interval::M1).await;
    let mut after = fixture.follow("SOLUSDT", Interval::M1).await;
    after.read_until(is_up).await;
    // The candles of a refused stream come from history.
    refused.read(6).await;
    assert_eq!(refused.count(is_up), 0);
    for reader in [&mut before, &mut after] {
        reader.read(6).await;
        assert_eq!(reader.count(is_down), 0, "{}", reader.code);
    }
    assert_eq!(fixture.sim.stream_counts().opened, 1);
    // A new connection subscribes to all of them at once and works like the old one.
    fixture.inject(InjectedFault::new(FaultKind::WsDrop, 1));
    for reader in [&mut before, &mut after] {
        reader.read_until(is_down).await;
        reader.read_until(is_up).await;
    }
    refused.read(2).await;
    assert_eq!((fixture.sim.stream_counts().opened, refused.count(is_up)), (2, 0));
    // A standby connection takes over without the stream that neither connection has.
    fixture.inject(InjectedFault::new(FaultKind::WsShutdown, 1));
    fixture.until(&mut before, |sim| sim.stream_counts().opened > 2).await;
    fixture.settle(&mut before, 2).await;
    // When the refusals end, the stream becomes live on the existing connection.
    fixture.sim.faults().clear();
    refused.read_until(is_up).await;
    refused.read_until(is_forming).await;
    for reader in [&mut before, &mut after, &mut refused] {
        reader.read(2).await;
        fixture.check(reader).await;
    }
    assert_eq!((before.count(is_down), after.count(is_down), refused.count(is_down)), (1, 1, 0));
    assert_eq!(fixture.sim.stream_counts().opened, 3);
}

#[tokio::test(start_paused = true)]
async fn when_everything_is_refused_another_connection_is_tried() {
    let fixture = live_fixture().await;
    fixture.inject(InjectedFault::new(FaultKind::WsRefused, 1_000_000));
    let mut readers = Vec::new();
    for code in ["BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "ADAUSDT"] {
        readers.push(fixture.follow(code, Interval::M1).await);
    }
    fixture.until(&mut readers[0], |sim| sim.stream_counts().opened > 1).await;
    fixture.sim.faults().clear();
    for reader in &mut readers {
        reader.read_until(is_up).await;
        reader.read(2).await;
        fixture.check(reader).await;
    }
    fixture.settle(&mut readers[0], 5).await;
}

/// A stream that is unsubscribed while its request waits must not return with the halves of a request.
#[tokio::test(start_paused = true)]
async fn an_unsubscribed_stream_is_not_subscribed_with_the_halves_of_a_request() {
    let change = |config: &mut BinanceConfig| {
        config.streams.send_interval = Duration::from_secs(10);
        config.streams.idle_series_ttl = Duration::from_millis(1);
    };
    let fixture = live_fixture_with(start(), |_| {}, change).await;
    fixture.inject(InjectedFault::new(FaultKind::WsRefused, 1_000_000).on("/ws/ethusdt@kline_1m"));
    let mut first = fixture.follow("BTCUSDT", Interval::M1).await;
    first.read_until(is_up).await;
    let _refused = fixture.follow("ETHUSDT", Interval::M1).await;
    let given_up = fixture.follow("SOLUSDT", Interval::M1).await;
    let mut last = fixture.follow("XRPUSDT", Interval::M1).await;
    drop(given_up);
    last.read_until(is_up).await;
    fixture.settle(&mut first, 2).await;
    last.read(3).await;
    assert_eq!((fixture.sim.stream_counts().streams, fixture.sim.stream_counts().opened), (2, 1));
    fixture.check(&last).await;
}

/// Halving requests keeps the exchange's limit of 5 messages a second, pongs included.
#[tokio::test(start_paused = true)]
async fn halving_requests_keeps_the_message_limit() {
    let rules = |rules: &mut StreamRules| {
        rules.ping_every = Duration::from_millis(1_100);
    };
    let fixture = live_fixture_with(start(), rules, |_| {}).await;
    let refused = InjectedFault::new(FaultKind::WsRefused, 15).on("/ws/ethusdt@kline_1m");
    fixture.inject(refused);
    let mut readers = Vec::new();
    for code in ["BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "ADAUSDT"] {
        readers.push(fixture.follow(code, Interval::M1).await);
    }
    for reader in &mut readers {
        reader.read_until(is_up).await;
    }
    for reader in &mut readers {
        assert_eq!(reader.count(is_down), 0, "{}", reader.code);
        reader.read(1).await;
        fixture.check(reader).await;
    }
    assert_eq!(fixture.sim.stream_counts().opened, 1);
}

/// One stream of 30 is refused on every standby connection and on every reconnect.
#[tokio::test(start_paused = true)]
async fn a_stream_that_only_new_connections_refuse_is_neither_lost_nor_duplicated() {
    let change = |config: &mut BinanceConfig| {
        config.streams.connection_lifetime = Duration::from_mins(3);
        config.streams.standby_timeout = Duration::from_secs(36);
    };
    let fixture = live_fixture_with(start(), |_| {}, change).await;
    let listing = fixture.binance.listing().await.unwrap();
    let mut codes: Vec<&String> = listing.quote_assets.keys().collect();
    codes.sort_unstable();
    let mut readers = Vec::new();
    for code in codes.iter().filter(|code| code.ends_with("USDT")).take(30) {
        readers.push(fixture.follow(code, Interval::M1).await);
    }
    for reader in &mut readers {
        reader.read_until(is_up).await;
    }
    let stream = format!("/ws/{}@kline_1m", readers[17].code.to_lowercase());
    fixture.inject(InjectedFault::new(FaultKind::WsRefused, 1_000_000).on(&stream));
    for drops in [0, 1] {
        let opened = fixture.sim.stream_counts().opened;
        if drops > 0 {
            fixture.inject(InjectedFault::new(FaultKind::WsDrop, drops));
        }
        fixture.until(&mut readers[17], |sim| sim.stream_counts().opened >= opened + 3).await;
        for reader in &mut readers {
            reader.read(3).await;
            fixture.check(reader).await;
        }
    }
    fixture.sim.faults().clear();
    fixture.settle(&mut readers[17], 30).await;
    // An old connection may still carry the stream.
    let last = readers[17].statuses.iter().rfind(|it| is_up(it) || is_down(it));
    if last.is_some_and(is_down) {
        readers[17].read_until(is_up).await;
    }
    readers[17].read_until(is_forming).await;
    for reader in &mut readers {
        reader.read(3).await;
        fixture.check(reader).await;
    }
}
