//! Subscribers that share a series, are slow, or resume.

use super::*;

#[tokio::test(start_paused = true)]
async fn subscribers_of_a_series_share_one_poller() {
    let fixture = live().await;
    let mut readers = Vec::new();
    for _ in 0..20 {
        readers.push(fixture.follow("SBER", Interval::M1).await);
        readers.push(fixture.follow("sber", Interval::M5).await);
    }
    assert_eq!(fixture.series(), 2);
    for reader in &mut readers {
        reader.read_until(is_forming).await;
    }
    fixture.clock.advance(Duration::from_mins(5));
    for reader in &mut readers {
        reader.read(1).await;
    }
    // An event is built once: all subscribers hold the same one.
    fixture.clock.advance(Duration::from_mins(1));
    let minute = moscow("2026-11-11T12:10:00");
    let is_it = |event: &KlineEvent| {
        matches!(event, KlineEvent::Candle { kline, .. }
            if kline.closed && kline.bar.open_time == minute)
    };
    let (one, two) = (readers[0].read_until(is_it).await, readers[2].read_until(is_it).await);
    assert!(Arc::ptr_eq(&one, &two));
    // A later subscriber gets the forming candle at once.
    let mut late = fixture.follow("SBER", Interval::M1).await;
    assert_eq!(*late.next().await.unwrap(), KlineEvent::Connected);
    assert!(is_forming(&late.next().await.unwrap()));
}

#[tokio::test(start_paused = true)]
async fn polling_stops_without_subscribers() {
    let fixture = live().await;
    let mut reader = fixture.follow("SBER", Interval::M1).await;
    reader.read_until(is_forming).await;
    drop(reader);
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(fixture.series(), 0);
    let requests_before = fixture.request_count("candles");
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(fixture.request_count("candles"), requests_before);
    // The series starts again as if for the first time.
    let mut again = fixture.follow("SBER", Interval::M1).await;
    again.read_until(is_forming).await;
    assert_eq!(again.statuses, [KlineEvent::Connected]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_subscriber_is_ended_and_resumes_without_loss() {
    let fixture = live().await;
    let options = SubscribeOptions { resume_after: None, queue_max: 3 };
    let mut slow = fixture.follow_with("SBER", Interval::M1, options).await;
    let mut quick = fixture.follow("SBER", Interval::M1).await;
    quick.read_until(is_forming).await;
    for _ in 0..8 {
        fixture.clock.advance(Duration::from_mins(1));
        quick.read(1).await;
    }
    let end = slow.end().await;
    assert_eq!(end.cause, EndCause::TooSlow);
    assert_eq!(slow.closed.len(), 3);
    assert_eq!(end.resume_after, slow.closed[2].open_time);
    let options =
        SubscribeOptions { resume_after: Some(end.resume_after), ..SubscribeOptions::default() };
    let mut again = fixture.follow_with("SBER", Interval::M1, options).await;
    again.read(5).await;
    slow.closed.append(&mut again.closed);
    assert_eq!(slow.closed, quick.closed);
    fixture.check(&slow).await;
}

#[tokio::test(start_paused = true)]
async fn missed_candles_come_first_over_several_pages() {
    let fixture = live().await;
    let after = moscow("2026-11-09T10:00:00");
    let options = SubscribeOptions { resume_after: Some(after), ..SubscribeOptions::default() };
    // The first one starts the series, the second one continues it.
    let mut first = fixture.follow_with("SBER", Interval::M1, options).await;
    first.read_until(is_forming).await;
    let mut second = fixture.follow_with("SBER", Interval::M1, options).await;
    second.read_until(is_forming).await;
    assert!(first.closed.len() > 1_500, "{}", first.closed.len());
    assert_eq!(first.closed, second.closed);
    assert_eq!(first.closed[0].open_time, moscow("2026-11-09T10:01:00"));
    assert_eq!(first.count(is_gap), 0, "a series that was never polled before reports a gap");
    fixture.check(&first).await;
    // A subscriber without a resume point begins with the forming candle.
    let mut third = fixture.follow("SBER", Interval::M1).await;
    let event = third.read_until(|event| matches!(event, KlineEvent::Candle { .. })).await;
    assert!(is_forming(&event), "{event:?}");
}

#[tokio::test(start_paused = true)]
async fn a_replay_waits_for_an_exchange_that_fails() {
    let fixture = live().await;
    let mut first = fixture.follow("SBER", Interval::M1).await;
    first.read_until(is_forming).await;
    let options = SubscribeOptions {
        resume_after: Some(moscow("2026-11-11T11:00:00")),
        ..SubscribeOptions::default()
    };
    fixture.inject(InjectedFault::new(FaultKind::ErrorRows, 9).on(CANDLES));
    let mut reader = fixture.follow_with("SBER", Interval::M1, options).await;
    // After this number of failures the exchange is not polled for a while.
    first.read_until(is_down).await;
    fixture.clock.advance(Duration::from_mins(1));
    reader.read(64).await;
    assert_eq!(reader.closed[0].open_time, moscow("2026-11-11T11:01:00"));
    fixture.check(&reader).await;
}

/// A candle that was published stays valid, even if later responses lack it.
#[tokio::test(start_paused = true)]
async fn an_empty_response_does_not_end_a_replay() {
    let fixture = live().await;
    let mut first = fixture.follow("SBER", Interval::M1).await;
    first.read_until(is_forming).await;
    fixture.clock.advance(Duration::from_mins(6));
    first.read(6).await;
    fixture.inject(InjectedFault::new(FaultKind::EmptyBlocks, 1_000).on(CANDLES));
    let options = SubscribeOptions {
        resume_after: Some(first.closed[0].open_time),
        ..SubscribeOptions::default()
    };
    let mut second = fixture.follow_with("SBER", Interval::M1, options).await;
    let requests_before = fixture.request_count("candles");
    while fixture.request_count("candles") < requests_before + 16 {
        second.drain().await;
    }
    fixture.sim.faults().clear();
    second.read(6).await;
    assert_eq!(second.closed[0], first.closed[1]);
    fixture.check(&second).await;
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_is_ahead_gets_nothing_twice() {
    let fixture = live().await;
    let options = SubscribeOptions {
        resume_after: Some(moscow("2026-11-11T12:06:00")),
        ..SubscribeOptions::default()
    };
    let mut reader = fixture.follow_with("SBER", Interval::M1, options).await;
    fixture.clock.advance(Duration::from_mins(4));
    reader.read(2).await;
    assert_eq!(reader.closed[0].open_time, moscow("2026-11-11T12:07:00"));
}

#[tokio::test(start_paused = true)]
async fn a_resume_point_in_the_far_future_is_accepted() {
    let fixture = live().await;
    for interval in Interval::ALL.into_iter().filter(|interval| *interval != Interval::S1) {
        for after in [i64::MAX, i64::MAX - 1, i64::MAX - 40 * clock::DAY_MS] {
            let options = SubscribeOptions {
                resume_after: Some(Millis(after)),
                ..SubscribeOptions::default()
            };
            let mut reader = fixture.follow_with("SBER", interval, options).await;
            let event = reader.next().await.unwrap();
            assert_eq!(*event, KlineEvent::Connected, "{interval} after {after}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn series_and_subscribers_are_limited() {
    let change = |config: &mut MoexConfig| {
        config.live.series_max = 2;
        config.live.subscribers_max = 3;
    };
    let fixture = live_at(NOON, change).await;
    let _one = fixture.follow("SBER", Interval::M1).await;
    let two = fixture.follow("GAZP", Interval::M1).await;
    let full = fixture.moex.subscribe("LKOH", Interval::M1, SubscribeOptions::default()).await;
    assert_eq!(full.err().unwrap().code(), "too_many_streams");
    let _three = fixture.follow("GAZP", Interval::M1).await;
    let full = fixture.moex.subscribe("GAZP", Interval::M1, SubscribeOptions::default()).await;
    assert_eq!(full.err().unwrap().code(), "too_many_streams");
    drop(two);
    fixture.follow("GAZP", Interval::M1).await.read_until(is_forming).await;
}

#[tokio::test(start_paused = true)]
async fn subscribers_get_an_end_event_at_shutdown() {
    let fixture = live().await;
    let mut reader = fixture.follow("SBER", Interval::M1).await;
    reader.read_until(is_forming).await;
    fixture.clock.advance(Duration::from_mins(2));
    reader.read(2).await;
    fixture.moex.drain().await;
    let end = reader.end().await;
    assert_eq!(end.cause, EndCause::Closed);
    assert_eq!(end.resume_after, reader.closed[1].open_time);
    let fault = fixture
        .moex
        .subscribe("SBER", Interval::M1, SubscribeOptions::default())
        .await
        .err()
        .unwrap();
    assert_eq!(fault.code(), "closing");
}
