//! Whole numbers: the schema type `number` of the contract also accepts fractions.

use fault::Fault;

/// Converts to a whole number, or refuses the named field.
pub(crate) fn whole(value: f64, field: &str) -> Result<u64, Fault> {
    // 2^53: larger floats skip whole numbers.
    const MOST: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && (0.0..=MOST).contains(&value) {
        return Ok(value as u64);
    }
    let message = format!("{field} is {value}, which is no whole number");
    Err(Fault::invalid("invalid_input", message).problem(field, "a whole number"))
}

/// Like [`whole`], for page numbers.
pub(crate) fn small(value: f64, field: &str) -> Result<u32, Fault> {
    u32::try_from(whole(value, field)?).map_err(|_| {
        let expected = format!("at most {}", u32::MAX);
        Fault::invalid("invalid_input", format!("{field} is {value}: expected {expected}"))
            .problem(field, expected)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_pass() {
        assert_eq!(whole(20.0, "x").unwrap(), 20);
        assert_eq!(small(4_294_967_295.0, "x").unwrap(), u32::MAX);
        assert_eq!(small(1e12, "x").unwrap_err().problems()[0].field, "x");
        for bad in [0.5, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            let fault = whole(bad, "pagination.limit").unwrap_err();
            assert_eq!(fault.problems()[0].field, "pagination.limit", "{bad}");
        }
    }
}
