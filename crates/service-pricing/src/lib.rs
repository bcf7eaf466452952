//! The two pricing services: the collector of market data and the optimizer of prices. They share
//! their storage (products, ticks) and the health tools. `pricing-engine` computes prices, `jobs`
//! queues collections and pushes to shops.

mod collector;
mod connectors;
mod csv;
mod envelope;
mod features;
mod optimizer;
mod push;
mod service_info;
mod storage;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod tick_history;
mod tools;

pub use collector::catalogue::Imported;
pub use collector::catalogue_csv::import_csv;
pub use collector::{CollectorParts, collector};
pub use optimizer::{OptimizerParts, optimizer};
pub use push::{PriceWebhook, PushMeter, PushTargets, Shopify, WooCommerce};
pub use service_info::ServiceInfo;
pub use storage::MIGRATIONS;
