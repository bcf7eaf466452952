//! The part of HTTP/1.1 that the clients need: one request at a time on a connection that is kept,
//! and any bytes instead of a request.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

/// Larger than every answer that the clients ask for.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// A request without the headers that every request has.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    /// Whole lines, each with its line end.
    pub(crate) headers: String,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", path: path.into(), headers: String::new(), body: Vec::new() }
    }

    pub(crate) fn post(path: impl Into<String>, body: &Value) -> Self {
        let headers = "content-type: application/json\r\n".to_owned();
        Self { method: "POST", path: path.into(), headers, body: body.to_string().into_bytes() }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn bytes(&self, host: SocketAddr) -> Vec<u8> {
        let Self { method, path, headers, body } = self;
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\n{headers}content-length: {length}\r\n\r\n"
        );
        [head.as_bytes(), body].concat()
    }
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// The body as JSON; null where it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The start of the body, for a list of failures.
    pub(crate) fn excerpt(&self) -> String {
        String::from_utf8_lossy(&self.body).chars().take(300).collect()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }
}

pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    pub(crate) buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(to: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// From one of 100 loopback addresses, because one address has only about 28,000 ports.
    pub(crate) async fn open_from(to: SocketAddr, number: usize) -> io::Result<Self> {
        let last = u8::try_from(number % 100).unwrap_or_default();
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::new(127, 0, 1, last + 1), 0).into())?;
        let stream = socket.connect(to).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Sends bytes and reads one answer.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> io::Result<Response> {
        self.buffer.clear();
        // The server may answer and close before it has read everything.
        let sent = self.stream.write_all(request).await;
        let head = match (self.read_head().await, sent) {
            (Ok(head), _) => head,
            (Err(_), Err(error)) | (Err(error), Ok(())) => return Err(error),
        };
        self.read_response(head).await
    }

    /// Reads the rest of an answer whose head has been read.
    pub(crate) async fn read_response(&mut self, head: String) -> io::Result<Response> {
        let body = self.read_body(&head).await?;
        let status = status(&head)?;
        Ok(Response { status, head, body })
    }

    /// Reads up to the end of the head and removes it from the buffer.
    pub(crate) async fn read_head(&mut self) -> io::Result<String> {
        loop {
            if let Some(at) = self.buffer.windows(4).position(|it| it == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&self.buffer[..at + 2]).into_owned();
                self.buffer.drain(..at + 4);
                return Ok(head);
            }
            self.read_more().await?;
        }
    }

    async fn read_body(&mut self, head: &str) -> io::Result<Vec<u8>> {
        if header(head, "transfer-encoding").is_some() {
            let mut body = Vec::new();
            loop {
                match take_chunk(&mut self.buffer)? {
                    Some(chunk) if chunk.is_empty() => return Ok(body),
                    Some(chunk) => body.extend(chunk),
                    None => self.read_more().await?,
                }
            }
        }
        let length = header(head, "content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
        while self.buffer.len() < length {
            self.read_more().await?;
        }
        Ok(self.buffer.drain(..length).collect())
    }

    pub(crate) async fn read_more(&mut self) -> io::Result<()> {
        if self.buffer.len() > ANSWER_BYTES_MAX {
            return Err(io::Error::other("the answer is too long"));
        }
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

pub(crate) fn status(head: &str) -> io::Result<u16> {
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    status.ok_or_else(|| io::Error::other("the answer has no status"))
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let mut named = fields.filter(|(it, _)| it.eq_ignore_ascii_case(name));
    named.next().map(|(_, value)| value.trim())
}

/// Takes the first chunk of a chunked body from the buffer, once all of it is there. The last chunk
/// is empty.
pub(crate) fn take_chunk(buffer: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let Some(at) = buffer.windows(2).position(|it| it == b"\r\n") else { return Ok(None) };
    let size = std::str::from_utf8(&buffer[..at]).ok();
    let size = size.and_then(|it| usize::from_str_radix(it, 16).ok());
    let size = size.filter(|size| *size <= ANSWER_BYTES_MAX);
    let size = size.ok_or_else(|| io::Error::other("a chunk without a size"))?;
    let end = at + 2 + size;
    if buffer.len() < end + 2 {
        return Ok(None);
    }
    let chunk = buffer[at + 2..end].to_vec();
    buffer.drain(..end + 2);
    Ok(Some(chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_taken_one_after_the_other_once_they_are_whole() {
        let mut buffer = b"3\r\nabc\r\n1".to_vec();
        assert_eq!(take_chunk(&mut buffer).unwrap().unwrap(), b"abc");
        assert!(take_chunk(&mut buffer).unwrap().is_none());
        buffer.extend(b"\r\nd\r\n0\r\n\r\n");
        assert_eq!(take_chunk(&mut buffer).unwrap().unwrap(), b"d");
        assert_eq!(take_chunk(&mut buffer).unwrap().unwrap(), b"");
        assert!(take_chunk(&mut b"xyz\r\n".to_vec()).is_err());
    }
}
