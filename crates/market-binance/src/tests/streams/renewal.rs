//! How connections are subscribed, kept alive and replaced.

use super::*;

/// A world in which nothing is asked of the record unless frames stay away for long.
async fn renewing(troubles: &[Trouble]) -> (Live, [Reader; 3]) {
    let change = |config: &mut BinanceConfig| {
        config.streams.life = Duration::from_millis(150);
        config.streams.standby_within = Duration::from_millis(60);
        config.streams.ack_within = Duration::from_millis(200);
        config.streams.gap_wait = Duration::from_millis(500);
        config.streams.close_grace = Duration::from_mins(5);
    };
    let live = live_with(start(), |_| {}, change).await;
    let mut readers = [
        live.follow("BTCUSDT", Interval::M1).await,
        live.follow("ETHUSDT", Interval::M1).await,
        live.follow("SOLUSDT", Interval::M1).await,
    ];
    for reader in &mut readers {
        reader.read(2).await;
        // The first candle may have closed before it was listened to, which is told after it.
        while reader.gaps.as_ref().is_some_and(|gap| !gap.is_empty()) {
            reader.next().await;
        }
        reader.statuses.clear();
    }
    for trouble in troubles {
        live.trouble(trouble.clone());
    }
    // Until the last of it has struck, and a connection has taken over that it did not strike.
    live.until(&mut readers[0], |sim| sim.faults().list().is_empty()).await;
    let opened = live.sim.stream_counts().opened;
    live.until(&mut readers[0], |sim| sim.stream_counts().opened >= opened + 2).await;
    (live, readers)
}

/// The old connection lives on for as long as the new one is not heard, and nothing is lost.
#[tokio::test]
async fn a_new_connection_that_is_confirmed_and_mute_does_not_take_over() {
    for troubles in [
        // Three connections on which nothing comes.
        vec![Trouble::new(FaultKind::WsMute, 9)],
        // Three on which one stream of three is mute.
        vec![Trouble::new(FaultKind::WsMute, 3).on("/ws/ethusdt@kline_1m")],
    ] {
        let (live, mut readers) = renewing(&troubles).await;
        for reader in &mut readers {
            reader.read(8).await;
            live.check(reader).await;
            assert_eq!(reader.statuses, [], "{}", reader.code);
        }
        live.settle(&mut readers[0], 3).await;
    }
}

#[tokio::test]
async fn a_subscription_that_is_refused_or_never_confirmed_is_made_again() {
    // A refusal is an answer, so that nobody waits for one.
    let (short, long) = (Duration::from_millis(100), Duration::from_mins(10));
    for (kind, ack_within, connections) in
        [(FaultKind::WsUnanswered, short, 3..=30), (FaultKind::WsRefused, long, 1..=1)]
    {
        let change = |config: &mut BinanceConfig| config.streams.ack_within = ack_within;
        let live = live_with(start(), |_| {}, change).await;
        live.trouble(Trouble::new(kind, 2));
        let mut reader = live.follow("BTCUSDT", Interval::M1).await;
        reader.read_until(|event| *event == KlineEvent::Connected).await;
        let opened = live.sim.stream_counts().opened;
        assert!(connections.contains(&opened), "{kind:?}: {opened}");
        reader.read(3).await;
        live.check(&reader).await;
        live.settle(&mut reader, 1).await;
        // Where there is a connection that works, nobody notices.
        let (live, readers) = renewing(&[Trouble::new(kind, 2)]).await;
        for reader in &readers {
            live.check(reader).await;
            assert_eq!(reader.statuses, [], "{kind:?}, {}", reader.code);
        }
    }
}

/// A connection is there again, and only one of its streams sends.
#[tokio::test]
async fn all_of_many_streams_come_back() {
    let change = |config: &mut BinanceConfig| {
        config.streams.stream_silence = Duration::from_millis(60);
        config.streams.silence_min = Duration::from_millis(30);
    };
    let live = live_with(start(), |_| {}, change).await;
    let listing = live.binance.listing().await.unwrap();
    let mut codes: Vec<&String> = listing.quote_assets.keys().collect();
    codes.sort_unstable();
    let mut readers = Vec::new();
    for code in codes.into_iter().filter(|code| code.ends_with("USDT")).take(12) {
        readers.push(live.follow(code, Interval::M1).await);
    }
    for reader in &mut readers {
        reader.read(1).await;
    }
    live.trouble(Trouble::new(FaultKind::WsMute, 11));
    live.trouble(Trouble::new(FaultKind::WsDrop, 1));
    for reader in &mut readers {
        reader.read_until(is_down).await;
    }
    let forms =
        |event: &KlineEvent| matches!(event, KlineEvent::Candle { kline, .. } if !kline.closed);
    for reader in &mut readers {
        reader.read_until(|event| *event == KlineEvent::Connected).await;
        reader.read_until(forms).await;
    }
    let opened = live.sim.stream_counts().opened;
    assert!((3..10).contains(&opened) && live.sim.faults().list().is_empty(), "{opened}");
    for reader in &mut readers {
        reader.read(2).await;
        live.check(reader).await;
    }
    live.settle(&mut readers[0], 12).await;
}

#[tokio::test]
async fn pings_are_answered_on_a_connection_that_has_nothing_else_to_say() {
    let rules = |rules: &mut StreamRules| {
        rules.ping_every = Duration::from_millis(50);
        rules.pong_within = Duration::from_millis(300);
    };
    let change = |config: &mut BinanceConfig| config.streams.streams_per_connection = 1;
    let live = live_with(start(), rules, change).await;
    let mut halted = live.follow("LUNAUSDT", Interval::M1).await;
    assert_eq!(*halted.next().await.unwrap(), KlineEvent::Connected);
    let mut reader = live.follow("BTCUSDT", Interval::M1).await;
    reader.read(10).await;
    assert_eq!(live.sim.stream_counts().opened, 2);
}

/// More requests than the exchange bears in a second, twice: at the beginning and at the renewal.
#[tokio::test]
async fn many_streams_are_subscribed_and_renewed_within_the_exchange_s_limit() {
    let rules = |rules: &mut StreamRules| {
        rules.messages_per_second = 5;
        rules.ping_every = Duration::from_mins(1);
        rules.shutdown_notice = Duration::from_mins(1);
    };
    let change = |config: &mut BinanceConfig| {
        config.streams.message_gap = Duration::from_millis(250);
        config.streams.standby_within = Duration::from_secs(5);
        config.streams.streams_per_connection = 1_024;
        config.streams.stream_silence = Duration::from_mins(1);
        config.streams.silence_max = Duration::from_mins(1);
    };
    // Not in a hurry: this is not about frames, of which there would be thousands.
    let live = live_scaled(4, start(), rules, change).await;
    let listing = live.binance.listing().await.unwrap();
    let mut readers = Vec::new();
    for code in listing.quote_assets.keys() {
        for interval in Interval::ALL.into_iter().filter(|interval| *interval != Interval::S1) {
            readers.push(live.follow(code, interval).await);
        }
    }
    assert!(readers.len() > 500, "{} streams fit into five requests", readers.len());
    for reader in &mut readers {
        reader.read_until(|event| *event == KlineEvent::Connected).await;
    }
    // Everything goes into a few requests, on one connection that is not closed for flooding.
    let counts = live.sim.stream_counts();
    assert_eq!((counts.opened, counts.streams), (1, readers.len() as u64));
    live.trouble(Trouble::new(FaultKind::WsShutdown, 1));
    live.until(&mut readers[0], |sim| sim.stream_counts().opened > 1).await;
    live.settle(&mut readers[0], counts.streams).await;
    let renewed = live.binance.inner.clock.now();
    for reader in &mut readers {
        let later = |event: &KlineEvent| matches!(event, KlineEvent::Candle { as_of, .. } if *as_of > renewed);
        reader.read_until(later).await;
        assert_eq!(reader.count(is_down), 0, "{}", reader.code);
    }
    assert_eq!(live.sim.stream_counts().opened, 2);
}
