//! What the exchange lists, kept for an hour and asked for again when a symbol is missed.

use std::collections::HashMap;
use std::sync::Arc;

use clock::Millis;
use fault::Fault;
use http_client::is_fresh;
use market::{Listing, closest_codes};

use crate::Inner;
use crate::client::{Client, Endpoint};
use crate::wire::ExchangeInfo;

const TRADING: &str = "TRADING";
const SUGGESTIONS_MAX: usize = 3;

/// One listed pair.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) quote_asset: String,
    /// `None` while it trades; otherwise the exchange's word for why it does not.
    pub(crate) halted: Option<String>,
}

/// The listing at one moment.
#[derive(Debug)]
pub(crate) struct Book {
    pub(crate) pairs: HashMap<String, Listed>,
    /// The pairs that trade, in the port's own form.
    pub(crate) listing: Arc<Listing>,
    pub(crate) received_at: Millis,
}

impl Book {
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
            pairs.insert(pair.symbol, Listed { quote_asset: pair.quote_asset, halted });
        }
        Self { pairs, listing: Arc::new(listing), received_at }
    }

    /// Says that a symbol is not listed, and which ones may have been meant.
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

impl Inner {
    fn kept_book(&self) -> Option<Arc<Book>> {
        self.book.read().clone()
    }

    /// The listing, at most an hour old; older where the exchange does not answer.
    pub(crate) async fn book(self: &Arc<Self>) -> Result<Arc<Book>, Fault> {
        let kept = self.kept_book();
        let age = self.config.listing_age;
        match kept {
            Some(book) if is_fresh(book.received_at, self.clock.now(), age) => Ok(book),
            Some(book) => Ok(self.fetch_book().await.unwrap_or(book)),
            None => self.fetch_book().await,
        }
    }

    /// The listing after a symbol was not found in it: a new one, unless it is new already.
    pub(crate) async fn book_after_miss(self: &Arc<Self>, book: Arc<Book>) -> Arc<Book> {
        let age = self.config.listing_age_miss;
        if is_fresh(book.received_at, self.clock.now(), age) {
            return book;
        }
        self.fetch_book().await.unwrap_or(book)
    }

    /// The fault for a symbol the exchange refused, with suggestions where the listing is at hand.
    pub(crate) fn unknown(&self, code: &str) -> Fault {
        self.kept_book().map_or_else(|| unknown(code, &[]), |book| book.unknown(code))
    }

    async fn fetch_book(self: &Arc<Self>) -> Result<Arc<Book>, Fault> {
        let inner = Arc::clone(self);
        let work = async move {
            // Permissions make up most of the answer and say nothing about prices.
            let query = vec![("showPermissionSets", "false".to_owned())];
            let body = inner.client.get(Endpoint::ExchangeInfo, &query).await?;
            let info: ExchangeInfo = Client::read(Endpoint::ExchangeInfo, &body)?;
            if let Some(limit) = info.rate_limits.iter().find_map(|row| row.weight_per_minute()) {
                inner.client.budget.set_limit(limit);
            }
            let book = Arc::new(Book::new(info, inner.clock.now()));
            *inner.book.write() = Some(Arc::clone(&book));
            Ok(book)
        };
        self.flights.book.run((), work).await
    }
}
