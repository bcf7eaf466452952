//! `compute_indicators`: closed candles and indicators over them.

use contract::{CpuPool, Cx};
use fault::{Fault, Kind};
use market::Interval;
use tokio_util::sync::CancellationToken;

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
    let (indicators, selection) =
        compute_in(&cx.service.pool, windows, selection, interval).await?;
    Ok(Computed {
        indicators,
        selection,
        interval,
        include_candles: args.include_candles,
        windows: args.windows,
        generated_at: cx.service.clock.now(),
    })
}

/// Computes the indicators, in the pool if they are many values. Dropping the future stops the
/// computation, so one that is cancelled or too late does not go on.
pub(crate) async fn compute_in(
    pool: &CpuPool,
    windows: Vec<Window>,
    selection: CandleSelection,
    interval: Interval,
) -> Result<(Vec<Computation>, CandleSelection), Fault> {
    let stop = CancellationToken::new();
    let _guard = stop.clone().drop_guard();
    let series: usize = windows.iter().map(|window| window.keys().len()).sum();
    let values = series * selection.candles.len();
    let work = move || {
        let computed = compute(windows, &selection, interval, &stop);
        computed.map(|indicators| (indicators, selection))
    };
    pool.compute(values, work).await?
}

/// Computes each indicator over the requested candles and its own number of warm-up candles, so
/// that its values do not depend on the other indicators of the request. Stops between two
/// indicators once its call has ended.
pub(crate) fn compute(
    windows: Vec<Window>,
    selection: &CandleSelection,
    interval: Interval,
    stop: &CancellationToken,
) -> Result<Vec<Computation>, Fault> {
    let candles = selection.candles.view()?;
    let first = selection.requested().first().unwrap_or_default();
    let compute_one = |window: Window| {
        if stop.is_cancelled() {
            return Err(Fault::new(
                Kind::Cancelled,
                "cancelled",
                "the call of this computation has ended",
            ));
        }
        let lead = warm::lead(&window, interval, first).min(selection.ahead);
        let mut series = window.batch(&candles.slice(selection.ahead - lead, candles.len()));
        for column in &mut series {
            column.drain(..lead);
        }
        let warmup = window.warmup().saturating_sub(lead);
        Ok(Computation { window, series, warmup })
    };
    windows.into_iter().map(compute_one).collect()
}

pub(crate) fn interval(text: &str) -> Result<Interval, Fault> {
    Interval::parse(text)
        .ok_or_else(|| Fault::internal("the schema let an unknown interval through"))
}
