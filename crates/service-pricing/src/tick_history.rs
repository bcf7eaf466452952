//! Turns the stored ticks of a product into what the optimizer reads: daily history, the latest
//! prices of its competitors, and the newest demand index.

use std::collections::BTreeMap;

use clock::{DAY_MS, Millis};
use fault::Fault;
use pricing_engine::replay::RecordedPeriod;
use pricing_engine::{CompetitorPrice, HistoryPoint};
use store::Db;

use crate::storage::ticks::{self, Tick};

/// A history has at most 180 days and 20,000 ticks, the newest first, so a product with many ticks
/// has the history of its last weeks.
const HISTORY_DAYS: i64 = 180;
pub(crate) const TICKS_MAX: u32 = 20_000;
/// Competitors' prices of this many days are read; the policy leaves out older ones by its own
/// limit.
const COMPETITOR_DAYS: i64 = 30;
/// A demand index older than this is not used.
const DEMAND_DAYS: i64 = 7;

/// The ticks of a product in the form that the optimizer reads.
#[derive(Debug, Default)]
pub(crate) struct TickHistory {
    /// The product's daily history, for the estimate of the elasticity.
    pub(crate) history: Vec<HistoryPoint>,
    pub(crate) competitors: Vec<CompetitorPrice>,
    /// The newest demand index and its time.
    pub(crate) demand: Option<(f64, Millis)>,
    /// Whether any of the ticks is simulated.
    pub(crate) simulated: bool,
}

/// Loads the history of a product in a market.
pub(crate) async fn load(db: &Db, of: (&str, &str), now: Millis) -> Result<TickHistory, Fault> {
    let since = Millis(now.0 - HISTORY_DAYS * DAY_MS);
    let ticks = ticks::window(db, of, (since, Millis(now.0 + 1)), TICKS_MAX).await?;
    Ok(from_ticks(&ticks, now))
}

/// The recorded days of a window.
#[derive(Debug)]
pub(crate) struct RecordedDays {
    pub(crate) days: Vec<RecordedPeriod>,
    /// Whether all ticks of the window were read.
    pub(crate) whole: bool,
    pub(crate) simulated: bool,
}

/// The days of a window, for a replay.
pub(crate) async fn days(
    db: &Db,
    of: (&str, &str),
    (since, now): (Millis, Millis),
) -> Result<RecordedDays, Fault> {
    let ticks = ticks::window(db, of, (since, Millis(now.0 + 1)), TICKS_MAX).await?;
    let whole = ticks.len() < TICKS_MAX as usize;
    Ok(RecordedDays { days: by_day(&ticks), whole, simulated: any_simulated(&ticks) })
}

/// Computes the history; `ticks` are newest first.
fn from_ticks(ticks: &[Tick], now: Millis) -> TickHistory {
    let since = |days: i64| now.0 - days * DAY_MS;
    // Units of the current day are left out, because the day is not over.
    let today = now.0.div_euclid(DAY_MS) * DAY_MS;
    let over = ticks.iter().filter(|it| it.at.0 < today || it.units.is_none());
    let points: Vec<HistoryPoint> = over.map(point).collect();
    let demand = ticks.iter().take_while(|it| it.at.0 > since(DEMAND_DAYS));
    TickHistory {
        history: pricing_engine::periods(&points, DAY_MS),
        competitors: newest(ticks.iter().take_while(|it| it.at.0 > since(COMPETITOR_DAYS))),
        demand: demand.into_iter().find_map(|it| Some((it.demand_index?, it.at))),
        simulated: any_simulated(ticks),
    }
}

fn any_simulated(ticks: &[Tick]) -> bool {
    ticks.iter().any(|it| it.origin.is_simulated())
}

fn point(tick: &Tick) -> HistoryPoint {
    HistoryPoint {
        at_ms: tick.at.0,
        price: tick.our_price,
        units: tick.units,
        demand_index: tick.demand_index,
        competitor: tick.competitor_price.filter(|_| tick.in_stock != Some(false)),
    }
}

/// The last price of each competitor; the newest ticks come first.
fn newest<'a>(ticks: impl Iterator<Item = &'a Tick>) -> Vec<CompetitorPrice> {
    let mut newest: BTreeMap<&str, CompetitorPrice> = BTreeMap::new();
    for tick in ticks {
        let Some(price) = tick.competitor_price else { continue };
        let name = tick.competitor.as_deref().unwrap_or(&tick.source);
        newest.entry(name).or_insert_with(|| CompetitorPrice {
            name: name.to_owned(),
            price,
            at_ms: tick.at.0,
            in_stock: tick.in_stock.unwrap_or(true),
        });
    }
    newest.into_values().collect()
}

/// One record for each day: our last price, the sum of units, the mean demand, and the last price
/// of each competitor by name, which replays need.
fn by_day(ticks: &[Tick]) -> Vec<RecordedPeriod> {
    let mut days: BTreeMap<i64, Vec<&Tick>> = BTreeMap::new();
    for tick in ticks {
        days.entry(tick.at.0.div_euclid(DAY_MS)).or_default().push(tick);
    }
    days.into_iter().filter_map(|(day, ticks)| record(day, &ticks)).collect()
}

fn record(day: i64, ticks: &[&Tick]) -> Option<RecordedPeriod> {
    let sold: Vec<f64> = ticks.iter().filter_map(|it| it.units).collect();
    let demand: Vec<f64> = ticks.iter().filter_map(|it| it.demand_index).collect();
    Some(RecordedPeriod {
        at_ms: day * DAY_MS,
        price: ticks.first()?.our_price,
        competitors: newest(ticks.iter().copied()),
        units: (!sold.is_empty()).then(|| sold.iter().sum()),
        demand_index: (!demand.is_empty())
            .then(|| demand.iter().sum::<f64>() / demand.len() as f64),
        cost: None,
    })
}
