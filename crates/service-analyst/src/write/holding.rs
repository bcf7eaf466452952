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

/// Returns a multiplier from the question as a whole number.
fn whole(value: f64) -> Option<u64> {
    ((1.0..=1e12).contains(&value) && value.fract() == 0.0).then_some(value as u64)
}

/// Formats a number that comes from the question and not from a tool.
fn asked(sheet: &AnswerBuilder<'_>, count: u64, style: Style<'_>) -> CitedFigure {
    sheet.page.styled(count as f64, style, Vec::new(), Formula::Times(count))
}

/// The number of shares or lots, its wording, and the sources to multiply for one unit.
type Holding = (u64, Slot, Vec<(usize, String)>);

/// Returns the number of shares or lots that the question gives.
fn holding(sheet: &AnswerBuilder<'_>, it: &Security) -> Option<Holding> {
    let (Amount::Pieces(value) | Amount::Lots(value)) = it.amount? else { return None };
    let count = whole(value)?;
    let shown = Slot::Figure(Some(asked(sheet, count, Style::Count)));
    let shares = |count: u64| {
        let english = if count == 1 { "share" } else { "shares" };
        sheet.language().pick(agree(count, "акция", "акции", "акций"), english)
    };
    if let Some(Amount::Pieces(_)) = it.amount {
        let slot = Slot::Many(vec![shown, format!(" {}", shares(count)).into()]);
        return Some((count, slot, Vec::new()));
    }
    let shot = sheet.of("get_security_snapshot", &it.ticker)?;
    let size = shot.at("/data/lot_size")?.as_u64()?;
    let lots = sheet
        .language()
        .pick(agree(count, "лот", "лота", "лотов"), if count == 1 { "lot" } else { "lots" });
    let of = sheet.language().pick("по", "of");
    let figure = sheet.page.figure(Some(shot), "/data/lot_size", Style::Count);
    let unit = sheet.language().pick(
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
    Some((count, slot, vec![(shot.id, "/result/data/lot_size".to_owned())]))
}

/// Multiplies the number of shares by a per-share figure.
fn product(
    sheet: &AnswerBuilder<'_>,
    it: &Security,
    one: (Option<&Finding>, &str),
    money: &str,
) -> Option<(Slot, CitedFigure)> {
    let (count, slot, mut sources) = holding(sheet, it)?;
    let (found, value) = (one.0?, float(one.0, one.1)?);
    let size = match sources.first() {
        Some(_) => float(sheet.of("get_security_snapshot", &it.ticker), "/data/lot_size")?,
        None => 1.0,
    };
    sources.push((found.id, format!("/result{}", one.1)));
    let value = value * size * count as f64;
    Some((slot, sheet.page.styled(value, Style::Money(money), sources, Formula::Times(count))))
}

/// Writes the value of the given number of shares. Returns whether the question asked for it.
pub(super) fn worth(sheet: &mut AnswerBuilder<'_>, it: &Security, money: &str) -> bool {
    let shot = sheet.of("get_security_snapshot", &it.ticker);
    let Some((holding, value)) = product(sheet, it, (shot, "/data/last_price"), money) else {
        return false;
    };
    sheet.page.add_line(
        "{}: {} по последней цене — {}.",
        "{}: {} at the last price come to {}.",
        [sheet.title(it), holding, Some(value).into()],
    );
    true
}

/// Writes the dividends paid on the given number of shares.
pub(super) fn received(
    sheet: &mut AnswerBuilder<'_>,
    it: &Security,
    sum: (Option<&Finding>, &str),
    money: &str,
) {
    if let Some((holding, value)) = product(sheet, it, sum, money) {
        sheet.page.add_line(
            "{}, {}: выплаты до налога — {}.",
            "{}, {}: payments before tax come to {}.",
            [it.ticker.as_str().into(), holding, Some(value).into()],
        );
    }
}

/// Writes what a sum invested at the start of the period is worth now.
pub(super) fn grown(sheet: &mut AnswerBuilder<'_>, it: &Security, money: &str) {
    let Some(Amount::Money(value)) = it.amount else { return };
    let Some(put) = whole(value).filter(|_| money == "RUB") else { return };
    let history = sheet.of("get_ohlcv_timeseries", &it.ticker);
    let at = "/metrics/total_return_pct";
    let became = if sheet.plan.request.ago {
        let shot = sheet.of("get_security_snapshot", &it.ticker);
        since(sheet, history, shot).and_then(|it| {
            let worth = value * (1.0 + it.change / 100.0);
            let (sources, style) = (since_source(history, shot)?, Style::Money(money));
            Some(sheet.page.styled(worth, style, sources, Formula::Became(put)))
        })
    } else {
        float(history, at).zip(history).map(|(change, found)| {
            let source = vec![(found.id, format!("/result{at}"))];
            let worth = value * (1.0 + change / 100.0);
            sheet.page.styled(worth, Style::Money(money), source, Formula::Grown(put))
        })
    };
    let put = asked(sheet, put, Style::Money(money));
    let asked_for = sheet.plan.request.period.is_some();
    if let Some(became) = became.filter(|_| asked_for) {
        sheet.page.add_line(
            "{}: из {} за это время получилось бы {} (без дивидендов, налогов и комиссий).",
            "{}: {} would have become {} (without dividends, taxes and fees).",
            [sheet.title(it), Some(put).into(), Some(became).into()],
        );
    }
}
