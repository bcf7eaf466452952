//! `get_trading_calendar`: which days are trading days.

use std::fmt::Write as _;

use contract::Cx;
use fault::Fault;
use market::{TradingDay, WithFreshness};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::reply::{MoexReply, known_fields, source};
use crate::{Moex, arguments};

const DAYS_MAX: i64 = 400;

#[derive(Debug, Deserialize)]
pub(crate) struct Args {
    from_date: String,
    to_date: String,
}

pub(crate) async fn call(cx: Cx<Moex>, args: Args) -> Result<MoexReply, Fault> {
    let (from, to) = arguments::period(&args.from_date, &args.to_date, DAYS_MAX)?;
    let WithFreshness { value: days, freshness } =
        cx.service.exchange.trading_days(from, to).await?;
    let today = cx.service.today();
    let traded = || days.iter().filter(|day| day.is_trading);
    // Before it opens, today is the next trading day.
    let now = cx.service.clock.now();
    let has_begun = |day: &&TradingDay| {
        let opened = day.session.is_none_or(|session| session.opens <= now);
        day.date < today || (day.date == today && opened)
    };
    let last = traded().rfind(has_begun);
    let next = traded().find(|day| !has_begun(day));
    let date = |day: &TradingDay| Value::from(day.date.to_string());
    let metrics = known_fields([
        ("num_trading_days", Some(traded().count().into())),
        ("last_trading_day", last.map(date)),
        ("next_trading_day", next.map(date)),
    ]);
    let mut text = format!("{} of {} days are traded", traded().count(), days.len());
    let closed: Vec<String> =
        days.iter().filter(|day| !day.is_trading).map(|day| day.date.to_string()).collect();
    _ = writeln!(text, "; closed on: {}", closed.join(" "));
    Ok(MoexReply {
        metadata: json!({
            "source": source(Some(&freshness)),
            "from_date": from.to_string(),
            "to_date": to.to_string(),
        }),
        data: days.iter().map(row).collect(),
        metrics,
        text,
        freshness: Some(freshness),
        ..MoexReply::default()
    })
}

fn row(day: &TradingDay) -> Value {
    known_fields([
        ("date", Some(day.date.to_string().into())),
        ("is_trading", Some(day.is_trading.into())),
        ("basis", Some(day.basis.as_str().into())),
        ("opens", day.session.map(|it| it.opens.to_rfc3339().into())),
        ("closes", day.session.map(|it| it.closes.to_rfc3339().into())),
    ])
}
