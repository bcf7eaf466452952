//! Return in percent: 100 (C / C' - 1), C' being the close before.

use super::close_change::{ChangeFormula, CloseChange};
use crate::indicator::erase;
use crate::spec::{Entry, Memory};

pub(crate) const ENTRY: Entry = Entry {
    name: "dailyReturn",
    params: &[],
    outputs: &["d_ret"],
    memory: |_| Memory::Windowed,
    build: |_| Ok(erase(DailyReturn::default())),
};

/// Return in percent since the previous close.
pub type DailyReturn = CloseChange<RatioFormula>;

#[derive(Clone, Debug)]
pub struct RatioFormula;

impl ChangeFormula for RatioFormula {
    #[inline(always)]
    fn of(close: f64) -> f64 {
        close
    }

    #[inline(always)]
    fn change(now: f64, before: f64) -> f64 {
        (now / before - 1.0) * 100.0
    }
}
