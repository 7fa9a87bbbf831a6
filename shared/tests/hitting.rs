//! Puzzles with a given number of clues, against brute force and against what is known.

use std::{
    cell::Cell,
    ops::RangeInclusive,
    time::{Duration, Instant},
};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use shared::{
    catalogue::small::SmallGrids,
    grid::{
        Shape,
        notation::{nine, text},
    },
    unavoidable::{
        CellSet, CompleteGrid, all_unavoidable_sets, brute,
        hit::{
            CannotSearch, Found, HittingProgress, HittingSearch, MOST_PUZZLES, Unfinished, Uniqueness, Watch,
        },
        hitting_sets_by_size,
    },
};

/// Both kinds of 4x4 grids, some 6x6 ones, and 9x9 grids with fourteen 17-clue puzzles and with none.
const FOUR: [&str; 2] = ["1234341223414123", "1234341221434321"];
const SIX: [&str; 2] = ["123456456123214365365214531642642531", "123456456123231564564231312645645312"];
const FOURTEEN: &str = "123456789457189263689237451275613948348975612961842537534798126712364895896521374";
const NONE: &str = "123456789456789123789123456231564897564897231897231564312645978645978312978312645";

/// Nobody looks on.
macro_rules! nobody {
    () => {
        Watch { stopped: &|| false, reached: &mut |_| {} }
    };
}

fn search(grid: &CompleteGrid, clues: RangeInclusive<u32>, units: u64) -> Found {
    let search = HittingSearch::new(grid, clues, units).unwrap();
    let mut all = Found::default();
    for unit in 0..search.units() {
        let found = search.run_unit(unit, HittingProgress::default(), nobody!()).unwrap();
        all.puzzles.extend(found.puzzles);
        all.nodes += found.nodes;
        all.tested += found.tested;
    }
    all
}

fn sorted(mut puzzles: Vec<CellSet>) -> Vec<CellSet> {
    puzzles.sort_unstable_by_key(|set| (set.len(), *set));
    puzzles
}

/// Known numbers of valid 4x4 puzzles by clues, from 4 on, for the two kinds of grids.
const VALID: [[usize; 13]; 2] = [
    [128, 1280, 4320, 8272, 10_890, 10_560, 7744, 4320, 1816, 560, 120, 16, 1],
    [12, 400, 2208, 5760, 9064, 9696, 7480, 4272, 1812, 560, 120, 16, 1],
];

#[test]
fn four_by_four_has_the_puzzles_of_brute_force_for_every_number_of_clues() {
    for (text, valid) in FOUR.iter().zip(VALID) {
        let grid = CompleteGrid::read(text).unwrap();
        // Every one of the 65,536 puzzles, solved.
        let is_valid = |&clues: &CellSet| brute::solutions(Shape::FOUR, &grid.puzzle(clues), 2) == 1;
        let slow: Vec<CellSet> = (0..1 << 16).map(CellSet).filter(is_valid).collect();
        for (number, known) in (0..4).map(|number| (number, 0)).chain((4..).zip(valid)) {
            let slow = slow.iter().copied().filter(|set| set.len() == number as usize).collect();
            let found = search(&grid, number..=number, 1).puzzles;
            assert_eq!(found.len(), known, "{number} clues of {text}");
            assert_eq!(sorted(found), sorted(slow), "{number} clues of {text}");
        }
        assert_eq!(sorted(search(&grid, 0..=99, 5).puzzles), sorted(slow));
    }
}

/// The grid with rows and columns swapped, and so with boxes of 3x2.
fn transposed(grid: &CompleteGrid) -> CompleteGrid {
    let side = grid.shape().side();
    let digits: Vec<u8> =
        (0..grid.cells()).map(|cell| grid.digits()[cell % side * side + cell / side]).collect();
    CompleteGrid::new(grid.shape().transposed(), &digits).unwrap()
}

#[test]
fn six_by_six_has_the_puzzles_of_brute_force_for_few_clues() {
    let upright = SIX.map(|text| CompleteGrid::read(text).unwrap());
    for grid in upright.iter().flat_map(|grid| [grid.clone(), transposed(grid)]) {
        // Small sets are found soon; large ones are worth it where there is much to prune.
        for (number, most) in (0..=6).map(|number| (number, 8)).chain((7..=9).map(|number| (number, 12))) {
            let found = search(&grid, number..=number, 3);
            let slow = brute::puzzles(&grid, number as usize, most);
            let context = format!("{number} clues of {}", text(grid.shape(), grid.digits()));
            assert_eq!(sorted(found.puzzles), sorted(slow), "{context}");
        }
    }
}

#[test]
fn six_by_six_has_the_puzzles_of_brute_force_for_many_clues() {
    let upright = SIX.map(|text| CompleteGrid::read(text).unwrap());
    // The search is not made for so many clues, and takes seconds for each number.
    for (grid, numbers) in [(upright[0].clone(), 33..=36), (transposed(&upright[1]), 34..=34)] {
        let found = search(&grid, numbers.clone(), 1);
        let slow = numbers.flat_map(|number| brute::puzzles(&grid, number as usize, 4)).collect();
        assert_eq!(sorted(found.puzzles), sorted(slow), "{}", text(grid.shape(), grid.digits()));
    }
}

/// Every number of clues, where brute force has no hope: against the numbers of puzzles with one solution, which come
/// from a map of all sets of cells. Where there are too many for a list, that is said.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes without optimisation")]
fn six_by_six_has_as_many_puzzles_as_a_map_of_all_sets_of_cells() {
    let every = SmallGrids::new(Shape::SIX).unwrap();
    let grid = CompleteGrid::read(SIX[0]).unwrap();
    let sets = all_unavoidable_sets(&grid, &every);
    let numbers = hitting_sets_by_size(&sets, grid.cells(), &|| false).unwrap();
    for clues in 0..=36 {
        let number = numbers[clues as usize];
        let search = HittingSearch::new(&grid, clues..=clues, 1).unwrap();
        match search.run_unit(0, HittingProgress::default(), nobody!()) {
            Ok(found) => {
                let found = sorted(found.puzzles);
                assert_eq!(found.len() as u64, number, "{clues} clues");
                assert!(found.windows(2).all(|pair| pair[0] != pair[1]), "{clues} clues");
            }
            Err(error) => {
                assert_eq!(error, Unfinished::TooMany, "{clues} clues");
                assert!(number > MOST_PUZZLES as u64, "{clues} clues: {number}");
            }
        }
    }
}

#[test]
fn second_solutions_are_minimal_unavoidable_sets() {
    let grids = [FOUR[0], FOUR[1], SIX[0], SIX[1], FOURTEEN, NONE];
    for (number, text) in (0..).zip(grids) {
        let grid = CompleteGrid::read(text).unwrap();
        let (shape, all) = (grid.shape(), CellSet::below(grid.cells()));
        let solutions = |clues: CellSet| brute::solutions(shape, &grid.puzzle(clues), 2);
        let mut uniqueness = Uniqueness::new(&grid);
        let rng = &mut ChaCha8Rng::seed_from_u64(number);
        for _ in 0..400 {
            let share = rng.random_range(0.25..0.6);
            let clues: CellSet = (0..grid.cells()).filter(|_| rng.random_bool(share)).collect();
            let unhit = uniqueness.unhit(clues);
            let context = format!("seed {number}, {clues:?}");
            assert_eq!(uniqueness.holds(clues), unhit.is_none(), "{context}");
            assert_eq!(solutions(clues) == 1, unhit.is_none(), "{context}");
            if let Some(set) = unhit {
                assert!(!set.meets(clues), "{context}");
                assert_eq!(solutions(all.without(set)), 2, "{context}");
                let smaller = set.iter().map(|cell| all.without(set).union(CellSet::single(cell)));
                assert!(smaller.into_iter().all(|clues| solutions(clues) == 1), "{context}");
            }
        }
    }
}

#[test]
fn a_grid_with_fourteen_puzzles_of_17_clues_has_fourteen() {
    let grid = CompleteGrid::read(FOURTEEN).unwrap();
    let found = search(&grid, 17..=17, 1);
    assert_eq!(found.puzzles.len(), 14);
    for &clues in &found.puzzles {
        assert_eq!(clues.len(), 17);
        assert_eq!(brute::solutions(Shape::NINE, &grid.puzzle(clues), 2), 1);
    }
    let mut once = found.puzzles.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), 14);
    assert!(found.nodes > 0 && found.tested > 0);
}

#[test]
fn what_is_found_does_not_depend_on_units_and_interruptions() {
    let six = (SIX[0], 8..=9, 4);
    let nine = (NONE, 15..=16, 3);
    for (text, clues, units) in [six, nine] {
        let grid = CompleteGrid::read(text).unwrap();
        let search_all = HittingSearch::new(&grid, clues.clone(), units).unwrap();
        let mut puzzles = Vec::new();
        for unit in 0..units {
            let whole = search_all.run_unit(unit, HittingProgress::default(), nobody!()).unwrap();
            let mut progress = HittingProgress::default();
            let mut stops = 0;
            let pieces = loop {
                let (mut kept, asked) = (None, Cell::new(0));
                // After two blocks, or somewhere within a long one.
                let stopped = || asked.replace(asked.get() + 1) > 0;
                let mut reached = |progress: &HittingProgress| {
                    // Through text and back, as a checkpoint would.
                    kept = Some(serde_json::to_string(progress).unwrap());
                };
                let watch = Watch { stopped: &stopped, reached: &mut reached };
                match search_all.run_unit(unit, progress.clone(), watch) {
                    Ok(found) => break found,
                    Err(Unfinished::TooMany) => panic!("a few puzzles"),
                    Err(Unfinished::Paused) => progress = serde_json::from_str(&kept.unwrap()).unwrap(),
                }
                stops += 1;
            };
            assert!(stops > 0, "unit {unit} of {text}");
            assert_eq!(pieces, whole, "unit {unit} of {text}");
            puzzles.extend(whole.puzzles);
        }
        assert_eq!(sorted(puzzles), sorted(search(&grid, clues, 1).puzzles), "{text}");
    }
}

#[test]
fn progress_that_was_tampered_with_hides_nothing() {
    let grid = CompleteGrid::read(SIX[0]).unwrap();
    let search_all = HittingSearch::new(&grid, 10..=10, 1).unwrap();
    let found = search_all.run_unit(0, HittingProgress::default(), nobody!()).unwrap();
    let fresh = serde_json::to_value(HittingProgress::default()).unwrap();
    // Sets that are not unavoidable; a puzzle that has no one solution, and one that comes twice.
    let puzzle = found.puzzles[0];
    for (name, sets) in [
        ("learned", json!([1, 0, 1_u64 << 40])),
        ("puzzles", json!([0xFF])),
        ("puzzles", json!([puzzle, puzzle])),
        ("puzzles", json!([CellSet(puzzle.0 & (puzzle.0 - 1) | 1 << 40)])),
    ] {
        let mut wrong = fresh.clone();
        let at = if name == "learned" { &mut wrong } else { &mut wrong["found"] };
        at[name] = sets;
        let progress = serde_json::from_value(wrong).unwrap();
        assert_eq!(search_all.run_unit(0, progress, nobody!()).as_ref(), Ok(&found), "{name}");
    }
}

/// A block of a search for many clues may take hours: it ends when it is told to, not when it is done.
#[test]
fn a_long_block_is_stopped() {
    let digits: Vec<u8> = (0..64).map(|cell| (cell / 8 % 2 * 4 + cell / 16 + cell) % 8 + 1).collect();
    let eight = CompleteGrid::new(Shape::new(2, 4).unwrap(), &digits).unwrap();
    for (grid, clues) in [(eight, 18), (CompleteGrid::read(NONE).unwrap(), 22)] {
        let text = text(grid.shape(), grid.digits());
        let search = HittingSearch::new(&grid, clues..=clues, 1).unwrap();
        let (start, mut kept) = (Instant::now(), None);
        let watch = Watch {
            stopped: &|| start.elapsed() > Duration::from_millis(20),
            reached: &mut |progress: &HittingProgress| kept = Some(progress.clone()),
        };
        let found = search.run_unit(0, HittingProgress::default(), watch);
        let took = start.elapsed();
        assert_eq!(found, Err(Unfinished::Paused), "{clues} clues of {text}");
        assert!(kept.is_some() && took < Duration::from_secs(20), "{clues} clues of {text}: {took:?}");
    }
}

/// More puzzles than memory has room for: the search ends soon and says so.
#[test]
fn too_many_puzzles_are_not_listed() {
    for (text, clues, units) in [(SIX[0], 18, 16), (NONE, 30, 16), (FOURTEEN, 60, 1)] {
        let grid = CompleteGrid::read(text).unwrap();
        let search = HittingSearch::new(&grid, clues..=clues, units).unwrap();
        let found = search.run_unit(0, HittingProgress::default(), nobody!());
        assert_eq!(found.err(), Some(Unfinished::TooMany), "{clues} clues of {text}");
    }
}

#[test]
fn shapes_that_cannot_be_searched_are_refused() {
    let shape = Shape::new(1, 9).unwrap();
    let digits: Vec<u8> = (0..81).map(|cell| (cell / 9 + cell) % 9 + 1).collect();
    let latin = CompleteGrid::new(shape, &digits).unwrap();
    assert_eq!(HittingSearch::new(&latin, 16..=16, 1).err(), Some(CannotSearch::Shape { shape }));
    let grid = CompleteGrid::read(FOUR[0]).unwrap();
    assert_eq!(HittingSearch::new(&grid, 4..=4, 0).err(), Some(CannotSearch::NoUnits));
}

/// Seconds that this thread has run.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

/// `HITTING_GRIDS=FILE HITTING_CLUES=16 [HITTING_MOST=20] cargo test --release -p shared --test hitting measure --
/// --ignored --nocapture`
#[test]
#[ignore = "needs HITTING_GRIDS=FILE and HITTING_CLUES=16"]
fn measure() {
    let file = std::env::var("HITTING_GRIDS").expect("HITTING_GRIDS=FILE");
    let clues = std::env::var("HITTING_CLUES").expect("HITTING_CLUES=16").parse().unwrap();
    let most = std::env::var("HITTING_MOST").map_or(usize::MAX, |text| text.parse().unwrap());
    let mut total = 0.0;
    for text in std::fs::read_to_string(file).unwrap().lines().take(most) {
        let grid = CompleteGrid::read(text).unwrap();
        let start = cpu();
        let found = search(&grid, clues..=clues, 1);
        let time = cpu() - start;
        total += time;
        println!("{time:.3} found {} nodes {} tested {}", found.puzzles.len(), found.nodes, found.tested);
    }
    println!("total {total:.3}");
}

/// `HITTING_PUZZLES=FILE HITTING_MOST=300 cargo test --release -p shared --test hitting known -- --ignored --nocapture`:
/// the file has puzzles of 17 clues, all that there are of their grids. Every so manyth is taken.
#[test]
#[ignore = "needs HITTING_PUZZLES=FILE, a complete list of 17-clue puzzles"]
fn known_puzzles_are_found_and_no_others() {
    let file = std::env::var("HITTING_PUZZLES").expect("HITTING_PUZZLES=FILE");
    let most = std::env::var("HITTING_MOST").map_or(100, |text| text.parse().unwrap());
    let from: usize = std::env::var("HITTING_FROM").map_or(0, |text| text.parse().unwrap());
    let list = std::fs::read_to_string(file).unwrap();
    let puzzles: Vec<Vec<u8>> =
        list.lines().filter_map(|line| nine(line.as_bytes())).map(Vec::from).collect();
    let step = puzzles.len() / most;
    // The list is up to symmetry: what else a grid has is compared by minlex form.
    let form = |cells: &[u8]| shared::symmetry::minlex::puzzle(cells.try_into().unwrap()).form;
    let known: std::collections::HashSet<_> = puzzles.iter().map(|cells| form(cells)).collect();
    let start = cpu();
    for (number, puzzle) in puzzles.iter().skip(from).step_by(step).enumerate() {
        let grid = CompleteGrid::new(Shape::NINE, &brute::solution(Shape::NINE, puzzle).unwrap()).unwrap();
        let found = search(&grid, 16..=17, 1).puzzles;
        assert!(found.iter().any(|&clues| grid.puzzle(clues) == *puzzle), "{}", text(grid.shape(), puzzle));
        for &clues in &found {
            let other = grid.puzzle(clues);
            assert!(known.contains(&form(&other)), "{} is not in the list", text(Shape::NINE, &other));
            assert_eq!(brute::solutions(Shape::NINE, &other, 2), 1);
        }
        println!("{number}: {} found, {:.1} s", found.len(), cpu() - start);
    }
}
