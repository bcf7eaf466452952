//! The simulated market: the demand of customers, weekdays, and competitors.

use super::competitor::{Competitor, CompetitorHabit};
use super::random;
use crate::CompetitorPrice;
use crate::money::Amount;

/// How demand depends on prices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Curve {
    /// `(p/scale)^elasticity · (m/scale)^cross`
    Constant { elasticity: f64, cross: f64 },
    /// Each customer chooses the best offer: ours, a competitor's or none. `sensitivity` is per
    /// `scale` of price.
    Logit { sensitivity: f64, appeal: f64 },
}

/// A kind of shop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Weak answer to price, competitors with drifting prices.
    Loyal,
    /// Ordinary answer to price, competitors with promotions.
    Ordinary,
    /// Strong answer to price, competitors with drifting prices.
    Sharp,
    /// Free choice among competitors with promotions who run out of stock.
    Choice,
    /// Free choice, one competitor follows us.
    Followed,
    /// Free choice, competitors undercut each other and us.
    PriceWar,
    /// Ordinary answer to price, a follower and an undercutter.
    Mixed,
    /// Free choice, strong weekdays and a drift.
    Seasonal,
}

impl Kind {
    pub const ALL: [Self; 8] = [
        Self::Loyal,
        Self::Ordinary,
        Self::Sharp,
        Self::Choice,
        Self::Followed,
        Self::PriceWar,
        Self::Mixed,
        Self::Seasonal,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Loyal => "loyal customers",
            Self::Ordinary => "promotions",
            Self::Sharp => "sharp customers",
            Self::Choice => "choice, stock-outs",
            Self::Followed => "choice, follower",
            Self::PriceWar => "choice, price war",
            Self::Mixed => "follower, undercutter",
            Self::Seasonal => "choice, seasons",
        }
    }

    fn curve(self, seed: u64) -> Curve {
        let constant = |low: f64, high: f64, cross: f64| Curve::Constant {
            elasticity: random::between(seed, 1, low, high),
            cross,
        };
        let logit = Curve::Logit {
            sensitivity: random::between(seed, 1, 3.5, 6.0),
            appeal: random::between(seed, 2, -0.3, 0.5),
        };
        match self {
            Self::Loyal => constant(-2.0, -1.6, 0.4),
            Self::Ordinary => constant(-3.0, -2.2, 0.6),
            Self::Sharp => constant(-4.5, -3.5, 1.0),
            Self::Mixed => constant(-3.0, -2.2, 0.5),
            Self::Choice | Self::Followed | Self::PriceWar | Self::Seasonal => logit,
        }
    }

    fn habits(self) -> &'static [(CompetitorHabit, bool)] {
        match self {
            Self::Loyal | Self::Sharp => {
                &[(CompetitorHabit::Wanderer, false), (CompetitorHabit::Wanderer, false)]
            }
            Self::Ordinary => {
                &[(CompetitorHabit::Promoter, false), (CompetitorHabit::Wanderer, false)]
            }
            Self::Choice => &[
                (CompetitorHabit::Promoter, true),
                (CompetitorHabit::Wanderer, true),
                (CompetitorHabit::Wanderer, false),
            ],
            Self::Followed => {
                &[(CompetitorHabit::Follower, false), (CompetitorHabit::Wanderer, false)]
            }
            Self::PriceWar => {
                &[(CompetitorHabit::Undercutter, false), (CompetitorHabit::Undercutter, false)]
            }
            Self::Mixed => {
                &[(CompetitorHabit::Follower, false), (CompetitorHabit::Undercutter, true)]
            }
            Self::Seasonal => {
                &[(CompetitorHabit::Wanderer, false), (CompetitorHabit::Promoter, false)]
            }
        }
    }
}

/// The market of one shop.
#[derive(Debug, Clone)]
pub struct SimulatedMarket {
    pub kind: Kind,
    pub seed: u64,
    pub cost: Amount,
    /// Our price before the first day: the cost with a usual markup.
    pub start: Amount,
    pub curve: Curve,
    pub competitors: Vec<Competitor>,
    scale: f64,
    size: f64,
}

impl SimulatedMarket {
    pub fn new(kind: Kind, seed: u64) -> Self {
        let cents = |value: f64| {
            Amount::from_micros((value * 100.0).round() as i64 * 10_000).unwrap_or(Amount::ZERO)
        };
        let cost = random::between(seed, 3, 4.0, 40.0);
        let scale = cost * 1.6;
        let competitors = kind.habits().iter().zip(0..).map(|((habit, runs_out), number)| {
            let list = cost * random::between(seed, 10 + number, 1.5, 1.9);
            let floor = cost * random::between(seed, 20 + number, 1.05, 1.15);
            let (habit, runs_out) = (*habit, *runs_out);
            Competitor { habit, list, floor, price: list, runs_out, in_stock: true }
        });
        Self {
            kind,
            seed,
            cost: cents(cost),
            start: cents(cost * random::between(seed, 4, 1.25, 2.1)),
            curve: kind.curve(seed),
            competitors: competitors.collect(),
            scale,
            size: random::between(seed, 5, 40.0, 200.0),
        }
    }

    /// The competitors set their prices by ours of yesterday.
    pub(crate) fn morning(
        &self,
        competitors: &mut [Competitor],
        day: i64,
        ours: f64,
        now_ms: i64,
    ) -> Vec<CompetitorPrice> {
        let before: Vec<f64> = competitors.iter().map(|it| it.price).collect();
        for (at, competitor) in competitors.iter_mut().enumerate() {
            let others = before.iter().enumerate().filter(|(other, _)| *other != at);
            let cheapest = others.map(|(_, price)| *price).fold(ours, f64::min);
            competitor.morning(self.seed, day, at as u64, ours, cheapest);
        }
        let seen = |(at, it): (usize, &Competitor)| {
            let price = Amount::from_f64((it.price * 100.0).round() / 100.0)?;
            Some(CompetitorPrice {
                name: format!("rival {at}"),
                price,
                at_ms: now_ms,
                in_stock: it.in_stock,
            })
        };
        competitors.iter().enumerate().filter_map(seen).collect()
    }

    /// The units sold on a day at a price.
    pub(crate) fn sell(&self, day: i64, price: f64, competitors: &[CompetitorPrice]) -> f64 {
        let expected = self.size * self.season(day) * self.pull(price, competitors);
        let noisy = expected * (0.12 * random::normal(self.seed, day, 7)).exp();
        // The scatter of a count is its square root.
        (noisy + noisy.sqrt() * random::normal(self.seed, day, 8)).round().max(0.0)
    }

    fn pull(&self, price: f64, competitors: &[CompetitorPrice]) -> f64 {
        let open: Vec<f64> =
            competitors.iter().filter(|it| it.in_stock).map(|it| it.price.to_f64()).collect();
        match self.curve {
            Curve::Constant { elasticity, cross } => {
                let market = crate::outliers::median_of(open).unwrap_or(self.scale);
                (price / self.scale).powf(elasticity) * (market / self.scale).powf(cross)
            }
            Curve::Logit { sensitivity, appeal } => {
                let utility =
                    |price: f64| (sensitivity * (1.0 - price / self.scale) + appeal).exp();
                let all: f64 = open.into_iter().map(utility).sum();
                2.0 * utility(price) / (1.0 + utility(price) + all)
            }
        }
    }

    fn season(&self, day: i64) -> f64 {
        let (week, drift) = match self.kind {
            Kind::Seasonal => (0.3, 0.4),
            _ => (0.12, 0.1),
        };
        let turn = std::f64::consts::TAU * day.rem_euclid(7) as f64 / 7.0;
        let direction = random::between(self.seed, 6, -1.0, 1.0);
        (week * turn.sin() + drift * direction * day as f64 / 90.0).exp()
    }
}
