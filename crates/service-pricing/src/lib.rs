//! The two pricing contracts: the collector of market data and the optimizer of prices. They share
//! their books (products, ticks) and the tools that tell how they are; the mathematics of a price
//! is in `pricing`, the queue of collections in `jobs`.

mod books;
mod envelope;
mod house;
mod said;

pub use books::MIGRATIONS;
pub use house::House;
