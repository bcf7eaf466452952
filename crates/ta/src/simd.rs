//! Compiles the batch loops twice, for baseline x86-64 and for AVX2 with FMA, and selects one at
//! run time.
//!
//! Only code inlined into the closure is compiled twice, so batch forms and everything they call
//! are `#[inline(always)]`.

use multiversion::multiversion;

/// Runs the closure with the widest SIMD instructions of the CPU.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+movbe+popcnt"))]
pub(crate) fn with_widest_simd<R, F: FnOnce() -> R>(run: F) -> R {
    run()
}
