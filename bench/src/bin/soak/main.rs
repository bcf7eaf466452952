//! Load, faults and kills at once: `stoa serve` with thousands of connections, malformed input, an
//! exchange that fails, and `kill -9` every few seconds. Nothing acknowledged may be lost.
//! `bench/README.md` explains the output.
#![allow(clippy::print_stdout, reason = "the program prints its result")]

mod acknowledged;
mod clients;
mod exchange;
mod http;
mod kill_windows;
mod lives;
mod load;
mod malformed;
mod observations;
mod options;
mod pace;
mod report;
mod server_process;
mod stream_check;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) use bench::outcome::Outcome;
use bench::outcome::exit_code;
use bench::processes::free_address;
use testkit::TempFolder;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use acknowledged::Acknowledged;
use clients::Shared;
use clients::idle::IdleCounts;
use exchange::Exchange;
use lives::Lives;
use load::{Load, stream_readers};
use observations::Observations;
use options::Options;
use pace::Pace;
use report::Report;
use server_process::{ExchangeProcess, Launcher};
use stream_check::StreamReaders;

/// Connections of the server beside those of the load: checks, malformed input, health.
const CONNECTIONS_BESIDE: usize = 1_000;
const LOG_LINES: usize = 20;

#[tokio::main]
async fn main() -> ExitCode {
    exit_code(run().await)
}

/// The folder of the data and the logs.
enum RunFolder {
    Kept(PathBuf),
    Temporary(TempFolder),
}

impl RunFolder {
    fn new(options: &Options) -> Outcome<Self> {
        Ok(match &options.keep {
            None => Self::Temporary(TempFolder::new()),
            Some(path) => {
                std::fs::create_dir_all(path)?;
                Self::Kept(path.canonicalize()?)
            }
        })
    }

    fn path(&self) -> PathBuf {
        match self {
            Self::Kept(path) => path.clone(),
            Self::Temporary(folder) => folder.path().to_owned(),
        }
    }
}

/// Whether all goals were met.
async fn run() -> Outcome<bool> {
    let options = Options::read(std::env::args().skip(1))?;
    let open_files = server_process::raise_open_files()?;
    let idle = server_process::idle_that_fit(&options, open_files);
    let folder = RunFolder::new(&options)?;
    let binary = match &options.stoa {
        Some(path) => path.canonicalize()?,
        None => bench::binaries::build("stoa")?,
    };
    let process = ExchangeProcess::start(&binary, &folder.path(), options.seed).await?;
    let exchange = Exchange(process.address);
    exchange.remove_rate_limits().await?;
    let launcher = Launcher {
        binary,
        folder: folder.path(),
        address: free_address()?,
        exchange: process.address,
        connections_max: idle + options.active + CONNECTIONS_BESIDE,
    };
    let (life, watched) = watch::channel(None);
    let shared = Arc::new(Shared {
        address: launcher.address,
        token: launcher.mint()?,
        observations: Observations::new(),
        acknowledged: Acknowledged::default(),
        idle: IdleCounts::new(),
        life: watched,
        pace: Pace::per_second(options.rate),
        stop: CancellationToken::new(),
    });
    println!(
        "seed {}, {} active and {idle} of {} idle connections, {} open files allowed",
        options.seed, options.active, options.idle, open_files
    );
    let mut lives = Lives::begin(launcher, life).await?;
    let readers = StreamReaders::start(&shared, options.seed, stream_readers(options.active));
    let load = Load { options: &options, shared: &shared, exchange, idle };
    let mut findings = load.run(&mut lives).await?;
    findings.add(verify::check_all(&shared, options.seed).await);
    let delivered = readers.check(exchange).await?;
    let log = lives.log_tail(LOG_LINES);
    let report = Report {
        shared: &shared,
        lives: &lives.end(&shared)?,
        findings: &findings,
        delivered: &delivered,
        idle_possible: idle,
        idle_asked: options.idle,
    };
    let met = report.print();
    if !met {
        println!("\nThe last lines of the server's log:\n{log}");
    }
    if !findings.unchecked.is_empty() {
        let unchecked = findings.unchecked.join(", ");
        return Err(format!("these could not be checked: {unchecked}").into());
    }
    println!("\n{}", if met { "all goals are met" } else { "NOT all goals are met" });
    Ok(met)
}
