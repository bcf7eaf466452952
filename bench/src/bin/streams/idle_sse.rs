//! What an idle reader of server-sent events costs. They are only held, never read: what little
//! comes fits into the sockets.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use crate::Outcome;
use crate::servers::Running;

const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the readers are left alone before memory is looked at.
const REST: Duration = Duration::from_millis(1_000);

/// The connection of a reader before it asks for its stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connection {
    /// The stream is the first response, so it takes the socket from hyper.
    Fresh,
    /// Another response came first, so the stream stays with hyper and its buffers.
    Reused,
}

/// Bytes that a further reader takes, from half of them to all.
pub(crate) fn measure(server: &Running, readers: usize, connection: Connection) -> Outcome<f64> {
    let mut held = Vec::new();
    let half = readers / 2;
    grow(&mut held, server.address, half, connection)?;
    thread::sleep(REST);
    let some = server.memory()?;
    grow(&mut held, server.address, readers, connection)?;
    thread::sleep(REST);
    let further = u32::try_from(readers - half)?;
    Ok((server.memory()? - some) / f64::from(further))
}

fn grow(
    held: &mut Vec<TcpStream>,
    to: SocketAddr,
    count: usize,
    connection: Connection,
) -> Outcome<()> {
    while held.len() < count {
        let mut stream = TcpStream::connect(to)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        if connection == Connection::Reused {
            request(&mut stream, to, "/health", "\"provider\"")?;
        }
        let path = "/stream/klines?symbol=BTCUSDT&interval=1d&heartbeatMs=60000";
        request(&mut stream, to, path, "retry:")?;
        held.push(stream);
    }
    Ok(())
}

/// Sends a request and reads up to `mark`.
fn request(stream: &mut TcpStream, to: SocketAddr, path: &str, mark: &str) -> Outcome<()> {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: {to}\r\n\r\n").as_bytes())?;
    let (mut answer, mut part) = (Vec::new(), [0; 1_024]);
    while !String::from_utf8_lossy(&answer).contains(mark) {
        let taken = stream.read(&mut part)?;
        if taken == 0 {
            let answer = String::from_utf8_lossy(&answer);
            return Err(format!("{path}: no {mark} in {answer}").into());
        }
        answer.extend_from_slice(&part[..taken]);
    }
    Ok(())
}
