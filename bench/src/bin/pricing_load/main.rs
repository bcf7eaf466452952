//! Measures the pricing services in one process with an embedded store: ingested ticks, features of
//! a window with more and more history outside it, and proposals made and applied by many callers
//! at once. Every call goes through the pipeline. `bench/README.md` explains the output.
//!
//! `cargo xtask bench pricing_load [TICKS]`

#![expect(clippy::print_stdout, reason = "a benchmark talks to a terminal")]

mod pricing_services;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use bench::outcome::Outcome;
use bench::outcome::exit_code;
use clock::{Clock as _, DAY_MS, SystemClock};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use pricing_services::PricingServices;

const CALLERS: usize = 50;
const SKUS: usize = 10_000;
/// The window of the features, and the ticks inside it for a SKU with much history.
const WINDOW: &str = "P7D";
const WINDOW_MS: i64 = 7 * DAY_MS;
const INSIDE: usize = 100;
/// How many times as many ticks are outside the window as inside.
const OUTSIDE: [usize; 3] = [1, 10, 100];
const LONG_SKUS: usize = 5;
const FEATURES: usize = 20_000;
const LOOKS: usize = 2_000;
const PROPOSALS: usize = 5_000;
/// With a hundred times the history outside, the median may grow by at most this factor.
const FLAT: f64 = 2.0;

/// Fails when features depend on the history.
#[tokio::main]
async fn main() -> ExitCode {
    exit_code(measure().await)
}

async fn measure() -> Outcome<bool> {
    let ticks: usize = std::env::args().nth(1).map_or(Ok(1_000_000), |it| it.parse())?;
    let services = Arc::new(PricingServices::open().await?);
    let now = SystemClock.now().0;
    println!("{ticks} ticks over {SKUS} SKUs, {CALLERS} callers at once, SQLite\n");
    println!("| what | calls | a second | p50 ms | p99 ms |\n|---|-:|-:|-:|-:|");
    // All SKUs at one time, then the next time, as a market is watched.
    let step = WINDOW_MS / (ticks.div_ceil(SKUS) as i64 + 1);
    let tick = move |at: usize| {
        let age = (at / SKUS) as i64 * step;
        observed(&format!("SKU-{:05}", at % SKUS), now - age, at)
    };
    show("`ingest_tick`", &measure_calls(&services, "ingest_tick", ticks, tick).await?);
    let window =
        |at: usize| json!({ "sku": format!("SKU-{:05}", at * 7919 % SKUS), "time_window": WINDOW });
    show(
        "`fetch_market_features`",
        &measure_calls(&services, "fetch_market_features", FEATURES, window).await?,
    );
    let ask = |at: usize| json!({ "sku": format!("SKU-{:05}", at * 7919 % SKUS), "our_price": 20, "cost": 9 });
    show(
        "`propose_price`, with history",
        &measure_calls(&services, "propose_price", PROPOSALS, ask).await?,
    );
    show("`propose_price`, then `apply_proposal`", &changes(&services).await?);
    let flat = history(&services, now).await?;
    services.close().await;
    Ok(flat)
}

fn observed(sku: &str, at_ms: i64, number: usize) -> Value {
    let wave = (number * 7919 % 1000) as f64 / 1000.0;
    let cents = |from: f64| (from * 100.0).round() / 100.0;
    json!({ "d": { "sku": sku, "our_price": cents(19.0 + wave), "competitor": format!("shop-{}", number % 5),
        "competitor_price": cents(18.5 + 2.0 * wave), "demand_index": 1.0 + wave / 10.0,
        "units": (number % 7) as f64, "in_stock": !number.is_multiple_of(11), "ts": at_ms } })
}

struct Measured {
    calls: usize,
    whole: Duration,
    /// How long each call took, the shortest first.
    each: Vec<Duration>,
}

impl Measured {
    fn of(whole: Duration, mut each: Vec<Duration>) -> Self {
        each.sort_unstable();
        Self { calls: each.len(), whole, each }
    }

    fn part(&self, share: f64) -> f64 {
        let at = ((self.each.len() as f64 - 1.0) * share).round() as usize;
        self.each.get(at).map_or(0.0, |it| it.as_secs_f64() * 1e3)
    }
}

fn show(name: &str, it: &Measured) {
    let rate = it.calls as f64 / it.whole.as_secs_f64();
    println!("| {name} | {} | {rate:.0} | {:.2} | {:.2} |", it.calls, it.part(0.5), it.part(0.99));
}

/// Callers that repeat calls without a pause; the n-th call is the same in every run.
async fn measure_calls(
    services: &Arc<PricingServices>,
    tool: &'static str,
    calls: usize,
    args: impl Fn(usize) -> Value + Copy + Send + 'static,
) -> Outcome<Measured> {
    let begun = Instant::now();
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let services = Arc::clone(services);
        callers.spawn(async move {
            let mut took = Vec::with_capacity(calls / CALLERS + 1);
            for at in (caller..calls).step_by(CALLERS) {
                let begun = Instant::now();
                services.call(tool, args(at)).await?;
                took.push(begun.elapsed());
            }
            Ok::<_, String>(took)
        });
    }
    gathered(callers, begun).await
}

async fn gathered(
    mut callers: JoinSet<Result<Vec<Duration>, String>>,
    begun: Instant,
) -> Outcome<Measured> {
    let mut each = Vec::new();
    while let Some(caller) = callers.join_next().await {
        each.extend(caller??);
    }
    Ok(Measured::of(begun.elapsed(), each))
}

/// Every caller proposes and applies for the same hundred SKUs. A caller that loses the race is
/// refused, and the refusal counts as an answer.
async fn changes(services: &Arc<PricingServices>) -> Outcome<Measured> {
    let begun = Instant::now();
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let services = Arc::clone(services);
        callers.spawn(async move {
            let mut took = Vec::new();
            for at in (caller..PROPOSALS).step_by(CALLERS) {
                let begun = Instant::now();
                let ask = json!({ "sku": format!("NEW-{}", at % 100), "our_price": 20, "cost": 9,
                    "competitor_price": 18 });
                let made = services.call("propose_price", ask).await?;
                let id = json!({ "proposal_id": made["proposal"]["proposal_id"] });
                match services.call("apply_proposal", id).await {
                    Ok(_) => {}
                    Err(told) if told.contains("proposal_stale") => {}
                    Err(told) => return Err(told),
                }
                took.push(begun.elapsed());
            }
            Ok(took)
        });
    }
    gathered(callers, begun).await
}

/// Features of one window, with more and more history outside it.
async fn history(services: &Arc<PricingServices>, now: i64) -> Outcome<bool> {
    let mut groups = Vec::new();
    for times in OUTSIDE {
        let one = INSIDE * (1 + times);
        let tick = move |at: usize| {
            let (sku, number) = (at % LONG_SKUS, (at / LONG_SKUS) as i64);
            let inside = number < INSIDE as i64;
            // A minute apart within the last hours, and before that beyond the window.
            let age = if inside { number * 60_000 } else { WINDOW_MS + number * 60_000 };
            observed(&format!("LONG-{times}-{sku}"), now - age, at)
        };
        measure_calls(services, "ingest_tick", one * LONG_SKUS, tick).await?;
        groups.push((times, Vec::with_capacity(LOOKS)));
    }
    // In turn, so that other load on the machine affects all alike.
    for at in 0..LOOKS {
        for (times, took) in &mut groups {
            let sku = format!("LONG-{times}-{}", at % LONG_SKUS);
            let begun = Instant::now();
            let seen = services
                .call("fetch_market_features", json!({ "sku": sku, "time_window": WINDOW }))
                .await?;
            took.push(begun.elapsed());
            if seen["sample_count"] != json!(INSIDE) {
                return Err(format!("{} ticks are in the window", seen["sample_count"]).into());
            }
        }
    }
    println!("\n| {INSIDE} ticks in the window, outside it | p50 ms | p99 ms |\n|---|-:|-:|");
    let mut medians = Vec::new();
    for (times, took) in groups {
        let it = Measured::of(Duration::ZERO, took);
        println!("| {} | {:.3} | {:.3} |", times * INSIDE, it.part(0.5), it.part(0.99));
        medians.push(it.part(0.5));
    }
    let ratio = medians.last().unwrap_or(&0.0) / medians.first().unwrap_or(&1.0);
    let verdict = if ratio <= FLAT { "kept" } else { "MISSED" };
    println!(
        "\n{verdict}: p50 with 100 times the history / with as much as inside: {ratio:.2}, at most {FLAT}"
    );
    Ok(ratio <= FLAT)
}
