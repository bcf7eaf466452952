//! Thousands of WebSocket readers on one thread at the least cost: one shared buffer, one read per
//! wake-up, frames counted by their headers. The caller examines the content.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream as Blocking};
use std::time::Duration;

use bench::frames::{self, CLOSE, PING, PONG, TEXT};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use crate::Outcome;

const BUFFER_BYTES: usize = 256 * 1024;
const WAKE_UPS: usize = 1_024;
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct Swarm {
    poll: Poll,
    events: Events,
    readers: Vec<Reader>,
    buffer: Vec<u8>,
}

struct Reader {
    stream: TcpStream,
    /// The beginning of an incomplete frame.
    rest: Vec<u8>,
}

impl Swarm {
    pub(crate) fn new() -> Outcome<Self> {
        Ok(Self {
            poll: Poll::new()?,
            events: Events::with_capacity(WAKE_UPS),
            readers: Vec::new(),
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.readers.len()
    }

    /// Adds readers up to the given number; each sends `hello` where one is given.
    pub(crate) fn grow(
        &mut self,
        to: SocketAddr,
        count: usize,
        hello: Option<&str>,
    ) -> Outcome<()> {
        let hello = hello.map(|text| frames::from_client(TEXT, text.as_bytes()));
        while self.readers.len() < count {
            let (mut stream, rest) = shake_hands(to)?;
            if let Some(hello) = &hello {
                stream.write_all(hello)?;
            }
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            let token = Token(self.readers.len());
            self.poll.registry().register(&mut stream, token, Interest::READABLE)?;
            self.readers.push(Reader { stream, rest });
        }
        Ok(())
    }

    /// Reads the available messages, waiting at most the given time; `see` gets each message and
    /// its reader.
    pub(crate) fn read(
        &mut self,
        timeout: Duration,
        mut see: impl FnMut(usize, &[u8]),
    ) -> Outcome<()> {
        match self.poll.poll(&mut self.events, Some(timeout)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            polled => polled?,
        }
        for event in &self.events {
            let Token(at) = event.token();
            let Some(reader) = self.readers.get_mut(at) else { continue };
            reader.drain(&mut self.buffer, |payload| see(at, payload))?;
        }
        Ok(())
    }
}

impl Reader {
    fn drain(&mut self, buffer: &mut [u8], mut see: impl FnMut(&[u8])) -> Outcome<()> {
        loop {
            let kept = self.rest.len();
            buffer[..kept].copy_from_slice(&self.rest);
            let room = buffer.len() - kept;
            let taken = match self.stream.read(&mut buffer[kept..]) {
                Ok(0) => return Err("the server hung up on a reader".into()),
                Ok(taken) => taken,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(format!("a reader was cut off: {error}").into()),
            };
            let filled = &buffer[..kept + taken];
            let mut used = 0;
            while let Some((frame, length)) = frames::first(&filled[used..])? {
                used += length;
                match frame.opcode {
                    PING => self.stream.write_all(&frames::from_client(PONG, frame.payload))?,
                    CLOSE => {
                        let why = String::from_utf8_lossy(frame.payload.get(2..).unwrap_or(b""));
                        return Err(format!("the server said good-bye: {why}").into());
                    }
                    _ => see(frame.payload),
                }
            }
            self.rest.clear();
            self.rest.extend_from_slice(&filled[used..]);
            // Data after a short read wakes the loop again.
            if taken < room {
                return Ok(());
            }
        }
    }
}

/// A connection after the WebSocket handshake, and the bytes that followed it.
fn shake_hands(to: SocketAddr) -> Outcome<(Blocking, Vec<u8>)> {
    let mut stream = Blocking::connect(to)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(HANDSHAKE_TIMEOUT))?;
    let request = format!(
        "GET /ws HTTP/1.1\r\nhost: {to}\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let (mut answer, mut part) = (Vec::new(), [0; 1_024]);
    loop {
        let taken = stream.read(&mut part)?;
        answer.extend_from_slice(&part[..taken]);
        let head = answer.windows(4).position(|it| it == b"\r\n\r\n");
        match head {
            Some(head) if answer.starts_with(b"HTTP/1.1 101 ") => {
                return Ok((stream, answer.split_off(head + 4)));
            }
            None if taken > 0 => {}
            _ => {
                let answer = String::from_utf8_lossy(&answer);
                return Err(format!("no WebSocket: {answer}").into());
            }
        }
    }
}
