//! Opens the byte stream under a WebSocket: TCP in production, memory in tests.

use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Bytes in both directions.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> ByteStream for T {}

pub(crate) type DialFuture<'a> =
    Pin<Box<dyn Future<Output = io::Result<Box<dyn ByteStream>>> + Send + 'a>>;

/// Opens a connection to the host of a `ws` or `wss` URL. Encryption is added on top of it.
pub(crate) trait Dial: Send + Sync {
    fn dial<'a>(&'a self, url: &'a str) -> DialFuture<'a>;
}

/// Dials over TCP.
pub(crate) struct TcpDial;

impl Dial for TcpDial {
    fn dial<'a>(&'a self, url: &'a str) -> DialFuture<'a> {
        Box::pin(async move {
            let url = reqwest::Url::parse(url).map_err(io::Error::other)?;
            let host = url.host_str().ok_or_else(|| io::Error::other("a URL without a host"))?;
            let port = url.port_or_known_default().unwrap_or(443);
            let stream = TcpStream::connect(format!("{host}:{port}")).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn ByteStream>)
        })
    }
}
