//! Daily closes of securities that can be compared over time: adjusted for splits to the last day
//! of the period.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use fault::{Fault, Kind};
use jiff::civil::Date;
use market::{
    CandleRequest, CandleStep, Freshness, SecurityCandle, SecurityCandles, Split, StockExchange,
    WithFreshness,
};
use tokio::time::Instant;

use crate::figures::year::SessionsPerYear;
use crate::reply::MissingDays;

/// The splits of a security that fall into a period, or why they are not known.
#[derive(Debug, Default)]
pub(crate) struct Splits {
    pub(crate) of_period: Vec<Split>,
    pub(crate) unknown: Option<String>,
}

impl Splits {
    pub(crate) async fn of(
        exchange: &Arc<dyn StockExchange>,
        code: &str,
        from: Date,
        to: Date,
    ) -> Self {
        let in_period = |split: &Split| split.date > from && split.date <= to && split.before > 0;
        match exchange.splits(Some(code)).await {
            Ok(splits) => Self {
                of_period: splits.value.into_iter().filter(in_period).collect(),
                unknown: None,
            },
            // The call goes on; its reply says that splits are unknown.
            Err(fault) => Self { of_period: Vec::new(), unknown: Some(fault.to_string()) },
        }
    }

    /// How many shares at the end of the period one share of that day has become. Prices are
    /// divided by it, volumes multiplied.
    pub(crate) fn factor(&self, date: Date) -> f64 {
        self.of_period
            .iter()
            .filter(|split| split.date > date)
            .map(|split| split.after as f64 / split.before as f64)
            .product()
    }
}

/// The daily closes of one security.
pub(crate) struct SecurityCloses {
    pub(crate) code: String,
    pub(crate) days: Vec<(Date, f64)>,
    pub(crate) freshness: Freshness,
    pub(crate) missing_days: MissingDays,
    pub(crate) splits: Splits,
}

/// How long before the deadline of a call the work stops, so that the reply is sent in time.
const REPLY_MARGIN: Duration = Duration::from_secs(2);

/// Runs `work`, which fetches prices of `count` securities over `days` days, until two seconds
/// before the deadline. Fetched candles stay cached, so the same call has less to do when it is
/// repeated.
pub(crate) async fn before_deadline<T>(
    deadline: Instant,
    (count, days): (usize, i64),
    work: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let stop_at = deadline.checked_sub(REPLY_MARGIN).unwrap_or(deadline);
    match tokio::time::timeout_at(stop_at, work).await {
        Ok(result) => result,
        Err(_) => {
            let message = format!(
                "the prices of {count} securities over {days} days could not be fetched in time; name \
                 fewer securities or a shorter period, or call again: fetched prices are kept"
            );
            Err(Fault::new(Kind::Timeout, "too_much_at_once", message))
        }
    }
}

/// Fetches the closes of finished days.
pub(crate) async fn daily_closes(
    exchange: &Arc<dyn StockExchange>,
    code: &str,
    board: Option<&str>,
    (from, to): (Date, Date),
) -> Result<SecurityCloses, Fault> {
    let request = CandleRequest {
        code: code.to_owned(),
        board: board.map(ToOwned::to_owned),
        step: CandleStep::Day,
        from,
        to,
    };
    let WithFreshness { value, freshness } = exchange.candles(&request).await?;
    let splits = Splits::of(exchange, code, from, to).await;
    let days = closes(&value, &splits);
    Ok(SecurityCloses {
        code: code.to_owned(),
        days,
        freshness,
        missing_days: MissingDays::of(&value),
        splits,
    })
}

fn closes(candles: &SecurityCandles, splits: &Splits) -> Vec<(Date, f64)> {
    let day = |candle: &SecurityCandle| {
        let date = candle.begins.date();
        (date, candle.close.to_f64() / splits.factor(date))
    };
    candles.candles.iter().filter(|candle| candle.closed).map(day).collect()
}

/// The freshness of the first stale series, or of the first one if none is stale.
pub(crate) fn freshness(all: &[SecurityCloses]) -> Option<Freshness> {
    let least_fresh = all.iter().find(|it| it.freshness.stale).or(all.first());
    least_fresh.map(|it| it.freshness.clone())
}

/// The number of sessions in a year for a security that was traded on these days, which ascend.
pub(crate) async fn sessions_per_year(
    exchange: &Arc<dyn StockExchange>,
    days: &[Date],
) -> SessionsPerYear {
    if let Some(sessions) = SessionsPerYear::of_period(days) {
        return sessions;
    }
    let Some(last) = days.last() else { return SessionsPerYear::CONVENTION };
    let calendar = exchange.trading_days(SessionsPerYear::first_day(*last), *last).await;
    let traded = |calendar: WithFreshness<Vec<market::TradingDay>>| -> Vec<Date> {
        calendar.value.iter().filter(|day| day.is_trading).map(|day| day.date).collect()
    };
    let traded = calendar.map(traded).unwrap_or_default();
    SessionsPerYear::of_exchange(days, &traded).unwrap_or(SessionsPerYear::CONVENTION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[tokio::test(start_paused = true)]
    async fn a_slow_source_is_reported_before_the_deadline() {
        let deadline = Instant::now() + Duration::from_secs(30);
        let work = std::future::pending::<Result<(), Fault>>();
        let fault = before_deadline(deadline, (50, 3_650), work).await.unwrap_err();
        assert_eq!((fault.code(), fault.kind()), ("too_much_at_once", Kind::Timeout));
        assert!(fault.message().contains("50 securities over 3650 days"), "{}", fault.message());
        assert!(Instant::now() < deadline);
        let done = before_deadline(deadline, (1, 1), std::future::ready(Ok(7))).await;
        assert_eq!(done.unwrap(), 7);
    }

    #[test]
    fn the_factor_of_a_day_is_the_product_of_later_splits() {
        let split = |day, before, after| Split { code: "X".into(), date: day, before, after };
        let splits = Splits {
            of_period: vec![split(date(2024, 2, 21), 1, 100), split(date(2024, 7, 15), 5_000, 1)],
            unknown: None,
        };
        assert_eq!(splits.factor(date(2024, 2, 20)), 100.0 / 5_000.0);
        assert_eq!(splits.factor(date(2024, 2, 21)), 1.0 / 5_000.0);
        assert_eq!(splits.factor(date(2024, 7, 15)), 1.0);
        assert_eq!(Splits::default().factor(date(2024, 7, 15)), 1.0);
    }
}
