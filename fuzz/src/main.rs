//! `fuzz [TARGET] [--runs N] [--seed S] [--first N] [--input FILE]`: runs one target or all of them.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to its terminal"
)]

use std::path::Path;
use std::process::ExitCode;

use fuzz::runner::{Runs, Watch, load, run, save};
use fuzz::targets::{TARGETS, Target};

const USAGE: &str = "fuzz [TARGET] [--runs N] [--seed S] [--first N] [--input FILE]";

struct Options {
    target: Option<String>,
    runs: Runs,
    input: Option<String>,
}

fn main() -> ExitCode {
    match options().and_then(|options| start(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Options, String> {
    let runs = Runs { seed: 1, first: 0, count: 100_000 };
    let mut options = Options { target: None, runs, input: None };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if !arg.starts_with('-') {
            options.target = Some(arg);
            continue;
        }
        let value = args.next().ok_or_else(|| format!("{arg} needs a value\n{USAGE}"))?;
        let number = || value.parse().map_err(|_| format!("{arg} {value}: expected a number"));
        match arg.as_str() {
            "--runs" => options.runs.count = number()?,
            "--seed" => options.runs.seed = number()?,
            "--first" => options.runs.first = number()?,
            "--input" => options.input = Some(value),
            _ => return Err(format!("unknown option {arg}\n{USAGE}")),
        }
    }
    Ok(options)
}

/// Whether all runs passed.
fn start(options: &Options) -> Result<bool, String> {
    let wanted = |it: &&Target| options.target.as_deref().is_none_or(|name| name == it.name);
    let chosen: Vec<&Target> = TARGETS.iter().filter(wanted).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = TARGETS.iter().map(|it| it.name).collect();
        return Err(format!("no such target; there are: {}", names.join(" ")));
    }
    if let Some(path) = &options.input {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let bytes = load(&text).ok_or_else(|| format!("{path}: expected hexadecimal digits"))?;
        let failed: Vec<&str> =
            chosen.iter().filter(|it| fuzz::runner::panics(it, &bytes)).map(|it| it.name).collect();
        println!("{path}: {} bytes, failed: {failed:?}", bytes.len());
        return Ok(failed.is_empty());
    }
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = crate_folder.parent().unwrap_or(crate_folder).join("target/fuzz");
    let watch = Watch::default();
    watch.end_at_hang(&folder);
    let mut passed = true;
    for target in chosen {
        passed &= report(target, options.runs, &watch, &folder)?;
    }
    Ok(passed)
}

fn report(target: &Target, runs: Runs, watch: &Watch, folder: &Path) -> Result<bool, String> {
    let name = target.name;
    let saved = |what: &str, bytes: &[u8]| {
        let path = save(folder, &format!("{name}-{what}"), bytes);
        path.map(|it| it.display().to_string()).map_err(|error| format!("{what}: {error}"))
    };
    let summary = run(target, runs, watch);
    let (slowest, elapsed, bytes) = &summary.slowest;
    let rate = summary.runs as f64 / summary.elapsed.as_secs_f64().max(1e-9);
    println!(
        "{name}: {} runs, {rate:.0} runs/s; slowest: run {slowest}, {} bytes in {:.1} ms, {}",
        summary.runs,
        bytes.len(),
        elapsed.as_secs_f64() * 1e3,
        saved("slowest", bytes)?,
    );
    let Some((failed, bytes)) = summary.failed else { return Ok(true) };
    let path = saved("panic", &bytes)?;
    println!(
        "{name}: run {failed} panicked; its input, made smaller to {} bytes: {path}",
        bytes.len()
    );
    println!(
        "  repeat the run:   cargo xtask fuzz {name} --seed {} --first {failed} --runs 1",
        runs.seed
    );
    println!("  repeat the input: cargo xtask fuzz {name} --input {path}");
    Ok(false)
}
