//! The trades of one security as a tree of bars like that of `price_tree`, but over trading days
//! with their sessions. A day is split into hours, those into ten-minute bars, minutes and seconds;
//! any range is combined from the largest bars that tile it.

use clock::DAY_MS;

use super::basket::Basket;
use super::calendar::{DayKind, MINUTE_MS, Wall, kind_of};
use super::listing::{Index, Listing, Security};
use super::prices::SharePrices;
use crate::keyed_rng::{KeyedRng, key, key_of};
use crate::price_tree::{Node, split_bar};

/// The trades of a range of time. Prices and money are in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) open: i64,
    pub(crate) high: i64,
    pub(crate) low: i64,
    pub(crate) close: i64,
    /// Shares; an index has none.
    pub(crate) volume: i64,
    pub(crate) value: i128,
    pub(crate) trades: i64,
}

impl Bar {
    pub(crate) fn extend(&mut self, next: Self) {
        self.high = self.high.max(next.high);
        self.low = self.low.min(next.low);
        self.close = next.close;
        self.volume += next.volume;
        self.value += next.value;
        self.trades += next.trades;
    }

    /// The average price paid.
    pub(crate) fn average(&self) -> Option<i64> {
        (self.volume > 0).then(|| (self.value / i128::from(self.volume)) as i64)
    }
}

/// A bar of the tree, in whole ticks and lots, and when it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) start: Wall,
    pub(super) node: Node,
    /// The turnover in millionths.
    pub(super) value: i128,
}

/// Length of a bar at each depth.
const LENGTHS: [i64; 5] = [DAY_MS, 3_600_000, 600_000, MINUTE_MS, 1_000];
const DEPTH_OF_SECONDS: usize = 4;

#[derive(Debug)]
enum Source<'a> {
    Share(SharePrices<'a>),
    Index(Basket<'a>),
}

/// Reads the trades of one security up to a time. It caches the last bar split at each depth, so
/// that reading forward in time splits every bar once.
#[derive(Debug)]
pub(crate) struct Tape<'a> {
    source: Source<'a>,
    key: u64,
    /// The end of the known trades, a whole second.
    until: Wall,
    split: [Option<(Wall, Vec<Part>)>; DEPTH_OF_SECONDS],
    day: Option<(i64, Option<Part>)>,
}

impl<'a> Tape<'a> {
    pub(crate) fn new(
        seed: u64,
        security: Security<'a>,
        listing: &'a Listing,
        until: Wall,
    ) -> Self {
        let (source, name) = match security {
            Security::Share(share) => (Source::Share(SharePrices::new(seed, share)), share.secid),
            Security::Index(index) => (Source::Index(basket(seed, index, listing)), index.secid),
        };
        let until = Wall(until.0.div_euclid(1_000) * 1_000);
        let key = key(&[seed, key_of("moex"), key_of(name)]);
        Self { source, key, until, split: [const { None }; DEPTH_OF_SECONDS], day: None }
    }

    pub(super) fn of_share(seed: u64, prices: SharePrices<'a>) -> Self {
        let key = key(&[seed, key_of("moex"), key_of(prices.share.secid)]);
        let (source, until) = (Source::Share(prices), Wall(i64::MAX));
        Self { source, key, until, split: [const { None }; DEPTH_OF_SECONDS], day: None }
    }

    pub(crate) const fn until(&self) -> Wall {
        self.until
    }

    pub(super) const fn prices(&self) -> Option<&SharePrices<'a>> {
        match &self.source {
            Source::Share(prices) => Some(prices),
            Source::Index(_) => None,
        }
    }

    /// The first day with trades.
    pub(crate) fn first_day(&self) -> i64 {
        match &self.source {
            Source::Share(prices) => prices.share.listed,
            Source::Index(basket) => basket.first_day(),
        }
    }

    /// The trades from one time up to, not including, another; both are whole seconds. `None` if
    /// there are none.
    pub(crate) fn fold(&mut self, from: Wall, to: Wall) -> Option<Bar> {
        let to = to.min(self.until);
        let mut bar = None;
        let mut day = from.day().max(self.first_day());
        while Wall::midnight(day) < to {
            if let Some(part) = self.day(day) {
                self.visit(0, part, (from, to), &mut bar);
            }
            day += 1;
        }
        bar
    }

    pub(crate) fn fold_day(&mut self, day: i64) -> Option<Bar> {
        self.fold(Wall::midnight(day), Wall::midnight(day + 1))
    }

    /// The second of the last trade within a range.
    pub(crate) fn last_trade(&mut self, from: Wall, to: Wall) -> Option<Wall> {
        let to = to.min(self.until);
        let mut day = Wall(to.0 - 1).day();
        while day >= from.day() {
            if let Some(part) = self.day(day)
                && let Some(found) = self.last_within(0, part, (from, to))
            {
                return Some(found);
            }
            day -= 1;
        }
        None
    }

    fn last_within(&mut self, depth: usize, part: Part, span: (Wall, Wall)) -> Option<Wall> {
        let end = Wall(part.start.0 + LENGTHS[depth]);
        if part.node.trades == 0 || end <= span.0 || part.start >= span.1 {
            return None;
        }
        if depth == DEPTH_OF_SECONDS {
            return Some(part.start);
        }
        self.split(depth, part);
        let count = self.parts(depth).len();
        for at in (0..count).rev() {
            let child = *self.parts(depth).get(at)?;
            if let Some(found) = self.last_within(depth + 1, child, span) {
                return Some(found);
            }
            // A search below this depth may have split other bars, but never this one.
        }
        None
    }

    fn visit(&mut self, depth: usize, part: Part, span: (Wall, Wall), bar: &mut Option<Bar>) {
        let end = Wall(part.start.0 + LENGTHS[depth]);
        if part.node.trades == 0 || end <= span.0 || part.start >= span.1 {
            return;
        }
        if span.0 <= part.start && end <= span.1 {
            let next = self.bar_of(part);
            match bar {
                Some(bar) => bar.extend(next),
                None => *bar = Some(next),
            }
            return;
        }
        if depth == DEPTH_OF_SECONDS {
            return;
        }
        self.split(depth, part);
        for at in 0..self.parts(depth).len() {
            let Some(child) = self.parts(depth).get(at).copied() else { return };
            self.visit(depth + 1, child, span, bar);
        }
    }

    fn bar_of(&self, part: Part) -> Bar {
        let (step, lot) = match &self.source {
            Source::Share(prices) => (prices.share.step_on(part.start.day()), prices.share.lot),
            Source::Index(_) => (Basket::STEP, 0),
        };
        let Node { open, high, low, close, volume, trades } = part.node;
        Bar {
            open: open * step,
            high: high * step,
            low: low * step,
            close: close * step,
            volume: volume * lot,
            value: part.value,
            trades,
        }
    }

    fn day(&mut self, day: i64) -> Option<Part> {
        if let Some((at, part)) = self.day
            && at == day
        {
            return part;
        }
        let part = match &mut self.source {
            Source::Share(prices) => {
                let (node, unit) = (prices.day(day), prices.unit(day));
                node.and_then(|node| self.with_hours(day, node, unit))
            }
            Source::Index(basket) => {
                let hours = basket.hours(day);
                let whole = joined(Wall::midnight(day), &hours);
                self.split[0] = Some((Wall::midnight(day), hours));
                whole
            }
        };
        self.day = Some((day, part));
        part
    }

    /// The bar of a day with the turnover of its hours, which is more exact than one computed from
    /// the four prices of the day.
    fn with_hours(&mut self, day: i64, node: Node, unit: i128) -> Option<Part> {
        let midnight = Wall::midnight(day);
        let hours = self.split_into(0, Part { start: midnight, node, value: 0 });
        let part = |(start, node)| Part { start, node, value: fair_value(&node, unit) };
        let hours: Vec<Part> = hours.into_iter().map(part).collect();
        let whole = joined(midnight, &hours);
        self.split[0] = Some((midnight, hours));
        whole
    }

    /// The hourly bars of this day; empty if nothing was traded.
    pub(super) fn hours(&mut self, day: i64) -> Option<(Part, &[Part])> {
        let part = self.day(day)?;
        self.split(0, part);
        Some((part, self.parts(0)))
    }

    fn parts(&self, depth: usize) -> &[Part] {
        self.split[depth].as_ref().map_or(&[], |(_, parts)| parts)
    }

    fn split(&mut self, depth: usize, part: Part) {
        if self.split[depth].as_ref().is_some_and(|(at, _)| *at == part.start) {
            return;
        }
        let parts = self.split_into(depth, part);
        let unit = match &self.source {
            Source::Share(prices) => Some(prices.unit(part.start.day())),
            Source::Index(_) => None,
        };
        let values = share_value(part.value, &parts, unit);
        let parts = parts.into_iter().zip(values);
        let parts = parts.map(|((start, node), value)| Part { start, node, value }).collect();
        self.split[depth] = Some((part.start, parts));
    }

    fn split_into(&self, depth: usize, part: Part) -> Vec<(Wall, Node)> {
        let starts = children(kind_of(part.start.day()), depth, part.start);
        let rng = KeyedRng::new(key(&[self.key, depth as u64 + 1, part.start.0.cast_unsigned()]));
        let mut nodes = Vec::with_capacity(starts.len());
        split_bar(part.node, starts.len(), rng, &mut nodes);
        starts.into_iter().zip(nodes).collect()
    }
}

fn basket<'a>(seed: u64, index: &'a Index, listing: &'a Listing) -> Basket<'a> {
    Basket::new(seed, index, listing)
}

/// Combines the parts of a bar.
fn joined(start: Wall, parts: &[Part]) -> Option<Part> {
    let (first, rest) = parts.split_first()?;
    let mut whole = Part { start, ..*first };
    for part in rest {
        whole.node.high = whole.node.high.max(part.node.high);
        whole.node.low = whole.node.low.min(part.node.low);
        whole.node.close = part.node.close;
        whole.node.volume += part.node.volume;
        whole.node.trades += part.node.trades;
        whole.value += part.value;
    }
    Some(whole)
}

/// The beginnings of the parts of a bar that lie in a session.
pub(super) fn children(kind: DayKind, depth: usize, start: Wall) -> Vec<Wall> {
    let (length, part) = (LENGTHS[depth], LENGTHS[depth + 1]);
    let midnight = Wall::midnight(start.day()).0;
    let open = |at: i64| {
        let (from, to) = (at - midnight, at - midnight + part);
        let overlaps = |(first, end): &(i64, i64)| first * MINUTE_MS < to && from < end * MINUTE_MS;
        kind.sessions().iter().any(overlaps)
    };
    (0..length / part).map(|at| start.0 + at * part).filter(|at| open(*at)).map(Wall).collect()
}

/// The turnover of a bar, with the mean of its four prices as the average price.
fn fair_value(node: &Node, unit: i128) -> i128 {
    let sum = i128::from(node.open) + i128::from(node.high);
    let sum = sum + i128::from(node.low) + i128::from(node.close);
    sum * i128::from(node.volume) * unit / 4
}

/// Divides the turnover of a bar exactly among its parts, so an average price may be slightly
/// outside a narrow range. Without a unit only the volume decides.
fn share_value(value: i128, parts: &[(Wall, Node)], unit: Option<i128>) -> Vec<i128> {
    let fair = |(_, node): &(Wall, Node)| match unit {
        Some(unit) => fair_value(node, unit),
        None => i128::from(node.volume),
    };
    let total = parts.iter().map(fair).sum::<i128>().max(1);
    // Floating point is exact enough for the parts; the remainder is added below.
    let share = |part| (value as f64 * (fair(part) as f64 / total as f64)) as i128;
    settle(value, parts.iter().map(share).collect())
}

/// Adds the remainder of rounding to the largest part.
fn settle(value: i128, mut values: Vec<i128>) -> Vec<i128> {
    let left = value - values.iter().sum::<i128>();
    if let Some(largest) = values.iter_mut().max() {
        *largest += left;
    }
    values
}

#[cfg(test)]
mod tests;
