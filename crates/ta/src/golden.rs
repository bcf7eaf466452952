//! The golden tables: values that Python `ta` and TA-Lib gave, beside what we give. They are made
//! by `golden/make.py`, which also says where they differ from what the libraries print.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::{Arg, Candle, Candles, Spec};

/// Relative to the larger of the two values.
const TOLERANCE: f64 = 1e-9;

/// Where values that cancel out come close to zero, they are compared on the scale of what they
/// were made of: this much of the largest value of the series.
const FLOOR: f64 = 1e-3;

/// Stands where a library shows no value yet and we do, which no value is.
const EARLY: f64 = f64::INFINITY;

type Columns = Vec<(String, Vec<f64>)>;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden")
}

fn read_table<'a>(mut lines: impl Iterator<Item = &'a str>) -> Columns {
    let names = lines.next().unwrap().split(',');
    let mut columns: Columns = names.map(|name| (name.to_owned(), Vec::new())).collect();
    for line in lines {
        for (column, cell) in columns.iter_mut().zip(line.split(',')) {
            column.1.push(match cell {
                "" => f64::NAN,
                "?" => EARLY,
                _ => cell.parse().unwrap(),
            });
        }
    }
    columns
}

pub(crate) fn candles() -> Vec<Candle> {
    let text = fs::read_to_string(folder().join("candles.csv")).unwrap();
    let columns = read_table(text.lines());
    let at = |column: usize, row: usize| columns[column].1[row];
    let rows = 0..columns[0].1.len();
    rows.map(|i| Candle {
        t: at(0, i) as i64,
        o: at(1, i),
        h: at(2, i),
        l: at(3, i),
        c: at(4, i),
        v: at(5, i),
    })
    .collect()
}

/// Columns of candles, to be borrowed as `Candles`.
pub(crate) struct Owned(Vec<i64>, [Vec<f64>; 5]);

impl Owned {
    pub(crate) fn new(candles: &[Candle]) -> Owned {
        let column = |field: fn(&Candle) -> f64| candles.iter().map(field).collect();
        let prices = [column(|c| c.o), column(|c| c.h), column(|c| c.l), column(|c| c.c)];
        let [o, h, l, c] = prices;
        Owned(candles.iter().map(|c| c.t).collect(), [o, h, l, c, column(|c| c.v)])
    }

    pub(crate) fn candles(&self) -> Candles<'_> {
        let [o, h, l, c, v] = &self.1;
        Candles::new(&self.0, o, h, l, c, v).unwrap()
    }
}

fn spec(header: &str) -> Spec {
    let mut words = header.split(' ');
    let name = words.next().unwrap();
    let args: Vec<_> = words
        .map(|word| {
            let (name, value) = word.split_once('=').unwrap();
            (name, value.parse().map_or(Arg::Text(value), Arg::Number))
        })
        .collect();
    Spec::parse(name, &args).unwrap()
}

/// The largest relative difference, or where one value is available and the other is not.
fn differs(ours: &[f64], theirs: &[f64]) -> Result<f64, String> {
    let largest = theirs.iter().filter(|x| x.is_finite()).fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut worst = 0.0_f64;
    for (row, (a, b)) in ours.iter().zip(theirs).enumerate() {
        if *b == EARLY && a.is_finite() {
            continue;
        }
        if a.is_nan() != b.is_nan() {
            return Err(format!("row {row}: ours {a}, theirs {b}"));
        }
        let scale = a.abs().max(b.abs()).max(largest * FLOOR).max(f64::MIN_POSITIVE);
        worst = worst.max(if a.is_nan() { 0.0 } else { (a - b).abs() / scale });
    }
    Ok(worst)
}

#[test]
fn every_indicator_gives_what_the_libraries_give() {
    let owned = Owned::new(&candles());
    let mut files: Vec<_> =
        fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "csv")) {
        if file.file_stem().is_some_and(|stem| stem == "candles") {
            continue;
        }
        let text = fs::read_to_string(file).unwrap();
        let (header, rest) = text.split_once('\n').unwrap();
        let spec = spec(header);
        seen.insert(spec.name());
        let ours = spec.batch(&owned.candles());
        for (name, theirs) in read_table(rest.lines()) {
            let index = spec.outputs().iter().position(|output| *output == name).unwrap();
            match differs(&ours[index], &theirs) {
                Ok(worst) if worst <= TOLERANCE => println!("{spec} {name}: {worst:.1e}"),
                Ok(worst) => wrong.push(format!("{spec} {name}: off by {worst:e}")),
                Err(problem) => wrong.push(format!("{spec} {name}: {problem}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen, crate::known().collect(), "every indicator has a table");
}
