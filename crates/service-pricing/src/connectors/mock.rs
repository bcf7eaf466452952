//! A simulated market: three to six competitors for each SKU, with trends, noise, promotions and
//! stock-outs, and a demand that depends on prices. The same seed, SKU, market and moment give the
//! same ticks. Every tick is invented, and its source is `mock`.

use async_trait::async_trait;
use clock::{DAY_MS, Millis};
use fault::Fault;
use pricing_engine::Amount;
use sha2::{Digest as _, Sha256};

use crate::connectors::{CollectedBatch, CollectionRequest, Connector, SourceStatus};
use crate::storage::ticks::{MOCK, Tick, TickOrigin};

const HOUR_MS: i64 = 3_600_000;
const MINUTE_MS: i64 = 60_000;
/// The simulated market price divided by the cost.
const MARKUP: f64 = 1.4;
/// The price elasticity of the simulated demand.
const ELASTICITY: f64 = -1.8;
const SHOPS: [&str; 6] = ["northwind", "fairprice", "corner-shop", "megastore", "bazaar", "outlet"];

pub(crate) struct MockConnector {
    pub(crate) seed: u64,
}

#[async_trait]
impl Connector for MockConnector {
    fn name(&self) -> &'static str {
        "mock"
    }

    fn kind(&self) -> &'static str {
        "mock"
    }

    fn description(&self) -> &'static str {
        "A simulated market of competitors: invented prices, for trying things out"
    }

    async fn status(&self) -> SourceStatus {
        SourceStatus::Ready
    }

    /// The minute of the request, and the full hours before it.
    async fn batch_keys(&self, request: &CollectionRequest) -> Result<Vec<String>, Fault> {
        let now = request.asked_at.0.div_euclid(MINUTE_MS) * MINUTE_MS;
        let hour = (now - 1).div_euclid(HOUR_MS) * HOUR_MS;
        let before = (0..i64::from(request.depth) - 1).map(|step| hour - step * HOUR_MS);
        Ok(std::iter::once(now).chain(before).map(|at| at.to_string()).collect())
    }

    async fn fetch_batch(
        &self,
        request: &CollectionRequest,
        batch_key: &str,
    ) -> Result<CollectedBatch, Fault> {
        let at = Millis(batch_key.parse().map_err(Fault::internal)?);
        Ok(CollectedBatch { ticks: self.ticks_at(request, at), ..CollectedBatch::default() })
    }
}

impl MockConnector {
    /// A uniform number from 0 to 1, a hash of the seed, the words and the number.
    fn uniform(&self, words: &[&str], number: i64) -> f64 {
        let mut hash = Sha256::new();
        hash.update(self.seed.to_le_bytes());
        for word in words {
            hash.update(word.as_bytes());
            hash.update([0]);
        }
        hash.update(number.to_le_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        let [a, b, c, d, ..] = digest;
        f64::from(u32::from_le_bytes([a, b, c, d])) / f64::from(u32::MAX)
    }

    /// The price around which the competitors' prices vary: from the cost, else from our price,
    /// else invented.
    fn market_price(&self, request: &CollectionRequest) -> f64 {
        let product = request.product.as_ref();
        let cost = product.and_then(|it| it.cost).map(Amount::to_f64).filter(|it| *it > 0.0);
        let price = product.and_then(|it| it.price).map(Amount::to_f64).filter(|it| *it > 0.0);
        let invented = || (5.0 * 40.0_f64.powf(self.uniform(&["worth", &request.sku], 0))).round();
        cost.map(|it| it * MARKUP).or(price).unwrap_or_else(invented)
    }

    fn ticks_at(&self, request: &CollectionRequest, at: Millis) -> Vec<Tick> {
        let market_price = self.market_price(request);
        let product = [request.sku.as_str(), request.market.as_str()];
        let ours = request.product.as_ref().and_then(|it| it.price).or_else(|| money(market_price));
        let Some(our_price) = ours.filter(|it| it.is_positive()) else { return Vec::new() };
        let shops = 3 + (self.uniform(&[product[0], product[1], "shops"], 0) * 3.99) as usize;
        let offers: Vec<(&str, f64, bool)> = SHOPS
            .into_iter()
            .take(shops)
            .map(|shop| {
                let (price, in_stock) = self.offer(product, shop, market_price, at);
                (shop, price, in_stock)
            })
            .collect();
        let best = offers.iter().filter(|it| it.2).map(|it| it.1).fold(f64::INFINITY, f64::min);
        let best = if best.is_finite() { best } else { market_price };
        let demand = self.demand(product, our_price.to_f64() / best, at);
        let sold =
            (20.0 * demand * self.uniform(&[product[0], product[1], "units"], at.0) * 2.0).round();
        let tick = |(shop, price, in_stock): (&str, f64, bool)| {
            Some(Tick {
                sku: request.sku.clone(),
                market: request.market.clone(),
                at,
                our_price,
                competitor: Some(shop.to_owned()),
                competitor_price: Some(money(price).filter(|it| it.is_positive())?),
                demand_index: Some(demand),
                // Only the first competitor's tick has our units, so that they are counted once.
                units: (shop == SHOPS[0]).then_some(sold),
                in_stock: Some(in_stock),
                source: MOCK.to_owned(),
                origin: if request.trial { TickOrigin::Trial } else { TickOrigin::Simulated },
            })
        };
        offers.into_iter().filter_map(tick).collect()
    }

    /// A competitor's price at a moment, and whether it has the product in stock.
    fn offer(&self, product: [&str; 2], shop: &str, market_price: f64, at: Millis) -> (f64, bool) {
        let [sku, market] = product;
        let own = |what: &str, number: i64| self.uniform(&[sku, market, shop, what], number);
        let (day, week) = (at.0.div_euclid(DAY_MS), at.0.div_euclid(7 * DAY_MS));
        let level = 0.9 + 0.25 * own("level", 0);
        let days = at.0 as f64 / DAY_MS as f64;
        let turn = std::f64::consts::TAU * (days / 60.0 + own("turn", 0));
        let trend = 1.0 + 0.06 * turn.sin();
        let noise = 1.0 + 0.02 * (own("noise", day) - 0.5);
        // One week in six is a sale.
        let sale = if own("sale", week) < 1.0 / 6.0 { 0.85 } else { 1.0 };
        (market_price * level * trend * noise * sale, own("stock", day) >= 0.06)
    }

    /// The demand index; about 0.5 if our price equals the lowest offer.
    fn demand(&self, [sku, market]: [&str; 2], ratio: f64, at: Millis) -> f64 {
        let weekday = at.0.div_euclid(DAY_MS).rem_euclid(7) as f64;
        let season = 1.0 + 0.1 * (std::f64::consts::TAU * weekday / 7.0).sin();
        let noise = 0.95 + 0.1 * self.uniform(&[sku, market, "demand"], at.0.div_euclid(HOUR_MS));
        let index = 0.5 * ratio.clamp(0.1, 10.0).powf(ELASTICITY) * season * noise;
        (index.min(5.0) * 1_000.0).round() / 1_000.0
    }
}

/// An amount rounded to the cent.
fn money(value: f64) -> Option<Amount> {
    Amount::from_f64((value * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(sku: &str, depth: u32) -> CollectionRequest {
        let asked_at = Millis(1_800_000_123_456);
        CollectionRequest {
            sku: sku.to_owned(),
            market: "DEFAULT".to_owned(),
            depth,
            product: None,
            asked_at,
            trial: false,
        }
    }

    async fn all(mock: &MockConnector, request: &CollectionRequest) -> Vec<Tick> {
        let mut ticks = Vec::new();
        for batch_key in mock.batch_keys(request).await.unwrap() {
            ticks.extend(mock.fetch_batch(request, &batch_key).await.unwrap().ticks);
        }
        ticks
    }

    #[tokio::test]
    async fn the_same_seed_and_moment_give_the_same_market() {
        let mock = MockConnector { seed: 7 };
        let first = all(&mock, &request("A", 24)).await;
        assert_eq!(first, all(&mock, &request("A", 24)).await);
        assert_ne!(first, all(&MockConnector { seed: 8 }, &request("A", 24)).await);
        assert_ne!(first[0].our_price, all(&mock, &request("B", 1)).await[0].our_price);
        assert!(first.iter().all(|it| it.source == "mock" && it.origin == TickOrigin::Simulated));
        let apart = all(&mock, &CollectionRequest { trial: true, ..request("A", 1) }).await;
        assert!(apart.iter().all(|it| it.origin == TickOrigin::Trial));
    }

    #[tokio::test]
    async fn a_larger_depth_goes_back_hour_by_hour() {
        let mock = MockConnector { seed: 7 };
        let batch_keys = mock.batch_keys(&request("A", 3)).await.unwrap();
        assert_eq!(batch_keys, ["1800000120000", "1800000000000", "1799996400000"]);
        let on_the_hour =
            CollectionRequest { asked_at: Millis(1_800_000_000_000), ..request("A", 2) };
        let batch_keys = mock.batch_keys(&on_the_hour).await.unwrap();
        assert_eq!(batch_keys, ["1800000000000", "1799996400000"]);
    }

    #[tokio::test]
    async fn prices_stay_about_what_the_product_is_worth() {
        let mut request = request("A", 100);
        let cost = Amount::from_f64(10.0);
        request.product = Some(crate::storage::products::Product { cost, ..Default::default() });
        let ticks = all(&MockConnector { seed: 1 }, &request).await;
        assert!(ticks.len() >= 300, "{}", ticks.len());
        for tick in &ticks {
            let price = tick.competitor_price.unwrap().to_f64();
            assert!((8.0..20.0).contains(&price), "{price}");
            assert!((0.0..=5.0).contains(&tick.demand_index.unwrap()));
        }
        let out = ticks.iter().filter(|tick| tick.in_stock == Some(false)).count();
        assert!(out < ticks.len() / 2);
    }
}
