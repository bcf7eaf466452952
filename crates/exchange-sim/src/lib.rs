//! exchange-sim
