//! Latest prices: single ones from their own page, many from the board's.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use fault::{Fault, Kind};
use futures_util::future::join_all;
use market::{Quote, Symbol, Venue};

use crate::Inner;
use crate::listing::{Board, no_price};
use crate::shelf::{Ages, Held};
use crate::snapshot::{Shot, told};

/// One result per symbol asked for, in order.
pub(crate) type Answers = Vec<Result<Arc<Quote>, Fault>>;

/// From this many on, the whole board is one request instead of several.
const BOARD_FROM: usize = 4;

type Outcome = Result<Arc<Quote>, Arc<Fault>>;

impl Inner {
    pub(crate) async fn latest(self: &Arc<Self>, symbols: &[Symbol]) -> Result<Answers, Fault> {
        let codes: BTreeSet<&str> = symbols.iter().map(|symbol| symbol.code.as_str()).collect();
        let board = if codes.len() >= BOARD_FROM {
            let ages = Ages { fresh: self.config.price_age, stale: self.config.price_age_stale };
            self.board(ages).await.ok()
        } else {
            None
        };
        let asked = codes.into_iter().map(|code| self.quote(code, board.as_ref()));
        let told: HashMap<String, Outcome> = join_all(asked).await.into_iter().collect();
        let answer = |symbol: &Symbol| match told.get(&symbol.code) {
            Some(Ok(quote)) => Ok(Arc::clone(quote)),
            Some(Err(fault)) => Err(fault.shared()),
            None => Err(Fault::internal("a symbol was forgotten")),
        };
        let answers: Answers = symbols.iter().map(answer).collect();
        // Nothing could be said about any symbol: that is a fault of the call.
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
        board: Option<&Held<Arc<Board>>>,
    ) -> (String, Outcome) {
        let on_board = board.and_then(|held| Some((held, held.value.find(code)?)));
        let outcome = match on_board {
            Some((held, _)) => match held.value.shots.get(code) {
                Some(shot) => Ok(self.quote_of(held.clone(), shot)),
                None => Err(no_price(code)),
            },
            None => self.shot(code, None).await.map(|held| {
                let shot = Arc::clone(&held.value);
                self.quote_of(held, &shot)
            }),
        };
        (code.to_owned(), outcome.map(Arc::new).map_err(Arc::new))
    }

    fn quote_of<V>(&self, held: Held<V>, shot: &Shot) -> Quote {
        let is = &shot.snapshot;
        let freshness = shot.freshness(&self.said_by, held.received_at);
        Quote {
            symbol: Symbol { venue: Venue::Moex, code: is.security.code.clone() },
            price: is.last,
            currency: is.security.currency.clone(),
            volume: is.volume,
            freshness: told(held, (), freshness).freshness,
        }
    }
}
