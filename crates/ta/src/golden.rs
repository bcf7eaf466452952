//! Compares our values with the golden tables of Python `ta` and TA-Lib. `golden/make.py` generates
//! the tables and documents where they differ from the output of the libraries.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::laws::one_by_one;
use crate::{Arg, Candle, Candles, Spec};

/// The largest allowed difference, relative to the larger of the two values.
const TOLERANCE: f64 = 1e-9;

/// On some rows of these indicators the terms cancel out, so that only rounding remains and one of
/// the two values may be 0. Differences below this share of the largest value of the series are
/// ignored.
const ROUNDING: [(&str, f64); 4] =
    [("cmf", 5e-13), ("dpo", 1e-13), ("mfi", 2e-14), ("stochRsi", 1e-14)];

/// Marks a cell where the library has no value yet and we have one; no real value is infinite.
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

/// Owned columns of candles, which can be borrowed as `Candles`.
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

/// Returns the largest relative difference beyond rounding, or the first row where only one of the
/// two values is available.
fn largest_difference(ours: &[f64], theirs: &[f64], rounding: f64) -> Result<f64, String> {
    let known = theirs.iter().filter(|x| x.is_finite());
    let ignored = known.fold(0.0_f64, |m, x| m.max(x.abs())) * rounding;
    let mut worst = 0.0_f64;
    for (row, (a, b)) in ours.iter().zip(theirs).enumerate() {
        if *b == EARLY && a.is_finite() {
            continue;
        }
        if a.is_nan() != b.is_nan() {
            return Err(format!("row {row}: ours {a}, theirs {b}"));
        }
        let distance = (a - b).abs();
        if distance > ignored {
            worst = worst.max(distance / a.abs().max(b.abs()));
        }
    }
    Ok(worst)
}

/// The name and the text of each table.
fn tables() -> Vec<(String, String)> {
    let files = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let tables = files.filter(|file| file.extension().is_some_and(|e| e == "csv"));
    let named = tables.map(|file| {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(file).unwrap())
    });
    let mut all: Vec<_> = named.filter(|(name, _)| name != "candles").collect();
    all.sort();
    all
}

/// Every output of every indicator: its name, its parity if it has one, and its key.
fn outputs() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for name in crate::known() {
        let spec = Spec::parse(name, &[]).unwrap();
        let parities: &[_] = if has_parity(&spec) { &["ta", "talib"] } else { &[""] };
        for (parity, key) in
            parities.iter().flat_map(|parity| spec.outputs().iter().map(move |key| (parity, key)))
        {
            all.insert(format!("{name} {parity} {key}"));
        }
    }
    all
}

fn has_parity(spec: &Spec) -> bool {
    spec.params().iter().any(|param| param.name == "parity")
}

#[test]
fn every_indicator_matches_the_golden_tables() {
    let candles = candles();
    let owned = Owned::new(&candles);
    let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
    for (file, text) in tables() {
        let (header, rest) = text.split_once('\n').unwrap();
        let spec = spec(header);
        let parity = match (has_parity(&spec), header.contains("parity=talib")) {
            (false, _) => "",
            (true, false) => "ta",
            (true, true) => "talib",
        };
        let rounding = ROUNDING.iter().find(|(name, _)| *name == spec.name());
        let rounding = rounding.map_or(0.0, |(_, share)| *share);
        let forms = [spec.batch(&owned.candles()), one_by_one(&spec, &candles)];
        for (key, theirs) in read_table(rest.lines()) {
            seen.insert(format!("{} {parity} {key}", spec.name()));
            let index = spec.outputs().iter().position(|output| *output == key).unwrap();
            for (ours, form) in forms.iter().zip(["at once", "one by one"]) {
                match largest_difference(&ours[index], &theirs, rounding) {
                    Ok(worst) if worst <= TOLERANCE => println!("{file} {key} {form}: {worst:.1e}"),
                    Ok(worst) => wrong.push(format!("{file} {key} {form}: off by {worst:e}")),
                    Err(problem) => wrong.push(format!("{file} {key} {form}: {problem}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let without: Vec<_> = outputs().difference(&seen).cloned().collect();
    assert!(without.is_empty(), "without a table: {}", without.join(", "));
}
