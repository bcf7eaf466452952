//! Latest quotes: up to three symbols are fetched one by one, more from the whole board.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use fault::{Fault, Kind};
use futures_util::future::join_all;
use market::{Quote, Symbol, Venue};

use crate::Inner;
use crate::listing::{Board, no_price};
use crate::snapshot::{DatedSnapshot, with_freshness};
use crate::stale_cache::{CacheAges, Cached};

/// One result per requested symbol, in order.
pub(crate) type Answers = Vec<Result<Arc<Quote>, Fault>>;

/// From this many symbols on, one request for the whole board replaces single ones.
const BOARD_FROM: usize = 4;

type QuoteOutcome = Result<Arc<Quote>, Arc<Fault>>;

impl Inner {
    pub(crate) async fn latest(self: &Arc<Self>, symbols: &[Symbol]) -> Result<Answers, Fault> {
        let codes: BTreeSet<&str> = symbols.iter().map(|symbol| symbol.code.as_str()).collect();
        let board = if codes.len() >= BOARD_FROM {
            let ages =
                CacheAges { fresh: self.config.price_age, stale: self.config.price_age_stale };
            self.board(ages).await.ok()
        } else {
            None
        };
        let quotes = codes.into_iter().map(|code| self.quote(code, board.as_ref()));
        let outcomes: HashMap<String, QuoteOutcome> = join_all(quotes).await.into_iter().collect();
        let answer = |symbol: &Symbol| match outcomes.get(&symbol.code) {
            Some(Ok(quote)) => Ok(Arc::clone(quote)),
            Some(Err(fault)) => Err(fault.shared()),
            None => Err(Fault::internal("a symbol was forgotten")),
        };
        let answers: Answers = symbols.iter().map(answer).collect();
        // When every symbol failed with something other than `NotFound`, the call fails.
        let served = |answer: &Result<_, Fault>| match answer {
            Ok(_) => true,
            Err(fault) => fault.kind() == Kind::NotFound,
        };
        match answers.first() {
            Some(Err(fault)) if !answers.iter().any(served) => Err(fault.shared()),
            _ => Ok(answers),
        }
    }

    async fn quote(
        self: &Arc<Self>,
        code: &str,
        board: Option<&Cached<Arc<Board>>>,
    ) -> (String, QuoteOutcome) {
        let on_board = board.and_then(|cached| Some((cached, cached.value.find(code)?)));
        let outcome = match on_board {
            Some((cached, _)) => match cached.value.snapshots.get(code) {
                Some(dated) => Ok(self.quote_of(cached.clone(), dated)),
                None => Err(no_price(code)),
            },
            None => self.dated_snapshot(code, None).await.map(|cached| {
                let dated = Arc::clone(&cached.value);
                self.quote_of(cached, &dated)
            }),
        };
        (code.to_owned(), outcome.map(Arc::new).map_err(Arc::new))
    }

    fn quote_of<V>(&self, cached: Cached<V>, dated: &DatedSnapshot) -> Quote {
        let is = &dated.snapshot;
        let freshness = dated.freshness(&self.source_label, cached.received_at);
        Quote {
            symbol: Symbol { venue: Venue::Moex, code: is.security.code.clone() },
            price: is.last,
            currency: is.security.currency.clone(),
            volume: is.volume,
            freshness: with_freshness(cached, (), freshness).freshness,
        }
    }
}
