//! What an indicator costs per candle, in batch and one candle at a time, against TA-Lib's C core,
//! Python's `ta` and five Rust crates in the same run. `bench/README.md` says how to read it.
#![allow(clippy::print_stdout, reason = "the tables are what this program is for")]

mod ours;
mod peer;
mod table;

use std::process::{Command, ExitCode};

pub(crate) use bench::outcome::Outcome;
use bench::outcome::exit_code;
use ours::Data;
use peer::{Folder, Peer};
use table::Table;

const ROWS: usize = 1_000_000;

const TALIB: &str = "TA-Lib C";
const PYTHON: &str = "Python ta";

/// The targets against TA-Lib in batch: at least as fast, and twice as fast for these.
const TWICE: [&str; 3] = ["bollinger", "stoch", "macd"];

/// Every contender keeps freed memory: without this, a contender that gives memory back to the
/// system pays for fresh pages at each call, which takes longer than most indicators. All get
/// large pages, which `NumPy` asks for by itself.
const MALLOC: &str = "glibc.malloc.trim_threshold=4000000000\
    :glibc.malloc.mmap_threshold=4000000000:glibc.malloc.hugetlb=1";

fn main() -> ExitCode {
    let outcome = match std::env::var_os("GLIBC_TUNABLES") {
        Some(_) => run(),
        None => again(),
    };
    exit_code(outcome)
}

/// Runs this program with the setting above, which is read when a process starts.
fn again() -> Outcome<bool> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1)).env("GLIBC_TUNABLES", MALLOC);
    match command.status()?.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err("it ended before its time".into()),
    }
}

/// Whether every target was met.
fn run() -> Outcome<bool> {
    let mut args = std::env::args().skip(1);
    let rounds: usize = match args.next() {
        Some(text) => text.parse()?,
        None => 15,
    };
    let selected = SelectedIndicators(args.collect());
    let data = Data::new(ROWS);
    let folder = Folder::new();
    let file = folder.write(&data)?;
    let mut python = Peer::python(&file, ROWS)?;
    let mut crates = Peer::crates(&file, ROWS)?;
    let (mut batch, mut stream) = (Table::default(), Table::default());
    // In turn, so that other load on the machine affects all contenders alike.
    for round in 0..rounds {
        ours::batch(&data, &selected, &mut batch)?;
        python.round("talib", &selected, |name, ns| batch.add(TALIB, name, ns))?;
        ours::stream(&data, &selected, &mut stream)?;
        crates.round("stream", &selected, |name, ns| add(&mut stream, name, ns))?;
        // No target depends on these, so a few rounds are enough.
        if round < 3 {
            crates.round("batch", &selected, |name, ns| add(&mut batch, name, ns))?;
        }
        if round < 2 {
            python.round("ta", &selected, |name, ns| batch.add_starred(PYTHON, name, ns))?;
        }
        if round < 1 {
            python.round("ta-slow", &selected, |name, ns| batch.add_starred(PYTHON, name, ns))?;
        }
    }
    println!("Batch, ns per candle, {ROWS} candles, outputs allocated, {rounds} rounds\n");
    let columns = ["ours", "all series", TALIB, "ta-lib", "kand", "wickra", "ta", "yata", PYTHON];
    println!("{}", batch.show(&columns, &[TALIB], "TA-Lib / ours"));
    println!("One candle at a time, ns per update\n");
    let columns = ["ours", "ta", "ta-lib", "wickra", "kand", "yata"];
    let peers = &columns[1..];
    println!("{}", stream.show(&columns, peers, "best / ours"));
    let mut met = true;
    for (indicator, ratio) in batch.ratios(&[TALIB]) {
        let wanted = if TWICE.contains(&indicator.as_str()) { 2.0 } else { 1.0 };
        met &= verdict("batch", &indicator, ratio, wanted);
    }
    for (indicator, ratio) in stream.ratios(peers) {
        met &= verdict("stream", &indicator, ratio, 1.0);
    }
    Ok(met)
}

/// A row of the Rust crates, with the name of the crate.
fn add(table: &mut Table, name: &str, ns: f64) {
    let (peer, indicator) = name.split_once('\t').unwrap_or(("?", name));
    table.add(peer, indicator, ns);
}

/// The requested indicators; none means all.
pub(crate) struct SelectedIndicators(Vec<String>);

impl SelectedIndicators {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|it| it == name)
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.0
    }
}

fn verdict(form: &str, indicator: &str, ratio: f64, wanted: f64) -> bool {
    let met = ratio >= wanted;
    let word = if met { "met" } else { "MISSED" };
    println!("{word}: {form} {indicator} at {ratio:.2} times the best peer (wanted {wanted})");
    met
}
