//! The quotes contract: latest prices and closed bars, behind the manifest in `contracts/quotes`.
//!
//! As the manifest says, the tools are an adapter over a quotes HTTP API. By default that API runs
//! in this process ([`LocalApi`]); it can also run on another server ([`RemoteApi`]). The crate
//! reaches venues and the bar archive through ports and names no exchange.

mod envelope;
mod local;
mod ports;
mod remote;
mod reply;
mod tools;
mod wire;

use std::sync::Arc;

use contract::{Contract, ContractError, Scope, Service, Tools};

pub use local::{LocalApi, LocalApiParts, VenuePorts};
pub use ports::{ApiContext, QuotesApi};
pub use remote::RemoteApi;
pub use reply::{
    BarRow, HealthCheck, HealthReply, HealthStatus, HistoryQuery, HistoryReply, LiveReply,
    MetadataReply, MissingTicker, QuoteRow, VenueSources,
};

/// The most days of one history request: ten years.
pub const RANGE_DAYS_MAX: i32 = 3660;

/// The state of the service.
pub struct Quotes {
    pub(crate) api: Box<dyn QuotesApi>,
    pub(crate) metadata: MetadataReply,
}

/// The service with its tools bound to handlers.
pub fn service(api: impl QuotesApi + 'static) -> Result<Service, ContractError> {
    let contract = Contract::load("quotes")?;
    let sources = api.sources();
    let metadata = MetadataReply::of(&contract, sources.clone())?;
    let quotes = Arc::new(Quotes { api: Box::new(api), metadata });
    Tools::of(quotes)
        .tool("quotes.live", Scope::Read, tools::quotes_live::call)
        .tool("quotes.historical", Scope::Read, tools::quotes_historical::call)
        .tool("system.health", Scope::Read, tools::system_health::call)
        .tool("system.metadata", Scope::Read, tools::system_metadata::call)
        .sources(sources.values().map(String::as_str))
        .bind(contract, envelope::QuotesEnvelope)
}
