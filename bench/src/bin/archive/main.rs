//! Measures the archive: small files from upload to insights, a large text, a thousand pages
//! against `pdftotext`, twenty large uploads at once, and one upload against `curl` into a plain
//! file server. All requests go over HTTP to a `stoa serve`. `bench/README.md` explains the output.
#![allow(clippy::print_stdout, reason = "the tables are what this program is for")]

mod crowd;
mod large;
mod options;
mod papers;
mod plain;
mod process;
mod server;
mod small;
mod table;
mod throughput;
mod wire;
mod writers;

use std::process::ExitCode;

pub(crate) use bench::outcome::Outcome;
use bench::outcome::exit_code;
use options::{Options, Part};
use table::Target;

pub(crate) const MB: usize = 1024 * 1024;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).peekable();
    // This program is also the plain server of the comparison.
    let outcome = if args.next_if(|it| it == plain::FLAG).is_some() {
        plain::serve(args).map(|()| true)
    } else {
        Options::read(args).and_then(|options| run(&options))
    };
    exit_code(outcome)
}

/// Whether every target was met.
fn run(options: &Options) -> Outcome<bool> {
    let binary = server::prepare(options)?;
    let mut targets: Vec<Target> = Vec::new();
    println!("load of the machine before: {}", process::load_average()?);
    for part in &options.parts {
        targets.extend(match part {
            Part::Small => small::measure(&binary, options)?,
            Part::Text => large::text(&binary, options)?,
            Part::Pdf => large::pdf(&binary, options)?,
            Part::Crowd => crowd::measure(&binary, options)?,
            Part::Upload => throughput::measure(&binary, options)?,
        });
    }
    println!("\nload of the machine after: {}\n", process::load_average()?);
    for target in &targets {
        println!("{target}");
    }
    Ok(targets.iter().all(Target::is_met))
}
