//! Logarithmic return in percent: 100 (ln C - ln C'), C' being the close before.

use super::since::{Measure, Since};
use crate::indicator::erase;
use crate::spec::{Entry, Memory};

pub(crate) const ENTRY: Entry = Entry {
    name: "logReturn",
    params: &[],
    outputs: &["d_logret"],
    memory: |_| Memory::Windowed,
    build: |_| Ok(erase(LogReturn::default())),
};

pub type LogReturn = Since<Logarithm>;

#[derive(Clone, Debug)]
pub struct Logarithm;

impl Measure for Logarithm {
    #[inline(always)]
    fn of(close: f64) -> f64 {
        close.ln()
    }

    #[inline(always)]
    fn change(now: f64, before: f64) -> f64 {
        (now - before) * 100.0
    }
}
