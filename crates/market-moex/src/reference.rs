//! Dividends and splits; they change at most daily.

use std::sync::Arc;

use fault::{Fault, Kind};
use market::{Delay, Dividend, Split, WithFreshness};

use crate::Inner;
use crate::client::IssRequest;
use crate::number;
use crate::snapshot::{currency, with_freshness};
use crate::stale_cache::{CacheAges, Cached};
use crate::tables::Row;

impl Inner {
    fn reference_ages(&self) -> CacheAges {
        CacheAges { fresh: self.config.reference_age, stale: self.config.reference_age_stale }
    }

    pub(crate) async fn dividends(
        self: &Arc<Self>,
        code: &str,
    ) -> Result<WithFreshness<Arc<Vec<Dividend>>>, Fault> {
        // For an unknown code the exchange returns no dividends, so the code is checked first.
        let code = self.listed(code, None).await?.security.code.clone();
        let (inner, fetched_code) = (Arc::clone(self), code.clone());
        let work = async move { inner.fetch_dividends(&fetched_code).await };
        let cached = self.caches.dividends.get(code, self.reference_ages(), work).await?;
        let dividends = Arc::clone(&cached.value);
        let freshness = self.freshness(cached.received_at, cached.received_at, Delay::EndOfDay);
        Ok(with_freshness(cached, dividends, freshness))
    }

    async fn fetch_dividends(self: &Arc<Self>, code: &str) -> Result<Arc<Vec<Dividend>>, Fault> {
        let path = format!("securities/{code}/dividends");
        let answer = self.client.fetch(&IssRequest::new("dividends", path, "dividends")).await?;
        let rows = answer.tables.need("dividends", &["registryclosedate", "value"])?;
        let mut dividends: Vec<Dividend> = rows.rows().filter_map(read_dividend).collect();
        dividends.sort_by_key(|it| it.record_date);
        dividends.dedup();
        Ok(Arc::new(dividends))
    }

    pub(crate) async fn splits(
        self: &Arc<Self>,
        code: Option<&str>,
    ) -> Result<WithFreshness<Vec<Split>>, Fault> {
        let code = match code {
            Some(code) => Some(self.listed(code, None).await?.security.code.clone()),
            None => None,
        };
        let cached = self.all_splits().await?;
        let is_of_code = |split: &&Split| code.as_ref().is_none_or(|code| *code == split.code);
        let splits = cached.value.iter().filter(is_of_code).cloned().collect();
        let freshness = self.freshness(cached.received_at, cached.received_at, Delay::EndOfDay);
        Ok(with_freshness(cached, splits, freshness))
    }

    /// The splits of all securities, ascending by date.
    pub(crate) async fn all_splits(self: &Arc<Self>) -> Result<Cached<Arc<Vec<Split>>>, Fault> {
        let inner = Arc::clone(self);
        let work = async move {
            let path = "statistics/engines/stock/splits";
            let request = IssRequest::new("splits", path, "splits,splits.cursor");
            let response = inner.client.pages(&request, "splits", &["tradedate", "secid"]).await;
            let pages = match response {
                // The exchange has no such page when there are no splits.
                Err(fault) if fault.kind() == Kind::NotFound => return Ok(Arc::default()),
                response => response?,
            };
            let mut splits: Vec<Split> = pages.rows().filter_map(read_split).collect();
            splits.sort_by(|left, right| (left.date, &left.code).cmp(&(right.date, &right.code)));
            splits.dedup();
            Ok(Arc::new(splits))
        };
        self.caches.splits.get((), self.reference_ages(), work).await
    }
}

/// `None` for a row without a date or an amount.
fn read_dividend(row: Row<'_>) -> Option<Dividend> {
    Some(Dividend {
        record_date: row.date("registryclosedate")?,
        value: number::trim(row.number("value")?, 12)?,
        currency: currency(row.text("currencyid").unwrap_or("RUB")),
    })
}

fn read_split(row: Row<'_>) -> Option<Split> {
    let positive = |name: &str| row.count(name).filter(|count| *count > 0);
    Some(Split {
        code: row.owned("secid")?,
        date: row.date("tradedate")?,
        before: positive("before")?,
        after: positive("after")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Tables;

    #[test]
    fn incomplete_rows_are_skipped() {
        let tables = Tables::read(
            br#"{"dividends":{"columns":["secid","isin","registryclosedate","value","currencyid"],
                "data":[["SBER","R","2024-07-11",33.3,"SUR"],["SBER","R",null,1,"RUB"],
                ["SBER","R","2024-07-12",null,"RUB"],["SBER","R","2019-06-13",16.00,"RUB"]]},
            "splits":{"columns":["tradedate","secid","before","after"],
                "data":[["2024-02-21","TRNFP",1,100],["2024-02-21","X",0,100],[null,"Y",1,2]]}}"#,
        )
        .unwrap();
        let dividends: Vec<_> =
            tables.need("dividends", &[]).unwrap().rows().filter_map(read_dividend).collect();
        let shown: Vec<_> = dividends
            .iter()
            .map(|it| format!("{} {} {}", it.record_date, it.value, it.currency))
            .collect();
        assert_eq!(shown, ["2024-07-11 33.3 RUB", "2019-06-13 16 RUB"]);
        let splits: Vec<_> =
            tables.need("splits", &[]).unwrap().rows().filter_map(read_split).collect();
        assert_eq!(splits.len(), 1);
        assert_eq!((splits[0].before, splits[0].after), (1, 100));
    }
}
