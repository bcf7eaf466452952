//! A subscriber over WebSocket that drops its connection at random and resumes after its last closed
//! candle.

use std::net::SocketAddr;
use std::time::Duration;

use bench::frames::{self, CLOSE, PING, PONG, TEXT};
use market::Interval;
use serde_json::{Value, json};
use testkit::TestRng;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::faults::below;
use bench::delivery::ClosedCandle;

const TIMEOUT: Duration = Duration::from_secs(30);
/// The wait before a retry after an error.
const PAUSE: Duration = Duration::from_millis(20);

/// The most closed candles of one connection.
const CANDLES_MAX: u32 = 12;

pub(crate) struct Reader {
    pub(crate) code: &'static str,
    pub(crate) interval: Interval,
    pub(crate) closed: Vec<ClosedCandle>,
    /// Connections that ended, by either side.
    pub(crate) disconnects: u64,
    pub(crate) gaps: u64,
    rng: TestRng,
}

impl Reader {
    pub(crate) fn new(code: &'static str, interval: Interval, seed: u64) -> Self {
        Self {
            code,
            interval,
            closed: Vec::new(),
            disconnects: 0,
            gaps: 0,
            rng: TestRng::new(seed),
        }
    }

    /// Follows until cancelled.
    pub(crate) async fn run(mut self, to: SocketAddr, stop: CancellationToken) -> Outcome<Self> {
        while !stop.is_cancelled() {
            let candles = 1 + below(&mut self.rng, CANDLES_MAX);
            if timeout(TIMEOUT * 2, self.follow(to, candles, &stop)).await?.is_err() {
                tokio::time::sleep(PAUSE).await;
            }
            self.disconnects += 1;
        }
        Ok(self)
    }

    /// One connection, for `candles` closed candles.
    async fn follow(
        &mut self,
        to: SocketAddr,
        candles: u32,
        stop: &CancellationToken,
    ) -> Outcome<()> {
        let mut stream = TcpStream::connect(to).await?;
        let request = format!(
            "GET /ws HTTP/1.1\r\nhost: {to}\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut bytes = Vec::new();
        let head = loop {
            if stream.read_buf(&mut bytes).await? == 0 {
                return Err("no handshake".into());
            }
            if let Some(head) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
                break head + 4;
            }
        };
        bytes.drain(..head);
        let hello = frames::from_client(TEXT, self.subscription().to_string().as_bytes());
        stream.write_all(&hello).await?;
        let wanted = self.closed.len() + candles as usize;
        while self.closed.len() < wanted && !stop.is_cancelled() {
            while let Some((frame, length)) = frames::first(&bytes)? {
                match frame.opcode {
                    PING => {
                        stream.write_all(&frames::from_client(PONG, frame.payload)).await?;
                    }
                    CLOSE => return Err("the server closed the connection".into()),
                    _ => self.handle_message(&serde_json::from_slice(frame.payload)?)?,
                }
                bytes.drain(..length);
            }
            if timeout(TIMEOUT, stream.read_buf(&mut bytes)).await?? == 0 {
                return Err("the connection ended".into());
            }
        }
        Ok(())
    }

    fn subscription(&self) -> Value {
        let mut asked = json!({
            "type": "subscribe", "symbol": self.code, "interval": self.interval.as_str(),
            "closedOnly": false, "indicators": { "rsi": {} },
        });
        if let Some(last) = self.closed.last() {
            asked["after"] = last.open.into();
        }
        asked
    }

    fn handle_message(&mut self, message: &Value) -> Outcome<()> {
        let candle = &message["candle"];
        match message["type"].as_str() {
            Some("kline") if candle["closed"] == true => {
                let number = |name: &str| candle[name].as_f64().unwrap_or(f64::NAN);
                let open = candle["t"].as_i64().ok_or("a candle without its time")?;
                self.closed
                    .push(ClosedCandle { open, numbers: ["o", "h", "l", "c", "v"].map(number) });
            }
            Some("status") if message["status"] == "gap_filled" => self.gaps += 1,
            Some("error") => return Err(message.to_string().into()),
            _ => {}
        }
        Ok(())
    }
}
