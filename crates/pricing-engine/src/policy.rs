//! The merchant's pricing rules for a product or a category.

use serde::{Deserialize, Serialize};

use crate::grid::{Grid, PriceEnding};
use crate::money::{Amount, Rate};
use crate::refusal::Refusal;

const DAY_MS: i64 = 86_400_000;

/// Who acts on a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Applied without a person if its confidence is high enough.
    Auto,
    /// A person decides.
    #[default]
    Review,
    /// Nothing is proposed.
    Block,
}

/// The allowed position of our price against the competitors' median.
///
/// A soft guardrail: hard limits override it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Position {
    /// Anywhere.
    Free,
    /// At the market price, within a tolerance.
    Match { within: Rate },
    /// Cheaper by a share between the two.
    Undercut { at_least: Rate, at_most: Rate },
    /// Dearer by a share between the two.
    Premium { at_least: Rate, at_most: Rate },
    /// Our price divided by the median lies between the two.
    Band { min_ratio: Rate, max_ratio: Rate },
}

impl Position {
    /// The lowest and highest ratio to the median; `None` if any ratio is allowed.
    pub fn ratios(self) -> Option<(Rate, Rate)> {
        let one = Rate::ONE.billionths();
        let ratio = |offset: i64| Rate::from_billionths(one + offset).unwrap_or(Rate::ONE);
        match self {
            Self::Free => None,
            Self::Match { within } => {
                Some((ratio(-within.billionths()), ratio(within.billionths())))
            }
            Self::Undercut { at_least, at_most } => {
                Some((ratio(-at_most.billionths()), ratio(-at_least.billionths())))
            }
            Self::Premium { at_least, at_most } => {
                Some((ratio(at_least.billionths()), ratio(at_most.billionths())))
            }
            Self::Band { min_ratio, max_ratio } => Some((min_ratio, max_ratio)),
        }
    }
}

/// The prior of a category's price elasticity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    pub mean: f64,
    pub sd: f64,
}

impl Default for Prior {
    /// The usual elasticity of consumer goods is between −2 and −3, most are between −1 and −5.
    fn default() -> Self {
        Self { mean: -2.5, sd: 1.2 }
    }
}

/// The rules for one product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    pub mode: Mode,
    /// 1 maximises profit, 0 revenue; between them the cost counts by this share.
    pub profit_weight: Rate,
    pub position: Position,
    /// The largest change at once, as a share of the current price.
    pub max_step: Rate,
    /// Whether `max_step` is a hard limit. Otherwise it yields to hard limits, which is reported,
    /// and the proposal needs review.
    pub strict_step: bool,
    /// The shortest time between two price changes.
    pub cooldown_ms: i64,
    /// Changes smaller than this share of the current price are not made.
    pub hysteresis: Rate,
    /// The manufacturer's minimum advertised price.
    pub map_price: Option<Amount>,
    pub ending: PriceEnding,
    pub prior: Prior,
    /// Older competitor prices are excluded.
    pub competitor_age_max_ms: i64,
    /// The demand index of an ordinary day, if the history has none.
    pub demand_normal: f64,
    /// How far a demand index away from the ordinary weakens or steepens the elasticity: it is
    /// multiplied by `(index / ordinary) ^ -demand_response`.
    pub demand_response: f64,
    /// The largest deliberate deviation, as a share of the price, made to learn the elasticity;
    /// it shrinks as the elasticity becomes known. 0 never experiments.
    pub explore: Rate,
    /// Below this confidence `auto` becomes `review`.
    pub auto_confidence: f64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            mode: Mode::Review,
            profit_weight: Rate::ONE,
            position: Position::Band {
                min_ratio: Rate::percent(75),
                max_ratio: Rate::percent(125),
            },
            max_step: Rate::percent(10),
            strict_step: false,
            cooldown_ms: 0,
            hysteresis: Rate::percent(1),
            map_price: None,
            ending: PriceEnding::None,
            prior: Prior::default(),
            competitor_age_max_ms: 7 * DAY_MS,
            demand_normal: 1.0,
            demand_response: 0.25,
            explore: Rate::ZERO,
            auto_confidence: 0.5,
        }
    }
}

impl Policy {
    /// Checks that every rule is within its range.
    pub fn check(&self, grid: Grid) -> Result<(), Refusal> {
        let share = |field: &str, rate: Rate, highest: Rate| {
            let fits = rate >= Rate::ZERO && rate <= highest;
            if fits {
                Ok(())
            } else {
                Err(Refusal::invalid(field, format!("between 0 and {highest}"), rate))
            }
        };
        share("profit_weight", self.profit_weight, Rate::ONE)?;
        share("hysteresis", self.hysteresis, Rate::ONE)?;
        share("explore", self.explore, Rate::percent(20))?;
        share("max_step", self.max_step, Rate::percent(300))?;
        if let Some((low, high)) = self.position.ratios()
            && (low <= Rate::ZERO || low > high)
        {
            return Err(Refusal::invalid(
                "position",
                "a band whose lower ratio is above 0 and not above its upper one",
                format!("{low} to {high}"),
            ));
        }
        let number = |field: &str, value: f64, low: f64, high: f64| {
            let fits = value.is_finite() && (low..=high).contains(&value);
            if fits {
                Ok(())
            } else {
                Err(Refusal::invalid(field, format!("between {low} and {high}"), value))
            }
        };
        number("prior.mean", self.prior.mean, -20.0, -0.1)?;
        number("prior.sd", self.prior.sd, 0.01, 10.0)?;
        number("demand_normal", self.demand_normal, 1e-9, 1e9)?;
        number("demand_response", self.demand_response, 0.0, 1.0)?;
        number("auto_confidence", self.auto_confidence, 0.0, 1.0)?;
        if self.cooldown_ms < 0 {
            return Err(Refusal::invalid("cooldown_ms", "0 or more", self.cooldown_ms));
        }
        if self.competitor_age_max_ms < 0 {
            return Err(Refusal::invalid(
                "competitor_age_max_ms",
                "0 or more",
                self.competitor_age_max_ms,
            ));
        }
        if let Some(map) = self.map_price
            && !map.is_positive()
        {
            return Err(Refusal::invalid("map_price", "above 0", map));
        }
        if !grid.can_end(self.ending) {
            return Err(Refusal::invalid(
                "ending",
                "an ending that the currency's decimals can write",
                self.ending.word(),
            ));
        }
        Ok(())
    }
}
