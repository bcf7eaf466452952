//! The market itself: a tree of bars in which every bar is split into its children exactly.
//!
//! A day is generated from the prices at its two midnights. It is split into hours, an hour into
//! five-minute bars, those into minutes, and a minute into seconds, such that the children open
//! where the parent opens, close where it closes, reach its high and its low, and add up to its
//! volume and trades. Any stretch of time is then the fold of the largest bars that tile it, so
//! bars of all intervals agree, and nothing has to be stored.

use clock::{DAY_MS, Millis, TimeRange};

use crate::instruments::{Asset, Instrument};
use crate::keyed_rng::{KeyedRng, key, key_of, unit};
use crate::outages::Outages;

/// The random key of the level of the whole market.
const LEVEL_OF_ALL: &str = "the market as a whole";

/// A bar in whole ticks and steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) open: i64,
    pub(crate) high: i64,
    pub(crate) low: i64,
    pub(crate) close: i64,
    /// At least as many steps as there are trades.
    pub(crate) volume: i64,
    pub(crate) trades: i64,
}

/// Length of a bar at each depth of the tree, and how many children it has.
const LEVELS: [(i64, usize); 5] =
    [(DAY_MS, 24), (3_600_000, 12), (300_000, 5), (60_000, 60), (1_000, 0)];

/// The trades of a time range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candle {
    pub(crate) bar: Node,
    /// Ticks times steps.
    pub(crate) turnover: i128,
}

impl Candle {
    fn of(node: Node) -> Self {
        // The mean of the four prices approximates the average price.
        let sum = i128::from(node.open)
            + i128::from(node.high)
            + i128::from(node.low)
            + i128::from(node.close);
        Self { bar: node, turnover: sum * i128::from(node.volume) / 4 }
    }

    fn extend(&mut self, node: Node) {
        let next = Self::of(node);
        self.bar.high = self.bar.high.max(node.high);
        self.bar.low = self.bar.low.min(node.low);
        self.bar.close = node.close;
        self.bar.volume += node.volume;
        self.bar.trades += node.trades;
        self.turnover += next.turnover;
    }
}

/// Reads one instrument's tree. It caches the last bar split at each depth, so that reading forward
/// in time splits every bar once.
#[derive(Debug)]
pub(crate) struct Walker<'a> {
    pair: &'a Instrument,
    key: u64,
    outages: Outages,
    /// The range with prices; its end is a whole second.
    record: TimeRange,
    split: [Option<(i64, Vec<Node>)>; 4],
    /// The last day that was computed, because most requests are for the same day or the next.
    day: Option<(i64, Node)>,
    /// What moves the price: the market as a whole, the base asset and the quote asset.
    drifts: [u64; 3],
}

impl<'a> Walker<'a> {
    pub(crate) fn new(seed: u64, pair: &'a Instrument, now: Millis) -> Self {
        let until = pair.stopped.map_or(now, |(since, _)| since.min(now));
        // The current second is included: a bar exists from its first millisecond on.
        let end = Millis(until.0.div_euclid(1_000).saturating_add(1).saturating_mul(1_000));
        Self {
            pair,
            key: key(&[seed, key_of(pair.symbol)]),
            outages: Outages::new(seed),
            record: TimeRange::new(pair.listed, end),
            split: [None, None, None, None],
            day: None,
            drifts: [LEVEL_OF_ALL, pair.base.name, pair.quote.name]
                .map(|name| key(&[seed, key_of(name)])),
        }
    }

    pub(crate) const fn record(&self) -> TimeRange {
        self.record
    }

    /// The trades within the range; `None` if it has none. The ends of the range are whole seconds.
    pub(crate) fn fold(&mut self, span: TimeRange) -> Option<Candle> {
        let span = span.overlap(self.record);
        let mut candle = None;
        let mut day = span.from.0.div_euclid(DAY_MS);
        while day * DAY_MS < span.to.0 {
            let node = self.day(day);
            self.visit(0, day, node, span, &mut candle);
            day += 1;
        }
        candle
    }

    fn visit(
        &mut self,
        depth: usize,
        cell: i64,
        node: Node,
        span: TimeRange,
        candle: &mut Option<Candle>,
    ) {
        let (length, children) = LEVELS[depth];
        let whole = TimeRange::new(Millis(cell * length), Millis((cell + 1) * length));
        if whole.overlap(span).is_empty() {
            return;
        }
        let inside = span.from <= whole.from && whole.to <= span.to;
        let lost = self.outages.overlapping(whole);
        if inside && lost.is_none() {
            match candle {
                Some(candle) => candle.extend(node),
                None => *candle = Some(Candle::of(node)),
            }
            return;
        }
        let gone = lost.is_some_and(|lost| lost.from <= whole.from && whole.to <= lost.to);
        if gone || children == 0 {
            return;
        }
        self.split(depth, cell, node);
        // Only the children that the span touches.
        let child_length = length / children as i64;
        let first = (span.from.0 - whole.from.0).max(0) / child_length;
        let last = (span.to.0.min(whole.to.0) - 1 - whole.from.0) / child_length;
        for child in first..=last {
            let split = self.split[depth].as_ref();
            let Some(node) = split.and_then(|(_, nodes)| nodes.get(child as usize)).copied() else {
                return;
            };
            self.visit(depth + 1, cell * children as i64 + child, node, span, candle);
        }
    }

    fn split(&mut self, depth: usize, cell: i64, node: Node) {
        if self.split[depth].as_ref().is_some_and(|(at, _)| *at == cell) {
            return;
        }
        let mut nodes = self.split[depth].take().map(|(_, nodes)| nodes).unwrap_or_default();
        let rng = KeyedRng::new(key(&[self.key, depth as u64 + 1, cell as u64]));
        split_bar(node, LEVELS[depth].1, rng, &mut nodes);
        self.split[depth] = Some((cell, nodes));
    }

    fn day(&mut self, day: i64) -> Node {
        let open = match self.day {
            Some((at, node)) if at == day => return node,
            // A day opens where the one before it closed.
            Some((at, node)) if at + 1 == day => node.close,
            _ => self.price_at_midnight(day),
        };
        let node = self.generate_day(day, open);
        self.day = Some((day, node));
        node
    }

    fn generate_day(&self, day: i64, open: i64) -> Node {
        let close = self.price_at_midnight(day + 1);
        let mut rng = KeyedRng::new(key(&[self.key, 0, day as u64]));
        let move_usual = self.pair.base.volatility + 0.02 * self.pair.base.beta;
        let mut reach = || (open as f64 * move_usual * (0.1 + 0.4 * rng.unit())) as i64;
        let (above, below) = (reach(), reach());
        let high = open.max(close) + above;
        let low = (open.min(close) - below).max(1);
        // Days with larger moves have more trades.
        let swing = (high - low) as f64 / open as f64 / move_usual.max(1e-9);
        let bustle = 0.35 + 0.45 * swing.min(4.0) + 0.6 * rng.unit();
        let trades = (self.pair.trades_per_day * bustle) as i64 + 1;
        let unit_usd = self.pair.base.usd * 10_f64.powi(-(self.pair.volume_scale as i32));
        let volume = (self.pair.turnover_usd * bustle * (0.8 + 0.4 * rng.unit()) / unit_usd) as i64;
        Node { open, high, low, close, volume: volume.max(trades), trades }
    }

    /// In ticks. Pairs of the same assets agree at every midnight.
    fn price_at_midnight(&self, day: i64) -> i64 {
        let [all, base, quote] = self.drifts;
        let market = drift(all, day);
        let usd = |asset: &Asset, own: u64| {
            if asset.volatility == 0.0 && asset.beta == 0.0 {
                return asset.usd;
            }
            asset.usd * (asset.volatility * drift(own, day) + 0.02 * asset.beta * market).exp()
        };
        let price = usd(&self.pair.base, base) / usd(&self.pair.quote, quote);
        // The price stays high enough for a bar to move.
        ((price * 10_f64.powi(self.pair.price_scale as i32)).round() as i64).max(20)
    }
}

/// A random level whose usual step from one day to the next is about one. Octaves of linear
/// interpolation between random heights give trends of up to half a year and keep the level near
/// zero, so that prices stay plausible at any date.
pub(crate) fn drift(key_of_level: u64, day: i64) -> f64 {
    const OCTAVES: u32 = 8;
    const STEP_USUAL: f64 = 1.15;
    let mut level = 0.0;
    let mut height = 1.0;
    for octave in 0..OCTAVES {
        let width = 1_i64 << octave;
        let cell = day.div_euclid(width);
        let along = day.rem_euclid(width) as f64 / width as f64;
        let octave_key = key_of_level.wrapping_add(u64::from(octave));
        let end = |cell: i64| unit(key(&[octave_key, cell as u64])) * 2.0 - 1.0;
        level += height * (end(cell) * (1.0 - along) + end(cell + 1) * along);
        height *= std::f64::consts::SQRT_2;
    }
    level / STEP_USUAL
}

/// Parts of a whole are kept as fractions of this, so that sharing needs no division.
const WHOLE_BITS: u32 = 24;

/// Splits a bar into `count` children that add up to it, as the module header says.
pub(crate) fn split_bar(parent: Node, count: usize, mut rng: KeyedRng, children: &mut Vec<Node>) {
    children.clear();
    let mut weights = [0_u64; 60];
    let weights = &mut weights[..count];
    let mut total = 0;
    for weight in weights.iter_mut() {
        let roll = rng.next_u64() >> 52;
        // Squaring makes a few children busy and many quiet.
        total += 600_000 + roll * roll;
        *weight = total;
    }
    let share = |amount: i64, sum: u64| {
        let part = (sum << WHOLE_BITS) / total;
        ((u128::from(amount.unsigned_abs()) * u128::from(part)) >> WHOLE_BITS) as i64
    };
    let mut taken = 0;
    for sum in weights.iter() {
        let upto = share(parent.trades, *sum);
        let flat = Node { trades: upto - taken, ..flat_at(parent.open) };
        children.push(flat);
        taken = upto;
    }
    share_volume(parent, children, &mut rng);
    walk_prices(parent, children, rng);
}

const fn flat_at(price: i64) -> Node {
    Node { open: price, high: price, low: price, close: price, volume: 0, trades: 0 }
}

/// Each trade is at least one step; the rest goes to the children that trade, unevenly.
fn share_volume(parent: Node, children: &mut [Node], rng: &mut KeyedRng) {
    let spare = parent.volume - parent.trades;
    let sizes: f64 = children.iter().map(|child| child.trades as f64).sum();
    let mut left = spare;
    let mut last_active = None;
    for (at, child) in children.iter_mut().enumerate() {
        if child.trades == 0 {
            continue;
        }
        let fair = spare as f64 * child.trades as f64 / sizes;
        let part = ((fair * (0.4 + 0.8 * rng.unit())) as i64).clamp(0, left);
        child.volume = child.trades + part;
        left -= part;
        last_active = Some(at);
    }
    if let Some(at) = last_active {
        // Most of the remainder is spread evenly, or the last child would get too much.
        let active = children.iter().filter(|child| child.trades > 0).count() as i64;
        let each = left / active;
        for child in children.iter_mut().filter(|child| child.trades > 0) {
            child.volume += each;
        }
        children[at].volume += left - each * active;
    }
}

/// Leads the price from the parent's open to its close through the children that trade, within its
/// range, and lets the two that come nearest touch its high and its low.
fn walk_prices(parent: Node, children: &mut [Node], mut rng: KeyedRng) {
    let active = children.iter().filter(|child| child.trades > 0).count();
    if active == 0 {
        return;
    }
    let range = (parent.high - parent.low) as f64;
    let step = range / (1.6 * (active as f64).sqrt());
    let mut steps = [0.0_f64; 60];
    let mut reached = 0.0;
    for at in steps.iter_mut().take(active) {
        // Three uniforms make a bell of variance one quarter.
        reached += (rng.unit() + rng.unit() + rng.unit() - 1.5) * 2.0 * step;
        *at = reached;
    }
    let correction = ((parent.close - parent.open) as f64 - reached) / active as f64;
    let mut price = parent.open;
    let mut moves = 0;
    for child in children.iter_mut() {
        child.open = price;
        if child.trades > 0 {
            moves += 1;
            let along = steps[moves - 1] + correction * moves as f64;
            let target = parent.open + along.round() as i64;
            price = if moves == active { parent.close } else { within(parent, target) };
        }
        child.close = price;
        // A price that returns to its start still moved in between.
        let mut wick =
            || if child.trades > 1 { (step * (0.1 + 0.6 * rng.unit())) as i64 } else { 0 };
        child.high = (child.open.max(child.close) + wick()).min(parent.high);
        child.low = (child.open.min(child.close) - wick()).max(parent.low);
    }
    let trading = || (0..children.len()).filter(|&at| children[at].trades > 0);
    let top = trading().max_by_key(|&at| children[at].high);
    let bottom = trading().min_by_key(|&at| children[at].low);
    if let (Some(top), Some(bottom)) = (top, bottom) {
        children[top].high = parent.high;
        children[bottom].low = parent.low;
    }
}

/// Reflects a price beyond the parent's range at its edge.
fn within(parent: Node, price: i64) -> i64 {
    let turned = if price > parent.high {
        parent.high - (price - parent.high)
    } else if price < parent.low {
        parent.low + (parent.low - price)
    } else {
        price
    };
    turned.clamp(parent.low, parent.high)
}

#[cfg(test)]
#[path = "price_tree/tests.rs"]
mod tests;
