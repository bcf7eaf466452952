//! Live streams that are opened and not read: what they hold is within the stream memory, and a
//! client that reads misses nothing.

use std::time::Duration;

use clock::{Clock as _, SystemClock};
use reqwest::Response;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::process::{Folder, Server, http};

const SETTINGS: [(&str, &str); 2] =
    [("STOA_STREAM_MEMORY_MAX", "16777216"), ("STOA_STREAMS_PER_CLIENT_MINUTE", "0")];
/// Candles of a second that each stream asks for again; 5,000 are allowed.
const MISSED: i64 = 4_800;

fn seconds_ago(seconds: i64) -> i64 {
    (SystemClock.now().0 / 1_000 - seconds) * 1_000
}

/// The events are large, so that the buffers of a socket do not hold all of them.
const PATH: &str = "/stream/klines?symbol=BTCUSDT&interval=1s&indicators=macd,rsi,atr,stoch,ppo,\
    pvo,stochRsi,bollinger,ema,sma,wma,adx,aroon,ichimoku,donchian,keltner,vortex,trix,cci,roc,\
    tsi,ultimate,williamsR,mfi,cmf,ulcer";

/// A stream that has missed many candles and reads them.
async fn resume(server: &Server) -> Response {
    let last = seconds_ago(MISSED).to_string();
    let response = http().get(server.url(PATH)).header("last-event-id", last).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response
}

/// The same on a socket with little room, of which only the head of the answer is read.
async fn resume_unread(server: &Server) -> (TcpStream, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(2_048).unwrap();
    let mut stream = socket.connect(server.address().parse().unwrap()).await.unwrap();
    let last = seconds_ago(MISSED);
    let request =
        format!("GET {PATH} HTTP/1.1\r\nhost: localhost\r\nlast-event-id: {last}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = vec![0; 1_024];
    let count = stream.read(&mut head).await.unwrap();
    (stream, String::from_utf8_lossy(&head[..count]).to_lowercase())
}

fn gauge(metrics: &str, name: &str) -> u64 {
    let line = metrics.lines().find(|line| line.starts_with(name)).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// The opening times of all closed candles in a part of a stream.
fn times(text: &str) -> Vec<u64> {
    let candles = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let candles = candles.map(|json| serde_json::from_str::<Value>(json).unwrap());
    candles.filter_map(|event| event["candle"]["t"].as_u64()).collect()
}

#[tokio::test]
async fn streams_that_resume_and_are_not_read_stay_within_the_stream_memory() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &SETTINGS);
    let mut first = resume(&server).await;
    let mut unread = Vec::new();
    let mut refused = 0;
    for _ in 0..60 {
        let (stream, head) = resume_unread(&server).await;
        if head.starts_with("http/1.1 200") {
            unread.push(stream);
            continue;
        }
        assert!(head.starts_with("http/1.1 503") && head.contains("\nretry-after: 5"), "{head}");
        refused += 1;
    }
    // A candle takes 192 bytes, and one client has 8 MiB.
    assert!((4..12).contains(&unread.len()), "{} streams hold their candles", unread.len());
    assert!(refused > 40, "{refused}");
    let metrics = http().get(server.url("/metrics")).send().await.unwrap().text().await.unwrap();
    let held = gauge(&metrics, "stoa_stream_bytes ");
    assert!(held > 0 && held < 9 << 20, "{held}");
    // A reader gets every candle that it missed, in order.
    let mut text = String::new();
    while text.matches("\"closed\":true").count() < 1_000 {
        let chunk = tokio::time::timeout(Duration::from_secs(60), first.chunk());
        text.push_str(std::str::from_utf8(&chunk.await.unwrap().unwrap().unwrap()).unwrap());
    }
    let read = times(&text[..text.rfind("\n\n").unwrap()]);
    assert!(read.windows(2).all(|pair| pair[1] == pair[0] + 1_000), "a candle is missing");
}
