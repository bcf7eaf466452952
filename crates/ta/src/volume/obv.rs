//! On-balance volume: the running sum of the volume, taken negative where the close fell.
//!
//! In `ta` an unchanged close counts as a rise, in TA-Lib it adds 0. Both add the volume of the
//! first candle.

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

/// On-balance volume of Python `ta`: an unchanged close adds the volume.
pub type Obv = FlowTotal<SignedVolume<true>>;

/// On-balance volume of TA-Lib: an unchanged close adds 0.
pub type StrictObv = FlowTotal<SignedVolume<false>>;

/// The volume with the sign of the change; `STILL` adds it at an unchanged close.
#[derive(Clone, Debug)]
pub struct SignedVolume<const STILL: bool>;

impl<const STILL: bool> Flow for SignedVolume<STILL> {
    const WARMUP: usize = 0;

    #[inline(always)]
    fn change(close: f64, volume: f64, before: f64) -> f64 {
        if close < before {
            return -volume;
        }
        // Times 0 instead of 0, so that a NaN volume gives NaN.
        if !STILL && close == before { volume * 0.0 } else { volume }
    }
}
