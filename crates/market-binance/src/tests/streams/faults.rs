//! Faults of streams and of the history: every closed candle still arrives once and in order.

use super::*;

/// Follows a minute series while these faults strike.
async fn through(faults: &[InjectedFault], closed: usize) -> (LiveFixture, Reader) {
    through_with(faults, closed, |_| {}).await
}

async fn through_with(
    faults: &[InjectedFault],
    closed: usize,
    change: impl FnOnce(&mut BinanceConfig),
) -> (LiveFixture, Reader) {
    let fixture = live_fixture_with(start(), |_| {}, change).await;
    let mut reader = fixture.follow("BTCUSDT", Interval::M1).await;
    reader.read(2).await;
    for fault in faults {
        fixture.inject(fault.clone());
    }
    reader.read(closed).await;
    fixture.sim.faults().clear();
    fixture.check(&reader).await;
    (fixture, reader)
}

#[tokio::test(start_paused = true)]
async fn dropped_connections_are_opened_again_and_gaps_filled() {
    let (fixture, mut reader) = through(&[InjectedFault::new(FaultKind::WsDrop, 20)], 12).await;
    assert!(fixture.sim.stream_counts().opened >= 21, "{:?}", fixture.sim.stream_counts());
    // An error and an end of the same connection are one loss; one connection remains.
    fixture.settle(&mut reader, 1).await;
    assert!(reader.count(is_down) >= 1);
    let up = reader.count(|event| *event == KlineEvent::Connected);
    assert_eq!(up, reader.count(is_down) + 1, "{:?}", reader.statuses);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_falls_silent_is_replaced() {
    // Long enough that candles close during the silence.
    let change = |config: &mut BinanceConfig| {
        config.streams.silence_min = Duration::from_secs(90);
        config.streams.silence_max = Duration::from_mins(5);
        config.streams.stream_silence = Duration::from_mins(20);
    };
    let faults = [InjectedFault::new(FaultKind::WsStall, 1)];
    let (fixture, reader) = through_with(&faults, 12, change).await;
    assert!(fixture.sim.stream_counts().opened >= 2);
    assert!(reader.count(is_down) >= 1);
    // The candles of the silence came from history.
    assert!(reader.count(is_gap) >= 1, "{:?}", reader.statuses);
}

#[tokio::test(start_paused = true)]
async fn late_and_missing_closing_frames_are_backfilled() {
    for fault in [
        InjectedFault::new(FaultKind::WsMissingClose, 5),
        InjectedFault::new(FaultKind::WsLateClose, 5).delay_ms(30_000),
        InjectedFault::new(FaultKind::WsLateClose, 5).delay_ms(150_000),
    ] {
        let (_, reader) = through(std::slice::from_ref(&fault), 9).await;
        assert!(reader.count(is_gap) >= 4, "{fault:?}: {:?}", reader.statuses);
        assert_eq!(reader.count(is_down), 0, "{fault:?}");
    }
}

/// The range of a gap event is that of the candles whose closing frames were lost; each reader
/// compares it with the candles that came from history.
#[tokio::test(start_paused = true)]
async fn a_gap_event_spans_its_first_to_its_last_candle() {
    let change = |config: &mut BinanceConfig| {
        config.streams.gap_wait = Duration::from_secs(90);
        config.streams.close_grace = Duration::from_mins(2);
    };
    let faults = [InjectedFault::new(FaultKind::WsMissingClose, 4)];
    let (_, mut reader) = through_with(&faults, 9, change).await;
    let filled = |status: &KlineEvent| match status {
        KlineEvent::GapFilled(span) => Interval::M1.count_in(*span),
        _ => 0,
    };
    while reader.statuses.iter().map(filled).sum::<u64>() < 4 {
        reader.read(1).await;
    }
    // Candles that are lost together are one gap.
    assert!(reader.statuses.iter().any(|status| filled(status) > 1), "{:?}", reader.statuses);
}

#[tokio::test(start_paused = true)]
async fn a_row_that_may_still_change_is_not_published() {
    let change =
        |config: &mut BinanceConfig| config.streams.history_settle = Duration::from_mins(1);
    let faults = [
        InjectedFault::new(FaultKind::WsMissingClose, 5),
        InjectedFault::new(FaultKind::UnsettledRows, 1_000_000).delay_ms(58_000),
    ];
    let (_, reader) = through_with(&faults, 9, change).await;
    assert!(reader.count(is_gap) >= 1, "{:?}", reader.statuses);
}

#[tokio::test(start_paused = true)]
async fn duplicate_and_reordered_frames_are_corrected() {
    for kind in [FaultKind::WsDuplicate, FaultKind::WsReorder] {
        let (_, reader) = through(&[InjectedFault::new(kind, 300)], 10).await;
        assert_eq!(reader.count(is_down), 0, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lagging_history_is_requested_again() {
    let faults = [
        InjectedFault::new(FaultKind::WsMissingClose, 6),
        InjectedFault::new(FaultKind::RestLag, 40).delay_ms(90_000),
        InjectedFault::new(FaultKind::WsDrop, 4),
    ];
    let (_, reader) = through(&faults, 12).await;
    assert!(reader.count(is_gap) >= 1);
}

#[tokio::test(start_paused = true)]
async fn a_lagging_history_is_not_requested_at_every_frame() {
    let change = |config: &mut BinanceConfig| {
        config.streams.lag_wait = Duration::from_mins(1);
        config.streams.lag_wait_max = Duration::from_mins(1);
    };
    let fixture = live_fixture_with(start(), |_| {}, change).await;
    let mut reader = fixture.follow("BTCUSDT", Interval::M1).await;
    let mut other = fixture.follow("ETHUSDT", Interval::M1).await;
    reader.read(1).await;
    fixture.inject(InjectedFault::new(FaultKind::RestLag, 1_000_000).delay_ms(600_000));
    fixture.inject(InjectedFault::new(FaultKind::WsMissingClose, 1).on("/ws/btcusdt@kline_1m"));
    let before = fixture.sim.requests(Endpoint::Klines);
    other.read(8).await;
    let requests = fixture.sim.requests(Endpoint::Klines) - before;
    assert!((1..=25).contains(&requests), "the history was requested {requests} times");
    fixture.sim.faults().clear();
    reader.read(8).await;
    fixture.check(&reader).await;
}

#[tokio::test(start_paused = true)]
async fn a_failing_history_is_requested_again() {
    let path = Endpoint::Klines.path();
    let faults = [
        InjectedFault::new(FaultKind::WsMissingClose, 4),
        InjectedFault::new(FaultKind::Status500, 5).on(path),
        InjectedFault::new(FaultKind::MalformedRows, 1).on(path),
        InjectedFault::new(FaultKind::ShuffledRows, 2).on(path),
        InjectedFault::new(FaultKind::DuplicateRows, 2).on(path),
        InjectedFault::new(FaultKind::Html, 2).on(path),
        InjectedFault::new(FaultKind::Truncated, 2).on(path),
    ];
    let (_, reader) = through(&faults, 12).await;
    assert!(reader.count(is_gap) >= 1);
}

/// A response that lost a row, and a response to the request for that row alone that lost it too, look
/// like an outage.
#[tokio::test(start_paused = true)]
async fn rows_that_several_responses_lose_are_not_taken_for_an_outage() {
    let path = Endpoint::Klines.path();
    let faults = [
        InjectedFault::new(FaultKind::WsMissingClose, 1),
        InjectedFault::new(FaultKind::MissingRows, 4).on(path),
    ];
    let (_, reader) = through(&faults, 9).await;
    assert!(reader.count(is_gap) >= 1, "{:?}", reader.statuses);
}

#[tokio::test(start_paused = true)]
async fn an_announced_shutdown_is_anticipated() {
    let (fixture, mut reader) = through(&[InjectedFault::new(FaultKind::WsShutdown, 1)], 8).await;
    fixture.settle(&mut reader, 1).await;
    // The new connection was open before the old one ended.
    assert_eq!((fixture.sim.stream_counts().opened, reader.count(is_down)), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn connections_are_replaced_before_they_get_too_old() {
    let rules = |rules: &mut StreamRules| rules.life = Duration::from_mins(10);
    let change =
        |config: &mut BinanceConfig| config.streams.connection_lifetime = Duration::from_secs(90);
    let fixture = live_fixture_with(start(), rules, change).await;
    let mut reader = fixture.follow("BTCUSDT", Interval::M1).await;
    let mut other = fixture.follow("ETHUSDT", Interval::M1).await;
    reader.read(15).await;
    other.read(15).await;
    for reader in [&reader, &other] {
        fixture.check(reader).await;
        assert_eq!(reader.count(is_down), 0, "{:?}", reader.statuses);
    }
    assert!(fixture.sim.stream_counts().opened >= 5, "{:?}", fixture.sim.stream_counts());
    fixture.settle(&mut reader, 2).await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_confirmed_but_mute_is_noticed() {
    let change = |config: &mut BinanceConfig| {
        config.streams.stream_silence = Duration::from_secs(36);
    };
    let fixture = live_fixture_with(start(), |_| {}, change).await;
    fixture.inject(InjectedFault::new(FaultKind::WsMute, 1).on("/ws/ethusdt@kline_1d"));
    let mut reader = fixture.follow("BTCUSDT", Interval::M1).await;
    let mut mute = fixture.follow("ETHUSDT", Interval::D1).await;
    reader.read(1).await;
    // No daily candle closes during the test, so only forming ones can come.
    mute.read_until(|event| matches!(event, KlineEvent::Candle { .. })).await;
    assert!(fixture.sim.stream_counts().opened >= 2);
    reader.read(2).await;
    fixture.check(&reader).await;
    // Only the subscriber of the mute stream gets a status; the other moves without one.
    assert_eq!((reader.count(is_down), mute.count(is_down)), (0, 1));
}

/// With these settings only the usual pace of frames reveals a stall.
fn by_cadence_alone(config: &mut BinanceConfig) {
    let streams = &mut config.streams;
    streams.silence_max = Duration::from_mins(10);
    streams.stream_silence = Duration::from_mins(10);
    streams.delivery_delay_max = Duration::from_mins(10);
}

#[tokio::test(start_paused = true)]
async fn a_stall_is_noticed_by_how_often_frames_usually_come() {
    let rules = |rules: &mut StreamRules| rules.ping_every = Duration::from_hours(1);
    let fixture = live_fixture_with(start(), rules, by_cadence_alone).await;
    let mut reader = fixture.follow("BTCUSDT", Interval::S1).await;
    reader.read(200).await;
    fixture.inject(InjectedFault::new(FaultKind::WsStall, 1));
    reader.read_until(is_down).await;
    reader.read_until(|event| *event == KlineEvent::Connected).await;
    reader.read(100).await;
    fixture.check(&reader).await;
    assert!(reader.count(is_gap) >= 1, "{:?}", reader.statuses);
}

#[tokio::test(start_paused = true)]
async fn a_mute_stream_is_reported_and_its_connection_replaced_ever_more_rarely() {
    let change = |config: &mut BinanceConfig| {
        config.streams.stream_silence = Duration::from_secs(30);
        config.streams.silence_min = Duration::from_secs(15);
        config.streams.mute_wait_max = Duration::from_hours(2);
    };
    let fixture = live_fixture_with(start(), |_| {}, change).await;
    fixture.inject(InjectedFault::new(FaultKind::WsMute, 1_000).on("/ws/ethusdt@kline_1m"));
    let mut mute = fixture.follow("ETHUSDT", Interval::M1).await;
    mute.read_until(is_down).await;
    mute.read(14).await;
    // A new connection every 30 s would be about 28.
    let opened = fixture.sim.stream_counts().opened;
    assert!((2..=10).contains(&opened), "{opened}");
    fixture.check(&mute).await;
    fixture.sim.faults().clear();
    mute.read_until(|event| matches!(event, KlineEvent::Candle { kline, .. } if !kline.closed))
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_halted_symbol_is_healthy_however_closely_it_is_watched() {
    let change = |config: &mut BinanceConfig| {
        config.streams.silence_min = Duration::from_secs(6);
        config.streams.stream_silence = Duration::from_secs(48);
        config.streams.silence_max = Duration::from_hours(3);
        config.streams.pong_timeout = Duration::from_hours(1);
    };
    let fixture = live_fixture_with(start(), |_| {}, change).await;
    let mut halted = fixture.follow("LUNAUSDT", Interval::M1).await;
    assert_eq!(*halted.next().await.unwrap(), KlineEvent::Connected);
    let requests_before = fixture.sim.requests(Endpoint::Klines);
    let nothing = tokio::time::timeout(Duration::from_mins(20), halted.feed.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    assert_eq!(fixture.sim.stream_counts().opened, 1);
    let requests = fixture.sim.requests(Endpoint::Klines) - requests_before;
    assert!((2..=100).contains(&requests), "the history was requested {requests} times");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_cannot_be_encrypted_is_tried_again() {
    let change = |config: &mut BinanceConfig| {
        config.streams.url = config.rest_url.replace("http://", "wss://");
    };
    let fixture = live_fixture_with(start(), |_| {}, change).await;
    let mut reader = fixture.follow("BTCUSDT", Interval::M1).await;
    // Candles still come, from history.
    reader.read(3).await;
    assert_eq!(reader.count(|event| *event == KlineEvent::Connected), 0);
    assert!(reader.count(is_gap) >= 1);
    fixture.check(&reader).await;
}

#[tokio::test(start_paused = true)]
async fn the_exchange_may_stay_away_for_long() {
    let mut fixture = live_fixture().await;
    let mut reader = fixture.follow("BTCUSDT", Interval::M1).await;
    reader.read(2).await;
    // Long enough for many failed attempts.
    fixture.stop_exchange(&mut reader, Duration::from_mins(7)).await;
    reader.read_until(is_gap).await;
    reader.read(3).await;
    fixture.check(&reader).await;
    assert!(reader.closed.len() >= 9, "{}", reader.closed.len());
}

#[tokio::test(start_paused = true)]
async fn a_gap_of_many_pages_does_not_overflow_queues() {
    let mut fixture = live_fixture().await;
    let options = SubscribeOptions { resume_after: None, queue_max: 600 };
    let mut reader = fixture.follow_with("BTCUSDT", Interval::S1, options).await;
    reader.read(2).await;
    // Twenty minutes: three pages, and twice what fits into the queue.
    fixture.stop_exchange(&mut reader, Duration::from_mins(20)).await;
    reader.read(1_300).await;
    fixture.check(&reader).await;
    assert!(reader.count(is_gap) >= 3, "{:?}", reader.statuses);
}

#[tokio::test(start_paused = true)]
async fn hardly_traded_and_halted_symbols_are_quiet_but_alive() {
    let fixture = live_fixture().await;
    let mut quiet = fixture.follow("OBOLBNB", Interval::M1).await;
    let mut halted = fixture.follow("LUNAUSDT", Interval::M1).await;
    quiet.read(6).await;
    fixture.check(&quiet).await;
    assert_eq!(*halted.next().await.unwrap(), KlineEvent::Connected);
    // A silent symbol is not a silent connection.
    assert_eq!(fixture.sim.stream_counts().opened, 1);
    let nothing = tokio::time::timeout(Duration::from_mins(3), halted.feed.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
}

#[tokio::test(start_paused = true)]
async fn an_outage_leaves_only_its_gap() {
    let calm = live_fixture().await;
    let days = TimeRange::new(Millis(day("2026-10-10")), Millis(day("2026-11-08")));
    let record = calm.binance.bars("BTCUSDT", Interval::M1, days).await.unwrap().bars;
    let hole = record
        .windows(2)
        .map(|pair| TimeRange::new(pair[0].open_time, pair[1].open_time))
        .filter(|span| span.length_ms() > 60_000)
        .min_by_key(|span| span.length_ms())
        .expect("a month without an outage");
    let fixture = live_fixture_with(Millis(hole.from.0 - 100_000), |_| {}, |_| {}).await;
    let mut reader = fixture.follow("BTCUSDT", Interval::M1).await;
    reader.read(6).await;
    fixture.check(&reader).await;
    assert!(reader.closed.iter().any(|bar| bar.open_time == hole.to));
}
