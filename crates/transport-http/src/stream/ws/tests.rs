//! Sessions over a pipe of known size and a clock of our own: what is kept for a client that does
//! not read, and what becomes of one that is not there.

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
use crate::stream::tests::fixture::{Book, pipeline};

const PIPE_BYTES: usize = 4096;

struct Room {
    client: DuplexStream,
    book: Arc<Book>,
    stop: CancellationToken,
    session: JoinSet<()>,
}

fn room(limits: WsLimits) -> Room {
    room_with(limits, PIPE_BYTES)
}

fn room_with(limits: WsLimits, pipe_bytes: usize) -> Room {
    let (pipeline, book) = pipeline(false);
    let address = addresses(&pipeline, &View::default()).remove("/alone").unwrap();
    let handler = MessageHandler {
        pipeline,
        address: Arc::new(address),
        credential: Credential::None,
        request_id: "r".into(),
    };
    let (ours, client) = duplex(pipe_bytes);
    let stop = CancellationToken::new();
    let mut session = JoinSet::new();
    session.spawn(Session::new(ours, Bytes::new(), handler, limits, stop.clone()));
    Room { client, book, stop, session }
}

/// A client's text frame; with a mask of zeros the text stands as it is.
async fn say(client: &mut DuplexStream, text: &str) {
    let length = u8::try_from(text.len()).unwrap();
    assert!(length < 126);
    client.write_all(&[0x81, 0x80 | length, 0, 0, 0, 0]).await.unwrap();
    client.write_all(text.as_bytes()).await.unwrap();
}

/// The opcode and payload of the server's next frame.
async fn hear(client: &mut DuplexStream) -> (u8, Vec<u8>) {
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
async fn a_client_that_never_reads_costs_one_buffer_and_is_dropped() {
    let limits = WsLimits::default();
    let mut room = room(limits);
    let started = Instant::now();
    say(&mut room.client, r#"{"type":"subscribe","name":"n","weight":1000}"#).await;
    room.session.join_next().await.unwrap().unwrap();
    assert_eq!(started.elapsed().as_secs(), limits.stall_max.as_secs());
    // The pipe, one buffer, and the event that filled it.
    let taken = room.book.taken.load(Ordering::Relaxed);
    assert!(taken * 1000 <= limits.write_bytes + PIPE_BYTES + 1000, "{taken} events were taken");
    room.book.until_open(0).await;
}

/// Pings are read and answered only as long as the answers are.
#[tokio::test(start_paused = true)]
async fn answers_do_not_pile_up_either() {
    let limits =
        WsLimits { messages_per_second: u32::MAX, messages_burst: u32::MAX, ..WsLimits::default() };
    let mut room = room(limits);
    let mut said = 0_usize;
    let frame = [&[0x89, 0x80 | 125, 0, 0, 0, 0], &[b'x'; 125][..]].concat();
    while room.client.write_all(&frame).await.is_ok() {
        said += frame.len();
    }
    room.session.join_next().await.unwrap().unwrap();
    assert!(said < 64 * 1024, "{said} bytes were taken");
}

/// The pipe takes all that is left at once, so nothing but the session itself can make it read.
#[tokio::test(start_paused = true)]
async fn a_client_that_reads_at_last_is_listened_to_again() {
    let mut room = room_with(WsLimits::default(), 40_000);
    say(&mut room.client, r#"{"type":"subscribe","name":"n","weight":1000,"last":57}"#).await;
    for _ in 0..60 {
        hear(&mut room.client).await;
    }
    say(&mut room.client, r#"{"type":"ping"}"#).await;
    let pong = tokio::time::timeout(Duration::from_secs(1), hear(&mut room.client)).await.unwrap();
    assert_eq!(pong.1, super::message::PONG.as_bytes());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_slowly_hears_everything_in_order() {
    let mut room = room(WsLimits { write_bytes: 2000, ..WsLimits::default() });
    say(&mut room.client, r#"{"type":"subscribe","name":"n","weight":500,"last":100}"#).await;
    assert_eq!(hear(&mut room.client).await.0, 1);
    for n in 1..=100 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let mut frame = hear(&mut room.client).await;
        if frame.0 == 9 {
            frame = hear(&mut room.client).await;
        }
        let (_, payload) = frame;
        let event: serde_json::Value = serde_json::from_slice(&payload).unwrap();
        assert_eq!(event["n"], n);
    }
    let (_, ended) = hear(&mut room.client).await;
    let ended: serde_json::Value = serde_json::from_slice(&ended).unwrap();
    assert_eq!(ended, json!({"id": "s1", "type": "status", "status": "ended"}));
    let (_, over) = hear(&mut room.client).await;
    assert_eq!(over, json!({"type": "unsubscribed", "id": "s1"}).to_string().as_bytes());
}

#[tokio::test(start_paused = true)]
async fn a_silent_client_is_asked_and_then_dropped() {
    let limits = WsLimits::default();
    let mut room = room(limits);
    let started = Instant::now();
    let seconds = || started.elapsed().as_secs();
    assert_eq!((hear(&mut room.client).await.0, seconds()), (9, 30));
    // Any frame will do as an answer.
    room.client.write_all(&[0x8A, 0x80, 0, 0, 0, 0]).await.unwrap();
    assert_eq!((hear(&mut room.client).await.0, seconds()), (9, 60));
    let closed = hear(&mut room.client).await;
    assert_eq!((close_code(&closed), seconds()), (Some(1008), 120));
    room.session.join_next().await.unwrap().unwrap();
    assert_eq!(seconds(), 120 + limits.close_patience.as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_stopping_server_does_not_wait_for_ever() {
    let limits = WsLimits::default();
    let mut room = room(limits);
    room.stop.cancel();
    assert_eq!(close_code(&hear(&mut room.client).await), Some(1001));
    let started = Instant::now();
    room.session.join_next().await.unwrap().unwrap();
    assert_eq!(started.elapsed(), limits.close_patience);
}

#[tokio::test(start_paused = true)]
async fn a_close_is_answered_with_its_code_and_ends_at_once() {
    let mut room = room(WsLimits::default());
    say(&mut room.client, r#"{"type":"subscribe","name":"quiet"}"#).await;
    hear(&mut room.client).await;
    room.client.write_all(&[0x88, 0x82, 0, 0, 0, 0, 0x0F, 0xA1]).await.unwrap();
    let started = Instant::now();
    assert_eq!(close_code(&hear(&mut room.client).await), Some(4001));
    room.session.join_next().await.unwrap().unwrap();
    assert_eq!(started.elapsed(), Duration::ZERO);
    room.book.until_open(0).await;
}

/// What follows a broken frame is not read as frames, and our close still arrives.
#[tokio::test(start_paused = true)]
async fn nonsense_is_closed_and_what_follows_ignored() {
    let mut room = room(WsLimits::default());
    room.client.write_all(&[0xFF; 3000]).await.unwrap();
    assert_eq!(close_code(&hear(&mut room.client).await), Some(1002));
    assert_eq!(room.client.read(&mut [0; 8]).await.unwrap(), 0);
    drop(room.client);
    let started = Instant::now();
    room.session.join_next().await.unwrap().unwrap();
    assert_eq!(started.elapsed(), Duration::ZERO);
}

/// Ten thousand idle subscribers cost this ten thousand times, beside their sockets and feeds.
#[test]
fn a_session_is_small() {
    assert!(size_of::<Session<tokio::net::TcpStream>>() <= 640);
}
