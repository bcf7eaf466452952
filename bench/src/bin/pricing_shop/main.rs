//! What the price optimizer earns in simulated shops, against the best fixed price in hindsight,
//! the rule of undercutting by 1 % and matching the cheapest. `bench/README.md` says how to read it.
#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

use std::process::ExitCode;

use pricing::Refusal;
use pricing::shop::{Kind, Line, Player, line};

/// What is promised of the mean over all shops.
const SHARE_MIN: f64 = 0.95;

fn main() -> ExitCode {
    let seeds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    match run(seeds) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(refusal) => {
            println!("the benchmark could not be run: {refusal}");
            ExitCode::from(2)
        }
    }
}

/// Whether every target was met.
fn run(seeds: u64) -> Result<bool, Refusal> {
    let players = Player::rivals_of_fixed();
    println!(
        "Profit over 90 days as a share of the best fixed price in hindsight, {seeds} seeds a shop."
    );
    println!("The margin floor is 12 % in all of them.\n");
    print!("| shop |");
    players.iter().for_each(|it| print!(" {} |", it.word()));
    println!(" worst season | changes a season | best fixed, profit |");
    println!("|---|{}---:|---:|---:|", "---:|".repeat(players.len()));
    let mut lines = Vec::new();
    for kind in Kind::ALL {
        let line = line(kind, seeds)?;
        show(kind.word(), &line);
        lines.push(line);
    }
    let mean = |at: usize| lines.iter().map(|it| it.shares[at]).sum::<f64>() / lines.len() as f64;
    let means: Vec<f64> = (0..players.len()).map(mean).collect();
    print!("| **mean** |");
    means.iter().for_each(|it| print!(" **{:.1} %** |", 100.0 * it));
    println!(" | | |");
    let below: u32 = lines.iter().map(|it| it.below_floor).sum();
    println!("\nDays below the margin floor: {below}");
    let met = means[0] >= SHARE_MIN && means[1..].iter().all(|it| *it < means[0]) && below == 0;
    println!("At least 95 % of hindsight, ahead of the others, never below the floor: {met}");
    Ok(met)
}

fn show(name: &str, line: &Line) {
    print!("| {name} |");
    line.shares.iter().for_each(|it| print!(" {:.1} % |", 100.0 * it));
    println!(" {:.1} % | {:.0} | {:.0} |", 100.0 * line.worst, line.changes[0], line.best_fixed);
}
