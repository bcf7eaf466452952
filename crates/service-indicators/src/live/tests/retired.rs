//! Channels that ended because nothing read them, and the subscriptions that come after.

use serde_json::json;

use super::venue::{Fixture, MINUTE, NOON};
use super::{candles, subscribe, times, waiting};

#[tokio::test]
async fn a_channel_without_readers_ends_and_the_next_subscription_opens_another() {
    let fixture = Fixture::new().await;
    drop(subscribe(&fixture, json!({})).await);
    assert_eq!(fixture.live.channels().len(), 1);
    fixture.retire_channels().await;
    let mut reader = subscribe(&fixture, json!({})).await;
    fixture.close(1).await;
    assert_eq!(candles(&waiting(&mut reader)).len(), 1);
    assert_eq!(fixture.followed(), 2);
}

/// `seen` candles close before the reader leaves, `missed` while there is no channel, and 3 after
/// the reader has resumed.
async fn check_resume(seen: i64, missed: i64) {
    let request = json!({"indicators": {"sma": {}, "obv": {}}});
    let fixture = Fixture::new().await;
    let mut reader = subscribe(&fixture, request.clone()).await;
    fixture.close(seen).await;
    let mut received = waiting(&mut reader);
    drop(reader);
    fixture.retire_channels().await;
    fixture.close(missed).await;
    let mut resume = request.clone();
    resume["after"] = json!(times(&received).last());
    let mut reader = subscribe(&fixture, resume).await;
    assert_eq!(fixture.followed(), 2, "a new channel");
    fixture.close(3).await;
    received.extend(waiting(&mut reader));
    let all = seen + missed + 3;
    let expected: Vec<i64> = (0..all).map(|at| NOON + at * MINUTE).collect();
    assert_eq!(times(&received), expected, "{seen} seen, {missed} missed");

    let uninterrupted = Fixture::new().await;
    let mut reader = subscribe(&uninterrupted, request).await;
    uninterrupted.close(all).await;
    let (received, expected) = (candles(&received), candles(&waiting(&mut reader)));
    assert_eq!(received.len(), expected.len());
    for (received, expected) in received.iter().zip(&expected) {
        assert_eq!(received["candle"], expected["candle"]);
        assert_eq!(received["deltas"]["obv"], expected["deltas"]["obv"], "{received}");
        // The two averages were summed from different first candles.
        let [received, expected] =
            [received, expected].map(|it| it["deltas"]["sma"].as_f64().unwrap());
        assert!((received - expected).abs() < 1e-9, "{received} {expected}");
    }
}

#[tokio::test]
async fn a_reader_resumes_without_a_gap_after_its_channel_ended() {
    for (seen, missed) in [(1, 0), (3, 1), (2, 40), (1, 700)] {
        check_resume(seen, missed).await;
    }
}
