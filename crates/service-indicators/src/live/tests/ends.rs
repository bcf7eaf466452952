//! A venue that breaks off: who is told what, and who is not bothered.

use std::time::Duration;

use fault::Fault;
use serde_json::json;

use super::venue::{House, MINUTE, NOON};
use super::{subscribe, times, waiting};

#[tokio::test]
async fn an_exchange_that_is_down_for_a_while_ends_nobody() {
    let house = House::new().await;
    let mut reader = subscribe(&house, json!({})).await;
    house.close(2).await;
    let down = || Fault::unavailable("upstream_unreachable", "the exchange is down");
    house.refuse(std::iter::repeat_with(down).take(7));
    tokio::time::pause();
    house.cut().await;
    house.close(3).await;
    assert_eq!(house.followed(), 1, "it is still down");
    let mut newcomer = subscribe(&house, json!({"after": NOON - MINUTE})).await;
    assert_eq!(waiting(&mut newcomer)[2]["status"], "reconnecting");
    tokio::time::sleep(Duration::from_secs(7 * 60)).await;
    tokio::time::resume();
    assert_eq!(house.followed(), 2);
    house.close(1).await;
    let told = waiting(&mut reader);
    assert_eq!(times(&told), (0..6).map(|at| NOON + at * MINUTE).collect::<Vec<_>>());
    let said: Vec<_> = told.iter().filter_map(|it| it["status"].as_str()).collect();
    assert_eq!(said, ["reconnecting"], "once, however often it was tried");
    assert_eq!(times(&waiting(&mut newcomer)).last(), Some(&(NOON + 5 * MINUTE)));
}

/// What readers are told when a venue answers those who follow again with this.
async fn check_end(fault: Fault, word: &str, says: &str) {
    let house = House::new().await;
    let mut reader = subscribe(&house, json!({})).await;
    house.close(2).await;
    house.refuse([fault]);
    house.cut().await;
    let told = waiting(&mut reader);
    let end = told.last().unwrap();
    assert_eq!(end["status"], "ended", "{told:?}");
    assert_eq!(end["resumeAfter"].as_i64(), Some(NOON + MINUTE), "{end}");
    let (told, why) = end["reason"].as_str().unwrap().split_once(": ").unwrap();
    assert!(told == word && why.contains(says), "{end}");
    assert_eq!(house.live.channels().len(), 0);
}

#[tokio::test]
async fn an_end_says_why() {
    check_end(Fault::not_found("unknown_symbol", "gone"), "refused", "this symbol").await;
    check_end(Fault::invalid("resume_too_far", "too many"), "refused", "missed").await;
    check_end(Fault::unavailable("closing", "closing"), "closed", "server").await;
}

#[tokio::test]
async fn nobody_waits_for_an_exchange_when_nobody_reads() {
    let down = || Fault::unavailable("upstream_unreachable", "the exchange is down");
    for wait in [None, Some(Duration::from_hours(72))] {
        let refusal = || match wait {
            Some(wait) => down().retry_after(wait),
            None => down(),
        };
        let house = House::new().await;
        let reader = subscribe(&house, json!({})).await;
        house.refuse(std::iter::repeat_with(refusal).take(100_000));
        tokio::time::pause();
        house.cut().await;
        drop(reader);
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert_eq!(house.live.channels().len(), 0);
        tokio::time::resume();
    }
}
