//! Percentage volume oscillator: the line is 100 (fast - slow) / slow, of exponential averages of the
//! volume; the signal is an exponential average of the line; hist = line - signal.

use crate::indicator::erase;
use crate::signal_oscillator::{PARAMS, SignalOscillator};
use crate::spec::{Entry, Memory};

pub(crate) const ENTRY: Entry = Entry {
    name: "pvo",
    params: PARAMS,
    outputs: &["pvo", "pvo_signal", "pvo_hist"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Pvo::new(v.period(0), v.period(1), v.period(2), v.parity(3))?)),
};

/// Percentage volume oscillator.
pub type Pvo = SignalOscillator<true, true>;
