//! Measures the cost of a call and the start-up time against a bare rmcp server and a FastMCP
//! server in the same run. `bench/README.md` explains the output.
#![allow(clippy::print_stdout, reason = "the tables are what this program is for")]

mod load;
mod options;
mod servers;
mod startup;
mod table;
mod wire;

use std::process::ExitCode;

pub(crate) use bench::outcome::Outcome;
use bench::outcome::exit_code;
use options::Options;
use servers::{Binaries, Folder, Running};
use table::{Row, Target};
use wire::ProtocolVersion;

/// One thread, so that the client does not displace the servers.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    exit_code(run().await)
}

/// Whether every target was met.
async fn run() -> Outcome<bool> {
    let options = Options::read(std::env::args().skip(1))?;
    let binaries = Binaries::prepare(&options)?;
    let folder = Folder::new();
    let mut targets = calls(&options, &binaries, &folder).await?;
    targets.push(startup::measure(&options, &binaries, &folder)?);
    println!();
    for target in &targets {
        println!("{target}");
    }
    Ok(targets.iter().all(Target::is_met))
}

async fn calls(options: &Options, binaries: &Binaries, folder: &Folder) -> Outcome<Vec<Target>> {
    let stoa = Running::stoa(binaries, folder)?;
    let constant = load::first_answer(&stoa, &options.tickers).await?;
    let bare = Running::bare(binaries, folder, &constant)?;
    let fastmcp = Running::fastmcp(binaries, folder, &constant)?;
    let servers = [&stoa, &bare, &fastmcp];
    let mut targets = Vec::new();
    for version in [ProtocolVersion::Modern, ProtocolVersion::Legacy] {
        for connections in [16, 1] {
            let mut rows = servers.map(|server| Row::new(server.name));
            // In turn, so that other load on the machine affects all servers alike.
            for _ in 0..options.rounds {
                for (server, row) in servers.iter().zip(&mut rows) {
                    let plan = load::Plan { version, connections, tickers: &options.tickers };
                    row.add(load::round(server, &plan, options.seconds).await?);
                }
            }
            println!("\n{version}, {connections} connection(s)");
            table::print_calls(&rows);
            if connections == 16 {
                targets.extend(table::call_targets(&rows, &version.to_string()));
            }
        }
    }
    Ok(targets)
}
