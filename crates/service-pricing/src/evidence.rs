//! What the ticks of a product say to the optimizer: its days, and what competitors ask now.

use std::collections::BTreeMap;

use fault::Fault;
use market::{DAY_MS, Millis};
use pricing::replay::Record;
use pricing::{Amount, CompetitorPrice, Point};
use store::Db;

use crate::books::ticks::{self, Tick};

/// How far back a product's own history is looked at, and how many ticks of it at most. The newest
/// are taken first, so a busy product is judged by its last weeks.
const HISTORY_DAYS: i64 = 180;
const TICKS_MAX: u32 = 20_000;
/// What is shown of competitors comes from here; the policy sets aside what is too old for it.
const COMPETITOR_DAYS: i64 = 30;

#[derive(Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) days: Vec<Record>,
    pub(crate) competitors: Vec<CompetitorPrice>,
    /// The newest demand index there is.
    pub(crate) demand_index: Option<f64>,
}

pub(crate) async fn gather(db: &Db, of: (&str, &str), now: Millis) -> Result<Evidence, Fault> {
    let since = Millis(now.0 - HISTORY_DAYS * DAY_MS);
    let ticks = ticks::window(db, of, (since, Millis(now.0 + 1)), TICKS_MAX).await?;
    Ok(weigh(&ticks, now))
}

/// The days of a window, for a replay.
pub(crate) async fn days(
    db: &Db,
    of: (&str, &str),
    (since, now): (Millis, Millis),
) -> Result<Vec<Record>, Fault> {
    let ticks = ticks::window(db, of, (since, Millis(now.0 + 1)), TICKS_MAX).await?;
    Ok(by_day(&ticks))
}

/// `ticks` are newest first.
fn weigh(ticks: &[Tick], now: Millis) -> Evidence {
    let mut newest: BTreeMap<&str, CompetitorPrice> = BTreeMap::new();
    for tick in ticks.iter().filter(|it| it.at.0 > now.0 - COMPETITOR_DAYS * DAY_MS) {
        let Some(price) = tick.competitor_price else { continue };
        let name = tick.competitor.as_deref().unwrap_or(&tick.source);
        newest.entry(name).or_insert_with(|| CompetitorPrice {
            name: name.to_owned(),
            price,
            at_ms: tick.at.0,
            in_stock: tick.in_stock.unwrap_or(true),
        });
    }
    // A day that is not over has not sold what it will.
    let today = now.0.div_euclid(DAY_MS) * DAY_MS;
    let mut days = by_day(ticks);
    days.retain(|day| day.at_ms < today || day.units.is_none());
    Evidence {
        days,
        competitors: newest.into_values().collect(),
        demand_index: ticks.iter().find_map(|it| it.demand_index),
    }
}

/// One record for each day: the last price asked on it, units added up, demand averaged, and the
/// last price of each competitor.
fn by_day(ticks: &[Tick]) -> Vec<Record> {
    let mut days: BTreeMap<i64, Vec<&Tick>> = BTreeMap::new();
    for tick in ticks {
        days.entry(tick.at.0.div_euclid(DAY_MS)).or_default().push(tick);
    }
    days.into_iter().filter_map(|(day, ticks)| record(day, &ticks)).collect()
}

fn record(day: i64, ticks: &[&Tick]) -> Option<Record> {
    let sold: Vec<f64> = ticks.iter().filter_map(|it| it.units).collect();
    let demand: Vec<f64> = ticks.iter().filter_map(|it| it.demand_index).collect();
    let mut competitors: BTreeMap<&str, CompetitorPrice> = BTreeMap::new();
    for tick in ticks {
        let Some(price) = tick.competitor_price else { continue };
        let name = tick.competitor.as_deref().unwrap_or(&tick.source);
        competitors.entry(name).or_insert_with(|| CompetitorPrice {
            name: name.to_owned(),
            price,
            at_ms: tick.at.0,
            in_stock: tick.in_stock.unwrap_or(true),
        });
    }
    Some(Record {
        at_ms: day * DAY_MS,
        price: ticks.first()?.our_price,
        competitors: competitors.into_values().collect(),
        units: (!sold.is_empty()).then(|| sold.iter().sum()),
        demand_index: (!demand.is_empty())
            .then(|| demand.iter().sum::<f64>() / demand.len() as f64),
        cost: None,
    })
}

impl Evidence {
    /// The days as the estimate of the elasticity takes them.
    pub(crate) fn points(&self) -> Vec<Point> {
        let point = |day: &Record| Point {
            at_ms: day.at_ms,
            price: day.price,
            units: day.units,
            demand_index: day.demand_index,
            competitor: median(day.competitors.iter().filter(|it| it.in_stock).map(|it| it.price)),
        };
        self.days.iter().map(point).collect()
    }
}

/// The lower one of the two in the middle, so that it is a price somebody asked.
fn median(prices: impl Iterator<Item = Amount>) -> Option<Amount> {
    let mut prices: Vec<Amount> = prices.collect();
    prices.sort_unstable();
    prices.get(prices.len().checked_sub(1)? / 2).copied()
}
