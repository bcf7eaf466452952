//! Closing prices of the whole main board on a past day.

use std::collections::HashMap;
use std::sync::Arc;

use fault::Fault;
use jiff::ToSpan;
use jiff::civil::Date;
use market::Decimal;

use crate::Inner;
use crate::client::Question;
use crate::number;
use crate::place::Place;
use crate::shelf::Ages;
use crate::zone;

/// No price has more digits after its point.
const DECIMALS_MAX: u8 = 12;
/// Longer than any holiday.
const DAYS_BACK_MAX: usize = 14;

/// By code. What was not traded that day is not there.
pub(crate) type Closes = Arc<HashMap<String, Decimal>>;

impl Inner {
    /// Empty for a day without trading, and for one whose record is not written yet.
    pub(crate) async fn closes(self: &Arc<Self>, date: Date) -> Result<Closes, Fault> {
        let inner = Arc::clone(self);
        let work = async move { inner.fetch_closes(date).await };
        let ages = self.ages_of(date);
        Ok(self.shelves.closes.get(date, ages, work).await?.value)
    }

    /// The record of a day settles the day after.
    pub(crate) fn ages_of(&self, date: Date) -> Ages {
        let today = zone::today(self.clock.now());
        let settled = date.checked_add(1.day()).is_ok_and(|next| next < today);
        let fresh = if settled { self.config.reference_age } else { self.config.search_age };
        Ages { fresh, stale: self.config.reference_age_stale }
    }

    async fn fetch_closes(self: &Arc<Self>, date: Date) -> Result<Closes, Fault> {
        let path = format!("history/{}/securities", Place::main().path());
        let question = Question::new("history", path, "history,history.cursor").with("date", date);
        let pages = self.client.pages(&question, "history", &["secid", "close"]).await?;
        let close = |row: crate::tables::Row<'_>| {
            let close = number::trim(row.number("close")?, DECIMALS_MAX)?;
            Some((row.owned("secid")?, close)).filter(|(_, close)| !close.is_zero())
        };
        Ok(Arc::new(pages.rows().filter_map(close).collect()))
    }

    /// The closes of the last day of trading before a day; `told` is which one, where it is known.
    pub(crate) async fn closes_before(
        self: &Arc<Self>,
        date: Date,
        told: Option<Date>,
    ) -> Result<(Date, Closes), Fault> {
        let mut day = told.filter(|told| *told < date);
        for _ in 0..DAYS_BACK_MAX {
            let asked = match day {
                Some(day) => day,
                None => date.checked_sub(1.day()).map_err(Fault::internal)?,
            };
            let closes = self.closes(asked).await?;
            if !closes.is_empty() {
                return Ok((asked, closes));
            }
            day = Some(asked.checked_sub(1.day()).map_err(Fault::internal)?);
        }
        Err(Fault::unavailable("upstream_incomplete", format!("nothing was traded before {date}")))
    }
}
