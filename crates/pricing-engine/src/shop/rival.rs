//! The other shops: each answers to us, to the others or to its own mood.

use super::dice;

/// How a rival sets his price each morning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    /// Just below our price of yesterday.
    Follower,
    /// Just below the cheapest of yesterday, until it hurts; then back to the list price.
    Undercutter,
    /// Wanders around the list price.
    Wanderer,
    /// The list price, and a fifth off for five days now and then.
    Promoter,
}

/// One rival with his state.
#[derive(Debug, Clone, Copy)]
pub struct Rival {
    pub(crate) habit: Habit,
    pub(crate) list: f64,
    /// Below this he loses money, and does not go.
    pub(crate) floor: f64,
    pub(crate) price: f64,
    /// Whether spells without stock happen to him.
    pub(crate) runs_out: bool,
    pub(crate) in_stock: bool,
}

impl Rival {
    pub(crate) fn morning(&mut self, seed: u64, day: i64, number: u64, ours: f64, cheapest: f64) {
        let wished = match self.habit {
            Habit::Follower => ours * 0.99,
            Habit::Undercutter if cheapest * 0.99 < self.floor => self.list,
            Habit::Undercutter => cheapest * 0.99,
            Habit::Wanderer => {
                let back = (self.list / self.price).ln() * 0.1;
                self.price * (back + 0.02 * dice::normal(seed, day, 50 + number)).exp()
            }
            Habit::Promoter => {
                let sale = dice::uniform(seed, day.div_euclid(5), 70 + number) < 0.25;
                if sale { self.list * 0.8 } else { self.list }
            }
        };
        self.price = wished.clamp(self.floor, self.list * 1.6);
        let empty = dice::uniform(seed, day.div_euclid(4), 90 + number) < 0.2;
        self.in_stock = !(self.runs_out && empty);
    }
}
