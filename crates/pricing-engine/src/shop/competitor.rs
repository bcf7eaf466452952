//! Simulated competitors: each sets its price by ours, by the others' or at random.

use super::random;

/// How a competitor sets its price each day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompetitorHabit {
    /// Just below our price of yesterday.
    Follower,
    /// Just below the cheapest price of yesterday until its floor; then back to the list price.
    Undercutter,
    /// Moves randomly around the list price.
    Wanderer,
    /// The list price, sometimes with a discount of a fifth for five days.
    Promoter,
}

/// One competitor and its state.
#[derive(Debug, Clone, Copy)]
pub struct Competitor {
    pub(crate) habit: CompetitorHabit,
    pub(crate) list: f64,
    /// The competitor never goes below this price.
    pub(crate) floor: f64,
    pub(crate) price: f64,
    /// Whether the competitor sometimes runs out of stock.
    pub(crate) runs_out: bool,
    pub(crate) in_stock: bool,
}

impl Competitor {
    pub(crate) fn morning(&mut self, seed: u64, day: i64, number: u64, ours: f64, cheapest: f64) {
        let wished = match self.habit {
            CompetitorHabit::Follower => ours * 0.99,
            CompetitorHabit::Undercutter if cheapest * 0.99 < self.floor => self.list,
            CompetitorHabit::Undercutter => cheapest * 0.99,
            CompetitorHabit::Wanderer => {
                let back = (self.list / self.price).ln() * 0.1;
                self.price * (back + 0.02 * random::normal(seed, day, 50 + number)).exp()
            }
            CompetitorHabit::Promoter => {
                let sale = random::uniform(seed, day.div_euclid(5), 70 + number) < 0.25;
                if sale { self.list * 0.8 } else { self.list }
            }
        };
        self.price = wished.clamp(self.floor, self.list * 1.6);
        let empty = random::uniform(seed, day.div_euclid(4), 90 + number) < 0.2;
        self.in_stock = !(self.runs_out && empty);
    }
}
