//! The indicators contract: candles of any venue, technical indicators over them, and live streams
//! of both.
//!
//! `ta` computes the indicators and `market-bars` completes the history; this crate joins both in
//! the contract's shapes. Every candle of history is closed.

mod candles;
mod envelope;
mod figure;
mod live;
mod ports;
mod tools;
mod until;
mod warm;
mod windows;
mod wire;

use std::sync::Arc;

use clock::Clock;
use contract::{Contract, ContractError, CpuPool, ErrorTable, Scope, Service, Tools};

pub use live::{CHANNELS_MAX, LiveSetup, Queues, StreamLimits, Tasks};
pub use ports::{Market, VenueCandles};

use candles::CandleReader;
use live::Live;

pub struct Indicators {
    pub(crate) candles: Arc<CandleReader>,
    pub(crate) live: Arc<Live>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) version: &'static str,
    /// Start time of the service; `health` computes the uptime from it.
    pub(crate) started: clock::Millis,
    /// Computes large requests.
    pub(crate) pool: Arc<CpuPool>,
    /// Error rows of the contract, for the faults of single symbols in a batch reply.
    pub(crate) errors: Arc<ErrorTable>,
}

/// The service with its tool table, ready for the catalogue.
pub fn service(
    market: Market,
    clock: Arc<dyn Clock>,
    version: &'static str,
    setup: impl Into<LiveSetup>,
) -> Result<Service, ContractError> {
    let contract = Contract::load("indicators")?;
    let errors = Arc::clone(&contract.errors);
    let started = clock.now();
    let candles = Arc::new(CandleReader::new(market));
    let sources = candles.sources();
    let live = Live::new(Arc::clone(&candles), Arc::clone(&clock), setup.into());
    let pool = Arc::clone(CpuPool::shared());
    let indicators = Arc::new(Indicators { candles, live, clock, version, started, pool, errors });
    Tools::of(indicators)
        .tool("compute_indicators", Scope::Read, tools::compute_indicators::call)
        .tool("stream_klines", Scope::Read, tools::stream_klines::call)
        .tool("list_symbols", Scope::Read, tools::list_symbols::call)
        .tool("health", Scope::Read, tools::health::call)
        .tool("get_klines", Scope::Read, tools::get_klines::call)
        .tool("get_klines_batch", Scope::Read, tools::get_klines_batch::call)
        .tool("list_intervals", Scope::Read, tools::list_intervals::call)
        .stream("klines", Scope::Read, tools::stream_klines::open)
        .stream("klines_batch", Scope::Read, tools::stream_klines::open_batch)
        .sources(sources.values().map(String::as_str))
        .bind(contract, envelope::Traide)
}
