//! Computes what a number of shares, or a sum invested in a security, is worth. The number comes
//! from the question and the prices come from the tools.

use super::lead::{since, since_source};
use super::{AnswerBuilder, float};
use crate::check::Formula;
use crate::number::agree;
use crate::page::{CitedFigure, Slot, Style};
use crate::resolve::Security;
use crate::tool_session::Finding;
use crate::understand::Amount;

/// Returns an amount of the question as a whole number from 1 to 10¹², if it is one.
fn whole_number(value: f64) -> Option<u64> {
    ((1.0..=1e12).contains(&value) && value.fract() == 0.0).then_some(value as u64)
}

/// Formats a number that comes from the question and not from a tool.
fn question_figure(builder: &AnswerBuilder<'_>, count: u64, style: Style<'_>) -> CitedFigure {
    builder.page.styled(count as f64, style, Vec::new(), Formula::Times(count))
}

/// The number of shares or lots, its wording, and the sources to multiply for one unit.
type Holding = (u64, Slot, Vec<(usize, String)>);

/// Returns the number of shares or lots that the question gives.
fn holding(builder: &AnswerBuilder<'_>, it: &Security) -> Option<Holding> {
    let (Amount::Pieces(value) | Amount::Lots(value)) = it.amount? else { return None };
    let count = whole_number(value)?;
    let shown = Slot::Figure(Some(question_figure(builder, count, Style::Count)));
    let shares = |count: u64| {
        let english = if count == 1 { "share" } else { "shares" };
        builder.language().pick(agree(count, "акция", "акции", "акций"), english)
    };
    if let Some(Amount::Pieces(_)) = it.amount {
        let slot = Slot::Many(vec![shown, format!(" {}", shares(count)).into()]);
        return Some((count, slot, Vec::new()));
    }
    let snapshot = builder.finding("get_security_snapshot", &it.ticker)?;
    let size = snapshot.at("/data/lot_size")?.as_u64()?;
    let lots = builder
        .language()
        .pick(agree(count, "лот", "лота", "лотов"), if count == 1 { "lot" } else { "lots" });
    let of = builder.language().pick("по", "of");
    let figure = builder.page.figure(Some(snapshot), "/data/lot_size", Style::Count);
    let unit = builder.language().pick(
        if size == 1 {
            "акции"
        } else {
            agree(size, "акции", "акции", "акций")
        },
        if size == 1 { "share" } else { "shares" },
    );
    let slot = Slot::Many(vec![
        shown,
        format!(" {lots} {of} ").into(),
        Slot::Figure(figure),
        format!(" {unit}").into(),
    ]);
    Some((count, slot, vec![(snapshot.id, "/result/data/lot_size".to_owned())]))
}

/// Multiplies the number of shares by a per-share figure.
fn product(
    builder: &AnswerBuilder<'_>,
    it: &Security,
    per_share: (Option<&Finding>, &str),
    money: &str,
) -> Option<(Slot, CitedFigure)> {
    let (count, slot, mut sources) = holding(builder, it)?;
    let (finding, value) = (per_share.0?, float(per_share.0, per_share.1)?);
    let size = match sources.first() {
        Some(_) => float(builder.finding("get_security_snapshot", &it.ticker), "/data/lot_size")?,
        None => 1.0,
    };
    sources.push((finding.id, format!("/result{}", per_share.1)));
    let value = value * size * count as f64;
    Some((slot, builder.page.styled(value, Style::Money(money), sources, Formula::Times(count))))
}

/// Writes the value of the given number of shares. Returns whether the question asked for it.
pub(super) fn write_value(builder: &mut AnswerBuilder<'_>, it: &Security, money: &str) -> bool {
    let snapshot = builder.finding("get_security_snapshot", &it.ticker);
    let Some((holding, value)) = product(builder, it, (snapshot, "/data/last_price"), money) else {
        return false;
    };
    builder.page.add_line(
        "{}: {} по последней цене — {}.",
        "{}: {} at the last price come to {}.",
        [builder.title(it), holding, Some(value).into()],
    );
    true
}

/// Writes the dividends paid on the given number of shares.
pub(super) fn received(
    builder: &mut AnswerBuilder<'_>,
    it: &Security,
    sum: (Option<&Finding>, &str),
    money: &str,
) {
    if let Some((holding, value)) = product(builder, it, sum, money) {
        builder.page.add_line(
            "{}, {}: выплаты до налога — {}.",
            "{}, {}: payments before tax come to {}.",
            [it.ticker.as_str().into(), holding, Some(value).into()],
        );
    }
}

/// Writes what a sum invested at the start of the period is worth now.
pub(super) fn grown(builder: &mut AnswerBuilder<'_>, it: &Security, money: &str) {
    let Some(Amount::Money(value)) = it.amount else { return };
    let Some(invested) = whole_number(value).filter(|_| money == "RUB") else { return };
    let history = builder.finding("get_ohlcv_timeseries", &it.ticker);
    let at = "/metrics/total_return_pct";
    let became = if builder.plan.request.compare_with_today {
        let snapshot = builder.finding("get_security_snapshot", &it.ticker);
        since(builder, history, snapshot).and_then(|it| {
            let value_now = value * (1.0 + it.change / 100.0);
            let (sources, style) = (since_source(history, snapshot)?, Style::Money(money));
            Some(builder.page.styled(value_now, style, sources, Formula::Became(invested)))
        })
    } else {
        float(history, at).zip(history).map(|(change, finding)| {
            let source = vec![(finding.id, format!("/result{at}"))];
            let value_now = value * (1.0 + change / 100.0);
            builder.page.styled(value_now, Style::Money(money), source, Formula::Grown(invested))
        })
    };
    let invested = question_figure(builder, invested, Style::Money(money));
    let has_period = builder.plan.request.period.is_some();
    if let Some(became) = became.filter(|_| has_period) {
        builder.page.add_line(
            "{}: из {} за это время получилось бы {} (без дивидендов, налогов и комиссий).",
            "{}: {} would have become {} (without dividends, taxes and fees).",
            [builder.title(it), Some(invested).into(), Some(became).into()],
        );
    }
}
