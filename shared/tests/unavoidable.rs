//! Unavoidable sets against brute force and against what is known of 4x4.

use std::collections::BTreeMap;

use shared::unavoidable::{CellSet, CompleteGrid, brute, most_disjoint, unavoidable_sets};

/// How many sets there are of each size.
fn by_size(sets: &[CellSet]) -> BTreeMap<usize, usize> {
    let mut sizes = BTreeMap::new();
    sets.iter().for_each(|set| *sizes.entry(set.len()).or_default() += 1);
    sizes
}

#[test]
#[ignore = "needs the files of UA12_FILES, which are not part of the project"]
fn sizes_and_mcn_of_the_listed_grids() {
    for file in std::env::var("UA12_FILES").expect("UA12_FILES=FILE,FILE").split(',') {
        let text = std::fs::read_to_string(file).unwrap();
        let listed: serde_json::Value = serde_json::from_str(&text).unwrap();
        for entry in listed.as_array().unwrap() {
            let grid = CompleteGrid::read(entry["grid"].as_str().unwrap()).unwrap();
            let start = std::time::Instant::now();
            let sets = unavoidable_sets(&grid, 12);
            let found = start.elapsed();
            let mcn = most_disjoint(&sets).len();
            println!("{:?} {:?} {} {}", found, start.elapsed() - found, sets.len(), mcn);
            let sizes: BTreeMap<usize, usize> =
                serde_json::from_value(entry["minimal_ua_by_size"].clone()).unwrap();
            assert_eq!(by_size(&sets), sizes);
            assert_eq!(mcn as u64, entry["mcn"].as_u64().unwrap());
        }
    }
}
