//! The members of an index and their weights on a date, or on the last trading day before it.

use std::sync::Arc;

use fault::{Fault, Kind};
use jiff::ToSpan;
use jiff::civil::Date;
use market::{Decimal, Delay, WithFreshness, closest_codes};

use crate::Inner;
use crate::board_address::is_plain;
use crate::client::IssRequest;
use crate::number;
use crate::snapshot::with_freshness;
use crate::stale_cache::{CacheAges, Cached};
use crate::tables::Row;

const PATH: &str = "statistics/engines/stock/markets/index/analytics";
/// The largest page; the default of 20 rows holds two fifths of the main index.
const PAGE: usize = 100;
/// The most days without trading in a row that are searched.
const STEPS_MAX: usize = 14;
const SUGGESTIONS_MAX: usize = 3;
/// The session number of the whole day; the exchange also publishes weights of its sessions.
const WHOLE_DAY: i64 = 3;

/// An index whose constituents are published.
#[derive(Debug, Clone)]
pub(crate) struct PublishedIndex {
    pub(crate) code: String,
    pub(crate) name: Option<String>,
    pub(crate) from: Option<Date>,
    pub(crate) till: Option<Date>,
}

#[derive(Debug, Clone)]
pub(crate) struct IndexMember {
    pub(crate) code: String,
    pub(crate) name: Option<String>,
    pub(crate) weight_pct: Decimal,
}

#[derive(Debug)]
pub(crate) struct IndexWeights {
    pub(crate) effective: Date,
    /// The previous trading day.
    pub(crate) previous: Option<Date>,
    pub(crate) members: Vec<IndexMember>,
}

/// The response for one date.
struct DayWeights {
    weights: Option<IndexWeights>,
    previous: Option<Date>,
    first: Option<Date>,
    last: Option<Date>,
}

impl Inner {
    pub(crate) async fn index_names(self: &Arc<Self>) -> Result<Arc<Vec<PublishedIndex>>, Fault> {
        Ok(self.cached_names().await?.value)
    }

    pub(crate) async fn indices(
        self: &Arc<Self>,
    ) -> Result<WithFreshness<Vec<(String, Option<String>)>>, Fault> {
        let cached = self.cached_names().await?;
        let named = cached.value.iter().map(|it| (it.code.clone(), it.name.clone())).collect();
        let freshness = self.freshness(cached.received_at, cached.received_at, Delay::EndOfDay);
        Ok(with_freshness(cached, named, freshness))
    }

    async fn cached_names(self: &Arc<Self>) -> Result<Cached<Arc<Vec<PublishedIndex>>>, Fault> {
        let inner = Arc::clone(self);
        let work = async move {
            let request = IssRequest::new("indices", PATH, "indices");
            let answer = inner.client.fetch(&request).await?;
            let rows = answer.tables.need("indices", &["indexid"])?;
            let read = |row: Row<'_>| {
                Some(PublishedIndex {
                    code: row.owned("indexid")?,
                    name: row.owned("shortname"),
                    from: row.date("from"),
                    till: row.date("till"),
                })
            };
            Ok(Arc::new(rows.rows().filter_map(read).collect()))
        };
        let ages =
            CacheAges { fresh: self.config.reference_age, stale: self.config.reference_age_stale };
        self.caches.indices.get((), ages, work).await
    }

    pub(crate) async fn weights(
        self: &Arc<Self>,
        index: &str,
        date: Date,
    ) -> Result<Cached<Arc<IndexWeights>>, Fault> {
        let index = index.trim().to_uppercase();
        // Without the list of indices the request itself shows whether the index exists.
        let names = self.index_names().await.ok();
        let listed = names.as_ref().is_none_or(|names| names.iter().any(|it| it.code == index));
        if !is_plain(&index) || !listed {
            let known = names.as_ref().map_or(&[][..], |names| names.as_slice());
            return Err(unknown_index(&index, known));
        }
        let name = names.as_ref().and_then(|names| names.iter().find(|it| it.code == index));
        if let Some(first) = name.and_then(|name| name.from).filter(|first| date < *first) {
            return Err(too_early(&index, first, date));
        }
        let (inner, index_code, known) = (Arc::clone(self), index.clone(), name.is_some());
        let work = async move {
            match inner.fetch_weights(&index_code, date).await? {
                Some(weights) => Ok(Arc::new(weights)),
                None if known => Err(no_weights(&index_code, date)),
                None => Err(unknown_index(&index_code, &[])),
            }
        };
        self.caches.weights.get((index, date), self.ages_of(date), work).await
    }

    /// The weights of the date or the last day before it; `None` when there are none.
    async fn fetch_weights(
        self: &Arc<Self>,
        index: &str,
        date: Date,
    ) -> Result<Option<IndexWeights>, Fault> {
        let mut day = date;
        for _ in 0..STEPS_MAX {
            let attempt = self.weights_of(index, day).await?;
            if attempt.weights.is_some() {
                return Ok(attempt.weights);
            }
            if let Some(first) = attempt.first.filter(|first| date < *first) {
                return Err(too_early(index, first, date));
            }
            let earlier = |it: &Date| *it < day;
            let earlier_day = attempt.previous.filter(earlier).or(attempt.last.filter(earlier));
            day = match earlier_day {
                Some(earlier_day) => earlier_day,
                None => day.checked_sub(1.day()).map_err(Fault::internal)?,
            };
        }
        Ok(None)
    }

    async fn weights_of(self: &Arc<Self>, index: &str, date: Date) -> Result<DayWeights, Fault> {
        let path = format!("{PATH}/{index}");
        let request =
            IssRequest::new("analytics", path, "analytics,analytics.cursor,analytics.dates")
                .with("date", date)
                .with("limit", PAGE);
        let columns = ["tradedate", "secids", "weight"];
        let response = self.client.pages(&request, "analytics", &columns).await;
        let pages = match response {
            Err(fault) if fault.kind() == Kind::NotFound => return Err(unknown_index(index, &[])),
            response => response?,
        };
        let mut members: Vec<IndexMember> = Vec::new();
        let mut effective = None;
        for row in pages.rows() {
            if row.is_garbled("weight") {
                let message = format!("a weight in {index} is not a number");
                return Err(Fault::unavailable("upstream_malformed", message));
            }
            let session = row.integer("tradingsession").unwrap_or(WHOLE_DAY);
            let code = row.text("secids").or_else(|| row.text("ticker"));
            let (Some(code), Some(weight), WHOLE_DAY) = (code, row.number("weight"), session)
            else {
                continue;
            };
            effective = effective.or_else(|| row.date("tradedate"));
            // Several classes of one share are listed together; the first is in the index.
            let code = code.split(',').next().unwrap_or(code).trim().to_owned();
            if members.iter().any(|it| it.code == code) {
                continue;
            }
            let weight_pct = number::trim(weight, 6).unwrap_or(weight);
            members.push(IndexMember { code, name: row.owned("shortnames"), weight_pct });
        }
        let previous = pages.first("analytics.cursor").and_then(|row| row.date("prev_date"));
        let dates = pages.first("analytics.dates");
        let weights = effective.map(|effective| IndexWeights { effective, previous, members });
        Ok(DayWeights {
            weights,
            previous,
            first: dates.and_then(|row| row.date("from")),
            last: dates.and_then(|row| row.date("till")),
        })
    }
}

fn too_early(index: &str, first: Date, date: Date) -> Fault {
    let message = format!("the first basket of {index} is of {first}; {date} is before it");
    Fault::not_found("no_basket", message).problem("date", format!("a date from {first} on"))
}

/// The fault for an index that the exchange lists without publishing its weights.
fn no_weights(index: &str, date: Date) -> Fault {
    let message = format!("the exchange tells no basket of {index} on {date}, nor just before");
    Fault::unavailable("upstream_incomplete", message)
}

fn unknown_index(index: &str, known: &[PublishedIndex]) -> Fault {
    let shown: String = index.chars().take(40).collect();
    let mut message = format!("the Moscow Exchange publishes no basket of an index {shown:?}");
    let suggestions =
        closest_codes(index, known.iter().map(|it| it.code.as_str()), SUGGESTIONS_MAX);
    if !suggestions.is_empty() {
        message = format!("{message}; did you mean {}?", suggestions.join(", "));
    }
    Fault::not_found("unknown_index", message)
}
