//! One round: a number of connections, each of which repeats the call as soon as it is answered.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::Outcome;
use crate::servers::Running;
use crate::wire::{Caller, ProtocolVersion};

/// Long enough to fill every server's caches and memory.
const WARM_UP: Duration = Duration::from_millis(300);
/// One answer in this many is read in full; reading all would make the client the bottleneck.
const CHECKED_EVERY: usize = 1_000;
/// How long after the end of a round its last answers may take.
const END_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) struct Plan<'a> {
    pub(crate) version: ProtocolVersion,
    pub(crate) connections: usize,
    pub(crate) tickers: &'a [String],
}

/// The result of a round.
pub(crate) struct Round {
    pub(crate) per_second: f64,
    pub(crate) cpu_us: f64,
    pub(crate) p50_us: u128,
    pub(crate) p99_us: u128,
}

/// A result of Stoa, which the other servers repeat.
pub(crate) async fn first_answer(server: &Running, tickers: &[String]) -> Outcome<Value> {
    let mut caller = Caller::connect(server.address, ProtocolVersion::Modern, tickers).await?;
    caller.call().await?;
    caller.result()
}

pub(crate) async fn round(server: &Running, plan: &Plan<'_>, length: Duration) -> Outcome<Round> {
    let mut callers = Vec::new();
    for _ in 0..plan.connections {
        callers.push(Caller::connect(server.address, plan.version, plan.tickers).await?);
    }
    let (callers, _) = drive(callers, WARM_UP).await?;
    let (cpu, started) = (server.cpu()?, Instant::now());
    let (_callers, mut latencies) = drive(callers, length).await?;
    let (cpu, elapsed) = (server.cpu()? - cpu, started.elapsed());
    latencies.sort_unstable();
    let count = latencies.len();
    let share =
        |percent: usize| latencies.get(count * percent / 100).map_or(0, Duration::as_micros);
    Ok(Round {
        per_second: per(count, elapsed.as_secs_f64()),
        cpu_us: cpu * 1e6 / per(count, 1.0),
        p50_us: share(50),
        p99_us: share(99),
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of requests are far below 2^52")]
fn per(count: usize, seconds: f64) -> f64 {
    count as f64 / seconds
}

async fn drive(callers: Vec<Caller>, length: Duration) -> Outcome<(Vec<Caller>, Vec<Duration>)> {
    let until = Instant::now() + length;
    let mut tasks = JoinSet::new();
    for caller in callers {
        tasks.spawn(repeat(caller, until));
    }
    let (mut back, mut latencies) = (Vec::new(), Vec::new());
    while let Some(task) = timeout(length + END_TIMEOUT, tasks.join_next()).await? {
        let (caller, taken) = task??;
        back.push(caller);
        latencies.extend(taken);
    }
    Ok((back, latencies))
}

async fn repeat(mut caller: Caller, until: Instant) -> Outcome<(Caller, Vec<Duration>)> {
    let mut latencies = Vec::new();
    loop {
        let asked = Instant::now();
        if asked >= until {
            return Ok((caller, latencies));
        }
        caller.call().await?;
        latencies.push(asked.elapsed());
        if latencies.len() % CHECKED_EVERY == 1 {
            caller.result()?;
        }
    }
}
