//! On-balance volume: the running sum of the volume, taken negative where the close fell.
//!
//! In `ta` a close that did not move counts as a rise, in TA-Lib it counts for nothing. Both count
//! the first candle.

use super::flow_total::{Flow, FlowTotal};
use crate::Parity;
use crate::indicator::erase;
use crate::spec::{Entry, Memory, Param};

pub(crate) const ENTRY: Entry = Entry {
    name: "obv",
    params: &[Param::parity()],
    outputs: &["obv"],
    memory: |_| Memory::Cumulative,
    build: |v| match v.parity(0) {
        Parity::Ta => Ok(erase(Obv::default())),
        Parity::TaLib => Ok(erase(StrictObv::default())),
    },
};

/// As in `ta`.
pub type Obv = FlowTotal<SignedVolume<true>>;

/// As in TA-Lib.
pub type StrictObv = FlowTotal<SignedVolume<false>>;

/// The volume, and whether it counts where the close stands still.
#[derive(Clone, Debug)]
pub struct SignedVolume<const STILL: bool>;

impl<const STILL: bool> Flow for SignedVolume<STILL> {
    const WARMUP: usize = 0;

    #[inline(always)]
    fn change(close: f64, volume: f64, before: f64) -> f64 {
        if close < before {
            return -volume;
        }
        // Times zero, so that a volume that is not known leaves the sum unknown.
        if !STILL && close == before { volume * 0.0 } else { volume }
    }
}
