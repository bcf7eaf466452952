//! The main board with its snapshots, and single securities on any board.

use std::collections::HashMap;
use std::sync::Arc;

use clock::Millis;
use fault::{Fault, Kind};
use market::{Delay, Freshness, Listing, Security, SecuritySnapshot, WithFreshness};

use crate::Inner;
use crate::board_address::{BoardAddress, MAIN_BOARD, is_plain, unknown};
use crate::client::IssRequest;
use crate::snapshot::{
    self, DatedSnapshot, Rows, currency, decimals, read_security, with_freshness,
};
use crate::stale_cache::{CacheAges, Cached};

/// Only these columns are requested: with all columns the board is a quarter of a megabyte.
const LISTED_COLUMNS: &str = "SECID,BOARDID,SHORTNAME,SECNAME,LATNAME,ISIN,LOTSIZE,DECIMALS,STATUS,\
     PREVPRICE,PREVDATE,PREVLEGALCLOSEPRICE,CURRENCYID";
const TRADED_COLUMNS: &str = "SECID,BOARDID,LAST,OPEN,HIGH,LOW,CHANGE,LASTTOPREVPRICE,LCURRENTPRICE,\
     VOLTODAY,VALTODAY,NUMTRADES,TRADINGSTATUS,TIME,UPDATETIME,SYSTIME";

/// The main board as one response described it.
#[derive(Debug)]
pub(crate) struct Board {
    /// Sorted by code.
    pub(crate) securities: Arc<Vec<Arc<Security>>>,
    pub(crate) snapshots: HashMap<String, DatedSnapshot>,
    pub(crate) listing: Arc<Listing>,
    pub(crate) delay: Delay,
}

/// A security and the address of its board.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) address: BoardAddress,
    pub(crate) security: Arc<Security>,
}

/// All boards on which a security is or was traded, main board first.
pub(crate) type Description = Arc<Vec<Arc<Listed>>>;

impl Board {
    pub(crate) fn find(&self, code: &str) -> Option<&Arc<Security>> {
        let at = self.securities.binary_search_by(|it| it.code.as_str().cmp(code)).ok()?;
        self.securities.get(at)
    }
}

impl Inner {
    /// The main board; `ages` says how fresh its prices must be.
    pub(crate) async fn board(
        self: &Arc<Self>,
        ages: CacheAges,
    ) -> Result<Cached<Arc<Board>>, Fault> {
        let inner = Arc::clone(self);
        self.caches.board.get((), ages, async move { inner.fetch_board().await }).await
    }

    /// The main board for its names, which may be older than prices.
    pub(crate) async fn names(self: &Arc<Self>) -> Result<Cached<Arc<Board>>, Fault> {
        let (fresh, stale) = (self.config.listing_age, self.config.reference_age_stale);
        self.board(CacheAges { fresh, stale }).await
    }

    async fn fetch_board(self: &Arc<Self>) -> Result<Arc<Board>, Fault> {
        let path = format!("{}/securities", BoardAddress::main().path());
        let request = IssRequest::new("board", path, "securities,marketdata,dataversion")
            .with("securities.columns", LISTED_COLUMNS)
            .with("marketdata.columns", TRADED_COLUMNS);
        let answer = self.client.fetch(&request).await?;
        let received_at = self.clock.now();
        let listed = answer.tables.need("securities", &["secid", "decimals"])?;
        let traded = answer.tables.need("marketdata", &["secid", "last"])?;
        let version = answer.tables.first("dataversion");
        let traded: HashMap<&str, _> =
            traded.rows().filter_map(|row| Some((row.text("secid")?, row))).collect();
        let (mut securities, mut snapshots) = (Vec::new(), HashMap::new());
        let mut listing = Listing { received_at: Some(received_at), ..Listing::default() };
        for listed in listed.rows() {
            let Some(security) = read_security(listed).map(Arc::new) else { continue };
            let traded = traded.get(security.code.as_str()).copied();
            let delay = answer.delay;
            let rows = Rows { listed, traded, version, is_index: false, delay, received_at };
            let dated = snapshot::read(rows, &security);
            snapshots.extend(dated.map(|dated| (security.code.clone(), dated)));
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
            snapshots,
            listing: Arc::new(listing),
            delay: answer.delay,
        }))
    }

    /// The fault for an unknown code, with suggestions when the names are available.
    pub(crate) async fn unknown(self: &Arc<Self>, code: &str) -> Fault {
        let names = self.names().await.ok();
        unknown(code, names.as_ref().map(|cached| cached.value.as_ref()))
    }

    /// A security on the requested board, or on its main board.
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
            let cached = self.names().await?;
            let found = cached.value.find(&code);
            if let Some(security) = found {
                let security = Arc::clone(security);
                return Ok(Arc::new(Listed { address: BoardAddress::main(), security }));
            }
        }
        let listings = self.listings(&code).await?;
        let Some(board) = board else {
            let best = listings.first().cloned();
            return match best {
                Some(best) => Ok(best),
                None => Err(self.unknown(&code).await),
            };
        };
        match listings.iter().find(|listed| listed.address.board == board) {
            Some(listed) => Ok(Arc::clone(listed)),
            None => Err(not_on_board(&code, &board, &listings)),
        }
    }

    async fn listings(self: &Arc<Self>, code: &str) -> Result<Description, Fault> {
        let (inner, owned) = (Arc::clone(self), code.to_owned());
        let work = async move {
            let path = format!("securities/{owned}");
            let request = IssRequest::new("security", path, "description,boards");
            match inner.client.fetch(&request).await {
                Ok(answer) => read_description(&owned, &answer.tables),
                // The exchange has no page for a code that it does not list.
                Err(fault) if fault.kind() == Kind::NotFound => Ok(Description::default()),
                Err(fault) => Err(fault),
            }
        };
        // An unknown code may be listed later, so its entry expires early.
        let missed = self.caches.descriptions.peek(&code.to_owned());
        let fresh = match missed {
            Some(cached) if cached.value.is_empty() => self.config.listing_age_miss,
            _ => self.config.listing_age,
        };
        let ages = CacheAges { fresh, stale: self.config.reference_age_stale };
        let cached = self.caches.descriptions.get(code.to_owned(), ages, work).await?;
        if cached.value.is_empty() {
            return Err(self.unknown(code).await);
        }
        Ok(cached.value)
    }

    pub(crate) async fn snapshot(
        self: &Arc<Self>,
        code: &str,
        board: Option<&str>,
    ) -> Result<WithFreshness<Arc<SecuritySnapshot>>, Fault> {
        let cached = self.dated_snapshot(code, board).await?;
        let freshness = cached.value.freshness(&self.source_label, cached.received_at);
        let snapshot = Arc::clone(&cached.value.snapshot);
        Ok(with_freshness(cached, snapshot, freshness))
    }

    pub(crate) async fn dated_snapshot(
        self: &Arc<Self>,
        code: &str,
        board: Option<&str>,
    ) -> Result<Cached<Arc<DatedSnapshot>>, Fault> {
        let listed = self.listed(code, board).await?;
        let (inner, key) =
            (Arc::clone(self), (listed.address.clone(), listed.security.code.clone()));
        let work = async move { inner.fetch_dated_snapshot(&listed).await.map(Arc::new) };
        let ages = CacheAges { fresh: self.config.price_age, stale: self.config.price_age_stale };
        self.caches.snapshots.get(key, ages, work).await
    }

    async fn fetch_dated_snapshot(
        self: &Arc<Self>,
        listed: &Listed,
    ) -> Result<DatedSnapshot, Fault> {
        let code = &listed.security.code;
        let path = format!("{}/securities/{code}", listed.address.path());
        let request = IssRequest::new("snapshot", path, "securities,marketdata,dataversion");
        let response = self.client.fetch(&request).await;
        let received_at = self.clock.now();
        let answer = match response {
            Err(fault) if fault.kind() == Kind::NotFound => return Err(self.unknown(code).await),
            response => response?,
        };
        let is_index = listed.address.is_index();
        answer.tables.need("securities", &["secid", "decimals"])?;
        let last = if is_index { "currentvalue" } else { "last" };
        answer.tables.need("marketdata", &["secid", last])?;
        let traded = answer.tables.first("marketdata");
        let Some(first) = answer.tables.first("securities") else {
            let board = &listed.address.board;
            // A known security without rows is no longer traded, or the response lost its rows.
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
        let cached = self.names().await?;
        let securities = Arc::clone(&cached.value.securities);
        let freshness = self.freshness(cached.received_at, cached.received_at, Delay::EndOfDay);
        Ok(with_freshness(cached, securities, freshness))
    }

    pub(crate) fn freshness(&self, as_of: Millis, received_at: Millis, delay: Delay) -> Freshness {
        let source = self.source_label.clone();
        Freshness { source, as_of, received_at, delay, stale: false, fallback: None }
    }
}

pub(crate) fn no_price(code: &str) -> Fault {
    Fault::unavailable("no_price", format!("the exchange has no price for {code} at the moment"))
}

fn not_on_board(code: &str, board: &str, listings: &[Arc<Listed>]) -> Fault {
    let shown: String = board.chars().take(40).collect();
    let boards: Vec<&str> =
        listings.iter().take(5).map(|listed| listed.address.board.as_str()).collect();
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
    let mut listings = Vec::new();
    for row in boards.rows() {
        let (Some(board), Some(market), Some(engine)) =
            (row.text("boardid"), row.text("market"), row.text("engine"))
        else {
            continue;
        };
        let Some(address) = BoardAddress::checked(engine, market, board) else { continue };
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
        listings.push((rank, Arc::new(Listed { address, security: Arc::new(security) })));
    }
    listings.sort_by_key(|(rank, _)| *rank);
    Ok(Arc::new(listings.into_iter().map(|(_, listed)| listed).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Tables;

    #[test]
    fn the_main_board_comes_first() {
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
        let listings = read_description("RTSI", &tables).unwrap();
        let boards: Vec<_> = listings.iter().map(|it| it.address.board.as_str()).collect();
        assert_eq!(boards, ["RTSI", "SNDX", "CLMR"]);
        let first = &listings[0].security;
        assert_eq!((first.currency.as_str(), first.decimals), ("USD", 2));
        assert_eq!((first.short_name.as_str(), first.suspended), ("Индекс РТС", false));
        let fault = not_on_board("RTSI", "TQBR", &listings);
        assert_eq!(fault.code(), "unknown_board");
        assert!(fault.message().contains("it is on RTSI, SNDX, CLMR"), "{fault}");
    }
}
