//! Injects faults into the simulated exchange while the load runs, and reads its history, with
//! which the streamed candles are compared.

use std::net::SocketAddr;
use std::time::Duration;

use market_sim::{Endpoint, FaultKind, InjectedFault};
use serde_json::{Value, json};
use testkit::TestRng;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::http::{Connection, Request, Response};
use crate::observations::{Observations, increment};
use bench::delivery::ClosedCandle;

const TIMEOUT: Duration = Duration::from_secs(20);
const FAULT_EVERY: Duration = Duration::from_millis(400);
/// Only a few faults wait at a time, so that kinds mix.
const WAITING_MAX: usize = 6;
/// The most rows of one answer.
const PAGE: i64 = 1_000;
const SECOND_MS: i64 = 1_000;
/// So high that only injected faults refuse a request.
const WEIGHT_PER_MINUTE: u32 = 1_000_000;

#[derive(Clone, Copy)]
pub(crate) struct Exchange(pub(crate) SocketAddr);

impl Exchange {
    async fn request_now(self, request: &Request) -> Outcome<Response> {
        let asked = async {
            let mut connection = Connection::open(self.0).await?;
            connection.exchange(&request.clone().header("connection", "close").bytes(self.0)).await
        };
        let response = timeout(TIMEOUT, asked).await??;
        if response.status >= 300 {
            let (status, said) = (response.status, response.excerpt());
            return Err(
                format!("the exchange answered {status} to {}: {said}", request.path).into()
            );
        }
        Ok(response)
    }

    pub(crate) async fn remove_rate_limits(self) -> Outcome<()> {
        let limits = json!({ "request_weight_per_minute": WEIGHT_PER_MINUTE });
        let request = Request { method: "PUT", ..Request::post("/sim/limits", &limits) };
        self.request_now(&request).await.map(drop)
    }

    /// Injects faults until cancelled, then removes those that have not happened yet.
    pub(crate) async fn inject_faults(
        self,
        seed: u64,
        observations: &Observations,
        stop: &CancellationToken,
    ) -> Outcome<()> {
        let mut rng = TestRng::new(seed);
        while stop.run_until_cancelled(tokio::time::sleep(FAULT_EVERY)).await.is_some() {
            let waiting = self.request_now(&Request::get("/sim/faults")).await?.json();
            let waiting = waiting["faults"].as_array().ok_or("the exchange lists no faults")?.len();
            if waiting < WAITING_MAX {
                let fault = serde_json::to_value(random_fault(&mut rng))?;
                self.request_now(&Request::post("/sim/faults", &fault)).await?;
                increment(&observations.counts.faults_injected);
            }
        }
        let clear = Request { method: "DELETE", ..Request::get("/sim/faults") };
        self.request_now(&clear).await.map(drop)
    }

    /// The closed candles of one second from `first` to `last`, both opening times.
    pub(crate) async fn history(
        self,
        symbol: &str,
        first: i64,
        last: i64,
    ) -> Outcome<Vec<ClosedCandle>> {
        let (mut candles, mut from) = (Vec::new(), first);
        while from <= last {
            let to = last.min(from + (PAGE - 1) * SECOND_MS);
            let path = format!(
                "{}?symbol={symbol}&interval=1s&startTime={from}&endTime={to}&limit={PAGE}",
                Endpoint::Klines.path()
            );
            let rows = self.request_now(&Request::get(path)).await?.json();
            let rows = rows.as_array().ok_or("the exchange's history is no list")?;
            candles.extend(rows.iter().filter_map(candle));
            from = to + SECOND_MS;
        }
        Ok(candles)
    }
}

fn candle(row: &Value) -> Option<ClosedCandle> {
    let number = |at: usize| row.get(at)?.as_str()?.parse::<f64>().ok();
    let numbers = [number(1)?, number(2)?, number(3)?, number(4)?, number(5)?];
    Some(ClosedCandle { open: row.get(0)?.as_i64()?, numbers })
}

/// A fault that the server must repair without a client noticing more than a delay. Faults of
/// requests are rare and strike once, because a server whose requests fail again and again rightly
/// reports that the exchange is down.
fn random_fault(rng: &mut TestRng) -> InjectedFault {
    let klines = Endpoint::Klines.path();
    let times = 1 + u32::try_from(rng.below(3)).unwrap_or_default();
    match rng.below(40) {
        0..=11 => InjectedFault::new(FaultKind::WsDrop, times),
        12 | 13 => InjectedFault::new(FaultKind::WsStall, 1),
        14..=18 => InjectedFault::new(FaultKind::WsMissingClose, times),
        19..=23 => InjectedFault::new(FaultKind::WsLateClose, times).delay_ms(rng.below(5_000)),
        24..=27 => InjectedFault::new(FaultKind::WsDuplicate, 5 * times),
        28..=31 => InjectedFault::new(FaultKind::WsReorder, 5 * times),
        32 | 33 => InjectedFault::new(FaultKind::RestLag, times).delay_ms(rng.below(3_000)),
        34 => InjectedFault::new(FaultKind::Status429, 1).retry_after_s(1),
        35 => InjectedFault::new(FaultKind::Status500, 1),
        36 => InjectedFault::new(FaultKind::Drop, 1),
        37 => InjectedFault::new(FaultKind::Truncated, 1).on(klines),
        38 => InjectedFault::new(FaultKind::ShuffledRows, 1).on(klines),
        _ => InjectedFault::new(FaultKind::Slow, times).delay_ms(rng.below(800)),
    }
}
