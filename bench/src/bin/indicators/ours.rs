//! Stoa's side: the candles, every indicator in batch by its name, and seven indicators one candle
//! at a time by their types, as the other crates are used.

use cpu_time::ThreadTime;
use std::hint::black_box;

use ta::momentum::{Ppo, Pvo, Rsi, Stoch};
use ta::trend::Macd;
use ta::volatility::Atr;
use ta::volume::{Vwap, VwapSession};
use ta::{Arg, Candle, Candles, Indicator, Parity, Spec};

use crate::table::Table;
use crate::{Outcome, SelectedIndicators};

pub(crate) struct Data {
    t: Vec<i64>,
    o: Vec<f64>,
    h: Vec<f64>,
    l: Vec<f64>,
    c: Vec<f64>,
    v: Vec<f64>,
}

impl Data {
    /// A random walk of minutes, the same in every run.
    pub(crate) fn new(rows: usize) -> Data {
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut close = 100.0;
        let mut candles = Vec::with_capacity(rows);
        for index in 0..rows {
            let open = close;
            close = (open * (1.0 + 0.004 * (random() - 0.5))).clamp(10.0, 1000.0);
            let high = f64::max(open, close) * (1.0 + 0.001 * random());
            let low = f64::min(open, close) * (1.0 - 0.001 * random());
            let t = index as i64 * 60_000;
            let v = 1.0 + 1000.0 * random();
            candles.push(Candle { t, o: open, h: high, l: low, c: close, v });
        }
        let column = |field: fn(&Candle) -> f64| candles.iter().map(field).collect();
        Data {
            t: candles.iter().map(|candle| candle.t).collect(),
            o: column(|candle| candle.o),
            h: column(|candle| candle.h),
            l: column(|candle| candle.l),
            c: column(|candle| candle.c),
            v: column(|candle| candle.v),
        }
    }

    fn candles(&self) -> Result<Candles<'_>, ta::Error> {
        Candles::new(&self.t, &self.o, &self.h, &self.l, &self.c, &self.v)
    }

    pub(crate) fn columns(&self) -> [&Vec<f64>; 5] {
        [&self.o, &self.h, &self.l, &self.c, &self.v]
    }
}

/// One row of the batch table: an indicator with its parameters, and the series that TA-Lib has
/// where it has fewer than ours.
struct Row {
    label: &'static str,
    name: &'static str,
    args: &'static [(&'static str, Arg<'static>)],
    series: &'static [&'static str],
}

/// Rows with non-default parameters. TA-Lib has continuous VWAP and Keltner's channel of true
/// ranges; our defaults restart VWAP each day and use the other form of the channel.
const ROWS: &[Row] = &[
    Row::with_series("stochRsi", &["stochrsi", "stochrsi_k"]),
    Row::with_series("ppo", &["ppo"]),
    Row::with_series("pvo", &["pvo"]),
    Row::form("vwap", "vwap", &[("session", Arg::Text("continuous"))]),
    Row::form("vwap, session=day", "vwap", &[]),
    Row::with_series("aroon", &["aroon_up", "aroon_down"]),
    Row::with_series("psar", &["psar"]),
    Row::with_series("vortex", &["vip", "vin"]),
    Row::with_series("donchian", &["dc_hband", "dc_lband", "dc_mband"]),
    Row {
        series: &["kc_mband", "kc_hband", "kc_lband"],
        ..Row::form("keltner", "keltner", &[("bands", Arg::Text("atr"))])
    },
    Row::form("keltner, bands=original", "keltner", &[]),
];

impl Row {
    const fn form(
        label: &'static str,
        name: &'static str,
        args: &'static [(&'static str, Arg<'static>)],
    ) -> Row {
        Row { label, name, args, series: &[] }
    }

    const fn with_series(name: &'static str, series: &'static [&'static str]) -> Row {
        Row { label: name, name, args: &[], series }
    }

    /// Ten calls, as for TA-Lib: the first calls find the caches as other code left them, which
    /// depends on the order of the indicators. The first indicator of a round starts with the
    /// caches of another process and needs about five calls.
    fn time<T>(&self, who: &str, rows: usize, table: &mut Table, run: impl Fn() -> T) {
        for _ in 0..10 {
            let start = ThreadTime::now();
            let series = run();
            let spent = start.elapsed();
            drop(black_box(series));
            table.add(who, self.label, spent.as_nanos() as f64 / rows as f64);
        }
    }
}

pub(crate) fn batch(data: &Data, selected: &SelectedIndicators, table: &mut Table) -> Outcome<()> {
    let candles = data.candles()?;
    for name in ta::known().filter(|name| selected.has(name)) {
        let plain = [Row::form(name, name, &[])];
        let special: Vec<_> = ROWS.iter().filter(|row| row.name == name).collect();
        let rows = if special.is_empty() { plain.iter().collect() } else { special };
        for row in rows {
            let spec = Spec::parse(name, row.args)?;
            if row.series.is_empty() {
                row.time("ours", data.c.len(), table, || spec.batch(&candles));
            } else {
                row.time("ours", data.c.len(), table, || spec.batch_only(&candles, row.series));
                row.time("all series", data.c.len(), table, || spec.batch(&candles));
            }
        }
    }
    Ok(())
}

pub(crate) fn stream(data: &Data, selected: &SelectedIndicators, table: &mut Table) -> Outcome<()> {
    let candles = data.candles()?;
    let mut run = Run { candles: &candles, selected, table };
    run.one("macd", Macd::new(12, 26, 9, Parity::Ta)?);
    run.one("rsi", Rsi::new(14, Parity::Ta)?);
    run.one("atr", Atr::new(14, Parity::Ta)?);
    run.one("stoch", Stoch::new(14, 1, 3)?);
    run.one("vwap", Vwap::new(VwapSession::Continuous));
    run.one("vwap, session=day", Vwap::new(VwapSession::Day));
    run.one("ppo", Ppo::new(12, 26, 9, Parity::Ta)?);
    run.one("pvo", Pvo::new(12, 26, 9, Parity::Ta)?);
    Ok(())
}

struct Run<'a> {
    candles: &'a Candles<'a>,
    selected: &'a SelectedIndicators,
    table: &'a mut Table,
}

impl Run<'_> {
    fn one<I: Indicator<N>, const N: usize>(&mut self, name: &str, it: I) {
        if !self.selected.has(name.split(',').next().unwrap_or(name)) {
            return;
        }
        // Measured as a whole and number by number: storing an answer of three numbers can take a
        // tenth of the time to compute it. The better time counts, as for `ta`; the others are
        // called twice.
        self.time(name, it.clone(), |values| _ = black_box(values));
        self.time(name, it, |values| values.into_iter().for_each(|value| _ = black_box(value)));
    }

    #[inline(always)]
    fn time<I: Indicator<N>, const N: usize>(
        &mut self,
        name: &str,
        it: I,
        put_away: impl Fn([f64; N]),
    ) {
        let mut it = it;
        let start = ThreadTime::now();
        for candle in self.candles.iter() {
            put_away(it.update(&candle));
        }
        let spent = start.elapsed().as_nanos() as f64;
        self.table.add("ours", name, spent / self.candles.len() as f64);
    }
}
