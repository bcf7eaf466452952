//! Numbers as people read them: rounded to the digits that matter, without trailing zeros.

/// Two decimals from 100 on, four from 1 on, and four significant digits below; `-` for no value.
pub(crate) fn figure(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let size = value.abs();
    let decimals = match size {
        100.0.. => 2,
        1.0.. => 4,
        // Prices of some symbols have eight zeros after the point.
        0.000_000_001.. => (-size.log10().floor()) as usize + 3,
        _ => return "0".to_owned(),
    };
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_the_digits_that_matter() {
        for (value, shown) in [
            (42.942_454_316, "42.9425"),
            (-1_121.598_032, "-1121.6"),
            (86_556.16, "86556.16"),
            (0.266_38, "0.2664"),
            (0.000_012_346, "0.00001235"),
            (100.0, "100"),
            (0.0, "0"),
            (1e-12, "0"),
            (f64::NAN, "-"),
            (f64::INFINITY, "-"),
        ] {
            assert_eq!(figure(value), shown, "{value}");
        }
    }
}
