//! The pairs that Binance lists, cached for an hour and fetched again when a symbol is unknown.

use std::collections::HashMap;
use std::sync::Arc;

use clock::Millis;
use fault::Fault;
use http_client::is_fresh;
use market::{Listing, closest_codes};

use crate::BinanceShared;
use crate::client::{Endpoint, RestClient};
use crate::wire::ExchangeInfo;

const TRADING: &str = "TRADING";
const SUGGESTIONS_MAX: usize = 3;

/// One listed pair.
#[derive(Debug)]
pub(crate) struct ListedPair {
    pub(crate) quote_asset: String,
    /// `None` while the pair trades, otherwise the exchange's status.
    pub(crate) halted: Option<String>,
}

/// The listing at one moment.
#[derive(Debug)]
pub(crate) struct ListedPairs {
    pub(crate) pairs: HashMap<String, ListedPair>,
    /// The trading pairs as the port `SymbolSource` returns them.
    pub(crate) listing: Arc<Listing>,
    pub(crate) received_at: Millis,
}

impl ListedPairs {
    fn new(info: ExchangeInfo, received_at: Millis) -> Self {
        let mut listing = Listing { received_at: Some(received_at), ..Listing::default() };
        let mut pairs = HashMap::with_capacity(info.symbols.len());
        for pair in info.symbols {
            let halted = (pair.status != TRADING).then_some(pair.status);
            match halted {
                None => {
                    let asset = pair.quote_asset.clone();
                    listing.quote_assets.insert(pair.symbol.clone(), asset);
                }
                Some(_) => _ = listing.halted.insert(pair.symbol.clone()),
            }
            pairs.insert(pair.symbol, ListedPair { quote_asset: pair.quote_asset, halted });
        }
        Self { pairs, listing: Arc::new(listing), received_at }
    }

    /// The fault for an unlisted symbol, with suggestions.
    pub(crate) fn unknown(&self, code: &str) -> Fault {
        let known = self.listing.quote_assets.keys().map(String::as_str);
        unknown(code, &closest_codes(code, known, SUGGESTIONS_MAX))
    }
}

pub(crate) fn unknown(code: &str, meant: &[&str]) -> Fault {
    let shown: String = code.chars().take(40).collect();
    let mut message = format!("symbol {shown:?} is not listed on Binance");
    if !meant.is_empty() {
        message = format!("{message}; did you mean {}?", meant.join(", "));
    }
    Fault::not_found("unknown_symbol", message)
}

impl BinanceShared {
    fn cached_listed_pairs(&self) -> Option<Arc<ListedPairs>> {
        self.listed_pairs.read().clone()
    }

    /// The listing, at most an hour old, or older if the exchange does not answer.
    pub(crate) async fn listed_pairs(self: &Arc<Self>) -> Result<Arc<ListedPairs>, Fault> {
        let kept = self.cached_listed_pairs();
        let age = self.config.listing_age;
        match kept {
            Some(book) if is_fresh(book.received_at, self.clock.now(), age) => Ok(book),
            Some(book) => Ok(self.fetch_listed_pairs().await.unwrap_or(book)),
            None => self.fetch_listed_pairs().await,
        }
    }

    /// The listing after a symbol was not found: fetched again unless it is a minute old at most.
    pub(crate) async fn listed_pairs_after_miss(
        self: &Arc<Self>,
        book: Arc<ListedPairs>,
    ) -> Arc<ListedPairs> {
        let age = self.config.listing_age_miss;
        if is_fresh(book.received_at, self.clock.now(), age) {
            return book;
        }
        self.fetch_listed_pairs().await.unwrap_or(book)
    }

    /// The fault for a symbol that the exchange refused, with suggestions if the listing is cached.
    pub(crate) fn unknown(&self, code: &str) -> Fault {
        self.cached_listed_pairs().map_or_else(|| unknown(code, &[]), |book| book.unknown(code))
    }

    async fn fetch_listed_pairs(self: &Arc<Self>) -> Result<Arc<ListedPairs>, Fault> {
        let shared = Arc::clone(self);
        let work = async move {
            // Permissions make up most of the response and are not read.
            let query = vec![("showPermissionSets", "false".to_owned())];
            let body = shared.client.get(Endpoint::ExchangeInfo, &query).await?;
            let info: ExchangeInfo = RestClient::read(Endpoint::ExchangeInfo, &body)?;
            if let Some(limit) = info.rate_limits.iter().find_map(|row| row.weight_per_minute()) {
                shared.client.budget.set_limit(limit);
            }
            let book = Arc::new(ListedPairs::new(info, shared.clock.now()));
            *shared.listed_pairs.write() = Some(Arc::clone(&book));
            Ok(book)
        };
        self.single_flights.listed_pairs.run((), work).await
    }
}
