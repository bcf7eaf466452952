//! `compute_indicators`: closed candles and indicators over them.

use contract::Cx;
use fault::Fault;
use market::Interval;

use crate::candles::Found;
use crate::windows::Window;
use crate::wire::{Computation, ComputeArgs, Computed};
use crate::{Indicators, warm, windows};

pub(crate) async fn call(cx: Cx<Indicators>, args: ComputeArgs) -> Result<Computed, Fault> {
    let asked = windows::parse("windows", &args.windows)?;
    let interval = interval(&args.klines.interval)?;
    let stand = &cx.service.candles;
    let ticker = stand.ticker(&args.klines.symbol)?;
    let warmed = if args.warm { asked.as_slice() } else { &[] };
    let found = stand.find(ticker, interval, args.klines.range(), warmed, cx.deadline).await?;
    Ok(Computed {
        indicators: compute(asked, &found, interval)?,
        found,
        interval,
        include_candles: args.include_candles,
        generated_at: cx.service.clock.now(),
    })
}

/// Each indicator over the candles asked for and as many before them as it needs itself, so that
/// what it gives does not depend on which others are asked for.
pub(crate) fn compute(
    windows: Vec<Window>,
    found: &Found,
    interval: Interval,
) -> Result<Vec<Computation>, Fault> {
    let candles = found.candles.view()?;
    let first = found.asked().first().unwrap_or_default();
    let one = |window: Window| {
        let lead = warm::lead(&window, interval, first).min(found.ahead);
        let mut series = window.batch(&candles.slice(found.ahead - lead, candles.len()));
        for column in &mut series {
            column.drain(..lead);
        }
        let warmup = window.warmup().saturating_sub(lead);
        Computation { window, series, warmup }
    };
    Ok(windows.into_iter().map(one).collect())
}

pub(crate) fn interval(text: &str) -> Result<Interval, Fault> {
    Interval::parse(text)
        .ok_or_else(|| Fault::internal("the schema let an unknown interval through"))
}
