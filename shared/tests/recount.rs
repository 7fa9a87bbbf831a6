//! Whole recounts against published totals.

use shared::{count::Gangster, grid::Shape, literature};

#[test]
fn gangster_finds_the_published_totals() {
    for shape in Shape::COUNTED {
        let start = std::time::Instant::now();
        let gangster = Gangster::new(shape).unwrap();
        let counts: Vec<_> = (0..gangster.units()).map(|unit| gangster.run_unit(unit)).collect();
        let total = gangster.classes().total(&counts).unwrap();
        println!("{shape}: {} classes, {total}, {:?}", gangster.units(), start.elapsed());
        assert_eq!(total, literature::grids(shape).unwrap().value(), "{shape}");
    }
}
