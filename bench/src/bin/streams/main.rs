//! Measures live streams: events delivered to thousands of WebSocket subscribers against a naive
//! and a tuned axum server in the same run, memory per subscriber, and the latency of a candle.
//! `bench/README.md` explains the tables.
#![allow(clippy::print_stdout, reason = "the tables are what this program is for")]

mod idle_sse;
mod latency;
mod options;
mod relay;
mod round;
mod servers;
mod swarm;
mod table;

use std::net::SocketAddr;
use std::process::ExitCode;

pub(crate) use bench::outcome::Outcome;
use bench::outcome::exit_code;
use idle_sse::Connection;
use options::Options;
use relay::Relay;
use round::Plan;
use servers::{Binaries, PeerMode, Running};
use table::{Row, Target};

/// The daily candle forms for long enough to be the same in every round.
const FORMING: &str = "btcusdt@kline_1d";
const SHORT: &str = "btcusdt@kline_1s";
/// The number of readers in the latency measurement.
const WATCHED: usize = 1_000;

fn main() -> ExitCode {
    exit_code(run())
}

/// Whether every target was met.
fn run() -> Outcome<bool> {
    let options = Options::read(std::env::args().skip(1))?;
    let binaries = Binaries::prepare(&options)?;
    servers::settle()?;
    let exchange = servers::exchange()?;
    let mut targets = Vec::new();
    let most = options.subscribers.iter().max();
    for readers in &options.subscribers {
        let rows = throughput(&options, &binaries, exchange, *readers)?;
        targets.push(table::delivered(*readers, &rows));
        targets.push(table::delivered_against_tuned(*readers, &rows));
        // With few readers, the shared state of the first one outweighs their cost.
        if Some(readers) == most {
            targets.push(table::memory(*readers, &rows));
        }
    }
    if let Some(readers) = most {
        let stoa = Running::stoa(&binaries, exchange, Relay::before(exchange, FORMING)?)?;
        let taken_over = idle_sse::measure(&stoa, *readers, Connection::Fresh)?;
        targets.push(table::idle_sse(*readers, taken_over));
        drop(stoa);
        let stoa = Running::stoa(&binaries, exchange, Relay::before(exchange, FORMING)?)?;
        let with_hyper = idle_sse::measure(&stoa, *readers, Connection::Reused)?;
        println!(
            "an idle reader of server-sent events: {:.1} KB, {:.1} KB without the socket hand-over",
            taken_over / 1_024.0,
            with_hyper / 1_024.0
        );
    }
    let relay = Relay::before(exchange, SHORT)?;
    let stoa = Running::stoa(&binaries, exchange, relay.clone())?;
    let hello = subscribe("1s", "");
    latency::measure(&stoa, &relay, WATCHED, &hello, options.latency)?.print(WATCHED);
    println!();
    for target in &targets {
        println!("{target}");
    }
    Ok(targets.iter().all(Target::is_met))
}

fn throughput(
    options: &Options,
    binaries: &Binaries,
    exchange: SocketAddr,
    readers: usize,
) -> Outcome<[Row; 3]> {
    let hello = subscribe("1d", r#","indicators":{"rsi":{},"macd":{}}"#);
    let mut rows = [Row::new("stoa"), Row::new("naive"), Row::new("tuned")];
    // In turn, so that other load on the machine affects both alike.
    for _ in 0..options.rounds {
        let plan = |hello| Plan { readers, ahead: options.ahead, length: options.seconds, hello };
        let relay = Relay::before(exchange, FORMING)?;
        let stoa = Running::stoa(binaries, exchange, relay)?;
        let round = round::run(stoa, &plan(Some(&hello)))?;
        let event = round.event.clone();
        rows[0].add(round);
        for (row, mode) in [(1, PeerMode::Naive), (2, PeerMode::Tuned)] {
            let peer = Running::peer(binaries, &event, mode)?;
            rows[row].add(round::run(peer, &plan(None))?);
        }
    }
    table::print(readers, &rows);
    Ok(rows)
}

fn subscribe(interval: &str, more: &str) -> String {
    format!(
        r#"{{"type":"subscribe","symbol":"BTCUSDT","interval":"{interval}","closedOnly":false,"heartbeatMs":60000{more}}}"#
    )
}
