//! Computes an index from the prices and the weights of its members, exactly at the end of every
//! hour. Between the hours it is generated like any other price.
//!
//! A member counts with its level of that day even before it was listed, so that a listing does not
//! move the index.

use super::calendar::{Wall, day_of, kind_of};
use super::listing::{Index, Listing};
use super::prices::SharePrices;
use super::tape::{Part, Tape, children};
use crate::keyed_rng::{KeyedRng, key, key_of};
use crate::price_tree::{Node, drift};

/// The usual price of a dollar in roubles.
const DOLLAR: f64 = 82.0;
const DOLLAR_MOVE: f64 = 0.004;
/// An index is computed every second.
const SECONDS: i64 = 3_600;

#[derive(Debug)]
pub(super) struct Basket<'a> {
    index: &'a Index,
    key: u64,
    dollar: u64,
    /// The tape of each member and its weight when every price is at its usual level; the weights
    /// sum to 1.
    members: Vec<(Tape<'a>, f64)>,
}

/// The prices of a member on one day, as multiples of its usual price.
struct Course {
    open: f64,
    closes: Vec<f64>,
    values: Vec<i128>,
}

impl<'a> Basket<'a> {
    /// The smallest change of an index, in millionths.
    pub(super) const STEP: i64 = 10_000;

    pub(super) fn new(seed: u64, index: &'a Index, listing: &'a Listing) -> Self {
        let parts = listing.shares.iter().filter_map(|share| Some((share, index.part_of(share)?)));
        let parts: Vec<_> = parts.collect();
        let whole: f64 = parts.iter().map(|(_, part)| part).sum();
        let members = parts
            .into_iter()
            .map(|(share, part)| {
                (Tape::of_share(seed, SharePrices::new(seed, share)), part / whole)
            })
            .collect();
        let key_of_index = key(&[seed, key_of("moex"), key_of(index.secid)]);
        let dollar = key(&[seed, key_of("the dollar in Moscow")]);
        Self { index, key: key_of_index, dollar, members }
    }

    pub(super) fn first_day(&self) -> i64 {
        day_of(self.index.since)
    }

    /// The hourly bars of a day; empty on a day without a session.
    pub(super) fn hours(&mut self, day: i64) -> Vec<Part> {
        if day < self.first_day() || !kind_of(day).is_regular() {
            return Vec::new();
        }
        let starts = children(kind_of(day), 0, Wall::midnight(day));
        let mut open = 0.0;
        let mut closes = vec![0.0; starts.len()];
        let mut values = vec![0; starts.len()];
        for (tape, part) in &mut self.members {
            let course = course(tape, day, starts.len());
            open += *part * course.open;
            for at in 0..starts.len() {
                closes[at] += *part * course.closes[at];
                values[at] += course.values[at];
            }
        }
        let hours = starts.len() as f64;
        let mut from = self.ticks(open, day, 0.0);
        let mut parts = Vec::with_capacity(starts.len());
        for (at, start) in starts.into_iter().enumerate() {
            let to = self.ticks(closes[at], day, (at + 1) as f64 / hours);
            let mut rng = KeyedRng::new(key(&[self.key, 0, start.0.cast_unsigned()]));
            let mut reach = || (from as f64 * 0.0006 * (0.3 + rng.unit())) as i64 + 1;
            let (high, low) = (from.max(to) + reach(), from.min(to) - reach());
            let node = Node { open: from, high, low, close: to, volume: SECONDS, trades: SECONDS };
            parts.push(Part { start, node, value: values[at] });
            from = to;
        }
        parts
    }

    fn ticks(&self, level: f64, day: i64, along: f64) -> i64 {
        let points = self.index.base * level / self.currency(day, along);
        (points * 1e6 / Self::STEP as f64).round() as i64
    }

    /// The price of the index's currency as a multiple of its usual price.
    fn currency(&self, day: i64, along: f64) -> f64 {
        if self.index.currency == "USD" { dollar_at(self.dollar, day, along) / DOLLAR } else { 1.0 }
    }
}

/// The price of a dollar in roubles at a fraction of a day.
fn dollar_at(key_of_dollar: u64, day: i64, along: f64) -> f64 {
    let end = |day| DOLLAR * (DOLLAR_MOVE * drift(key_of_dollar, day)).exp();
    end(day - 1) * (1.0 - along) + end(day) * along
}

/// The price of a dollar in roubles at the end of a day.
pub(super) fn dollar_on(seed: u64, day: i64) -> f64 {
    dollar_at(key(&[seed, key_of("the dollar in Moscow")]), day, 1.0)
}

fn course(tape: &mut Tape<'_>, day: i64, hours: usize) -> Course {
    let still =
        |level: f64| Course { open: level, closes: vec![level; hours], values: vec![0; hours] };
    let Some(prices) = tape.prices() else { return still(1.0) };
    let share = prices.share;
    if day < share.listed {
        return still(prices.level(day));
    }
    let level_before = prices.level_before(day);
    let tick = share.step_on(day) as f64 / 1e6 / share.price / share.factor(day);
    let Some((whole, parts)) = tape.hours(day) else { return still(level_before) };
    Course {
        open: whole.node.open as f64 * tick,
        closes: parts.iter().map(|part| part.node.close as f64 * tick).collect(),
        values: parts.iter().map(|part| part.value).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::listing::{Security, index_named};
    use super::*;

    /// The change of an index is the weighted change of its members.
    #[test]
    fn an_index_moves_with_its_members() {
        let listing = Listing::new();
        let index = index_named("IMOEX").unwrap();
        let until = Wall::midnight(day_of(jiff::civil::Date::constant(2026, 11, 14)));
        let mut tape = Tape::new(7, Security::Index(index), &listing, until);
        let day = until.day() - 1;
        let (today, before) = (tape.fold_day(day).unwrap(), tape.fold_day(day - 1).unwrap());
        let (mut moved, mut whole) = (0.0, 0.0);
        for share in listing.shares.iter().filter(|share| share.weight > 0.0) {
            let mut tape = Tape::new(7, Security::Share(share), &listing, until);
            let (now, then) =
                (tape.fold_day(day).unwrap().close, tape.fold_day(day - 1).unwrap().close);
            let value = share.weight * then as f64 / share.price;
            moved += value * (now as f64 / then as f64 - 1.0);
            whole += value;
        }
        let index_moved = today.close as f64 / before.close as f64 - 1.0;
        assert!((index_moved - moved / whole).abs() < 1e-5, "{index_moved} {}", moved / whole);
        assert!(index_moved.abs() > 1e-4, "the day must have moved");
    }
}
