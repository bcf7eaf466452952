//! Reads counts from arguments of the schema type `number`, which also accepts fractions.

/// The largest whole number that is not above the value, at most 2^53, above which floats skip
/// whole numbers; 0 for negative values.
pub(crate) fn rounded_down(value: f64) -> u64 {
    const MOST: u64 = 9_007_199_254_740_992;
    // The cast cuts off the fraction, and turns negative numbers and NaN into 0.
    (value as u64).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_counts_as_the_whole_number_below() {
        let rows = [(20.0, 20), (1.0, 1), (2.5, 2), (0.9, 0), (-1.0, 0), (f64::NAN, 0)];
        for (value, expected) in rows {
            assert_eq!(rounded_down(value), expected, "{value}");
        }
        assert_eq!(rounded_down(1e300), 9_007_199_254_740_992);
    }
}
