//! `compute_indicators`: closed candles and indicators over them.

use contract::Cx;
use fault::Fault;
use market::{Bar, Decimal, Interval};
use ta::Candles;

use crate::wire::{ComputeArgs, Computed};
use crate::{Indicators, windows};

pub(crate) async fn call(cx: Cx<Indicators>, args: ComputeArgs) -> Result<Computed, Fault> {
    let specs = windows::parse("windows", &args.windows)?;
    let interval = interval(&args.klines.interval)?;
    let range = args.klines.range();
    let found = cx.service.candles.find(&args.klines.symbol, interval, range, cx.deadline).await?;
    let columns = Columns::of(&found.bars);
    let candles = columns.candles()?;
    let indicators = specs
        .into_iter()
        .map(|spec| {
            let series = spec.batch(&candles);
            (spec, series)
        })
        .collect();
    Ok(Computed {
        found,
        interval,
        include_candles: args.include_candles,
        indicators,
        generated_at: cx.service.clock.now(),
    })
}

pub(crate) fn interval(text: &str) -> Result<Interval, Fault> {
    Interval::parse(text)
        .ok_or_else(|| Fault::internal("the schema let an unknown interval through"))
}

/// Bars as columns of floats, which is what the mathematics takes.
#[derive(Default)]
struct Columns {
    t: Vec<i64>,
    prices: [Vec<f64>; 4],
    v: Vec<f64>,
}

impl Columns {
    fn of(bars: &[Bar]) -> Self {
        let column =
            |price: fn(&Bar) -> Decimal| bars.iter().map(|it| price(it).to_f64()).collect();
        Self {
            t: bars.iter().map(|it| it.open_time.0).collect(),
            prices: [
                column(|it| it.open),
                column(|it| it.high),
                column(|it| it.low),
                column(|it| it.close),
            ],
            v: bars.iter().map(|it| it.volume.map_or(0.0, Decimal::to_f64)).collect(),
        }
    }

    fn candles(&self) -> Result<Candles<'_>, Fault> {
        let [o, h, l, c] = &self.prices;
        Candles::new(&self.t, o, h, l, c, &self.v).map_err(Fault::internal)
    }
}
