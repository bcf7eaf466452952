//! A venue that ends its feeds: the statuses that readers receive, and the retries.

use std::time::Duration;

use fault::Fault;
use serde_json::json;

use super::venue::{Fixture, MINUTE, NOON};
use super::{subscribe, times, waiting};

#[tokio::test]
async fn an_exchange_outage_ends_no_stream() {
    let fixture = Fixture::new().await;
    let mut reader = subscribe(&fixture, json!({})).await;
    fixture.close(2).await;
    let down = || Fault::unavailable("upstream_unreachable", "the exchange is down");
    fixture.refuse(std::iter::repeat_with(down).take(7));
    tokio::time::pause();
    fixture.end_feeds().await;
    fixture.close(3).await;
    assert_eq!(fixture.followed(), 1, "it is still down");
    let mut newcomer = subscribe(&fixture, json!({"after": NOON - MINUTE})).await;
    assert_eq!(waiting(&mut newcomer)[2]["status"], "reconnecting");
    tokio::time::sleep(Duration::from_secs(7 * 60)).await;
    tokio::time::resume();
    assert_eq!(fixture.followed(), 2);
    fixture.close(1).await;
    let received = waiting(&mut reader);
    assert_eq!(times(&received), (0..6).map(|at| NOON + at * MINUTE).collect::<Vec<_>>());
    let statuses: Vec<_> = received.iter().filter_map(|it| it["status"].as_str()).collect();
    assert_eq!(statuses, ["reconnecting"], "once, however often it was tried");
    assert_eq!(times(&waiting(&mut newcomer)).last(), Some(&(NOON + 5 * MINUTE)));
}

/// Checks the end status of a reader after the venue refuses the resubscription with `fault`.
async fn check_end(fault: Fault, word: &str, says: &str) {
    let fixture = Fixture::new().await;
    let mut reader = subscribe(&fixture, json!({})).await;
    fixture.close(2).await;
    fixture.refuse([fault]);
    fixture.end_feeds().await;
    let received = waiting(&mut reader);
    let end = received.last().unwrap();
    assert_eq!(end["status"], "ended", "{received:?}");
    assert_eq!(end["resumeAfter"].as_i64(), Some(NOON + MINUTE), "{end}");
    let (code, why) = end["reason"].as_str().unwrap().split_once(": ").unwrap();
    assert!(code == word && why.contains(says), "{end}");
    assert_eq!(fixture.live.channels().len(), 0);
}

#[tokio::test]
async fn the_end_status_states_its_cause() {
    check_end(Fault::not_found("unknown_symbol", "gone"), "refused", "this symbol").await;
    check_end(Fault::invalid("resume_too_far", "too many"), "refused", "missed").await;
    check_end(Fault::unavailable("closing", "closing"), "closed", "server").await;
}

#[tokio::test]
async fn a_channel_without_readers_stops_retrying() {
    let down = || Fault::unavailable("upstream_unreachable", "the exchange is down");
    for wait in [None, Some(Duration::from_hours(72))] {
        let refusal = || match wait {
            Some(wait) => down().retry_after(wait),
            None => down(),
        };
        let fixture = Fixture::new().await;
        let reader = subscribe(&fixture, json!({})).await;
        fixture.refuse(std::iter::repeat_with(refusal).take(100_000));
        tokio::time::pause();
        fixture.end_feeds().await;
        drop(reader);
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert_eq!(fixture.live.channels().len(), 0);
        tokio::time::resume();
    }
}
