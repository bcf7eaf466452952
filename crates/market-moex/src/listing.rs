//! What is traded: the main board as a whole, and single securities wherever they are.

use std::collections::HashMap;
use std::sync::Arc;

use clock::Millis;
use fault::{Fault, Kind};
use market::{Delay, Freshness, Listing, Security, SecuritySnapshot, WithFreshness};

use crate::Inner;
use crate::client::Question;
use crate::place::{MAIN_BOARD, Place, is_plain, unknown};
use crate::shelf::{Ages, Held};
use crate::snapshot::{self, Rows, Shot, currency, decimals, read_security, told};

/// Only what is read is asked for: the whole board is a quarter of a megabyte otherwise.
const LISTED_COLUMNS: &str = "SECID,BOARDID,SHORTNAME,SECNAME,LATNAME,ISIN,LOTSIZE,DECIMALS,STATUS,\
     PREVPRICE,PREVDATE,PREVLEGALCLOSEPRICE,CURRENCYID";
const TRADED_COLUMNS: &str = "SECID,BOARDID,LAST,OPEN,HIGH,LOW,CHANGE,LASTTOPREVPRICE,LCURRENTPRICE,\
     VOLTODAY,VALTODAY,NUMTRADES,TRADINGSTATUS,TIME,UPDATETIME,SYSTIME";

/// The main board at one moment.
#[derive(Debug)]
pub(crate) struct Board {
    /// By code.
    pub(crate) securities: Arc<Vec<Arc<Security>>>,
    pub(crate) shots: HashMap<String, Shot>,
    pub(crate) listing: Arc<Listing>,
    pub(crate) delay: Delay,
}

/// A security and where it is.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) place: Place,
    pub(crate) security: Arc<Security>,
}

/// Everywhere a security is or was traded, best board first.
pub(crate) type Description = Arc<Vec<Arc<Listed>>>;

impl Board {
    pub(crate) fn find(&self, code: &str) -> Option<&Arc<Security>> {
        let at = self.securities.binary_search_by(|it| it.code.as_str().cmp(code)).ok()?;
        self.securities.get(at)
    }
}

impl Inner {
    /// The main board, its prices as fresh as asked for.
    pub(crate) async fn board(self: &Arc<Self>, ages: Ages) -> Result<Held<Arc<Board>>, Fault> {
        let inner = Arc::clone(self);
        self.shelves.board.get((), ages, async move { inner.fetch_board().await }).await
    }

    /// The main board for its names.
    pub(crate) async fn names(self: &Arc<Self>) -> Result<Held<Arc<Board>>, Fault> {
        let (fresh, stale) = (self.config.listing_age, self.config.reference_age_stale);
        self.board(Ages { fresh, stale }).await
    }

    async fn fetch_board(self: &Arc<Self>) -> Result<Arc<Board>, Fault> {
        let path = format!("{}/securities", Place::main().path());
        let question = Question::new("board", path, "securities,marketdata,dataversion")
            .with("securities.columns", LISTED_COLUMNS)
            .with("marketdata.columns", TRADED_COLUMNS);
        let answer = self.client.ask(&question).await?;
        let received_at = self.clock.now();
        let listed = answer.tables.need("securities", &["secid", "decimals"])?;
        let traded = answer.tables.need("marketdata", &["secid", "last"])?;
        let version = answer.tables.first("dataversion");
        let traded: HashMap<&str, _> =
            traded.rows().filter_map(|row| Some((row.text("secid")?, row))).collect();
        let (mut securities, mut shots) = (Vec::new(), HashMap::new());
        let mut listing = Listing { received_at: Some(received_at), ..Listing::default() };
        for listed in listed.rows() {
            let Some(security) = read_security(listed).map(Arc::new) else { continue };
            let traded = traded.get(security.code.as_str()).copied();
            let delay = answer.delay;
            let rows = Rows { listed, traded, version, is_index: false, delay, received_at };
            let shot = snapshot::read(rows, &security);
            shots.extend(shot.map(|shot| (security.code.clone(), shot)));
            if security.suspended {
                listing.halted.insert(security.code.clone());
            } else {
                listing.quote_assets.insert(security.code.clone(), security.currency.clone());
            }
            securities.push(security);
        }
        if securities.is_empty() {
            let message = "the exchange's main board is empty";
            return Err(Fault::unavailable("upstream_malformed", message));
        }
        securities.sort_by(|left, right| left.code.cmp(&right.code));
        securities.dedup_by(|left, right| left.code == right.code);
        Ok(Arc::new(Board {
            securities: Arc::new(securities),
            shots,
            listing: Arc::new(listing),
            delay: answer.delay,
        }))
    }

    /// The fault for a code that is not there, with suggestions where the names can be had.
    pub(crate) async fn unknown(self: &Arc<Self>, code: &str) -> Fault {
        let names = self.names().await.ok();
        unknown(code, names.as_ref().map(|held| held.value.as_ref()))
    }

    /// A security on the board asked for, or on the one where it is mainly traded.
    pub(crate) async fn listed(
        self: &Arc<Self>,
        code: &str,
        board: Option<&str>,
    ) -> Result<Arc<Listed>, Fault> {
        let code = code.trim().to_uppercase();
        let board = board.map(|board| board.trim().to_uppercase());
        if !is_plain(&code) {
            return Err(self.unknown(&code).await);
        }
        if board.as_deref().is_none_or(|board| board == MAIN_BOARD) {
            let held = self.names().await?;
            let found = held.value.find(&code);
            if let Some(security) = found {
                let security = Arc::clone(security);
                return Ok(Arc::new(Listed { place: Place::main(), security }));
            }
        }
        let everywhere = self.everywhere(&code).await?;
        let Some(board) = board else {
            let best = everywhere.first().cloned();
            return match best {
                Some(best) => Ok(best),
                None => Err(self.unknown(&code).await),
            };
        };
        match everywhere.iter().find(|listed| listed.place.board == board) {
            Some(listed) => Ok(Arc::clone(listed)),
            None => Err(not_there(&code, &board, &everywhere)),
        }
    }

    async fn everywhere(self: &Arc<Self>, code: &str) -> Result<Description, Fault> {
        let (inner, owned) = (Arc::clone(self), code.to_owned());
        let work = async move {
            let path = format!("securities/{owned}");
            let question = Question::new("security", path, "description,boards");
            match inner.client.ask(&question).await {
                Ok(answer) => read_description(&owned, &answer.tables),
                // Where the exchange has no page, it has no security.
                Err(fault) if fault.kind() == Kind::NotFound => Ok(Description::default()),
                Err(fault) => Err(fault),
            }
        };
        // What is not there today may be listed tomorrow.
        let missed = self.shelves.descriptions.peek(&code.to_owned());
        let fresh = match missed {
            Some(held) if held.value.is_empty() => self.config.listing_age_miss,
            _ => self.config.listing_age,
        };
        let ages = Ages { fresh, stale: self.config.reference_age_stale };
        let held = self.shelves.descriptions.get(code.to_owned(), ages, work).await?;
        if held.value.is_empty() {
            return Err(self.unknown(code).await);
        }
        Ok(held.value)
    }

    pub(crate) async fn snapshot(
        self: &Arc<Self>,
        code: &str,
        board: Option<&str>,
    ) -> Result<WithFreshness<Arc<SecuritySnapshot>>, Fault> {
        let held = self.shot(code, board).await?;
        let freshness = held.value.freshness(&self.said_by, held.received_at);
        let snapshot = Arc::clone(&held.value.snapshot);
        Ok(told(held, snapshot, freshness))
    }

    pub(crate) async fn shot(
        self: &Arc<Self>,
        code: &str,
        board: Option<&str>,
    ) -> Result<Held<Arc<Shot>>, Fault> {
        let listed = self.listed(code, board).await?;
        let (inner, key) = (Arc::clone(self), (listed.place.clone(), listed.security.code.clone()));
        let work = async move { inner.fetch_shot(&listed).await.map(Arc::new) };
        let ages = Ages { fresh: self.config.price_age, stale: self.config.price_age_stale };
        self.shelves.shots.get(key, ages, work).await
    }

    async fn fetch_shot(self: &Arc<Self>, listed: &Listed) -> Result<Shot, Fault> {
        let code = &listed.security.code;
        let path = format!("{}/securities/{code}", listed.place.path());
        let question = Question::new("snapshot", path, "securities,marketdata,dataversion");
        let asked = self.client.ask(&question).await;
        let received_at = self.clock.now();
        let answer = match asked {
            Err(fault) if fault.kind() == Kind::NotFound => return Err(self.unknown(code).await),
            asked => asked?,
        };
        let is_index = listed.place.is_index();
        answer.tables.need("securities", &["secid", "decimals"])?;
        let last = if is_index { "currentvalue" } else { "last" };
        answer.tables.need("marketdata", &["secid", last])?;
        let traded = answer.tables.first("marketdata");
        let Some(first) = answer.tables.first("securities") else {
            let board = &listed.place.board;
            // Known and without rows: it was traded once. Or the answer has lost them.
            return Err(if listed.security.suspended {
                let message = format!("{code} is not traded on {board} any more");
                Fault::not_found("unknown_symbol", message)
            } else {
                let message = format!("the exchange's answer about {code} is empty");
                Fault::unavailable("upstream_malformed", message)
            });
        };
        let version = answer.tables.first("dataversion");
        let delay = answer.delay;
        let rows = Rows { listed: first, traded, version, is_index, delay, received_at };
        let security = read_security(first).map(Arc::new);
        snapshot::read(rows, &security.unwrap_or_else(|| Arc::clone(&listed.security)))
            .ok_or_else(|| no_price(code))
    }

    pub(crate) async fn securities(
        self: &Arc<Self>,
    ) -> Result<WithFreshness<Arc<Vec<Arc<Security>>>>, Fault> {
        let held = self.names().await?;
        let securities = Arc::clone(&held.value.securities);
        let freshness = self.freshness(held.received_at, held.received_at, Delay::EndOfDay);
        Ok(told(held, securities, freshness))
    }

    pub(crate) fn freshness(&self, as_of: Millis, received_at: Millis, delay: Delay) -> Freshness {
        let source = self.said_by.clone();
        Freshness { source, as_of, received_at, delay, stale: false, fallback: None }
    }
}

pub(crate) fn no_price(code: &str) -> Fault {
    Fault::unavailable("no_price", format!("the exchange has no price for {code} at the moment"))
}

fn not_there(code: &str, board: &str, everywhere: &[Arc<Listed>]) -> Fault {
    let shown: String = board.chars().take(40).collect();
    let boards: Vec<&str> =
        everywhere.iter().take(5).map(|listed| listed.place.board.as_str()).collect();
    let message = format!("{code} is not on board {shown:?}; it is on {}", boards.join(", "));
    Fault::not_found("unknown_board", message)
}

/// Columns of the two blocks: `name, title, value, ...` and `secid, boardid, title, market, engine,
/// is_traded, decimals, is_primary, ...`.
fn read_description(code: &str, tables: &crate::tables::Tables) -> Result<Description, Fault> {
    let boards = tables.need("boards", &["boardid", "market", "engine"])?;
    let facts: HashMap<&str, &str> = tables
        .need("description", &["name", "value"])?
        .rows()
        .filter_map(|row| Some((row.text("name")?, row.text("value")?)))
        .collect();
    let fact = |name: &str| facts.get(name).map(|&value| value.to_owned());
    let mut everywhere = Vec::new();
    for row in boards.rows() {
        let (Some(board), Some(market), Some(engine)) =
            (row.text("boardid"), row.text("market"), row.text("engine"))
        else {
            continue;
        };
        let Some(place) = Place::told(engine, market, board) else { continue };
        let flag = |name: &str| row.integer(name) == Some(1);
        let rank = (!flag("is_primary"), !flag("is_traded"));
        let money = row.owned("currencyid").or_else(|| fact("CURRENCYID"));
        let money = money.or_else(|| fact("FACEUNIT")).unwrap_or_else(|| "RUB".to_owned());
        let security = Security {
            code: code.to_owned(),
            board: board.to_owned(),
            short_name: fact("SHORTNAME").unwrap_or_else(|| code.to_owned()),
            name: fact("NAME"),
            latin_name: fact("LATNAME"),
            isin: fact("ISIN"),
            lot: None,
            decimals: decimals(row.integer("decimals")),
            currency: currency(&money),
            suspended: !flag("is_traded"),
        };
        everywhere.push((rank, Arc::new(Listed { place, security: Arc::new(security) })));
    }
    everywhere.sort_by_key(|(rank, _)| *rank);
    Ok(Arc::new(everywhere.into_iter().map(|(_, listed)| listed).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Tables;

    #[test]
    fn the_board_where_it_is_mainly_traded_comes_first() {
        let tables = Tables::read(
            r#"{"description":{"columns":["name","title","value"],"data":[
                ["SHORTNAME","x","Индекс РТС"],["NAME","x","Индекс РТС"],["CURRENCYID","x","USD"],
                ["LATNAME","x","RTS Index"],["ISSUEDATE","x",null]]},
            "boards":{"columns":["secid","boardid","market","engine","is_traded","decimals","is_primary"],
            "data":[["RTSI","CLMR","classica","stock",0,5,0],["RTSI","SNDX","index","stock",1,2,0],
                ["RTSI","RTSI","index","stock",1,2,1],["RTSI","../x","index","stock",1,2,1]]}}"#
                .as_bytes(),
        )
        .unwrap();
        let everywhere = read_description("RTSI", &tables).unwrap();
        let boards: Vec<_> = everywhere.iter().map(|it| it.place.board.as_str()).collect();
        assert_eq!(boards, ["RTSI", "SNDX", "CLMR"]);
        let first = &everywhere[0].security;
        assert_eq!((first.currency.as_str(), first.decimals), ("USD", 2));
        assert_eq!((first.short_name.as_str(), first.suspended), ("Индекс РТС", false));
        let fault = not_there("RTSI", "TQBR", &everywhere);
        assert_eq!(fault.code(), "unknown_board");
        assert!(fault.message().contains("it is on RTSI, SNDX, CLMR"), "{fault}");
    }
}
