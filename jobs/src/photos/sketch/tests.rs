//! Drawn pages are read: each board of each, and nothing else.

use rayon::prelude::*;
use shared::{
    grid::Shape,
    photo::{
        Gray,
        load::Photo,
        reading::{Point, Reader},
    },
    random::{Random, mixed as scattered},
    solve::general::{Question, solve},
};

use super::{
    super::{
        canvas::{Canvas, coordinate},
        drawn::Board,
    },
    boards,
    scenes::{Scene, dark, marked, mixed, several, small},
};

/// What was read of some pages.
#[derive(Debug, Default)]
struct Found {
    drawn: usize,
    exact: usize,
    /// Boards that were not drawn: of other shapes, or with a cell that is wrong.
    wrong: Vec<String>,
    /// Those with a wrong cell that is not marked as doubtful.
    unmarked: Vec<String>,
    /// Empty cells that are not known to hold candidates, as they were drawn.
    without_candidates: usize,
}

/// Reads pages of seeds from `seed` on.
fn found(seed: u64, pages: usize, draw: impl Fn(usize, &mut Random) -> Scene + Sync) -> Found {
    let reader = Reader::new();
    let one = |page: usize| {
        let scene = draw(page, &mut Random::new(scattered(seed ^ (page as u64) << 32)));
        Found::of(page, &scene, &reader)
    };
    (0..pages).into_par_iter().map(one).reduce(Found::default, Found::plus)
}

impl Found {
    fn of(page: usize, scene: &Scene, reader: &Reader) -> Self {
        let reading = reader.read(&photo(&scene.picture), None);
        let mut left = scene.boards.clone();
        let mut found = Self { drawn: left.len(), ..Self::default() };
        for read in reading.boards {
            let board = Board { shape: read.shape, cells: read.cells };
            if let Some(place) = left.iter().position(|drawn| *drawn == board) {
                left.swap_remove(place);
                found.exact += 1;
                let empty = (0..board.cells.len()).filter(|&cell| board.cells[cell] == 0);
                found.without_candidates += empty.filter(|&cell| !read.candidates.contains(cell)).count();
                continue;
            }
            let cells: String = board.cells.iter().map(u8::to_string).collect();
            let said = format!("page {page}: {} cells, {cells}", board.cells.len());
            // Of a page with one board it is known which cells are wrong.
            if let [drawn] = scene.boards.as_slice()
                && drawn.shape == board.shape
            {
                let wrong = (0..board.cells.len()).filter(|&cell| board.cells[cell] != drawn.cells[cell]);
                let unmarked: Vec<usize> = wrong.filter(|&cell| !read.flagged.contains(cell)).collect();
                if !unmarked.is_empty() {
                    found.unmarked.push(format!("{said}, drawn {:?}: cells {unmarked:?}", drawn.cells));
                }
            }
            found.wrong.push(said);
        }
        found
    }

    fn plus(mut self, other: Self) -> Self {
        self.drawn += other.drawn;
        self.exact += other.exact;
        self.wrong.extend(other.wrong);
        self.unmarked.extend(other.unmarked);
        self.without_candidates += other.without_candidates;
        self
    }

    /// Whether all boards were read, and nothing but them.
    fn is_all(&self) -> bool {
        self.exact == self.drawn && self.wrong.is_empty()
    }
}

/// The brightness of a drawn page, as the reader wants it.
pub(in crate::photos) fn photo(canvas: &Canvas) -> Photo {
    let places = (0..canvas.height()).flat_map(|y| (0..canvas.width()).map(move |x| (x, y)));
    let level = |(x, y)| {
        let [red, green, blue] = canvas.at(x, y).map(u32::from);
        u8::try_from((red * 299 + green * 587 + blue * 114) / 1000).expect("a mean")
    };
    let gray =
        Gray::new(canvas.width(), canvas.height(), places.map(level).collect()).expect("as many pixels");
    let [width, height] = [canvas.width(), canvas.height()].map(|edge| u32::try_from(edge).expect("small"));
    Photo { gray, width, height }
}

/// A seed for this run, to be printed by what fails.
fn any_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |now| u64::from(now.subsec_nanos()))
}

#[test]
fn drawn_boards_have_one_solution_and_their_clues() {
    let mut random = Random::new(1);
    for (shape, clues) in [(Shape::FOUR, 5), (Shape::SIX, 12), (Shape::NINE, 30)] {
        let cells = boards::puzzle(shape, clues, &mut random);
        let question = Question { shape, cells: &cells, candidates: None, limit: 2, cap: 1 << 20 };
        let solved = solve(&question, &|| false).unwrap();
        assert_eq!(solved.solutions, 1, "{shape:?} {cells:?}");
        assert!(cells.iter().filter(|&&digit| digit > 0).count() >= clues);
    }
    let mut another = || boards::puzzle(Shape::NINE, 81, &mut random);
    assert_ne!(another(), another());
}

#[test]
fn all_boards_of_a_page_are_read() {
    // Twelve are more than one would keep of the lattices that lie over each other.
    for (columns, rows) in [(1, 2), (2, 2), (2, 3), (3, 4)] {
        let found = found(11, 4, |page, random| {
            let (gap, askew) = ([0.6, 3.0][page % 2], page > 1);
            several((columns, rows), gap, askew, random)
        });
        assert!(found.is_all() && found.drawn == 4 * columns * rows, "{columns} by {rows}: {found:?}");
    }
}

/// The rows of the smaller one lie in line with some of the 9x9: it is no part of that.
#[test]
fn boards_of_several_sizes_on_one_page_are_read() {
    let found = found(12, 16, |_, random| mixed(random));
    assert!(found.is_all(), "{found:?}");
}

#[test]
fn small_boards_are_read_as_such() {
    let seed = any_seed();
    for shape in [Shape::FOUR, Shape::SIX] {
        let found = found(seed, 40, |_, random| small(shape, random));
        assert!(found.exact * 100 >= found.drawn * 95, "seed {seed}, {shape:?}: {found:?}");
        let others =
            found.wrong.iter().filter(|wrong| !wrong.contains(&format!(" {} cells", shape.side().pow(2))));
        assert!(others.count() == 0 && found.unmarked.is_empty(), "seed {seed}, {shape:?}: {found:?}");
    }
}

/// Of each page only a part with some lines of a 9x9 is seen: whatever is made of it, it is no small board.
#[test]
fn parts_of_a_board_are_no_smaller_boards() {
    let seed = any_seed();
    let found = found(seed, 24, |page, random| {
        let whole = several((1, 1), 1.0, false, random).picture;
        let (wide, high) = (coordinate(whole.width()), coordinate(whole.height()));
        let share = [0.5, 0.62, 0.72][page % 3];
        let (x, y) = ([0.0, 1.0 - share][page / 3 % 2] * wide, [0.0, 1.0 - share][page / 6 % 2] * high);
        let end = Point { x: x + share * wide, y: y + share * high };
        Scene { picture: whole.cut(Point { x, y }, end, 2000).picture, boards: Vec::new() }
    });
    assert_eq!(found.wrong, Vec::<String>::new(), "seed {seed}");
}

/// At sizes of telephones and of large screens, with rows, columns and cells in other colours.
#[test]
fn programs_in_the_dark_are_read() {
    let seed = any_seed();
    let found = found(seed, 36, |page, random| dark([300, 400, 600, 900, 1300, 2000][page % 6], random));
    assert!(found.exact * 100 >= found.drawn * 94 && found.unmarked.is_empty(), "seed {seed}: {found:?}");
}

#[test]
fn candidates_are_counted_and_no_digits() {
    let seed = any_seed();
    let found = found(seed, 12, |_, random| marked(random));
    assert!(found.is_all(), "seed {seed}: {found:?}");
    // Of some fifty a page.
    assert!(found.without_candidates <= 12, "seed {seed}: {found:?}");
}
