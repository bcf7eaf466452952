//! Times the incremental forms of Rust crates over candles in a file.
//!
//! Each line on standard input is answered with one line `crate<TAB>indicator<TAB>ns per candle`
//! per measurement and a line `end`. Candles are in each crate's own form before the clock starts.

use std::hint::black_box;
use std::io::BufRead;
use cpu_time::ThreadTime;

use peer_ta::{DataItem, Next};
use ta_lib::{Core, MAType};
use wickra::{Candle, Indicator};
use yata::core::{IndicatorConfig, IndicatorInstance};

struct Data {
    o: Vec<f64>,
    h: Vec<f64>,
    l: Vec<f64>,
    c: Vec<f64>,
    v: Vec<f64>,
    items: Vec<DataItem>,
    candles: Vec<Candle>,
    yata: Vec<yata::core::Candle>,
}

impl Data {
    fn read() -> Data {
        let mut args = std::env::args().skip(1);
        let bytes = std::fs::read(args.next().unwrap()).unwrap();
        let rows: usize = args.next().unwrap().parse().unwrap();
        let all: Vec<f64> =
            bytes.as_chunks::<8>().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect();
        let column = |index: usize| all[index * rows..(index + 1) * rows].to_vec();
        let (o, h, l, c, v) = (column(0), column(1), column(2), column(3), column(4));
        let item = |i: usize| {
            let builder = DataItem::builder().open(o[i]).high(h[i]).low(l[i]).close(c[i]);
            builder.volume(v[i]).build().unwrap()
        };
        let items = (0..rows).map(item).collect();
        let candle = |i: usize| Candle::new(o[i], h[i], l[i], c[i], v[i], i as i64 * 60_000);
        let candles = (0..rows).map(|i| candle(i).unwrap()).collect();
        let yata = (0..rows)
            .map(|i| yata::core::Candle {
                open: o[i],
                high: h[i],
                low: l[i],
                close: c[i],
                volume: v[i],
            })
            .collect();
        Data { o, h, l, c, v, items, candles, yata }
    }
}

fn time(name: &str, rows: usize, mut run: impl FnMut()) {
    let start = ThreadTime::now();
    run();
    println!("{name}\t{:.4}", start.elapsed().as_nanos() as f64 / rows as f64);
}

fn ta(d: &Data) {
    use peer_ta::indicators::*;
    let rows = d.c.len();
    let mut macd = MovingAverageConvergenceDivergence::new(12, 26, 9).unwrap();
    time("ta\tmacd", rows, || d.c.iter().for_each(|x| _ = black_box(macd.next(*x))));
    let mut rsi = RelativeStrengthIndex::new(14).unwrap();
    time("ta\trsi", rows, || d.c.iter().for_each(|x| _ = black_box(rsi.next(*x))));
    let mut atr = AverageTrueRange::new(14).unwrap();
    time("ta\tatr", rows, || d.items.iter().for_each(|x| _ = black_box(atr.next(x))));
    let mut stoch = SlowStochastic::new(14, 3).unwrap();
    time("ta\tstoch", rows, || d.items.iter().for_each(|x| _ = black_box(stoch.next(x))));
    let mut ppo = PercentagePriceOscillator::new(12, 26, 9).unwrap();
    time("ta\tppo", rows, || d.c.iter().for_each(|x| _ = black_box(ppo.next(*x))));
    let mut pvo = PercentagePriceOscillator::new(12, 26, 9).unwrap();
    time("ta\tpvo", rows, || d.v.iter().for_each(|x| _ = black_box(pvo.next(*x))));
}

fn ta_lib(d: &Data) {
    let rows = d.c.len();
    let core = Core::new();
    let first = 100;
    let (h, l, c, v) = (&d.h[..first], &d.l[..first], &d.c[..first], &d.v[..first]);
    let rest = || first..rows;
    let mut macd = core.macd_open(c, 12, 26, 9).unwrap().0;
    time("ta-lib\tmacd", rows, || rest().for_each(|i| _ = black_box(macd.update(d.c[i]))));
    let mut rsi = core.rsi_open(c, 14).unwrap().0;
    time("ta-lib\trsi", rows, || rest().for_each(|i| _ = black_box(rsi.update(d.c[i]))));
    let mut atr = core.atr_open(h, l, c, 14).unwrap().0;
    time("ta-lib\tatr", rows, || {
        rest().for_each(|i| _ = black_box(atr.update(d.h[i], d.l[i], d.c[i])));
    });
    let mut stoch = core.stoch_open(h, l, c, 14, 1, MAType::SMA, 3, MAType::SMA).unwrap().0;
    time("ta-lib\tstoch", rows, || {
        rest().for_each(|i| _ = black_box(stoch.update(d.h[i], d.l[i], d.c[i])));
    });
    let mut vwap = core.vwap_open(h, l, c, v).unwrap().0;
    time("ta-lib\tvwap", rows, || {
        rest().for_each(|i| _ = black_box(vwap.update(d.h[i], d.l[i], d.c[i], d.v[i])));
    });
    let mut ppo = core.ppo_open(c, 12, 26, MAType::EMA).unwrap().0;
    time("ta-lib\tppo", rows, || rest().for_each(|i| _ = black_box(ppo.update(d.c[i]))));
    let mut pvo = core.ppo_open(v, 12, 26, MAType::EMA).unwrap().0;
    time("ta-lib\tpvo", rows, || rest().for_each(|i| _ = black_box(pvo.update(d.v[i]))));
}

fn wickra(d: &Data) {
    let rows = d.c.len();
    let mut macd = wickra::MacdIndicator::new(12, 26, 9).unwrap();
    time("wickra\tmacd", rows, || d.c.iter().for_each(|x| _ = black_box(macd.update(*x))));
    let mut rsi = wickra::Rsi::new(14).unwrap();
    time("wickra\trsi", rows, || d.c.iter().for_each(|x| _ = black_box(rsi.update(*x))));
    let mut atr = wickra::Atr::new(14).unwrap();
    time("wickra\tatr", rows, || d.candles.iter().for_each(|x| _ = black_box(atr.update(*x))));
    let mut stoch = wickra::Stochastic::new(14, 3).unwrap();
    time("wickra\tstoch", rows, || d.candles.iter().for_each(|x| _ = black_box(stoch.update(*x))));
    let mut vwap = wickra::Vwap::new();
    time("wickra\tvwap", rows, || d.candles.iter().for_each(|x| _ = black_box(vwap.update(*x))));
    let mut ppo = wickra::Ppo::new(12, 26).unwrap();
    time("wickra\tppo", rows, || d.c.iter().for_each(|x| _ = black_box(ppo.update(*x))));
    let mut pvo = wickra::Ppo::new(12, 26).unwrap();
    time("wickra\tpvo", rows, || d.v.iter().for_each(|x| _ = black_box(pvo.update(*x))));
}

fn kand(d: &Data) {
    use kand::ohlcv::{atr, macd, rsi, vwap};
    let rows = d.c.len();
    // Averages in the place of the first values: only the steps are timed.
    let (mut fast, mut slow, mut signal) = (d.c[0], d.c[0], 0.0);
    time("kand\tmacd", rows, || {
        for x in &d.c {
            // The caller keeps both averages, so it has to work them out as well.
            let (line, next, hist) = macd::macd_inc(*x, fast, slow, signal, 12, 26, 9).unwrap();
            fast += (x - fast) * 2.0 / 13.0;
            slow += (x - slow) * 2.0 / 27.0;
            signal = next;
            black_box((line, next, hist));
        }
    });
    let (mut before, mut gain, mut loss) = (d.c[0], 0.1, 0.1);
    time("kand\trsi", rows, || {
        for x in &d.c {
            let value;
            (value, gain, loss) = rsi::rsi_inc(*x, before, gain, loss, 14).unwrap();
            before = *x;
            black_box(value);
        }
    });
    let (mut close, mut range) = (d.c[0], 1.0);
    time("kand\tatr", rows, || {
        for i in 0..rows {
            range = atr::atr_inc(d.h[i], d.l[i], close, range, 14).unwrap();
            close = d.c[i];
            black_box(range);
        }
    });
    let (mut traded, mut volume) = (0.0, 0.0);
    time("kand\tvwap", rows, || {
        for i in 0..rows {
            let value;
            (traded, volume, value) =
                vwap::vwap_inc(d.h[i], d.l[i], d.c[i], d.v[i], traded, volume).unwrap();
            black_box(value);
        }
    });
}

fn yata(d: &Data) {
    use yata::indicators::{MACD, RSI, StochasticOscillator};
    let rows = d.c.len();
    let first = &d.yata[0];
    let mut macd = MACD::default().init(first).unwrap();
    time("yata\tmacd", rows, || d.yata.iter().for_each(|x| _ = black_box(macd.next(x))));
    let mut rsi = RSI::default().init(first).unwrap();
    time("yata\trsi", rows, || d.yata.iter().for_each(|x| _ = black_box(rsi.next(x))));
    let mut stoch = StochasticOscillator::default().init(first).unwrap();
    time("yata\tstoch", rows, || d.yata.iter().for_each(|x| _ = black_box(stoch.next(x))));
}

fn main() {
    let data = Data::read();
    assert_eq!(data.o.len(), data.c.len());
    for line in std::io::stdin().lock().lines() {
        if line.is_err() {
            return;
        }
        for crate_ in [ta, ta_lib, wickra, kand, yata] {
            crate_(&data);
        }
        println!("end");
    }
}
