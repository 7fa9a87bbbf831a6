//! Connected regions of a mask.

/// A region: pixels with the same value that touch each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Region {
    /// Pixels.
    pub area: f64,
    /// The mean of its pixels' columns and rows.
    pub center: (f64, f64),
    /// Variances of columns and rows, and their covariance.
    pub spread: (f64, f64, f64),
    /// First and last column.
    pub columns: (usize, usize),
    /// First and last row.
    pub rows: (usize, usize),
    /// The pixels that lie farthest to the right, below, left, above, and between these: corners of a quadrilateral that
    /// lies in whatever way. See [`DIRECTIONS`].
    pub extremes: [(usize, usize); 8],
}

/// Where extremes are looked for.
const DIRECTIONS: [(i64, i64); 8] = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];

/// Sums for a region that grows.
#[derive(Clone, Copy)]
struct Growing {
    sums: [u64; 6],
    columns: (usize, usize),
    rows: (usize, usize),
    farthest: [(i64, usize, usize); 8],
}

/// Finds the regions of pixels that are `wanted`, connected by edges, or by corners too. Those below `least` pixels are
/// left out. In the order of their first pixels.
pub(super) fn regions(mask: &[bool], width: usize, wanted: bool, corners: bool, least: u64) -> Vec<Region> {
    let runs = runs(mask, width, wanted);
    let mut union = Union((0..runs.len()).collect());
    let reach = usize::from(corners);
    let (mut above, mut row_start) = (0..0, 0);
    for place in 0..runs.len() {
        if place > row_start && runs[place].y != runs[row_start].y {
            above = row_start..place;
            row_start = place;
        }
        let run = runs[place];
        if above.is_empty() || runs[above.start].y + 1 != run.y {
            continue;
        }
        while above.start < above.end && runs[above.start].end + reach <= run.start {
            above.start += 1;
        }
        let touching = above.clone().take_while(|&other| runs[other].start < run.end + reach);
        for other in touching {
            union.join(place, other);
        }
    }
    let mut growing: Vec<Option<Growing>> = vec![None; runs.len()];
    for (place, run) in runs.iter().enumerate() {
        let root = union.root(place);
        growing[root].get_or_insert_with(Growing::new).add(*run);
    }
    let whole = growing.into_iter().flatten().filter(|growing| growing.sums[0] >= least);
    whole.map(Growing::finish).collect()
}

/// Pixels of a row from a column to before another.
#[derive(Clone, Copy)]
struct Run {
    y: usize,
    start: usize,
    end: usize,
}

fn runs(mask: &[bool], width: usize, wanted: bool) -> Vec<Run> {
    let mut runs = Vec::new();
    for (y, row) in mask.chunks_exact(width).enumerate() {
        let mut x = 0;
        while x < width {
            if row[x] != wanted {
                x += 1;
                continue;
            }
            let start = x;
            while x < width && row[x] == wanted {
                x += 1;
            }
            runs.push(Run { y, start, end: x });
        }
    }
    runs
}

/// Sets that are joined: each element knows one before it in its set, the first one itself.
struct Union(Vec<usize>);

impl Union {
    fn root(&mut self, mut place: usize) -> usize {
        while self.0[place] != place {
            self.0[place] = self.0[self.0[place]];
            place = self.0[place];
        }
        place
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}

impl Growing {
    fn new() -> Self {
        Self {
            sums: [0; 6],
            columns: (usize::MAX, 0),
            rows: (usize::MAX, 0),
            farthest: [(i64::MIN, 0, 0); 8],
        }
    }

    fn add(&mut self, run: Run) {
        let y = run.y as u64;
        for x in run.start as u64..run.end as u64 {
            for (sum, term) in self.sums.iter_mut().zip([1, x, y, x * x, y * y, x * y]) {
                *sum += term;
            }
        }
        self.columns = (self.columns.0.min(run.start), self.columns.1.max(run.end - 1));
        self.rows = (self.rows.0.min(run.y), self.rows.1.max(run.y));
        for (farthest, (dx, dy)) in self.farthest.iter_mut().zip(DIRECTIONS) {
            let x = if dx < 0 { run.start } else { run.end - 1 };
            let far = signed(x) * dx + signed(run.y) * dy;
            if far > farthest.0 {
                *farthest = (far, x, run.y);
            }
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "pixels of a picture")]
    fn finish(self) -> Region {
        let [area, x, y, xx, yy, xy] = self.sums.map(|sum| sum as f64);
        let center = (x / area, y / area);
        let spread = (
            xx / area - center.0 * center.0,
            yy / area - center.1 * center.1,
            xy / area - center.0 * center.1,
        );
        let extremes = self.farthest.map(|(_, x, y)| (x, y));
        Region { area, center, spread, columns: self.columns, rows: self.rows, extremes }
    }
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(rows: &[&str]) -> Vec<bool> {
        rows.iter().flat_map(|row| row.bytes().map(|byte| byte == b'#')).collect()
    }

    #[test]
    fn regions_touch_by_edges_or_corners() {
        let mask = mask(&["##..#", "#..#.", "#.##.", "###.."]);
        let by_edges = regions(&mask, 5, true, false, 1);
        assert_eq!(by_edges.iter().map(|region| region.area).collect::<Vec<_>>(), [10.0, 1.0]);
        let by_corners = regions(&mask, 5, true, true, 1);
        assert_eq!(by_corners.iter().map(|region| region.area).collect::<Vec<_>>(), [11.0]);
        assert_eq!((by_corners[0].columns, by_corners[0].rows), ((0, 4), (0, 3)));
        assert_eq!(by_corners[0].extremes[7], (4, 0));
        assert!(regions(&mask, 5, true, true, 12).is_empty());
        assert_eq!(regions(&mask, 5, false, false, 1).len(), 2);
    }

    #[test]
    fn a_rectangle_has_the_moments_of_one() {
        let mask: Vec<bool> =
            (0..20 * 30).map(|i| (2..12).contains(&(i % 20)) && (5..25).contains(&(i / 20))).collect();
        let region = regions(&mask, 20, true, false, 1)[0];
        assert_eq!((region.area, region.center), (200.0, (6.5, 14.5)));
        let (x, y, xy) = region.spread;
        assert!((x - 99.0 / 12.0).abs() < 1e-9 && (y - 399.0 / 12.0).abs() < 1e-9 && xy.abs() < 1e-9);
        assert_eq!([1, 3, 5, 7].map(|place| region.extremes[place]), [(11, 24), (2, 24), (2, 5), (11, 5)]);
    }

    /// Against filling by a stack, on noise.
    #[test]
    fn regions_are_those_of_a_flood() {
        for seed in 0..20 {
            let mut random = crate::random::Random::new(seed);
            let (width, height) = (31, 17);
            let mask: Vec<bool> = (0..width * height).map(|_| random.below(5) < 3).collect();
            let mut seen = vec![false; mask.len()];
            let mut areas = Vec::new();
            for start in 0..mask.len() {
                let (mut stack, mut area) = (vec![start], 0);
                while let Some(at) = stack.pop() {
                    if !mask[at] || std::mem::replace(&mut seen[at], true) {
                        continue;
                    }
                    area += 1;
                    let (x, y) = (at % width, at / width);
                    stack.extend((x > 0).then(|| at - 1));
                    stack.extend((x + 1 < width).then(|| at + 1));
                    stack.extend((y > 0).then(|| at - width));
                    stack.extend((y + 1 < height).then(|| at + width));
                }
                if area > 0 {
                    areas.push(f64::from(area));
                }
            }
            let found: Vec<f64> =
                regions(&mask, width, true, false, 1).iter().map(|region| region.area).collect();
            assert_eq!(found, areas, "seed {seed}");
        }
    }
}
