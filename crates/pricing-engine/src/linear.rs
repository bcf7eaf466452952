//! Linear algebra for a regression with about twelve columns.

/// A symmetric positive definite system, solved by Cholesky's method.
pub(crate) struct Cholesky {
    size: usize,
    /// The lower triangle, row by row.
    lower: Vec<f64>,
}

impl Cholesky {
    /// `None` if the matrix is not positive definite or not finite.
    pub(crate) fn of(matrix: &[f64], size: usize) -> Option<Self> {
        let mut lower = vec![0.0; size * size];
        for row in 0..size {
            for column in 0..=row {
                let done: f64 =
                    (0..column).map(|k| lower[row * size + k] * lower[column * size + k]).sum();
                let rest = matrix[row * size + column] - done;
                lower[row * size + column] = if row == column {
                    if !(rest > 0.0 && rest.is_finite()) {
                        return None;
                    }
                    rest.sqrt()
                } else {
                    rest / lower[column * size + column]
                };
            }
        }
        Some(Self { size, lower })
    }

    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut found = self.forward(right);
        for row in (0..self.size).rev() {
            let done: f64 =
                (row + 1..self.size).map(|k| self.lower[k * self.size + row] * found[k]).sum();
            found[row] = (found[row] - done) / self.lower[row * self.size + row];
        }
        found
    }

    /// `vᵀ M⁻¹ v`: the variance of the combination `v` if `M` is a precision matrix.
    pub(crate) fn variance(&self, combination: &[f64]) -> f64 {
        self.forward(combination).iter().map(|it| it * it).sum()
    }

    fn forward(&self, right: &[f64]) -> Vec<f64> {
        let mut found = right.to_vec();
        for row in 0..self.size {
            let done: f64 = (0..row).map(|k| self.lower[row * self.size + k] * found[k]).sum();
            found[row] = (found[row] - done) / self.lower[row * self.size + row];
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_system_is_solved() {
        let matrix = [4.0, 2.0, 0.6, 2.0, 3.0, 0.4, 0.6, 0.4, 2.0];
        let cholesky = Cholesky::of(&matrix, 3).unwrap();
        let found = cholesky.solve(&[9.8, 9.2, 7.4]);
        for (row, expected) in [9.8, 9.2, 7.4].into_iter().enumerate() {
            let product: f64 = (0..3).map(|k| matrix[row * 3 + k] * found[k]).sum();
            assert!((product - expected).abs() < 1e-12);
        }
        assert!((Cholesky::of(&[4.0], 1).unwrap().variance(&[2.0]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_singular_system_has_no_solution() {
        assert!(Cholesky::of(&[1.0, 1.0, 1.0, 1.0], 2).is_none());
        assert!(Cholesky::of(&[f64::NAN], 1).is_none());
        assert!(Cholesky::of(&[f64::INFINITY], 1).is_none());
    }
}
