//! Generates the price of a share: a level that moves from day to day, and the bar of each trading
//! day.

use std::cell::Cell;

use super::calendar::{DayKind, kind_of};
use super::listing::Share;
use crate::keyed_rng::{KeyedRng, key, key_of, unit};
use crate::price_tree::{Node, drift};

/// The usual move of the whole market in a day.
const MARKET_MOVE: f64 = 0.009;
/// Trading is calmer on weekends.
const WEEKEND_CALM: f64 = 0.35;
/// Most days back to the last trade: longer than any closure plus days without trades.
const SILENCE_MAX_DAYS: i64 = 60;
/// The usual size of a trade in roubles.
const TRADE_USUAL: f64 = 90_000.0;

#[derive(Debug)]
pub(super) struct SharePrices<'a> {
    pub(super) share: &'a Share,
    key: u64,
    own: u64,
    market: u64,
    /// The last level computed, because the close of one day is the start of the next. Saves about
    /// a fifth of the time for two years of an index.
    level: Cell<Option<(i64, f64)>>,
}

impl<'a> SharePrices<'a> {
    pub(super) fn new(seed: u64, share: &'a Share) -> Self {
        // Ordinary and preferred shares of a company mostly move together.
        let own = key(&[seed, key_of("moex"), key_of(share.company)]);
        let market = key(&[seed, key_of("the Moscow market")]);
        let key = key(&[seed, key_of("moex"), key_of(share.secid)]);
        Self { share, key, own, market, level: Cell::new(None) }
    }

    pub(super) fn trades_on(&self, day: i64) -> bool {
        let share = self.share;
        let open = match kind_of(day) {
            DayKind::Closed => false,
            DayKind::Regular { .. } => true,
            DayKind::Weekend => share.trades_on_weekends(),
        };
        let quiet = || {
            share.quiet > 0.0
                && unit(key(&[self.key, key_of("quiet"), day.cast_unsigned()])) < share.quiet
        };
        open && day >= share.listed && !share.halted_on(day) && !quiet()
    }

    /// The level at the end of a day as a multiple of the usual price, regardless of splits.
    pub(super) fn level(&self, day: i64) -> f64 {
        if let Some((at, level)) = self.level.get()
            && at == day
        {
            return level;
        }
        let share = self.share;
        let own = share.volatility * (0.85 * drift(self.own, day) + 0.3 * drift(self.key, day));
        let level = (own + MARKET_MOVE * share.beta * drift(self.market, day)).exp();
        self.level.set(Some((day, level)));
        level
    }

    /// The value of one tick of one lot, in millionths.
    pub(super) fn unit(&self, day: i64) -> i128 {
        i128::from(self.share.step_on(day)) * i128::from(self.share.lot)
    }

    /// The price in ticks of that day for a level.
    fn ticks(&self, level: f64, day: i64) -> i64 {
        let price = level * self.share.price * self.share.factor(day) * 1e6;
        // The price stays high enough for a bar to move.
        ((price / self.share.step_on(day) as f64).round() as i64).max(20)
    }

    /// The last day before this one on which there was a trade.
    pub(super) fn traded_before(&self, day: i64) -> Option<i64> {
        (1..SILENCE_MAX_DAYS).map(|back| day - back).find(|day| self.trades_on(*day))
    }

    /// The level of the last trade before a day.
    pub(super) fn level_before(&self, day: i64) -> f64 {
        self.level(self.traded_before(day).unwrap_or(day - 1))
    }

    /// The bar of a day; `None` if nothing was traded.
    pub(super) fn day(&self, day: i64) -> Option<Node> {
        if !self.trades_on(day) {
            return None;
        }
        let share = self.share;
        let mut rng = KeyedRng::new(key(&[self.key, 0, day.cast_unsigned()]));
        let calm = if kind_of(day) == DayKind::Weekend { WEEKEND_CALM } else { 1.0 };
        let move_usual = share.volatility + MARKET_MOVE * share.beta;
        let gap = (rng.unit() - 0.5) * 0.4 * move_usual * calm;
        let open = self.ticks(self.level_before(day) * (1.0 + gap), day);
        let close = self.ticks(self.level(day), day);
        let mut reach = || (open as f64 * move_usual * calm * (0.08 + 0.4 * rng.unit())) as i64;
        let (above, below) = (reach(), reach());
        let (high, low) = (open.max(close) + above, (open.min(close) - below).max(1));
        // Days with larger moves have more trades.
        let swing = (high - low) as f64 / open as f64 / move_usual;
        let bustle = (0.35 + 0.45 * swing.min(4.0) + 0.5 * rng.unit()) * calm;
        let trades = (share.turnover * bustle / TRADE_USUAL) as i64 + 1;
        let unit = self.unit(day);
        let lots = share.turnover * bustle * 1e6 / (open as f64 * unit as f64);
        let volume = (lots as i64).max(trades);
        Some(Node { open, high, low, close, volume, trades })
    }
}
