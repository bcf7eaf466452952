//! Ticks: observations of a product in a market at a moment. The same observation is stored once,
//! and only simulated ticks are ever removed. The rows of a window are adjacent in the table.

use clock::Millis;
use fault::Fault;
use pricing_engine::Amount;
use sha2::{Digest as _, Sha256};
use store::{Db, Sql, SqlRow, SqlValue, Tx, placeholders, sql, sql_built};

use crate::storage::proposals::within;

/// How many rows one statement writes. SQLite searches all placeholders for each one, so the cost
/// grows with their square. There are three sizes, because the database prepares each size once.
const ROWS_PER_STATEMENT: [usize; 3] = [16, 4, 1];
const WIDTH: usize = 13;
const COLUMNS: &str = "sku, market, ts_ms, digest, our_price, competitor, competitor_price, \
                       demand_index, units, in_stock, source, ingested_ms, origin";
/// The source of simulated ticks, from the mock connector and from callers.
pub(crate) const MOCK: &str = "mock";

/// Whether a tick was observed or invented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TickOrigin {
    #[default]
    Observed,
    /// Invented by the simulated market; proposals that use it are marked simulated.
    Simulated,
    /// Simulated by a collection without a connector; it can be read, and no proposal uses it.
    Trial,
}

impl TickOrigin {
    const ALL: [Self; 3] = [Self::Observed, Self::Simulated, Self::Trial];

    /// The origin of a tick that names its source.
    pub(crate) fn of_source(source: &str) -> Self {
        if source == MOCK { Self::Simulated } else { Self::Observed }
    }

    pub(crate) fn is_simulated(self) -> bool {
        self != Self::Observed
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) sku: String,
    pub(crate) market: String,
    pub(crate) at: Millis,
    pub(crate) our_price: Amount,
    /// The seller of `competitor_price`, if the tick names one.
    pub(crate) competitor: Option<String>,
    pub(crate) competitor_price: Option<Amount>,
    pub(crate) demand_index: Option<f64>,
    pub(crate) units: Option<f64>,
    /// Whether the competitor had the product in stock.
    pub(crate) in_stock: Option<bool>,
    pub(crate) source: String,
    pub(crate) origin: TickOrigin,
}

impl Tick {
    /// The part of the key that differs between two observations of one moment, and is equal if the
    /// same observation is sent twice.
    fn digest(&self) -> i64 {
        let mut hash = Sha256::new();
        hash.update(self.our_price.micros().to_le_bytes());
        for text in [self.competitor.as_deref(), Some(self.source.as_str())] {
            hash.update([u8::from(text.is_some())]);
            hash.update(text.unwrap_or_default());
            hash.update([0]);
        }
        hash.update(self.competitor_price.map_or(-1, Amount::micros).to_le_bytes());
        for number in [self.demand_index, self.units] {
            hash.update(number.unwrap_or(-1.0).to_le_bytes());
        }
        hash.update([self.in_stock.map_or(2, u8::from)]);
        // A trial tick and the same tick collected by name have different keys.
        if self.origin == TickOrigin::Trial {
            hash.update([3]);
        }
        let digest: [u8; 32] = hash.finalize().into();
        let [a, b, c, d, e, f, g, h, ..] = digest;
        i64::from_le_bytes([a, b, c, d, e, f, g, h])
    }
}

/// Adds the ticks that are not stored yet and returns how many were new. Rows are written in the
/// order of their keys, so that two writers of the same ticks cannot deadlock.
pub(crate) async fn add(tx: &mut Tx, ticks: &[Tick], now: Millis) -> Result<u64, Fault> {
    let mut ordered: Vec<(&Tick, i64)> = ticks.iter().map(|it| (it, it.digest())).collect();
    let key = |(it, digest): &(&Tick, i64)| (it.at, *digest);
    ordered.sort_unstable_by(|a, b| {
        (&a.0.sku, &a.0.market).cmp(&(&b.0.sku, &b.0.market)).then_with(|| key(a).cmp(&key(b)))
    });
    let (mut new, mut rest) = (0, ordered.as_slice());
    for size in ROWS_PER_STATEMENT {
        while let Some((chunk, left)) = rest.split_at_checked(size) {
            new += tx.execute(insert(chunk, now)).await?;
            rest = left;
        }
    }
    Ok(new)
}

fn insert(ticks: &[(&Tick, i64)], now: Millis) -> Sql {
    let tuples: Vec<String> =
        (0..ticks.len()).map(|row| format!("({})", placeholders(1 + row * WIDTH, WIDTH))).collect();
    let tuples = tuples.join(", ");
    let mut statement = sql_built(format!(
        "INSERT INTO pricing_tick ({COLUMNS}) VALUES {tuples} ON CONFLICT DO NOTHING"
    ));
    for (tick, digest) in ticks {
        statement = statement
            .bind(tick.sku.as_str())
            .bind(tick.market.as_str())
            .bind(tick.at.0)
            .bind(*digest)
            .bind(tick.our_price.micros())
            .bind(tick.competitor.as_deref())
            .bind(tick.competitor_price.map(Amount::micros))
            .bind(tick.demand_index)
            .bind(tick.units)
            .bind(tick.in_stock)
            .bind(tick.source.as_str())
            .bind(now.0)
            .bind(tick.origin as i64);
    }
    statement
}

const WINDOW: &str = "SELECT sku, market, ts_ms, our_price, competitor, competitor_price,
        demand_index, units, in_stock, source, origin
    FROM pricing_tick WHERE sku = $1 AND market = $2 AND ts_ms >= $3 AND ts_ms < $4
        AND origin <= $5
    ORDER BY ts_ms DESC, digest DESC LIMIT $6";

/// The newest ticks of a product in a market from `since` on, up to and without `until`; newest
/// first, at most `limit`. Trial ticks are left out.
pub(crate) async fn window(
    db: &Db,
    of: (&str, &str),
    span: (Millis, Millis),
    limit: u32,
) -> Result<Vec<Tick>, Fault> {
    window_up_to(db, of, span, limit, TickOrigin::Simulated).await
}

/// As [`window`], but with trial ticks if the window has no others.
pub(crate) async fn window_or_trial(
    db: &Db,
    of: (&str, &str),
    span: (Millis, Millis),
    limit: u32,
) -> Result<Vec<Tick>, Fault> {
    let found = window(db, of, span, limit).await?;
    if found.is_empty() {
        return window_up_to(db, of, span, limit, TickOrigin::Trial).await;
    }
    Ok(found)
}

async fn window_up_to(
    db: &Db,
    (sku, market): (&str, &str),
    (since, until): (Millis, Millis),
    limit: u32,
    origin: TickOrigin,
) -> Result<Vec<Tick>, Fault> {
    let bound = sql(WINDOW).bind(sku).bind(market).bind(since.0).bind(until.0);
    db.fetch_all(bound.bind(origin as i64).bind(limit)).await?.iter().map(read).collect()
}

/// Removes up to `limit` simulated ticks of a market, of one product or of every product whose SKU
/// begins with one of the prefixes; returns how many it removed.
pub(crate) async fn remove_simulated(
    tx: &mut Tx,
    (sku, market): (Option<&str>, &str),
    prefixes: Option<&[String]>,
    limit: u32,
) -> Result<u64, Fault> {
    let mut values: Vec<SqlValue> = vec![market.into(), limit.into()];
    let mut of = within(prefixes, &mut values);
    if let Some(sku) = sku {
        values.push(sku.into());
        of.push_str(&format!(" AND sku = ${}", values.len()));
    }
    let statement = sql_built(format!(
        "DELETE FROM pricing_tick WHERE (sku, market, ts_ms, digest) IN (
             SELECT sku, market, ts_ms, digest FROM pricing_tick
             WHERE origin > 0 AND market = $1 AND {of} LIMIT $2)"
    ));
    tx.execute(statement.bind_all(values)).await
}

fn read(row: &SqlRow) -> Result<Tick, Fault> {
    let lost = || Fault::internal("a tick in storage cannot be read");
    let competitor_price = row.int_or_null(5)?;
    let origin = usize::try_from(row.int(10)?).ok();
    Ok(Tick {
        sku: row.text(0)?,
        market: row.text(1)?,
        at: Millis(row.int(2)?),
        our_price: Amount::from_micros(row.int(3)?).ok_or_else(lost)?,
        competitor: row.text_or_null(4)?,
        competitor_price: competitor_price.and_then(Amount::from_micros),
        demand_index: row.real_or_null(6)?,
        units: row.real_or_null(7)?,
        in_stock: row.flag_or_null(8)?,
        source: row.text(9)?,
        origin: origin.and_then(|at| TickOrigin::ALL.get(at).copied()).ok_or_else(lost)?,
    })
}

#[cfg(test)]
mod tests {
    use store::{Db, StoreConfig};
    use testkit::TempFolder;

    use super::*;

    #[tokio::test]
    async fn a_window_is_one_stretch_of_the_table() {
        let folder = TempFolder::new();
        let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
        db.migrate(&[crate::MIGRATIONS]).await.unwrap();
        let plan = sql_built(format!("EXPLAIN QUERY PLAN {WINDOW}"));
        let plan = plan.bind("A").bind("M").bind(0_i64).bind(1_i64).bind(1_i64).bind(10_u32);
        let rows = db.fetch_all(plan).await.unwrap();
        let told: Vec<String> = rows.iter().map(|row| row.text(3).unwrap()).collect();
        let stretch = "USING PRIMARY KEY (sku=? AND market=? AND ts_ms>? AND ts_ms<?)";
        assert!(told.len() == 1 && told[0].ends_with(stretch), "{told:?}");
        db.close().await;
    }
}
