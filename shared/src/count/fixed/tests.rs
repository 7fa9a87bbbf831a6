use super::*;

fn fixed(grids: &FixedGrids, class: usize) -> u128 {
    let run = |unit| grids.run_unit(unit, SliceProgress::default(), &mut |_| false).expect("never stopped");
    grids.units_of(class).map(run).sum()
}

#[test]
fn a_unit_that_is_stopped_again_and_again_counts_the_same() {
    let grids = FixedGrids::new(Shape::NINE, true).unwrap();
    // The half turn.
    let class = grids.classes().iter().position(|class| class.name() == "half turn").unwrap();
    let mut sum = 0;
    let mut stops = 0;
    for unit in grids.units_of(class) {
        let mut progress = SliceProgress::default();
        loop {
            let (mut asked, from) = (0, progress);
            let mut pause = |at| {
                asked += 1;
                let stop = at != progress || asked > 300;
                progress = at;
                stop
            };
            if let Some(counted) = grids.run_unit(unit, from, &mut pause) {
                sum += counted;
                break;
            }
            stops += 1;
        }
    }
    assert!(stops > 10, "{stops} stops");
    // Russell & Jarvis 2006.
    assert_eq!(sum, 155_492_352);
}

#[test]
fn classes_without_units_fix_nothing() {
    for (rows, columns) in [(2, 2), (2, 3), (2, 4)] {
        let grids = FixedGrids::new(Shape::new(rows, columns).unwrap(), true).unwrap();
        let identity = AnyCover::new(&grids.classes()[0]);
        assert!(matches!(identity, AnyCover::Narrow(..)));
        for class in grids.classes().iter().filter(|class| !class.is_identity() && !has_units(class)) {
            let AnyCover::Narrow(cover, memos) = AnyCover::new(class) else { panic!("few orbits") };
            assert_eq!(run(&cover, &memos, (0, 1), SliceProgress::default(), &mut |_| false), Some(0));
        }
    }
}

#[test]
fn the_identity_fixes_every_grid() {
    for (rows, columns, all) in [(2, 2, 288 / 24), (2, 3, 28_200_960 / 720)] {
        let grids = FixedGrids::new(Shape::new(rows, columns).unwrap(), true).unwrap();
        let AnyCover::Narrow(cover, memos) = AnyCover::new(&grids.classes()[0]) else { panic!("few orbits") };
        assert_eq!(run(&cover, &memos, (0, 1), SliceProgress::default(), &mut |_| false), Some(all));
    }
}

#[test]
fn slices_share_a_class() {
    let grids = FixedGrids::new(Shape::NINE, true).unwrap();
    let class = grids.classes().iter().position(|class| class.name() == "diagonal reflection").unwrap();
    let run = |unit| grids.run_unit(unit, SliceProgress::default(), &mut |_| false).expect("never stopped");
    let parts: Vec<u128> = grids.units_of(class).map(run).collect();
    assert!(parts.len() == 4 && parts.iter().all(|&part| part > 0), "{parts:?}");
    assert_eq!(parts.iter().sum::<u128>(), 30_258_432);
    assert_eq!(fixed(&grids, class), 30_258_432);
}

#[test]
fn plans_of_large_shapes_are_made_and_fit() {
    for (rows, columns) in [(2, 5), (3, 4), (4, 3)] {
        let grids = FixedGrids::new(Shape::new(rows, columns).unwrap(), true).unwrap();
        for (number, class) in grids.classes().iter().enumerate() {
            let orbits = CellOrbits::new(&class.representative).len();
            assert!(grids.units_of(number).is_empty() || orbits <= 128, "class {number}: {orbits} orbits");
        }
        let last = grids.units() - 1;
        assert!(grids.units_of(grids.class_of(last)).contains(&last));
    }
    assert!(FixedGrids::new(Shape::new(4, 4).unwrap(), true).is_err());
}

#[test]
fn second_choices_up_to_stabilizers_count_the_same() {
    for (rows, columns) in [(2, 2), (2, 3), (2, 4), (3, 3)] {
        let grids = FixedGrids::new(Shape::new(rows, columns).unwrap(), true).unwrap();
        let mut fewer = 0;
        for class in grids.classes().iter().filter(|class| has_units(class)) {
            let counts = [0, usize::MAX].map(|many_blocks| {
                let AnyCover::Narrow(cover, memos) = AnyCover::with_stabilizers(class, many_blocks) else {
                    panic!("few orbits")
                };
                let fixed = run(&cover, &memos, (0, 1), SliceProgress::default(), &mut |_| false).unwrap();
                (fixed, cover.starts())
            });
            assert_eq!(counts[0].0, counts[1].0, "{rows}x{columns} {}", class.name());
            assert!(counts[0].1 <= counts[1].1);
            fewer += counts[1].1 - counts[0].1;
        }
        assert!(fewer > 0 || rows * columns < 6, "{rows}x{columns}: nothing is saved");
    }
}

#[test]
fn samples_are_parts_of_the_pairs() {
    let grids = FixedGrids::new(Shape::NINE, true).unwrap();
    let class = grids.classes().iter().position(|class| class.name() == "half turn").unwrap();
    let all = grids.sample(class, u64::MAX, &mut || false);
    assert!(all.counted == all.pairs && all.pairs > 100, "{all:?}");
    let some = grids.sample(class, 10, &mut || false);
    assert_eq!((some.pairs, some.counted), (all.pairs, 10));
    let mut asked = 0;
    let mut pause = || {
        asked += 1;
        asked > 5
    };
    assert!(grids.sample(class, u64::MAX, &mut pause).counted <= 6);
    assert!(grids.sample(0, 0, &mut || true).counted <= 1);
}
