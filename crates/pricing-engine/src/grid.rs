//! The grid of prices in a currency, and price endings such as `.99`.
//!
//! All computations use ticks, the smallest coin; there are no floats.

use serde::{Deserialize, Serialize};

use crate::money::{Amount, Rate};

/// A currency and how many decimals its prices have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Currency {
    /// The ISO 4217 code, or empty if unknown.
    pub code: String,
    pub decimals: u8,
}

impl Currency {
    /// The currency of an ISO 4217 code; unknown codes get two decimals.
    pub fn of(code: &str) -> Self {
        let code = code.to_ascii_uppercase();
        let decimals = match code.as_str() {
            "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF"
            | "UGX" | "VND" | "VUV" | "XAF" | "XOF" | "XPF" => 0,
            "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
            _ => 2,
        };
        Self { code, decimals }
    }
}

impl Default for Currency {
    fn default() -> Self {
        Self { code: String::new(), decimals: 2 }
    }
}

/// The decimals that a price must end in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriceEnding {
    /// Any price the currency has.
    #[default]
    None,
    /// `.99`
    NinetyNine,
    /// `.95`
    NinetyFive,
    /// `.00`
    Whole,
}

impl PriceEnding {
    /// The text that is shown.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::NinetyNine => ".99",
            Self::NinetyFive => ".95",
            Self::Whole => ".00",
        }
    }
}

/// Prices as multiples of the smallest coin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    tick: i64,
}

impl Grid {
    /// `None` if the currency has more than the six decimals of an amount.
    pub fn of(currency: &Currency) -> Option<Self> {
        let places = 6_u32.checked_sub(u32::from(currency.decimals))?;
        Some(Self { tick: 10_i64.pow(places) })
    }

    pub fn price(self, ticks: i64) -> Option<Amount> {
        ticks.checked_mul(self.tick).and_then(Amount::from_micros)
    }

    /// The last tick that is not above the amount.
    pub const fn floor(self, amount: Amount) -> i64 {
        amount.micros().div_euclid(self.tick)
    }

    /// The first tick that is not below the amount.
    pub const fn ceil(self, amount: Amount) -> i64 {
        -(-amount.micros()).div_euclid(self.tick)
    }

    /// The nearest tick, halves up.
    pub const fn nearest(self, amount: Amount) -> i64 {
        (amount.micros() + self.tick / 2).div_euclid(self.tick)
    }

    pub(crate) fn nearest_f64(self, value: f64) -> Option<i64> {
        let ticks = (value * 1e6 / self.tick as f64).round();
        (ticks.abs() < 1e18).then_some(ticks as i64)
    }

    /// `amount × rate`, rounded down to a tick.
    pub(crate) fn scaled_floor(self, amount: Amount, rate: Rate) -> Option<Amount> {
        let (top, bottom) = self.fraction(amount, rate);
        Amount::from_wide(top.div_euclid(bottom) * i128::from(self.tick))
    }

    /// `amount × rate`, rounded up to a tick.
    pub(crate) fn scaled_ceil(self, amount: Amount, rate: Rate) -> Option<Amount> {
        let (top, bottom) = self.fraction(amount, rate);
        Amount::from_wide(-(-top).div_euclid(bottom) * i128::from(self.tick))
    }

    fn fraction(self, amount: Amount, rate: Rate) -> (i128, i128) {
        let top = i128::from(amount.micros()) * i128::from(rate.billionths());
        (top, i128::from(Rate::ONE.billionths()) * i128::from(self.tick))
    }

    /// The lowest price on the grid whose margin is at least `min_margin`: `cost / (1 − margin)`,
    /// rounded up. `None` if no price is high enough.
    pub fn margin_floor(self, cost: Amount, min_margin: Rate) -> Option<Amount> {
        let left = Rate::ONE.billionths() - min_margin.billionths();
        if cost <= Amount::ZERO {
            return Some(Amount::ZERO);
        }
        if left <= 0 {
            return None;
        }
        let top = i128::from(cost.micros()) * i128::from(Rate::ONE.billionths());
        let bottom = i128::from(left) * i128::from(self.tick);
        let ticks = -(-top).div_euclid(bottom);
        Amount::from_wide(ticks * i128::from(self.tick))
    }

    /// The price with the ending that is nearest to `price` between the bounds, the lower of two
    /// equally near ones; `None` if no price between the bounds has the ending.
    pub fn with_ending(
        self,
        ending: PriceEnding,
        price: Amount,
        low: Amount,
        high: Amount,
    ) -> Option<Amount> {
        let unit: i64 = 1_000_000;
        let rest = match ending {
            PriceEnding::None => return Some(price),
            PriceEnding::NinetyNine => 990_000,
            PriceEnding::NinetyFive => 950_000,
            PriceEnding::Whole => 0,
        };
        let below = (price.micros() - rest).div_euclid(unit) * unit + rest;
        // One unit further in each direction is enough, because the price is between the bounds.
        [below, below + unit]
            .into_iter()
            .filter_map(Amount::from_micros)
            .filter(|it| it.is_positive() && (low..=high).contains(it))
            .min_by_key(|it| (it.less(price).micros().abs(), *it))
    }

    /// Whether prices of this currency can have this ending.
    pub fn can_end(self, ending: PriceEnding) -> bool {
        match ending {
            PriceEnding::None | PriceEnding::Whole => true,
            PriceEnding::NinetyNine | PriceEnding::NinetyFive => self.tick <= 10_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn amount(text: &str) -> Amount {
        text.parse().unwrap()
    }

    fn grid(code: &str) -> Grid {
        Grid::of(&Currency::of(code)).unwrap()
    }

    #[track_caller]
    fn check_floor(code: &str, cost: &str, margin: &str, floor: Option<&str>) {
        let found = grid(code).margin_floor(amount(cost), margin.parse().unwrap());
        assert_eq!(found, floor.map(amount), "{cost} at {margin}");
    }

    #[test]
    fn the_floor_is_rounded_up() {
        check_floor("EUR", "10", "0.12", Some("11.37"));
        check_floor("EUR", "8.80", "0.12", Some("10.00"));
        check_floor("JPY", "100", "0.3", Some("143"));
        check_floor("KWD", "1", "0.3", Some("1.429"));
        check_floor("EUR", "0", "1", Some("0"));
        check_floor("EUR", "1", "1", None);
        check_floor("EUR", "999999999", "0.999999999", None);
    }

    #[track_caller]
    fn check_ending(ending: PriceEnding, price: &str, low: &str, high: &str, found: Option<&str>) {
        let price = grid("EUR").with_ending(ending, amount(price), amount(low), amount(high));
        assert_eq!(price, found.map(amount));
    }

    #[test]
    fn endings_stay_between_the_bounds() {
        check_ending(PriceEnding::NinetyNine, "20.30", "0.01", "99", Some("19.99"));
        check_ending(PriceEnding::NinetyNine, "20.30", "20.00", "99", Some("20.99"));
        check_ending(PriceEnding::NinetyNine, "20.30", "20.00", "20.98", None);
        check_ending(PriceEnding::NinetyFive, "0.10", "0.01", "99", Some("0.95"));
        check_ending(PriceEnding::Whole, "0.40", "0.01", "99", Some("1"));
        check_ending(PriceEnding::Whole, "20.50", "0.01", "99", Some("20"));
        check_ending(PriceEnding::None, "20.51", "0.01", "99", Some("20.51"));
    }

    proptest! {
        #[test]
        fn a_floor_keeps_the_margin_and_one_tick_less_does_not(
            cost in 1_i64..10_000_000_000, margin in 0_i64..999_000_000, decimals in 0_u8..4,
        ) {
            let grid = Grid::of(&Currency { code: String::new(), decimals }).unwrap();
            let cost = Amount::from_micros(cost).unwrap();
            let margin = Rate::from_billionths(margin).unwrap();
            let floor = grid.margin_floor(cost, margin).unwrap();
            let margin_holds = |price: i128| {
                (price - i128::from(cost.micros())) * 1_000_000_000
                    >= price * i128::from(margin.billionths())
            };
            prop_assert!(margin_holds(i128::from(floor.micros())));
            prop_assert!(!margin_holds(i128::from(floor.micros() - grid.tick)));
        }

        #[test]
        fn rounding_brackets(micros in -1_000_000_000_000_i64..1_000_000_000_000) {
            let (grid, it) = (grid("EUR"), Amount::from_micros(micros).unwrap());
            let (low, high) = (grid.price(grid.floor(it)).unwrap(), grid.price(grid.ceil(it)).unwrap());
            prop_assert!(low <= it && it <= high && high.less(low).micros() <= 10_000);
            let near = grid.price(grid.nearest(it)).unwrap();
            prop_assert!(near == low || near == high);
        }
    }
}
