//! `search_securities`: finds securities by name, ISIN or part of a ticker.

use std::fmt::Write as _;

use contract::Cx;
use fault::Fault;
use market::{SecurityMatch, WithFreshness};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Moex;
use crate::reply::{MoexReply, known_fields, source};

#[derive(Debug, Deserialize)]
pub(crate) struct Args {
    query: String,
    limit: usize,
}

pub(crate) async fn call(cx: Cx<Moex>, args: Args) -> Result<MoexReply, Fault> {
    let WithFreshness { value: found, freshness } =
        cx.service.exchange.search(&args.query, args.limit).await?;
    let mut text = format!("{} securities found\n", found.len());
    for it in &found {
        let name = it.name.as_deref().or(it.short_name.as_deref()).unwrap_or_default();
        let traded = if it.traded { "" } else { " (not traded)" };
        _ = writeln!(text, "{} {name}{traded}", it.code);
    }
    Ok(MoexReply {
        metadata: json!({ "source": source(Some(&freshness)), "query": args.query }),
        data: found.iter().map(row).collect(),
        metrics: json!({ "num_found": found.len() }),
        text,
        freshness: Some(freshness),
        ..MoexReply::default()
    })
}

fn row(it: &SecurityMatch) -> Value {
    let name = it.name.as_deref().or(it.short_name.as_deref()).unwrap_or(&it.code);
    known_fields([
        ("ticker", Some(it.code.as_str().into())),
        ("name", Some(name.into())),
        ("short_name", it.short_name.as_deref().map(Value::from)),
        ("latin_name", it.latin_name.as_deref().map(Value::from)),
        ("isin", it.isin.as_deref().map(Value::from)),
        ("board", it.board.as_deref().map(Value::from)),
        ("type", it.kind.as_deref().map(Value::from)),
        ("is_traded", Some(it.traded.into())),
    ])
}
