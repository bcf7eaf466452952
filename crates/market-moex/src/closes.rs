//! Closing prices of the whole main board on a past day.

use std::collections::HashMap;
use std::sync::Arc;

use fault::Fault;
use jiff::ToSpan;
use jiff::civil::Date;
use market::Decimal;

use crate::Inner;
use crate::board_address::BoardAddress;
use crate::client::IssRequest;
use crate::moscow_time;
use crate::number;
use crate::stale_cache::CacheAges;

/// The most decimals of a price.
const DECIMALS_MAX: u8 = 12;
/// The most days without trading in a row that are searched.
const DAYS_BACK_MAX: usize = 14;

/// By code; a security that was not traded that day is absent.
pub(crate) type Closes = Arc<HashMap<String, Decimal>>;

impl Inner {
    /// The closes of a day; empty for a day without trading or whose record is not published yet.
    pub(crate) async fn closes(self: &Arc<Self>, date: Date) -> Result<Closes, Fault> {
        let inner = Arc::clone(self);
        let work = async move { inner.fetch_closes(date).await };
        let ages = self.ages_of(date);
        Ok(self.caches.closes.get(date, ages, work).await?.value)
    }

    /// The cache ages of a day's data: it may still change until the day after.
    pub(crate) fn ages_of(&self, date: Date) -> CacheAges {
        let today = moscow_time::today(self.clock.now());
        let settled = date.checked_add(1.day()).is_ok_and(|next| next < today);
        let fresh = if settled { self.config.reference_age } else { self.config.search_age };
        CacheAges { fresh, stale: self.config.reference_age_stale }
    }

    async fn fetch_closes(self: &Arc<Self>, date: Date) -> Result<Closes, Fault> {
        let path = format!("history/{}/securities", BoardAddress::main().path());
        let request = IssRequest::new("history", path, "history,history.cursor").with("date", date);
        let pages = self.client.pages(&request, "history", &["secid", "close"]).await?;
        let close = |row: crate::tables::Row<'_>| {
            let close = number::trim(row.number("close")?, DECIMALS_MAX)?;
            Some((row.owned("secid")?, close)).filter(|(_, close)| !close.is_zero())
        };
        Ok(Arc::new(pages.rows().filter_map(close).collect()))
    }

    /// The last trading day before a date and its closes; `known` is that day, if it is known.
    pub(crate) async fn closes_before(
        self: &Arc<Self>,
        date: Date,
        known: Option<Date>,
    ) -> Result<(Date, Closes), Fault> {
        let mut day = known.filter(|known| *known < date);
        for _ in 0..DAYS_BACK_MAX {
            let requested = match day {
                Some(day) => day,
                None => date.checked_sub(1.day()).map_err(Fault::internal)?,
            };
            let closes = self.closes(requested).await?;
            if !closes.is_empty() {
                return Ok((requested, closes));
            }
            day = Some(requested.checked_sub(1.day()).map_err(Fault::internal)?);
        }
        Err(Fault::unavailable("upstream_incomplete", format!("nothing was traded before {date}")))
    }
}
