//! The batch forms over whole columns, outputs allocated in the call. Two crates have none, and go
//! through the candles one by one into vectors.

mod kand;
mod plain;
mod talib;
mod wickra;

use crate::{Clock, Data};

pub(crate) fn all(d: &Data, t: &Clock<'_>) {
    talib::all(d, t);
    kand::all(d, t);
    wickra::all(d, t);
    plain::ta(d, t);
    plain::yata(d, t);
}

/// Outputs that a function fills.
fn made<const N: usize>(rows: usize, fill: impl FnOnce([&mut [f64]; N])) -> [Vec<f64>; N] {
    let mut out = std::array::from_fn(|_| vec![0.0; rows]);
    fill(out.each_mut().map(|column| column.as_mut_slice()));
    out
}
