//! Clients that never read: they are disconnected, their cost is bounded, and others are not
//! affected.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;

use super::*;

/// Events of several kilobytes, because large events block a reader sooner.
const MANY: &str = "macd,rsi,atr,stoch,stochRsi,bollinger,ppo,pvo,vwap,ichimoku,adx,aroon,kst,\
    keltner,donchian,vortex,tsi,trix,cci,ultimate,mfi,obv,adl,cmf";
/// The number of stuck clients.
const STUCK: usize = 20;

impl Fixture {
    /// A connection with a tiny receive buffer that sends this first.
    async fn stuck(&self, first_bytes: &[u8]) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(2_048).unwrap();
        let mut stream = socket.connect(self.server.address().parse().unwrap()).await.unwrap();
        stream.write_all(first_bytes).await.unwrap();
        stream
    }

    /// How many readers were disconnected: for reading nothing, or, on a busy server whose queues
    /// fill sooner, for lagging too far.
    async fn cut_off(&self) -> u64 {
        let metrics = http().get(self.server.url("/metrics")).send().await.unwrap();
        let metrics = metrics.text().await.unwrap();
        let codes = ["\"reader_stalled\"", "\"reader_too_slow\""];
        let lines = metrics.lines().filter(|line| codes.iter().any(|code| line.contains(code)));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() as u64).sum()
    }
}

fn sse(address: &str, after: i64) -> Vec<u8> {
    format!(
        "GET /stream/klines?symbol=BTCUSDT&interval=1s&after={after}&indicators={MANY} HTTP/1.1\r\n\
         host: {address}\r\n\r\n"
    )
    .into_bytes()
}

fn ws(address: &str, after: i64) -> Vec<u8> {
    let mut first_bytes = format!(
        "GET /ws HTTP/1.1\r\nhost: {address}\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    .into_bytes();
    let names: serde_json::Map<String, Value> =
        MANY.split(',').map(|name| (name.to_owned(), json!({}))).collect();
    let subscribe = json!({"type": "subscribe", "symbol": "BTCUSDT", "interval": "1s",
        "after": after, "indicators": names})
    .to_string();
    // A masked frame with a zero mask.
    let length = u16::try_from(subscribe.len()).unwrap().to_be_bytes();
    first_bytes.extend([0x81, 0xFE, length[0], length[1], 0, 0, 0, 0]);
    first_bytes.extend(subscribe.as_bytes());
    first_bytes
}

#[tokio::test]
async fn clients_that_never_read_are_cut_off_and_others_are_served() {
    // On a slow machine, reading the history for all resuming clients takes longer than the default
    // timeout.
    let fixture = Fixture::new(&[("STOA_CALL_TIMEOUT_S", "300")]);
    let mut other = fixture.events("symbol=BTCUSDT&interval=1s", None).await;
    let (times, _) = other.closed(1).await;
    // Warm-up: state that all clients share is no cost of the stuck ones.
    let after = times[0] - 4_000_000;
    let query = format!("symbol=BTCUSDT&interval=1s&indicators={MANY}");
    fixture.events(&query, Some(after)).await.closed(4_000).await;
    let before = fixture.server.memory_mb();
    let address = fixture.server.address();
    let mut stuck = Vec::new();
    for _ in 0..STUCK / 2 {
        stuck.push(fixture.stuck(&sse(&address, after)).await);
        stuck.push(fixture.stuck(&ws(&address, after)).await);
    }
    // Other clients are served meanwhile, and all stuck clients are disconnected in the end.
    let (mut most, mut all) = (0, times);
    while fixture.cut_off().await < STUCK as u64 {
        all.extend(other.closed(1).await.0);
        most = most.max(fixture.server.memory_mb());
        assert!(all.len() < 400, "{} were cut off", fixture.cut_off().await);
    }
    check_consecutive(&all);
    // 5 MB each: a queue holds 1,000 of the 4,000 events that each client requested.
    assert!(most < before + 5 * STUCK as u64, "{before} MB became {most} MB");
    // The events before the disconnect contain the resume point.
    let mut text = Vec::new();
    let _cut = stuck[0].read_to_end(&mut text).await;
    let text = String::from_utf8_lossy(&text);
    let mut ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
    let last: i64 = ids.next_back().unwrap().parse().unwrap();
    let mut again = fixture.events("symbol=BTCUSDT&interval=1s", Some(last)).await;
    assert_eq!(again.closed(1).await.0, [last + 1_000]);
}
