//! Slow subscribers and subscribers that resume.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_slow_subscriber_is_ended_and_resumes_without_loss() {
    let fixture = live_fixture().await;
    let options = SubscribeOptions { resume_after: None, queue_max: 3 };
    let mut slow = fixture.follow_with("BTCUSDT", Interval::M1, options).await;
    let mut quick = fixture.follow("BTCUSDT", Interval::M1).await;
    // It is the quick reader's candles that show options far the slow one is behind.
    quick.read(8).await;
    let end = slow.end().await;
    assert_eq!(end.cause, EndCause::TooSlow);
    // The queue is still delivered; forming candles made room for closed ones.
    assert_eq!(slow.closed.len(), 3);
    assert_eq!(end.resume_after, slow.closed[2].open_time);
    let options =
        SubscribeOptions { resume_after: Some(end.resume_after), ..SubscribeOptions::default() };
    let mut again = fixture.follow_with("BTCUSDT", Interval::M1, options).await;
    again.read(8).await;
    slow.closed.append(&mut again.closed);
    fixture.check(&slow).await;
    quick.read(3).await;
    fixture.check(&quick).await;
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_got_one_candle_resumes_after_it() {
    let fixture = live_fixture().await;
    let options = SubscribeOptions { resume_after: None, queue_max: 1 };
    let mut slow = fixture.follow_with("BTCUSDT", Interval::M1, options).await;
    let mut quick = fixture.follow("BTCUSDT", Interval::M1).await;
    quick.read(4).await;
    let first = quick.closed[0].open_time;
    let end = slow.end().await;
    assert_eq!(end.resume_after, first);
    let options =
        SubscribeOptions { resume_after: Some(Millis(first.0 - 1)), ..SubscribeOptions::default() };
    let mut again = fixture.follow_with("BTCUSDT", Interval::M1, options).await;
    again.read(5).await;
    assert_eq!(again.closed[0].open_time, first);
    fixture.check(&again).await;
}

#[tokio::test(start_paused = true)]
async fn missed_candles_come_first_over_several_pages() {
    let fixture = live_fixture().await;
    let after = Millis(start().0 - 30_500 - 1_201 * 60_000);
    let options = SubscribeOptions { resume_after: Some(after), ..SubscribeOptions::default() };
    let mut reader = fixture.follow_with("BTCUSDT", Interval::M1, options).await;
    reader.read(1_210).await;
    assert_eq!(reader.closed[0].open_time, Millis(after.0 + 60_000));
    fixture.check(&reader).await;
}

#[tokio::test(start_paused = true)]
async fn a_replay_waits_for_a_lagging_or_failing_history() {
    let fixture = live_fixture().await;
    fixture.binance.listing().await.unwrap();
    let after = Millis(start().0 - 30_500 - 5 * 60_000);
    let options = SubscribeOptions { resume_after: Some(after), ..SubscribeOptions::default() };
    fixture.inject(InjectedFault::new(FaultKind::RestLag, 4).delay_ms(120_000));
    fixture.inject(InjectedFault::new(FaultKind::Status500, 6).on(Endpoint::Klines.path()));
    let mut reader = fixture.follow_with("BTCUSDT", Interval::M1, options).await;
    reader.read(10).await;
    assert_eq!(reader.closed[0].open_time, Millis(after.0 + 60_000));
    fixture.check(&reader).await;
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_is_ahead_gets_nothing_twice() {
    let fixture = live_fixture().await;
    let ahead = Interval::M1.next_open(start());
    let options = SubscribeOptions { resume_after: Some(ahead), ..SubscribeOptions::default() };
    let mut reader = fixture.follow_with("BTCUSDT", Interval::M1, options).await;
    reader.read(2).await;
    assert_eq!(reader.closed[0].open_time, Interval::M1.next_open(ahead));
}

#[tokio::test(start_paused = true)]
async fn a_resume_point_that_is_too_old_is_refused() {
    let fixture = live_fixture().await;
    for after in [Millis(0), Millis(-1), Millis(i64::MIN), Millis(start().0 - 200 * DAY_MS)] {
        let options = SubscribeOptions { resume_after: Some(after), ..SubscribeOptions::default() };
        let refused = fixture.binance.subscribe("BTCUSDT", Interval::M1, options).await;
        assert_eq!(refused.err().unwrap().code(), "resume_too_far", "{after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_resume_point_in_the_far_future_is_accepted() {
    let fixture = live_fixture().await;
    for interval in Interval::ALL {
        for after in [i64::MAX, i64::MAX - 1, i64::MAX - 40 * DAY_MS] {
            let options = SubscribeOptions {
                resume_after: Some(Millis(after)),
                ..SubscribeOptions::default()
            };
            let mut reader = fixture.follow_with("BTCUSDT", interval, options).await;
            let event = reader.next().await.unwrap();
            assert_eq!(*event, KlineEvent::Connected, "{interval} after {after}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_replay_of_a_halted_symbol_ends() {
    let fixture = live_fixture().await;
    let after = Millis(day("2022-05-09"));
    let options = SubscribeOptions { resume_after: Some(after), ..SubscribeOptions::default() };
    let mut reader = fixture.follow_with("LUNAUSDT", Interval::D1, options).await;
    reader.read_until(|event| *event == KlineEvent::Connected).await;
    let days: Vec<i64> = (10..=13).map(|date| day(&format!("2022-05-{date}")) / 1_000).collect();
    assert_eq!(opens(&reader.closed), days);
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_waits_for_a_replay_gets_an_end_event_at_shutdown() {
    let fixture = live_fixture().await;
    fixture.binance.listing().await.unwrap();
    fixture.inject(InjectedFault::new(FaultKind::Status503, 1_000_000).on(Endpoint::Klines.path()));
    let after = Millis(start().0 - 30_500 - 5 * 60_000);
    let options = SubscribeOptions { resume_after: Some(after), ..SubscribeOptions::default() };
    let mut reader = fixture.follow_with("BTCUSDT", Interval::M1, options).await;
    assert!(futures_util::poll!(Box::pin(reader.feed.next())).is_pending());
    let (end, ()) = tokio::join!(reader.end(), fixture.binance.drain());
    assert_eq!(end, FeedEnd { cause: EndCause::Closed, resume_after: after });
}
