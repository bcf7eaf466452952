//! Converts the amounts of a question into portfolio weights in percent. Every assumption and every
//! rescaling adds a note.

use serde_json::{Value, json};

use crate::note::Note;
use crate::resolve::{Resolved, Security};
use crate::tool_session::{Finding, PlannedCall, ToolSession};
use crate::understand::{Amount, Request};

/// Weights may differ from 100 % by this many percentage points, because people round.
const ROUNDING_TOLERANCE: f64 = 0.5;

pub(crate) async fn resolve_weights(
    tool_session: &ToolSession<'_>,
    request: &mut Request,
    resolved: &mut Resolved,
) {
    let unknown = resolved.lacks_names();
    let given = resolved.securities.iter().any(|it| it.amount.is_some());
    if unknown && !resolved.securities.is_empty() {
        request.note(Note::WithoutUnknown);
    }
    if !given {
        return;
    }
    drop_shorts(request, resolved);
    match unit(&resolved.securities, request.cash) {
        Unit::Percent => weights_from_percents(request, resolved, unknown),
        Unit::Money => {
            drop_without_amount(request, resolved);
            for it in &mut resolved.securities {
                it.weight = it.amount.and_then(Amount::value);
            }
            rescale_to_100(&mut resolved.securities);
            request.note(Note::FromMoney);
        }
        Unit::Pieces => {
            drop_without_amount(request, resolved);
            weights_from_pieces(tool_session, request, resolved).await;
        }
        Unit::Mixed => request.note(Note::Mixed),
    }
}

enum Unit {
    Percent,
    Money,
    Pieces,
    Mixed,
}

fn unit(all: &[Security], cash: Option<Amount>) -> Unit {
    let given: Vec<Amount> = all.iter().filter_map(|it| it.amount).chain(cash).collect();
    let is = |fits: fn(&Amount) -> bool| given.iter().all(fits);
    if is(|it| matches!(it, Amount::Percent(_) | Amount::Plain(_) | Amount::Rest)) {
        Unit::Percent
    } else if is(|it| matches!(it, Amount::Money(_))) {
        Unit::Money
    } else if is(|it| matches!(it, Amount::Pieces(_) | Amount::Lots(_))) {
        Unit::Pieces
    } else {
        Unit::Mixed
    }
}

fn tickers(all: &[Security], of: impl Fn(&Security) -> bool) -> Vec<String> {
    all.iter().filter(|it| of(it)).map(|it| it.ticker.clone()).collect()
}

/// Drops short positions and positions of zero, with a note for each kind.
fn drop_shorts(request: &mut Request, resolved: &mut Resolved) {
    let value = |it: &Security| it.amount.and_then(Amount::value);
    let short = |it: &Security| value(it).is_some_and(|it| it < 0.0);
    let zero = |it: &Security| value(it) == Some(0.0);
    let shorts = tickers(&resolved.securities, short);
    let nothing = tickers(&resolved.securities, zero);
    resolved.securities.retain(|it| !short(it) && !zero(it));
    if !shorts.is_empty() {
        request.note(Note::Shorts(shorts));
    }
    if !nothing.is_empty() {
        request.note(Note::NothingLeft(nothing));
    }
}

/// Drops the securities without an amount, because share counts and money leave them no weight.
fn drop_without_amount(request: &mut Request, resolved: &mut Resolved) {
    let without = tickers(&resolved.securities, |it| it.amount.is_none());
    if !without.is_empty() {
        resolved.securities.retain(|it| it.amount.is_some());
        request.note(Note::NothingLeft(without));
    }
}

/// Rescales the weights to a sum of 100.
fn rescale_to_100(all: &mut [Security]) {
    let sum: f64 = all.iter().filter_map(|it| it.weight).sum();
    for it in all.iter_mut() {
        it.weight = it.weight.filter(|_| sum > 0.0).map(|it| it / sum * 100.0);
    }
}

fn weights_from_percents(request: &mut Request, resolved: &mut Resolved, unknown: bool) {
    let all = &mut resolved.securities;
    let plain = |it: &Security| matches!(it.amount, Some(Amount::Plain(_)) | None);
    let sum = |all: &[Security]| -> f64 {
        all.iter().filter_map(|it| it.amount.and_then(Amount::value)).sum()
    };
    // Plain numbers whose sum is not near 100 are proportions: «SBER 2, GAZP 1».
    let parts = all.iter().all(plain) && !(50.0..=150.0).contains(&sum(all));
    if parts && all.iter().all(|it| it.amount.is_some()) {
        all.iter_mut().for_each(|it| it.weight = it.amount.and_then(Amount::value));
        rescale_to_100(all);
        request.note(Note::AsParts);
        return;
    }
    let cash_share = request.cash.and_then(Amount::value).unwrap_or(0.0);
    // A security that was not found keeps its stated share of the total.
    let lacking: Vec<&String> = resolved.unknown.iter().chain(&resolved.unreached).collect();
    let unknown_share: f64 = request
        .mentions
        .iter()
        .filter(|it| lacking.contains(&&it.text))
        .filter_map(|it| it.amount.and_then(Amount::value))
        .sum();
    let remaining = 100.0 - sum(all) - cash_share - unknown_share;
    let open = |it: &Security| matches!(it.amount, None | Some(Amount::Rest));
    let open_tickers = tickers(all, open);
    if remaining < ROUNDING_TOLERANCE && !open_tickers.is_empty() {
        all.retain(|it| !open(it));
        request.note(Note::NothingLeft(open_tickers));
    } else if !open_tickers.is_empty() {
        let without_amount = tickers(all, |it| it.amount.is_none());
        let each = remaining / open_tickers.len() as f64;
        for it in all.iter_mut().filter(|it| open(it)) {
            it.amount = Some(Amount::Percent(each));
        }
        if !without_amount.is_empty() {
            request.note(Note::RestShared(without_amount));
        }
    }
    if request.cash == Some(Amount::Rest) {
        let remaining = 100.0 - sum(all);
        request.cash = (remaining > ROUNDING_TOLERANCE).then_some(Amount::Percent(remaining));
    }
    let cash = request.cash.and_then(Amount::value).unwrap_or(0.0);
    let total = sum(all) + cash;
    let shorted = request.notes.iter().any(|it| matches!(it, Note::Shorts(_)));
    if (total - 100.0).abs() > ROUNDING_TOLERANCE && !unknown && !shorted {
        request.note(Note::Rescaled);
    }
    all.iter_mut().for_each(|it| it.weight = it.amount.and_then(Amount::value));
}

/// Computes weights from share counts and last prices.
async fn weights_from_pieces(
    tool_session: &ToolSession<'_>,
    request: &mut Request,
    resolved: &mut Resolved,
) {
    let why = request.language.pick("цена для доли", "price for the share").to_owned();
    let step = |it: &Security| {
        let mut args = json!({ "ticker": it.ticker });
        crate::plan::board(&mut args, it);
        PlannedCall { tool: "get_security_snapshot", args, why: format!("{why}: {}", it.ticker) }
    };
    let snapshots =
        tool_session.run(&resolved.securities.iter().map(step).collect::<Vec<_>>()).await;
    let number = |it: &Finding, at: &str| it.at(at).and_then(Value::as_f64);
    for (it, snapshot) in resolved.securities.iter_mut().zip(&snapshots) {
        let pieces = match it.amount {
            Some(Amount::Lots(lots)) => number(snapshot, "/data/lot_size").map(|lot| lot * lots),
            amount => amount.and_then(Amount::value),
        };
        it.weight = pieces.zip(number(snapshot, "/data/last_price")).map(|(a, b)| a * b);
    }
    let priced = snapshots.len() == resolved.securities.len()
        && resolved.securities.iter().all(|it| it.weight.is_some_and(|it| it > 0.0));
    if priced {
        rescale_to_100(&mut resolved.securities);
        request.note(Note::FromPieces);
    } else {
        resolved.securities.iter_mut().for_each(|it| it.weight = None);
        request.note(Note::NoPrices);
    }
}
