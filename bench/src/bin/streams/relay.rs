//! The relay between the simulated exchange and Stoa. It passes bytes unchanged, records the
//! candles on their way to Stoa, and can insert further states of a forming candle, as if the
//! exchange had sent them.

use parking_lot::{Mutex, MutexGuard};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use bench::frames::{self, TEXT};
use serde_json::Value;

use crate::Outcome;

/// A recorded candle: its opening time, and whether it is closed.
pub(crate) type Candle = (i64, bool);

#[derive(Clone)]
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The last connection to Stoa.
    stoa: Option<TcpStream>,
    /// Each candle of the recorded stream and when it was passed on.
    seen: Vec<(Candle, Instant)>,
    /// The newest forming candle, from which further states are made.
    forming: Option<Value>,
    /// The time of the newest state, which may be ahead of the exchange's: Stoa ignores a state
    /// that is not newer than the last.
    newest: i64,
}

impl Relay {
    /// Relays the exchange and records one of its streams, such as `btcusdt@kline_1s`.
    pub(crate) fn before(exchange: SocketAddr, stream: &'static str) -> Outcome<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let relay = Self { address: listener.local_addr()?, state: Arc::default() };
        let accepting = relay.clone();
        thread::spawn(move || {
            for stoa in listener.incoming().flatten() {
                let Ok(there) = TcpStream::connect(exchange) else { continue };
                // A failed connection is closed, and Stoa reconnects.
                drop(accepting.join(stoa, there, stream));
            }
        });
        Ok(relay)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn join(&self, stoa: TcpStream, exchange: TcpStream, stream: &'static str) -> Outcome<()> {
        stoa.set_nodelay(true)?;
        exchange.set_nodelay(true)?;
        let (mut requests, mut towards) = (stoa.try_clone()?, exchange.try_clone()?);
        thread::spawn(move || {
            drop(std::io::copy(&mut requests, &mut towards));
            drop(towards.shutdown(Shutdown::Both));
        });
        let relay = self.clone();
        thread::spawn(move || {
            // When one end closes its connection, the relay closes the other.
            drop(relay.hand_on(exchange, &stoa, stream));
            drop(stoa.shutdown(Shutdown::Both));
        });
        Ok(())
    }

    /// From the exchange to Stoa, frame by frame once the handshake is over.
    fn hand_on(&self, mut from: TcpStream, mut to: &TcpStream, stream: &str) -> Outcome<()> {
        let (mut bytes, mut part) = (Vec::new(), vec![0; 64 * 1024]);
        let mut open = false;
        loop {
            let taken = from.read(&mut part)?;
            if taken == 0 {
                return Ok(());
            }
            bytes.extend_from_slice(&part[..taken]);
            if !open {
                let Some(head) = bytes.windows(4).position(|it| it == b"\r\n\r\n") else {
                    continue;
                };
                to.write_all(&bytes[..head + 4])?;
                bytes.drain(..head + 4);
                self.state().stoa = Some(to.try_clone()?);
                open = true;
            }
            let mut used = 0;
            while let Some((frame, length)) = frames::first(&bytes[used..])? {
                let candle = if frame.opcode == TEXT { read(frame.payload, stream) } else { None };
                let mut state = self.state();
                if let Some((seen, message)) = candle {
                    state.seen.push((seen, Instant::now()));
                    state.forming = Some(message).filter(|_| !seen.1);
                }
                to.write_all(&bytes[used..used + length])?;
                drop(state);
                used += length;
            }
            bytes.drain(..used);
        }
    }

    pub(crate) fn take_seen(&self) -> Vec<(Candle, Instant)> {
        std::mem::take(&mut self.state().seen)
    }

    /// Sends `count` further states of the candle that is forming, a millisecond apart by the
    /// exchange's account: the close goes between the high and the low.
    pub(crate) fn send_more(&self, count: u64) -> Outcome<()> {
        let mut state = self.state();
        let State { stoa: Some(stoa), forming: Some(message), newest, .. } = &mut *state else {
            return Err("the exchange has not sent a forming candle".into());
        };
        let mut frames = Vec::new();
        for _ in 0..count {
            let data = &mut message["data"];
            *newest = data["E"].as_i64().unwrap_or_default().max(*newest) + 1;
            data["E"] = Value::from(*newest);
            data["k"]["c"] = data["k"][if *newest % 2 == 0 { "h" } else { "l" }].clone();
            frames.extend(frames::from_server(TEXT, message.to_string().as_bytes()));
        }
        stoa.write_all(&frames)?;
        Ok(())
    }
}

/// `{"stream":"btcusdt@kline_1s","data":{"e":"kline","E":..,"k":{"t":..,"x":false,..}}}`
fn read(payload: &[u8], stream: &str) -> Option<(Candle, Value)> {
    let message: Value = serde_json::from_slice(payload).ok()?;
    if message["stream"] != stream {
        return None;
    }
    let candle = &message["data"]["k"];
    Some(((candle["t"].as_i64()?, candle["x"].as_bool()?), message))
}
