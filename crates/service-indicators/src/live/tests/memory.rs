//! The memory of all streams together: readers that do not read end with their resume point, and
//! nothing is lost.

use std::net::IpAddr;
use std::time::Duration;

use fault::Fault;
use serde_json::json;
use tokio::time::Instant;

use super::super::{Reader, StreamLimits};
use super::venue::{Fixture, MINUTE, NOON};
use super::{args, subscribe, times, waiting};

const MIB: usize = 1 << 20;

fn minutes(range: std::ops::Range<i64>) -> Vec<i64> {
    range.map(|at| NOON + at * MINUTE).collect()
}

#[tokio::test]
async fn without_memory_a_slow_reader_ends_and_resumes_without_a_gap() {
    let fixture = Fixture::new().await;
    let mut slow = subscribe(&fixture, json!({})).await;
    let mut quick = subscribe(&fixture, json!({})).await;
    fixture.close(3).await;
    assert_eq!(times(&waiting(&mut slow)), minutes(0..3));
    fixture.close(40).await;
    let mut read = times(&waiting(&mut quick));
    let others = fixture.live.memory.charge(fixture.live.limits.memory_max);
    for _ in 0..80 {
        fixture.close(1).await;
        read.extend(times(&waiting(&mut quick)));
    }
    assert_eq!(read, minutes(0..123), "a reader that keeps up misses nothing");
    let received = waiting(&mut slow);
    assert_eq!(received.len(), 1, "{received:?}");
    assert_eq!(received[0]["status"], "ended");
    assert!(received[0]["reason"].as_str().unwrap().starts_with("too_slow: "), "{received:?}");
    let resume_after = &received[0]["resumeAfter"];
    assert_eq!(resume_after.as_i64(), Some(NOON + 2 * MINUTE), "the last candle that it read");
    drop(others);
    let mut resumed = subscribe(&fixture, json!({"after": resume_after})).await;
    fixture.close(2).await;
    assert_eq!(times(&waiting(&mut resumed)), minutes(3..125));
    drop((slow, quick, resumed));
    fixture.retire_channels().await;
    assert_eq!(fixture.live.memory.held(), 0);
}

#[tokio::test]
async fn without_memory_a_forming_candle_replaces_older_ones() {
    let fixture = Fixture::new().await;
    let mut slow = subscribe(&fixture, json!({"closedOnly": false})).await;
    fixture.close(3).await;
    fixture.update_forming(200).await;
    let others = fixture.live.memory.charge(fixture.live.limits.memory_max);
    fixture.update_forming(1).await;
    fixture.close(1).await;
    drop(others);
    let received = waiting(&mut slow);
    let closed: Vec<_> = received.iter().filter(|it| it["candle"]["closed"] == true).collect();
    assert_eq!((closed.len(), received.len()), (4, 5), "{received:?}");
}

async fn resume(fixture: &Fixture, client: [u8; 4]) -> Result<Reader, Fault> {
    let mut request = args(fixture, json!({"after": NOON - 4_000 * MINUTE}));
    request.client = Some(IpAddr::from(client));
    let deadline = Instant::now() + Duration::from_secs(3_600);
    fixture.live.subscribe(&request, deadline).await
}

#[tokio::test]
async fn missed_candles_are_within_the_share_of_their_client() {
    let memory_max = 16 * MIB;
    let fixture = Fixture::with(StreamLimits { memory_max, ..StreamLimits::default() }).await;
    let mut readers = Vec::new();
    let refused = loop {
        match resume(&fixture, [10, 0, 0, 1]).await {
            Ok(reader) => readers.push(reader),
            Err(fault) => break fault,
        }
        assert!(fixture.live.memory.held() <= memory_max / 2, "{}", readers.len());
    };
    assert_eq!((refused.code(), refused.retry_wait().is_some()), ("too_many_streams", true));
    // A candle takes 192 bytes.
    assert!((8..16).contains(&readers.len()), "{}", readers.len());
    let mut other = Vec::new();
    for client in 2..8 {
        // Two clients can have one counter by chance.
        other.extend(resume(&fixture, [10, 0, 0, client]).await.ok());
    }
    assert!(!other.is_empty(), "one client takes half at most");
    for reader in readers.iter_mut().chain(&mut other) {
        assert_eq!(times(&waiting(reader)).len(), 3_999);
    }
    assert_eq!(fixture.live.memory.held(), 0, "what was read takes no memory");
    assert!(resume(&fixture, [10, 0, 0, 1]).await.is_ok());
}
