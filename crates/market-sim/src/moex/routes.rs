//! The routes of ISS.

use super::blocks::Block;
use super::listing::{INDICES, Index, Security, Share, index_named};
use super::query::Query;
use super::{
    Board, Failure, Iss, analytics, candles, history, indices, marketdata, reference, search,
};

/// Answers the path after `/iss/`.
pub(crate) fn answer(iss: &Iss<'_>, path: &str, query: &Query) -> Result<Vec<Block>, Failure> {
    let path = path.strip_suffix(".json").ok_or_else(|| failure_without_suffix(path))?;
    let segments: Vec<&str> = path.split('/').collect();
    let site = Site { iss, query };
    match segments.as_slice() {
        ["index"] => Ok(reference::index(query)),
        ["engines"] => Ok(vec![reference::engines(query)]),
        ["engines", engine] => reference::engine(iss, engine, query).ok_or(Failure::Unknown),
        ["engines", "stock", "markets"] => Ok(reference::markets(query)),
        ["engines", "stock", "markets", market, rest @ ..] => {
            site.market(Market::of(market)?, rest)
        }
        ["history", "engines", "stock", "markets", market, rest @ ..] => {
            site.history(Market::of(market)?, rest)
        }
        ["securities"] => Ok(search::find(iss, query)),
        ["securities", secid] => Ok(search::describe(iss, site.any(secid), query)),
        ["securities", secid, "dividends"] => Ok(reference::dividends(iss, site.share(secid))),
        ["securities", secid, "indices"] => Ok(analytics::of_share(iss, site.share(secid))),
        ["statistics", "engines", "stock", rest @ ..] => site.statistics(rest),
        ["calendars", ..] => Err(Failure::SignIn),
        _ => Err(Failure::Unknown),
    }
}

fn failure_without_suffix(path: &str) -> Failure {
    if path.starts_with("calendars") { Failure::SignIn } else { Failure::Unknown }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Market {
    Shares,
    Index,
}

impl Market {
    fn of(name: &str) -> Result<Self, Failure> {
        match name {
            "shares" => Ok(Self::Shares),
            "index" => Ok(Self::Index),
            _ => Err(Failure::Unknown),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Shares => "shares",
            Self::Index => "index",
        }
    }
}

/// One request with its parsed path.
struct Site<'s, 'a> {
    iss: &'s Iss<'a>,
    query: &'s Query,
}

impl<'a> Site<'_, 'a> {
    fn share(&self, secid: &str) -> Option<&'a Share> {
        self.iss.listing.share(&secid.to_uppercase(), self.iss.now.day())
    }

    fn index(secid: &str) -> Option<&'static Index> {
        index_named(&secid.to_uppercase())
    }

    fn any(&self, secid: &str) -> Option<Security<'a>> {
        let share = self.share(secid).map(Security::Share);
        share.or_else(|| Self::index(secid).map(Security::Index))
    }

    /// A security of a market with candles on this board, or on any of its boards if none is given.
    fn traded(&self, market: Market, board: Option<&str>, secid: &str) -> Option<Security<'a>> {
        match market {
            Market::Shares => {
                let share = self.share(secid)?;
                board.is_none_or(|board| board == "TQBR").then_some(Security::Share(share))
            }
            Market::Index => {
                let index = Self::index(secid)?;
                board.is_none_or(|board| board == index.board).then_some(Security::Index(index))
            }
        }
    }

    fn all(&self, market: Market, board: Option<&str>) -> Vec<Security<'a>> {
        match market {
            Market::Shares if board.is_none_or(|board| board == "TQBR") => {
                self.iss.listing.listed(self.iss.now.day()).map(Security::Share).collect()
            }
            Market::Shares => Vec::new(),
            Market::Index => indices_of(board).into_iter().map(Security::Index).collect(),
        }
    }

    fn market(&self, market: Market, rest: &[&str]) -> Result<Vec<Block>, Failure> {
        let (board, rest) = match rest {
            ["boards"] => return Ok(reference::boards(market.name(), self.query)),
            ["boards", board, rest @ ..] => (Some(*board), rest),
            rest => (None, rest),
        };
        let group = board.is_none().then_some(if market == Market::Shares { 57 } else { 9 });
        match rest {
            ["securities"] => Ok(self.now(market, board, None)),
            ["securities", secid] => Ok(self.now(market, board, Some(secid))),
            ["securities", secid, "candles"] => {
                candles::answer(self.iss, self.traded(market, board, secid), self.query)
            }
            ["securities", secid, "candleborders"] => {
                Ok(candles::borders(self.iss, self.traded(market, board, secid), group))
            }
            ["securities", _, "orderbook"] => Err(Failure::Closed),
            _ => Err(Failure::Unknown),
        }
    }

    /// The market's form has a row for each board, and the main one comes last.
    fn now(&self, market: Market, board: Option<&str>, secid: Option<&str>) -> Vec<Block> {
        let shown =
            |of: Board| of.market() == market.name() && board.is_none_or(|id| id == of.id());
        match market {
            Market::Shares => {
                let boards: Vec<Board> = [Board::Smal, Board::Speq, Board::Tqbr]
                    .into_iter()
                    .filter(|board| shown(*board))
                    .collect();
                let shares = match secid {
                    Some(secid) => self.share(secid).into_iter().collect(),
                    None => self.iss.listing.listed(self.iss.now.day()).collect(),
                };
                marketdata::shares(self.iss, shares, &boards, self.query)
            }
            Market::Index => {
                let mut found = indices_of(board);
                if let Some(secid) = secid {
                    found.retain(|index| index.secid.eq_ignore_ascii_case(secid));
                }
                indices::answer(self.iss, found, self.query.english())
            }
        }
    }

    fn history(&self, market: Market, rest: &[&str]) -> Result<Vec<Block>, Failure> {
        let (board, rest) = match rest {
            ["boards", board, rest @ ..] => (Some(*board), rest),
            rest => (None, rest),
        };
        let of_index = market == Market::Index;
        match rest {
            ["dates"] => Ok(history::dates(self.iss, &self.all(market, board))),
            ["securities"] => {
                let shown = board.unwrap_or("TQBR");
                history::of_board(self.iss, shown, self.all(market, board), self.query, of_index)
            }
            ["securities", secid] => {
                let security = self.traded(market, board, secid);
                let shown = match security {
                    Some(Security::Index(index)) => index.board,
                    _ => "TQBR",
                };
                history::of_security(self.iss, shown, security, self.query, of_index)
            }
            ["securities", secid, "dates"] => {
                let found: Vec<_> = self.traded(market, board, secid).into_iter().collect();
                Ok(history::dates(self.iss, &found))
            }
            _ => Err(Failure::Unknown),
        }
    }

    fn statistics(&self, rest: &[&str]) -> Result<Vec<Block>, Failure> {
        match rest {
            ["splits"] => Ok(reference::splits(self.iss, None)),
            ["splits", secid] => Ok(reference::splits(self.iss, Some(&secid.to_uppercase()))),
            ["markets", "index", "analytics"] => Ok(analytics::list(self.iss)),
            ["markets", "index", "analytics", index] => {
                analytics::of_index(self.iss, Self::index(index), self.query)
            }
            ["markets", "index", "analytics", index, "tickers"] => {
                Ok(analytics::tickers(self.iss, Self::index(index)))
            }
            _ => Err(Failure::Unknown),
        }
    }
}

fn indices_of(board: Option<&str>) -> Vec<&'static Index> {
    INDICES.iter().filter(|index| board.is_none_or(|board| board == index.board)).collect()
}
