//! Daily closes of a security as a series that can be compared over time: splits taken out.

use fault::Fault;
use jiff::civil::Date;
use market::{Candle, CandleRequest, CandleStep, Candles, Freshness, Split, StockExchange, Told};
use std::sync::Arc;

/// A candle's close, with what one piece of then is worth in pieces of now.
pub(crate) fn factor(splits: &[Split], date: Date) -> f64 {
    splits
        .iter()
        .filter(|split| split.date > date && split.before > 0)
        .map(|split| split.after as f64 / split.before as f64)
        .product()
}

/// The splits of a security that fall into a period. A venue that cannot tell has none to tell of.
pub(crate) async fn splits(
    exchange: &Arc<dyn StockExchange>,
    code: &str,
    from: Date,
    to: Date,
) -> Vec<Split> {
    let told = exchange.splits(Some(code)).await;
    let all = told.map(|told| told.value).unwrap_or_default();
    all.into_iter().filter(|split| split.date > from && split.date <= to).collect()
}

pub(crate) struct Closes {
    pub(crate) code: String,
    pub(crate) days: Vec<(Date, f64)>,
    pub(crate) freshness: Freshness,
}

/// The closes of the days that are over.
pub(crate) async fn daily(
    exchange: &Arc<dyn StockExchange>,
    code: &str,
    board: Option<&str>,
    (from, to): (Date, Date),
) -> Result<Closes, Fault> {
    let request = CandleRequest {
        code: code.to_owned(),
        board: board.map(ToOwned::to_owned),
        step: CandleStep::Day,
        from,
        to,
    };
    let Told { value, freshness } = exchange.candles(&request).await?;
    let splits = splits(exchange, code, from, to).await;
    Ok(Closes { code: code.to_owned(), days: closes(&value, &splits), freshness })
}

fn closes(candles: &Candles, splits: &[Split]) -> Vec<(Date, f64)> {
    let day = |candle: &Candle| {
        let date = candle.begins.date();
        (date, candle.close.to_f64() / factor(splits, date))
    };
    candles.candles.iter().filter(|candle| candle.closed).map(day).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn a_split_divides_what_came_before_it() {
        let split = |day, before, after| Split { code: "X".into(), date: day, before, after };
        let splits = [split(date(2024, 2, 21), 1, 100), split(date(2024, 7, 15), 5_000, 1)];
        assert_eq!(factor(&splits, date(2024, 2, 20)), 100.0 / 5_000.0);
        assert_eq!(factor(&splits, date(2024, 2, 21)), 1.0 / 5_000.0);
        assert_eq!(factor(&splits, date(2024, 7, 15)), 1.0);
        assert_eq!(factor(&[split(date(2024, 1, 1), 0, 5)], date(2023, 1, 1)), 1.0);
    }
}
