//! Index constituents with prices and sectors. The exchange's sector column is empty, so the sector
//! comes from the sector index that contains the security.

use std::collections::HashMap;
use std::sync::Arc;

use fault::{Fault, Kind};
use futures_util::future::join_all;
use jiff::civil::Date;
use market::{Constituent, Decimal, Delay, IndexConstituents, Split, WithFreshness};

use crate::Inner;
use crate::moscow_time;
use crate::number;
use crate::snapshot::with_freshness;
use crate::stale_cache::CacheAges;
use crate::weights::IndexWeights;

/// The exchange's sector indices and their sectors.
const SECTORS: [(&str, &str); 10] = [
    ("MOEXOG", "Oil and gas"),
    ("MOEXFN", "Finance"),
    ("MOEXMM", "Metals and mining"),
    ("MOEXCN", "Consumer goods"),
    ("MOEXEU", "Electric utilities"),
    ("MOEXCH", "Chemicals"),
    ("MOEXTN", "Transport"),
    ("MOEXTL", "Telecommunications"),
    ("MOEXIT", "Information technology"),
    ("MOEXRE", "Real estate"),
];

/// A price and its change in percent.
type Price = (Decimal, Option<Decimal>);

/// Prices by code, and their delay.
struct Prices {
    by_code: HashMap<String, Price>,
    delay: Delay,
}

/// Sectors by code, and the error when some could not be fetched.
#[derive(Default)]
struct Sectors {
    by_code: HashMap<String, &'static str>,
    error: Option<String>,
}

impl Inner {
    pub(crate) async fn constituents(
        self: &Arc<Self>,
        index: &str,
        date: Date,
    ) -> Result<WithFreshness<Arc<IndexConstituents>>, Fault> {
        let cached = self.weights(index, date).await?;
        let weights = Arc::clone(&cached.value);
        let mut missing = Vec::new();
        let index = index.trim().to_uppercase();
        let (prices, sectors) =
            tokio::join!(self.prices(&weights), self.sectors(&index, weights.effective));
        let prices = prices.unwrap_or_else(|fault| {
            missing.push(format!("prices: {fault}"));
            Prices { by_code: HashMap::new(), delay: Delay::EndOfDay }
        });
        let sectors = sectors.unwrap_or_else(|fault| Sectors {
            error: Some(fault.to_string()),
            ..Sectors::default()
        });
        missing.extend(sectors.error.map(|error| format!("sectors: {error}")));
        let names = self.index_names().await.ok();
        let name = names.and_then(|names| names.iter().find(|it| it.code == index)?.name.clone());
        let constituent = |member: &crate::weights::IndexMember| {
            let price = prices.by_code.get(&member.code);
            Constituent {
                code: member.code.clone(),
                name: member.name.clone(),
                weight_pct: member.weight_pct,
                price: price.map(|price| price.0),
                change_pct: price.and_then(|price| price.1),
                sector: sectors.by_code.get(&member.code).copied(),
            }
        };
        let basket = IndexConstituents {
            index,
            name,
            requested: date,
            effective: weights.effective,
            constituents: weights.members.iter().map(constituent).collect(),
            missing,
        };
        let end = weights.effective.to_datetime(jiff::civil::Time::constant(23, 59, 59, 0));
        let as_of = moscow_time::to_instant(end).0.min(cached.received_at);
        let mut freshness = self.freshness(as_of, cached.received_at, prices.delay);
        if basket.effective != date {
            let effective = basket.effective;
            freshness.fallback =
                Some(format!("{date} has no basket; this is the one of {effective}"));
        }
        Ok(with_freshness(cached, Arc::new(basket), freshness))
    }

    /// Prices of the running session where the weights are of it, else the closes of their day.
    async fn prices(self: &Arc<Self>, weights: &IndexWeights) -> Result<Prices, Fault> {
        let today = moscow_time::today(self.clock.now());
        if weights.effective >= today {
            return self.live_prices().await.map(|(prices, _)| prices);
        }
        let (closes, before, splits) = tokio::join!(
            self.closes(weights.effective),
            self.closes_before(weights.effective, weights.previous),
            self.all_splits(),
        );
        let closes = closes?;
        if closes.is_empty() {
            // The history of the last session is published late; the board may still show it.
            let (prices, session) = self.live_prices().await?;
            if session == Some(weights.effective) {
                return Ok(prices);
            }
            let message = format!("the exchange has no closes of {}", weights.effective);
            return Err(Fault::unavailable("no_price", message));
        }
        // Where splits are unavailable, a change across a split is obviously wrong.
        let splits = splits.map(|cached| cached.value).unwrap_or_default();
        let price = |(code, close): (&String, &Decimal)| {
            let change = before.as_ref().ok().and_then(|(day, closes)| {
                let before = *closes.get(code)?;
                let before = split_adjusted(before, code, *day, weights.effective, &splits)?;
                number::change_pct(*close, before)
            });
            (code.clone(), (*close, change))
        };
        Ok(Prices { by_code: closes.iter().map(price).collect(), delay: Delay::EndOfDay })
    }

    async fn live_prices(self: &Arc<Self>) -> Result<(Prices, Option<Date>), Fault> {
        let ages = CacheAges { fresh: self.config.price_age, stale: self.config.price_age_stale };
        let board = self.board(ages).await?.value;
        let session = board.snapshots.values().filter_map(|dated| dated.snapshot.session).max();
        let price = |(code, dated): (&String, &crate::snapshot::DatedSnapshot)| {
            (code.clone(), (dated.snapshot.last, dated.snapshot.change_pct))
        };
        let by_code = board.snapshots.iter().map(price).collect();
        Ok((Prices { by_code, delay: board.delay }, session))
    }

    /// The sector of each member of a sector index. Sectors change rarely, so the first trading day
    /// of a month is used for all dates of the month, and one cache entry serves them.
    async fn sectors(self: &Arc<Self>, index: &str, date: Date) -> Result<Sectors, Fault> {
        let names = self.index_names().await?;
        // A trading day, so that no sector index has to search for one.
        let near = self.weights(index, date.first_of_month()).await;
        let date = near.map_or(date, |cached| cached.value.effective);
        let requests = SECTORS.iter().filter_map(|(index, sector)| {
            let name = names.iter().find(|it| it.code == *index)?;
            if name.from.is_some_and(|from| date < from) {
                return None;
            }
            // The constituents of an index that ended still have its sector.
            let day = name.till.map_or(date, |till| till.min(date));
            Some(async move { (*sector, self.weights(index, day).await) })
        });
        let (mut sectors, mut failed) = (Sectors::default(), Vec::new());
        for (sector, weights) in join_all(requests).await {
            match weights {
                Ok(cached) => {
                    for member in &cached.value.members {
                        sectors.by_code.entry(member.code.clone()).or_insert(sector);
                    }
                }
                // The index was not calculated yet on that day.
                Err(fault) if fault.kind() == Kind::NotFound => {}
                Err(fault) => failed.push((sector, fault)),
            }
        }
        if let Some((_, fault)) = failed.first() {
            let names: Vec<&str> = failed.iter().map(|(sector, _)| *sector).collect();
            sectors.error = Some(format!("{fault} (asked for {})", names.join(", ")));
        }
        Ok(sectors)
    }
}

/// A price of `day`, adjusted for the splits up to `date`.
fn split_adjusted(
    price: Decimal,
    code: &str,
    day: Date,
    date: Date,
    splits: &[Split],
) -> Option<Decimal> {
    let between = |split: &&Split| split.code == code && day < split.date && split.date <= date;
    splits
        .iter()
        .filter(between)
        .try_fold(price, |price, split| number::scaled(price, split.before, split.after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_adjusted_for_the_splits_between_two_days() {
        let day = |text: &str| clock::parse_date(text).unwrap();
        let split = |code: &str, date: &str, before, after| Split {
            code: code.to_owned(),
            date: day(date),
            before,
            after,
        };
        let splits = [
            split("TRNFP", "2024-02-21", 1, 100),
            split("VTBR", "2024-07-15", 5_000, 1),
            split("GMKN", "2024-04-08", 1, 100),
        ];
        for (code, price, from, to, scaled) in [
            ("TRNFP", "166850", "2024-02-14", "2024-02-21", "1668.5"),
            ("TRNFP", "166850", "2024-02-14", "2024-02-20", "166850"),
            ("TRNFP", "1583.5", "2024-02-21", "2024-02-22", "1583.5"),
            ("VTBR", "0.0205", "2024-07-12", "2024-07-15", "102.5"),
            ("SBER", "280", "2024-02-14", "2024-02-21", "280"),
        ] {
            let price = price.parse().unwrap();
            let is = split_adjusted(price, code, day(from), day(to), &splits).unwrap();
            assert_eq!(is, scaled.parse().unwrap(), "{code} {from} {to}");
        }
        let broken = [split("SBER", "2024-02-21", 1, 0)];
        let one = "1".parse().unwrap();
        assert_eq!(
            split_adjusted(one, "SBER", day("2024-02-20"), day("2024-02-22"), &broken),
            None
        );
    }
}
