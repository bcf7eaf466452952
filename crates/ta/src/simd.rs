//! The same code compiled twice, for the oldest machine of its kind and for one with wide
//! registers; which of the two runs is decided where it runs.
//!
//! Only what is inlined into the closure is compiled twice: batch forms and all they call are
//! `#[inline(always)]`.

use multiversion::multiversion;

/// Runs the closure with the widest SIMD instructions that the machine has.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+movbe+popcnt"))]
pub(crate) fn with_widest_simd<R, F: FnOnce() -> R>(run: F) -> R {
    run()
}
