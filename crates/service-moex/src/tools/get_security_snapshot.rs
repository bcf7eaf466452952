//! `get_security_snapshot`: a security's price now, its change, and how much was traded.

use contract::Cx;
use fault::Fault;
use market::{Decimal, PriceBasis, WithFreshness};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{Answer, ISS, figure, known, number};
use crate::{Moex, ask, figures};

#[derive(Debug, Deserialize)]
pub(crate) struct Args {
    ticker: String,
    board: String,
}

pub(crate) async fn call(cx: Cx<Moex>, args: Args) -> Result<Answer, Fault> {
    let (ticker, board) = (ask::ticker("ticker", &args.ticker)?, ask::board("board", &args.board)?);
    let WithFreshness { value: shot, freshness } =
        cx.service.exchange.snapshot(&ticker, Some(&board)).await?;
    let none = Decimal::ZERO;
    let (change, change_pct) = (shot.change.unwrap_or(none), shot.change_pct.unwrap_or(none));
    let data = known([
        ("last_price", Some(number(shot.last))),
        ("price_change_abs", Some(number(change))),
        ("price_change_pct", Some(number(change_pct))),
        ("open_price", shot.open.map(number)),
        ("high_price", shot.high.map(number)),
        ("low_price", shot.low.map(number)),
        ("volume", shot.volume.map(number)),
        ("value", shot.value.map(number)),
        ("currency", Some(shot.security.currency.as_str().into())),
        ("short_name", Some(shot.security.short_name.as_str().into())),
        ("isin", shot.security.isin.as_deref().map(Value::from)),
        ("lot_size", shot.security.lot.map(Value::from)),
        ("price_basis", Some(shot.basis.as_str().into())),
        ("trading_status", Some(shot.status.as_str().into())),
        // The contract wants numbers; where there is nothing to compare with, zero says nothing.
        ("is_change_known", Some((shot.change.is_some() && shot.change_pct.is_some()).into())),
        ("is_stale", Some((shot.basis != PriceBasis::LastTrade || freshness.stale).into())),
    ]);
    let float = |value: Option<Decimal>| value.map(Decimal::to_f64);
    let range = float(shot.open).zip(float(shot.high)).zip(float(shot.low));
    let volatility =
        range.and_then(|((open, high), low)| figures::intraday_volatility_pct(open, high, low));
    let metrics = known([
        ("intraday_volatility_estimate", figure(volatility)),
        ("method", volatility.map(|_| "(high - low) / open * 100, percent".into())),
    ]);
    let security = &shot.security;
    let mut text = format!(
        "{} ({}) on {board}: {} {}, change {change} ({change_pct}%) as of {}; {}\n",
        security.code,
        security.short_name,
        shot.last,
        security.currency,
        freshness.as_of,
        shot.status.as_str(),
    );
    if shot.basis != PriceBasis::LastTrade {
        text.push_str("nothing was traded in this session yet; the price is an earlier one\n");
    }
    Ok(Answer {
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
        ..Answer::default()
    })
}
