//! `compute_indicators`: closed candles and indicators over them.

use contract::Cx;
use fault::Fault;
use market::Interval;

use crate::candles::CandleSelection;
use crate::windows::Window;
use crate::wire::{Computation, ComputeArgs, Computed};
use crate::{Indicators, warm, windows};

pub(crate) async fn call(cx: Cx<Indicators>, args: ComputeArgs) -> Result<Computed, Fault> {
    let windows = windows::parse("windows", &args.windows)?;
    let interval = interval(&args.klines.interval)?;
    let reader = &cx.service.candles;
    let ticker = reader.ticker(&args.klines.symbol)?;
    let warmed = if args.warm { windows.as_slice() } else { &[] };
    let selection = reader.find(ticker, interval, args.klines.range(), warmed, cx.deadline).await?;
    Ok(Computed {
        indicators: compute(windows, &selection, interval)?,
        selection,
        interval,
        include_candles: args.include_candles,
        windows: args.windows,
        generated_at: cx.service.clock.now(),
    })
}

/// Computes each indicator over the requested candles and its own number of warm-up candles, so
/// that its values do not depend on the other indicators of the request.
pub(crate) fn compute(
    windows: Vec<Window>,
    selection: &CandleSelection,
    interval: Interval,
) -> Result<Vec<Computation>, Fault> {
    let candles = selection.candles.view()?;
    let first = selection.requested().first().unwrap_or_default();
    let compute_one = |window: Window| {
        let lead = warm::lead(&window, interval, first).min(selection.ahead);
        let mut series = window.batch(&candles.slice(selection.ahead - lead, candles.len()));
        for column in &mut series {
            column.drain(..lead);
        }
        let warmup = window.warmup().saturating_sub(lead);
        Computation { window, series, warmup }
    };
    Ok(windows.into_iter().map(compute_one).collect())
}

pub(crate) fn interval(text: &str) -> Result<Interval, Fault> {
    Interval::parse(text)
        .ok_or_else(|| Fault::internal("the schema let an unknown interval through"))
}
