//! Latest prices: from the cache while fresh, otherwise from the exchange in batches of 20, and from the
//! cache marked as stale when the exchange fails.

use parking_lot::RwLock;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use clock::Millis;
use fault::{Fault, Kind};
use futures_util::future::join_all;
use http_client::is_fresh;
use market::{Decimal, Delay, Freshness, Quote, Symbol, Venue};

use crate::client::{Endpoint, RestClient};
use crate::listing::ListedPairs;
use crate::wire::Ticker;
use crate::{BinanceShared, Quotes};

/// One result per requested symbol, in order.
pub(crate) type QuoteResults = Vec<Result<Arc<Quote>, Fault>>;

/// How many symbols one request carries at the lowest weight.
const BATCH_MAX: usize = 20;

/// The last quote of each symbol.
#[derive(Debug)]
pub(crate) struct QuoteCache {
    quotes: RwLock<HashMap<String, Arc<Quote>>>,
    quotes_max: usize,
}

impl QuoteCache {
    pub(crate) fn new(quotes_max: usize) -> Self {
        Self { quotes: RwLock::new(HashMap::new()), quotes_max: quotes_max.max(BATCH_MAX) }
    }

    /// The quotes of all symbols, if every one is fresh.
    fn all_young(&self, symbols: &[Symbol], now: Millis, age: Duration) -> Option<QuoteResults> {
        let quotes = self.quotes.read();
        let young = |symbol: &Symbol| {
            let quote = quotes.get(&symbol.code)?;
            is_fresh(quote.freshness.received_at, now, age).then(|| Ok(Arc::clone(quote)))
        };
        symbols.iter().map(young).collect()
    }

    fn young(&self, code: &str, now: Millis, age: Duration) -> Option<Arc<Quote>> {
        let quotes = self.quotes.read();
        quotes.get(code).filter(|quote| is_fresh(quote.freshness.received_at, now, age)).cloned()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.quotes.read().len()
    }

    fn store(&self, fresh: &[Arc<Quote>], now: Millis, age: Duration) {
        let mut quotes = self.quotes.write();
        if quotes.len() + fresh.len() > self.quotes_max {
            quotes.retain(|_, quote| is_fresh(quote.freshness.received_at, now, age));
        }
        if quotes.len() + fresh.len() > self.quotes_max {
            quotes.clear();
        }
        for quote in fresh {
            quotes.insert(quote.symbol.code.clone(), Arc::clone(quote));
        }
    }
}

/// The result of one requested symbol; the symbols of a batch share their fault.
type QuoteOutcome = Result<Arc<Quote>, Arc<Fault>>;
type Fetched = HashMap<String, QuoteOutcome>;

impl BinanceShared {
    pub(crate) async fn latest(
        self: &Arc<Self>,
        symbols: &[Symbol],
    ) -> Result<QuoteResults, Fault> {
        let (now, age) = (self.clock.now(), self.config.quote_age);
        if let Some(answers) = self.quotes.all_young(symbols, now, age) {
            return Ok(answers);
        }
        // Boxed, so that the future of a cached answer stays small.
        Box::pin(self.latest_from_exchange(symbols)).await
    }

    async fn latest_from_exchange(
        self: &Arc<Self>,
        symbols: &[Symbol],
    ) -> Result<QuoteResults, Fault> {
        let (now, age) = (self.clock.now(), self.config.quote_age);
        let mut fetched = Fetched::new();
        let mut missing = BTreeSet::new();
        for symbol in symbols {
            match self.quotes.young(&symbol.code, now, age) {
                Some(quote) => drop(fetched.insert(symbol.code.clone(), Ok(quote))),
                None => drop(missing.insert(symbol.code.clone())),
            }
        }
        match self.listed_pairs().await {
            Ok(book) => self.fetch_missing(book, missing, &mut fetched).await,
            Err(fault) => {
                let fault = Arc::new(fault);
                fetched.extend(missing.into_iter().map(|code| (code, Err(Arc::clone(&fault)))));
            }
        }
        self.assemble(symbols, &fetched)
    }

    async fn fetch_missing(
        self: &Arc<Self>,
        mut book: Arc<ListedPairs>,
        missing: BTreeSet<String>,
        fetched: &mut Fetched,
    ) {
        if missing.iter().any(|code| !book.pairs.contains_key(code)) {
            book = self.listed_pairs_after_miss(book).await;
        }
        let (known, unknown): (Vec<_>, Vec<_>) =
            missing.into_iter().partition(|code| book.pairs.contains_key(code));
        for code in unknown {
            let fault = Arc::new(book.unknown(&code));
            fetched.insert(code, Err(fault));
        }
        let batches = known.chunks(BATCH_MAX).map(|codes| self.fetch_batch(&book, codes));
        for results in join_all(batches).await {
            fetched.extend(results);
        }
    }

    /// One unknown symbol fails a whole batch, and the listing may be an hour old: after such a failure
    /// each symbol is requested alone.
    async fn fetch_batch(
        self: &Arc<Self>,
        book: &Arc<ListedPairs>,
        codes: &[String],
    ) -> Vec<(String, QuoteOutcome)> {
        match self.fetch_tickers(book, codes.to_vec()).await {
            Err(fault) if fault.kind() == Kind::NotFound && codes.len() > 1 => {
                let mut results = Vec::with_capacity(codes.len());
                for code in codes {
                    let one = self.fetch_tickers(book, vec![code.clone()]).await;
                    results.extend(self.share_out(std::slice::from_ref(code), one));
                }
                results
            }
            outcome => self.share_out(codes, outcome),
        }
    }

    fn share_out(
        &self,
        codes: &[String],
        outcome: Result<Quotes, Fault>,
    ) -> Vec<(String, QuoteOutcome)> {
        let share = |code: &String| match &outcome {
            Ok(quotes) => match quotes.iter().find(|quote| quote.symbol.code == *code) {
                Some(quote) => Ok(Arc::clone(quote)),
                None => Err(Arc::new(no_price(code))),
            },
            Err(fault) if fault.kind() == Kind::NotFound => Err(Arc::new(self.unknown(code))),
            Err(fault) => Err(Arc::new(fault.shared())),
        };
        codes.iter().map(|code| (code.clone(), share(code))).collect()
    }

    async fn fetch_tickers(
        self: &Arc<Self>,
        book: &Arc<ListedPairs>,
        codes: Vec<String>,
    ) -> Result<Quotes, Fault> {
        let (shared, book) = (Arc::clone(self), Arc::clone(book));
        let list = serde_json::to_string(&codes).map_err(Fault::internal)?;
        // The short form has every field that is read, at the same weight.
        let query = vec![("symbols", list), ("type", "MINI".to_owned())];
        let work = async move {
            let body = shared.client.get(Endpoint::TickerDay, &query).await?;
            let now = shared.clock.now();
            let tickers: Vec<Ticker<'_>> = RestClient::read(Endpoint::TickerDay, &body)?;
            let quotes: Result<Vec<_>, _> =
                tickers.iter().map(|ticker| shared.quote(&book, ticker, now)).collect();
            let quotes: Vec<Arc<Quote>> = quotes?.into_iter().flatten().collect();
            shared.quotes.store(&quotes, now, shared.config.quote_age_stale);
            Ok(Arc::new(quotes))
        };
        self.single_flights.tickers.run(codes, work).await
    }

    /// `None` for a pair without a price.
    fn quote(
        &self,
        book: &ListedPairs,
        ticker: &Ticker<'_>,
        now: Millis,
    ) -> Result<Option<Arc<Quote>>, Fault> {
        let code = &ticker.symbol;
        let number = |what: &str, text: &str| {
            text.parse::<Decimal>().ok().filter(|value| !value.is_negative()).ok_or_else(|| {
                let message = format!("the exchange's {what} of {code} is not a number");
                Fault::unavailable("upstream_malformed", message)
            })
        };
        let (price, volume) =
            (number("price", ticker.last_price)?, number("volume", ticker.volume)?);
        let Some(listed) = book.pairs.get(code).filter(|_| !price.is_zero()) else {
            return Ok(None);
        };
        let halted = listed.halted.as_ref();
        Ok(Some(Arc::new(Quote {
            symbol: Symbol { venue: Venue::Binance, code: code.clone() },
            price,
            currency: listed.quote_asset.clone(),
            volume: Some(volume),
            freshness: Freshness {
                source: self.source_label.clone(),
                as_of: Millis(ticker.close_time),
                received_at: now,
                delay: Delay::RealTime,
                stale: halted.is_some(),
                fallback: halted.map(|status| {
                    format!("{code} does not trade ({status}); this is its last price")
                }),
            },
        })))
    }

    fn assemble(&self, symbols: &[Symbol], fetched: &Fetched) -> Result<QuoteResults, Fault> {
        let mut served = false;
        let mut failed = None;
        let mut answers = Vec::with_capacity(symbols.len());
        for symbol in symbols {
            let answer = match fetched.get(&symbol.code) {
                Some(Ok(quote)) => Ok(Arc::clone(quote)),
                Some(Err(fault)) => self.stand_in(&symbol.code, fault),
                None => Err(Fault::internal("a symbol was forgotten")),
            };
            match &answer {
                Err(fault) if fault.kind() != Kind::NotFound => failed = Some(fault.shared()),
                _ => served = true,
            }
            answers.push(answer);
        }
        // If every symbol failed, the call fails.
        match failed {
            Some(fault) if !served => Err(fault),
            _ => Ok(answers),
        }
    }

    /// A cached quote, marked as stale, in place of one that could not be fetched.
    fn stand_in(&self, code: &str, fault: &Fault) -> Result<Arc<Quote>, Fault> {
        let age = self.config.quote_age_stale;
        let cached = self.quotes.young(code, self.clock.now(), age);
        match cached {
            Some(quote) if fault.kind() != Kind::NotFound => {
                let mut quote = Quote::clone(&quote);
                quote.freshness.stale = true;
                quote.freshness.fallback = Some(fault.message().to_owned());
                Ok(Arc::new(quote))
            }
            _ => Err(fault.shared()),
        }
    }
}

fn no_price(code: &str) -> Fault {
    Fault::unavailable("no_price", format!("the exchange has no price for {code} at the moment"))
}
