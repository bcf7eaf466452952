//! What an idle reader of server-sent events costs. They are only held, never read: what little
//! comes fits into the sockets.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use crate::Outcome;
use crate::servers::Running;

const PATIENCE: Duration = Duration::from_secs(10);
/// How long the readers are left alone before memory is looked at.
const REST: Duration = Duration::from_millis(1_000);

/// Bytes that a further reader takes, from half of them to all.
pub(crate) fn measure(server: &Running, readers: usize) -> Outcome<f64> {
    let mut held = Vec::new();
    let half = readers / 2;
    grow(&mut held, server.address, half)?;
    thread::sleep(REST);
    let some = server.memory()?;
    grow(&mut held, server.address, readers)?;
    thread::sleep(REST);
    let further = u32::try_from(readers - half)?;
    Ok((server.memory()? - some) / f64::from(further))
}

fn grow(held: &mut Vec<TcpStream>, to: SocketAddr, count: usize) -> Outcome<()> {
    while held.len() < count {
        let mut stream = TcpStream::connect(to)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let path = "/stream/klines?symbol=BTCUSDT&interval=1d&heartbeatMs=60000";
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: {to}\r\n\r\n").as_bytes())?;
        let (mut answer, mut part) = (Vec::new(), [0; 1_024]);
        while !answer.windows(6).any(|it| it == b"retry:") {
            let taken = stream.read(&mut part)?;
            if taken == 0 {
                let answer = String::from_utf8_lossy(&answer);
                return Err(format!("no events: {answer}").into());
            }
            answer.extend_from_slice(&part[..taken]);
        }
        held.push(stream);
    }
    Ok(())
}
