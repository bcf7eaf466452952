//! `simulate_pricing`: replays the recorded days under the optimizer and under simpler strategies.

use clock::{DAY_MS, Millis};
use contract::Cx;
use fault::{Fault, Kind};
use pricing_engine::replay::{RecordedPeriod, Replay, StrategyResult};
use pricing_engine::{Policy, PricingInput, Rate};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::collector::names;
use crate::optimizer::{Optimizer, pricing_input};
use crate::storage::{policies, products};
use crate::tick_history;
use contract::JsonReply;

/// The longest window, in days; older ticks say little about today's market.
const DAYS_MAX: i64 = 1_830;

#[derive(Deserialize)]
pub(crate) struct Args {
    sku: String,
    market: String,
    time_window: String,
    cost: Option<f64>,
    min_margin: f64,
}

pub(crate) async fn call(cx: Cx<Optimizer>, args: Args) -> Result<JsonReply, Fault> {
    names::require_sku_and_market(&cx.caller, &args.sku, &args.market)?;
    let (db, now) = (&cx.service.db, cx.service.now());
    let since = Millis(now.0 - days_of(&args.time_window)? * DAY_MS);
    let recorded = tick_history::days(db, (&args.sku, &args.market), (since, now)).await?;
    let Some(first) = recorded.days.first().map(|it| it.price) else {
        let message = format!(
            "there are no ticks of {} in market {} within {}; ingest some first",
            args.sku, args.market, args.time_window
        );
        return Err(Fault::new(Kind::Conflict, "optimization_error", message));
    };
    let product = products::find(db, &args.sku).await?;
    let category = product.as_ref().and_then(|it| it.category.as_deref());
    let in_force = policies::in_force(db, Some(&args.sku), category).await?;
    let policy = pricing_input::policy(&in_force, product.as_ref());
    let mut input = PricingInput::new(args.sku.as_str(), first, now.0);
    input.cost =
        pricing_input::amount("cost", args.cost)?.or(product.as_ref().and_then(|it| it.cost));
    input.min_margin = Rate::from_f64(args.min_margin).unwrap_or(Rate::ONE);
    if let Some(product) = &product {
        pricing_input::bound(&mut input, product);
    }
    let (count, simulated) = (recorded.days.len(), recorded.simulated);
    let mut replay = run_replay(input, policy, recorded.days).await?;
    if simulated {
        replay.assumptions.push("simulated ticks are among the records".to_owned());
    }
    if !recorded.whole {
        let truncation =
            format!("only the newest {} ticks of the window were read", tick_history::TICKS_MAX);
        replay.assumptions.push(truncation);
    }
    Ok(reply(&args, (count, simulated), &replay))
}

/// Runs on a blocking thread, because a replay can take long.
async fn run_replay(
    input: PricingInput,
    policy: Policy,
    days: Vec<RecordedPeriod>,
) -> Result<Replay, Fault> {
    let work = move || pricing_engine::replay::replay(&input, &policy, &days);
    Ok(tokio::task::spawn_blocking(work).await.map_err(Fault::internal)??)
}

/// The days in `P90D`; the schema has checked the form.
fn days_of(window: &str) -> Result<i64, Fault> {
    let digits = window.trim_start_matches('P').trim_end_matches('D');
    match digits.parse::<i64>() {
        Ok(days) if (1..=DAYS_MAX).contains(&days) => Ok(days),
        _ => {
            let expected = format!("P1D to P{DAYS_MAX}D");
            let message = format!("time_window: expected {expected}");
            Err(Fault::invalid("invalid_input", message).problem("time_window", expected))
        }
    }
}

fn reply(args: &Args, (points, simulated): (usize, bool), replay: &Replay) -> JsonReply {
    let ways = [&replay.optimizer, &replay.do_nothing, &replay.match_cheapest, &replay.recorded];
    let mut lines: Vec<String> = ways
        .iter()
        .map(|it| {
            let profit = it.profit.map_or_else(|| "unknown".to_owned(), |it| format!("{it:.2}"));
            format!(
                "{}: profit {profit}, revenue {:.2}, {} changes",
                it.strategy, it.revenue, it.changes
            )
        })
        .collect();
    let simulation = json!({
        "sku": args.sku,
        "market": args.market,
        "time_window": args.time_window,
        "points": points,
        "elasticity": replay.elasticity,
        "strategies": ways.map(strategy),
        "refused_periods": replay.refused,
        "assumptions": replay.assumptions,
        "simulated": simulated,
    });
    if simulated {
        lines.push("Simulated ticks are among the records.".to_owned());
    }
    JsonReply::new(json!({ "ok": true, "simulation": simulation }), lines.join("\n"))
}

fn strategy(way: &StrategyResult) -> Value {
    json!({
        "strategy": way.strategy,
        "profit": way.profit,
        "revenue": way.revenue,
        "units": way.units,
        "price_changes": way.changes,
        "first_price": way.first_price,
        "last_price": way.last_price,
    })
}
