//! Percentage price oscillator: the line is 100 (fast - slow) / slow, of exponential averages of the
//! close; the signal is an exponential average of the line; hist = line - signal.

use crate::indicator::erase;
use crate::signal_oscillator::{PARAMS, SignalOscillator};
use crate::spec::{Entry, Memory};

pub(crate) const ENTRY: Entry = Entry {
    name: "ppo",
    params: PARAMS,
    outputs: &["ppo", "ppo_signal", "ppo_hist"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Ppo::new(v.period(0), v.period(1), v.period(2), v.parity(3))?)),
};

/// Percentage price oscillator of the close.
pub type Ppo = SignalOscillator<true, false>;
