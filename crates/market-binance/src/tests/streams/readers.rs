//! Readers that are slow, and readers that come back.

use super::*;

#[tokio::test]
async fn a_reader_that_is_too_slow_is_cut_off_and_resumes_without_loss() {
    let live = live().await;
    let options = SubscribeOptions { resume_after: None, queue_max: 3 };
    let mut slow = live.follow_with("BTCUSDT", Interval::M1, options).await;
    let mut quick = live.follow("BTCUSDT", Interval::M1).await;
    // It is the quick reader's candles that show how far the slow one is behind.
    quick.read(8).await;
    let end = slow.end().await;
    assert_eq!(end.cause, EndCause::TooSlow);
    // What was waiting is still delivered, closed candles only: everything else made room.
    assert_eq!(slow.closed.len(), 3);
    assert_eq!(end.resume_after, slow.closed[2].open_time);
    let options =
        SubscribeOptions { resume_after: Some(end.resume_after), ..SubscribeOptions::default() };
    let mut again = live.follow_with("BTCUSDT", Interval::M1, options).await;
    again.read(8).await;
    slow.closed.append(&mut again.closed);
    live.check(&slow).await;
    quick.read(3).await;
    live.check(&quick).await;
}

#[tokio::test]
async fn a_reader_without_any_candle_resumes_where_it_began() {
    let live = live().await;
    let options = SubscribeOptions { resume_after: None, queue_max: 1 };
    let mut slow = live.follow_with("BTCUSDT", Interval::M1, options).await;
    let mut quick = live.follow("BTCUSDT", Interval::M1).await;
    quick.read(4).await;
    let first = quick.closed[0].open_time;
    let end = slow.end().await;
    assert_eq!(end.resume_after, first);
    let options =
        SubscribeOptions { resume_after: Some(Millis(first.0 - 1)), ..SubscribeOptions::default() };
    let mut again = live.follow_with("BTCUSDT", Interval::M1, options).await;
    again.read(5).await;
    assert_eq!(again.closed[0].open_time, first);
    live.check(&again).await;
}

#[tokio::test]
async fn what_was_missed_comes_first_over_as_many_pages_as_it_takes() {
    let live = live().await;
    let after = Millis(start().0 - 30_500 - 1_201 * 60_000);
    let options = SubscribeOptions { resume_after: Some(after), ..SubscribeOptions::default() };
    let mut reader = live.follow_with("BTCUSDT", Interval::M1, options).await;
    reader.read(1_210).await;
    assert_eq!(reader.closed[0].open_time, Millis(after.0 + 60_000));
    live.check(&reader).await;
}

#[tokio::test]
async fn a_replay_waits_for_a_record_that_lags_or_fails() {
    let live = live().await;
    live.binance.listing().await.unwrap();
    let after = Millis(start().0 - 30_500 - 5 * 60_000);
    let options = SubscribeOptions { resume_after: Some(after), ..SubscribeOptions::default() };
    live.trouble(Trouble::new(FaultKind::RestLag, 4).delay_ms(120_000));
    live.trouble(Trouble::new(FaultKind::Status500, 6).on(Served::Klines.path()));
    let mut reader = live.follow_with("BTCUSDT", Interval::M1, options).await;
    reader.read(10).await;
    assert_eq!(reader.closed[0].open_time, Millis(after.0 + 60_000));
    live.check(&reader).await;
}

#[tokio::test]
async fn a_reader_who_is_ahead_gets_nothing_twice() {
    let live = live().await;
    let ahead = Interval::M1.next_open(start());
    let options = SubscribeOptions { resume_after: Some(ahead), ..SubscribeOptions::default() };
    let mut reader = live.follow_with("BTCUSDT", Interval::M1, options).await;
    reader.read(2).await;
    assert_eq!(reader.closed[0].open_time, Interval::M1.next_open(ahead));
}

#[tokio::test]
async fn too_old_a_resume_point_is_refused() {
    let live = live().await;
    for after in [Millis(0), Millis(-1), Millis(i64::MIN), Millis(start().0 - 200 * DAY_MS)] {
        let options = SubscribeOptions { resume_after: Some(after), ..SubscribeOptions::default() };
        let refused = live.binance.subscribe("BTCUSDT", Interval::M1, options).await;
        assert_eq!(refused.err().unwrap().code(), "resume_too_far", "{after:?}");
    }
}

#[tokio::test]
async fn a_resume_point_beyond_all_time_is_one_that_is_ahead() {
    let live = live().await;
    for interval in Interval::ALL {
        for after in [i64::MAX, i64::MAX - 1, i64::MAX - 40 * DAY_MS] {
            let options = SubscribeOptions {
                resume_after: Some(Millis(after)),
                ..SubscribeOptions::default()
            };
            let mut reader = live.follow_with("BTCUSDT", interval, options).await;
            let event = reader.next().await.unwrap();
            assert_eq!(*event, KlineEvent::Connected, "{interval} after {after}");
        }
    }
}

#[tokio::test]
async fn what_was_missed_of_a_symbol_that_stopped_has_an_end() {
    let live = live().await;
    let after = Millis(day("2022-05-09"));
    let options = SubscribeOptions { resume_after: Some(after), ..SubscribeOptions::default() };
    let mut reader = live.follow_with("LUNAUSDT", Interval::D1, options).await;
    reader.read_until(|event| *event == KlineEvent::Connected).await;
    let days: Vec<i64> = (10..=13).map(|date| day(&format!("2022-05-{date}")) / 1_000).collect();
    assert_eq!(opens(&reader.closed), days);
}

#[tokio::test]
async fn a_reader_who_waits_for_what_was_missed_is_told_when_the_house_closes() {
    let live = live().await;
    live.binance.listing().await.unwrap();
    live.trouble(Trouble::new(FaultKind::Status503, 1_000_000).on(Served::Klines.path()));
    let after = Millis(start().0 - 30_500 - 5 * 60_000);
    let options = SubscribeOptions { resume_after: Some(after), ..SubscribeOptions::default() };
    let mut reader = live.follow_with("BTCUSDT", Interval::M1, options).await;
    assert!(futures_util::poll!(Box::pin(reader.feed.next())).is_pending());
    let (end, ()) = tokio::join!(reader.end(), live.binance.drain());
    assert_eq!(end, FeedEnd { cause: EndCause::Closed, resume_after: after });
}
