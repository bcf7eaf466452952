//! A simulated exchange: seeded markets behind the real wire protocols of Binance and of the Moscow
//! exchange with their errors, limits and quirks. Tests inject faults into it.
//!
//! Real adapters run against it unchanged. It stores no history: every bar is computed from the seed when
//! it is requested.
//!
//! | path | what is there |
//! |---|---|
//! | `GET /api/v3/ping`, `time`, `exchangeInfo`, `klines`, `ticker/24hr`, `ticker/price` | Binance |
//! | `/ws`, `/ws/{stream}`, `/stream?streams={a}/{b}` | Binance's kline streams over WebSocket |
//! | `GET /iss/...json` | the Moscow exchange's ISS, see below |
//! | `GET`, `POST`, `DELETE /sim/faults` | injected faults, see [`InjectedFault`] |
//! | `PUT /sim/limits` | `{"request_weight_per_minute": 6000, "iss_requests_per_minute": 6000}` |
//!
//! ISS, where `M` is `engines/stock/markets/{shares|index}` or that with `/boards/{board}`:
//!
//! | under `/iss/` | blocks |
//! |---|---|
//! | `index`, `engines`, `engines/stock`, `engines/stock/markets`, `M/boards` | what there is |
//! | `securities?q=`, `securities/{code}` | search; description and boards |
//! | `securities/{code}/dividends`, `securities/{code}/indices` | payments; membership |
//! | `M/securities`, `M/securities/{code}` | securities, marketdata, dataversion |
//! | `M/securities/{code}/candles`, `candleborders` | candles, 500 a page |
//! | `history/M/securities`, `history/M/securities/{code}`, `history/M/dates` | days, 100 a page |
//! | `statistics/engines/stock/markets/index/analytics/{index}` | weights, 20 or 100 a page |
//! | `statistics/engines/stock/splits` | splits |
//! | `calendars`, `M/securities/{code}/orderbook` | only for subscribers: a page; 403 |

mod binance;
mod faults;
mod instruments;
mod keyed_rng;
mod moex;
mod outages;
mod price_tree;
mod server;
mod sim;

pub use binance::{Endpoint, StreamRules};
pub use faults::{FaultKind, Faults, InjectedFault};
pub use sim::{InMemoryServer, Sim, SimConfig, StreamCounts};
