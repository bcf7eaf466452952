//! Prices and volumes of a security as a series that can be compared over time: on the scale of
//! the period's last day, splits taken out.

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

use crate::answer::Gaps;
use crate::figures::year::Year;

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
        let inside = |split: &Split| split.date > from && split.date <= to && split.before > 0;
        match exchange.splits(Some(code)).await {
            Ok(told) => {
                Self { of_period: told.value.into_iter().filter(inside).collect(), unknown: None }
            }
            // The figures stay useful; the answer says that splits are unknown.
            Err(fault) => Self { of_period: Vec::new(), unknown: Some(fault.to_string()) },
        }
    }

    /// For one piece of that day, how many pieces there are at the end of the period. Prices are
    /// divided by it, volumes multiplied.
    pub(crate) fn factor(&self, date: Date) -> f64 {
        self.of_period
            .iter()
            .filter(|split| split.date > date)
            .map(|split| split.after as f64 / split.before as f64)
            .product()
    }
}

/// Daily closes.
pub(crate) struct Closes {
    pub(crate) code: String,
    pub(crate) days: Vec<(Date, f64)>,
    pub(crate) freshness: Freshness,
    pub(crate) gaps: Gaps,
    pub(crate) splits: Splits,
}

/// Kept of the time that a call has, so that its answer is not too late to be sent.
const SENDING: Duration = Duration::from_secs(2);

/// Works at several series until there is just time enough to say that it could not be done. What
/// has come by then is kept, so that the same question finds less to do when it is asked again.
pub(crate) async fn in_time<T>(
    deadline: Instant,
    (count, days): (usize, i64),
    work: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let until = deadline.checked_sub(SENDING).unwrap_or(deadline);
    match tokio::time::timeout_at(until, work).await {
        Ok(done) => done,
        Err(_) => {
            let message = format!(
                "the prices of {count} securities over {days} days did not come in time: name fewer \
                 securities or a shorter period, or ask again soon, because what has come is kept"
            );
            Err(Fault::new(Kind::Timeout, "too_much_at_once", message))
        }
    }
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
    let WithFreshness { value, freshness } = exchange.candles(&request).await?;
    let splits = Splits::of(exchange, code, from, to).await;
    let days = closes(&value, &splits);
    Ok(Closes { code: code.to_owned(), days, freshness, gaps: Gaps::of(&value), splits })
}

fn closes(candles: &SecurityCandles, splits: &Splits) -> Vec<(Date, f64)> {
    let day = |candle: &SecurityCandle| {
        let date = candle.begins.date();
        (date, candle.close.to_f64() / splits.factor(date))
    };
    candles.candles.iter().filter(|candle| candle.closed).map(day).collect()
}

/// That of the one that is to be trusted least.
pub(crate) fn freshness(all: &[Closes]) -> Option<Freshness> {
    let doubtful = all.iter().find(|it| it.freshness.stale).or(all.first());
    doubtful.map(|it| it.freshness.clone())
}

/// How many sessions a year has for what was traded on these days, which ascend.
pub(crate) async fn year(exchange: &Arc<dyn StockExchange>, days: &[Date]) -> Year {
    if let Some(year) = Year::of_period(days) {
        return year;
    }
    let Some(last) = days.last() else { return Year::CONVENTION };
    let told = exchange.trading_days(Year::begins(*last), *last).await;
    let traded = |told: WithFreshness<Vec<market::TradingDay>>| -> Vec<Date> {
        told.value.iter().filter(|day| day.is_trading).map(|day| day.date).collect()
    };
    let traded = told.map(traded).unwrap_or_default();
    Year::of_exchange(days, &traded).unwrap_or(Year::CONVENTION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[tokio::test(start_paused = true)]
    async fn what_takes_too_long_is_told_before_the_deadline() {
        let deadline = Instant::now() + Duration::from_secs(30);
        let work = std::future::pending::<Result<(), Fault>>();
        let fault = in_time(deadline, (50, 3_650), work).await.unwrap_err();
        assert_eq!((fault.code(), fault.kind()), ("too_much_at_once", Kind::Timeout));
        assert!(fault.message().contains("50 securities over 3650 days"), "{}", fault.message());
        assert!(Instant::now() < deadline);
        let done = in_time(deadline, (1, 1), std::future::ready(Ok(7))).await;
        assert_eq!(done.unwrap(), 7);
    }

    #[test]
    fn a_split_divides_what_came_before_it() {
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
