//! `stoa sim`: the simulated exchange alone, for other programs to trade against.

use std::sync::Arc;

use clock::SystemClock;
use market_sim::{Sim, SimConfig};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cli::SimArgs;
use crate::commands::serve::stop_signal;
use crate::config::{Config, LOOPBACK, parse_listen};
use crate::exit::CommandError;

/// The port if the address has none.
const DEFAULT_PORT: u16 = 8090;

#[expect(clippy::print_stderr, reason = "the user needs the address")]
pub(crate) async fn run(args: SimArgs, config: Config) -> Result<(), CommandError> {
    let listen = parse_listen(&args.listen, DEFAULT_PORT, LOOPBACK).ok_or_else(|| {
        let given = &args.listen;
        CommandError::usage(format!(
            "--listen must be like 127.0.0.1:{DEFAULT_PORT}, not {given:?}"
        ))
    })?;
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| CommandError::usage(format!("cannot listen on {listen}: {error}")))?;
    let seed = args.seed.unwrap_or(config.sim_seed);
    eprintln!(
        "the simulated exchange (seed {seed}) is at http://{0}\n\
         \x20 klines   curl 'http://{0}/api/v3/klines?symbol=BTCUSDT&interval=1d&limit=3'\n\
         \x20 faults   curl -X POST http://{0}/sim/faults -d '{{\"kind\":\"status_429\",\"times\":1}}'",
        listener.local_addr()?
    );
    let stop = CancellationToken::new();
    let sim = Sim::new(SimConfig::new(seed, Arc::new(SystemClock)));
    let served = sim.serve(listener, stop.clone());
    tokio::pin!(served);
    tokio::select! {
        () = &mut served => {}
        () = stop_signal() => {
            stop.cancel();
            served.await;
        }
    }
    Ok(())
}
