//! Deterministic pseudo-random draws: each depends only on its arguments.

/// A draw between 0 and 1 for a seed, a day and a purpose.
pub(crate) fn uniform(seed: u64, day: i64, purpose: u64) -> f64 {
    let mut x = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add((day as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9))
        .wrapping_add(purpose.wrapping_mul(0x94d0_49bb_1331_11eb));
    for _ in 0..2 {
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
    }
    (x >> 11) as f64 / (1_u64 << 53) as f64
}

/// A draw from the normal distribution, by the method of Box and Muller.
pub(crate) fn normal(seed: u64, day: i64, purpose: u64) -> f64 {
    let radius = (-2.0 * uniform(seed, day, purpose * 2 + 1_000).max(1e-300).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(seed, day, purpose * 2 + 1_001)).cos()
}

/// Between two numbers.
pub(crate) fn between(seed: u64, purpose: u64, low: f64, high: f64) -> f64 {
    low + (high - low) * uniform(seed, -1, purpose)
}
