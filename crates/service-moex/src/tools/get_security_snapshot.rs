//! `get_security_snapshot`: the latest price of a security, its change, and the traded volume.

use contract::Cx;
use fault::Fault;
use market::{Decimal, PriceBasis, WithFreshness};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::reply::{ISS, MoexReply, figure, known_fields, number};
use crate::{Moex, arguments, figures};

#[derive(Debug, Deserialize)]
pub(crate) struct Args {
    ticker: String,
    board: String,
}

pub(crate) async fn call(cx: Cx<Moex>, args: Args) -> Result<MoexReply, Fault> {
    let (ticker, board) =
        (arguments::ticker("ticker", &args.ticker)?, arguments::board("board", &args.board)?);
    let WithFreshness { value: snapshot, freshness } =
        cx.service.exchange.snapshot(&ticker, Some(&board)).await?;
    let unknown = Decimal::ZERO;
    let change = snapshot.change.unwrap_or(unknown);
    let change_pct = snapshot.change_pct.unwrap_or(unknown);
    let data = known_fields([
        ("last_price", Some(number(snapshot.last))),
        ("price_change_abs", Some(number(change))),
        ("price_change_pct", Some(number(change_pct))),
        ("open_price", snapshot.open.map(number)),
        ("high_price", snapshot.high.map(number)),
        ("low_price", snapshot.low.map(number)),
        ("volume", snapshot.volume.map(number)),
        ("value", snapshot.value.map(number)),
        ("currency", Some(snapshot.security.currency.as_str().into())),
        ("short_name", Some(snapshot.security.short_name.as_str().into())),
        ("isin", snapshot.security.isin.as_deref().map(Value::from)),
        ("lot_size", snapshot.security.lot.map(Value::from)),
        ("price_basis", Some(snapshot.basis.as_str().into())),
        ("trading_status", Some(snapshot.status.as_str().into())),
        // The contract requires numbers for the change; `is_change_known` says that zero is not one.
        (
            "is_change_known",
            Some((snapshot.change.is_some() && snapshot.change_pct.is_some()).into()),
        ),
        ("is_stale", Some((snapshot.basis != PriceBasis::LastTrade || freshness.stale).into())),
    ]);
    let float = |value: Option<Decimal>| value.map(Decimal::to_f64);
    let range = float(snapshot.open).zip(float(snapshot.high)).zip(float(snapshot.low));
    let volatility =
        range.and_then(|((open, high), low)| figures::intraday_volatility_pct(open, high, low));
    let metrics = known_fields([
        ("intraday_volatility_estimate", figure(volatility)),
        ("method", volatility.map(|_| "(high - low) / open * 100, percent".into())),
    ]);
    let security = &snapshot.security;
    let mut text = format!(
        "{} ({}) on {board}: {} {}, change {change} ({change_pct}%) as of {}; {}\n",
        security.code,
        security.short_name,
        snapshot.last,
        security.currency,
        freshness.as_of,
        snapshot.status.as_str(),
    );
    if snapshot.basis != PriceBasis::LastTrade {
        text.push_str("nothing was traded in this session yet; the price is an earlier one\n");
    }
    Ok(MoexReply {
        metadata: json!({
            "source": ISS,
            "ticker": security.code,
            "board": security.board,
            "as_of": freshness.as_of.to_rfc3339(),
        }),
        data,
        metrics,
        text,
        freshness: Some(freshness),
        ..MoexReply::default()
    })
}
