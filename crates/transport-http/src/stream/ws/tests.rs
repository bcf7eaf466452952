//! Sessions over a pipe of known size with paused time: a client that does not read, and one that
//! is gone.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use contract::{Credential, View};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::message_handler::MessageHandler;
use super::session::Session;
use super::{WsLimits, addresses};
use crate::stream::tests::fixture::{CallLog, pipeline};

const PIPE_BYTES: usize = 4096;

struct TestSession {
    client: DuplexStream,
    log: Arc<CallLog>,
    stop: CancellationToken,
    session: JoinSet<()>,
}

fn session(limits: WsLimits) -> TestSession {
    session_with(limits, PIPE_BYTES)
}

fn session_with(limits: WsLimits, pipe_bytes: usize) -> TestSession {
    let (pipeline, log) = pipeline(false);
    let address = addresses(&pipeline, &View::default()).remove("/alone").unwrap();
    let credential = pipeline.connection_credential(Credential::None, &address.service.name);
    let handler = MessageHandler {
        pipeline,
        address: Arc::new(address),
        credential,
        request_id: "r".into(),
        client: None,
    };
    let (ours, client) = duplex(pipe_bytes);
    let stop = CancellationToken::new();
    let mut session = JoinSet::new();
    session.spawn(Session::new(ours, Bytes::new(), handler, limits, stop.clone()));
    TestSession { client, log, stop, session }
}

/// Sends a text frame with a mask of zeros.
async fn send(client: &mut DuplexStream, text: &str) {
    let length = u8::try_from(text.len()).unwrap();
    assert!(length < 126);
    client.write_all(&[0x81, 0x80 | length, 0, 0, 0, 0]).await.unwrap();
    client.write_all(text.as_bytes()).await.unwrap();
}

/// The opcode and payload of the server's next frame.
async fn receive(client: &mut DuplexStream) -> (u8, Vec<u8>) {
    let mut head = [0; 2];
    client.read_exact(&mut head).await.unwrap();
    let length = match head[1] {
        126 => client.read_u16().await.unwrap().into(),
        127 => client.read_u64().await.unwrap() as usize,
        short => usize::from(short),
    };
    let mut payload = vec![0; length];
    client.read_exact(&mut payload).await.unwrap();
    (head[0] & 0x0F, payload)
}

fn close_code(frame: &(u8, Vec<u8>)) -> Option<u16> {
    (frame.0 == 8).then(|| u16::from_be_bytes([frame.1[0], frame.1[1]]))
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_costs_one_buffer_and_is_disconnected() {
    let limits = WsLimits::default();
    let mut test = session(limits);
    let started = Instant::now();
    send(&mut test.client, r#"{"type":"subscribe","name":"n","weight":1000}"#).await;
    test.session.join_next().await.unwrap().unwrap();
    assert_eq!(started.elapsed().as_secs(), limits.stall_max.as_secs());
    // The pipe, one buffer, and the event that filled it.
    let taken = test.log.taken.load(Ordering::Relaxed);
    assert!(taken * 1000 <= limits.write_bytes + PIPE_BYTES + 1000, "{taken} events were taken");
    test.log.until_open(0).await;
}

/// Pings are read only while the client reads the answers.
#[tokio::test(start_paused = true)]
async fn answers_do_not_pile_up_for_a_client_that_does_not_read() {
    let limits =
        WsLimits { messages_per_second: u32::MAX, messages_burst: u32::MAX, ..WsLimits::default() };
    let mut test = session(limits);
    let mut sent = 0_usize;
    let frame = [&[0x89, 0x80 | 125, 0, 0, 0, 0], &[b'x'; 125][..]].concat();
    while test.client.write_all(&frame).await.is_ok() {
        sent += frame.len();
    }
    test.session.join_next().await.unwrap().unwrap();
    assert!(sent < 64 * 1024, "{sent} bytes were taken");
}

/// The pipe takes all held bytes at once, so only the session itself can wake its reading.
#[tokio::test(start_paused = true)]
async fn a_client_is_read_from_again_once_it_reads() {
    let mut test = session_with(WsLimits::default(), 40_000);
    send(&mut test.client, r#"{"type":"subscribe","name":"n","weight":1000,"last":57}"#).await;
    for _ in 0..60 {
        receive(&mut test.client).await;
    }
    send(&mut test.client, r#"{"type":"ping"}"#).await;
    let pong =
        tokio::time::timeout(Duration::from_secs(1), receive(&mut test.client)).await.unwrap();
    assert_eq!(pong.1, super::message::PONG.as_bytes());
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_gets_every_event_in_order() {
    let mut test = session(WsLimits { write_bytes: 2000, ..WsLimits::default() });
    send(&mut test.client, r#"{"type":"subscribe","name":"n","weight":500,"last":100}"#).await;
    assert_eq!(receive(&mut test.client).await.0, 1);
    for n in 1..=100 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let mut frame = receive(&mut test.client).await;
        if frame.0 == 9 {
            frame = receive(&mut test.client).await;
        }
        let (_, payload) = frame;
        let event: serde_json::Value = serde_json::from_slice(&payload).unwrap();
        assert_eq!(event["n"], n);
    }
    let (_, ended) = receive(&mut test.client).await;
    let ended: serde_json::Value = serde_json::from_slice(&ended).unwrap();
    assert_eq!(ended, json!({"id": "s1", "type": "status", "status": "ended"}));
    let (_, ended_message) = receive(&mut test.client).await;
    assert_eq!(ended_message, json!({"type": "unsubscribed", "id": "s1"}).to_string().as_bytes());
}

#[tokio::test(start_paused = true)]
async fn a_silent_client_is_pinged_and_then_disconnected() {
    let limits = WsLimits::default();
    let mut test = session(limits);
    let started = Instant::now();
    let seconds = || started.elapsed().as_secs();
    assert_eq!((receive(&mut test.client).await.0, seconds()), (9, 30));
    // Any frame counts as an answer.
    test.client.write_all(&[0x8A, 0x80, 0, 0, 0, 0]).await.unwrap();
    assert_eq!((receive(&mut test.client).await.0, seconds()), (9, 60));
    let closed = receive(&mut test.client).await;
    assert_eq!((close_code(&closed), seconds()), (Some(1008), 120));
    test.session.join_next().await.unwrap().unwrap();
    assert_eq!(seconds(), 120 + limits.close_timeout.as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_pongs_or_of_empty_fragments_is_disconnected() {
    const PONG: [u8; 6] = [0x8A, 0x80, 0, 0, 0, 0];
    const EMPTY_FRAGMENT: [u8; 6] = [0x00, 0x80, 0, 0, 0, 0];
    for frame in [PONG, EMPTY_FRAGMENT] {
        let mut test = session(WsLimits::default());
        // The first fragment of a message, which the empty ones continue.
        test.client.write_all(&[0x01, 0x81, 0, 0, 0, 0, b'{']).await.unwrap();
        // The session may close before it has read all of them.
        drop(test.client.write_all(&frame.repeat(2_000)).await);
        assert_eq!(close_code(&receive(&mut test.client).await), Some(1008), "{frame:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopping_server_waits_for_the_close_timeout_only() {
    let limits = WsLimits::default();
    let mut test = session(limits);
    test.stop.cancel();
    assert_eq!(close_code(&receive(&mut test.client).await), Some(1001));
    let started = Instant::now();
    test.session.join_next().await.unwrap().unwrap();
    assert_eq!(started.elapsed(), limits.close_timeout);
}

#[tokio::test(start_paused = true)]
async fn a_close_is_answered_with_its_code_and_ends_at_once() {
    let mut test = session(WsLimits::default());
    send(&mut test.client, r#"{"type":"subscribe","name":"quiet"}"#).await;
    receive(&mut test.client).await;
    test.client.write_all(&[0x88, 0x82, 0, 0, 0, 0, 0x0F, 0xA1]).await.unwrap();
    let started = Instant::now();
    assert_eq!(close_code(&receive(&mut test.client).await), Some(4001));
    test.session.join_next().await.unwrap().unwrap();
    assert_eq!(started.elapsed(), Duration::ZERO);
    test.log.until_open(0).await;
}

/// Bytes after a broken frame are ignored, and the close frame still arrives.
#[tokio::test(start_paused = true)]
async fn bytes_after_a_protocol_error_are_ignored() {
    let mut test = session(WsLimits::default());
    test.client.write_all(&[0xFF; 3000]).await.unwrap();
    assert_eq!(close_code(&receive(&mut test.client).await), Some(1002));
    assert_eq!(test.client.read(&mut [0; 8]).await.unwrap(), 0);
    drop(test.client);
    let started = Instant::now();
    test.session.join_next().await.unwrap().unwrap();
    assert_eq!(started.elapsed(), Duration::ZERO);
}

/// Every idle subscriber holds one, beside its socket and its subscriptions.
#[test]
fn a_session_is_at_most_640_bytes() {
    assert!(size_of::<Session<tokio::net::TcpStream>>() <= 640);
}
