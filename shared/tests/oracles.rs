//! Fast methods against slow ones that are obviously right. Seeds are printed with every failure.

use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use shared::{
    count::{
        Search, gangster,
        nine::{Band, classes},
        search::nine::{Below, Remembered, fill_three_rows},
        triples::cuts,
        two::two_classes,
    },
    grid::Shape,
    literature,
};

/// Fills the empty cells (0) of a grid one after the other with every digit that row, column and box allow, and counts
/// the complete grids. Digits are bits. The slow ancestor of everything here.
fn count_completions(grid: &mut Vec<u32>, shape: Shape) -> u64 {
    let n = shape.side();
    let Some(cell) = grid.iter().position(|&digit| digit == 0) else { return 1 };
    let (r, c) = (cell / n, cell % n);
    let boxes = |cell: usize| (cell / n / shape.rows(), cell % n / shape.columns());
    let mut used = 0;
    for (other, &digit) in grid.iter().enumerate() {
        if other / n == r || other % n == c || boxes(other) == boxes(cell) {
            used |= digit;
        }
    }
    let mut count = 0;
    for digit in (0..n).map(|d| 1 << d).filter(|digit| used & digit == 0) {
        grid[cell] = digit;
        count += count_completions(grid, shape);
    }
    grid[cell] = 0;
    count
}

/// Fills the columns of a band, given as sets, row by row and cell by cell, and counts.
fn count_bands(columns: &mut [u16], given: &[Vec<u16>], cell: usize, used: u16) -> u64 {
    let (row, column) = (cell / columns.len(), cell % columns.len());
    if row == given.len() {
        return 1;
    }
    let used = if column == 0 { 0 } else { used };
    let mut count = 0;
    for digit in (0..16).map(|d| 1u16 << d) {
        let wanted = given[row].get(column).is_none_or(|&fixed| fixed == digit);
        if wanted && columns[column] & digit != 0 && used & digit == 0 {
            columns[column] ^= digit;
            count += count_bands(columns, given, cell + 1, used | digit);
            columns[column] ^= digit;
        }
    }
    count
}

#[test]
fn small_grids_one_by_one() {
    for (shape, relabellings) in [(Shape::COUNTED[0], 24), (Shape::COUNTED[1], 720)] {
        let n = shape.side();
        let mut grid = vec![0; n * n];
        for (column, cell) in grid[..n].iter_mut().enumerate() {
            *cell = 1 << column;
        }
        let count = count_completions(&mut grid, shape) * relabellings;
        assert_eq!(literature::grids(shape).unwrap().value(), count.into(), "{shape}");
    }
}

/// A random band of 3x3 by random filling until it fits.
fn random_band(random: &mut ChaCha8Rng) -> Band {
    loop {
        let class = classes().list[random.random_range(0..44)].band;
        let mut name: Vec<u8> = (0..9).collect();
        name.shuffle(random);
        let mut rows = class.to_vec();
        rows.shuffle(random);
        let mut order: Vec<usize> = (0..9).collect();
        let mut boxes = [0, 1, 2];
        boxes.shuffle(random);
        for (b, &from) in boxes.iter().enumerate() {
            let mut columns = [3 * from, 3 * from + 1, 3 * from + 2];
            columns.shuffle(random);
            order[3 * b..3 * b + 3].copy_from_slice(&columns);
        }
        let band: Vec<[u8; 9]> = rows
            .iter()
            .map(|row| std::array::from_fn(|column| name[usize::from(row[order[column]])]))
            .collect();
        if let Ok(band) = band.try_into() {
            return band;
        }
    }
}

#[test]
fn a_step_of_the_search_counts_every_grid_below_a_random_band() {
    let seed = 20_061_205;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let remembered = Remembered::new();
    for _ in 0..2 {
        let band = random_band(&mut random);
        let (share, step) = (random.random_range(0..56), random.random_range(0..36));
        let below = Below::new(&band);
        let fast = below.share(share, &remembered).step(step);
        // Slowly: band by band. The digits of box 4 are those the step stands for; 6 orders of rows 4 to 6 and of rows
        // 7 to 9 each are taken as one, which leaves a few hundred thousand grids to fill one by one.
        let (upper, lower) =
            shared::count::triples::splits(shared::count::nine::column_sets(&band)[0])[share];
        let slow = slow_step(&band, upper, lower, step);
        assert_eq!(fast, slow, "seed {seed}, band {band:?}, share {share}, step {step}");
    }
}

fn slow_step(band: &Band, upper: [u16; 3], lower: [u16; 3], step: u32) -> u64 {
    use shared::count::triples::{ORDERS, members};
    let [first, second, third] = upper.map(members);
    let (p, q) = (ORDERS[step as usize / 6], ORDERS[step as usize % 6]);
    // Column by column what rows 4 to 9 need; cells of box 4 given; column 1 of box 7 ascending.
    let mut columns: Vec<u16> =
        (0..9).map(|column| 0x1FF & !band.iter().map(|row| 1 << row[column]).sum::<u16>()).collect();
    let mut given: Vec<Vec<u16>> = (0..3).map(|k| vec![first[k], second[p[k]], third[q[k]]]).collect();
    given.extend(members(lower[0]).map(|digit| vec![digit]));
    36 * fill(&mut columns, &given, 0, [0; 3])
}

/// Like [`count_bands`], but six rows, in two bands whose boxes may not repeat a digit.
fn fill(columns: &mut [u16], given: &[Vec<u16>], cell: usize, boxes: [u16; 3]) -> u64 {
    fn go(columns: &mut [u16], given: &[Vec<u16>], cell: usize, used: u16, boxes: [u16; 3]) -> u64 {
        let (row, column) = (cell / 9, cell % 9);
        if row == 6 {
            return 1;
        }
        let used = if column == 0 { 0 } else { used };
        let boxes = if cell == 27 { [0; 3] } else { boxes };
        let mut options = columns[column] & !used & !boxes[column / 3];
        if let Some(fixed) = given[row].get(column) {
            options &= fixed;
        }
        let mut count = 0;
        while options != 0 {
            let digit = options & options.wrapping_neg();
            options ^= digit;
            columns[column] ^= digit;
            let mut boxes = boxes;
            boxes[column / 3] |= digit;
            count += go(columns, given, cell + 1, used | digit, boxes);
            columns[column] ^= digit;
        }
        count
    }
    go(columns, given, cell, 0, boxes)
}

#[test]
fn remembered_rows_are_filled_one_by_one() {
    let seed = 416;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..50 {
        let mut columns: Vec<u16> =
            (0..3).flat_map(|_| cuts().triples[random.random_range(0..280)]).collect();
        let fast = fill_three_rows(columns.clone().try_into().unwrap());
        let slow = count_bands(&mut columns, &vec![vec![]; 3], 0, 0);
        assert_eq!(u64::from(fast), slow, "seed {seed}, columns {columns:?}");
    }
}

#[test]
fn bands_of_two_are_filled_one_by_one() {
    let seed = 2_5;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for boxes in 2..=4 {
        let list = two_classes(boxes);
        for _ in 0..5 {
            let class = &list[random.random_range(0..list.len())];
            let mut columns = class.columns();
            // Rows can be exchanged: hold the first column ascending.
            let firsts = (0..16).map(|d| 1u16 << d).filter(|digit| columns[0] & digit != 0);
            let given: Vec<Vec<u16>> = firsts.map(|digit| vec![digit]).collect();
            let orders: u64 = (1..=boxes as u64).product();
            let slow = orders * count_bands(&mut columns, &given, 0, 0);
            assert_eq!(gangster::two::bands(&class.vectors), slow.into(), "seed {seed}, {class:?}");
        }
    }
}

#[test]
fn units_of_a_class_add_up_to_the_plain_count() {
    // Every first choice of one 2x4 class, against filling its second band cell by cell.
    let search = Search::new(Shape::COUNTED[2]).unwrap();
    let class = &two_classes(4)[7];
    let mut below: Vec<u16> = class.columns().iter().map(|column| 0xFF ^ column).collect();
    let slow = count_bands(&mut below, &vec![vec![]; 4], 0, 0);
    let fast: u128 = (7 * search.choices()..8 * search.choices())
        .map(|unit| {
            search.run_unit(unit, shared::count::UnitProgress::default(), &mut |_| false).unwrap().completions
        })
        .sum();
    assert_eq!(fast, slow.into());
}
