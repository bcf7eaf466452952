//! The quotes contract: latest prices and closed bars, behind the manifest in `contracts/quotes`.
//!
//! The tools are an adapter over a quotes HTTP API, as the manifest says: by default that API runs
//! in this process ([`LocalApi`]), or on another server ([`RemoteApi`]). Venues and the bar
//! archive are reached through ports; no exchange is named here.

mod answer;
mod envelope;
mod local;
mod ports;
mod remote;
mod tools;
mod wire;

use std::sync::Arc;

use contract::{Contract, ContractError, Scope, Service, Tools};

pub use answer::{
    BarRow, HealthCheck, HealthReply, HealthStatus, HistoryQuery, HistoryReply, LiveReply,
    MetadataReply, MissingTicker, QuoteRow, VenueSources,
};
pub use local::{LocalApi, LocalApiParts, VenuePorts};
pub use ports::{ApiContext, QuotesApi};
pub use remote::RemoteApi;

/// The most days of one history request: ten years.
pub const RANGE_DAYS_MAX: i32 = 3660;

pub struct Quotes {
    pub(crate) api: Box<dyn QuotesApi>,
    pub(crate) metadata: MetadataReply,
}

/// The service with its tool table, ready for the catalogue.
pub fn service(api: impl QuotesApi + 'static) -> Result<Service, ContractError> {
    let contract = Contract::load("quotes")?;
    let metadata = MetadataReply::of(&contract, api.sources())?;
    let quotes = Arc::new(Quotes { api: Box::new(api), metadata });
    Tools::of(quotes)
        .tool("quotes.live", Scope::Read, tools::quotes_live::call)
        .tool("quotes.historical", Scope::Read, tools::quotes_historical::call)
        .tool("system.health", Scope::Read, tools::system_health::call)
        .tool("system.metadata", Scope::Read, tools::system_metadata::call)
        .bind(contract, envelope::Arche)
}
