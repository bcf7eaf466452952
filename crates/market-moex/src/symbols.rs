//! The codes that quotes and bars are served of: the shares of the main board, and the funds and
//! indices beside it.

use std::sync::Arc;

use fault::{Fault, Kind};
use futures_util::future::join_all;
use market::{Listing, Security};

use crate::Inner;
use crate::client::Question;
use crate::place::Place;
use crate::shelf::Ages;
use crate::snapshot::read_security;

/// The market and board of each.
const BESIDE: [(&str, &str); 3] = [("shares", "TQTF"), ("index", "SNDX"), ("index", "RTSI")];
const COLUMNS: &str = "SECID,BOARDID,SHORTNAME,CURRENCYID,STATUS";

/// What is listed, and whether all boards were heard.
pub(crate) type Codes = (Arc<Listing>, bool);

impl Inner {
    pub(crate) async fn listing(self: &Arc<Self>) -> Result<Arc<Listing>, Fault> {
        let inner = Arc::clone(self);
        let work = async move { inner.gather_codes().await };
        // A listing that lacks a board is made again soon.
        let kept = self.shelves.codes.peek(&());
        let fresh = match kept {
            Some(held) if !held.value.1 => self.config.listing_age_miss,
            _ => self.config.listing_age,
        };
        let ages = Ages { fresh, stale: self.config.reference_age_stale };
        Ok(self.shelves.codes.get((), ages, work).await?.value.0)
    }

    async fn gather_codes(self: &Arc<Self>) -> Result<Codes, Fault> {
        let main = self.names().await?.value;
        let mut listing = Listing::clone(&main.listing);
        let mut whole = true;
        let beside = BESIDE.iter().map(|(market, board)| self.codes_of(market, board));
        for told in join_all(beside).await {
            let Ok(securities) = told else {
                whole = false;
                continue;
            };
            for security in securities {
                if listing.contains(&security.code) {
                    continue;
                }
                if security.suspended {
                    listing.halted.insert(security.code);
                } else {
                    listing.quote_assets.insert(security.code, security.currency);
                }
            }
        }
        Ok((Arc::new(listing), whole))
    }

    async fn codes_of(&self, market: &str, board: &str) -> Result<Vec<Security>, Fault> {
        let Some(place) = Place::told("stock", market, board) else { return Ok(Vec::new()) };
        let question = Question::new("board", format!("{}/securities", place.path()), "securities")
            .with("securities.columns", COLUMNS);
        let answer = match self.client.ask(&question).await {
            // No board, no codes.
            Err(fault) if fault.kind() == Kind::NotFound => return Ok(Vec::new()),
            answer => answer?,
        };
        let rows = answer.tables.need("securities", &["secid"])?;
        Ok(rows.rows().filter_map(read_security).collect())
    }
}
