//! Who is in an index and how much each weighs, on a day or on the last day of trading before it.

use std::sync::Arc;

use fault::{Fault, Kind};
use jiff::ToSpan;
use jiff::civil::Date;
use market::{Decimal, Delay, WithFreshness, closest_codes};

use crate::Inner;
use crate::client::Question;
use crate::number;
use crate::place::is_plain;
use crate::shelf::{Ages, Held};
use crate::snapshot::told;
use crate::tables::Row;

const PATH: &str = "statistics/engines/stock/markets/index/analytics";
/// The most rows a page may have; the default of twenty holds two fifths of the main index.
const PAGE: usize = 100;
/// Longer than any holiday.
const STEPS_MAX: usize = 14;
const SUGGESTIONS_MAX: usize = 3;
/// The whole day, where the exchange also tells weights of its parts.
const WHOLE_DAY: i64 = 3;

/// An index whose baskets are published.
#[derive(Debug, Clone)]
pub(crate) struct IndexName {
    pub(crate) code: String,
    pub(crate) name: Option<String>,
    pub(crate) from: Option<Date>,
    pub(crate) till: Option<Date>,
}

#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) code: String,
    pub(crate) name: Option<String>,
    pub(crate) weight_pct: Decimal,
}

#[derive(Debug)]
pub(crate) struct Weights {
    pub(crate) effective: Date,
    /// The day of trading before.
    pub(crate) previous: Option<Date>,
    pub(crate) members: Vec<Member>,
}

/// What one date gave.
struct Attempt {
    weights: Option<Weights>,
    previous: Option<Date>,
    first: Option<Date>,
    last: Option<Date>,
}

impl Inner {
    pub(crate) async fn index_names(self: &Arc<Self>) -> Result<Arc<Vec<IndexName>>, Fault> {
        Ok(self.kept_names().await?.value)
    }

    pub(crate) async fn indices(
        self: &Arc<Self>,
    ) -> Result<WithFreshness<Vec<(String, Option<String>)>>, Fault> {
        let held = self.kept_names().await?;
        let named = held.value.iter().map(|it| (it.code.clone(), it.name.clone())).collect();
        let freshness = self.freshness(held.received_at, held.received_at, Delay::EndOfDay);
        Ok(told(held, named, freshness))
    }

    async fn kept_names(self: &Arc<Self>) -> Result<Held<Arc<Vec<IndexName>>>, Fault> {
        let inner = Arc::clone(self);
        let work = async move {
            let question = Question::new("indices", PATH, "indices");
            let answer = inner.client.ask(&question).await?;
            let rows = answer.tables.need("indices", &["indexid"])?;
            let read = |row: Row<'_>| {
                Some(IndexName {
                    code: row.owned("indexid")?,
                    name: row.owned("shortname"),
                    from: row.date("from"),
                    till: row.date("till"),
                })
            };
            Ok(Arc::new(rows.rows().filter_map(read).collect()))
        };
        let ages =
            Ages { fresh: self.config.reference_age, stale: self.config.reference_age_stale };
        self.shelves.indices.get((), ages, work).await
    }

    pub(crate) async fn weights(
        self: &Arc<Self>,
        index: &str,
        date: Date,
    ) -> Result<Held<Arc<Weights>>, Fault> {
        let index = index.trim().to_uppercase();
        // Without the list, asking tells as well; it only takes longer.
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
        let (inner, asked, known) = (Arc::clone(self), index.clone(), name.is_some());
        let work = async move {
            match inner.fetch_weights(&asked, date).await? {
                Some(weights) => Ok(Arc::new(weights)),
                None if known => Err(lost(&asked, date)),
                None => Err(unknown_index(&asked, &[])),
            }
        };
        self.shelves.weights.get((index, date), self.ages_of(date), work).await
    }

    /// `None` where nothing is told of any day up to the date.
    async fn fetch_weights(
        self: &Arc<Self>,
        index: &str,
        date: Date,
    ) -> Result<Option<Weights>, Fault> {
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
            let told = attempt.previous.filter(earlier).or(attempt.last.filter(earlier));
            day = match told {
                Some(told) => told,
                None => day.checked_sub(1.day()).map_err(Fault::internal)?,
            };
        }
        Ok(None)
    }

    async fn weights_of(self: &Arc<Self>, index: &str, date: Date) -> Result<Attempt, Fault> {
        let path = format!("{PATH}/{index}");
        let question =
            Question::new("analytics", path, "analytics,analytics.cursor,analytics.dates")
                .with("date", date)
                .with("limit", PAGE);
        let columns = ["tradedate", "secids", "weight"];
        let asked = self.client.pages(&question, "analytics", &columns).await;
        let pages = match asked {
            Err(fault) if fault.kind() == Kind::NotFound => return Err(unknown_index(index, &[])),
            asked => asked?,
        };
        let mut members: Vec<Member> = Vec::new();
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
            // Several classes of one share are told together; the first is the one in the index.
            let code = code.split(',').next().unwrap_or(code).trim().to_owned();
            if members.iter().any(|it| it.code == code) {
                continue;
            }
            let weight_pct = number::trim(weight, 6).unwrap_or(weight);
            members.push(Member { code, name: row.owned("shortnames"), weight_pct });
        }
        let previous = pages.first("analytics.cursor").and_then(|row| row.date("prev_date"));
        let dates = pages.first("analytics.dates");
        let weights = effective.map(|effective| Weights { effective, previous, members });
        Ok(Attempt {
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

/// The exchange lists the index, and tells nothing of it.
fn lost(index: &str, date: Date) -> Fault {
    let message = format!("the exchange tells no basket of {index} on {date}, nor just before");
    Fault::unavailable("upstream_incomplete", message)
}

fn unknown_index(index: &str, known: &[IndexName]) -> Fault {
    let shown: String = index.chars().take(40).collect();
    let mut message = format!("the Moscow Exchange publishes no basket of an index {shown:?}");
    let meant = closest_codes(index, known.iter().map(|it| it.code.as_str()), SUGGESTIONS_MAX);
    if !meant.is_empty() {
        message = format!("{message}; did you mean {}?", meant.join(", "));
    }
    Fault::not_found("unknown_index", message)
}
