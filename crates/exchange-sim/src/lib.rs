//! A simulated exchange: a seeded market behind the real wire protocol of Binance, its errors,
//! limits and quirks included, which can be told to misbehave.
//!
//! Real adapters run against it unchanged. It keeps no history: any bar of any time is computed
//! from the seed when it is asked for.
//!
//! | path | what is there |
//! |---|---|
//! | `GET /api/v3/ping`, `time`, `exchangeInfo`, `klines`, `ticker/24hr`, `ticker/price` | Binance |
//! | `/ws`, `/ws/{stream}`, `/stream?streams={a}/{b}` | Binance's kline streams over WebSocket |
//! | `GET`, `POST`, `DELETE /sim/faults` | what is to go wrong, see [`Fault`] |
//! | `PUT /sim/limits` | `{"request_weight_per_minute": 6000}` |

mod binance;
mod dice;
mod faults;
mod instruments;
mod outages;
mod price_tree;
mod server;
mod sim;

pub use binance::{Endpoint, StreamRules};
pub use faults::{Fault, FaultKind, Faults};
pub use sim::{Sim, SimConfig, StreamCounts};
