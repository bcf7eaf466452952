//! Rectangles on a page, in points of its user space.

use super::content::Matrix;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) bottom: f64,
    pub(super) right: f64,
    pub(super) top: f64,
}

impl Area {
    /// Between two opposite corners.
    pub(super) fn new(a: (f64, f64), b: (f64, f64)) -> Self {
        Self { left: a.0.min(b.0), bottom: a.1.min(b.1), right: a.0.max(b.0), top: a.1.max(b.1) }
    }

    /// The smallest area around this one after a transformation.
    pub(super) fn transformed(&self, matrix: &Matrix) -> Self {
        let at = |x, y| apply(matrix, (x, y));
        let (a, b) = (at(self.left, self.bottom), at(self.right, self.top));
        let (c, d) = (at(self.left, self.top), at(self.right, self.bottom));
        Self::new(a, b).union(&Self::new(c, d))
    }

    /// The area of a picture, which is drawn into the unit square.
    pub(super) fn of_unit_square(matrix: &Matrix) -> Self {
        Self { left: 0.0, bottom: 0.0, right: 1.0, top: 1.0 }.transformed(matrix)
    }

    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.top - self.bottom
    }

    /// In square points.
    pub(super) fn size(&self) -> f64 {
        self.width() * self.height()
    }

    pub(super) fn is_finite(&self) -> bool {
        [self.left, self.bottom, self.right, self.top].iter().all(|it| it.is_finite())
    }

    pub(super) fn contains(&self, (x, y): (f64, f64)) -> bool {
        self.left <= x && x <= self.right && self.bottom <= y && y <= self.top
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        Self {
            left: self.left.min(other.left),
            bottom: self.bottom.min(other.bottom),
            right: self.right.max(other.right),
            top: self.top.max(other.top),
        }
    }

    /// What both have in common; `None` if they do not overlap.
    pub(super) fn intersection(&self, other: &Self) -> Option<Self> {
        let both = Self {
            left: self.left.max(other.left),
            bottom: self.bottom.max(other.bottom),
            right: self.right.min(other.right),
            top: self.top.min(other.top),
        };
        (both.left < both.right && both.bottom < both.top).then_some(both)
    }

    /// Larger by this on every side.
    pub(super) fn grown(&self, by: f64) -> Self {
        Self {
            left: self.left - by,
            bottom: self.bottom - by,
            right: self.right + by,
            top: self.top + by,
        }
    }
}

pub(super) fn apply(matrix: &Matrix, (x, y): (f64, f64)) -> (f64, f64) {
    (x * matrix[0] + y * matrix[2] + matrix[4], x * matrix[1] + y * matrix[3] + matrix[5])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_square_has_its_bounds() {
        let area = Area::of_unit_square(&[0.0, 20.0, -10.0, 0.0, 100.0, 50.0]);
        assert_eq!(area, Area::new((90.0, 50.0), (100.0, 70.0)));
        assert_eq!((area.width(), area.height(), area.size()), (10.0, 20.0, 200.0));
    }

    #[test]
    fn areas_that_touch_have_nothing_in_common() {
        let low = Area::new((0.0, 0.0), (10.0, 10.0));
        let high = Area::new((0.0, 10.0), (10.0, 20.0));
        assert_eq!(low.intersection(&high), None);
        assert_eq!(low.grown(1.0).intersection(&high).map(|it| it.height()), Some(1.0));
        assert_eq!(low.union(&high).size(), 200.0);
    }
}
