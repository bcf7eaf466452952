//! Times Rust crates over candles in a file.
//!
//! Each line `round FORM [INDICATOR...]` on standard input, where the form is `stream` or `batch`, is
//! answered with one line `crate<TAB>indicator<TAB>ns per candle` per measurement and a line `end`.
//! Candles are in each crate's own form before the clock starts.

mod batch;
mod stream;

use std::hint::black_box;
use std::io::BufRead;

use cpu_time::ThreadTime;
use peer_ta::DataItem;
use wickra::Candle;

pub(crate) struct Data {
    pub(crate) h: Vec<f64>,
    pub(crate) l: Vec<f64>,
    pub(crate) c: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) items: Vec<DataItem>,
    pub(crate) candles: Vec<Candle>,
    pub(crate) yata: Vec<yata::core::Candle>,
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
        Data { h, l, c, v, items, candles, yata }
    }
}

/// What is timed, and how many times in a row.
pub(crate) struct Clock<'a> {
    rows: usize,
    only: &'a [&'a str],
    calls: usize,
}

impl Clock<'_> {
    /// What `run` gives is dropped after the clock has stopped.
    pub(crate) fn time<T>(&self, who: &str, name: &str, mut run: impl FnMut() -> T) {
        let indicator = name.split(',').next().unwrap_or(name);
        if !self.only.is_empty() && !self.only.contains(&indicator) {
            return;
        }
        for _ in 0..self.calls {
            let start = ThreadTime::now();
            let given = run();
            let spent = start.elapsed().as_nanos() as f64;
            drop(black_box(given));
            println!("{who}\t{name}\t{:.4}", spent / self.rows as f64);
        }
    }
}

fn main() {
    let data = Data::read();
    let rows = data.c.len();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let words: Vec<_> = line.split_whitespace().collect();
        let only = words.get(2..).unwrap_or_default();
        match words.get(1) {
            Some(&"batch") => batch::all(&data, &Clock { rows, only, calls: 2 }),
            _ => stream::all(&data, &Clock { rows, only, calls: 2 }),
        }
        println!("end");
    }
}
