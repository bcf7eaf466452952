//! The calls for figures beyond prices: indicators, crypto pairs, the beta and rankings of an index.

use serde_json::{Map, Value, json};

use super::Steps;
use crate::dates::Period;
use crate::resolve::Security;
use crate::understand::{Asked, Indicator, RankMetric, board};

/// Candles of an indicator: enough to see whether two averages crossed lately.
const INDICATOR_CANDLES: u32 = 30;

/// Returns the label of an indicator in the windows of the tool, such as `sma:50`.
pub(crate) fn window(it: &Indicator) -> String {
    match it.period {
        Some(period) if ["sma", "ema"].contains(&it.name) => format!("{}:{period}", it.name),
        _ => it.name.to_owned(),
    }
}

fn windows(asked: &Asked) -> Value {
    let mut windows = Map::new();
    for it in &asked.indicators {
        let labelled = window(it).contains(':');
        let parameters = match it.period.filter(|_| !labelled && it.name != "macd") {
            Some(period) => json!({ "period": period }),
            None => json!({}),
        };
        windows.insert(window(it), parameters);
    }
    Value::Object(windows)
}

impl Steps<'_> {
    fn indicators_of(&mut self, symbol: &str, windows: Value, limit: u32) {
        let args = json!({
            "symbol": symbol,
            "interval": self.request.asked.interval.unwrap_or("1d"),
            "limit": limit,
            "includeCandles": true,
            "warm": true,
            "windows": windows,
        });
        self.add("compute_indicators", ("индикаторы", "indicators"), symbol, args);
    }

    pub(super) fn indicators(&mut self, all: &[Security]) {
        let asked = &self.request.asked;
        let windows = windows(asked);
        let pairs = asked.crypto.iter().map(|it| (*it).to_owned());
        let symbols: Vec<String> =
            all.iter().map(|it| format!("MOEX:{}", it.ticker)).chain(pairs).collect();
        for symbol in symbols {
            self.indicators_of(&symbol, windows.clone(), INDICATOR_CANDLES);
        }
    }

    pub(super) fn crypto(&mut self, all: &[Security], period: Option<Period>) {
        let pairs = self.request.asked.crypto.clone();
        let args = json!({ "tickers": pairs });
        self.add("quotes_live", ("котировки", "quotes"), &pairs.join(", "), args);
        let period = period.filter(|it| !it.is_day());
        for pair in pairs.iter().filter(|_| period.is_some()) {
            let start = period.map(|it| it.from.to_string());
            let args = json!({ "symbol": pair, "interval": "1d", "start": start, "limit": 1 });
            self.add(
                "get_klines",
                ("первая свеча периода", "first candle of the period"),
                pair,
                args,
            );
        }
        for it in all {
            self.snapshot(it);
            if let Some(period) = period {
                self.history(it, period);
            }
        }
    }

    /// Requests the correlation with the index and the volatilities over the same days.
    pub(super) fn market_risk(&mut self, all: &[Security], period: Period) {
        let index = self.request.index;
        let index = Security {
            ticker: index.to_owned(),
            board: Some(board(index).to_owned()),
            ..Security::default()
        };
        for it in all.iter().filter(|it| it.ticker != index.ticker) {
            let both = [it.clone(), index.clone()];
            self.correlation(&both, period);
            self.risk(&both, period);
        }
    }

    pub(super) fn ranking(&mut self, all: &[Security], period: Period) {
        let rsi =
            matches!(self.request.asked.ranking, Some(RankMetric::LowRsi | RankMetric::HighRsi));
        for it in all {
            if rsi {
                let windows = json!({ "rsi": {} });
                self.indicators_of(&format!("MOEX:{}", it.ticker), windows, 1);
            } else {
                self.history(it, period);
            }
        }
    }
}
