//! What the price optimizer earns in simulated shops, against the best fixed price in hindsight,
//! the rule of undercutting by 1 % and matching the cheapest. `bench/README.md` says how to read it.
#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use bench::outcome::exit_code;
use pricing_engine::shop::{DAY_MS, Kind, ShopStrategy, ShopSummary, summarise};
use pricing_engine::{Amount, HistoryPoint, Policy, PricingInput, Refusal, propose};

/// The targets for the mean over all shops.
const SHARE_MIN: f64 = 0.95;

fn main() -> ExitCode {
    let seeds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    exit_code(run(seeds))
}

/// Whether every target was met.
fn run(seeds: u64) -> Result<bool, Refusal> {
    let strategies = ShopStrategy::compared();
    println!(
        "Profit over 90 days as a share of the best fixed price in hindsight, {seeds} seeds a shop."
    );
    println!("The margin floor is 12 % in all of them.\n");
    print!("| shop |");
    strategies.iter().for_each(|it| print!(" {} |", it.word()));
    println!(" worst season | changes a season | best fixed, profit |");
    println!("|---|{}---:|---:|---:|", "---:|".repeat(strategies.len()));
    let mut lines = Vec::new();
    for kind in Kind::ALL {
        let line = summarise(kind, seeds)?;
        show(kind.word(), &line);
        lines.push(line);
    }
    let mean = |at: usize| lines.iter().map(|it| it.shares[at]).sum::<f64>() / lines.len() as f64;
    let means: Vec<f64> = (0..strategies.len()).map(mean).collect();
    print!("| **mean** |");
    means.iter().for_each(|it| print!(" **{:.1} %** |", 100.0 * it));
    println!(" | | |");
    let below: u32 = lines.iter().map(|it| it.below_floor).sum();
    println!("\nDays below the margin floor: {below}");
    println!("One proposal with 90 days of history takes {:.0} µs.", micros_each()?);
    let met = means[0] >= SHARE_MIN && means[1..].iter().all(|it| *it < means[0]) && below == 0;
    println!("At least 95 % of hindsight, ahead of the others, never below the floor: {met}");
    Ok(met)
}

/// The time of a proposal at the end of a season.
fn micros_each() -> Result<f64, Refusal> {
    const ROUNDS: u32 = 200;
    let mut input =
        PricingInput::new("SHOP", Amount::from_micros(20_000_000).unwrap_or_default(), 90 * DAY_MS);
    input.cost = Amount::from_micros(12_000_000);
    input.history = (0..90_i64)
        .map(|day| HistoryPoint {
            at_ms: day * DAY_MS,
            price: Amount::from_micros(19_000_000 + day % 7 * 300_000).unwrap_or_default(),
            units: Some((60 - day % 11) as f64),
            demand_index: None,
            competitor: Amount::from_micros(19_500_000 + day % 5 * 200_000),
        })
        .collect();
    input.competitor_price = Amount::from_micros(19_700_000);
    let policy = Policy::default();
    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(propose(black_box(&input), &policy)?);
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS))
}

fn show(name: &str, line: &ShopSummary) {
    print!("| {name} |");
    line.shares.iter().for_each(|it| print!(" {:.1} % |", 100.0 * it));
    println!(" {:.1} % | {:.0} | {:.0} |", 100.0 * line.worst, line.changes[0], line.best_fixed);
}
