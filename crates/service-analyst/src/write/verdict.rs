//! The words that describe figures. Each word comes from one table, so that a summary and its
//! conclusion cannot disagree.

use crate::number::Language;

/// The direction and the strength of a price change, relative to the security's volatility.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PriceTrend {
    StrongUp,
    Up,
    Flat,
    Down,
    StrongDown,
}

/// Yearly volatility in percent, assumed for a security without one.
const USUAL_VOLATILITY: f64 = 25.0;
/// A change of this many percent counts as a move at any volatility.
const CLEAR_PCT: f64 = 10.0;
/// A change below this many percent is shown as zero and counts as none.
pub(super) const ZERO_CHANGE_PCT: f64 = 0.005;

/// The shortest period for a trend, in years: one day.
const YEARS_MIN: f64 = 1.0 / 365.25;

pub(super) fn price_trend(change_pct: f64, volatility: Option<f64>, years: f64) -> PriceTrend {
    let yearly = volatility.filter(|it| *it > 0.0).unwrap_or(USUAL_VOLATILITY);
    let strength = change_pct / (yearly * years.max(YEARS_MIN).sqrt());
    match strength {
        _ if change_pct.abs() < ZERO_CHANGE_PCT => PriceTrend::Flat,
        it if it > 1.5 => PriceTrend::StrongUp,
        it if it > 0.3 || change_pct >= CLEAR_PCT => PriceTrend::Up,
        it if it < -1.5 => PriceTrend::StrongDown,
        it if it < -0.3 || change_pct <= -CLEAR_PCT => PriceTrend::Down,
        _ => PriceTrend::Flat,
    }
}

impl PriceTrend {
    /// Returns the noun for the summary.
    pub(super) fn noun(self, language: Language) -> &'static str {
        match self {
            Self::StrongUp => language.pick("уверенный рост", "a strong rise"),
            Self::Up => language.pick("рост", "a rise"),
            Self::Flat => {
                language.pick("движение без выраженного направления", "no clear direction")
            }
            Self::Down => language.pick("снижение", "a fall"),
            Self::StrongDown => language.pick("сильное снижение", "a sharp fall"),
        }
    }

    /// Returns the verb for the conclusion.
    pub(super) fn verb(self, language: Language) -> &'static str {
        match self {
            Self::StrongUp => language.pick("уверенно выросла", "rose strongly"),
            Self::Up => language.pick("выросла", "rose"),
            Self::Flat => {
                language.pick("выраженного направления не показала", "showed no clear direction")
            }
            Self::Down => language.pick("снизилась", "fell"),
            Self::StrongDown => language.pick("сильно снизилась", "fell sharply"),
        }
    }
}

/// Returns the word for a yearly volatility in percent.
pub(super) fn volatility_word(volatility: f64, language: Language) -> &'static str {
    match volatility {
        it if it < 20.0 => language.pick("низкая", "low"),
        it if it < 35.0 => language.pick("умеренная", "moderate"),
        _ => language.pick("высокая", "high"),
    }
}

/// The strength of the correlation of two securities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CorrelationStrength {
    Strong,
    Moderate,
    Weak,
    Inverse,
}

pub(super) fn correlation_strength(correlation: f64) -> CorrelationStrength {
    match correlation {
        it if it >= 0.7 => CorrelationStrength::Strong,
        it if it >= 0.3 => CorrelationStrength::Moderate,
        it if it > -0.3 => CorrelationStrength::Weak,
        _ => CorrelationStrength::Inverse,
    }
}

impl CorrelationStrength {
    pub(super) fn noun(self, language: Language) -> &'static str {
        match self {
            Self::Strong => language.pick("сильная связь", "closely linked"),
            Self::Moderate => language.pick("умеренная связь", "moderately linked"),
            Self::Weak => language.pick("слабая связь", "weakly linked"),
            Self::Inverse => language.pick("обратная связь", "inversely linked"),
        }
    }

    pub(super) fn conclusion(self, language: Language) -> &'static str {
        match self {
            Self::Strong => language.pick(
                "бумаги движутся вместе и слабо диверсифицируют друг друга",
                "they move together and diversify each other little",
            ),
            Self::Moderate => language.pick(
                "бумаги отчасти движутся вместе и диверсифицируют друг друга лишь частично",
                "they partly move together and diversify each other only in part",
            ),
            Self::Weak => language.pick(
                "бумаги движутся почти независимо и диверсифицируют друг друга",
                "they move almost independently and diversify each other",
            ),
            Self::Inverse => language.pick(
                "бумаги движутся в разные стороны и гасят риск друг друга",
                "they move in opposite directions and offset each other",
            ),
        }
    }
}

/// Returns the word for a Herfindahl index.
pub(super) fn concentration(hhi: f64, language: Language) -> &'static str {
    match hhi {
        it if it > 0.25 => language.pick("высокая", "high"),
        it if it > 0.15 => language.pick("умеренная", "moderate"),
        _ => language.pick("низкая", "low"),
    }
}

/// Returns the words for whether more securities rose or fell.
pub(super) fn breadth(up: usize, down: usize, language: Language) -> &'static str {
    match up.cmp(&down) {
        std::cmp::Ordering::Greater => {
            language.pick("выросших бумаг больше, чем снизившихся", "more rose than fell")
        }
        std::cmp::Ordering::Less => {
            language.pick("снизившихся бумаг больше, чем выросших", "more fell than rose")
        }
        std::cmp::Ordering::Equal => {
            language.pick("выросших и снизившихся бумаг поровну", "as many rose as fell")
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_never_point_the_other_way(
            change in -99.0..500.0_f64,
            volatility in prop::option::of(0.0..300.0_f64),
            years in 0.0..12.0_f64,
        ) {
            let price_trend = price_trend(change, volatility, years);
            for language in [Language::Russian, Language::English] {
                let words = format!("{} {}", price_trend.noun(language), price_trend.verb(language));
                let up = ["рост", "выросл", "rise", "rose"].iter().any(|it| words.contains(it));
                let down = ["сниж", "снизил", "fall", "fell"].iter().any(|it| words.contains(it));
                prop_assert!(!(up && change <= 0.0), "{words} {change}");
                prop_assert!(!(down && change >= 0.0), "{words} {change}");
                prop_assert!(!(up && down));
            }
        }

        #[test]
        fn a_closer_bond_is_never_called_a_looser_one(a in -1.0..=1.0_f64, b in -1.0..=1.0_f64) {
            let order = [CorrelationStrength::Inverse, CorrelationStrength::Weak, CorrelationStrength::Moderate, CorrelationStrength::Strong];
            let rank = |it: f64| order.iter().position(|correlation_strength| *correlation_strength == super::correlation_strength(it));
            prop_assert!(a > b || rank(a) <= rank(b));
        }
    }
}
