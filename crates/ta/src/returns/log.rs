//! Logarithmic return in percent: 100 (ln C - ln C'), C' being the close before.

use super::close_change::{ChangeFormula, CloseChange};
use crate::indicator::erase;
use crate::spec::{Entry, Memory};

pub(crate) const ENTRY: Entry = Entry {
    name: "logReturn",
    params: &[],
    outputs: &["d_logret"],
    memory: |_| Memory::Windowed,
    build: |_| Ok(erase(LogReturn::default())),
};

/// Logarithmic return in percent since the previous close.
pub type LogReturn = CloseChange<LogFormula>;

#[derive(Clone, Debug)]
pub struct LogFormula;

impl ChangeFormula for LogFormula {
    #[inline(always)]
    fn of(close: f64) -> f64 {
        close.ln()
    }

    #[inline(always)]
    fn change(now: f64, before: f64) -> f64 {
        (now - before) * 100.0
    }
}
