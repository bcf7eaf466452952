//! The simulated exchange in memory: HTTP and WebSocket connections without sockets.

use std::io;

use http_client::InMemoryFetch;
use market_sim::InMemoryServer;
use tokio::io::DuplexStream;
use tokio_util::sync::DropGuard;

use super::*;
use crate::stream::dial::{ByteStream, DialFuture};

/// An exchange that can be stopped and started again.
pub(super) struct InMemoryExchange {
    sim: Sim,
    running: Mutex<Option<(InMemoryServer, DropGuard)>>,
}

impl InMemoryExchange {
    pub(super) fn new(sim: &Sim) -> Arc<Self> {
        let exchange = Self { sim: sim.clone(), running: Mutex::new(None) };
        exchange.start();
        Arc::new(exchange)
    }

    pub(super) fn start(&self) {
        let cancel = CancellationToken::new();
        let server = self.sim.serve_in_memory(cancel.clone());
        *self.running.lock() = Some((server, cancel.drop_guard()));
    }

    /// Ends every connection and refuses new ones.
    pub(super) fn stop(&self) {
        *self.running.lock() = None;
    }

    pub(super) fn network(self: &Arc<Self>) -> Network {
        Network { fetch: Some(Arc::new(self.fetch())), dial: Arc::clone(self) as _ }
    }

    pub(super) fn fetch(self: &Arc<Self>) -> impl Fetch + use<> {
        let exchange = Arc::clone(self);
        InMemoryFetch::new(URL, move || exchange.connect())
    }

    fn connect(&self) -> io::Result<DuplexStream> {
        let running = self.running.lock();
        let (server, _) = running.as_ref().ok_or(io::ErrorKind::ConnectionRefused)?;
        Ok(server.connect())
    }
}

impl Dial for InMemoryExchange {
    fn dial<'a>(&'a self, _url: &'a str) -> DialFuture<'a> {
        Box::pin(async { Ok(Box::new(self.connect()?) as Box<dyn ByteStream>) })
    }
}
