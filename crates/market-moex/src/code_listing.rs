//! The listing for quotes and bars: shares of the main board, funds and indices.

use std::sync::Arc;

use fault::{Fault, Kind};
use futures_util::future::join_all;
use market::{Listing, Security};

use crate::Inner;
use crate::board_address::BoardAddress;
use crate::client::IssRequest;
use crate::snapshot::read_security;
use crate::stale_cache::CacheAges;

/// Market and board of the funds and indices.
const EXTRA_BOARDS: [(&str, &str); 3] = [("shares", "TQTF"), ("index", "SNDX"), ("index", "RTSI")];
const COLUMNS: &str = "SECID,BOARDID,SHORTNAME,CURRENCYID,STATUS";

/// The listing, and whether all boards answered.
pub(crate) type CodeListing = (Arc<Listing>, bool);

impl Inner {
    pub(crate) async fn listing(self: &Arc<Self>) -> Result<Arc<Listing>, Fault> {
        let inner = Arc::clone(self);
        let work = async move { inner.gather_codes().await };
        // A listing without all boards expires early.
        let cached = self.caches.codes.peek(&());
        let fresh = match cached {
            Some(listing) if !listing.value.1 => self.config.listing_age_miss,
            _ => self.config.listing_age,
        };
        let ages = CacheAges { fresh, stale: self.config.reference_age_stale };
        Ok(self.caches.codes.get((), ages, work).await?.value.0)
    }

    async fn gather_codes(self: &Arc<Self>) -> Result<CodeListing, Fault> {
        let main = self.names().await?.value;
        let mut listing = Listing::clone(&main.listing);
        let mut complete = true;
        let extra_boards = EXTRA_BOARDS.iter().map(|(market, board)| self.codes_of(market, board));
        for codes in join_all(extra_boards).await {
            let Ok(securities) = codes else {
                complete = false;
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
        Ok((Arc::new(listing), complete))
    }

    async fn codes_of(&self, market: &str, board: &str) -> Result<Vec<Security>, Fault> {
        let Some(address) = BoardAddress::checked("stock", market, board) else {
            return Ok(Vec::new());
        };
        let request =
            IssRequest::new("board", format!("{}/securities", address.path()), "securities")
                .with("securities.columns", COLUMNS);
        let answer = match self.client.fetch(&request).await {
            // A board that the exchange does not have has no codes.
            Err(fault) if fault.kind() == Kind::NotFound => return Ok(Vec::new()),
            answer => answer?,
        };
        let rows = answer.tables.need("securities", &["secid"])?;
        Ok(rows.rows().filter_map(read_security).collect())
    }
}
