//! What goes wrong in streams: closed candles come through all of it, in order and once.

use super::*;

/// Follows a minute series through this trouble.
async fn through(troubles: &[Trouble], closed: usize) -> (Live, Reader) {
    through_with(troubles, closed, |_| {}).await
}

async fn through_with(
    troubles: &[Trouble],
    closed: usize,
    change: impl FnOnce(&mut BinanceConfig),
) -> (Live, Reader) {
    let live = live_with(start(), |_| {}, change).await;
    let mut reader = live.follow("BTCUSDT", Interval::M1).await;
    reader.read(2).await;
    for trouble in troubles {
        live.trouble(trouble.clone());
    }
    reader.read(closed).await;
    live.sim.faults().clear();
    live.check(&reader).await;
    (live, reader)
}

#[tokio::test]
async fn dropped_connections_are_opened_again_and_gaps_filled() {
    let (live, mut reader) = through(&[Trouble::new(FaultKind::WsDrop, 20)], 12).await;
    assert!(live.sim.stream_counts().opened >= 21, "{:?}", live.sim.stream_counts());
    // An error and an end are one loss, after which there is one connection.
    live.settle(&mut reader, 1).await;
    assert!(reader.count(is_down) >= 1);
    let up = reader.count(|event| *event == KlineEvent::Connected);
    assert_eq!(up, reader.count(is_down) + 1, "{:?}", reader.statuses);
}

#[tokio::test]
async fn a_connection_that_falls_silent_is_replaced() {
    let (live, reader) = through(&[Trouble::new(FaultKind::WsStall, 1)], 12).await;
    assert!(live.sim.stream_counts().opened >= 2);
    assert!(reader.count(is_down) >= 1);
    // The candles of the silence came from the record.
    assert!(reader.count(is_gap) >= 1, "{:?}", reader.statuses);
}

#[tokio::test]
async fn closing_frames_that_come_late_or_never_are_made_up_for() {
    for trouble in [
        Trouble::new(FaultKind::WsMissingClose, 5),
        Trouble::new(FaultKind::WsLateClose, 5).delay_ms(30_000),
        Trouble::new(FaultKind::WsLateClose, 5).delay_ms(150_000),
    ] {
        let (_, reader) = through(std::slice::from_ref(&trouble), 9).await;
        assert!(reader.count(is_gap) >= 4, "{trouble:?}: {:?}", reader.statuses);
        assert_eq!(reader.count(is_down), 0, "{trouble:?}");
    }
}

/// What is said of a gap is the candles whose closing frames were lost; each reader compares it
/// with what came from the record.
#[tokio::test]
async fn a_gap_is_told_from_its_first_candle_to_its_last() {
    let change = |config: &mut BinanceConfig| {
        config.streams.gap_wait = Duration::from_millis(150);
        config.streams.close_grace = Duration::from_mins(2);
    };
    let troubles = [Trouble::new(FaultKind::WsMissingClose, 4)];
    let (_, mut reader) = through_with(&troubles, 9, change).await;
    let filled = |status: &KlineEvent| match status {
        KlineEvent::GapFilled(span) => Interval::M1.count_in(*span),
        _ => 0,
    };
    while reader.statuses.iter().map(filled).sum::<u64>() < 4 {
        reader.read(1).await;
    }
    // Several candles that are lost together are one gap.
    assert!(reader.statuses.iter().any(|status| filled(status) > 1), "{:?}", reader.statuses);
}

#[tokio::test]
async fn a_row_that_may_still_change_is_not_told() {
    let change = |config: &mut BinanceConfig| config.streams.rest_settle = Duration::from_mins(1);
    let troubles = [
        Trouble::new(FaultKind::WsMissingClose, 5),
        Trouble::new(FaultKind::UnsettledRows, 1_000_000).delay_ms(58_000),
    ];
    let (_, reader) = through_with(&troubles, 9, change).await;
    assert!(reader.count(is_gap) >= 1, "{:?}", reader.statuses);
}

#[tokio::test]
async fn frames_that_come_twice_or_in_disorder_are_put_right() {
    for kind in [FaultKind::WsDuplicate, FaultKind::WsReorder] {
        let (_, reader) = through(&[Trouble::new(kind, 300)], 10).await;
        assert_eq!(reader.count(is_down), 0, "{kind:?}");
    }
}

#[tokio::test]
async fn a_record_that_lags_behind_is_asked_again() {
    let troubles = [
        Trouble::new(FaultKind::WsMissingClose, 6),
        Trouble::new(FaultKind::RestLag, 40).delay_ms(90_000),
        Trouble::new(FaultKind::WsDrop, 4),
    ];
    let (_, reader) = through(&troubles, 12).await;
    assert!(reader.count(is_gap) >= 1);
}

#[tokio::test]
async fn a_record_that_lags_behind_is_not_asked_at_every_frame() {
    let change = |config: &mut BinanceConfig| {
        config.streams.lag_wait = Duration::from_millis(100);
        config.streams.lag_wait_max = Duration::from_millis(100);
    };
    let live = live_with(start(), |_| {}, change).await;
    let mut reader = live.follow("BTCUSDT", Interval::M1).await;
    let mut other = live.follow("ETHUSDT", Interval::M1).await;
    reader.read(1).await;
    live.trouble(Trouble::new(FaultKind::RestLag, 1_000_000).delay_ms(600_000));
    live.trouble(Trouble::new(FaultKind::WsMissingClose, 1).on("/ws/btcusdt@kline_1m"));
    let before = live.sim.requests(Served::Klines);
    other.read(8).await;
    let asked = live.sim.requests(Served::Klines) - before;
    assert!((1..=25).contains(&asked), "the record was asked {asked} times");
    live.sim.faults().clear();
    reader.read(8).await;
    live.check(&reader).await;
}

#[tokio::test]
async fn a_record_that_fails_is_asked_again() {
    let path = Served::Klines.path();
    let troubles = [
        Trouble::new(FaultKind::WsMissingClose, 4),
        Trouble::new(FaultKind::Status500, 5).on(path),
        Trouble::new(FaultKind::MalformedRows, 1).on(path),
        Trouble::new(FaultKind::ShuffledRows, 2).on(path),
        Trouble::new(FaultKind::DuplicateRows, 2).on(path),
        Trouble::new(FaultKind::Html, 2).on(path),
        Trouble::new(FaultKind::Truncated, 2).on(path),
    ];
    let (_, reader) = through(&troubles, 12).await;
    assert!(reader.count(is_gap) >= 1);
}

/// An answer that lost a row, and an answer to the question for that row alone that lost it too,
/// look like an outage.
#[tokio::test]
async fn rows_that_answers_lose_again_and_again_are_not_taken_for_an_outage() {
    let path = Served::Klines.path();
    let troubles = [
        Trouble::new(FaultKind::WsMissingClose, 1),
        Trouble::new(FaultKind::MissingRows, 4).on(path),
    ];
    let (_, reader) = through(&troubles, 9).await;
    assert!(reader.count(is_gap) >= 1, "{:?}", reader.statuses);
}

#[tokio::test]
async fn an_announced_end_is_anticipated() {
    let (live, mut reader) = through(&[Trouble::new(FaultKind::WsShutdown, 1)], 8).await;
    live.settle(&mut reader, 1).await;
    // The new connection was there before the old one went.
    assert_eq!((live.sim.stream_counts().opened, reader.count(is_down)), (2, 0));
}

#[tokio::test]
async fn connections_are_replaced_before_they_get_too_old() {
    let rules = |rules: &mut StreamRules| rules.life = Duration::from_secs(1);
    let change = |config: &mut BinanceConfig| config.streams.life = Duration::from_millis(150);
    let live = live_with(start(), rules, change).await;
    let mut reader = live.follow("BTCUSDT", Interval::M1).await;
    let mut other = live.follow("ETHUSDT", Interval::M1).await;
    reader.read(15).await;
    other.read(15).await;
    for reader in [&reader, &other] {
        live.check(reader).await;
        assert_eq!(reader.count(is_down), 0, "{:?}", reader.statuses);
    }
    assert!(live.sim.stream_counts().opened >= 5, "{:?}", live.sim.stream_counts());
    live.settle(&mut reader, 2).await;
}

#[tokio::test]
async fn a_stream_that_is_confirmed_but_mute_is_noticed() {
    let change = |config: &mut BinanceConfig| {
        config.streams.stream_silence = Duration::from_millis(60);
    };
    let live = live_with(start(), |_| {}, change).await;
    live.trouble(Trouble::new(FaultKind::WsMute, 1).on("/ws/ethusdt@kline_1d"));
    let mut reader = live.follow("BTCUSDT", Interval::M1).await;
    let mut mute = live.follow("ETHUSDT", Interval::D1).await;
    reader.read(1).await;
    // No candle closes for a long time here, so only the forming one can tell.
    mute.read_until(|event| matches!(event, KlineEvent::Candle { .. })).await;
    assert!(live.sim.stream_counts().opened >= 2);
    reader.read(2).await;
    live.check(&reader).await;
    // Only who hears nothing is told; the others went over to the new connection unharmed.
    assert_eq!((reader.count(is_down), mute.count(is_down)), (0, 1));
}

/// With these settings nothing but the usual pace tells that something is wrong.
fn by_pace_alone(config: &mut BinanceConfig) {
    let streams = &mut config.streams;
    streams.silence_min = Duration::from_millis(100);
    streams.answer_within = Duration::from_millis(300);
    streams.silence_max = Duration::from_mins(10);
    streams.stream_silence = Duration::from_mins(10);
    streams.behind_record = Duration::from_mins(10);
}

#[tokio::test]
async fn a_stall_is_noticed_by_how_often_frames_usually_come() {
    let rules = |rules: &mut StreamRules| rules.ping_every = Duration::from_mins(1);
    let live = live_with(start(), rules, by_pace_alone).await;
    let mut reader = live.follow("BTCUSDT", Interval::S1).await;
    reader.read(200).await;
    live.trouble(Trouble::new(FaultKind::WsStall, 1));
    reader.read_until(is_down).await;
    reader.read_until(|event| *event == KlineEvent::Connected).await;
    reader.read(100).await;
    live.check(&reader).await;
    assert!(reader.count(is_gap) >= 1, "{:?}", reader.statuses);
}

#[tokio::test]
async fn a_stream_that_falls_mute_is_told_and_replaced_ever_more_rarely() {
    let change = |config: &mut BinanceConfig| {
        config.streams.stream_silence = Duration::from_millis(50);
        config.streams.silence_min = Duration::from_millis(25);
        config.streams.mute_wait_max = Duration::from_mins(5);
    };
    let live = live_with(start(), |_| {}, change).await;
    live.trouble(Trouble::new(FaultKind::WsMute, 1_000).on("/ws/ethusdt@kline_1m"));
    let mut mute = live.follow("ETHUSDT", Interval::M1).await;
    mute.read_until(is_down).await;
    mute.read(14).await;
    // Trying every twentieth of a second would be about thirty connections.
    let opened = live.sim.stream_counts().opened;
    assert!((2..=10).contains(&opened), "{opened}");
    live.check(&mute).await;
    live.sim.faults().clear();
    mute.read_until(|event| matches!(event, KlineEvent::Candle { kline, .. } if !kline.closed))
        .await;
}

#[tokio::test]
async fn a_halted_symbol_is_healthy_however_closely_it_is_watched() {
    let change = |config: &mut BinanceConfig| {
        config.streams.silence_min = Duration::from_millis(10);
        config.streams.stream_silence = Duration::from_millis(80);
        config.streams.silence_max = Duration::from_secs(20);
        config.streams.answer_within = Duration::from_secs(10);
    };
    let live = live_with(start(), |_| {}, change).await;
    let mut halted = live.follow("LUNAUSDT", Interval::M1).await;
    assert_eq!(*halted.next().await.unwrap(), KlineEvent::Connected);
    let asked = live.sim.requests(Served::Klines);
    let nothing = tokio::time::timeout(Duration::from_secs(2), halted.feed.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    assert_eq!(live.sim.stream_counts().opened, 1);
    let asked = live.sim.requests(Served::Klines) - asked;
    assert!((2..=100).contains(&asked), "the record was asked {asked} times");
}

#[tokio::test]
async fn a_connection_that_cannot_be_encrypted_is_tried_again() {
    let change = |config: &mut BinanceConfig| {
        config.streams.url = config.rest_url.replace("http://", "wss://");
    };
    let live = live_with(start(), |_| {}, change).await;
    let mut reader = live.follow("BTCUSDT", Interval::M1).await;
    // Candles still come, from the record.
    reader.read(3).await;
    assert_eq!(reader.count(|event| *event == KlineEvent::Connected), 0);
    assert!(reader.count(is_gap) >= 1);
    live.check(&reader).await;
}

#[tokio::test]
async fn the_exchange_may_stay_away_for_long() {
    let mut live = live().await;
    let mut reader = live.follow("BTCUSDT", Interval::M1).await;
    reader.read(2).await;
    // Long enough for any number of attempts one might give up after.
    live.leave(&mut reader, Duration::from_millis(700)).await;
    reader.read_until(is_gap).await;
    reader.read(3).await;
    live.check(&reader).await;
    assert!(reader.closed.len() >= 9, "{}", reader.closed.len());
}

#[tokio::test]
async fn a_gap_of_many_pages_does_not_drown_its_readers() {
    let mut live = live().await;
    let options = SubscribeOptions { resume_after: None, queue_max: 600 };
    let mut reader = live.follow_with("BTCUSDT", Interval::S1, options).await;
    reader.read(2).await;
    // Twenty minutes: three pages, and twice what fits into the queue.
    live.leave(&mut reader, Duration::from_secs(2)).await;
    reader.read(1_300).await;
    live.check(&reader).await;
    assert!(reader.count(is_gap) >= 3, "{:?}", reader.statuses);
}

#[tokio::test]
async fn hardly_traded_and_halted_symbols_are_quiet_but_alive() {
    let live = live().await;
    let mut quiet = live.follow("OBOLBNB", Interval::M1).await;
    let mut halted = live.follow("LUNAUSDT", Interval::M1).await;
    quiet.read(6).await;
    live.check(&quiet).await;
    assert_eq!(*halted.next().await.unwrap(), KlineEvent::Connected);
    // Silence of a symbol is no silence of the connection.
    assert_eq!(live.sim.stream_counts().opened, 1);
    let nothing = tokio::time::timeout(Duration::from_millis(300), halted.feed.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
}

#[tokio::test]
async fn an_outage_leaves_a_hole_and_nothing_else() {
    let calm = live().await;
    let days = TimeRange::new(Millis(day("2026-10-10")), Millis(day("2026-11-08")));
    let record = calm.binance.bars("BTCUSDT", Interval::M1, days).await.unwrap().bars;
    let hole = record
        .windows(2)
        .map(|pair| TimeRange::new(pair[0].open_time, pair[1].open_time))
        .filter(|span| span.length_ms() > 60_000)
        .min_by_key(|span| span.length_ms())
        .expect("a month without an outage");
    let live = live_with(Millis(hole.from.0 - 100_000), |_| {}, |_| {}).await;
    let mut reader = live.follow("BTCUSDT", Interval::M1).await;
    reader.read(6).await;
    live.check(&reader).await;
    assert!(reader.closed.iter().any(|bar| bar.open_time == hole.to));
}
