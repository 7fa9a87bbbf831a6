//! Projective maps: how a flat page looks from anywhere.

/// Places on the page to places on the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Homography(pub [f64; 8]);

/// A pair of numbers: a place.
pub(super) type Place = (f64, f64);

impl Homography {
    /// Where a place of the page is on the picture.
    #[inline]
    pub(super) fn at(&self, (u, v): Place) -> Place {
        let h = &self.0;
        let w = h[6] * u + h[7] * v + 1.0;
        ((h[0] * u + h[1] * v + h[2]) / w, (h[3] * u + h[4] * v + h[5]) / w)
    }

    /// The map that takes some places nearest to others (four or more, no three of four on a line); those of a weight
    /// count as much. Smallest sum of squares of an algebraic error, on coordinates made comparable (R. Hartley & A.
    /// Zisserman, "Multiple View Geometry", 2004, chapter 4).
    pub(super) fn fit(pairs: &[(Place, Place)]) -> Option<Self> {
        let scale = |of: fn(&(Place, Place)) -> Place| {
            let count = pairs.len() as f64;
            let sum = pairs.iter().map(of).fold((0.0, 0.0), |sum, at| (sum.0 + at.0, sum.1 + at.1));
            let center = (sum.0 / count, sum.1 / count);
            let away = pairs.iter().map(of).map(|at| (at.0 - center.0).abs() + (at.1 - center.1).abs());
            (center, away.sum::<f64>() / count)
        };
        let ((page, page_size), (picture, picture_size)) = (scale(|pair| pair.0), scale(|pair| pair.1));
        if !(page_size > 0.0 && picture_size > 0.0) {
            return None;
        }
        let mut system = System::<8>::default();
        for &(from, to) in pairs {
            let (u, v) = ((from.0 - page.0) / page_size, (from.1 - page.1) / page_size);
            let (x, y) = ((to.0 - picture.0) / picture_size, (to.1 - picture.1) / picture_size);
            system.add([u, v, 1.0, 0.0, 0.0, 0.0, -u * x, -v * x], x, 1.0);
            system.add([0.0, 0.0, 0.0, u, v, 1.0, -u * y, -v * y], y, 1.0);
        }
        let h = system.solve()?;
        // Undo the change of coordinates: picture scale * h * page scale.
        let rows = [[h[0], h[1], h[2]], [h[3], h[4], h[5]], [h[6], h[7], 1.0]];
        let page_side = rows.map(|[a, b, c]| {
            let (a, b) = (a / page_size, b / page_size);
            [a, b, c - a * page.0 - b * page.1]
        });
        let [x, y, w] = page_side;
        let mix = |row: [f64; 3], center: f64| {
            [0, 1, 2].map(|column| row[column] * picture_size + center * w[column])
        };
        let (x, y) = (mix(x, picture.0), mix(y, picture.1));
        let one = w[2];
        if one.abs() < 1e-12 {
            return None;
        }
        let all = [x[0], x[1], x[2], y[0], y[1], y[2], w[0], w[1]].map(|value| value / one);
        all.iter().all(|value| value.is_finite()).then_some(Self(all))
    }

    /// The same with the page counted from another place, and in other units: what is at `offset + scale * place` now.
    pub(super) fn moved(&self, offset: Place, scale: Place) -> Self {
        let h = &self.0;
        let w = h[6] * offset.0 + h[7] * offset.1 + 1.0;
        let row = |a: f64, b: f64, c: f64| [a * scale.0, b * scale.1, a * offset.0 + b * offset.1 + c];
        let (x, y) = (row(h[0], h[1], h[2]), row(h[3], h[4], h[5]));
        Self([x[0], x[1], x[2], y[0], y[1], y[2], h[6] * scale.0, h[7] * scale.1].map(|value| value / w))
    }

    /// How the place on the picture of a place of the page changes with each of the numbers.
    pub(super) fn derivatives(&self, (u, v): Place) -> [Place; 8] {
        let h = &self.0;
        let w = h[6] * u + h[7] * v + 1.0;
        let (x, y) = self.at((u, v));
        let (u, v, one) = (u / w, v / w, 1.0 / w);
        [(u, 0.0), (v, 0.0), (one, 0.0), (0.0, u), (0.0, v), (0.0, one), (-u * x, -u * y), (-v * x, -v * y)]
    }
}

/// Equations for `N` unknowns, to be solved in the sense of least squares.
pub(super) struct System<const N: usize> {
    matrix: [[f64; N]; N],
    right: [f64; N],
}

impl<const N: usize> Default for System<N> {
    fn default() -> Self {
        Self { matrix: [[0.0; N]; N], right: [0.0; N] }
    }
}

impl<const N: usize> System<N> {
    /// Adds an equation: the coefficients times the unknowns are `right`.
    pub(super) fn add(&mut self, coefficients: [f64; N], right: f64, weight: f64) {
        for (row, &a) in coefficients.iter().enumerate() {
            let a = a * weight;
            for (sum, &b) in self.matrix[row].iter_mut().zip(&coefficients) {
                *sum += a * b;
            }
            self.right[row] += a * right;
        }
    }

    /// Keeps an unknown near zero.
    pub(super) fn damp(&mut self, unknown: usize, weight: f64) {
        self.matrix[unknown][unknown] += weight;
    }

    /// The unknowns, by elimination with pivots; `None` when they are not determined.
    pub(super) fn solve(mut self) -> Option<[f64; N]> {
        for column in 0..N {
            let size = |row: &usize| self.matrix[*row][column].abs();
            let pivot = (column..N).reduce(|a, b| if size(&b) > size(&a) { b } else { a })?;
            self.matrix.swap(column, pivot);
            self.right.swap(column, pivot);
            let top = self.matrix[column];
            if top[column].abs() < 1e-12 {
                return None;
            }
            for row in column + 1..N {
                let factor = self.matrix[row][column] / top[column];
                for (value, &above) in self.matrix[row].iter_mut().zip(&top).skip(column) {
                    *value -= factor * above;
                }
                self.right[row] -= factor * self.right[column];
            }
        }
        let mut solution = [0.0; N];
        for row in (0..N).rev() {
            let known: f64 = (row + 1..N).map(|column| self.matrix[row][column] * solution[column]).sum();
            solution[row] = (self.right[row] - known) / self.matrix[row][row];
        }
        Some(solution)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: Homography = Homography([31.0, 4.0, 120.0, -3.0, 28.0, 95.0, 0.004, -0.002]);

    #[test]
    fn a_map_is_found_again_from_places() {
        let places: Vec<Place> = (0..20).map(|i| (f64::from(i % 5) * 2.0, f64::from(i / 5) * 3.0)).collect();
        let pairs: Vec<_> = places.iter().map(|&place| (place, SOME.at(place))).collect();
        let found = Homography::fit(&pairs).unwrap();
        for &(from, to) in &pairs {
            let at = found.at(from);
            assert!((at.0 - to.0).abs() < 1e-6 && (at.1 - to.1).abs() < 1e-6);
        }
        assert!(Homography::fit(&pairs[..3]).is_none());
        let moved = SOME.moved((2.0, 3.0), (0.5, 2.0));
        let (at, same) = (moved.at((4.0, 1.0)), SOME.at((4.0, 5.0)));
        assert!((at.0 - same.0).abs() < 1e-9 && (at.1 - same.1).abs() < 1e-9);
    }

    #[test]
    fn derivatives_are_what_a_small_step_gives() {
        for number in 0..8 {
            let mut next = SOME;
            next.0[number] += 1e-7;
            let (here, there) = (SOME.at((3.0, 7.0)), next.at((3.0, 7.0)));
            let slow = ((there.0 - here.0) / 1e-7, (there.1 - here.1) / 1e-7);
            let fast = SOME.derivatives((3.0, 7.0))[number];
            assert!((slow.0 - fast.0).abs() < 0.01 && (slow.1 - fast.1).abs() < 0.01, "{number}");
        }
    }
}
