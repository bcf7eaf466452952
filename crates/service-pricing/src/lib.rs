//! The two pricing contracts: the collector of market data and the optimizer of prices. They share
//! their books (products, ticks) and the tools that tell how they are; the mathematics of a price
//! is in `pricing`, the queue of collections in `jobs`.

mod books;
mod collector;
mod connectors;
mod csv;
mod envelope;
mod evidence;
mod features;
mod house;
mod optimizer;
mod said;

pub use books::MIGRATIONS;
pub use collector::catalogue::{Imported, import_csv};
pub use collector::{CollectorParts, collector};
pub use house::House;
pub use optimizer::{OptimizerParts, optimizer};
