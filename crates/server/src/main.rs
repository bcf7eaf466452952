//! `stoa`: one server for markets, prices and documents.
//!
//! This crate reads the configuration, joins the parts and stops them in order. It is the only one
//! that sees all others, and the only one that reads the environment.

mod agents;
mod app;
mod archive;
mod cli;
mod commands;
mod config;
mod exit;
mod health;
mod language_model;
mod meters;
mod oauth;
mod open_files;
mod price_push;
mod pricing;
mod tool_caller;
mod venues;

use std::process::ExitCode;

use clap::Parser as _;

/// A call makes many small allocations, which mimalloc serves faster than the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    // The processes that work on one file need neither settings nor a runtime.
    match cli.command {
        cli::Command::ExtractWorker => {
            return archive_extract::worker_main(std::io::stdin(), std::io::stdout());
        }
        cli::Command::AnalysisWorker => {
            return service_archive::analysis_main(std::io::stdin(), std::io::stdout());
        }
        _ => {}
    }
    match commands::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
