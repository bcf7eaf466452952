//! How connections subscribe, stay alive and are replaced.

use super::*;

/// Renews connections every 90 s and requests history only after minutes without frames.
async fn renewing(faults: &[InjectedFault]) -> (LiveFixture, [Reader; 3]) {
    let change = |config: &mut BinanceConfig| {
        config.streams.connection_lifetime = Duration::from_secs(90);
        config.streams.standby_timeout = Duration::from_secs(36);
        config.streams.ack_timeout = Duration::from_mins(2);
        config.streams.gap_wait = Duration::from_mins(5);
        config.streams.close_grace = Duration::from_mins(5);
    };
    let fixture = live_fixture_with(start(), |_| {}, change).await;
    let mut readers = [
        fixture.follow("BTCUSDT", Interval::M1).await,
        fixture.follow("ETHUSDT", Interval::M1).await,
        fixture.follow("SOLUSDT", Interval::M1).await,
    ];
    for reader in &mut readers {
        reader.read(2).await;
        // A candle that closed before the subscription comes with a gap event.
        while reader.gaps.as_ref().is_some_and(|gap| !gap.is_empty()) {
            reader.next().await;
        }
        reader.statuses.clear();
    }
    for fault in faults {
        fixture.inject(fault.clone());
    }
    // Until all faults have struck and a later connection has taken over.
    fixture.until(&mut readers[0], |sim| sim.faults().list().is_empty()).await;
    let opened = fixture.sim.stream_counts().opened;
    fixture.until(&mut readers[0], |sim| sim.stream_counts().opened >= opened + 2).await;
    (fixture, readers)
}

/// The old connection stays until the new one sends frames, and nothing is lost.
#[tokio::test(start_paused = true)]
async fn a_new_connection_that_is_confirmed_and_mute_does_not_take_over() {
    for faults in [
        // Three connections without frames.
        vec![InjectedFault::new(FaultKind::WsMute, 9)],
        // Three on which one stream of three is mute.
        vec![InjectedFault::new(FaultKind::WsMute, 3).on("/ws/ethusdt@kline_1m")],
    ] {
        let (fixture, mut readers) = renewing(&faults).await;
        for reader in &mut readers {
            reader.read(8).await;
            fixture.check(reader).await;
            assert_eq!(reader.statuses, [], "{}", reader.code);
        }
        fixture.settle(&mut readers[0], 3).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_or_unconfirmed_subscription_is_sent_again() {
    // A refusal is an answer, so the adapter does not wait for another.
    let (short, long) = (Duration::from_secs(10), Duration::from_hours(2));
    for (kind, ack_timeout, connections) in
        [(FaultKind::WsUnanswered, short, 3..=30), (FaultKind::WsRefused, long, 1..=1)]
    {
        let change = |config: &mut BinanceConfig| config.streams.ack_timeout = ack_timeout;
        let fixture = live_fixture_with(start(), |_| {}, change).await;
        fixture.inject(InjectedFault::new(kind, 2));
        let mut reader = fixture.follow("BTCUSDT", Interval::M1).await;
        reader.read_until(|event| *event == KlineEvent::Connected).await;
        let opened = fixture.sim.stream_counts().opened;
        assert!(connections.contains(&opened), "{kind:?}: {opened}");
        reader.read(3).await;
        fixture.check(&reader).await;
        fixture.settle(&mut reader, 1).await;
        // Subscribers do not notice it while the old connection works.
        let (fixture, readers) = renewing(&[InjectedFault::new(kind, 2)]).await;
        for reader in &readers {
            fixture.check(reader).await;
            assert_eq!(reader.statuses, [], "{kind:?}, {}", reader.code);
        }
    }
}

/// After a reconnect only one of the streams sends at first.
#[tokio::test(start_paused = true)]
async fn all_of_many_streams_come_back() {
    let change = |config: &mut BinanceConfig| {
        config.streams.stream_silence = Duration::from_secs(36);
        config.streams.silence_min = Duration::from_secs(18);
    };
    let fixture = live_fixture_with(start(), |_| {}, change).await;
    let listing = fixture.binance.listing().await.unwrap();
    let mut codes: Vec<&String> = listing.quote_assets.keys().collect();
    codes.sort_unstable();
    let mut readers = Vec::new();
    for code in codes.into_iter().filter(|code| code.ends_with("USDT")).take(12) {
        readers.push(fixture.follow(code, Interval::M1).await);
    }
    for reader in &mut readers {
        reader.read(1).await;
    }
    fixture.inject(InjectedFault::new(FaultKind::WsMute, 11));
    fixture.inject(InjectedFault::new(FaultKind::WsDrop, 1));
    for reader in &mut readers {
        reader.read_until(is_down).await;
    }
    let forms =
        |event: &KlineEvent| matches!(event, KlineEvent::Candle { kline, .. } if !kline.closed);
    for reader in &mut readers {
        reader.read_until(|event| *event == KlineEvent::Connected).await;
        reader.read_until(forms).await;
    }
    let opened = fixture.sim.stream_counts().opened;
    assert!((3..10).contains(&opened) && fixture.sim.faults().list().is_empty(), "{opened}");
    for reader in &mut readers {
        reader.read(2).await;
        fixture.check(reader).await;
    }
    fixture.settle(&mut readers[0], 12).await;
}

#[tokio::test(start_paused = true)]
async fn pings_are_answered_on_an_idle_connection() {
    let change = |config: &mut BinanceConfig| config.streams.streams_per_connection = 1;
    let fixture = live_fixture_with(start(), |_| {}, change).await;
    let mut halted = fixture.follow("LUNAUSDT", Interval::M1).await;
    assert_eq!(*halted.next().await.unwrap(), KlineEvent::Connected);
    let mut reader = fixture.follow("BTCUSDT", Interval::M1).await;
    reader.read(10).await;
    assert_eq!(fixture.sim.stream_counts().opened, 2);
}

/// More requests than the exchange allows in a second, at the start and at the renewal.
#[tokio::test(start_paused = true)]
async fn many_streams_are_subscribed_and_renewed_within_the_exchange_s_limit() {
    let rules = |rules: &mut StreamRules| {
        rules.ping_every = Duration::from_mins(1);
        rules.shutdown_notice = Duration::from_mins(1);
    };
    let change = |config: &mut BinanceConfig| {
        config.streams.streams_per_connection = 1_024;
    };
    let fixture = live_fixture_with(start(), rules, change).await;
    let listing = fixture.binance.listing().await.unwrap();
    let mut readers = Vec::new();
    for code in listing.quote_assets.keys() {
        for interval in Interval::ALL.into_iter().filter(|interval| *interval != Interval::S1) {
            readers.push(fixture.follow(code, interval).await);
        }
    }
    assert!(readers.len() > 500, "{} streams fit into five requests", readers.len());
    for reader in &mut readers {
        reader.read_until(|event| *event == KlineEvent::Connected).await;
    }
    // A few requests carry everything, and the exchange does not close the connection.
    let counts = fixture.sim.stream_counts();
    assert_eq!((counts.opened, counts.streams), (1, readers.len() as u64));
    fixture.inject(InjectedFault::new(FaultKind::WsShutdown, 1));
    fixture.until(&mut readers[0], |sim| sim.stream_counts().opened > 1).await;
    fixture.settle(&mut readers[0], counts.streams).await;
    let renewed = fixture.binance.shared.clock.now();
    for reader in &mut readers {
        let later = |event: &KlineEvent| matches!(event, KlineEvent::Candle { as_of, .. } if *as_of > renewed);
        reader.read_until(later).await;
        assert_eq!(reader.count(is_down), 0, "{}", reader.code);
    }
    assert_eq!(fixture.sim.stream_counts().opened, 2);
}
